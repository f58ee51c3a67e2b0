/*
 * Rows as text. Fields of TSV and CSV, in this order: the input, the fields of
 * --id, the label, and for each output its class, the most probable classes
 * with their probabilities, or its elements.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/float_text.h"
#include "base/table.h"
#include "mpi/mpi.h"
#include "predict/predict.h"
#include "score/score.h"

/* ---- Numbers and strings */

void cr_buf_value(struct cr_buf *to, double value, bool json)
{
    char text[CR_FLOAT_TEXT];

    if (json && !isfinite(value)) {
        cr_buf_str(to, "null");
    } else if (sizeof(cr_real) == sizeof(float) || !isfinite(value)) {
        cr_buf_add(to, text, cr_float_text(text, (float)value));
    } else {
        const char *all = cr_real_text(to->arena, value);

        cr_buf_add(to, all, strlen(all) - (cr_ends(all, ".0") ? 2 : 0));
    }
}

static bool write_json(const struct cr_predict *j)
{
    return j->o->format == CR_PREDICT_JSONL || j->cli->json;
}

static void write_next(const struct cr_predict *j, struct cr_buf *b)
{
    cr_buf_char(b, j->o->format == CR_PREDICT_CSV ? ',' : '\t');
}

/* Appends a string: quoted in CSV if necessary, escaped in TSV and JSON. */
static void write_text(const struct cr_predict *j, struct cr_buf *b,
                       const char *text)
{
    if (write_json(j))
        cr_buf_json(b, text);
    else if (j->o->format == CR_PREDICT_CSV)
        cr_buf_csv(b, text);
    else
        cr_buf_str(b, cr_escape(b->arena, text));
}

/* ---- Classes */

static void write_class(const struct cr_predict *j, struct cr_buf *b,
                        const struct cr_predict_out *o, int64_t class)
{
    if (!o->named)
        cr_buf_str(b, o->names[class]);
    else
        write_text(j, b, o->names[class]);
}

/* Appends the classes of a sample, or of its positions, as one field or as a
 * JSON list. */
static void write_classes(const struct cr_predict *j, struct cr_buf *to,
                          const struct cr_predict_out *o, int64_t i)
{
    struct cr_buf own = { .arena = to->arena };
    bool json = write_json(j), first = true;
    struct cr_buf *b = json ? to : &own;
    int64_t n = o->kind == CR_PREDICT_LABELS ? o->classes : o->positions;

    cr_buf_str(b, json ? "[" : "");
    for (int64_t k = 0; k < n; k++) {
        int64_t class = o->kind == CR_PREDICT_LABELS
                            ? k
                            : cr_predict_class_at(o, i, k);

        if (o->kind == CR_PREDICT_LABELS && !cr_predict_has(j, o, i, k))
            continue;
        cr_buf_str(b, first ? "" : json ? "," : " ");
        if (json)
            write_class(j, b, o, class);
        else
            cr_buf_str(b, o->names[class]);
        first = false;
    }
    if (json)
        cr_buf_str(b, "]");
    else
        write_text(j, to, cr_buf_text(b));
}

/* ---- Labels */

void cr_predict_truth(struct cr_predict *j, struct cr_buf *to, int t,
                      int64_t i, bool json)
{
    const struct cr_predict_feed *f = &j->truth[t];
    const char *x = f->batch + (size_t)i * f->size;
    const struct cr_predict_out *out = NULL;
    int64_t n = cr_count(&f->out);

    for (int k = 0; k < j->n_outs; k++)
        if (j->out[k].truth == t && j->out[k].kind != CR_PREDICT_VALUES)
            out = &j->out[k];
    if (json && f->out.rank > 0)
        cr_buf_char(to, '[');
    for (int64_t k = 0; k < n; k++) {
        double v;

        cr_convert(f->out.type, x + (size_t)k * cr_type_size(f->out.type),
                   CR_F64, &v, 1);
        cr_buf_str(to, k == 0 ? "" : json ? "," : " ");
        if (out && out->kind != CR_PREDICT_LABELS && v >= 0 &&
            v < (double)out->classes && v == floor(v) &&
            (n == 1 || out->kind == CR_PREDICT_SEQUENCE)) {
            if (json)
                write_class(j, to, out, (int64_t)v);
            else
                cr_buf_str(to, out->names[(int64_t)v]);
        } else if (f->out.type != CR_REAL) {
            cr_buf_f(to, "%.0f", v);
        } else {
            cr_buf_value(to, v, json);
        }
    }
    if (json && f->out.rank > 0)
        cr_buf_char(to, ']');
}

