#include "score/metric.h"

#include <assert.h>
#include <string.h>

#include "base/str.h"
#include "graph/net.h"
#include "kernels/parallel_for.h"

/* ---- Metrics written as blocks: the mean over samples of the block's output,
 * which has a value per sample or one for the batch */

struct metric_block {
    int at;                     /* index among the metric blocks */
};

static void metric_block_add(const void *opts, void *state, int64_t classes,
                             const struct cr_metric_batch *batch)
{
    const struct metric_block *o = opts;
    const struct cr_metric_block_value *j = &batch->block_values[o->at];
    struct cr_metric_mean *mean = state;
    int64_t n = cr_count(&j->spec);
    double sum = 0;

    (void)classes;
    for (int64_t i = 0; i < n; i++)
        sum += (double)j->x[i];
    mean->sum += sum / (double)n * (double)batch->samples;
    mean->all += batch->samples;
}

static const struct cr_metric metric_block = {
    .about = { .name = "block" },
    .maximize = true,
    .size = cr_metric_mean_size,
    .add = metric_block_add,
    .value = cr_metric_mean_value,
};

/* An auxiliary value of the loss. Smaller is better, as for the loss, unless
 * the config sets a mode. */
static const struct cr_metric metric_aux = {
    .about = { .name = "aux" },
    .undirected = true,
    .size = cr_metric_mean_size,
    .add = metric_block_add,
    .value = cr_metric_mean_value,
};

/* ---- The section metrics */

/* Suffix of the result of a metric with eval_type multilabel. */
#define MULTILABEL "_multilabel"

/* Rows for the manual and the schema; cr_metrics_read reads the section,
 * because blocks need more than rows. */
struct metrics_section {
    struct cr_objs metrics;
};

static const struct cr_opt metrics_opts[] = {
    CR_OBJS_OPTIONAL(struct metrics_section, metrics, CR_KIND_METRIC,
                     "Metrics to compute, in the order of the results."),
    { 0 },
};

const struct cr_section cr_section_metrics = {
    .about = {
        .name = "metrics",
        .summary = "Metrics computed in evaluations.",
        .detail = "Default: accuracy and loss for integer labels, else loss. A "
                  "block with `inputs: [logits, label]` (the network's "
                  "results, then columns) is a metric too if it returns one "
                  "number, one per sample, or several per sample, such as one "
                  "per word, which are averaged. Its result is the mean over "
                  "the samples, named after the block or by the modifier "
                  "`name`; larger values are better unless checkpoint.best "
                  "sets another mode. A name under aux of a loss written in "
                  "the config is a metric too: the mean of that value. It "
                  "selects the best checkpoint only if it is named in "
                  "checkpoint.best or a `monitor`, where `mode` sets the "
                  "direction. It may also be an input of a block.",
        .example = "metrics: [accuracy, loss, {TopKCategoricalAccuracy: "
                   "{k: 3}}]\n",
        .opts = metrics_opts,
        .size = sizeof(struct metrics_section),
    },
    .raw = true,
};

static bool metric_use(struct cr_config *config, const struct cr_node *node,
                       struct cr_metric_use *to)
{
    struct cr_obj obj;

    if (!cr_obj_read(config->arena, config->diag, CR_KIND_METRIC, node, &obj))
        return false;
    *to = (struct cr_metric_use){
        .metric = (const struct cr_metric *)obj.about,
        .opts = obj.opts,
        .name = obj.about->name,
        .pos = node->pos,
    };
    if (to->metric->result_name)
        to->name = to->metric->result_name(to->opts, config->arena);
    if (cr_metric_is_multilabel(to->metric, to->opts))
        to->name = cr_strf(config->arena, "%s" MULTILABEL, to->name);
    return true;
}

static bool metric_block_use(struct cr_config *config,
                             const struct cr_node *node, int at,
                             struct cr_metric_use *to)
{
    struct metric_block *opts = CR_NEW(config->arena, struct metric_block);

