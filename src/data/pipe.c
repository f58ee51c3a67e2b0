#include "data/pipe.h"

#include "base/par.h"
#include "data/column.h"
#include "data/order.h"
#include "data/reader.h"
#include "data/section.h"
#include "data/workers.h"

#include <stdlib.h>
#include <string.h>

struct cr_pipe {
    struct cr_config *config;
    struct cr_arena *arena;
    struct cr_pipe_want want;
    struct cr_dataset set;
    struct cr_obj source;       /* the data set's node, read */
    struct cr_pos pos;
    bool open, loaded;
    struct cr_column column[CR_COLUMNS_MAX];
    struct cr_colpipe *op[CR_COLUMNS_MAX];
    struct cr_order order;
    int64_t batch_size, batches;
    size_t room;                /* working room of one thread */
    bool caches;                /* samples stay in memory as read */
    struct cr_reader *reader;
    /* where the reader is */
    int64_t epoch, index;
    bool between;               /* the end of an epoch was told */
    /* orders of two neighbouring epochs: epoch e is in e % 2 */
    int64_t *orders[2], order_epoch[2], *order_room;
    /* without workers */
    struct cr_batch batch;
    char *rooms;
    struct cr_diag *diag;
    int64_t failed;
    /* with them */
    struct cr_workers *workers;
    int n_workers, prefetch;
};

/* ---- opening ---- */

static const struct cr_node *arg(const struct cr_pipe *p, const char *name)
{
    const struct cr_node *args = NULL;

    if (!p->source.node || !cr_node_type(p->source.node, &args))
        return NULL;
    return cr_node_get(args, name);
}

/* The data set of the split: its own, or, for eval, a part of train. */
static bool choose_source(struct cr_pipe *p, struct cr_data_section *section,
                          bool *aside)
{
    struct cr_config *c = p->config;
    const char *split = p->want.split;

    *aside = false;
    if (p->want.dataset)
        return cr_obj_read(c->arena, c->diag, CR_KIND_DATASET,
                           p->want.dataset, &p->source);
    if (!cr_section_read(c, "dataset", section))
        return false;
    if (strcmp(split, "train") == 0)
        p->source = section->train;
    else if (strcmp(split, "test") == 0)
        p->source = section->test;
    else
        p->source = section->eval;
    if (!p->source.about && strcmp(split, "eval") == 0 &&
        cr_node_get(cr_section(c, "dataset"), "split")) {
        p->source = section->train;
        *aside = true;
    }
    if (!p->source.about) {
        const struct cr_node *node = cr_section(c, "dataset");

        return cr_error(c->diag, node ? node->pos : c->root->pos,
                        CR_E_MISSING_SECTION,
                        "there is no data set dataset.%s", split);
    }
    return true;
}

static bool flag(struct cr_config *c, const struct cr_node *node,
                 const char *name, bool otherwise, bool *to)
{
    *to = otherwise;
    if (!node || node->kind == CR_NODE_NULL)
        return true;
    if (node->kind != CR_NODE_BOOL)
        return cr_error(c->diag, node->pos, CR_E_WRONG_TYPE,
                        "%s takes true or false, not %s", name,
                        cr_node_what(c->arena, node));
    *to = node->boolean;
    return true;
}

static bool read_labels(struct cr_pipe *p, const char *column,
                        int64_t **labels)
{
    int64_t i;
    char value[16];
    int k;

    for (k = 0; k < p->set.columns; k++)
        if (strcmp(p->set.column[k].name, column) == 0)
            break;
    if (k == p->set.columns || p->set.column[k].spec.rank != 0)
        return cr_error(p->config->diag, p->pos, CR_E_UNKNOWN_KEY,
                        "split.stratify: '%s' is no column of single numbers",
                        column);
    if (p->set.type->load && !p->set.type->load(&p->set, p->config->diag))
        return false;
    *labels = CR_NEWS(p->arena, int64_t, p->set.count);
    for (i = 0; i < p->set.count; i++) {
        if (!p->set.type->read(&p->set, p->config->diag, i, k, value))
            return false;
        cr_convert(p->set.column[k].spec.type, value, CR_I64, *labels + i, 1);
    }
    return true;
}

