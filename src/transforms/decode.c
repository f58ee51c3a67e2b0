/* Decode: the first transform of an image pipeline in MindSpore. Image data
 * sets of cellrun decode while they read, in the threads that fill batches, so
 * this only checks the type and shape. */
#include "data/image.h"

#include <string.h>

static bool decode_plan(struct cr_transform_plan *p)
{
    p->out = p->in;
    if (p->in.rank == 3 && p->in.type == CR_U8 && p->in.dim[2] == 3)
        return true;
    return cr_error(p->diag, p->pos, CR_E_SHAPE,
                    "Decode: found %s %s, expected decoded images (height, "
                    "width, 3) of uint8",
                    cr_type_name(p->in.type), cr_diag_format(p->arena, &p->in));
}

static bool decode_apply(struct cr_sample *s)
{
    memcpy(s->y, s->x, cr_bytes(&s->plan->in));
    return true;
}

static void decode_order(const struct cr_transform_plan *p, int64_t *from)
{
    int64_t i, n = cr_count(&p->in);

    for (i = 0; i < n; i++)
        from[i] = i;
}

const struct cr_transform cr_transform_decode = {
    .about = {
        .name = "Decode",
        .summary = "No operation: images are decoded by the data set.",
        .detail = "Accepted as the first transform, as in MindSpore.",
        .example = "datapipe: {image: [Decode, {Resize: {size: [64, 64]}}]}\n",
    },
    .plan = decode_plan,
    .apply = decode_apply,
    .order = decode_order,
};
