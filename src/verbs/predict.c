/*
 * predict: what a checkpoint says of files.
 *
 * Samples are gathered over files until a batch is full, so many small images
 * cost no more than one large array. Rows come out in the order of the input.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/table.h"
#include "data/vocab.h"
#include "train/eval.h"
#include "model/model.h"
#include "train/sample.h"
#include "train/section.h"

struct predict {
    const char *ckpt, *to;
    int format;
    int64_t topk, batch, result;
    bool probs;
};

enum { FORMAT_TSV, FORMAT_CSV, FORMAT_JSONL };

static const struct cr_opt predict_opts[] = {
    CR_STR(struct predict, ckpt,
           "Checkpoint, or run directory (its best, else its last).",
           .text = "CKPT"),
    { .name = "output", .at = offsetof(struct predict, to),
      .type = CR_OPT_STR, .need = CR_OPTIONAL, .flag = 'o', .text = "FILE",
      .doc = "Write the rows there instead of standard output." },
    CR_ENUM_OR(struct predict, format, FORMAT_TSV, "tsv|csv|jsonl",
               "Form of the rows; --json means jsonl."),
    CR_INT_MAY(struct predict, topk, 1, 1e9,
               "The K likeliest classes of each sample."),
    CR_BOOL_OR(struct predict, probs, false,
               "Probabilities: of the K classes, or of all."),
    CR_INT_OR(struct predict, batch, 64, 1, 1e6,
              "Samples to compute at once."),
    CR_INT_MAY(struct predict, result, 0, 1e6,
               "Which of the network's results to take, counted from 0; the "
               "first, with a warning, where it gives several."),
    { 0 },
};

struct job {
    struct cr_cli *cli;
    const struct predict *o;
    struct cr_model model;
    struct cr_intake intake;
    struct cr_obj data;         /* what it was trained on, where rows of other
                                   files are read as that data set does */
    struct cr_colpipe *rows;    /* for them */
    struct cr_exec *exec;       /* of a whole batch */
    struct cr_atomic_file *file; /* NULL: standard output */
    char *batch;                /* samples gathered */
    const char **names;         /* their rows' names */
    struct cr_arena text;       /* names and rows of a batch */
    int64_t n;                  /* gathered */
    size_t size;                /* of one */
    bool classifies, softmax;
    int result;                 /* of the network's */
    int64_t classes;            /* outputs of one sample */
    double *p;
    int64_t *order;
};

/* ---- Rows */

struct likely {
    double p;
    int64_t class;
};

static int predict_likelier(const void *a, const void *b)
{
    const struct likely *x = a, *y = b;

    if (x->p != y->p)
        return x->p < y->p ? 1 : -1;
    return x->class < y->class ? -1 : x->class > y->class;
}

/* Probabilities of one sample in p, and the classes from the likeliest. */
static void predict_rank(struct job *j, const cr_real *y)
{
    struct likely *all = CR_NEWS(&j->text, struct likely, j->classes);
    double top = -INFINITY, sum = 0;

    for (int64_t i = 0; i < j->classes; i++) {
        j->p[i] = (double)y[i];
        top = fmax(top, j->p[i]);
    }
    for (int64_t i = 0; i < j->classes && j->softmax; i++)
        sum += j->p[i] = exp(j->p[i] - top);
    for (int64_t i = 0; i < j->classes; i++) {
        j->p[i] /= j->softmax ? sum : 1;
        all[i] = (struct likely){ j->p[i], i };
    }
    qsort(all, (size_t)j->classes, sizeof *all, predict_likelier);
    for (int64_t i = 0; i < j->classes; i++)
        j->order[i] = all[i].class;
}

/* A field of TSV or CSV, as both need it. */
static void predict_field(struct job *j, struct cr_buf *b, const char *text)
{
    bool csv = j->o->format == FORMAT_CSV;

    if (b->len)
        cr_buf_char(b, csv ? ',' : '\t');
    if (csv)
        cr_buf_csv(b, text);
    else
        cr_buf_str(b, cr_escape(&j->text, text));
}