/* `split`: this pipe gets the part set aside, or what is left. */
static bool make_split(struct cr_pipe *p, const struct cr_split *s,
                       bool aside)
{
    int64_t n = p->set.count, *labels = NULL, *train, *eval, count;
    double share = s->eval_from_train.unit == CR_PERCENT
                       ? s->eval_from_train.value / 100
                       : s->eval_from_train.value / (double)(n > 0 ? n : 1);

    if (s->eval_from_train.unit != CR_PERCENT &&
        s->eval_from_train.unit != CR_SAMPLES)
        return cr_error(p->config->diag, p->pos, CR_E_UNIT,
                        "split.eval_from_train takes samples or %%");
    if (!(share >= 0 && share <= 1))
        return cr_error(p->config->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "split.eval_from_train is more than the %lld samples "
                        "there are",
                        (long long)n);
    if (s->stratify && !read_labels(p, s->stratify, &labels))
        return false;
    count = cr_order_split(p->arena, n, share, labels, (uint64_t)s->seed,
                           &train, &eval);
    p->order.pool = aside ? eval : train;
    p->order.n = aside ? count : n - count;
    return true;
}

static bool buffer_size(struct cr_pipe *p, const struct cr_node *node)
{
    if (!node || (node->kind == CR_NODE_STR && strcmp(node->text, "all") == 0))
        return true;
    if (node->kind != CR_NODE_INT || node->integer < 2)
        return cr_error(p->config->diag, node->pos, CR_E_OUT_OF_RANGE,
                        "shuffle.buffer_size takes all or a number from 2, "
                        "not %s",
                        cr_node_what(p->arena, node));
    p->order.buffer = node->integer;
    return true;
}

/* How many samples an epoch has, and in which order they come. */
static bool make_order(struct cr_pipe *p, const struct cr_pipe_section *s)
{
    const struct cr_node *samples = arg(p, "num_samples");
    struct cr_order *o = &p->order;

    if (!flag(p->config, arg(p, "shuffle"), "shuffle", p->want.train,
              &o->shuffle) ||
        !buffer_size(p, s->shuffle.buffer_size))
        return false;
    o->seed = p->want.seed;
    if (p->want.limit > 0 && p->want.limit < o->n)
        o->n = p->want.limit;
    /* less a little: 0.07 * 10000 is more than 700 */
    if (p->want.limit_fraction > 0 && p->want.limit_fraction < 1)
        o->n = (int64_t)ceil(p->want.limit_fraction * (double)o->n *
                             (1 - 1e-12));
    o->take = o->n;
    if (samples && samples->integer < o->take)
        o->take = samples->integer;
    if (p->want.overfit_batches > 0) {
        o->fixed = true;
        if (p->want.overfit_batches * p->batch_size < o->take)
            o->take = p->want.overfit_batches * p->batch_size;
    }
    return true;
}

static bool drops(struct cr_pipe *p, const struct cr_node *node, bool *yes)
{
    if (node && node->kind == CR_NODE_MAP) {
        for (CR_EACH(m, node))
            if (strcmp(m->key, "train") != 0 && strcmp(m->key, "eval") != 0)
                return cr_error(p->config->diag, m->key_pos,
                                CR_E_UNKNOWN_KEY,
                                "drop_remainder takes train and eval, not "
                                "'%s'",
                                m->key);
        node = cr_node_get(node, p->want.train ? "train" : "eval");
    }
    return flag(p->config, node, "drop_remainder", false, yes);
}

static bool make_batches(struct cr_pipe *p, const struct cr_pipe_section *s)
{
    int64_t n = p->order.take, b = p->batch_size;
    bool drop = false;

    if (!drops(p, s->batch.drop_remainder, &drop))
        return false;
    p->batches = drop ? n / b : (n + b - 1) / b;
    if (p->batches > 0)
        return true;
    if (n > 0)
        return cr_error(p->config->diag, p->pos, CR_E_DATA_EMPTY,
                        "dataset.%s has %lld samples, fewer than one batch "
                        "of %lld, and drop_remainder leaves the rest out",
                        p->want.split, (long long)n, (long long)b);
    return cr_error(p->config->diag, p->pos, CR_E_DATA_EMPTY,
                    "dataset.%s has no samples", p->want.split);
}

/* The column of labels that are mixed together with the samples; -1. */
static int mix_labels(const struct cr_pipe *p)
{
    int i;

    for (i = 0; i < p->set.columns; i++)
        if (strcmp(p->set.column[i].name, "label") == 0)
            return i;
    return -1;
}

