/*
 * BLEU (Papineni et al., 2002), of the most likely tokens against the labels:
 *
 *   p_i = i-grams common to both sequences, with their multiplicity, summed
 *         over the sequences / i-grams of the outputs     i = 1 .. n_gram
 *   BLEU = exp(mean of ln p_i) * min(1, e^(1 - r / c))
 *
 * r and c are the total lengths of the labels and of the outputs. MindSpore
 * accepts any number of references; a data set has one, the label column.
 * Positions with an ignored label are removed from both, so here r = c.
 */
#include "score/metric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLEU_MAX 4

struct bleu_score {
    int64_t n_gram;
    bool smooth;
};

static const struct cr_opt bleu_score_opts[] = {
    CR_INT_DEFAULT(struct bleu_score, n_gram, 4, 1, BLEU_MAX,
                   "Maximum length of the n-grams."),
    CR_BOOL_DEFAULT(struct bleu_score, smooth, false,
                    "Add 1 to all counts (Lin and Och, 2004)."),
    { 0 },
};

struct bleu {
    double both[BLEU_MAX], total[BLEU_MAX];
};

static size_t bleu_score_size(const void *opts, int64_t classes)
{
    (void)opts;
    (void)classes;
    return sizeof(struct bleu);
}

struct grams {
    const int64_t *token;
    int64_t n;          /* length of an n-gram */
};

static int bleu_order(const struct grams *a, int64_t i, const struct grams *b,
                      int64_t k)
{
    for (int64_t j = 0; j < a->n; j++)
        if (a->token[i + j] != b->token[k + j])
            return a->token[i + j] < b->token[k + j] ? -1 : 1;
    return 0;
}

static int bleu_compare(const void *i, const void *k, void *ctx)
{
    return bleu_order(ctx, *(const int64_t *)i, ctx, *(const int64_t *)k);
}

/* The positions of all n-grams, sorted by the n-gram. */
static void bleu_sort(struct grams *g, int64_t n_grams, int64_t *at)
{
    for (int64_t i = 0; i < n_grams; i++)
        at[i] = i;
    qsort_r(at, (size_t)n_grams, sizeof *at, bleu_compare, g);
}

/* The number of common n-grams, with multiplicity. */
static int64_t bleu_common(const struct grams *x, const int64_t *xs,
                           const struct grams *y, const int64_t *ys,
                           int64_t n_grams)
{
    int64_t i = 0, k = 0, common = 0;

    while (i < n_grams && k < n_grams) {
        int order = bleu_order(x, xs[i], y, ys[k]);

        common += order == 0;
        i += order <= 0;
        k += order >= 0;
    }
    return common;
}

static void bleu_score_add(const void *opts, void *state, int64_t classes,
                           const struct cr_metric_batch *batch)
{
    const struct bleu_score *o = opts;
    struct bleu *all = state;
    int64_t samples = batch->spec->dim[0];
    int64_t positions = cr_metric_positions(batch) / samples;
    struct cr_arena mem = { 0 };
    int64_t *x = CR_NEWS(&mem, int64_t, positions + 1);
    int64_t *y = CR_NEWS(&mem, int64_t, positions + 1);
    int64_t *xs = CR_NEWS(&mem, int64_t, positions + 1);
    int64_t *ys = CR_NEWS(&mem, int64_t, positions + 1);

    (void)classes;
    for (int64_t i = 0; i < samples; i++) {
        int64_t length = 0;

        for (int64_t k = i * positions; k < (i + 1) * positions; k++) {
            int64_t label = cr_metric_label(batch, k);

            if (label < 0)
                continue;
            x[length] = cr_metric_argmax(batch, k);
            y[length++] = label;
        }
        for (int64_t n = 1; n <= o->n_gram && n <= length; n++) {
            struct grams gx = { x, n }, gy = { y, n };
            int64_t n_grams = length - n + 1;

            bleu_sort(&gx, n_grams, xs);
            bleu_sort(&gy, n_grams, ys);
            all->both[n - 1] += (double)bleu_common(&gx, xs, &gy, ys, n_grams);
            all->total[n - 1] += (double)n_grams;
        }
    }
    cr_arena_free(&mem);
}

/* As in MindSpore, 0 if some length has no common n-gram, even with smooth. */
static double bleu_score_value(const void *opts, const void *state,
                               int64_t classes)
{
    const struct bleu_score *o = opts;
    const struct bleu *all = state;
    double sum = 0;

    (void)classes;
    for (int64_t i = 0; i < o->n_gram; i++) {
        if (all->both[i] == 0)
            return 0;
        sum += log((all->both[i] + o->smooth) / (all->total[i] + o->smooth));
    }
    return exp(sum / (double)o->n_gram);
}

static const char *bleu_score_mismatch(const void *opts,
                                       const struct cr_spec *output, int axis)
{
    (void)opts;
    (void)axis;
    return output->rank == 3 ? NULL
                             : "an output of shape (n, classes, length), or "
                               "(n, length, classes)";
}

const struct cr_metric cr_metric_bleu_score = {
    .about = {
        .name = "bleu_score",
        .aliases = CR_ALIASES("BleuScore"),
        .summary = "BLEU score: n-gram precision of the output against the "
                   "labels.",
        .detail = "The most likely token at each position is compared with the "
                  "labels; all sequences form one corpus. Labels outside the "
                  "classes (ignore_index) are ignored.",
        .example = "metrics: [loss, {BleuScore: {n_gram: 2}}]\n",
        .opts = bleu_score_opts,
        .size = sizeof(struct bleu_score),
    },
    .maximize = true,
    .classifies = true,
    .mismatch = bleu_score_mismatch,
    .size = bleu_score_size,
    .add = bleu_score_add,
    .value = bleu_score_value,
};