static void predict_number(struct job *j, struct cr_buf *b, double value)
{
    predict_field(j, b, cr_strf(&j->text, "%.4f", value));
}

static void predict_fields(struct job *j, struct cr_buf *b, const char *name)
{
    const struct predict *o = j->o;
    int64_t k = o->topk == CR_INT_NONE ? 0 : o->topk;

    predict_field(j, b, name);
    if (j->classifies)
        predict_field(j, b, cr_model_class(&j->model, j->order[0]));
    for (int64_t i = 0; i < k && i < j->classes; i++) {
        predict_field(j, b, cr_model_class(&j->model, j->order[i]));
        if (o->probs)
            predict_number(j, b, j->p[j->order[i]]);
    }
    if (!j->classifies || (o->probs && k == 0))
        for (int64_t i = 0; i < j->classes; i++)
            predict_number(j, b, j->p[i]);
}

static void predict_json_class(struct job *j, struct cr_buf *b, int64_t class)
{
    const char *name = cr_model_class_name(&j->model, class);

    cr_buf_str(b, "\"label\":");
    if (name)
        cr_buf_json(b, name);
    else
        cr_buf_f(b, "%" PRId64, class);
}

static void predict_json(struct job *j, struct cr_buf *b, const char *name)
{
    const struct predict *o = j->o;
    bool all = !j->classifies || (o->probs && o->topk == CR_INT_NONE);

    cr_buf_str(b, "{\"input\":");
    cr_buf_json(b, name);
    if (j->classifies) {
        cr_buf_char(b, ',');
        predict_json_class(j, b, j->order[0]);
    }
    if (j->classifies && o->topk != CR_INT_NONE) {
        cr_buf_str(b, ",\"topk\":[");
        for (int64_t i = 0; i < o->topk && i < j->classes; i++) {
            cr_buf_str(b, i ? ",{" : "{");
            predict_json_class(j, b, j->order[i]);
            if (o->probs) {
                cr_buf_str(b, ",\"p\":");
                cr_buf_real(b, j->p[j->order[i]]);
            }
            cr_buf_char(b, '}');
        }
        cr_buf_char(b, ']');
    }
    if (all) {
        cr_buf_str(b, j->classifies ? ",\"probs\":[" : ",\"output\":[");
        for (int64_t i = 0; i < j->classes; i++) {
            cr_buf_str(b, i ? "," : "");
            cr_buf_real(b, j->p[i]);
        }
        cr_buf_char(b, ']');
    }
    cr_buf_char(b, '}');
}

static void predict_row(struct job *j, const char *name, const cr_real *y)
{
    struct cr_buf b = { .arena = &j->text };

    predict_rank(j, y);
    if (j->o->format == FORMAT_JSONL || j->cli->json)
        predict_json(j, &b, name);
    else
        predict_fields(j, &b, name);
    cr_buf_char(&b, '\n');
    if (j->file)
        cr_atomic_file_write(j->file, b.text, b.len);
    else
        fwrite(b.text, 1, b.len, stdout);
}

/* ---- Batches */

/* Computes what was gathered; the last batch may be short. */
static bool predict_flush(struct job *j)
{
    struct cr_exec_want want = cr_plans_predict(j->n, true);
    struct cr_exec *exec = j->exec;
    struct cr_spec spec;
    const cr_real *y;
    bool ok;

    if (j->n == 0)
        return true;
    if (j->n < j->o->batch)
        exec = cr_net_exec(j->model.net, &want);
    if (!exec)
        return false;
    cr_exec_feed(exec, 0, j->batch);
    ok = cr_exec_check(exec, j->cli->diag, NULL);
    if (ok) {
        cr_exec_forward(exec, 0);
        ok = cr_exec_sound(exec, j->cli->diag);
    }
    y = cr_exec_result(exec, j->result, &spec);
    for (int64_t i = 0; i < j->n && ok; i++)
        predict_row(j, j->names[i], y + i * j->classes);
    if (exec != j->exec)
        cr_exec_free(exec);
    cr_arena_free(&j->text);
    j->n = 0;
    return ok && (j->file ? !j->file->failed : !ferror(stdout));
}

