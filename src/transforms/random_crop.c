/* RandomCrop: a window of the padded image at a position that is uniform over
 * all that fit. Random element 0 is the row, element 1 the column. */
#include "data/image.h"

struct random_crop {
    struct cr_ints size, padding, fill_value;
    bool pad_if_needed;
    int padding_mode;
};

static const struct cr_opt random_crop_opts[] = {
    CR_INTS(struct random_crop, size, 1, CR_IMAGE_SIDE,
            "Height and width, or one number for both."),
    CR_INTS_OPTIONAL(
        struct random_crop, padding, 0, CR_IMAGE_SIDE,
        "Pixels to add before cropping: on all sides; or [left and right, top "
        "and bottom]; or [left, top, right, bottom]."),
    CR_BOOL_DEFAULT(struct random_crop, pad_if_needed, false,
                    "Pad images that are still too small, on both sides "
                    "alike."),
    CR_INTS_OPTIONAL(
        struct random_crop, fill_value, 0, 255,
        "Value with CONSTANT: a number, or one for each channel. Default: 0."),
    CR_ENUM_DEFAULT(struct random_crop, padding_mode, CR_CONSTANT, CR_BORDERS,
                    "Values of the added pixels, as in Pad."),
    { 0 },
};

struct plan {
    struct cr_image image;
    struct cr_margins by;
    int64_t down, across;   /* offsets go from 0 to these */
    void *fill;
};

static bool random_crop_plan(struct cr_transform_plan *p)
{
    const struct random_crop *o = p->opts;
    struct plan *r = CR_NEW(p->arena, struct plan);
    struct cr_image *m = &r->image;
    struct cr_margins *by = &r->by;
    int64_t h, w, d;

    p->self = r;
    if (p->in.rank == 1)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "RandomCrop: found the list %s, expected images; use "
                        "RandomTruncate for lists",
                        cr_diag_format(p->arena, &p->in));
    if (!cr_image_of(p, "RandomCrop", m) ||
        !cr_image_size(p, "RandomCrop", &o->size, &h, &w) ||
        !cr_image_margins(p, "RandomCrop", &o->padding, by) ||
        !cr_image_fill(p, "RandomCrop", &o->fill_value, m, &r->fill))
        return false;
    d = h - (m->h + by->top + by->bottom);
    if (o->pad_if_needed && d > 0) {
        by->top += d;
        by->bottom += d;
    }
    d = w - (m->w + by->left + by->right);
    if (o->pad_if_needed && d > 0) {
        by->left += d;
        by->right += d;
    }
    r->down = m->h + by->top + by->bottom - h;
    r->across = m->w + by->left + by->right - w;
    if (r->down < 0 || r->across < 0)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "RandomCrop: the padded image (%lld, %lld) is "
                        "smaller than size %lld, %lld",
                        (long long)(r->down + h), (long long)(r->across + w),
                        (long long)h, (long long)w);
    return cr_image_mirrors(p, "RandomCrop", m, by,
                            (enum cr_border)o->padding_mode) &&
           cr_image_resized(p, "RandomCrop", h, w);
}

static bool random_crop_apply(struct cr_sample *s)
{
    const struct random_crop *o = s->plan->opts;
    const struct plan *r = s->plan->self;
    int64_t top = (int64_t)cr_rng_below(&s->rng, 0, (uint64_t)r->down + 1);
    int64_t left = (int64_t)cr_rng_below(&s->rng, 1, (uint64_t)r->across + 1);

    cr_image_window(&r->image, s->x, top - r->by.top, left - r->by.left,
                    s->plan->out.dim[0], s->plan->out.dim[1],
                    (enum cr_border)o->padding_mode, r->fill, s->y);
    return true;
}

const struct cr_transform cr_transform_random_crop = {
    .about = {
        .name = "RandomCrop",
        .summary = "Crop of an image at a random position.",
        .detail = "Images (height, width, channels) or (height, width). All "
                  "positions in the padded image are equally likely. Use "
                  "RandomTruncate for lists.",
        .example = "datapipe:\n"
                   "  image: [{RandomCrop: {size: 32, padding: 4}, only: "
                   "train}]\n",
        .opts = random_crop_opts,
        .size = sizeof(struct random_crop),
    },
    .plan = random_crop_plan,
    .apply = random_crop_apply,
    .random = true,
    .for_lists = "RandomTruncate",
};
