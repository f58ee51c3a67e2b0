/* init --from-npy: a config for two arrays, samples (rows of numbers,
 * sequences of them, or images) and their targets. */
#include "starter/starter.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "data/format.h"

struct arrays {
    struct cr_starter *s;
    const char *x_path, *y_path;
    struct cr_spec x, y;
    struct cr_starter_facts of;
    bool sequences; /* x is (n, time, features) */
};

/* (n, a, b) is images where these are bytes or squares. */
static bool arrays_is_sequences(const struct cr_spec *x)
{
    return x->rank == 3 && x->type != CR_U8 && x->dim[1] != x->dim[2];
}

/* Reads the spec of an array and, with `all`, its values as doubles. False
 * after reporting. */
static bool arrays_read(struct cr_starter *s, const char *path,
                        struct cr_spec *spec, double **all)
{
    const struct cr_format *format = cr_format_of(s->diag, s->arena, path);
    struct cr_file *file =
        format ? format->open(s->arena, s->diag, path, spec) : NULL;
    int64_t n = file ? cr_count(spec) : 0;
    bool ok = file != NULL;

    if (ok && (spec->rank < 1 || n < 1))
        ok = cr_error(s->diag, cr_at_file(s->arena, path), CR_E_DATA_EMPTY,
                      "found an array %s, expected samples along the first "
                      "axis",
                      cr_diag_format(s->arena, spec));
    if (ok && all) {
        void *values = cr_alloc(s->arena, (size_t)n, cr_type_size(spec->type));

        *all = CR_NEWS(s->arena, double, n + 1);
        ok = format->read(file, s->diag, 0, spec->dim[0], values);
        if (ok)
            cr_convert(spec->type, values, CR_F64, *all, n);
    }
    if (file)
        format->close(file);
    return ok;
}

static bool arrays_open(struct arrays *a)
{
    struct cr_diag *diag = a->s->diag;
    double *y;

    if (!arrays_read(a->s, a->x_path, &a->x, NULL) ||
        !arrays_read(a->s, a->y_path, &a->y, &y))
        return false;
    if (a->x.dim[0] != a->y.dim[0])
        return cr_error(diag, cr_at_file(diag->arena, a->y_path),
                        CR_E_DATA_FORMAT,
                        "found %" PRId64 " targets, expected %" PRId64
                        ", one for each sample of %s",
                        a->y.dim[0], a->x.dim[0], a->x_path);
    if (a->y.rank > 2 || (a->y.rank == 2 && a->y.dim[1] != 1))
        return cr_error(diag, cr_at_file(diag->arena, a->y_path),
                        CR_E_DATA_FORMAT,
                        "found an array %s, expected one target for each "
                        "sample",
                        cr_diag_format(diag->arena, &a->y));
    if (a->x.rank < 2 || a->x.rank > 4)
        return cr_error(diag, cr_at_file(diag->arena, a->x_path),
                        CR_E_DATA_FORMAT,
                        "found an array %s, expected rows (n, features), "
                        "sequences (n, time, features) or images (n, height, "
                        "width), (n, height, width, channels) or (n, channels, "
                        "height, width)",
                        cr_diag_format(diag->arena, &a->x));
    if (a->y.type == CR_REAL && a->s->task == CR_TASK_AUTO)
        a->s->task = CR_TASK_REGRESS;
    for (int64_t i = 0; i < a->y.dim[0]; i++)
        if (!isfinite(y[i]))
            return cr_error(diag, cr_at_file(diag->arena, a->y_path),
                            CR_E_DATA_RANGE,
                            "target %" PRId64 ": found %g, expected a number",
                            i, y[i]);
    if (!cr_starter_numbers(a->s, y, a->y.dim[0], &a->of))
        return false;
    if (!a->of.classifies || a->y.rank == 1)
        return true;
    cr_error(diag, cr_at_file(diag->arena, a->y_path), CR_E_DATA_FORMAT,
             "found classes in an array %s, expected (%" PRId64 ",)",
             cr_diag_format(diag->arena, &a->y), a->y.dim[0]);
    cr_hint(diag, "save the array flattened with NumPy's ravel()");
    return false;
}

static void arrays_label(struct arrays *a)
{
    struct cr_buf *b = &a->s->out;

    if (a->of.classifies && a->y.type != CR_I32)
        cr_buf_str(b, "  label: [{TypeCast: {data_type: int32}}]\n");
    else if (!a->of.classifies && a->y.type != CR_F32)
        cr_buf_str(b, "  label: [{TypeCast: {data_type: float32}}]\n");
}

