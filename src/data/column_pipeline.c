#include "data/column_pipeline.h"

#include "data/column_modifiers.h"
#include "data/features.h"
#include "data/tokenizer.h"
#include "data/reader.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- planning ---- */

/* Checks that a transform accepts texts and lists, if it gets them. */
static bool plan_span(const struct cr_transform *op,
                      struct cr_transform_plan *p)
{
    if (!cr_is_ragged(&p->in) || op->ragged)
        return true;
    if (op->for_lists && p->in.rank > 0)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "%s: found lists of varying length, expected samples "
                        "of one shape; use %s for lists",
                        op->about.name, op->for_lists);
    if (p->in.type != CR_STRING)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "%s: found lists of varying length, expected samples "
                        "of one shape; use PadEnd before it",
                        op->about.name);
    cr_error(p->diag, p->pos, CR_E_DTYPE, "%s: found %s, expected numbers",
             op->about.name,
             p->in.rank ? "tokens (use Lookup to replace them by indices)"
                        : "text");
    if (p->in.rank == 0 && p->column)
        cr_hint(p->diag,
                "in a CSVDataset, columns: {%s: {categories: FIELD}} reads "
                "categories, {fields: FIELD, type: image} images by their "
                "paths; running text needs a tokenizer",
                p->column);
    return false;
}

/* Finds the fitted values of a transform by its position in the config, which
 * is the same for the training and evaluation data. */
static bool plan_fit(struct cr_config *config, const struct cr_transform *op,
                     struct cr_transform_plan *p)
{
    if (!op->fit)
        return true;
    p->fitted = cr_fitted_find(config, p->place, p->fits);
    return p->fitted ||
           cr_error(p->diag, p->pos, CR_E_SHAPE,
                    "%s was fitted on samples of another shape than %s",
                    op->about.name, cr_diag_format(p->arena, &p->in));
}

/* The features, or NULL if the samples do not have them any more. */
static const struct cr_features *match(const struct cr_features *features,
                                       const struct cr_spec *spec)
{
    return features && !cr_is_ragged(spec) && cr_count(spec) == features->n
               ? features
               : NULL;
}

static bool plan_op(struct cr_config *config, struct cr_column_pipeline *c,
                    const struct cr_node *node, bool train, int place)
{
    struct cr_transform_plan *p = &c->plan[c->n];
    struct cr_obj obj = { 0 };
    const struct cr_node *args;
    const char *type = cr_node_type(node, &args);
    bool yes, words = type && cr_registry_find(CR_KIND_TOKENIZER, type);

    if (!cr_modifier_only(config, node, train, &yes))
        return false;
    if (!cr_obj_read(config->arena, config->diag,
                     words ? CR_KIND_TOKENIZER : CR_KIND_TRANSFORM, node,
                     &obj))
        return false;
    if (!yes)
        return true;
    if (c->mix)
        return cr_error(config->diag, node->pos, CR_E_WRONG_TYPE,
                        "%s works on batches and must be the last transform",
                        c->mix->about.name);
    if (!cr_modifier_with(c, config, node, obj.about->name, train) ||
        !cr_modifier_prob(c, config, node, obj.about->name))
        return false;
    c->op[c->n] = words ? cr_tokenizer_op(type)
                        : cr_transform_find(obj.about->name);
    *p = (struct cr_transform_plan){
        .opts = obj.opts,
        .pos = node->kind == CR_NODE_MAP ? node->child->key_pos : node->pos,
        .diag = config->diag,
        .arena = config->arena,
        .config = config,
        .classes = c->names,
        .features = c->features,
        .column = c->name,
        .place = cr_strf(config->arena, "%s.%d", c->name, place),
        .in = c->out,
        .chw = c->chw,
        .out = c->out,
        .size_index = c->size_index,
        .self = words ? (void *)(uintptr_t)obj.about : NULL,
    };
    if (!plan_span(c->op[c->n], p) || !c->op[c->n]->plan(p)) {
        cr_note(config->diag, "   in datapipe.%s, which gets %s %s", c->name,
                cr_type_name(c->out.type),
                cr_diag_format(config->arena, &c->out));
        return false;
    }
    if (!plan_fit(config, c->op[c->n], p) ||
        !cr_modifier_prob_fits(c, config, node))
        return false;
    c->out = p->out;
    c->chw = p->chw;
    if (p->n_sizes > 1 && c->n_sizes > 1)
        return cr_error(config->diag, p->pos, CR_E_CONFLICT,
                        "datapipe.%s: only one transform may choose a size for "
                        "each batch",
                        c->name);
    if (p->n_sizes > 1)
        c->n_sizes = p->n_sizes;
    c->names = p->classes;
    c->features = match(p->features, &p->out);
    if (!c->op[c->n]->mix) {
        c->n++;
    } else if (train) {
        c->mix = c->op[c->n];
        c->mix_plan = *p;
    }
    return true;
}