/* What mixes a batch needs real numbers, labels that are rows of classes, and
 * room for what was. */
static bool mix_check(struct cr_pipe *p, int i)
{
    const struct cr_transform *mix = p->op[i]->mix;
    const struct cr_spec *label;
    int k = mix_labels(p);
    size_t rows = (size_t)p->batch_size;

    if (!mix)
        return true;
    if (p->op[i]->out.type != CR_REAL)
        return cr_error(p->config->diag, p->op[i]->mix_plan.pos, CR_E_DTYPE,
                        "%s takes real numbers, as Rescale and Normalize "
                        "give them, not %s",
                        mix->about.name, cr_type_name(p->op[i]->out.type));
    label = k >= 0 && k != i ? &p->op[k]->out : NULL;
    if (!label || label->type != CR_REAL || label->rank != 1)
        return cr_error(p->config->diag, p->op[i]->mix_plan.pos, CR_E_DTYPE,
                        "%s mixes labels too: datapipe.label needs OneHot "
                        "and TypeCast to float32",
                        mix->about.name);
    if ((int64_t)rows > p->order.take)
        rows = (size_t)p->order.take;
    rows = rows * (cr_bytes(&p->op[i]->out) + cr_bytes(label) + 8) + 256;
    if (p->room < rows)
        p->room = rows;
    return true;
}

/* `with` beside an op names another column of the data. */
static bool check_with(struct cr_pipe *p, const struct cr_node *ops,
                       const char *const *names)
{
    for (CR_EACH(op, ops)) {
        const struct cr_node *with = cr_node_get(op, "with");
        int i;

        for (i = 0; with && names[i]; i++)
            if (strcmp(with->text, names[i]) == 0)
                break;
        if (!with || names[i])
            continue;
        cr_error(p->config->diag, with->pos, CR_E_UNKNOWN_KEY,
                 "with: '%s' is no column of dataset.%s", with->text,
                 p->want.split);
        if (cr_nearest(with->text, names))
            cr_hint(p->config->diag, "did you mean '%s'?",
                    cr_nearest(with->text, names));
        return false;
    }
    return true;
}

static bool make_columns(struct cr_pipe *p)
{
    const struct cr_node *node = cr_section(p->config, "datapipe");
    const char *names[CR_COLUMNS_MAX + 1] = { NULL };
    struct cr_diag *diag = p->config->diag;
    bool ok = true;
    int i;

    for (i = 0; i < p->set.columns; i++) {
        const struct cr_column *c = &p->set.column[i];

        names[i] = c->name;
        p->op[i] = cr_colpipe_make(p->config, c->name,
                                   cr_node_get(node, c->name), &c->spec,
                                   p->want.train, !getenv("CELLRUN_UNFUSED"),
                                   p->want.seed);
        if (!p->op[i]) {
            ok = false;
            continue;
        }
        p->column[i] = (struct cr_column){ c->name, p->op[i]->out };
        if (p->op[i]->room + cr_bytes(&c->spec) + 64 > p->room)
            p->room = p->op[i]->room + cr_bytes(&c->spec) + 64;
    }
    for (i = 0; i < p->set.columns && ok; i++)
        ok = mix_check(p, i) &&
             check_with(p, cr_node_get(node, names[i]), names);
    p->room = (p->room + 63) / 64 * 64;
    for (CR_EACH(m, node)) {
        if (cr_pipe_key(m->key))
            continue;
        for (i = 0; i < p->set.columns; i++)
            if (strcmp(m->key, names[i]) == 0)
                break;
        if (i < p->set.columns)
            continue;
        ok = cr_error(diag, m->key_pos, CR_E_UNKNOWN_KEY,
                      "'%s' is neither a key of datapipe nor a column of "
                      "dataset.%s",
                      m->key, p->want.split);
        if (cr_nearest(m->key, names))
            cr_hint(diag, "did you mean '%s'?", cr_nearest(m->key, names));
    }
    return ok;
}

