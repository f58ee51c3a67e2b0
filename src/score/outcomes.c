#include "score/outcomes.h"

#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "num/vec_math.h"
#include "score/probability.h"

#define LEAST 1e-12 /* probabilities are clipped here before -ln */
#define DETAILS_MAX 4000000 /* losses of positions that are kept */
#define BLOCK 64

void cr_outcomes_begin(struct cr_outcomes *to)
{
    to->n = to->seen = 0;
    to->kind = CR_OUTCOMES_NONE;
}

/* ---- Kind and memory */

/* A loss of independent classes gives each output a meaning of its own. */
static bool outcomes_binary(const struct cr_config *config)
{
    const struct cr_prob_loss *loss = cr_prob_loss(config);

    return loss && loss->binary;
}

static void outcomes_begin_positions(struct cr_outcomes *o,
                                     const struct cr_metric_batch *m)
{
    o->kind = CR_OUTCOMES_POSITIONS;
    o->width = cr_metric_positions(m) / m->samples;
    o->n_detailed = 0;
    memset(o->bins, 0, sizeof o->bins);
    if (o->classes > o->cap_classes) {
        o->class_n = CR_NEWS(&o->mem, int64_t, o->classes);
        o->class_loss = CR_NEWS(&o->mem, double, o->classes);
        o->cap_classes = o->classes;
    }
    memset(o->class_n, 0, (size_t)o->classes * sizeof *o->class_n);
    memset(o->class_loss, 0, (size_t)o->classes * sizeof *o->class_loss);
}

static void outcomes_kind(struct cr_outcomes *o, const struct cr_config *config,
                          const struct cr_metric_batch *m)
{
    int64_t width = cr_count(m->spec) / m->samples;

    o->kind = CR_OUTCOMES_NONE;
    if (!m->label || m->label_spec->type == CR_STRING)
        return;
    /* labels of the output's shape are one-hot only for a loss of classes */
    if (cr_metric_classified(m) && !outcomes_binary(config) &&
        (m->label_spec->type == CR_I32 || cr_prob_loss(config))) {
        o->kind = CR_OUTCOMES_CLASSES;
        o->classes = m->spec->dim[m->axis];
        if (cr_metric_positions(m) != m->samples)
            outcomes_begin_positions(o, m);
        return;
    }
    if (cr_count(m->label_spec) != cr_count(m->spec))
        return;
    if (outcomes_binary(config)) {
        if (width > CR_OUTCOMES_LABELS)
            return;
        o->kind = width > 1 ? CR_OUTCOMES_MULTILABEL : CR_OUTCOMES_CLASSES;
        o->classes = 2;
        o->width = width;
        return;
    }
    o->kind = CR_OUTCOMES_NUMBERS;
    o->width = width <= CR_OUTCOMES_WIDTH ? width : 0;
}

/* Reserves memory for the losses of positions, up to DETAILS_MAX. */
static void outcomes_reserve_details(struct cr_outcomes *o)
{
    int64_t most = DETAILS_MAX / o->width;
    int64_t cap = o->cap < most ? o->cap : most;

    if (cap <= o->cap_detailed)
        return;
    o->position_loss = cr_grow(&o->mem, o->position_loss,
                               (size_t)(o->n_detailed * o->width),
                               (size_t)(cap * o->width),
                               sizeof *o->position_loss);
    o->cap_detailed = cap;
}

static void outcomes_reserve(struct cr_outcomes *o, int64_t more)
{
    int64_t want = o->n + more, cap = o->cap ? o->cap : 256, w = o->width;
    size_t n = (size_t)o->n;

    if (want <= o->cap)
        return;
    while (cap < want)
        cap *= 2;
    o->cap = cap = cap > CR_OUTCOMES_MAX ? CR_OUTCOMES_MAX : cap;
#define GROW(field, k) \
    o->field = cr_grow(&o->mem, o->field, n * (size_t)(k), \
                       (size_t)(cap * (k)), sizeof *o->field)
    GROW(sample, 1);
    GROW(loss, 1);
    if (o->kind == CR_OUTCOMES_CLASSES) {
        GROW(label, 1);
        GROW(predicted, 1);
        GROW(probability, 1);
    } else if (o->kind == CR_OUTCOMES_POSITIONS) {
        GROW(right, 1);
        outcomes_reserve_details(o);
    } else if (o->kind == CR_OUTCOMES_MULTILABEL) {
        GROW(true_labels, 1);
        GROW(found_labels, 1);
    } else if (w > 0) {
        GROW(truth, w);
        GROW(output, w);
    }
#undef GROW
}

