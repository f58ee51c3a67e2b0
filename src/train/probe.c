#include "train/probe.h"

#include "base/str.h"
#include "conf/opt.h"
#include "data/format.h"
#include "train/section.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* Numbers with a fraction are computed with as the network does; integers are
 * classes and tokens: int32. Bytes and truth stay. */
static enum cr_type probe_type(enum cr_type type)
{
    switch (type) {
    case CR_F16:
    case CR_BF16:
    case CR_F32:
    case CR_F64:
        return CR_REAL;
    case CR_U8:
    case CR_BOOL:
        return type;
    default:
        return CR_I32;
    }
}

static bool probe_range(struct cr_probe *p, const char *path,
                        const struct cr_spec *spec, const void *data)
{
    int64_t n = cr_count(spec);

    if (spec->type == CR_I64)
        for (int64_t i = 0; i < n; i++)
            if (((const int64_t *)data)[i] !=
                (int32_t)((const int64_t *)data)[i])
                return cr_error(
                    p->diag, cr_at_file(p->arena, path), CR_E_DATA_RANGE,
                    "element %" PRId64 " is %" PRId64 ", beyond 32 bits", i,
                    ((const int64_t *)data)[i]);
    return true;
}

const void *cr_probe_array(struct cr_arena *arena, struct cr_diag *diag,
                           const char *path, struct cr_spec *spec)
{
    const struct cr_format *format = cr_format_find("npy");
    struct cr_file *file = format->open(arena, diag, path, spec);
    void *raw;
    bool ok;

    if (!file)
        return NULL;
    if (spec->rank < 1 || spec->dim[0] < 1 || !cr_spec_fits(spec) ||
        spec->type == CR_STRING) {
        format->close(file);
        cr_error(diag, cr_at_file(arena, path), CR_E_DATA_FORMAT,
                 "a batch needs numbers and a first axis of at least one row, "
                 "found %s",
                 cr_show(arena, spec));
        return NULL;
    }
    raw = cr_alloc(arena, cr_bytes(spec), 1);
    ok = format->read(file, diag, 0, spec->dim[0], raw);
    format->close(file);
    return ok ? raw : NULL;
}

static bool probe_column(struct cr_probe *p, const char *path,
                         struct cr_column *column, const void **data)
{
    struct cr_spec spec, all;
    const void *raw = cr_probe_array(p->arena, p->diag, path, &spec);
    void *to;

    if (!raw || !probe_range(p, path, &spec, raw))
        return false;
    if (p->batch > 0 && spec.dim[0] != p->batch)
        return cr_error(p->diag, cr_at_file(p->arena, path), CR_E_DATA_FORMAT,
                        "found %" PRId64 " rows, the column fed before has "
                        "%" PRId64,
                        spec.dim[0], p->batch);
    p->batch = spec.dim[0];
    all = spec;
    all.type = probe_type(spec.type);
    to = cr_alloc(p->arena, cr_bytes(&all), 1);
    cr_convert(spec.type, raw, all.type, to, cr_count(&all));
    *data = to;
    column->spec = all;
    column->spec.rank--;
    memmove(column->spec.dim, all.dim + 1,
            (size_t)column->spec.rank * sizeof *all.dim);
    return true;
}

static bool probe_feed(struct cr_probe *p)
{
    bool ok = true;

    for (int i = 0; i < p->feed.n; i++) {
        const char *text = p->feed.v[i], *eq = strchr(text, '=');
        struct cr_column *column = &p->column[p->n_columns];

        if (!eq || eq == text || !eq[1]) {
            ok = cr_error(p->diag, CR_NOWHERE, CR_E_USAGE,
                          "--feed: found '%s', expected COLUMN=FILE.npy",
                          cr_quote(p->arena, text, strlen(text)));
            continue;
        }
        if (p->n_columns == CR_COLUMNS_MAX)
            return cr_error(p->diag, CR_NOWHERE, CR_E_USAGE,
                            "--feed: more than %d columns", CR_COLUMNS_MAX);
        column->name = cr_strndup(p->arena, text, (size_t)(eq - text));
        for (int k = 0; k < p->n_columns; k++)
            if (strcmp(p->column[k].name, column->name) == 0)
                ok = cr_error(p->diag, CR_NOWHERE, CR_E_USAGE,
                              "--feed: column '%s' is given twice",
                              column->name);
        ok &= probe_column(p, eq + 1, column, &p->data[p->n_columns]);
        p->n_columns++;
    }
    return ok;
}

/* The training data; nothing is read before the network is planned. */
static bool probe_pipe(struct cr_probe *p)
{
    struct cr_pipe_want want = { .split = "train",
                                 .train = true,
                                 .one_scale = true,
                                 .seed = p->seed };
    const struct cr_column *column;

    if (!cr_section(p->config, "dataset")) {
        cr_error(p->diag, CR_NOWHERE, CR_E_MISSING_SECTION,
                 "the config has no dataset to take a batch from");
        cr_note(p->diag, "--feed COLUMN=FILE.npy gives one");
        return false;
    }
    p->pipe = cr_pipe_open(p->config, &want);
    if (!p->pipe)
        return false;
    column = cr_pipe_columns(p->pipe, &p->n_columns);
    memcpy(p->column, column, (size_t)p->n_columns * sizeof *column);
    p->classes = cr_pipe_dataset(p->pipe)->classes;
    p->batch = cr_pipe_batch_size(p->pipe);
    if (p->batch > cr_pipe_samples(p->pipe))
        p->batch = cr_pipe_samples(p->pipe);
    return true;
}

/* Its first batch. */
bool cr_probe_read(struct cr_probe *p)
{
    const struct cr_batch *batch;

    if (!p->pipe)
        return true;
    batch = cr_pipe_next(p->pipe, p->diag);
    if (!batch)
        return false;
    assert(batch->n == p->batch);
    p->samples = batch->samples;
    for (int c = 0; c < p->n_columns; c++)
        p->data[c] = batch->data[c];
    return true;
}

bool cr_probe_open(struct cr_probe *p)
{
    int64_t *samples;

    if (p->feed.n == 0)
        return probe_pipe(p);
    if (!probe_feed(p))
        return false;
    samples = CR_NEWS(p->arena, int64_t, p->batch);
    for (int64_t i = 0; i < p->batch; i++)
        samples[i] = i;
    p->samples = samples;
    return true;
}

void cr_probe_close(struct cr_probe *p)
{
    if (p->pipe)
        cr_pipe_close(p->pipe);
}