/* Bytes of a sample in memory. */
static size_t size_of(const struct cr_spec *spec)
{
    return cr_is_ragged(spec) ? sizeof(struct cr_ragged) : cr_bytes(spec);
}

static size_t up(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

/* The element type that the network gets: floating types become CR_REAL. */
static enum cr_type delivered(enum cr_type type)
{
    return type == CR_F32 || type == CR_F64 || type == CR_F16 || type == CR_BF16
               ? CR_REAL
               : type;
}

/* ---- fusing ---- */

#define CLASSES_MAX 16

/* Classes of elements: those of one class get the same result for the same
 * byte. There is a class for each combination of channels of the transforms. */
struct fusion {
    int64_t count;        /* elements */
    int64_t *from;        /* source of each element so far */
    unsigned char *class; /* of each element so far */
    int n;
    int64_t channel[CLASSES_MAX][8]; /* of each fused op, per class */
};

/* Finds the first of the last transforms that can become one table; the
 * transforms before it, such as crops and flips, are applied one by one. */
static bool fusible(struct cr_column_pipeline *c)
{
    const struct cr_spec *in;
    int k = c->n;

    if (!c->fuse || delivered(c->out.type) != CR_REAL)
        return false;
    while (k > 0 && c->n - k < 8 && c->prob[k - 1] == 1 &&
           (c->op[k - 1]->value || c->op[k - 1]->order))
        k--;
    for (; k < c->n; k++) {
        in = &c->plan[k].in;
        if (in->type == CR_U8 && cr_count(in) == cr_count(&c->out) &&
            cr_count(in) <= INT32_MAX)
            break;
    }
    c->first = k;
    return k < c->n;
}

/* Applies the permutation of transform k. */
static void follow_order(const struct cr_column_pipeline *c, int k,
                         struct cr_arena *mem, struct fusion *f)
{
    int64_t *order = CR_NEWS(mem, int64_t, f->count), i;
    unsigned char *class = CR_NEWS(mem, unsigned char, f->count);

    c->op[k]->order(&c->plan[k], order);
    for (i = 0; i < f->count; i++) {
        class[i] = f->class[order[i]];
        order[i] = f->from[order[i]];
    }
    f->from = order;
    f->class = class;
}

/* Transform k depends on the channel, so that a class may become several; false
 * if they are more than CLASSES_MAX. */
static bool follow_channel(const struct cr_column_pipeline *c, int k,
                           struct fusion *f)
{
    struct fusion old = *f;
    int parent[CLASSES_MAX], q;
    int64_t i;

    f->n = 0;
    for (i = 0; i < f->count; i++) {
        int64_t channel = c->op[k]->channel(&c->plan[k], i);

        for (q = 0; q < f->n; q++)
            if (parent[q] == f->class[i] &&
                f->channel[q][k - c->first] == channel)
                break;
        if (q == CLASSES_MAX)
            return false;
        if (q == f->n) {
            parent[f->n] = f->class[i];
            memcpy(f->channel[q], old.channel[f->class[i]],
                   sizeof f->channel[q]);
            f->channel[f->n++][k - c->first] = channel;
        }
        f->class[i] = (unsigned char)q;
    }
    return true;
}

/* Follows every element through the transforms. */
static bool follow(const struct cr_column_pipeline *c, struct cr_arena *mem,
                   struct fusion *f)
{
    int64_t i;
    int k;

    f->n = 1;
    f->from = CR_NEWS(mem, int64_t, f->count);
    f->class = CR_NEWS(mem, unsigned char, f->count);
    for (i = 0; i < f->count; i++)
        f->from[i] = i;
    for (k = c->first; k < c->n; k++) {
        if (c->op[k]->order)
            follow_order(c, k, mem, f);
        if (c->op[k]->channel && !follow_channel(c, k, f))
            return false;
    }
    return true;
}

static void fuse(struct cr_column_pipeline *c)
{
    struct fusion f = { .count = cr_count(&c->out) };
    struct cr_arena mem = { 0 };
    bool straight = true;
    int64_t i;
    int q, x, k;

    if (!follow(c, &mem, &f)) {
        cr_arena_free(&mem);
        return;
    }
    c->fused = true;
    c->classes = f.n;
    c->table = CR_NEWS(c->arena, cr_real, f.n * 256);
    for (q = 0; q < f.n; q++)
        for (x = 0; x < 256; x++) {
            double v = x;

            for (k = c->first; k < c->n; k++)
                if (c->op[k]->value)
                    v = c->op[k]->value(&c->plan[k], v,
                                        f.channel[q][k - c->first]);
            c->table[q * 256 + x] = (cr_real)v;
        }
    if (f.n > 1) {
        c->class = CR_NEWS(c->arena, unsigned char, f.count);
        memcpy(c->class, f.class, (size_t)f.count);
    }
    for (i = 0; i < f.count; i++)
        straight = straight && f.from[i] == i;
    if (!straight)
        c->from = CR_NEWS(c->arena, int32_t, f.count);
    for (i = 0; i < f.count && !straight; i++)
        c->from[i] = (int32_t)f.from[i];
    cr_arena_free(&mem);
}

/* Codes of categories must not reach the network as numbers. */
static bool plan_categories(struct cr_config *config,
                            const struct cr_column_pipeline *c,
                            struct cr_pos pos)
{
    for (int i = 0; c->features && i < c->features->n; i++) {
        const struct cr_feature *f = &c->features->v[i];

        if (f->kind != CR_FEATURE_CATEGORY)
            continue;
        cr_error(config->diag, pos, CR_E_DTYPE,
                 "column '%s' ends with the category '%s', but the network "
                 "needs numbers",
                 c->name, f->name);
        cr_hint(config->diag, "add OneHot, or CategoryIndex for an Embedding, "
                              "to datapipe.%s", c->name);
        return false;
    }
    return true;
}

/* Checks that the result is numbers, in samples of one shape. */
static bool plan_end(struct cr_config *config,
                     const struct cr_column_pipeline *c,
                     const struct cr_node *ops)
{
    const struct cr_node *data = cr_section(config, "dataset");
    struct cr_pos pos = data ? data->pos : config->root->pos;

    for (CR_EACH(m, ops))
        pos = m->kind == CR_NODE_MAP ? m->child->key_pos : m->pos;
    if (!cr_is_ragged(&c->out))
        return plan_categories(config, c, pos);
    if (c->out.type != CR_STRING) {
        cr_error(config->diag, pos, CR_E_SHAPE,
                 "column '%s' ends as lists of varying length, but a batch "
                 "needs one shape",
                 c->name);
        cr_note(config->diag, "use PadEnd: {pad_shape: [LENGTH]} at the end to "
                              "give them one length");
        return false;
    }
    cr_error(config->diag, pos, CR_E_DTYPE,
             "column '%s' ends as %s, but the network needs numbers", c->name,
             c->out.rank ? "tokens" : "text");
    if (c->out.rank)
        cr_note(config->diag, "use Lookup to replace tokens by indices, and "
                              "PadEnd to give them one length");
    else
        cr_note(config->diag,
                "set a type of its fields (float32, int32), or "
                "add a tokenizer and Lookup, or LabelIndex, to "
                "datapipe.%s",
                c->name);
    return false;
}

/* Plans the transforms for one of the possible output shapes. */
static struct cr_column_pipeline *
make_size(struct cr_config *config, const char *name, const struct cr_node *ops,
          const struct cr_spec *in, const struct cr_strs *names, bool train,
          bool fuse_it, uint64_t seed, int scale)
{
    struct cr_column_pipeline *c =
        CR_NEW(config->arena, struct cr_column_pipeline);
    size_t scratch = 0;
    int i = 0;

    c->arena = config->arena;
    c->name = name;
    c->in = c->out = *in;
    c->ragged = cr_is_ragged(in);
    c->seed = seed;
    c->names = *names;
    c->features = match(cr_features_find(config, name), in);
    c->tabular = c->features != NULL;
    c->fuse = fuse_it;
    c->size_index = scale;
    c->n_sizes = 1;
    if (ops && ops->kind != CR_NODE_LIST) {
        cr_error(config->diag, ops->pos, CR_E_WRONG_TYPE,
                 "datapipe.%s: found %s, expected a list of transforms", name,
                 cr_node_what(config->arena, ops));
        return NULL;
    }
    c->op =
        CR_NEWS(c->arena, const struct cr_transform *, cr_node_count(ops) + 1);
    c->plan =
        CR_NEWS(c->arena, struct cr_transform_plan, cr_node_count(ops) + 1);
    c->draws = CR_NEWS(c->arena, uint32_t, cr_node_count(ops) + 1);
    c->prob = CR_NEWS(c->arena, double, cr_node_count(ops) + 1);
    for (CR_EACH(m, ops))
        if (!plan_op(config, c, m, train, i++))
            return NULL;
    if (!plan_end(config, c, ops))
        return NULL;
    c->half = up(size_of(in));
    for (i = 0; i < c->n; i++) {
        c->ragged = c->ragged || cr_is_ragged(&c->plan[i].out);
        if (up(size_of(&c->plan[i].out)) > c->half)
            c->half = up(size_of(&c->plan[i].out));
        if (c->plan[i].scratch > scratch)
            scratch = c->plan[i].scratch;
    }
    c->scratch_bytes = 2 * c->half + up(scratch);
    if (fusible(c))
        fuse(c);
    c->out.type = delivered(c->out.type);
    return c;
}

struct cr_column_pipeline *
cr_column_pipeline_named(struct cr_config *config, const char *name,
                         const struct cr_node *ops, const struct cr_spec *in,
                         const struct cr_strs *names, bool train, bool fuse_it,
                         uint64_t seed)
{
    struct cr_column_pipeline *c =
        make_size(config, name, ops, in, names, train, fuse_it, seed, 0);
    int s;

    if (!c)
        return NULL;
    c->n_sizes = train ? c->n_sizes : 1;
    c->of_size = CR_NEWS(c->arena, struct cr_column_pipeline *, c->n_sizes);
    c->of_size[0] = c;
    for (s = 1; s < c->n_sizes; s++) {
        c->of_size[s] =
            make_size(config, name, ops, in, names, train, fuse_it, seed, s);
        if (!c->of_size[s])
            return NULL;
    }
    return c;
}

struct cr_column_pipeline *
cr_column_pipeline_make(struct cr_config *config, const char *name,
                        const struct cr_node *ops, const struct cr_spec *in,
                        bool train, bool fuse_it, uint64_t seed)
{
    static const struct cr_strs none;

    return cr_column_pipeline_named(config, name, ops, in, &none, train,
                                    fuse_it, seed);
}

/* ---- running ---- */

/* Eight bytes per load, because the loads limit the speed. */
static void look_up(const cr_real *table, const unsigned char *x, int64_t n,
                    cr_real *y)
{
    int64_t i;
    int k;

    for (i = 0; i + 8 <= n; i += 8) {
        uint64_t word;

        memcpy(&word, x + i, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
        word = __builtin_bswap64(word);
#endif
#pragma GCC unroll 8
        for (k = 0; k < 8; k++)
            y[i + k] = table[word >> 8 * k & 255];
    }
    for (; i < n; i++)
        y[i] = table[x[i]];
}

static void run_table(const struct cr_column_pipeline *c,
                      const unsigned char *x, cr_real *y)
{
    int64_t i, n = cr_count(&c->out);
    const cr_real *table = c->table;

    if (!c->from && !c->class)
        look_up(table, x, n, y);
    else if (!c->class)
        for (i = 0; i < n; i++)
            y[i] = table[x[c->from[i]]];
    else
        for (i = 0; i < n; i++)
            y[i] = table[c->class[i] * 256 + x[c->from ? c->from[i] : i]];
}

static struct cr_rng op_rng(const struct cr_column_pipeline *c, int i,
                            int64_t epoch, int64_t index)
{
    return cr_rng(c->seed, CR_STREAM_AUGMENT,
                  ((uint64_t)epoch << 32) + c->draws[i], (uint64_t)index);
}

/* Applies transform i, or copies the sample with probability 1 - prob. A sample
 * of another shape than the first, which the transform must change, is not
 * copied. */
static bool run_op(const struct cr_column_pipeline *c, int i, int64_t epoch,
                   struct cr_sample *s)
{
    s->rng = op_rng(c, i, epoch, s->index);
    if (!cr_spec_same(&s->plan->in, &s->plan->out) ||
        !cr_modifier_skips(c, i, epoch, s->index))
        return c->op[i]->apply(s);
    memcpy(s->y, s->x, cr_bytes(&s->plan->in));
    return true;
}

/* Applies the transforms from .. n - 1 to x; NULL after reporting. */
static const void *run_ops(const struct cr_column_pipeline *c,
                           struct cr_diag *diag, int from, int n, int64_t epoch,
                           int64_t index, const void *x, void *scratch,
                           struct cr_arena *mem)
{
    char *half[2] = { scratch, (char *)scratch + c->half };
    int i;

    for (i = from; i < n; i++) {
        struct cr_sample s = {
            .plan = &c->plan[i],
            .x = x,
            .y = half[i % 2],
            .scratch = half[0] + 2 * c->half,
            .diag = diag,
            .index = index,
            .mem = mem,
        };

        if (!run_op(c, i, epoch, &s))
            return NULL;
        x = s.y;
    }
    return x;
}

/* Checks that no value is still missing. */
static bool complete(const struct cr_column_pipeline *c, struct cr_diag *diag,
                     const cr_real *y)
{
    int64_t i, n = cr_count(&c->out);

    for (i = 0; i < n; i++)
        if (isnan(y[i]))
            break;
    if (i == n)
        return true;
    cr_error(diag, CR_NOWHERE, CR_E_DATA_RANGE,
             c->features ? "column '%s': the value of field '%s' is missing"
                         : "column '%s': the value of a field is missing%s",
             c->name, c->features ? c->features->v[i].name : "");
    cr_hint(diag,
            "add FillMissing to datapipe.%s, or default: VALUE under "
            "columns.%s of the data set",
            c->name, c->name);
    return false;
}

/* Applies the transforms from `from` on to x. */
static bool run_from(const struct cr_column_pipeline *c, struct cr_diag *diag,
                     int from, int64_t epoch, int64_t index, const void *x,
                     void *y, void *scratch)
{
    enum cr_type type = c->n > 0 ? c->plan[c->n - 1].out.type : c->in.type;
    struct cr_arena mem = { 0 }; /* used for texts and lists only */

    x = run_ops(c, diag, from, c->fused ? c->first : c->n, epoch, index, x,
                scratch, &mem);
    if (x && c->fused)
        run_table(c, x, y);
    else if (x)
        cr_convert(type, x, c->out.type, y, cr_count(&c->out));
    cr_arena_free(&mem);
    if (x && c->tabular && c->out.type == CR_REAL)
        return complete(c, diag, y);
    return x != NULL;
}

/* ---- fitting ---- */

struct cr_fitted *cr_fitted_find(struct cr_config *config, const char *name,
                                 int64_t n)
{
    void **slot =
        cr_config_object(config, cr_strf(config->arena, "fitted %s", name));
    struct cr_fitted *f = *slot;
    const struct cr_node *kept = cr_node_get(config->fitted, name);

    if (f && f->n != n)
        return NULL;
    if (!f) {
        f = *slot = CR_NEW(config->arena, struct cr_fitted);
        f->name = name;
        f->n = n;
        f->value = CR_NEWS(config->arena, double, n + 1);
    }
    if (f->ready || cr_node_count(kept) != n)
        return f;
    for (CR_EACH(m, kept))
        if (m->kind != CR_NODE_INT && m->kind != CR_NODE_REAL)
            return f; /* not the fitted values of a transform */
    n = 0;
    for (CR_EACH(m, kept))
        f->value[n++] = m->real;
    f->ready = true;
    return f;
}

int cr_column_pipeline_unfitted(const struct cr_column_pipeline *c)
{
    for (int i = 0; i < c->n; i++)
        if (c->op[i]->fit && !c->plan[i].fitted->ready)
            return i;
    return -1;
}

bool cr_column_pipeline_fit(const struct cr_column_pipeline *c,
                            struct cr_diag *diag, int op, int64_t index,
                            const void *x, void *scratch)
{
    struct cr_arena mem = { 0 };

    x = run_ops(c, diag, 0, op, 0, index, x, scratch, &mem);
    if (x) {
        c->plan[op].fitted->seen++;
        c->op[op]->fit(&c->plan[op], x);
    }
    cr_arena_free(&mem);
    return x != NULL;
}

bool cr_column_pipeline_fit_end(const struct cr_column_pipeline *c, int op,
                                bool all)
{
    struct cr_fitted *f = c->plan[op].fitted;

    f->seen = all ? f->seen : 0;
    f->ready = c->op[op]->fit_end(&c->plan[op]) && all;
    return f->ready;
}

bool cr_column_pipeline_run(const struct cr_column_pipeline *c,
                            struct cr_diag *diag, int64_t epoch, int64_t index,
                            const void *x, void *y, void *scratch)
{
    return run_from(c, diag, 0, epoch, index, x, y, scratch);
}

/* Reports the error of a plan at the position of the sample. */
static bool other_refused(const struct cr_column_pipeline *c,
                          struct cr_diag *diag, const struct cr_diag *why,
                          struct cr_pos at, const struct cr_spec *spec,
                          int64_t index)
{
    return cr_error(diag, at, CR_E_DATA_FORMAT,
                    "sample %lld of column '%s', %s: %s", (long long)index,
                    c->name, cr_diag_format(diag->arena, spec),
                    why->first->text);
}

/* Checks that the samples have one shape, which fitted values require. */
static bool plan_fitted(const struct cr_column_pipeline *c, int i,
                        const struct cr_transform_plan *p)
{
    return p->fits == c->plan[i].fits ||
           cr_error(p->diag, p->pos, CR_E_SHAPE,
                    "%s was fitted on samples of another shape than %s",
                    c->op[i]->about.name, cr_diag_format(p->arena, &p->in));
}

bool cr_column_pipeline_run_other(const struct cr_column_pipeline *c,
                                  struct cr_diag *diag, struct cr_arena *mem,
                                  const struct cr_spec *spec,
                                  const struct cr_dataset *set, int column,
                                  int64_t epoch, int64_t index, const void *x,
                                  void *y, void *scratch)
{
    int i, n = c->fused ? c->first : c->n;
    struct cr_diag quiet = { .arena = mem };
    struct cr_spec now = *spec;

    if (cr_spec_same(&now, &c->in))
        return run_from(c, diag, 0, epoch, index, x, y, scratch);
    for (i = 0; i < n; i++) {
        struct cr_transform_plan p = c->plan[i];
        struct cr_sample s = {
            .plan = &p,
            .x = x,
            .diag = diag,
            .index = index,
        };

        p.in = p.out = now;
        p.arena = mem;
        p.diag = &quiet;
        p.self = NULL;
        p.scratch = 0;
        if (!c->op[i]->plan(&p) || !plan_fitted(c, i, &p))
            return other_refused(c, diag, &quiet,
                                 cr_sample_pos(set, diag->arena, index, column),
                                 spec, index);
        s.y = cr_alloc(mem, 1, cr_bytes(&p.out) + 1);
        s.scratch = cr_alloc(mem, 1, p.scratch + 1);
        if (!run_op(c, i, epoch, &s))
            return false;
        x = s.y;
        now = p.out;
        if (cr_spec_same(&now, &c->plan[i].out))
            return run_from(c, diag, i + 1, epoch, index, x, y, scratch);
    }
    cr_error(diag, cr_sample_pos(set, diag->arena, index, column),
             CR_E_DATA_FORMAT,
             "sample %lld of column '%s' has shape %s, and %s after its "
             "transforms; the first sample has %s and %s: a batch needs one "
             "shape",
             (long long)index, c->name, cr_diag_format(diag->arena, spec),
             cr_diag_format(diag->arena, &now),
             cr_diag_format(diag->arena, &c->in),
             cr_diag_format(diag->arena, n > 0 ? &c->plan[n - 1].out : &c->in));
    cr_hint(diag,
            "add Resize: {size: [height, width]}, CenterCrop, RandomCrop "
            "or RandomResizedCrop to datapipe.%s",
            c->name);
    return false;
}

/* ---- a pipeline without a data loader ---- */

struct cr_column_pipeline *
cr_column_pipeline_plan(struct cr_config *config, const char *column,
                        const struct cr_spec *in, const struct cr_strs *classes,
                        bool train, struct cr_spec *out)
{
    static const struct cr_strs none;
    const struct cr_node *ops =
        cr_node_get(cr_section(config, "datapipe"), column);
    struct cr_column_pipeline *c = cr_column_pipeline_named(
        config, column, ops, in, classes ? classes : &none, train, false, 0);

    if (!c)
        return NULL;
    *out = c->out;
    return c;
}

const struct cr_transform_plan *
cr_column_pipeline_step(const struct cr_column_pipeline *c, int i,
                        const struct cr_transform **transform)
{
    if (i >= c->n)
        return NULL;
    *transform = c->op[i];
    return &c->plan[i];
}

bool cr_column_pipeline_apply(struct cr_column_pipeline *c,
                              struct cr_diag *diag, int64_t index,
                              const void *x, void *y)
{
    int op = cr_column_pipeline_unfitted(c);

    if (op >= 0)
        return cr_error(diag, c->plan[op].pos, CR_E_CKPT_FORMAT,
                        "%s needs statistics fitted on the training data, but "
                        "the checkpoint does not contain them",
                        c->op[op]->about.name);
    /* allocated here, because many callers need the output shape only */
    if (!c->own_scratch) {
        c->own_scratch = cr_alloc(c->arena, 1, c->scratch_bytes + 1);
        c->fuse = true;
        if (fusible(c))
            fuse(c);
    }
    return cr_column_pipeline_run(c, diag, 0, index, x, y, c->own_scratch);
}