    opts->at = at;
    *to = (struct cr_metric_use){
        .metric =
            cr_is_metric_aux(config->root, node) ? &metric_aux : &metric_block,
        .opts = opts,
        .name = cr_metric_block_name(node),
        .pos = node->pos,
    };
    return to->name ||
           cr_error(
               config->diag, node->pos, CR_E_MISSING_KEY,
               "'name' is missing: a metric written in the config needs one");
}

/* Finds a metric block of a section by its name; at: its index. */
static const struct cr_node *metric_block_named(struct cr_config *config,
                                                const char *name, int *at)
{
    const struct cr_node *node = cr_section(config, "metrics");

    *at = 0;
    for (CR_EACH(m, node && node->kind == CR_NODE_LIST ? node : NULL))
        if (cr_is_metric_block(config->root, m)) {
            if (cr_metric_block_name(m) &&
                strcmp(cr_metric_block_name(m), name) == 0)
                return m;
            (*at)++;
        }
    return NULL;
}

static bool metric_names(struct cr_config *config,
                         const char *const *names, struct cr_metrics *to)
{
    struct cr_metric_use *use;
    bool ok = true;
    int n = 0, at;

    while (names[n])
        n++;
    use = CR_NEWS(config->arena, struct cr_metric_use, n + 1);
    *to = (struct cr_metrics){ n, use, false };
    for (int i = 0; i < n; i++) {
        const struct cr_node *block = metric_block_named(config, names[i], &at);
        struct cr_node *node = CR_NEW(config->arena, struct cr_node);

        node->kind = CR_NODE_STR;
        node->text = names[i];
        ok = (block ? metric_block_use(config, block, at, &use[i])
                    : metric_use(config, node, &use[i])) && ok;
        to->blocks = to->blocks || block;
    }
    return ok;
}

bool cr_metrics_read(struct cr_config *config, bool classifies,
                     struct cr_metrics *to)
{
    static const char *const of_classes[] = { "accuracy", "loss", NULL };
    static const char *const others[] = { "loss", NULL };
    const struct cr_node *node = cr_section(config, "metrics");
    struct cr_metric_use *use;
    bool ok = true, list;
    int n = 0, blocks = 0;

    if (!node || node->kind == CR_NODE_NULL)
        return metric_names(config, classifies ? of_classes : others, to);
    list = node->kind == CR_NODE_LIST;
    use = CR_NEWS(config->arena, struct cr_metric_use,
                  cr_node_count(node) + 2);
    for (const struct cr_node *m = list ? node->child : node; m;
         m = list ? m->next : NULL) {
        if (!(cr_is_metric_block(config->root, m)
                  ? metric_block_use(config, m, blocks++, &use[n])
                  : metric_use(config, m, &use[n]))) {
            ok = false;
            continue;
        }
        for (int k = 0; k < n; k++)
            if (strcmp(use[k].name, use[n].name) == 0)
                ok = cr_error(config->diag, use[n].pos, CR_E_CONFLICT,
                              "duplicate metric '%s'", use[n].name);
        n++;
    }
    *to = (struct cr_metrics){ n, use, ok && blocks > 0 };
    return ok;
}

bool cr_metrics_words(struct cr_config *config, const char *words,
                      struct cr_metrics *to)
{
    const char **names = CR_NEWS(config->arena, const char *,
                                 strlen(words) + 2);
    int n = 0;

    while (*words) {
        size_t len = strcspn(words, ", ");

        if (len)
            names[n++] = cr_strndup(config->arena, words, len);
        words += len + (words[len] != '\0');
    }
    return metric_names(config, names, to);
}

const struct cr_metric_use *cr_metrics_find(const struct cr_metrics *metrics,
                                            const char *name)
{
    for (int i = 0; i < metrics->n; i++)
        if (strcmp(metrics->use[i].name, name) == 0)
            return &metrics->use[i];
    return NULL;
}

/* ---- Classes */

/* Number of elements after the axis of the classes: the pixels of a map; 1 for
 * (n, classes). */
