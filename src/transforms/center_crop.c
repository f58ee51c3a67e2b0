/* CenterCrop: the centre of an image, from floor((in - size) / 2) on. An image
 * that is d pixels too small is padded with zeros: (d + 1) / 2 before it, d / 2
 * after it. */
#include "data/image.h"

struct center_crop {
    struct cr_ints size;
};

static const struct cr_opt center_crop_opts[] = {
    CR_INTS(struct center_crop, size, 1, CR_IMAGE_SIDE,
            "Height and width, or one number for both."),
    { 0 },
};

struct plan {
    struct cr_image image;
    int64_t top, left;
    void *zero;
};

static int64_t center_crop_from(int64_t in, int64_t out)
{
    return in >= out ? (in - out) / 2 : -((out - in + 1) / 2);
}

static bool center_crop_plan(struct cr_transform_plan *p)
{
    const struct center_crop *o = p->opts;
    struct plan *r = CR_NEW(p->arena, struct plan);
    int64_t h, w;

    p->self = r;
    if (!cr_image_of(p, "CenterCrop", &r->image) ||
        !cr_image_size(p, "CenterCrop", &o->size, &h, &w))
        return false;
    if (h >= 4 * r->image.h || w >= 4 * r->image.w)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "CenterCrop: size %lld, %lld is at least four times "
                        "the image %s",
                        (long long)h, (long long)w,
                        cr_diag_format(p->arena, &p->in));
    r->top = center_crop_from(r->image.h, h);
    r->left = center_crop_from(r->image.w, w);
    r->zero = cr_alloc(p->arena, 1, r->image.pixel);
    return cr_image_resized(p, "CenterCrop", h, w);
}

static bool center_crop_apply(struct cr_sample *s)
{
    const struct plan *r = s->plan->self;

    cr_image_window(&r->image, s->x, r->top, r->left, s->plan->out.dim[0],
                    s->plan->out.dim[1], CR_CONSTANT, r->zero, s->y);
    return true;
}

const struct cr_transform cr_transform_center_crop = {
    .about = {
        .name = "CenterCrop",
        .summary = "Crop of the centre of an image.",
        .detail = "Images (height, width, channels) or (height, width); "
                  "smaller images are padded with zeros.",
        .example = "datapipe: {image: [{CenterCrop: {size: 24}}]}\n",
        .opts = center_crop_opts,
        .size = sizeof(struct center_crop),
    },
    .plan = center_crop_plan,
    .apply = center_crop_apply,
};