/* Whether a file has samples: there is nothing to say of one that has none. */
static bool predict_some(struct job *j, const char *path, int64_t count)
{
    return count > 0 ||
           cr_error(j->cli->diag, cr_at_file(j->cli->arena, path),
                    CR_E_DATA_EMPTY, "the file has no samples");
}

/* Rows of a table. */
static bool predict_table(struct job *j, const char *path)
{
    const struct cr_dataset_type *type =
        (const struct cr_dataset_type *)j->data.about;
    struct cr_dataset set = { .type = type };
    struct cr_diag *diag = j->cli->diag;
    bool ok = true;

    if (!type->other(j->model.config, j->data.opts, j->data.node->pos, path,
                     j->intake.column, &set))
        return true;
    predict_some(j, path, set.count);
    for (int64_t i = 0; i < set.count && ok; i++) {
        struct cr_arena mem = { 0 };
        struct cr_items text;
        const void *x = &text;
        bool read = true;

        if (set.column[0].spec.type == CR_STRING)
            read = type->text(&set, diag, i, 0, &mem, &text);
        else
            x = type->at(&set, i, 0);
        read = read && cr_colpipe_apply(j->rows, diag, i, x,
                                        j->batch + (size_t)j->n * j->size);
        if (!read)
            cr_note(diag, "at %s",
                    cr_pos_text(diag->arena, type->where(&set, diag->arena, i,
                                                         0)));
        cr_arena_free(&mem);
        if (!read)
            break;
        j->names[j->n++] = cr_strf(&j->text, "%s#%" PRId64, path, i);
        if (j->n == j->o->batch)
            ok = predict_flush(j);
    }
    type->close(&set);
    return ok;
}

/* All samples of a file. What is wrong with one file is told and does not
 * keep the others from being judged; false ends the whole. */
static bool predict_file(struct job *j, const char *path)
{
    struct cr_diag *diag = j->cli->diag;
    struct cr_input input;
    bool ok = true, open;

    if (j->rows)
        return predict_table(j, path);
    open = cr_input_open(&j->intake, diag, path, &input);
    if (open && j->cli->verbose > 0 && cr_input_change(&input, &input.mem))
        fprintf(stderr, "%s: %s\n", cr_escape(&input.mem, path),
                cr_input_change(&input, &input.mem));
    if (!open && !input.format && access(path, R_OK) == 0 &&
        cr_vocab_kept(j->model.config, j->intake.column))
        cr_hint(diag, "the network was trained on text: `cellrun sample "
                      "--ckpt %s` draws some, --prompt TEXT begins it",
                j->o->ckpt);
    if (open && predict_some(j, path, input.count))
        for (int64_t i = 0; i < input.count && ok; i++) {
            if (!cr_input_read(&input, diag, i,
                               j->batch + (size_t)j->n * j->size))
                break;
            j->names[j->n++] =
                input.many ? cr_strf(&j->text, "%s#%" PRId64, path, i)
                           : cr_strdup(&j->text, path);
            if (j->n == j->o->batch)
                ok = predict_flush(j);
        }
    cr_input_close(&input);
    return ok;
}

/* Names from standard input, one a line. */
static bool predict_list(struct job *j)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    bool ok = true;

    while (ok && (len = getline(&line, &room, stdin)) > 0) {
        if (line[len - 1] == '\n')
            line[--len] = '\0';
        /* of a list by `find -print0` the first name alone would be read */
        if (memchr(line, '\0', (size_t)len))
            ok = cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
                          "standard input holds a NUL, expected names, one "
                          "a line");
        else if (len > 0)
            ok = predict_file(j, line);
    }
    if (ok && ferror(stdin))
        ok = cr_error(j->cli->diag, CR_NOWHERE, CR_E_DATA_READ,
                      "standard input: cannot read: %s", strerror(errno));
    free(line);
    return ok;
}