/* ---- Outcomes of one sample */

static double outcomes_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

/* Classes along an axis: the probability of class c is e^(x_c - sum), where
 * sum = ln of the sum of all e^x for logits, 0 for log probabilities. */
static void outcomes_classes(struct cr_outcomes *o, enum cr_prob_map map,
                             const struct cr_metric_batch *m, int64_t at)
{
    int64_t stride, first = cr_metric_first(m, at, &stride);
    int64_t label = cr_metric_label(m, at), found = cr_metric_argmax(m, at);
    const cr_real *x = m->output + first;
    double top = (double)x[found * stride], sum = 0, p[2];

    for (int64_t c = 0; map == CR_PROB_SOFTMAX && c < o->classes; c++)
        sum += exp((double)x[c * stride] - top);
    for (int k = 0; k < 2; k++) {
        double v = (double)x[(k && label >= 0 ? label : found) * stride];

        p[k] = map == CR_PROB_SOFTMAX    ? exp(v - top) / sum
               : map == CR_PROB_EXP      ? exp(v)
               : map == CR_PROB_IDENTITY ? v
                                         : outcomes_sigmoid(v);
    }
    o->label[o->n] = (int32_t)label;
    o->predicted[o->n] = (int32_t)found;
    o->probability[o->n] = (float)p[0];
    o->loss[o->n] = label < 0 ? NAN : (float)-log(p[1] > LEAST ? p[1] : LEAST);
}

/* The output is a single number, that of class 1. */
static void outcomes_binary_class(struct cr_outcomes *o, enum cr_prob_map map,
                                  const struct cr_metric_batch *m, int64_t at)
{
    double x = (double)m->output[at], truth = cr_metric_target(m, at);
    double p = map == CR_PROB_IDENTITY ? x : outcomes_sigmoid(x);
    int found = p >= 0.5, label = truth >= 0.5;
    double of_label = label ? p : 1 - p;

    o->label[o->n] = label;
    o->predicted[o->n] = found;
    o->probability[o->n] = (float)(found ? p : 1 - p);
    o->loss[o->n] = (float)-log(of_label > LEAST ? of_label : LEAST);
}

/* The sum of e^(x - top) over the classes of a position. */
static double outcomes_exp_sum(const cr_real *x, int64_t stride, int64_t n,
                               cr_real top)
{
    float part[BLOCK];
    double sum = 0;

    for (int64_t from = 0; from < n; from += BLOCK) {
        int len = n - from < BLOCK ? (int)(n - from) : BLOCK;
        const cr_real *at = x + from * stride;

        if (stride == 1) {
            CR_SIMD
            for (int k = 0; k < len; k++)
                part[k] = cr_vec_exp((float)(at[k] - top));
        } else {
            for (int k = 0; k < len; k++)
                part[k] = cr_vec_exp((float)(at[k * stride] - top));
        }
        for (int k = 0; k < len; k++)
            sum += (double)part[k];
    }
    return sum;
}

/* -ln of the probability of the true class, as outcomes_classes computes it. */
static double outcomes_position_loss(enum cr_prob_map map, const cr_real *x,
                                     int64_t stride, int64_t classes,
                                     int64_t label, int64_t found)
{
    double v = (double)x[label * stride], top = (double)x[found * stride];
    double log_p = map == CR_PROB_SOFTMAX
                       ? v - top - log(outcomes_exp_sum(x, stride, classes,
                                                        x[found * stride]))
                   : map == CR_PROB_EXP      ? v
                   : map == CR_PROB_IDENTITY ? log(v)
                                             : log(outcomes_sigmoid(v));

    return log_p > log(LEAST) ? -log_p : -log(LEAST);
}

/* The interval of a loss. Outputs that are not probabilities, as of NLLLoss
 * without LogSoftmax, have negative losses. */
static int outcomes_bin(double loss)
{
    if (!(loss > 0))
        return 0;
    return loss < CR_OUTCOMES_BIN * (CR_OUTCOMES_BINS - 1)
               ? (int)(loss / CR_OUTCOMES_BIN)
               : CR_OUTCOMES_BINS - 1;
}

