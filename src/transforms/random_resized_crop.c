/* RandomResizedCrop: a window of random area and aspect ratio, resized to one
 * size (Szegedy et al., "Going deeper with convolutions", 2015).
 *
 * Up to max_attempts times: area = U(scale) times that of the image, a = exp
 * U(ln r0, ln r1), w = round(sqrt(area a)), h = round(w / a). The first window
 * that fits is used, at a position uniform over all; if none fits, the centre,
 * cropped to the nearest allowed aspect ratio. Attempt k uses the random
 * elements 4 k (area), 4 k + 1 (aspect ratio), 4 k + 2 (column) and 4 k + 3
 * (row). */
#include "data/image.h"
#include "data/resize.h"

struct random_resized_crop {
    struct cr_ints size;
    struct cr_reals scale, ratio;
    int interpolation;
    int64_t max_attempts;
};

static const struct cr_opt random_resized_crop_opts[] = {
    CR_INTS(struct random_resized_crop, size, 1, CR_IMAGE_SIDE,
            "Height and width, or one number for both."),
    CR_REALS_OPTIONAL(struct random_resized_crop, scale, 0, 1e6,
                      "Minimum and maximum fraction of the area of the image. "
                      "Default: 0.08, 1."),
    CR_REALS_OPTIONAL(struct random_resized_crop, ratio, DBL_MIN, 1e6,
                      "Minimum and maximum aspect ratio, width / height. "
                      "Default: 3/4, 4/3."),
    CR_ENUM_DEFAULT(struct random_resized_crop, interpolation, CR_LINEAR,
                    CR_INTERS, "Interpolation, as in Resize."),
    CR_INT_DEFAULT(struct random_resized_crop, max_attempts, 10, 1, 1000,
                   "Maximum number of attempts to find a window that fits; "
                   "then the centre is used."),
    { 0 },
};

struct plan {
    struct cr_image image;
    int64_t h, w;
    double scale[2], ratio[2];
    size_t tables; /* bytes at the start of scratch */
};

static bool random_resized_crop_range(struct cr_transform_plan *p,
                                      const char *name,
                                      const struct cr_reals *given, double low,
                                      double high, double *to)
{
    to[0] = given->n > 0 ? given->v[0] : low;
    to[1] = given->n > 0 ? given->v[given->n - 1] : high;
    if ((given->n == 0 || given->n == 2) && to[0] <= to[1] && to[1] > 0)
        return true;
    return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                    "RandomResizedCrop: %s: expected a minimum and a maximum",
                    name);
}

static bool random_resized_crop_plan(struct cr_transform_plan *p)
{
    const struct random_resized_crop *o = p->opts;
    struct plan *r = CR_NEW(p->arena, struct plan);
    struct cr_resize_size most;

    p->self = r;
    if (!cr_image_resizable(p, "RandomResizedCrop",
                            o->interpolation == CR_NEAREST) ||
        !cr_image_of(p, "RandomResizedCrop", &r->image) ||
        !cr_image_size(p, "RandomResizedCrop", &o->size, &r->h, &r->w) ||
        !random_resized_crop_range(p, "scale", &o->scale, 0.08, 1, r->scale) ||
        !random_resized_crop_range(p, "ratio", &o->ratio, 3.0 / 4, 4.0 / 3,
                                   r->ratio) ||
        !cr_image_resized(p, "RandomResizedCrop", r->h, r->w))
        return false;
    most = (struct cr_resize_size){ r->image.h, r->image.w, r->h, r->w,
                                    r->image.c };
    r->tables = cr_resize_bytes(&most, (enum cr_inter)o->interpolation);
    p->scratch = r->tables + cr_bytes(&p->in);
    return true;
}

struct window {
    int64_t top, left, h, w;
};

/* The centre, with the aspect ratio of the image or the nearest allowed one. */
static struct window random_resized_crop_middle(const struct plan *r)
{
    int64_t h = r->image.h, w = r->image.w;
    double ratio = (double)w / (double)h;
    struct window to = { 0, 0, h, w };

    if (ratio < r->ratio[0])
        to.h = (int64_t)round((double)w / r->ratio[0]);
    else if (ratio > r->ratio[1])
        to.w = (int64_t)round((double)h * r->ratio[1]);
    to.h = to.h < 1 ? 1 : to.h > h ? h : to.h;
    to.w = to.w < 1 ? 1 : to.w > w ? w : to.w;
    to.top = (int64_t)round((double)(h - to.h) / 2);
    to.left = (int64_t)round((double)(w - to.w) / 2);
    return to;
}

static struct window random_resized_crop_draw(const struct plan *r,
                                              int64_t attempts,
                                              const struct cr_rng *rng)
{
    int64_t h = r->image.h, w = r->image.w, k;
    double l0 = log(r->ratio[0]), l1 = log(r->ratio[1]);
    struct window to;

    for (k = 0; k < attempts; k++) {
        uint64_t at = (uint64_t)k * 4;
        double area =
            (double)(h * w) * (r->scale[0] + (r->scale[1] - r->scale[0]) *
                                                 cr_rng_double(rng, at));
        double ratio = exp(l0 + (l1 - l0) * cr_rng_double(rng, at + 1));
        double wide = round(sqrt(area * ratio)), high = round(wide / ratio);

        if (!(wide >= 1 && high >= 1 && wide <= (double)w && high <= (double)h))
            continue;
        to.w = (int64_t)wide;
        to.h = (int64_t)high;
        to.left = (int64_t)cr_rng_below(rng, at + 2, (uint64_t)(w - to.w) + 1);
        to.top = (int64_t)cr_rng_below(rng, at + 3, (uint64_t)(h - to.h) + 1);
        return to;
    }
    return random_resized_crop_middle(r);
}

static bool random_resized_crop_apply(struct cr_sample *s)
{
    const struct random_resized_crop *o = s->plan->opts;
    const struct plan *r = s->plan->self;
    struct window at = random_resized_crop_draw(r, o->max_attempts, &s->rng);
    struct cr_resize_size size = { at.h, at.w, r->h, r->w, r->image.c };
    char *cut = (char *)s->scratch + r->tables;

    cr_image_window(&r->image, s->x, at.top, at.left, at.h, at.w, CR_CONSTANT,
                    NULL, cut);
    cr_resize_run(
        cr_resize_make(s->scratch, &size, (enum cr_inter)o->interpolation),
        s->plan->in.type, cut, s->y);
    return true;
}

const struct cr_transform cr_transform_random_resized_crop = {
    .about = {
        .name = "RandomResizedCrop",
        .summary = "Crop of random area and aspect ratio, resized to one size.",
        .detail = "Images (height, width, channels) or (height, width) of "
                  "uint8 or float32.",
        .example = "datapipe:\n"
                   "  image: [{RandomResizedCrop: {size: 224}, only: "
                   "train}]\n",
        .opts = random_resized_crop_opts,
        .size = sizeof(struct random_resized_crop),
    },
    .plan = random_resized_crop_plan,
    .apply = random_resized_crop_apply,
    .random = true,
};