/* auto: none when samples cost next to nothing (tables over memory). */
static bool choose_workers(struct cr_pipe *p, const struct cr_pipe_section *s)
{
    const struct cr_node *node = s->workers;
    int i, cpus = cr_par_cpus();

    p->prefetch = (int)s->prefetch;
    if (node && !(node->kind == CR_NODE_STR &&
                  strcmp(node->text, "auto") == 0)) {
        if (node->kind != CR_NODE_INT || node->integer < 0 ||
            node->integer > 256)
            return cr_error(p->config->diag, node->pos, CR_E_OUT_OF_RANGE,
                            "workers takes auto or a number from 0 to 256, "
                            "not %s",
                            cr_node_what(p->arena, node));
        p->n_workers = (int)node->integer;
        return true;
    }
    if (!p->set.type->at && !p->set.type->cheap) /* files are decoded */
        p->n_workers = cpus;
    for (i = 0; i < p->set.columns; i++)
        if ((!p->op[i]->fused || p->op[i]->first > 0) && p->op[i]->n > 0 &&
            cr_bytes(&p->op[i]->out) > 1024)
            p->n_workers = cpus;
    return true;
}

static bool pipe_open(struct cr_pipe *p)
{
    struct cr_pipe_section section = { 0 };
    struct cr_data_section data = { 0 };
    struct cr_config *c = p->config;
    bool aside, split;

    if (!choose_source(p, &data, &aside) ||
        !cr_pipe_section_read(c, &section))
        return false;
    p->pos = p->source.node ? p->source.node->pos : c->root->pos;
    p->set.type = (const struct cr_dataset_type *)p->source.about;
    p->open = true;
    if (!p->set.type->open(c, p->source.opts, p->pos, &p->set))
        return false;
    p->batch_size = p->want.batch_size > 0 ? p->want.batch_size
                                           : section.batch.batch_size;
    p->order.n = p->set.count;
    p->caches = section.cache == CR_CACHE_MEMORY;
    split = !p->want.dataset && !data.eval.about &&
            cr_node_get(cr_section(c, "dataset"), "split") &&
            strcmp(p->want.split, "test") != 0;
    return (!split || make_split(p, &data.split, aside)) &&
           make_order(p, &section) && make_columns(p) &&
           choose_workers(p, &section) && make_batches(p, &section);
}

struct cr_pipe *cr_pipe_open(struct cr_config *config,
                             const struct cr_pipe_want *want)
{
    struct cr_pipe *p = CR_NEW(config->arena, struct cr_pipe);

    p->config = config;
    p->arena = config->arena;
    p->want = *want;
    p->order_epoch[0] = p->order_epoch[1] = -1;
    if (pipe_open(p))
        return p;
    cr_pipe_close(p);
    return NULL;
}

void cr_pipe_close(struct cr_pipe *p)
{
    if (!p)
        return;
    if (p->workers)
        cr_workers_stop(p->workers);
    p->workers = NULL;
    if (p->reader)
        cr_reader_close(p->reader);
    p->reader = NULL;
    if (p->open && p->set.self)
        p->set.type->close(&p->set);
    p->open = false;
}

/* ---- batches ---- */

static void batch_make(struct cr_pipe *p, struct cr_batch *b)
{
    int64_t rows = cr_pipe_samples(p) < p->batch_size ? cr_pipe_samples(p)
                                                      : p->batch_size;
    int i;

    b->columns = p->set.columns;
    for (i = 0; i < b->columns; i++)
        b->data[i] = cr_alloc(p->arena, (size_t)rows,
                              cr_bytes(&p->column[i].spec) + 1);
}

#define AHEAD 8 /* rows */

/* Rows from..to of a batch; false when a sample cannot be had, whose row is
 * in *row. */
static bool fill_rows(struct cr_pipe *p, struct cr_diag *diag,
                      const struct cr_batch *b, int64_t from, int64_t to,
                      char *room, int64_t *row)
{
    struct cr_arena mem = { 0 };    /* for samples of other shapes */
    bool ok = true;
    int64_t r;
    int k;

    for (r = from; r < to && ok; r++) {
        if (r + AHEAD < to)
            cr_reader_ahead(p->reader, b->samples[r + AHEAD]);
        for (k = 0; k < b->columns && ok; k++) {
            const struct cr_colpipe *c = p->op[k];
            int64_t i = b->samples[r];
            struct cr_spec spec;
            const void *x;
            char *y = (char *)b->data[k] +
                      (size_t)r * cr_bytes(&p->column[k].spec);

            *row = r;
            x = cr_reader_get(p->reader, diag, &mem, i, k, room + c->room,
                              &spec);
            if (!x)
                ok = false;
            else if (p->set.varies & 1u << k)
                ok = cr_colpipe_run_other(c, diag, &mem, &spec, &p->set,
                                          b->epoch, i, x, y, room);
            else
                ok = cr_colpipe_run(c, diag, b->epoch, i, x, y, room);
        }
        cr_arena_free(&mem);
    }
    return ok;
}

