/* MultiScale: resizes the images of a batch to one of several sizes (Redmon and
 * Farhadi, "YOLO9000", 2017). In training the size is a function of seed, epoch
 * and batch, the same for all columns; evaluation uses the first. The network
 * is planned once for each size. */
#include "data/data_loader.h"
#include "data/image.h"
#include "data/resize.h"

struct multi_scale {
    struct cr_ints sizes;
    int interpolation;
};

static const struct cr_opt multi_scale_opts[] = {
    CR_INTS(struct multi_scale, sizes, 1, CR_IMAGE_SIDE,
            "Heights and widths, [[320, 320], [352, 352]].", .pairs = true),
    CR_ENUM_DEFAULT(struct multi_scale, interpolation, CR_LINEAR, CR_INTERS,
                    "Interpolation, as in Resize."),
    { 0 },
};

struct plan {
    struct cr_resize_size size;
};

static bool multi_scale_plan(struct cr_transform_plan *p)
{
    const struct multi_scale *o = p->opts;
    struct plan *r = CR_NEW(p->arena, struct plan);
    const int64_t *size = o->sizes.v + 2 * p->size_index;
    struct cr_image m;

    p->self = r;
    p->n_sizes = o->sizes.n / 2;
    if (p->n_sizes < 1 || p->n_sizes > CR_SIZES_MAX)
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "MultiScale: found %d sizes, expected 1 to %d",
                        p->n_sizes, CR_SIZES_MAX);
    if (!cr_image_resizable(p, "MultiScale", o->interpolation == CR_NEAREST) ||
        !cr_image_of(p, "MultiScale", &m) ||
        !cr_image_resized(p, "MultiScale", size[0], size[1]))
        return false;
    r->size = (struct cr_resize_size){ m.h, m.w, size[0], size[1], m.c };
    p->scratch = cr_resize_bytes(&r->size, (enum cr_inter)o->interpolation);
    return true;
}

static bool multi_scale_apply(struct cr_sample *s)
{
    const struct multi_scale *o = s->plan->opts;
    const struct plan *r = s->plan->self;

    cr_resize_run(
        cr_resize_make(s->scratch, &r->size, (enum cr_inter)o->interpolation),
        s->plan->in.type, s->x, s->y);
    return true;
}

const struct cr_transform cr_transform_multi_scale = {
    .about = {
        .name = "MultiScale",
        .summary = "Resizes each batch to one of several sizes.",
        .detail = "Images (height, width, channels) or (height, width) of "
                  "uint8 or float32. All samples of a batch get the same "
                  "size, chosen at random in training; evaluation uses the "
                  "first. The network must accept all of them.",
        .example = "datapipe:\n"
                   "  image: [{MultiScale: {sizes: [[32, 32], [40, 40]]}}]\n",
        .opts = multi_scale_opts,
        .size = sizeof(struct multi_scale),
    },
    .plan = multi_scale_plan,
    .apply = multi_scale_apply,
    .random = true,
};