/* ---- The verb */

/* The one column that goes in: the data set's only one that is no label. */
static const struct cr_column *predict_column(struct job *j)
{
    struct cr_state *s = &j->model.state;
    int label = cr_label_column(j->model.config, s->columns, s->n_columns);
    const struct cr_column *found = NULL;

    for (int i = 0; i < s->n_columns; i++) {
        if (i == label)
            continue;
        if (found) {
            cr_error(j->cli->diag, CR_NOWHERE, CR_E_NETWORK,
                     "the network takes more than one column ('%s', '%s'), "
                     "predict gives one", found->name, s->columns[i].name);
            return NULL;
        }
        found = &s->columns[i];
    }
    if (!found)
        cr_error(j->cli->diag,
                 cr_at_file(j->cli->arena, j->o->ckpt), CR_E_CKPT_FORMAT,
                 "the checkpoint does not say what goes in");
    return found;
}

/* Whether rows of files go in, as of the training data. */
static bool predict_rows(struct job *j, const struct cr_column *column)
{
    struct cr_config *config = j->model.config;
    const struct cr_node *train =
        cr_node_get(cr_section(config, "dataset"), "train");
    struct cr_spec out;

    if (!train || !cr_obj_read(config->arena, config->diag, CR_KIND_DATASET,
                               train, &j->data))
        return !train;
    if (!((const struct cr_dataset_type *)j->data.about)->other)
        return true;
    j->rows = cr_colpipe_plan(config, column->name, &column->spec, false,
                              &out);
    return j->rows != NULL;
}

/* Chooses one of the network's results, which has a row for each sample. */
static bool predict_result(struct job *j)
{
    struct cr_diag *diag = j->cli->diag;
    struct cr_buf all = { .arena = j->cli->arena };
    int n = cr_exec_results(j->exec);
    bool given = j->o->result != CR_INT_NONE;
    struct cr_spec spec;

    for (int i = 0; i < n; i++) {
        cr_exec_result(j->exec, i, &spec);
        cr_buf_f(&all, "%s%d %s", i ? ", " : "", i,
                 cr_show(j->cli->arena, &spec));
    }
    if (given && j->o->result >= n)
        return cr_error(diag, CR_NOWHERE, CR_E_USAGE,
                        "--result: found %" PRId64
                        ", expected one of the network's results: %s",
                        j->o->result, cr_buf_text(&all));
    j->result = given ? (int)j->o->result : 0;
    cr_exec_result(j->exec, j->result, &spec);
    if (spec.rank < 1 || spec.dim[0] != j->o->batch)
        return cr_error(diag, CR_NOWHERE, CR_E_SHAPE,
                        "result %d of the network: found %s, expected a row "
                        "for each of %" PRId64 " samples",
                        j->result, cr_show(j->cli->arena, &spec), j->o->batch);
    if (given || n == 1)
        return true;
    cr_warn(diag, CR_NOWHERE, CR_E_USAGE,
            "the network gives %d results, %s: the first is predicted", n,
            cr_buf_text(&all));
    cr_hint(diag, "--result 0 to %d takes one; cellrun trace --eval has all",
            n - 1);
    return true;
}