static int64_t metric_inner(const struct cr_metric_batch *batch)
{
    int64_t inner = 1;

    for (int i = batch->axis + 1; i < batch->spec->rank; i++)
        inner *= batch->spec->dim[i];
    return inner;
}

static int64_t metric_classes(const struct cr_metric_batch *batch)
{
    return batch->spec->dim[batch->axis];
}

bool cr_metric_classified(const struct cr_metric_batch *batch)
{
    const struct cr_spec *out = batch->spec, *label = batch->label_spec;
    bool one_hot = label->type == CR_REAL;

    if (out->rank < 2 || batch->axis < 1 || batch->axis >= out->rank ||
        metric_classes(batch) < 2 || (label->type != CR_I32 && !one_hot) ||
        label->rank != out->rank - !one_hot)
        return false;
    for (int i = 0; i < label->rank; i++)
        if (label->dim[i] != out->dim[i + (!one_hot && i >= batch->axis)])
            return false;
    return true;
}

int64_t cr_metric_positions(const struct cr_metric_batch *batch)
{
    return cr_count(batch->spec) / metric_classes(batch);
}

int64_t cr_metric_first(const struct cr_metric_batch *batch, int64_t at,
                        int64_t *stride)
{
    int64_t inner = metric_inner(batch);

    *stride = inner;
    return at / inner * metric_classes(batch) * inner + at % inner;
}

static int64_t metric_largest(const struct cr_metric_batch *batch,
                              const cr_real *x, int64_t at)
{
    int64_t stride, first = cr_metric_first(batch, at, &stride), best = 0;

    for (int64_t c = 1; c < metric_classes(batch); c++)
        if (x[first + c * stride] > x[first + best * stride])
            best = c;
    return best;
}

int64_t cr_metric_label(const struct cr_metric_batch *batch, int64_t at)
{
    int64_t label;

    if (batch->label_spec->type == CR_REAL)
        return metric_largest(batch, batch->label, at);
    assert(batch->label_spec->type == CR_I32);
    label = ((const int32_t *)batch->label)[at];
    return label >= 0 && label < metric_classes(batch) ? label : -1;
}

bool cr_metric_multi_hot(const struct cr_metric_batch *batch)
{
    int64_t n = cr_metric_positions(batch), stride;

    for (int64_t i = 0; i < n; i++) {
        int64_t at = cr_metric_first(batch, i, &stride), ones = 0, other = 0;

        for (int64_t c = 0; c < metric_classes(batch); c++, at += stride) {
            double label = cr_metric_target(batch, at);

            ones += label == 1;
            other += label != 0 && label != 1;
        }
        if (ones != 1 && other == 0)
            return true;
    }
    return false;
}

int64_t cr_metric_argmax(const struct cr_metric_batch *batch, int64_t at)
{
    const cr_real *x = batch->output + 2 * at;

    if (!batch->cut || batch->spec->rank != 2 || metric_classes(batch) != 2)
        return metric_largest(batch, batch->output, at);
    return (batch->probs ? (double)x[1]
                         : 1 / (1 + exp((double)x[0] - (double)x[1]))) >=
           *batch->cut;
}

static bool metric_in_top(const struct cr_metric_batch *batch, int64_t at,
                          int64_t label, int64_t k)
{
    int64_t stride, first = cr_metric_first(batch, at, &stride);
    const cr_real *x = batch->output + first, mine = x[label * stride];
    int64_t before = 0;

    if (isnan(mine))
        return false;
    if (k == 1 && batch->cut)
        return cr_metric_argmax(batch, at) == label;
    for (int64_t c = 0; c < metric_classes(batch); c++)
        before += x[c * stride] > mine ||
                  (x[c * stride] == mine && c < label);
    return before < k;
}

size_t cr_metric_hits_size(const void *opts, int64_t classes)
{
    (void)opts;
    (void)classes;
    return sizeof(struct cr_metric_hits);
}

