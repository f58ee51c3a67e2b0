/* MixUpBatch (Zhang et al., "mixup", 2018): with one l ~ Beta(alpha, alpha)
 * for a batch and a random permutation p of its rows,
 *     x_i = l x_i + (1 - l) x_p(i)    label_i = l label_i + (1 - l) label_p(i)
 */
#include "data/batch_mix.h"

struct mix_up {
    double alpha;
};

static const struct cr_opt mix_up_opts[] = {
    CR_REAL_POS_DEFAULT(struct mix_up, alpha, 1, 1000,
                        "Both parameters of the beta distribution of the "
                        "mixing weight; small values change most samples only "
                        "slightly."),
    { 0 },
};

static bool mix_up_plan(struct cr_transform_plan *p)
{
    p->out = p->in;
    return true;
}

static void mix_up_mix(struct cr_batch_mix *m)
{
    const struct mix_up *o = m->plan->opts;
    struct cr_rng rng = m->rng;
    int64_t i, k;
    double share;
    cr_real l;

    cr_rng_permute(&m->rng, m->n, m->order);
    rng.b++;
    share = cr_batch_mix_beta(&rng, o->alpha);
    l = (cr_real)share;
    for (i = 0; i < m->n; i++) {
        const cr_real *a = m->x + i * m->each;
        const cr_real *b = m->x + m->order[i] * m->each;
        cr_real *y = m->y + i * m->each;

        for (k = 0; k < m->each; k++)
            y[k] = l * a[k] + (1 - l) * b[k];
        cr_batch_mix_label(m, i, share);
    }
}

const struct cr_transform cr_transform_mix_up_batch = {
    .about = {
        .name = "MixUpBatch",
        .summary = "mixup: mixes each sample and its label with another of "
                   "the batch.",
        .detail = "Must be the last transform of the column; applied in "
                  "training only. The column `label` must hold a float32 for "
                  "each class: OneHot, then TypeCast to float32.",
        .example = "datapipe:\n"
                   "  image: [{Rescale: [0.01, 0.0]}, {MixUpBatch: {alpha: "
                   "0.2}}]\n"
                   "  label: [{OneHot: 10}, {TypeCast: float32}]\n",
        .opts = mix_up_opts,
        .size = sizeof(struct mix_up),
    },
    .plan = mix_up_plan,
    .mix = mix_up_mix,
    .random = true,
};
