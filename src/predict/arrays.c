/*
 * Results as .npy and .npz, collected in memory because the header contains
 * their number. An .npy file has the elements of the output or, with --probs,
 * the probabilities of its classes. An .npz file has an array per output, under
 * its name, and the predicted classes as OUTPUT.label. Blank samples are NaN,
 * and class -1.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/tensor_file.h"
#include "data/npy.h"
#include "predict/predict.h"

struct gathered {
    char *v;
    size_t len, cap;
};

struct cr_predict_arrays {
    struct gathered *values, *labels, *truth;
    int64_t n;
};

void cr_predict_arrays_open(struct cr_predict *j)
{
    struct cr_arena *arena = j->cli->arena;

    j->arrays = CR_NEW(arena, struct cr_predict_arrays);
    j->arrays->values = CR_NEWS(arena, struct gathered, j->n_outs);
    j->arrays->labels = CR_NEWS(arena, struct gathered, j->n_outs);
    j->arrays->truth = CR_NEWS(arena, struct gathered, j->n_truths + 1);
}

/* Room for n more bytes. */
static void *gathered_room(struct gathered *g, size_t n)
{
    if (g->len + n > g->cap) {
        size_t cap = 2 * (g->len + n) + 4096;
        char *more = realloc(g->v, cap);

        if (!more)
            cr_out_of_memory(cap);
        g->v = more;
        g->cap = cap;
    }
    g->len += n;
    return g->v + g->len - n;
}

static void gathered_add(struct gathered *g, const void *x, size_t n)
{
    memcpy(gathered_room(g, n), x, n);
}

static bool arrays_probs(const struct cr_predict *j,
                         const struct cr_predict_out *o)
{
    return j->o->probs && o->kind != CR_PREDICT_VALUES &&
           o->kind != CR_PREDICT_SEQUENCE;
}

/* The same for an output with a class for each position. */
static bool arrays_position_probs(const struct cr_predict *j,
                                  const struct cr_predict_out *o)
{
    return j->o->probs && o->kind == CR_PREDICT_SEQUENCE;
}

static void arrays_values(struct cr_predict *j, int k, int64_t i, bool blank)
{
    struct cr_predict_out *o = &j->out[k];
    struct gathered *g = &j->arrays->values[k];
    bool probs = arrays_probs(j, o);
    int64_t n = probs ? o->classes : o->count;

    if (arrays_position_probs(j, o) && !blank) {
        cr_real *to = gathered_room(g, (size_t)o->count * sizeof *to);

        for (int64_t c = 0; c < o->positions; c++)
            cr_predict_probs_at(o, i, c, to);
        return;
    }
    if (probs && !blank)
        cr_predict_class(j, o, i, true);
    for (int64_t c = 0; c < n; c++) {
        cr_real v = blank   ? (cr_real)NAN
                    : probs ? (cr_real)o->p[c]
                            : cr_predict_values(o, i)[c];

        gathered_add(g, &v, sizeof v);
    }
}

static void arrays_labels(struct cr_predict *j, int k, int64_t i, bool blank)
{
    struct cr_predict_out *o = &j->out[k];
    struct gathered *g = &j->arrays->labels[k];
    bool labels = o->kind == CR_PREDICT_LABELS;
    int64_t n = labels ? o->classes : o->positions;

    for (int64_t c = 0; c < n; c++) {
        int32_t v = blank  ? -1
                    : labels ? cr_predict_has(j, o, i, c)
                    : o->kind == CR_PREDICT_SEQUENCE
                        ? (int32_t)cr_predict_class_at(o, i, c)
                        : (int32_t)cr_predict_class(j, o, i, false);

        gathered_add(g, &v, sizeof v);
    }
}