/* ---- Fields */

static int64_t write_topk(const struct cr_predict *j,
                          const struct cr_predict_out *o)
{
    return j->o->topk == CR_INT_NONE  ? 0
           : j->o->topk < o->classes  ? j->o->topk
                                      : o->classes;
}

static bool write_one_class(const struct cr_predict_out *o)
{
    return o->kind == CR_PREDICT_CLASSES || o->kind == CR_PREDICT_BINARY;
}

static void write_out_fields(struct cr_predict *j, struct cr_buf *b,
                             struct cr_predict_out *o, int64_t i, bool blank)
{
    int64_t k = write_topk(j, o), class = 0;
    bool probs = j->o->probs;

    if (o->kind == CR_PREDICT_VALUES) {
        for (int64_t n = 0; n < o->count; n++) {
            write_next(j, b);
            if (!blank)
                cr_buf_value(b, (double)cr_predict_values(o, i)[n], false);
        }
        return;
    }
    if (!write_one_class(o)) {
        write_next(j, b);
        if (!blank)
            write_classes(j, b, o, i);
    } else {
        if (!blank)
            class = cr_predict_class(j, o, i, k > 0 || probs);
        write_next(j, b);
        if (!blank)
            write_class(j, b, o, class);
        for (int64_t n = 0; n < k; n++) {
            write_next(j, b);
            if (!blank)
                write_class(j, b, o, o->order[n]);
            if (!probs)
                continue;
            write_next(j, b);
            if (!blank)
                cr_buf_value(b, o->p[o->order[n]], false);
        }
        if (k > 0)
            return;
    }
    if (o->kind == CR_PREDICT_LABELS && !blank)
        cr_predict_class(j, o, i, false);
    for (int64_t n = 0; n < o->classes && probs &&
                        o->kind != CR_PREDICT_SEQUENCE; n++) {
        write_next(j, b);
        if (!blank)
            cr_buf_value(b, o->p[n], false);
    }
}

static void write_fields(struct cr_predict *j, struct cr_buf *b, int64_t i,
                         const struct cr_predict_row *row)
{
    size_t begin = b->len;

    if (row->name) {
        write_next(j, b);
        write_text(j, b, row->name);
    }
    for (int k = 0; k < j->o->id.n; k++) {
        write_next(j, b);
        write_text(j, b, row->id ? row->id[k] : "");
    }
    for (int k = 0; k < j->n_truths && j->has_truth; k++) {
        struct cr_buf own = { .arena = b->arena };

        if (!row->blank)
            cr_predict_truth(j, &own, k, i, false);
        write_next(j, b);
        write_text(j, b, cr_buf_text(&own));
    }
    for (int k = 0; k < j->n_outs; k++)
        write_out_fields(j, b, &j->out[k], i, row->blank);
    if (j->o->wrong) {
        write_next(j, b);
        cr_buf_value(b, row->loss, false);
    }
    /* drop the delimiter before the first field */
    memmove(b->text + begin, b->text + begin + 1, b->len - begin - 1);
    b->len--;
}

/* ---- The header */

static void write_title(struct cr_predict *j, struct cr_buf *b,
                        const struct cr_predict_out *o, const char *name)
{
    const char *of = j->n_outs > 1 ? o->name : "";

    cr_buf_str(b, "");
    write_next(j, b);
    write_text(j, b, cr_strf(b->arena, "%s%s%s", of, *of ? "." : "", name));
}

