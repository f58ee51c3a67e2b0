/* Resize: interpolates an image to another size, as OpenCV does (data/resize.c
 * has the formulas). With one number for the shorter side, the other side keeps
 * the aspect ratio, rounded down. */
#include "data/resize.h"
#include "data/image.h"

struct resize {
    struct cr_ints size;
    int interpolation;
};

static const struct cr_opt resize_opts[] = {
    CR_INTS(struct resize, size, 1, CR_IMAGE_SIDE,
            "Height and width, or one number for the shorter side; the other "
            "side keeps the aspect ratio."),
    CR_ENUM_DEFAULT(struct resize, interpolation, CR_LINEAR, CR_INTERS,
                    "Interpolation between pixels."),
    { 0 },
};

/* The tables of one resize; with AREA each thread needs its own, since it
 * writes to them. */
struct plan {
    struct cr_resize_size size;
    const struct cr_resize *scale;
};

static bool resize_plan(struct cr_transform_plan *p)
{
    const struct resize *o = p->opts;
    enum cr_inter inter = (enum cr_inter)o->interpolation;
    struct plan *r = CR_NEW(p->arena, struct plan);
    struct cr_image m;
    int64_t oh, ow;

    p->self = r;
    if (!cr_image_resizable(p, "Resize", inter == CR_NEAREST) ||
        !cr_image_of(p, "Resize", &m) ||
        !cr_image_size(p, "Resize", &o->size, &oh, &ow))
        return false;
    if (o->size.n == 1 && m.h < m.w)
        ow = (int64_t)((double)m.w / (double)m.h * (double)oh);
    else if (o->size.n == 1)
        oh = (int64_t)((double)m.h / (double)m.w * (double)ow);
    if (!cr_image_resized(p, "Resize", oh, ow))
        return false;
    r->size = (struct cr_resize_size){ m.h, m.w, oh, ow, m.c };
    p->scratch = cr_resize_bytes(&r->size, inter);
    if (inter != CR_AREA) { /* AREA writes to its tables */
        r->scale =
            cr_resize_make(cr_alloc(p->arena, 1, p->scratch), &r->size, inter);
        p->scratch = 0;
    }
    return true;
}

static bool resize_apply(struct cr_sample *s)
{
    const struct resize *o = s->plan->opts;
    const struct plan *r = s->plan->self;
    const struct cr_resize *scale = r->scale;

    if (!scale)
        scale = cr_resize_make(s->scratch, &r->size,
                               (enum cr_inter)o->interpolation);
    cr_resize_run(scale, s->plan->in.type, s->x, s->y);
    return true;
}

const struct cr_transform cr_transform_resize = {
    .about = {
        .name = "Resize",
        .summary = "Resizes an image.",
        .detail = "Images (height, width, channels) or (height, width) of "
                  "uint8 or float32. No anti-aliasing, as in OpenCV and "
                  "MindSpore; bit-identical to MindSpore, except for the "
                  "rounding of sums with CUBIC on float32.",
        .example = "datapipe: {image: [{Resize: {size: [32, 32]}}]}\n",
        .opts = resize_opts,
        .size = sizeof(struct resize),
    },
    .plan = resize_plan,
    .apply = resize_apply,
};
