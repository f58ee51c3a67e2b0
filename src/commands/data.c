/*
 * data: lists, fetches, describes, shows and converts data sets. ls and fetch
 * are here (data/fetch.h); the others are functions of model/data_*.h.
 */
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "base/table.h"
#include "conf/command_line.h"
#include "conf/terms.h"
#include "data/fetch.h"
#include "model/data_convert.h"
#include "model/data_show.h"
#include "model/data_stats.h"
#include "train/section.h"

struct data {
    int split, format;
    bool tsv, per_class;
    const char *to, *url;
    int64_t samples;
};

enum {
    SPLIT_TRAIN,
    SPLIT_EVAL,
    SPLIT_TEST,
    SPLIT_AUTO
};

static const char *const splits[] = { "train", "eval", "test" };

static const struct cr_opt data_opts[] = {
    CR_ENUM_DEFAULT(struct data, split, SPLIT_AUTO, "train|eval|test|auto",
                    "Split of the data; show: train is shuffled and has the "
                    "transforms of training. auto: train for show, else all "
                    "splits of the config."),
    CR_STR_OPTIONAL(struct data, url,
                    "fetch: address of a folder that holds the files, such as "
                    "a mirror. Default: those of the authors.",
                    .text = "URL"),
    CR_BOOL_DEFAULT(struct data, tsv, false,
                    "stats: print tab-separated rows of numbers."),
    CR_BOOL_DEFAULT(struct data, per_class, false,
                    "stats: also print the numbers of each class."),
    { .name = "to",
      .at = offsetof(struct data, format),
      .type = CR_OPT_ENUM,
      .need = CR_DEFAULT,
      .choices = CR_CONVERT_TO,
      .doc = "convert: format to write. npy: a NumPy file per column. idx: "
             "the format of MNIST, a file per column. csv: a table per "
             "split." },
    CR_INT_OPTIONAL(struct data, samples, 1, CR_DIM_MAX,
                    "show: number of samples, at most 10000. Default: 64 in a "
                    "sheet, 4 as text. convert: number of samples of each "
                    "split. Default: all.",
                    .flag = 'n', .text = "N"),
    { .name = "output",
      .at = offsetof(struct data, to),
      .type = CR_OPT_STR,
      .need = CR_OPTIONAL,
      .flag = 'o',
      .text = "FILE",
      .doc = "show: file of a contact sheet, PNG; - is standard output. "
             "Default: print the samples as text. fetch: folder of the data "
             "set. Default: its name, in the first folder of CELLRUN_DATA, "
             "else in the current directory. convert: folder to write." },
    { 0 },
};

static void data_show_run(struct cr_cli *cli, struct cr_config *config)
{
    const struct data *o = cr_cli_opts(cli);

    cr_data_show(cli, config, splits[o->split == SPLIT_AUTO ? 0 : o->split],
                 o->samples, o->to);
}

static const char *data_split(struct cr_cli *cli)
{
    const struct data *o = cr_cli_opts(cli);

    return o->split == SPLIT_AUTO ? NULL : splits[o->split];
}

static void data_stats_run(struct cr_cli *cli, struct cr_config *config)
{
    const struct data *o = cr_cli_opts(cli);

    cr_data_stats(cli, config, data_split(cli), o->per_class, o->tsv);
}

static void data_verify_run(struct cr_cli *cli, struct cr_config *config)
{
    cr_data_verify(cli, config, data_split(cli));
}

static void data_convert_run(struct cr_cli *cli, struct cr_config *config)
{
    const struct data *o = cr_cli_opts(cli);

    if (!o->to)
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "data convert: found no folder to write, expected -o FOLDER");
    else
        cr_data_convert(cli, config, data_split(cli),
                        o->samples == CR_INT_NONE ? 0 : o->samples, o->format,
                        o->to);
}

struct listing {
    struct cr_cli *cli;
    struct cr_table table;
    struct cr_buf json;
    uint64_t found; /* bit i: public set i exists */
};

static void data_ls_row(void *ctx, const char *name, const char *type,
                        const char *path)
{
    struct listing *l = ctx;

    for (int i = 0; cr_public_sets[i].name; i++)
        if (strcmp(cr_public_sets[i].name, name) == 0)
            l->found |= path ? (uint64_t)1 << i : 0;
    cr_table_add(&l->table, name);
    cr_table_add(&l->table, type);
    cr_table_add(&l->table,
                 path ? path
                      : cr_strf(l->cli->arena, "(cellrun data fetch %s)",
                                name));
    cr_buf_str(&l->json, l->json.len > 0 ? ", {\"name\": " : "{\"name\": ");
    cr_buf_json(&l->json, name);
    cr_buf_f(&l->json, ", \"type\": \"%s\", \"path\": ", type);
    if (path)
        cr_buf_json(&l->json, path);
    else
        cr_buf_str(&l->json, "null");
    cr_buf_char(&l->json, '}');
}

static void data_ls(struct cr_cli *cli)
{
    struct listing l = { .cli = cli,
                         .table = { .arena = cli->arena, .align = "lll" },
                         .json = { .arena = cli->arena } };

    cr_table_add(&l.table, "name");
    cr_table_add(&l.table, "type");
    cr_table_add(&l.table, "dataset_dir");
    cr_data_sets_list(cli->arena, data_ls_row, &l);
    for (int i = 0; cr_public_sets[i].name; i++)
        if (!(l.found & (uint64_t)1 << i))
            data_ls_row(&l, cr_public_sets[i].name, cr_public_sets[i].type,
                        NULL);
    if (cli->json)
        printf("[%s]\n", cr_buf_text(&l.json));
    else
        cr_table_show(&l.table, false);
}

