/* CutOut: squares of zeros (DeVries and Taylor, 2017). The top left corner is
 * uniform in [-length, h] x [-length, w], so a square may extend beyond the
 * border or vanish. Square k uses the random elements 2k (row) and 2k + 1
 * (column). */
#include "data/image.h"

#include <string.h>

struct cut_out {
    int64_t length, num_patches;
    bool is_hwc;
};

static const struct cr_opt cut_out_opts[] = {
    CR_INT(struct cut_out, length, 1, CR_IMAGE_SIDE,
           "Side of a square in "
           "pixels."),
    CR_INT_DEFAULT(struct cut_out, num_patches, 1, 1, 1024,
                   "Number of squares per image."),
    CR_BOOL_DEFAULT(struct cut_out, is_hwc, true,
                    "Layout: true: channels last. false: channels first."),
    { 0 },
};

/* planes x h x w blocks of `block` bytes */
struct plan {
    int64_t planes, h, w;
    size_t block;
};

static bool cut_out_plan(struct cr_transform_plan *p)
{
    const struct cut_out *o = p->opts;
    struct plan *r = CR_NEW(p->arena, struct plan);
    struct cr_image m;

    p->self = r;
    if (!cr_image_of(p, "CutOut", &m))
        return false;
    *r = (struct plan){ 1, m.h, m.w, m.pixel };
    if (!o->is_hwc && p->in.rank == 3)
        *r = (struct plan){ m.h, m.w, m.c, cr_type_size(p->in.type) };
    if (o->length > r->h || o->length > r->w)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "CutOut: length %lld is larger than the image %s",
                        (long long)o->length, cr_diag_format(p->arena, &p->in));
    p->out = p->in;
    return true;
}

static bool cut_out_apply(struct cr_sample *s)
{
    const struct cut_out *o = s->plan->opts;
    const struct plan *r = s->plan->self;
    int64_t k, c, i;

    memcpy(s->y, s->x, cr_bytes(&s->plan->in));
    for (k = 0; k < o->num_patches; k++) {
        uint64_t at = 2 * (uint64_t)k;
        int64_t top = (int64_t)cr_rng_below(
                          &s->rng, at, (uint64_t)(r->h + o->length + 1)) -
                      o->length;
        int64_t left = (int64_t)cr_rng_below(
                           &s->rng, at + 1,
                           (uint64_t)(r->w + o->length + 1)) -
                       o->length;
        int64_t bottom = top + o->length < r->h ? top + o->length : r->h;
        int64_t right = left + o->length < r->w ? left + o->length : r->w;

        top = top < 0 ? 0 : top;
        left = left < 0 ? 0 : left;
        for (c = 0; c < r->planes && right > left; c++)
            for (i = top; i < bottom; i++)
                memset((char *)s->y +
                           (size_t)((c * r->h + i) * r->w + left) * r->block,
                       0, (size_t)(right - left) * r->block);
    }
    return true;
}

const struct cr_transform cr_transform_cut_out = {
    .about = {
        .name = "CutOut",
        .summary = "Cutout: sets random squares to zero.",
        .detail = "Images (height, width, channels), or (channels, height, "
                  "width) with is_hwc: false. Squares may extend beyond the "
                  "border.",
        .example = "datapipe:\n"
                   "  image: [{CutOut: {length: 8}, only: train}]\n",
        .opts = cut_out_opts,
        .size = sizeof(struct cut_out),
    },
    .plan = cut_out_plan,
    .apply = cut_out_apply,
    .random = true,
};