void cr_predict_arrays_add(struct cr_predict *j, int64_t i,
                           const struct cr_predict_row *row)
{
    j->arrays->n++;
    for (int k = 0; k < j->n_outs; k++) {
        arrays_values(j, k, i, row->blank);
        if (j->o->format == CR_PREDICT_NPZ &&
            j->out[k].kind != CR_PREDICT_VALUES)
            arrays_labels(j, k, i, row->blank);
    }
    for (int k = 0; k < j->n_truths && j->has_truth; k++)
        gathered_add(&j->arrays->truth[k],
                     j->truth[k].batch + (size_t)i * j->truth[k].size,
                     j->truth[k].size);
}

/* The spec of n samples. */
static struct cr_spec arrays_spec(int64_t n, const struct cr_spec *each)
{
    struct cr_spec spec = *each;

    memmove(spec.dim + 1, spec.dim, sizeof spec.dim - sizeof spec.dim[0]);
    spec.dim[0] = n;
    spec.rank++;
    return spec;
}

static struct cr_spec arrays_values_spec(const struct cr_predict *j, int k)
{
    const struct cr_predict_out *o = &j->out[k];
    struct cr_spec probs = { .type = CR_REAL, .rank = 1,
                             .dim = { o->classes } };
    struct cr_spec own = o->spec;

    own.type = CR_REAL;
    return arrays_spec(j->arrays->n, arrays_probs(j, o) ? &probs : &own);
}

static bool arrays_npy(struct cr_predict *j)
{
    struct cr_spec spec = arrays_values_spec(j, 0);
    struct cr_buf head = { .arena = j->cli->arena };
    const struct gathered *g = &j->arrays->values[0];

    cr_npy_header(&head, &spec);
    if (j->file)
        return cr_atomic_file_write(j->file, head.text, head.len) &&
               cr_atomic_file_write(j->file, g->v, g->len);
    return fwrite(head.text, 1, head.len, stdout) == head.len &&
           fwrite(g->v ? g->v : "", 1, g->len, stdout) == g->len;
}

static bool arrays_npz(struct cr_predict *j)
{
    struct cr_arena *arena = j->cli->arena;
    struct cr_predict_arrays *a = j->arrays;
    struct cr_tensor *t = CR_NEWS(arena, struct cr_tensor,
                                  2 * j->n_outs + j->n_truths);
    int n = 0;

    for (int k = 0; k < j->n_outs; k++) {
        const struct cr_predict_out *o = &j->out[k];
        struct cr_spec each = { .type = CR_I32, .rank = 0 };

        t[n++] = (struct cr_tensor){ o->name, arrays_values_spec(j, k),
                                     a->values[k].v };
        if (o->kind == CR_PREDICT_VALUES)
            continue;
        if (o->kind == CR_PREDICT_LABELS)
            each.dim[each.rank++] = o->classes;
        for (int d = 0; o->kind == CR_PREDICT_SEQUENCE && d < o->spec.rank; d++)
            if (d != o->axis)
                each.dim[each.rank++] = o->spec.dim[d];
        t[n++] = (struct cr_tensor){ cr_strf(arena, "%s.label", o->name),
                                     arrays_spec(a->n, &each),
                                     a->labels[k].v };
    }
    for (int k = 0; k < j->n_truths && j->has_truth; k++)
        t[n++] = (struct cr_tensor){
            cr_strf(arena, "actual.%s", j->truth[k].name),
            arrays_spec(a->n, &j->truth[k].out), a->truth[k].v
        };
    return cr_tensor_format_npz.write(j->cli->diag, j->o->to ? j->o->to : "-",
                                      t, n);
}

bool cr_predict_arrays_write(struct cr_predict *j)
{
    struct cr_predict_arrays *a = j->arrays;
    bool ok = j->o->format == CR_PREDICT_NPY ? arrays_npy(j) : arrays_npz(j);

    for (int k = 0; k < j->n_outs; k++) {
        free(a->values[k].v);
        free(a->labels[k].v);
    }
    for (int k = 0; k < j->n_truths; k++)
        free(a->truth[k].v);
    return ok;
}