static void data_fetch(struct cr_cli *cli)
{
    const struct data *o = cr_cli_opts(cli);
    struct cr_fetch_opts want = { .dir = o->to,
                                  .url = o->url,
                                  .quiet = cli->quiet };
    const char *dir;

    if (cr_fetch(cli->arena, cli->diag, cli->operands[0], &want, &dir) &&
        !cli->quiet)
        printf("%s: %s is there and verified\n", cr_escape(cli->arena, dir),
               cli->operands[0]);
}

static const struct data_sub {
    const char *name;
    int operands; /* besides the subcommand; -1: one or more configs */
    void (*run)(struct cr_cli *cli, struct cr_config *config);
    void (*run_alone)(struct cr_cli *cli);
} data_subs[] = {
    { "ls", 0, NULL, data_ls },
    { "fetch", 1, NULL, data_fetch },
    { "show", -1, data_show_run, NULL },
    { "stats", -1, data_stats_run, NULL },
    { "verify", -1, data_verify_run, NULL },
    { "convert", -1, data_convert_run, NULL },
};

static const struct data_sub *data_find(struct cr_cli *cli, const char *name)
{
    const char *names[CR_LEN(data_subs) + 1] = { NULL };
    struct cr_buf all = { .arena = cli->arena };
    size_t n = CR_LEN(data_subs);

    for (size_t i = 0; i < n; i++) {
        names[i] = data_subs[i].name;
        if (strcmp(name, names[i]) == 0)
            return &data_subs[i];
        cr_buf_f(&all, "%s%s", i + 1 == n ? " or " : i > 0 ? ", " : "",
                 names[i]);
    }
    cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
             "data: found '%s', expected %s",
             cr_quote(cli->arena, name, strlen(name)), cr_buf_text(&all));
    if (cr_term_subcommand(name, names))
        cr_hint(cli->diag, "did you mean '%s'?",
                cr_term_subcommand(name, names));
    return NULL;
}

static int data_run(struct cr_cli *cli)
{
    const struct data_sub *sub = data_find(cli, cli->operands[0]);
    struct cr_cli rest = *cli;
    struct cr_config *config;

    if (!sub)
        return 0;
    if (sub->operands < 0 ? cli->n_operands < 2
                          : cli->n_operands != sub->operands + 1) {
        cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
                 sub->operands < 0 ? "data %s: found no config, expected FILE"
                 : sub->operands == 0
                     ? "data %s takes no names"
                     : "data %s: expected one name; see cellrun data ls",
                 sub->name);
        return 0;
    }
    rest.operands++;
    rest.operand_pos++;
    rest.n_operands--;
    if (sub->run_alone) {
        sub->run_alone(&rest);
        return cr_cli_errors(cli, NULL);
    }
    config = cr_cli_config(&rest);
    if (!config->load_failed && cr_threads_start(config, cli->threads))
        sub->run(&rest, config);
    return cr_cli_errors(cli, NULL);
}

const struct cr_command cr_command_data = {
    .about = {
        .name = "data",
        .summary = "List, fetch, show, verify, describe and convert data sets.",
        .detail =
            "ls lists the data sets of the current directory, of its folder "
            "datasets and of the folders of CELLRUN_DATA, and the public "
            "ones that fetch can get (mnist, cifar10, cifar100). fetch calls "
            "curl or wget, continues an interrupted transfer, and verifies "
            "the SHA-256 before a file gets its name. "
            "stats prints, for each split, count, missing values, range, mean "
            "and standard deviation (over n - 1) of each column, as stored, "
            "with a histogram; the number of samples of each class; and "
            "duplicates: samples whose inputs (all columns other than label) "
            "are the same bytes, within a split and between splits. The row "
            "of a column of images, or of arrays of more than 64 elements, "
            "covers all elements; the row of a column of texts is about "
            "their lengths in bytes. verify reads and decodes every sample "
            "with all threads and lists those that cannot be read, "
            "values that are NaN or infinite (NaN is a missing value in tables "
            "and where FillMissing replaces it), and "
            "labels outside the classes of the training data; the exit "
            "status is 3 if there are any. show passes the first samples of "
            "a split through the datapipe: "
            "shuffled, cropped, flipped, normalised and mixed as in the "
            "first epoch. With -o it writes a PNG sheet of the images with "
            "their classes; image columns are next to each other. Without -o "
            "it prints images as characters (COLUMNS wide) and everything "
            "else as numbers; with --json one object per sample. After "
            "Rescale and Normalize, black and white are the values that 0 "
            "and 255 became. convert writes the stored samples of each "
            "split in their order, before the datapipe, to the folder of -o, "
            "and dataset.yaml, which reads them in place of the data sets of "
            "the config: training on it gives the same numbers, unless "
            "dataset.split made the splits and transforms are random: they "
            "draw by the number of a sample, which is then another. Class "
            "names become predict.labels. All samples of a column must "
            "have one shape. csv has a field for each element, read as a "
            "list of numbers; only csv holds texts. Columns with categories "
            "cannot be converted.",
        .example = "cellrun data fetch mnist\n"
                   "cellrun data show digits.yaml -o sheet.png\n"
                   "cellrun data show digits.yaml --split eval -n 2\n"
                   "cellrun data stats wine.yaml --per-class\n"
                   "cellrun data verify digits.yaml\n"
                   "cellrun data convert digits.yaml --to npy -o arrays\n",
        .opts = data_opts,
        .size = sizeof(struct data),
    },
    .usage = "ls | fetch NAME | show|stats|verify|convert FILE... "
             "[key=value...] [flags]",
    .min_operands = 1,
    .max_operands = -1,
    .takes_config = true,
    .run = data_run,
};