static bool predict_prepare(struct job *j)
{
    const struct cr_column *column = predict_column(j);
    const struct cr_node *args, *loss;
    struct cr_exec_want want = cr_plans_predict(j->o->batch, true);
    struct cr_arena *arena = j->cli->arena;
    struct cr_column in;
    struct cr_spec out;
    const char *type;

    if (!column || !cr_intake_open(&j->intake, j->model.config, column) ||
        !predict_rows(j, column))
        return false;
    in = (struct cr_column){ column->name, j->intake.out };
    if (!cr_model_net(&j->model, &in, 1, j->o->batch, 0, false,
                      false))
        return false;
    j->exec = cr_net_exec(j->model.net, &want);
    if (!j->exec)
        return false;
    if (!predict_result(j))
        return false;
    cr_exec_result(j->exec, j->result, &out);
    j->classes = cr_count(&out) / j->o->batch;
    loss = cr_section(j->model.config, "loss");
    type = loss ? cr_node_type(loss, &args) : NULL;
    j->softmax = type && strcmp(type, "CrossEntropyLoss") == 0 &&
                 j->result == 0; /* what the loss takes */
    j->classifies = out.rank == 2 && j->classes > 1 &&
                    (j->softmax || j->model.state.classes == j->classes);
    if (!j->classifies && (j->o->probs || j->o->topk != CR_INT_NONE))
        return cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "--topk and --probs need a network of classes");
    j->p = CR_NEWS(arena, double, j->classes);
    j->order = CR_NEWS(arena, int64_t, j->classes);
    j->size = cr_bytes(&j->intake.out);
    j->batch = cr_alloc(arena, (size_t)j->o->batch, j->size);
    j->names = CR_NEWS(arena, const char *, j->o->batch);
    return true;
}

static bool predict_all(struct job *j)
{
    const char *path = j->o->to;
    struct cr_atomic_file file;
    bool ok = true;

    if (path && !cr_atomic_file_open(&file, j->cli->diag, path, 0))
        return false;
    j->file = path ? &file : NULL;
    for (int i = 0; i < j->cli->n_operands && ok; i++)
        ok = strcmp(j->cli->operands[i], "-") == 0
                 ? predict_list(j)
                 : predict_file(j, j->cli->operands[i]);
    ok = ok && predict_flush(j);
    if (path && ok)
        ok = cr_atomic_file_commit(&file);
    else if (path)
        cr_atomic_file_discard(&file);
    return ok;
}

/* A name may end in anything but another format's ending. */
static bool predict_ending(const struct job *j)
{
    static const char *const endings[] = { ".tsv", ".csv", ".jsonl" };
    const char *path = j->o->to;
    int format = j->cli->json ? FORMAT_JSONL : j->o->format;

    for (int i = 0; path && i < (int)CR_LEN(endings); i++)
        if (i != format && cr_ends(path, endings[i]))
            return cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
                            "-o: found '%s', expected a name that ends in "
                            "%s, as --format says",
                            cr_quote(j->cli->arena, path, strlen(path)),
                            endings[format]);
    return true;
}

static int predict_run(struct cr_cli *cli)
{
    struct job j = { .cli = cli, .o = cr_cli_opts(cli) };

    if (predict_ending(&j) && cr_model_open(cli, j.o->ckpt, NULL, &j.model) &&
        predict_prepare(&j))
        predict_all(&j);
    cr_model_close(&j.model);
    cr_exec_free(j.exec);
    cr_arena_free(&j.text);
    return cr_diag_exit(cli->diag);
}

const struct cr_verb cr_verb_predict = {
    .about = {
        .name = "predict",
        .summary = "Tell the classes of images, arrays and tables.",
        .detail = "INPUT is an image, an IDX or .npy array of samples, or, "
                  "for a network trained on CSV files, one such file, of "
                  "which only the fields that go in are read; "
                  "- reads names from standard input. Rows have the input, "
                  "its label, and with --topk K the K likeliest labels, each "
                  "with its probability with --probs. Samples enter at the "
                  "head of the datapipe. An image of another size than the "
                  "data's, unless the datapipe resizes it, is resized first "
                  "(linear, without keeping its shape), and colour, gray, "
                  "alpha and 16 bits are converted to what the data have; -v "
                  "says so. Samples of arrays and tables are "
                  "called FILE#NUMBER, from 0.",
        .example = "cellrun predict --ckpt runs/mnist/3f9c1a2e digit.png\n"
                   "find . -name '*.png' | cellrun predict --ckpt best - "
                   "--topk 3\n",
        .opts = predict_opts,
        .size = sizeof(struct predict),
    },
    .usage = "--ckpt CKPT INPUT...|- [flags]",
    .min_operands = 1,
    .max_operands = -1,
    .run = predict_run,
};