void cr_metric_hits_add(struct cr_metric_hits *share, int64_t k,
                        const struct cr_metric_batch *batch)
{
    int64_t n = cr_metric_positions(batch);

    for (int64_t i = 0; i < n; i++) {
        int64_t label = cr_metric_label(batch, i);

        if (label < 0)
            continue;
        share->all++;
        share->correct += metric_in_top(batch, i, label, k);
    }
}

double cr_metric_hits_value(const void *opts, const void *state,
                            int64_t classes)
{
    const struct cr_metric_hits *share = state;

    (void)opts;
    (void)classes;
    return (double)share->correct / (double)share->all;
}

struct nats {
    const struct cr_metric_batch *batch;
    double most;
    int64_t ignored;
    double *each; /* -1: no label */
};

static void metric_nats_range(void *ctx, int64_t from, int64_t to)
{
    const struct nats *all = ctx;
    int64_t classes = metric_classes(all->batch), stride;

    for (int64_t i = from; i < to; i++) {
        const cr_real *x =
            all->batch->output + cr_metric_first(all->batch, i, &stride);
        int64_t label = cr_metric_label(all->batch, i);
        double sum = 0, nats;
        double top = (double)x[0];

        all->each[i] = -1;
        if (label < 0 || label == all->ignored)
            continue;
        for (int64_t c = 1; c < classes; c++)
            top = fmax(top, (double)x[c * stride]);
        for (int64_t c = 0; c < classes; c++)
            sum += exp((double)x[c * stride] - top);
        nats = all->batch->probs ? -log((double)x[label * stride])
                                 : log(sum) - ((double)x[label * stride] - top);
        /* NaN fails both comparisons and is kept */
        all->each[i] = nats > all->most ? all->most : nats < 0 ? 0 : nats;
    }
}

size_t cr_metric_nll_size(const void *opts, int64_t classes)
{
    (void)opts;
    (void)classes;
    return sizeof(struct cr_metric_nll);
}

void cr_metric_nll_add(struct cr_metric_nll *nats, double least,
                       int64_t ignored, const struct cr_metric_batch *batch)
{
    int64_t n = cr_metric_positions(batch);
    struct cr_arena mem = { 0 };
    struct nats all = { batch, -log(least), ignored,
                        CR_NEWS(&mem, double, n + 1) };

    cr_parallel_for(n, 12 * (double)metric_classes(batch), &all,
                    metric_nats_range);
    for (int64_t i = 0; i < n; i++) {
        if (all.each[i] < 0)
            continue;
        nats->sum += all.each[i];
        nats->all++;
    }
    cr_arena_free(&mem);
}

size_t cr_metric_confusion_size(const void *opts, int64_t classes)
{
    (void)opts;
    return (size_t)classes * (size_t)classes * sizeof(int64_t);
}

void cr_metric_confusion_add(const void *opts, void *state, int64_t classes,
                             const struct cr_metric_batch *batch)
{
    int64_t *counts = state, n = cr_metric_positions(batch);

    (void)opts;
    for (int64_t i = 0; i < n; i++) {
        int64_t label = cr_metric_label(batch, i);

        if (label >= 0)
            counts[label * classes + cr_metric_argmax(batch, i)]++;
    }
}

struct cr_metric_class cr_metric_class(const void *pairs, int64_t classes,
                                       int64_t c)
{
    const int64_t *counts = pairs;
    struct cr_metric_class of = { .correct = (double)counts[c * classes + c] };

    for (int64_t i = 0; i < classes; i++) {
        of.predicted += (double)counts[i * classes + c];
        of.actual += (double)counts[c * classes + i];
    }
    return of;
}

void cr_metric_votes_add(double threshold, void *state, int64_t classes,
                         const struct cr_metric_batch *batch)
{
    int64_t *counts = state, n = cr_count(batch->spec);
    /* A threshold set in the config overrides that of the checkpoint. */
    double from = batch->cut && threshold == 0.5 && n == batch->spec->dim[0]
                      ? *batch->cut
                      : (double)(cr_real)threshold;

    if (cr_metric_classified(batch)) {
        cr_metric_confusion_add(NULL, state, classes, batch);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        double label = cr_metric_target(batch, i);

        if (label >= 0 && label < (double)classes)
            counts[(int64_t)label * classes +
                   ((double)batch->output[i] >= from)]++;
    }
}

