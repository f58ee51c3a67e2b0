/* predict: applies a checkpoint to files, tables, streams or its data set. */
#include <string.h>

#include "mpi/mpi.h"
#include "predict/predict.h"

static const struct cr_opt predict_opts[] = {
    CR_STR(struct cr_predict_opts, ckpt,
           "Checkpoint, or run directory (its best checkpoint, else the last).",
           .text = "CKPT"),
    { .name = "output",
      .at = offsetof(struct cr_predict_opts, to),
      .type = CR_OPT_STR,
      .need = CR_OPTIONAL,
      .flag = 'o',
      .text = "FILE",
      .doc = "File to write instead of standard output; with --wrong, a name "
             "that ends in .png gets a contact sheet." },
    CR_STR_OPTIONAL(
        struct cr_predict_opts, config,
        "Config to use instead of that of the checkpoint; needed for weights "
        "without one, such as a safetensors file of another program.",
        .text = "FILE"),
    CR_STR_OPTIONAL(
        struct cr_predict_opts, data,
        "Data set to predict instead of files: a split of the config "
        "(train, eval, test), a folder that replaces its dataset_dir, a table "
        "(.csv, .tsv), text (.txt) or array (.npy) that replaces its files, or "
        "a YAML file with a section dataset. Each row then has the label, "
        "before the prediction.",
        .text = "DATA"),
    { .name = "files_from",
      .at = offsetof(struct cr_predict_opts, files_from),
      .type = CR_OPT_STR,
      .need = CR_OPTIONAL,
      .text = "FILE",
      .doc = "File with the names of input files, one per line; -: standard "
             "input." },
    CR_ENUM_DEFAULT(
        struct cr_predict_opts, rows, CR_ROWS_AUTO, "auto|csv|tsv|jsonl|names",
        "Format of text input. auto: JSON lines if the text begins with { "
        "or [, else CSV; standard input of a network of images: file "
        "names."),
    CR_ENUM_DEFAULT(
        struct cr_predict_opts, names, CR_PREDICT_AUTO, "auto|yes|no",
        "Whether the first line of a CSV file is a header. auto: as in "
        "the training data; if these were not CSV, yes if the line "
        "contains no number; no for --stream."),
    CR_STRS_OPTIONAL(
        struct cr_predict_opts, id,
        "Field of a table, or column or field of --data, to copy to the "
        "results: a name or, without --data, an index from 0. May be repeated.",
        .text = "COL"),
    CR_ENUM_DEFAULT(
        struct cr_predict_opts, format, CR_PREDICT_BY_NAME,
        "tsv|csv|jsonl|npy|npz|auto",
        "Format of the results; --json selects jsonl. npy: array of one "
        "output. npz: arrays of all outputs and classes, by name. auto: by "
        "the suffix of -o, else tsv."),
    CR_STR_OPTIONAL(
        struct cr_predict_opts, against,
        "labels: write `Predicted: \"CLASS\", Actual: \"CLASS\"` of "
        "each sample, as MindSpore's quick start does; requires labels, "
        "for example with --data.",
        .text = "labels"),
    CR_BOOL_DEFAULT(struct cr_predict_opts, header, false,
                    "Write a header."),
    CR_INT_OPTIONAL(struct cr_predict_opts, topk, 1, 1e9,
                    "Write the K most probable classes of each sample."),
    CR_BOOL_DEFAULT(struct cr_predict_opts, probs, false,
                    "Write probabilities: of the K classes, or of all; of a "
                    "class for each position, such as a pixel, only to npy "
                    "and npz."),
    CR_REAL_OPTIONAL(
        struct cr_predict_opts, threshold, 0, 1,
        "Minimum probability to predict class 1 of two, or one of several "
        "labels. Default: the metric best_threshold of the checkpoint, "
        "else 0.5."),
    CR_BOOL_DEFAULT(
        struct cr_predict_opts, wrong, false,
        "Write only misclassified samples, largest loss first, with the "
        "loss as the last field; requires labels: of --data, a table or "
        "COLUMN=FILE."),
    CR_STR_OPTIONAL(struct cr_predict_opts, at,
                    "Cell whose output to write instead of the network's.",
                    .text = "CELL"),
    CR_BOOL_DEFAULT(struct cr_predict_opts, embed, false,
                    "Write embeddings instead of the output: the input of the "
                    "last layer with a weight of two or more dimensions."),
    CR_INT_OPTIONAL(struct cr_predict_opts, result, 0, 1e6,
                    "Index of the network's result to write, from 0. Default: "
                    "all."),
    CR_ENUM_DEFAULT(
        struct cr_predict_opts, on_error, CR_PREDICT_DEFAULT,
        "skip|stop|blank|auto",
        "Action on a sample with an error. skip: write no row. stop: end. "
        "blank: write a row without results. auto: skip, with --stream "
        "blank. The exit status is 3 in each case."),
    CR_BOOL_DEFAULT(struct cr_predict_opts, stream, false,
                    "Answer each line of standard input at once with one line, "
                    "without the name of the input, until end of file."),
    { .name = "samples",
      .at = offsetof(struct cr_predict_opts, samples),
      .type = CR_OPT_INT,
      .need = CR_OPTIONAL,
      .min = 1,
      .max = 1e15,
      .flag = 'n',
      .text = "N",
      .doc = "Predict only the first N samples; with --wrong, write the N "
             "misclassified samples with the largest loss." },
    CR_INT_DEFAULT(struct cr_predict_opts, batch, 64, 1, 1e6,
                   "Number of samples to compute at once."),
    { 0 },
};

