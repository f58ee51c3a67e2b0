/* HWC2CHW: (height, width, channels) becomes (channels, height, width). */
#include "data/transform.h"

#include <string.h>

/* Not count / channels, since there may be 0 channels. */
static int64_t hwc2chw_pixels(const struct cr_spec *in)
{
    return in->rank == 3 ? in->dim[0] * in->dim[1] : cr_count(in);
}

static bool hwc2chw_plan(struct cr_transform_plan *p)
{
    p->out = p->in;
    if (p->in.rank == 2)
        return true;
    if (p->in.rank != 3)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "HWC2CHW: found %s, expected images (height, width, "
                        "channels)",
                        cr_diag_format(p->arena, &p->in));
    p->out.dim[0] = p->in.dim[2];
    p->out.dim[1] = p->in.dim[0];
    p->out.dim[2] = p->in.dim[1];
    p->chw = true;
    return true;
}

static void hwc2chw_order(const struct cr_transform_plan *p, int64_t *from)
{
    int64_t channels = p->in.rank == 3 ? p->in.dim[2] : 1;
    int64_t pixels = hwc2chw_pixels(&p->in), c, i;

    for (c = 0; c < channels; c++)
        for (i = 0; i < pixels; i++)
            from[c * pixels + i] = i * channels + c;
}

static bool hwc2chw_apply(struct cr_sample *s)
{
    const struct cr_spec *in = &s->plan->in;
    size_t size = cr_type_size(in->type);
    int64_t channels = in->rank == 3 ? in->dim[2] : 1;
    int64_t pixels = hwc2chw_pixels(in), c, i;

    for (c = 0; c < channels; c++)
        for (i = 0; i < pixels; i++)
            memcpy((char *)s->y + (size_t)(c * pixels + i) * size,
                   (const char *)s->x + (size_t)(i * channels + c) * size,
                   size);
    return true;
}

const struct cr_transform cr_transform_hwc2chw = {
    .about = {
        .name = "HWC2CHW",
        .summary = "Transposes (h, w, c) to channels first, (c, h, w).",
        .detail = "Images of any element type; (h, w) passes unchanged. "
                  "Transforms of images come before it, RandomErasing after "
                  "it.",
        .example = "datapipe: {image: [HWC2CHW]}\n",
    },
    .plan = hwc2chw_plan,
    .apply = hwc2chw_apply,
    .order = hwc2chw_order,
};