/* The datapipe that converts images to float32 (channels, height, width), and
 * the network. */
static void arrays_images(struct arrays *a)
{
    struct cr_buf *b = &a->s->out;
    bool first = a->x.rank == 4 && a->x.dim[1] <= 4 && a->x.dim[3] > 4;
    int64_t h = a->x.dim[first ? 2 : 1], w = a->x.dim[first ? 3 : 2];

    if (a->x.type != CR_F32 || (a->x.rank == 4 && !first))
        cr_buf_str(b, "  x:\n");
    if (a->x.type == CR_U8)
        cr_buf_str(b, "    - Rescale: {rescale: $(1/255), shift: 0.0}\n");
    else if (a->x.type != CR_F32)
        cr_buf_str(b, "    - TypeCast: {data_type: float32}\n");
    if (a->x.rank == 4 && !first)
        cr_buf_str(b, "    - HWC2CHW\n");
    arrays_label(a);
    cr_buf_f(b, "  batch: {batch_size: %" PRId64 "}\n",
             cr_starter_batch(&a->of));
    cr_starter_convnet(a->s, &a->of, "x",
                       a->x.rank == 3 ? "expand_dims(x, 1)" : "x",
                       h < w ? h : w);
}

static void arrays_rows(struct arrays *a)
{
    struct cr_buf *b = &a->s->out;
    int64_t features = a->x.dim[a->x.rank - 1], state = 32;

    cr_buf_str(b, "  # Mean 0, standard deviation 1 of each feature, fitted on "
                  "the training split.\n"
                  "  x: [Standardize]\n");
    arrays_label(a);
    cr_buf_f(b, "  batch: {batch_size: %" PRId64 "}\n",
             cr_starter_batch(&a->of));
    cr_buf_str(b, "\nnetwork:\n  inputs: [x]\n  cells:\n");
    if (!a->sequences) {
        cr_starter_dense(a->s, &a->of, features);
        cr_buf_str(b, "  construct: |\n");
        cr_starter_output(a->s, &a->of, "x");
        return;
    }
    while (state < 128 && state < 2 * features)
        state *= 2;
    cr_buf_f(b, "    lstm: {LSTM: {hidden_size: %" PRId64
                ", batch_first: true}}\n", state);
    cr_starter_dense(a->s, &a->of, state);
    cr_buf_str(b, "  construct: |\n    h, _ = lstm(x)\n");
    cr_starter_output(a->s, &a->of, "h[:, -1]");
}

bool cr_starter_npy(struct cr_starter *s, const char *x, const char *y)
{
    struct arrays a = { .s = s, .x_path = x, .y_path = y };
    struct cr_buf *b = &s->out;

    if (!arrays_open(&a))
        return false;
    a.sequences = arrays_is_sequences(&a.x);
    a.of.images = a.x.rank > 2 && !a.sequences;
    a.of.flat = a.y.rank == 1;
    cr_starter_head(s);
    cr_buf_f(b, "#\n# %" PRId64 " samples, ", a.of.rows);
    if (a.of.classifies)
        cr_buf_f(b, "%" PRId64 " classes of %" PRId64 " to %" PRId64
                 " samples.\n",
                 a.of.classes, a.of.fewest, a.of.most);
    else
        cr_buf_str(b, "numeric targets.\n");
    if (a.sequences)
        cr_buf_f(b, "# A sample is a sequence of %" PRId64 " steps of %" PRId64
                    " numbers. If it is an image, write it as\n"
                    "# (height, width, 1).\n",
                 a.x.dim[1], a.x.dim[2]);
    cr_buf_str(b, "cellrun: 1\nseed: 1\n");
    if (!a.of.classifies)
        cr_starter_vars(s, &a.of);
    cr_buf_str(b, "\ndataset:\n  train: {NumpySlicesDataset: {data: [");
    cr_starter_path(s, x);
    cr_buf_str(b, ", ");
    cr_starter_path(s, y);
    cr_buf_str(b, "], column_names: [x, label]}}\n");
    cr_starter_split(s, &a.of);
    cr_buf_str(b, "\ndatapipe:\n");
    if (a.of.images)
        arrays_images(&a);
    else
        arrays_rows(&a);
    cr_starter_training(s, &a.of);
    return true;
}
