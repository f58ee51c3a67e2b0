/* Pad: adds pixels on all sides of an image. */
#include "data/image.h"

struct pad {
    struct cr_ints padding, fill_value;
    int padding_mode;
};

static const struct cr_opt pad_opts[] = {
    CR_INTS(struct pad, padding, 0, CR_IMAGE_SIDE,
            "Pixels to add: on all sides; or [left and right, top and bottom]; "
            "or [left, top, right, bottom]."),
    CR_INTS_OPTIONAL(struct pad, fill_value, 0, 255,
                     "Value with CONSTANT: a number, or one for each channel. "
                     "Default: 0."),
    CR_ENUM_DEFAULT(
        struct pad, padding_mode, CR_CONSTANT, CR_BORDERS,
        "Values of the added pixels. CONSTANT: fill_value. EDGE: the border "
        "pixel. REFLECT, SYMMETRIC: the mirrored image, without and with its "
        "border."),
    { 0 },
};

struct plan {
    struct cr_image image;
    struct cr_margins by;
    void *fill;
};

static bool pad_plan(struct cr_transform_plan *p)
{
    const struct pad *o = p->opts;
    struct plan *r = CR_NEW(p->arena, struct plan);

    p->self = r;
    return cr_image_of(p, "Pad", &r->image) &&
           cr_image_margins(p, "Pad", &o->padding, &r->by) &&
           cr_image_fill(p, "Pad", &o->fill_value, &r->image, &r->fill) &&
           cr_image_mirrors(p, "Pad", &r->image, &r->by,
                            (enum cr_border)o->padding_mode) &&
           cr_image_resized(p, "Pad", r->image.h + r->by.top + r->by.bottom,
                            r->image.w + r->by.left + r->by.right);
}

static bool pad_apply(struct cr_sample *s)
{
    const struct pad *o = s->plan->opts;
    const struct plan *r = s->plan->self;

    cr_image_window(&r->image, s->x, -r->by.top, -r->by.left,
                    s->plan->out.dim[0], s->plan->out.dim[1],
                    (enum cr_border)o->padding_mode, r->fill, s->y);
    return true;
}

const struct cr_transform cr_transform_pad = {
    .about = {
        .name = "Pad",
        .summary = "Pads an image on all sides.",
        .detail = "Images (height, width, channels) or (height, width).",
        .example = "datapipe: {image: [{Pad: {padding: 2}}]}\n",
        .opts = pad_opts,
        .size = sizeof(struct pad),
    },
    .plan = pad_plan,
    .apply = pad_apply,
};