static void write_out_titles(struct cr_predict *j, struct cr_buf *b,
                             const struct cr_predict_out *o)
{
    int64_t k = write_topk(j, o);

    if (o->kind == CR_PREDICT_VALUES) {
        for (int64_t n = 0; n < o->count; n++)
            if (o->count == 1) {
                write_next(j, b);
                write_text(j, b, o->name);
            } else {
                write_next(j, b);
                write_text(j, b, cr_strf(b->arena, "%s.%" PRId64, o->name, n));
            }
        return;
    }
    write_title(j, b, o, "label");
    for (int64_t n = 1; n <= k && write_one_class(o); n++) {
        write_title(j, b, o, cr_strf(b->arena, "top%" PRId64, n));
        if (j->o->probs)
            write_title(j, b, o, cr_strf(b->arena, "p%" PRId64, n));
    }
    if (!j->o->probs || o->kind == CR_PREDICT_SEQUENCE ||
        (k > 0 && write_one_class(o)))
        return;
    for (int64_t n = 0; n < o->classes; n++)
        write_title(j, b, o, cr_strf(b->arena, "p.%s", o->names[n]));
}

static void write_titles(struct cr_predict *j, struct cr_buf *b)
{
    if (!j->o->stream) {
        write_next(j, b);
        cr_buf_str(b, "input");
    }
    for (int k = 0; k < j->o->id.n; k++) {
        write_next(j, b);
        write_text(j, b, j->o->id.v[k]);
    }
    for (int k = 0; k < j->n_truths && j->has_truth; k++) {
        write_next(j, b);
        write_text(j, b, j->n_truths > 1
                             ? cr_strf(b->arena, "actual.%s",
                                       j->truth[k].name)
                             : "actual");
    }
    for (int k = 0; k < j->n_outs; k++)
        write_out_titles(j, b, &j->out[k]);
    if (j->o->wrong) {
        write_next(j, b);
        cr_buf_str(b, "loss");
    }
}

static bool write_out(struct cr_predict *j, const char *text, size_t n)
{
    if (j->file)
        return cr_atomic_file_write(j->file, text, n);
    return fwrite(text, 1, n, stdout) == n;
}

void cr_predict_header(struct cr_predict *j)
{
    struct cr_arena mem = { 0 };
    struct cr_buf b = { .arena = &mem };

    if (!j->o->header || write_json(j) || j->arrays || j->titled)
        return;
    write_titles(j, &b);
    cr_buf_char(&b, '\n');
    write_out(j, b.text + 1, b.len - 1);
    cr_arena_free(&mem);
    j->titled = true;
}

/* ---- JSON */

static void write_json_class(struct cr_predict *j, struct cr_buf *b,
                             const struct cr_predict_out *o, int64_t class)
{
    cr_buf_str(b, "\"label\":");
    write_class(j, b, o, class);
}

static void write_json_numbers(struct cr_buf *b, const char *key, int64_t n,
                               const double *p, const cr_real *y)
{
    cr_buf_f(b, "\"%s\":[", key);
    for (int64_t k = 0; k < n; k++) {
        cr_buf_str(b, k ? "," : "");
        cr_buf_value(b, p ? p[k] : (double)y[k], true);
    }
    cr_buf_char(b, ']');
}

static void write_json_topk(struct cr_predict *j, struct cr_buf *b,
                            const struct cr_predict_out *o)
{
    cr_buf_str(b, ",\"topk\":[");
    for (int64_t n = 0; n < write_topk(j, o); n++) {
        cr_buf_str(b, n ? ",{" : "{");
        write_json_class(j, b, o, o->order[n]);
        if (j->o->probs) {
            cr_buf_str(b, ",\"p\":");
            cr_buf_value(b, o->p[o->order[n]], true);
        }
        cr_buf_char(b, '}');
    }
    cr_buf_char(b, ']');
}