int64_t cr_metric_votes_classes(const void *opts, int64_t found)
{
    (void)opts;
    return found > 0 ? found : 2;
}

const char *cr_metric_threshold_no_effect(double threshold, bool classified)
{
    return classified && threshold != 0.5
               ? "'threshold' applies only to outputs without an axis of "
                 "classes"
               : NULL;
}

/* ---- Means */

double cr_metric_target(const struct cr_metric_batch *batch, int64_t i)
{
    switch (batch->label_spec->type) {
    case CR_REAL:
        return (double)((const cr_real *)batch->label)[i];
    case CR_I32:
        return ((const int32_t *)batch->label)[i];
    default:
        assert(batch->label_spec->type == CR_U8 ||
               batch->label_spec->type == CR_BOOL);
        return ((const unsigned char *)batch->label)[i];
    }
}

size_t cr_metric_mean_size(const void *opts, int64_t classes)
{
    (void)opts;
    (void)classes;
    return sizeof(struct cr_metric_mean);
}

double cr_metric_mean_value(const void *opts, const void *state,
                            int64_t classes)
{
    const struct cr_metric_mean *mean = state;

    (void)opts;
    (void)classes;
    return mean->sum / (double)mean->all;
}

/* ---- Direction */

bool cr_metric_maximize(const struct cr_metric_use *use)
{
    const struct cr_metric *metric = use->metric;

    return metric->greater_is_better ? metric->greater_is_better(use->opts)
                                     : metric->maximize;
}

bool cr_metric_named(const char *name, bool *maximize)
{
    const struct cr_descriptor *const *all = cr_registry_list(CR_KIND_METRIC);
    size_t length = strlen(name);
    const struct cr_metric *metric;

    if (cr_ends(name, MULTILABEL))
        length -= strlen(MULTILABEL);
    for (; *all; all++) {
        metric = (const struct cr_metric *)*all;
        if (metric->names_result && metric->names_result(name, maximize))
            return true;
        *maximize = metric->maximize;
        if (strlen((*all)->name) == length &&
            memcmp((*all)->name, name, length) == 0)
            return true;
    }
    metric = cr_metric_find(name); /* the name may be an alias */
    *maximize = metric && metric->maximize;
    return metric != NULL;
}

/* ---- Multilabel */

bool cr_metric_is_multilabel(const struct cr_metric *metric, const void *opts)
{
    return metric->multilabel &&
           ((const struct cr_metric_multilabel_opts *)opts)->eval_type;
}

static void metric_marks_add(const struct cr_metric_use *use,
                             struct cr_metric_mean *mean,
                             const struct cr_metric_batch *batch)
{
    const struct cr_metric_multilabel_opts *o = use->opts;
    int64_t n = cr_metric_positions(batch), stride;

    for (int64_t i = 0; i < n; i++) {
        int64_t at = cr_metric_first(batch, i, &stride);
        struct cr_metric_class of = { 0 };

        for (int64_t c = 0; c < metric_classes(batch); c++, at += stride) {
            bool predicted = (double)batch->output[at] >= o->threshold;
            bool is = cr_metric_target(batch, at) > 0.5;

            of.correct += predicted && is;
            of.predicted += predicted;
            of.actual += is;
        }
        mean->sum += use->metric->multilabel(of);
    }
    mean->all += n;
}

/* ---- Single classes: a confusion matrix and, for labels that turn out to be
 * multi-hot, the counts of each label by itself. */

struct metric_counts {
    int64_t multi_hot;
    int64_t v[]; /* (classes, classes), then correct, predicted and actual
                    labels: (classes, 3) */
};

