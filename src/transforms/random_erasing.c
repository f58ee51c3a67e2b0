/* RandomErasing (Zhong et al., 2017): with probability prob a rectangle of a
 * CHW image is overwritten. Its area is U(scale) h w, its aspect ratio a =
 * U(ratio), its width round(sqrt(area a)), its height round(width / a). It must
 * be smaller than the image in both directions; at most max_attempts
 * rectangles are tried. */
#include "data/image.h"

#include <string.h>

struct random_erasing {
    double prob;
    struct cr_reals scale, ratio;
    const struct cr_node *value;
    int64_t max_attempts;
};

static const struct cr_opt random_erasing_opts[] = {
    CR_REAL_DEFAULT(struct random_erasing, prob, 0.5, 0, 1,
                    "Probability of "
                    "changing a "
                    "sample."),
    CR_REALS_OPTIONAL(
        struct random_erasing, scale, 0, 1,
        "Minimum and maximum fraction of the area of the image. Default: 0.02, "
        "0.33."),
    CR_REALS_OPTIONAL(struct random_erasing, ratio, 0.001, 1000,
                      "Minimum and maximum aspect ratio, width / height. "
                      "Default: 0.3, 3.3."),
    CR_NODE(struct random_erasing, value,
            "Value of the erased pixels: a number, a list with one for each "
            "channel, or random for normal random numbers. Default: 0."),
    CR_INT_DEFAULT(struct random_erasing, max_attempts, 10, 1, 1000,
                   "Maximum number of attempts to find a rectangle that fits."),
    { 0 },
};

struct plan {
    double scale[2], ratio[2];
    int64_t c, h, w;
    double *value;          /* per channel; NULL: random */
};

static bool random_erasing_range(struct cr_transform_plan *p, const char *name,
                                 const struct cr_reals *given, double low,
                                 double high, double to[2])
{
    to[0] = given->n ? given->v[0] : low;
    to[1] = given->n ? given->v[given->n - 1] : high;
    if ((given->n == 0 || given->n == 2) && to[0] <= to[1])
        return true;
    return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                    "RandomErasing: %s: expected a minimum and a maximum",
                    name);
}

static bool random_erasing_value(struct cr_transform_plan *p, struct plan *r,
                                 const struct cr_node *node)
{
    const struct cr_node *one = node;
    int64_t c;

    if (node && node->kind == CR_NODE_STR && strcmp(node->text, "random") == 0)
        return true;
    if (node && node->kind == CR_NODE_LIST) {
        if (cr_node_count(node) != r->c)
            return cr_error(p->diag, node->pos, CR_E_SHAPE,
                            "RandomErasing: value: found %d numbers, expected "
                            "one for each of %lld channels",
                            (int)cr_node_count(node), (long long)r->c);
        one = node->child;
    }
    r->value = CR_NEWS(p->arena, double, r->c);
    for (c = 0; c < r->c && one; c++) {
        if (one->kind != CR_NODE_INT && one->kind != CR_NODE_REAL)
            return cr_error(p->diag, one->pos, CR_E_WRONG_TYPE,
                            "RandomErasing: value: found %s, expected numbers "
                            "or random",
                            cr_node_what(p->arena, one));
        r->value[c] = one->real;
        one = one == node ? node : one->next;
    }
    return true;
}

static bool random_erasing_plan(struct cr_transform_plan *p)
{
    const struct random_erasing *o = p->opts;
    struct plan *r = CR_NEW(p->arena, struct plan);

    p->self = r;
    p->out = p->in;
    if (p->in.rank != 3 || p->in.type == CR_STRING || cr_count(&p->in) == 0)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "RandomErasing: found %s %s, expected images "
                        "(channels, height, width), as after HWC2CHW",
                        cr_type_name(p->in.type),
                        cr_diag_format(p->arena, &p->in));
    if (!p->chw && p->in.dim[0] > 4 &&
        (p->in.dim[2] == 1 || p->in.dim[2] == 3)) {
        cr_error(p->diag, p->pos, CR_E_SHAPE,
                 "RandomErasing: found %s, expected images (channels, height, "
                 "width)",
                 cr_diag_format(p->arena, &p->in));
        cr_hint(p->diag, "move it to a line after HWC2CHW");
        return false;
    }
    r->c = p->in.dim[0];
    r->h = p->in.dim[1];
    r->w = p->in.dim[2];
    return random_erasing_range(p, "scale", &o->scale, 0.02, 0.33,
                                r->scale) &&
           random_erasing_range(p, "ratio", &o->ratio, 0.3, 3.3, r->ratio) &&
           random_erasing_value(p, r, o->value);
}

static void random_erasing_write(struct cr_sample *s, int64_t top,
                                 int64_t left, int64_t h, int64_t w,
                                 uint64_t element)
{
    const struct plan *r = s->plan->self;
    size_t size = cr_type_size(s->plan->in.type);
    int64_t c, i, j;

    for (c = 0; c < r->c; c++)
        for (i = top; i < top + h; i++)
            for (j = left; j < left + w; j++) {
                double v = r->value ? r->value[c]
                                    : cr_rng_normal(&s->rng, element++);

                cr_convert(CR_F64, &v, s->plan->in.type,
                           (char *)s->y +
                               (size_t)((c * r->h + i) * r->w + j) * size,
                           1);
            }
}

static bool random_erasing_apply(struct cr_sample *s)
{
    const struct random_erasing *o = s->plan->opts;
    const struct plan *r = s->plan->self;
    uint64_t at = 1, end = 1 + 4 * (uint64_t)o->max_attempts;

    memcpy(s->y, s->x, cr_bytes(&s->plan->in));
    if (cr_rng_double(&s->rng, 0) >= o->prob)
        return true;
    for (; at < end; at += 4) {
        double area = r->scale[0] + (r->scale[1] - r->scale[0]) *
                                        cr_rng_double(&s->rng, at);
        double a = r->ratio[0] + (r->ratio[1] - r->ratio[0]) *
                                     cr_rng_double(&s->rng, at + 1);
        int64_t w = llrint(sqrt(area * (double)(r->h * r->w) * a));
        int64_t h = llrint((double)w / a);

        if (h >= r->h || w >= r->w)
            continue;
        random_erasing_write(
            s,
            (int64_t)cr_rng_below(&s->rng, at + 2, (uint64_t)(r->h - h) + 1),
            (int64_t)cr_rng_below(&s->rng, at + 3, (uint64_t)(r->w - w) + 1),
            h, w, (end + 1) / 2 * 2);
        break;
    }
    return true;
}

const struct cr_transform cr_transform_random_erasing = {
    .about = {
        .name = "RandomErasing",
        .summary = "Random erasing: overwrites a random rectangle.",
        .detail = "Images (channels, height, width): after HWC2CHW. The aspect "
                  "ratio is uniform in ratio, as in MindSpore (in PyTorch its "
                  "logarithm is).",
        .example = "datapipe:\n"
                   "  image: [HWC2CHW, {RandomErasing: {prob: 0.5}, only: "
                   "train}]\n",
        .opts = random_erasing_opts,
        .size = sizeof(struct random_erasing),
    },
    .plan = random_erasing_plan,
    .apply = random_erasing_apply,
    .random = true,
};
