/* Decode: MindSpore's first op of a list over files. Data sets of images here
 * give them decoded, by the threads that fill batches, so nothing is left to
 * do but to see that they are images. */
#include "data/image.h"

#include <string.h>

static bool decode_plan(struct cr_transform_plan *p)
{
    p->out = p->in;
    if (p->in.rank == 3 && p->in.type == CR_U8 && p->in.dim[2] == 3)
        return true;
    return cr_error(p->diag, p->pos, CR_E_SHAPE,
                    "Decode takes images (height, width, 3) of uint8, which "
                    "come decoded, not %s %s",
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
        .summary = "Images of files, which come decoded.",
        .detail = "Stands where MindSpore's lists begin with it; changes "
                  "nothing.",
        .example = "datapipe: {image: [Decode, {Resize: {size: [64, 64]}}]}\n",
    },
    .plan = decode_plan,
    .apply = decode_apply,
    .order = decode_order,
};