static void outcomes_positions(struct cr_outcomes *o, enum cr_prob_map map,
                               const struct cr_metric_batch *m, int64_t at)
{
    double sum = 0;
    int64_t n = 0, right = 0;
    float *detail = o->n < o->cap_detailed
                        ? o->position_loss + o->n * o->width
                        : NULL;

    for (int64_t k = 0; k < o->width; k++) {
        int64_t position = at * o->width + k, stride;
        int64_t first = cr_metric_first(m, position, &stride);
        int64_t label = cr_metric_label(m, position), found;
        double loss;

        if (detail)
            detail[k] = NAN;
        if (label < 0)
            continue;
        found = cr_metric_argmax(m, position);
        loss = outcomes_position_loss(map, m->output + first, stride,
                                      o->classes, label, found);
        if (detail)
            detail[k] = (float)loss;
        o->bins[outcomes_bin(loss)]++;
        o->class_n[label]++;
        o->class_loss[label] += loss;
        sum += loss;
        right += found == label;
        n++;
    }
    if (detail)
        o->n_detailed = o->n + 1;
    o->loss[o->n] = n > 0 ? (float)(sum / (double)n) : NAN;
    o->right[o->n] = n > 0 ? (float)((double)right / (double)n) : NAN;
}

static void outcomes_multilabel(struct cr_outcomes *o, enum cr_prob_map map,
                                const struct cr_metric_batch *m, int64_t at)
{
    double sum = 0;

    o->true_labels[o->n] = o->found_labels[o->n] = 0;
    for (int64_t k = 0; k < o->width; k++) {
        double x = (double)m->output[at * o->width + k];
        double p = map == CR_PROB_IDENTITY ? x : outcomes_sigmoid(x);
        bool truth = cr_metric_target(m, at * o->width + k) >= 0.5;
        double of_truth = truth ? p : 1 - p;

        o->true_labels[o->n] |= (int64_t)truth << k;
        o->found_labels[o->n] |= (int64_t)(p >= 0.5) << k;
        sum -= log(of_truth > LEAST ? of_truth : LEAST);
    }
    o->loss[o->n] = (float)(sum / (double)o->width);
}

static void outcomes_numbers(struct cr_outcomes *o,
                             const struct cr_metric_batch *m, int64_t at)
{
    int64_t width = cr_count(m->spec) / m->samples;
    double sum = 0;

    for (int64_t k = 0; k < width; k++) {
        double y = (double)m->output[at * width + k];
        double truth = cr_metric_target(m, at * width + k);

        sum += (y - truth) * (y - truth);
        if (o->width > 0) {
            o->truth[o->n * width + k] = (float)truth;
            o->output[o->n * width + k] = (float)y;
        }
    }
    o->loss[o->n] = (float)(sum / (double)width);
}

void cr_outcomes_add(struct cr_outcomes *to, const struct cr_config *config,
                     const struct cr_net *net,
                     const struct cr_metric_batch *batch,
                     const int64_t *samples)
{
    const struct cr_prob_loss *loss = cr_prob_loss(config);
    enum cr_prob_map map = loss ? loss->map : cr_prob_of_result(net, 0);
    int64_t more = CR_OUTCOMES_MAX - to->n;

    if (to->seen == 0)
        outcomes_kind(to, config, batch);
    to->seen += batch->samples;
    if (to->kind == CR_OUTCOMES_NONE)
        return;
    more = more < batch->samples ? more : batch->samples;
    outcomes_reserve(to, more);
    for (int64_t i = 0; i < more; i++, to->n++) {
        to->sample[to->n] = samples[i];
        if (to->kind == CR_OUTCOMES_NUMBERS)
            outcomes_numbers(to, batch, i);
        else if (to->kind == CR_OUTCOMES_POSITIONS)
            outcomes_positions(to, map, batch, i);
        else if (to->kind == CR_OUTCOMES_MULTILABEL)
            outcomes_multilabel(to, map, batch, i);
        else if (outcomes_binary(config))
            outcomes_binary_class(to, map, batch, i);
        else
            outcomes_classes(to, map, batch, i);
    }
}

/* ---- The worst */

int64_t cr_outcomes_worst(const struct cr_outcomes *o, int64_t n, int64_t *to)
{
    int64_t found = 0;

    /* insertion into a short sorted list: most samples fail its last one */
    for (int64_t i = 0; i < o->n; i++) {
        int64_t at = found;

        if (isnan(o->loss[i]) ||
            (found == n && o->loss[i] <= o->loss[to[n - 1]]))
            continue;
        while (at > 0 && o->loss[i] > o->loss[to[at - 1]])
            at--;
        found += found < n;
        memmove(to + at + 1, to + at,
                (size_t)(found - 1 - at) * sizeof *to);
        to[at] = i;
    }
    return found;
}
