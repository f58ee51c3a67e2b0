#include "train/outcomes.h"

#include <math.h>
#include <string.h>

#include "train/probability.h"

#define LEAST 1e-12 /* probabilities are clipped here before -ln */

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
        if (cr_metric_positions(m) != m->samples)
            return;
        o->kind = CR_OUTCOMES_CLASSES;
        o->classes = m->spec->dim[m->axis];
        return;
    }
    if (cr_count(m->label_spec) != cr_count(m->spec))
        return;
    if (outcomes_binary(config)) {
        if (width != 1)
            return;
        o->kind = CR_OUTCOMES_CLASSES;
        o->classes = 2;
        return;
    }
    o->kind = CR_OUTCOMES_NUMBERS;
    o->width = width <= CR_OUTCOMES_WIDTH ? width : 0;
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

/* One number of the output is class 1's. */
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
