/*
 * datapipe.sampler: training samples drawn at random with weights (MindSpore's
 * WeightedRandomSampler). The samples of an epoch are a function of seed and
 * epoch (sampler.c), as without a sampler.
 */
#include "data/data_loader_internal.h"
#include "data/section.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEY "datapipe.sampler.WeightedRandomSampler.weights"

static int64_t in_pool(const struct cr_data_loader *p, int64_t i)
{
    return p->sampler.pool ? p->sampler.pool[i] : i;
}

static bool weights_wrong(struct cr_data_loader *p, const struct cr_node *node)
{
    return cr_error(p->config->diag, node->pos, CR_E_WRONG_TYPE,
                    KEY ": found %s, expected balanced, the name of a column, "
                    "a map class: weight, or a list of numbers",
                    cr_node_what(p->arena, node));
}

/* Reads the label of each sample of the data set. */
static bool label_values(struct cr_data_loader *p, const struct cr_node *node,
                         int64_t *label)
{
    int k = cr_data_loader_labels(p);

    if (k < 0)
        return cr_error(p->config->diag, node->pos, CR_E_NO_MATCH,
                        KEY ": found no column 'label' in dataset.train");
    return cr_data_loader_values(p, KEY, "label", CR_I64, label);
}

static int by_label(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Sets the weights to 1 / count of the label's class in the pool. */
static void weigh_balanced(const struct cr_data_loader *p, const int64_t *label,
                           double *weight)
{
    int64_t n = p->sampler.n, *sorted = CR_NEWS(p->arena, int64_t, n + 1);

    for (int64_t i = 0; i < n; i++)
        sorted[i] = label[in_pool(p, i)];
    qsort(sorted, (size_t)n, sizeof *sorted, by_label);
    for (int64_t i = 0; i < n; i++) {
        int64_t want = label[in_pool(p, i)], from = 0, to = n, least, most;

        while (from < to) {
            int64_t at = from + (to - from) / 2;

            *(sorted[at] < want ? &from : &to) = sorted[at] < want ? at + 1
                                                                   : at;
        }
        least = from;
        to = n;
        while (from < to) {
            int64_t at = from + (to - from) / 2;

            *(sorted[at] <= want ? &from : &to) = sorted[at] <= want ? at + 1
                                                                     : at;
        }
        most = from;
        weight[i] = 1 / (double)(most - least);
    }
}

/* The class that a key names, by its name or its index; -1: not valid. */
static int64_t class_named(const struct cr_data_loader *p, const char *name)
{
    char *end;
    long long number;

    for (int64_t c = 0; p->set.class_names && c < p->set.classes; c++)
        if (strcmp(p->set.class_names[c], name) == 0)
            return c;
    number = strtoll(name, &end, 10);
    return *name && !*end ? number : -1;
}

static bool number_of(struct cr_data_loader *p, const struct cr_node *node,
                      double *to)
{
    bool number = node->kind == CR_NODE_INT || node->kind == CR_NODE_REAL;

    *to = number ? node->real : 0;
    return (number && *to >= 0 && isfinite(*to)) ||
           cr_error(p->config->diag, node->pos, CR_E_OUT_OF_RANGE,
                    KEY ": found %s, expected a number of at least 0",
                    cr_node_what(p->arena, node));
}

static bool weigh_classes(struct cr_data_loader *p, const struct cr_node *node,
                          const int64_t *label, double *weight)
{
    for (int64_t i = 0; i < p->sampler.n; i++)
        weight[i] = 1;
    for (CR_EACH(m, node)) {
        int64_t class = class_named(p, m->key);
        double value;

        if (class < 0)
            return cr_error(p->config->diag, m->key_pos, CR_E_NO_MATCH,
                            KEY ": found '%s', expected a class", m->key);
        if (!number_of(p, m, &value))
            return false;
        for (int64_t i = 0; i < p->sampler.n; i++)
            if (label[in_pool(p, i)] == class)
                weight[i] = value;
    }
    return true;
}

static bool weigh_list(struct cr_data_loader *p, const struct cr_node *node,
                       double *all)
{
    int64_t n = 0;

    if (cr_node_count(node) != p->set.count)
        return cr_error(p->config->diag, node->pos, CR_E_SHAPE,
                        KEY ": found %d weights, expected one for each of "
                        "%" PRId64 " samples", cr_node_count(node),
                        p->set.count);
    for (CR_EACH(m, node))
        if (!number_of(p, m, &all[n++]))
            return false;
    return true;
}

/* Sets the weights of the samples in the pool. */
static bool weights_of(struct cr_data_loader *p, const struct cr_node *node,
                       double *weight)
{
    int64_t *label = CR_NEWS(p->arena, int64_t, p->set.count + 1);
    double *all;

    if (node->kind == CR_NODE_STR && strcmp(node->text, "balanced") == 0) {
        if (!label_values(p, node, label))
            return false;
        weigh_balanced(p, label, weight);
        return true;
    }
    if (node->kind == CR_NODE_MAP)
        return label_values(p, node, label) &&
               weigh_classes(p, node, label, weight);
    if (node->kind != CR_NODE_STR && node->kind != CR_NODE_LIST)
        return weights_wrong(p, node);
    all = CR_NEWS(p->arena, double, p->set.count + 1);
    if (node->kind == CR_NODE_STR
            ? !cr_data_loader_values(p, KEY, node->text, CR_F64, all)
            : !weigh_list(p, node, all))
        return false;
    for (int64_t i = 0; i < p->sampler.n; i++)
        weight[i] = all[in_pool(p, i)];
    return true;
}

/* Replaces the weights by their cumulative sums; *positive: number above 0. */
static bool sum_weights(struct cr_data_loader *p, const struct cr_node *node,
                        double *sums, int64_t *positive)
{
    double sum = 0;

    *positive = 0;
    for (int64_t i = 0; i < p->sampler.n; i++) {
        if (!(sums[i] >= 0) || !isfinite(sums[i]))
            return cr_error(p->config->diag, node->pos, CR_E_DATA_RANGE,
                            KEY ": found %g for sample %" PRId64
                            ", expected a number of at least 0", sums[i],
                            in_pool(p, i));
        *positive += sums[i] > 0;
        sum += sums[i];
        sums[i] = sum;
    }
    if (!isfinite(sum))
        return cr_error(p->config->diag, node->pos, CR_E_DATA_RANGE,
                        KEY ": found weights whose sum is not finite, "
                        "expected smaller ones");
    return *positive > 0 ||
           cr_error(p->config->diag, node->pos, CR_E_DATA_RANGE,
                    KEY ": found no weight above 0");
}

bool cr_data_loader_weigh(struct cr_data_loader *p,
                          const struct cr_datapipe_section *section)
{
    const struct cr_weighted *o = &section->sampler.WeightedRandomSampler;
    const struct cr_node *node = cr_node_find(
        p->config->root, "datapipe.sampler.WeightedRandomSampler");
    struct cr_sampler *order = &p->sampler;
    int64_t positive;
    double *sums;

    if (!node || !p->want.train)
        return true;
    if (!o->weights)
        return cr_error(p->config->diag, node->pos, CR_E_MISSING_KEY,
                        "WeightedRandomSampler: found no 'weights', expected "
                        "balanced, a column, a map or a list");
    if (!order->shuffle || order->buffer > 0)
        return cr_error(p->config->diag, node->pos, CR_E_CONFLICT,
                        "found 'shuffle' and 'sampler', expected one of them: "
                        "a sampler draws at random");
    if (p->want.headers)
        return true;
    sums = CR_NEWS(p->arena, double, order->n + 1);
    if (!weights_of(p, o->weights, sums) ||
        !sum_weights(p, o->weights, sums, &positive))
        return false;
    if (o->num_samples != CR_INT_NONE && p->want.overfit_batches <= 0)
        order->take = o->num_samples;
    if (!o->replacement && order->take > positive)
        return cr_error(p->config->diag, node->pos, CR_E_OUT_OF_RANGE,
                        "WeightedRandomSampler: found %" PRId64
                        " samples of an epoch, expected at most %" PRId64
                        ", those of a weight above 0, without replacement",
                        order->take, positive);
    order->replacement = o->replacement;
    order->sums = sums;
    return true;
}