static bool predict_fail(struct cr_cli *cli, const char *what)
{
    return cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE, "%s", what);
}

static bool predict_reads_standard(const struct cr_cli *cli,
                                   const struct cr_predict_opts *o)
{
    bool reads = o->stream ||
                 (o->files_from && strcmp(o->files_from, "-") == 0);

    for (int i = 0; i < cli->n_operands; i++)
        reads = reads || strcmp(cli->operands[i], "-") == 0;
    return reads;
}

/* Checks combinations of flags. False after reporting. */
static bool predict_flags(struct cr_cli *cli, struct cr_predict_opts *o)
{
    bool some = cli->n_operands > 0 || o->files_from, arrays;

    cr_predict_format(cli, o);
    arrays = o->format == CR_PREDICT_NPY || o->format == CR_PREDICT_NPZ;
    if (o->data && (some || o->stream)) {
        predict_fail(cli, "--data is not allowed with INPUT or --stream");
        if (cli->n_operands > 0 && strchr(cli->operands[0], '='))
            cr_note(cli->diag, "--set %s changes a key of the config",
                    cli->operands[0]);
        return false;
    }
    if (o->stream &&
        (cli->n_operands > 1 ||
         (cli->n_operands == 1 && strcmp(cli->operands[0], "-") != 0)))
        return predict_fail(cli, "--stream reads standard input only: INPUT "
                                 "is not allowed");
    if (o->stream && (arrays || o->wrong || o->to))
        return predict_fail(cli, "--stream writes rows of text to standard "
                                 "output: --format npy, --format npz, --wrong "
                                 "and -o are not allowed");
    if (o->stream && o->samples != CR_INT_NONE)
        return predict_fail(cli, "-n is not allowed with --stream");
    if (!o->data && !o->stream && !some)
        return predict_fail(cli, "expected an INPUT, --data, --files-from or "
                                 "--stream");
    if ((o->at != NULL) + o->embed + (o->result != CR_INT_NONE) > 1)
        return predict_fail(cli, "--at, --embed and --result select the "
                                 "output: use only one of them");
    if (arrays && o->id.n > 0)
        return predict_fail(cli, "--id requires --format tsv, csv or jsonl");
    if (o->id.n > 64)
        return predict_fail(cli, "--id: found more than 64 fields");
    if (o->stream)
        o->batch = 1;
    if (cr_mpi_size() > 1 && predict_reads_standard(cli, o))
        return predict_fail(cli, "standard input goes to one process: start "
                                 "predict without mpirun");
    return true;
}

static int predict_run(struct cr_cli *cli)
{
    struct cr_predict_opts o = *(const struct cr_predict_opts *)cli->opts;
    const char *const files[] = { o.config, NULL };

    if (!predict_flags(cli, &o))
        return cr_diag_exit(cli->diag);
    return cr_predict_run(cli, &o, files);
}

const struct cr_command cr_command_predict = {
    .about = {
        .name = "predict",
        .summary = "Run a trained network on images, arrays and tables.",
        .detail =
            "INPUT is an image, a folder of images, an IDX, .npy or .npz "
            "file of samples (an .npz file has one member per column), or a "
            "table: CSV or JSON lines. COLUMN=FILE for each input column of "
            "the network reads several files in parallel. - is a table on "
            "standard input; for a network with image input it is a list of "
            "file names. Samples enter the datapipe at its start, with the "
            "vocabularies, classes and fitted values of the checkpoint. "
            "Tables for networks trained on CSV files need only the input "
            "fields, by name; without names, and in the arrays of JSON "
            "lines, the fields are in the order of the columns. Members of "
            "JSON objects have the names of fields or columns; an object may "
            "omit a member whose missing values the datapipe fills, but it "
            "is an error to omit all, or to have a member of an unknown name "
            "instead. An image of another size than the data is resized "
            "first (linear, without keeping its aspect ratio), unless the "
            "datapipe resizes it; colour, gray, alpha and 16 bits are "
            "converted to the format of the data; -v reports this. A row "
            "contains the input, called FILE#NUMBER in a file of several "
            "samples (from 0), the fields of --id, with --data the label, "
            "and for each output of the network its class: with --topk K the "
            "K most likely classes, with --probs probabilities, or, if it "
            "has no classes, its numbers in all digits. Errors of samples "
            "are reported on standard error, with their number at the end. "
            "--set KEY=VALUE changes a key of the config.",
        .example = "cellrun predict --ckpt runs/digits images/3/0000.png\n"
                   "find images -name '*.png' | cellrun predict --ckpt "
                   "runs/digits - --topk 3\n"
                   "cellrun predict --ckpt runs/digits --data eval --wrong -o "
                   "wrong.png\n"
                   "cellrun predict --ckpt runs/digits --embed images -o "
                   "e.npy\n"
                   "cellrun predict --ckpt runs/wine wine.csv --header -o "
                   "out.csv\n"
                   "cellrun predict --ckpt runs/digits --data eval --set "
                   "amp.level=O0\n"
                   "coproc cellrun predict --ckpt runs/wine --stream\n",
        .opts = predict_opts,
        .size = sizeof(struct cr_predict_opts),
    },
    .usage = "--ckpt CKPT [INPUT...|COLUMN=FILE...|-] [flags]",
    .min_operands = 0,
    .max_operands = -1,
    .takes_set = true,
    .shares = true,
    .run = predict_run,
};