static size_t metric_counts_size(int64_t classes)
{
    return sizeof(struct metric_counts) +
           (size_t)classes * (size_t)(classes + 3) * sizeof(int64_t);
}

static void metric_counts_add(struct metric_counts *to, int64_t classes,
                              const struct cr_metric_batch *batch)
{
    int64_t *labels = to->v + classes * classes, stride;
    int64_t n = batch->label_cut ? cr_metric_positions(batch) : 0;

    cr_metric_confusion_add(NULL, to->v, classes, batch);
    if (n > 0 && cr_metric_multi_hot(batch))
        to->multi_hot = 1;
    for (int64_t i = 0; i < n; i++) {
        int64_t at = cr_metric_first(batch, i, &stride);

        for (int64_t c = 0; c < classes; c++, at += stride) {
            bool predicted = (double)batch->output[at] >= *batch->label_cut;
            bool is = cr_metric_target(batch, at) > 0.5;

            labels[3 * c] += predicted && is;
            labels[3 * c + 1] += predicted;
            labels[3 * c + 2] += is;
        }
    }
}

static struct cr_metric_class metric_counts_of(const struct metric_counts *from,
                                               int64_t classes, int64_t c)
{
    const int64_t *label = from->v + classes * classes + 3 * c;

    if (!from->multi_hot)
        return cr_metric_class(from->v, classes, c);
    return (struct cr_metric_class){ .correct = (double)label[0],
                                     .predicted = (double)label[1],
                                     .actual = (double)label[2] };
}

void cr_metric_actual(const void *state, int64_t classes, double *to)
{
    for (int64_t c = 0; c < classes; c++)
        to[c] = metric_counts_of(state, classes, c).actual;
}

/* ---- Dispatch over the kinds of metric */

size_t cr_metric_size(const struct cr_metric_use *use, int64_t classes)
{
    if (cr_metric_is_multilabel(use->metric, use->opts))
        return cr_metric_mean_size(use->opts, classes);
    if (use->metric->top)
        return cr_metric_hits_size(use->opts, classes);
    if (use->metric->of)
        return metric_counts_size(classes);
    return use->metric->size(use->opts, classes);
}

void cr_metric_add(const struct cr_metric_use *use, void *state,
                   int64_t classes, const struct cr_metric_batch *batch)
{
    if (cr_metric_is_multilabel(use->metric, use->opts))
        metric_marks_add(use, state, batch);
    else if (use->metric->top)
        cr_metric_hits_add(state, use->metric->top, batch);
    else if (use->metric->of)
        metric_counts_add(state, classes, batch);
    else
        use->metric->add(use->opts, state, classes, batch);
}

bool cr_metric_single(const struct cr_metric *metric)
{
    return metric->top || metric->of || metric->value;
}

/* A metric of single classes has their unweighted mean. */
double cr_metric_value(const struct cr_metric_use *use, const void *state,
                       int64_t classes)
{
    double sum = 0;

    if (cr_metric_is_multilabel(use->metric, use->opts))
        return cr_metric_mean_value(use->opts, state, classes);
    if (use->metric->top)
        return cr_metric_hits_value(use->opts, state, classes);
    if (!use->metric->of)
        return use->metric->value(use->opts, state, classes);
    for (int64_t c = 0; c < classes; c++)
        sum += use->metric->of(use->opts, metric_counts_of(state, classes, c));
    return sum / (double)classes;
}

bool cr_metric_tabular(const struct cr_metric_use *use)
{
    return (use->metric->of || use->metric->table) &&
           !cr_metric_is_multilabel(use->metric, use->opts);
}

int64_t cr_metric_table(const struct cr_metric_use *use, const void *state,
                        int64_t classes, double *to)
{
    if (!cr_metric_tabular(use))
        return 0;
    if (use->metric->table)
        return use->metric->table(use->opts, state, classes, to);
    for (int64_t c = 0; c < classes; c++)
        to[c] = use->metric->of(use->opts, metric_counts_of(state, classes, c));
    return 1;
}