/* Ops over the batch, when all its rows are there. */
static void mix_batch(const struct cr_pipe *p, const struct cr_batch *b,
                      char *room)
{
    int i, label = mix_labels(p);

    for (i = 0; i < b->columns; i++) {
        const struct cr_colpipe *c = p->op[i];
        struct cr_mix m = { .plan = &c->mix_plan, .n = b->n };
        size_t size;

        if (!c->mix)
            continue;
        m.each = cr_count(&c->out);
        m.classes = cr_count(&p->op[label]->out);
        m.y = b->data[i];
        m.mixed = b->data[label];
        m.order = (int64_t *)(void *)room;
        size = ((size_t)b->n * sizeof *m.order + 63) / 64 * 64;
        m.x = memcpy(room + size, m.y,
                     (size_t)(b->n * m.each) * sizeof *m.y);
        size += (size_t)(b->n * m.each) * sizeof *m.y;
        m.labels = memcpy(room + size, m.mixed,
                          (size_t)(b->n * m.classes) * sizeof *m.mixed);
        m.rng = cr_rng(p->want.seed, CR_STREAM_AUGMENT,
                       ((uint64_t)b->epoch << 32) + (1u << 31) + (uint64_t)i,
                       (uint64_t)b->index << 32);
        c->mix->mix(&m);
    }
}

/* Batch number `sequence` of the run; the order of its epoch must be made. */
static void batch_place(const struct cr_pipe *p, struct cr_batch *b,
                        int64_t sequence)
{
    int64_t left;

    b->epoch = sequence / p->batches;
    b->index = sequence % p->batches;
    left = p->order.take - b->index * p->batch_size;
    b->n = left < p->batch_size ? left : p->batch_size;
    b->samples = p->orders[b->epoch % 2] + b->index * p->batch_size;
}

/* Room for orders; the arena is the caller's, so no worker may ask for it. */
static void order_rooms(struct cr_pipe *p)
{
    if (p->order_room)
        return;
    p->order_room = CR_NEWS(p->arena, int64_t, p->order.n + 1);
    for (int k = 0; k < 2; k++)
        p->orders[k] = CR_NEWS(p->arena, int64_t, p->order.take + 1);
}

static void order_make(struct cr_pipe *p, int64_t epoch)
{
    int k = (int)(epoch % 2);

    if (p->order_epoch[k] == epoch)
        return;
    cr_order_make(&p->order, epoch, p->orders[k], p->order_room);
    p->order_epoch[k] = epoch;
}

static void fill_part(void *ctx, int part, int parts)
{
    struct cr_pipe *p = ctx;
    const struct cr_batch *b = &p->batch;
    char *room = p->rooms + (size_t)part * p->room;
    struct cr_arena arena = { 0 };
    struct cr_diag quiet = { .arena = &arena };
    int64_t row = 0;

    if (!fill_rows(p, &quiet, b, b->n * part / parts,
                   b->n * (part + 1) / parts, room, &row))
        __atomic_store_n(&p->failed, 1, __ATOMIC_RELAXED);
    cr_arena_free(&arena);
}

#define FILL_ALONE 4096 /* bytes below which one thread fills a batch */

static const struct cr_batch *next_alone(struct cr_pipe *p,
                                         struct cr_diag *diag)
{
    size_t bytes = 0;
    int64_t row = 0;
    int i;

    if (!p->batch.columns) {
        batch_make(p, &p->batch);
        p->rooms = cr_alloc(p->arena, (size_t)cr_par_threads(), p->room + 64);
        order_rooms(p);
    }
    order_make(p, p->epoch);
    batch_place(p, &p->batch, p->epoch * p->batches + p->index);
    for (i = 0; i < p->batch.columns; i++)
        bytes += cr_bytes(&p->column[i].spec) * (size_t)p->batch.n;
    p->failed = 0;
    cr_par(fill_part, p, bytes < FILL_ALONE ? 1 : cr_par_threads());
    /* once more in order, to report the first one */
    if (p->failed && !fill_rows(p, diag, &p->batch, 0, p->batch.n, p->rooms,
                                &row))
        return NULL;
    mix_batch(p, &p->batch, p->rooms);
    return &p->batch;
}