static void write_json_out(struct cr_predict *j, struct cr_buf *b,
                           struct cr_predict_out *o, int64_t i)
{
    bool topk = j->o->topk != CR_INT_NONE;

    if (o->kind == CR_PREDICT_VALUES) {
        write_json_numbers(b, "output", o->count, NULL,
                           cr_predict_values(o, i));
        return;
    }
    if (!write_one_class(o)) {
        cr_buf_str(b, "\"labels\":");
        write_classes(j, b, o, i);
        if (o->kind == CR_PREDICT_SEQUENCE || !j->o->probs)
            return;
        cr_predict_class(j, o, i, false);
    } else {
        write_json_class(j, b, o,
                         cr_predict_class(j, o, i, topk || j->o->probs));
        if (topk)
            write_json_topk(j, b, o);
        if (topk || !j->o->probs)
            return;
    }
    cr_buf_char(b, ',');
    write_json_numbers(b, "probs", o->classes, o->p, NULL);
}

static void write_json_key(struct cr_buf *b, size_t begin, const char *key)
{
    cr_buf_str(b, b->len == begin + 1 ? "" : ",");
    cr_buf_json(b, key);
    cr_buf_char(b, ':');
}

static void write_object(struct cr_predict *j, struct cr_buf *b, int64_t i,
                         const struct cr_predict_row *row)
{
    size_t begin = b->len;

    cr_buf_char(b, '{');
    if (row->name) {
        write_json_key(b, begin, "input");
        cr_buf_json(b, row->name);
    }
    for (int k = 0; k < j->o->id.n; k++) {
        write_json_key(b, begin, j->o->id.v[k]);
        cr_buf_json(b, row->id ? row->id[k] : "");
    }
    for (int k = 0; k < j->n_truths && j->has_truth && !row->blank; k++) {
        write_json_key(b, begin, j->n_truths > 1
                                     ? cr_strf(b->arena, "actual.%s",
                                               j->truth[k].name)
                                     : "actual");
        cr_predict_truth(j, b, k, i, true);
    }
    for (int k = 0; k < j->n_outs && !row->blank; k++) {
        if (j->n_outs > 1) {
            write_json_key(b, begin, j->out[k].name);
            cr_buf_char(b, '{');
        } else {
            cr_buf_str(b, b->len == begin + 1 ? "" : ",");
        }
        write_json_out(j, b, &j->out[k], i);
        cr_buf_str(b, j->n_outs > 1 ? "}" : "");
    }
    if (row->blank) {
        write_json_key(b, begin, "error");
        cr_buf_json(b, row->error ? row->error : "");
    }
    if (j->o->wrong) {
        write_json_key(b, begin, "loss");
        cr_buf_value(b, row->loss, true);
    }
    cr_buf_char(b, '}');
}

/* ---- Output */

/* Appends the line of --against labels, which write_against_ok has checked. */
static void write_against(struct cr_predict *j, struct cr_buf *to, int64_t i)
{
    struct cr_predict_out *o = &j->out[0];

    cr_buf_f(to, "Predicted: \"%s\"",
             o->names[cr_predict_class_at(o, i, 0)]);
    for (int k = 0; k < j->n_truths && j->has_truth; k++) {
        cr_buf_str(to, ", Actual: \"");
        cr_predict_truth(j, to, k, i, false);
        cr_buf_char(to, '"');
    }
}

static bool write_against_ok(const struct cr_predict *j)
{
    const char *what = j->o->against;

    if (!what)
        return true;
    if (strcmp(what, "labels") != 0)
        return cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "--against: found '%s', expected labels",
                        cr_quote(j->cli->arena, what, strlen(what)));
    return (j->n_outs == 1 && write_one_class(&j->out[0]) && !write_json(j)) ||
           cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
                    "--against labels requires text output of one class per "
                    "sample");
}

