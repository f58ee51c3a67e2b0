#include "model/single_batch.h"

#include "base/str.h"
#include "conf/opt.h"
#include "data/format.h"
#include "graph/cell.h"
#include "train/section.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* maximum number of column names in a config */
#define PROBE_NAMES 256

/* Real numbers take the type of the network; integers (classes, tokens) become
 * int32. Bytes and booleans stay. */
static enum cr_type single_batch_type(enum cr_type type)
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

static bool single_batch_range(struct cr_single_batch *p, const char *path,
                               const struct cr_spec *spec, const void *data)
{
    int64_t n = cr_count(spec);

    if (spec->type == CR_I64)
        for (int64_t i = 0; i < n; i++)
            if (((const int64_t *)data)[i] !=
                (int32_t)((const int64_t *)data)[i])
                return cr_error(p->diag, cr_at_file(p->arena, path),
                                CR_E_DATA_RANGE,
                                "element %" PRId64 " is %" PRId64
                                ", which does not fit 32 bits",
                                i, ((const int64_t *)data)[i]);
    return true;
}

const void *cr_single_batch_array(struct cr_arena *arena, struct cr_diag *diag,
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
                 "found %s, expected an array of numbers with at least one row",
                 cr_diag_format(arena, spec));
        return NULL;
    }
    raw = cr_alloc(arena, cr_bytes(spec), 1);
    ok = format->read(file, diag, 0, spec->dim[0], raw);
    format->close(file);
    return ok ? raw : NULL;
}

static bool single_batch_column(struct cr_single_batch *p, const char *path,
                                struct cr_column *column, const void **data)
{
    struct cr_spec spec, all;
    const void *raw = cr_single_batch_array(p->arena, p->diag, path, &spec);
    void *to;

    if (!raw || !single_batch_range(p, path, &spec, raw))
        return false;
    if (p->batch > 0 && spec.dim[0] != p->batch)
        return cr_error(p->diag, cr_at_file(p->arena, path), CR_E_DATA_FORMAT,
                        "found %" PRId64 " rows, expected %" PRId64
                        " as in the previous column",
                        spec.dim[0], p->batch);
    p->batch = spec.dim[0];
    all = spec;
    all.type = single_batch_type(spec.type);
    to = cr_alloc(p->arena, cr_bytes(&all), 1);
    cr_convert(spec.type, raw, all.type, to, cr_count(&all));
    *data = to;
    column->spec = all;
    column->spec.rank--;
    memmove(column->spec.dim, all.dim + 1,
            (size_t)column->spec.rank * sizeof *all.dim);
    return true;
}

/* Appends the names in a list of inputs. */
static int single_batch_listed(const struct cr_node *section,
                               const char **names, int n, int cap)
{
    for (CR_EACH(m, cr_node_get(section, "inputs")))
        if (n < cap && (m->key || m->text))
            names[n++] = m->key ? m->key : m->text;
    return n;
}

/* Whether the config uses column p->column[i]. A network without `inputs`
 * accepts a column of any name. */
static bool single_batch_known(struct cr_single_batch *p, int i)
{
    const struct cr_node *network = cr_section(p->config, "network");
    const struct cr_node *loss = cr_section(p->config, "loss"), *args;
    const char *type = loss ? cr_node_type(loss, &args) : NULL;
    const struct cr_cell *cell = type ? cr_loss_find(type) : NULL;
    const char *names[PROBE_NAMES + 1] = { NULL };
    struct cr_buf takes = { .arena = p->arena };
    int n = single_batch_listed(network, names, 0, PROBE_NAMES);

    if (n == 0)
        return true;
    for (int k = 0; k < n; k++)
        if (names[k][0] == '*')
            return true;
    for (int k = 0; k < n; k++)
        cr_buf_f(&takes, "%s%s", k ? ", " : "", names[k]);
    n = single_batch_listed(loss, names, n, PROBE_NAMES - 1);
    for (CR_EACH(m, cr_section(p->config, "metrics")))
        n = single_batch_listed(m, names, n, PROBE_NAMES - 1);
    for (int k = 0; cell && cell->targets && cell->targets[k] &&
                    n < PROBE_NAMES - 1; k++)
        names[n++] = cell->targets[k];
    names[n] = "label";
    for (int k = 0; k <= n; k++)
        if (strcmp(names[k], p->column[i].name) == 0)
            return true;
    cr_error(p->diag, CR_NOWHERE, CR_E_USAGE,
             "--feed: unknown column '%s'; the network uses %s",
             cr_quote(p->arena, p->column[i].name, strlen(p->column[i].name)),
             cr_buf_text(&takes));
    if (cr_closest_name(p->column[i].name, names))
        cr_hint(p->diag, "did you mean '%s'?",
                cr_closest_name(p->column[i].name, names));
    return false;
}

static bool single_batch_feed(struct cr_single_batch *p)
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
                              "--feed: duplicate column '%s'", column->name);
        ok &= single_batch_known(p, p->n_columns) &&
              single_batch_column(p, eq + 1, column, &p->data[p->n_columns]);
        p->n_columns++;
    }
    return ok;
}

/* Opens the training data; nothing is read before the network is planned. */
static bool single_batch_loader(struct cr_single_batch *p)
{
    struct cr_data_loader_opts want = {
        .split = "train", .train = true, .one_size = true, .seed = p->seed
    };
    const struct cr_column *column;

    if (!cr_section(p->config, "dataset")) {
        cr_error(p->diag, CR_NOWHERE, CR_E_MISSING_SECTION,
                 "the section 'dataset' is missing: no batch to use");
        cr_note(p->diag, "use --feed COLUMN=FILE.npy to supply a batch");
        return false;
    }
    p->loader = cr_data_loader_open(p->config, &want);
    if (!p->loader)
        return false;
    column = cr_data_loader_columns(p->loader, &p->n_columns);
    memcpy(p->column, column, (size_t)p->n_columns * sizeof *column);
    p->classes = cr_data_loader_dataset(p->loader)->classes;
    p->batch = cr_data_loader_batch_size(p->loader);
    if (p->batch > cr_data_loader_samples(p->loader))
        p->batch = cr_data_loader_samples(p->loader);
    return true;
}

bool cr_single_batch_read(struct cr_single_batch *p)
{
    const struct cr_batch *batch;

    if (!p->loader)
        return true;
    batch = cr_data_loader_next(p->loader, p->diag);
    if (!batch)
        return false;
    assert(batch->n == p->batch);
    p->samples = batch->samples;
    for (int c = 0; c < p->n_columns; c++)
        p->data[c] = batch->data[c];
    return true;
}

bool cr_single_batch_open(struct cr_single_batch *p)
{
    int64_t *samples;

    if (p->feed.n == 0)
        return single_batch_loader(p);
    if (!single_batch_feed(p))
        return false;
    samples = CR_NEWS(p->arena, int64_t, p->batch);
    for (int64_t i = 0; i < p->batch; i++)
        samples[i] = i;
    p->samples = samples;
    return true;
}

void cr_single_batch_close(struct cr_single_batch *p)
{
    if (p->loader)
        cr_data_loader_close(p->loader);
}