/* ---- with workers ---- */

static bool worker_fill(void *ctx, struct cr_diag *diag, int64_t sequence,
                        struct cr_batch *b, void *room)
{
    struct cr_pipe *p = ctx;
    int64_t row;

    (void)sequence;
    if (!fill_rows(p, diag, b, 0, b->n, room, &row))
        return false;
    mix_batch(p, b, room);
    return true;
}

static void worker_place(void *ctx, int64_t sequence, struct cr_batch *b)
{
    struct cr_pipe *p = ctx;

    order_make(p, sequence / p->batches);
    batch_place(p, b, sequence);
}

static void start_workers(struct cr_pipe *p)
{
    struct cr_workers_want want = {
        .threads = p->n_workers,
        .slots = p->prefetch > p->n_workers ? p->prefetch : p->n_workers,
        .room = p->room,
        .ctx = p,
        .place = worker_place,
        .fill = worker_fill,
        .per_epoch = p->batches,
        .over_the_end = p->want.train,
    };
    int i;

    order_rooms(p);
    p->workers = cr_workers_start(p->arena, &want);
    for (i = 0; i < cr_workers_slots(p->workers); i++)
        batch_make(p, cr_workers_batch(p->workers, i));
}

/* ---- reading ---- */

const struct cr_column *cr_pipe_columns(const struct cr_pipe *p, int *n)
{
    *n = p->set.columns;
    return p->column;
}

int64_t cr_pipe_samples(const struct cr_pipe *p)
{
    int64_t most = p->batches * p->batch_size;

    return p->order.take < most ? p->order.take : most;
}

int64_t cr_pipe_batches(const struct cr_pipe *p)
{
    return p->batches;
}

int64_t cr_pipe_batch_size(const struct cr_pipe *p)
{
    return p->batch_size;
}

const struct cr_dataset *cr_pipe_dataset(const struct cr_pipe *p)
{
    return &p->set;
}

void cr_pipe_seek(struct cr_pipe *p, int64_t epoch, int64_t index)
{
    p->epoch = epoch;
    p->index = index;
    p->between = false;
    if (p->workers)
        cr_workers_seek(p->workers, epoch * p->batches + index);
}

const struct cr_batch *cr_pipe_next(struct cr_pipe *p, struct cr_diag *diag)
{
    const struct cr_batch *b;

    if (p->index >= p->batches) {
        p->epoch++;
        p->index = 0;
        return NULL;
    }
    if (!p->loaded) {
        if (p->set.type->load && !p->set.type->load(&p->set, diag))
            return NULL;
        p->reader = cr_reader_open(p->arena, &p->set, p->caches);
        p->loaded = true;
    }
    if (p->n_workers > 0 && !p->workers) {
        start_workers(p);
        cr_workers_seek(p->workers, p->epoch * p->batches + p->index);
    }
    b = p->workers ? cr_workers_next(p->workers, diag) : next_alone(p, diag);
    if (b)
        p->index++;
    return b;
}

bool cr_pipe_levels(const struct cr_pipe *p, int column, int64_t i,
                    double *black, double *white)
{
    const struct cr_colpipe *c = p->op[column];
    const cr_real *table;

    *black = 0;
    *white = 255;
    if (!c->fused)
        return c->out.type == CR_U8;
    table = c->table + (c->class ? c->class[i] * 256 : 0);
    *black = (double)table[0];
    *white = (double)table[255];
    return true;
}

const char *cr_pipe_describe(const struct cr_pipe *p, struct cr_arena *arena)
{
    const char *text = "";
    int i, k;

    for (i = 0; i < p->set.columns; i++) {
        const struct cr_colpipe *c = p->op[i];

        text = cr_strf(arena, "%s%s: %s %s", text, c->name,
                       cr_type_name(c->in.type), cr_show(arena, &c->in));
        for (k = 0; k < c->n; k++)
            text = cr_strf(arena, "%s%s%s", text,
                           c->fused && k > c->first ? "+" : " -> ",
                           c->op[k]->about.name);
        text = cr_strf(arena, "%s -> %s %s\n", text,
                       cr_type_name(c->out.type), cr_show(arena, &c->out));
    }
    return text;
}