void cr_predict_row(struct cr_predict *j, struct cr_buf *to, int64_t i,
                    const struct cr_predict_row *row)
{
    if (j->o->against && !row->blank)
        write_against(j, to, i);
    else if (write_json(j))
        write_object(j, to, i, row);
    else
        write_fields(j, to, i, row);
    cr_buf_char(to, '\n');
}

/* The memory of the rows is reused, unless other allocations exceed it. */
bool cr_predict_put(struct cr_predict *j)
{
    bool ok = j->line.len == 0 || write_out(j, j->line.text, j->line.len);

    j->line.len = 0;
    if (j->lines.total > 2 * j->line.cap + (1 << 16)) {
        cr_arena_free(&j->lines);
        j->line = (struct cr_buf){ .arena = &j->lines };
    }
    return ok;
}

const char *const cr_predict_endings[CR_PREDICT_ENDINGS] = {
    ".tsv", ".csv", ".jsonl", ".npy", ".npz", ".png"
};

/* Suffixes of formats that predict does not write. */
static const char *const write_other[] = {
    ".xlsx", ".xls", ".ods",  ".parquet", ".feather", ".arrow",
    ".json", ".xml", ".html", ".pkl",     ".pickle",  ".h5",
    ".hdf5", ".mat", ".pt",   ".safetensors", ".gz",  ".zip",
    ".zst",  ".xz",  ".bz2",  ".yaml",    ".pdf",
};

/* Refuses a name with the suffix of another format. */
static bool write_ending(const struct cr_predict *j)
{
    const char *path = j->o->to;
    int format = j->cli->json && j->o->format <= CR_PREDICT_CSV
                     ? CR_PREDICT_JSONL
                     : j->o->format;

    if (path && j->o->wrong && cr_ends(path, ".png"))
        return true;
    for (int i = 0; path && i < CR_PREDICT_ENDINGS; i++)
        if (i != format && cr_ends(path, cr_predict_endings[i]))
            return cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
                            i == 5 ? "-o: found '%s', expected a name that "
                                     "ends in %s, the suffix of --format; a "
                                     "contact sheet requires --wrong"
                                   : "-o: found '%s', expected a name that "
                                     "ends in %s, the suffix of --format",
                            cr_quote(j->cli->arena, path, strlen(path)),
                            cr_predict_endings[format]);
    for (size_t i = 0; path && i < CR_LEN(write_other) &&
                       format <= CR_PREDICT_CSV;
         i++)
        if (cr_ends(path, write_other[i]))
            return cr_cli_ending(j->cli, "-o", path,
                                 ".tsv .csv .jsonl .npy .npz");
    return true;
}

bool cr_predict_write_open(struct cr_predict *j)
{
    const char *path = j->o->to;

    if (!write_ending(j) || !write_against_ok(j))
        return false;
    /* mpirun may give each process a terminal, and passes its bytes on */
    if (j->o->format >= CR_PREDICT_NPY && cr_mpi_size() == 1 &&
        !cr_cli_no_terminal(j->cli, "-o", path ? path : "-"))
        return false;
    if (j->o->format >= CR_PREDICT_NPY)
        cr_predict_arrays_open(j);
    if (cr_mpi_rank() > 0) /* process 0 writes */
        return true;
    if (!path || strcmp(path, "-") == 0 || j->o->format == CR_PREDICT_NPZ ||
        cr_ends(path, ".png"))
        return true;
    j->file = CR_NEW(j->cli->arena, struct cr_atomic_file);
    if (cr_atomic_file_open(j->file, j->cli->diag, path, 0))
        return true;
    j->file = NULL;
    return false;
}

bool cr_predict_write_close(struct cr_predict *j, bool ok)
{
    if (cr_mpi_rank() > 0)
        return ok;
    if (ok && j->wrong)
        ok = cr_predict_wrong_write(j);
    if (ok && j->arrays)
        ok = cr_predict_arrays_write(j);
    ok = cr_predict_put(j) && ok;
    if (j->file && ok)
        return cr_atomic_file_commit(j->file);
    if (j->file)
        cr_atomic_file_discard(j->file);
    return ok;
}
