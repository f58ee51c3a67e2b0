/* CutMixBatch (Yun et al., 2019): with probability prob a box of a sample is
 * replaced by that of another sample of the batch. For each l ~ Beta(alpha,
 * alpha); the sides of the box are sqrt(1 - l) of those of the image, its
 * centre is uniform, and it is clipped to the image, to at least one pixel.
 * The own label has the weight 1 - area of the box / area of the image. */
#include "data/batch_mix.h"

#include <string.h>

struct cut_mix {
    int image_batch_format;
    double alpha, prob;
};

enum { NHWC, NCHW };

static const struct cr_opt cut_mix_opts[] = {
    CR_ENUM(struct cut_mix, image_batch_format, "NHWC|NCHW",
            "Layout. NHWC: channels last. NCHW: channels first, as after "
            "HWC2CHW."),
    CR_REAL_POS_DEFAULT(struct cut_mix, alpha, 1, 1000,
                        "Both parameters of the beta distribution of the "
                        "mixing weight."),
    CR_REAL_DEFAULT(struct cut_mix, prob, 1, 0, 1,
                    "Probability of changing a "
                    "sample."),
    { 0 },
};

static bool cut_mix_plan(struct cr_transform_plan *p)
{
    p->out = p->in;
    if (p->in.rank == 3)
        return true;
    return cr_error(p->diag, p->pos, CR_E_SHAPE,
                    "CutMixBatch: found %s, expected images of rank 3",
                    cr_diag_format(p->arena, &p->in));
}

/* Start and length of a box that covers the fraction `part` of a side. */
static int64_t cut_mix_side(int64_t side, double part, double centre,
                            int64_t *length)
{
    int64_t half = (int64_t)((double)side * part) / 2;
    int64_t middle = (int64_t)(centre * (double)(side + 1));
    int64_t from = middle - half, to = middle + half;

    from = from < 0 ? 0 : from > side - 1 ? side - 1 : from;
    to = to > side ? side : to;
    *length = to > from ? to - from : 1;
    return from;
}

static void cut_mix_row(struct cr_batch_mix *m, int64_t i,
                        const struct cr_rng *rng, double part)
{
    const struct cut_mix *o = m->plan->opts;
    const int64_t *dim = m->plan->in.dim;
    bool last = o->image_batch_format == NHWC;
    int64_t planes = last ? 1 : dim[0], block = last ? dim[2] : 1;
    int64_t h = dim[last ? 0 : 1], w = dim[last ? 1 : 2], bh, bw, c, k;
    const cr_real *from = m->x + m->order[i] * m->each;
    int64_t top = cut_mix_side(h, part, cr_rng_double(rng, 2), &bh);
    int64_t left = cut_mix_side(w, part, cr_rng_double(rng, 4), &bw);

    for (c = 0; c < planes; c++)
        for (k = top; k < top + bh; k++) {
            int64_t at = ((c * h + k) * w + left) * block;

            memcpy(m->y + i * m->each + at, from + at,
                   (size_t)(bw * block) * sizeof *from);
        }
    cr_batch_mix_label(m, i, 1 - (double)(bh * bw) / (double)(h * w));
}

static void cut_mix_mix(struct cr_batch_mix *m)
{
    const struct cut_mix *o = m->plan->opts;
    int64_t i;

    cr_rng_permute(&m->rng, m->n, m->order);
    for (i = 0; i < m->n && m->each > 0; i++) {
        struct cr_rng rng = m->rng, beta;

        rng.b += 1 + 2 * (uint64_t)i;
        beta = rng;
        beta.b++;
        if (cr_rng_double(&rng, 0) < o->prob)
            cut_mix_row(m, i, &rng,
                        sqrt(1 - cr_batch_mix_beta(&beta, o->alpha)));
    }
}

const struct cr_transform cr_transform_cut_mix_batch = {
    .about = {
        .name = "CutMixBatch",
        .summary = "CutMix: replaces a box of each sample by that of another "
                   "one of the batch.",
        .detail = "Must be the last transform of the column; applied in "
                  "training only. The column `label` must hold a float32 for "
                  "each class: OneHot, then TypeCast to float32. It is mixed "
                  "by area.",
        .example = "datapipe:\n"
                   "  image: [{Rescale: [0.01, 0.0]}, HWC2CHW, {CutMixBatch: "
                   "NCHW}]\n"
                   "  label: [{OneHot: 10}, {TypeCast: float32}]\n",
        .opts = cut_mix_opts,
        .size = sizeof(struct cut_mix),
    },
    .plan = cut_mix_plan,
    .mix = cut_mix_mix,
    .random = true,
};
