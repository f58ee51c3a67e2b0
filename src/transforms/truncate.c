/* Truncate: keeps the first max_seq_len elements of a list. */
#include "data/transform.h"

#include <string.h>

struct truncate {
    int64_t max_seq_len;
};

static const struct cr_opt truncate_opts[] = {
    CR_INT(struct truncate, max_seq_len, 1, CR_DIM_MAX,
           "Maximum number of elements; longer lists are truncated."),
    { 0 },
};

static bool truncate_plan(struct cr_transform_plan *p)
{
    const struct truncate *o = p->opts;

    if (p->in.rank != 1)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "Truncate: found %s %s, expected a list, as from a "
                        "tokenizer",
                        cr_type_name(p->in.type),
                        cr_diag_format(p->arena, &p->in));
    p->out = p->in;
    if (p->in.dim[0] > o->max_seq_len)
        p->out.dim[0] = o->max_seq_len;
    return true;
}

static bool truncate_apply(struct cr_sample *s)
{
    const struct truncate *o = s->plan->opts;
    struct cr_ragged *y = s->y;

    if (!cr_is_ragged(&s->plan->in)) {
        memcpy(s->y, s->x, cr_bytes(&s->plan->out));
        return true;
    }
    *y = *(const struct cr_ragged *)s->x;
    if (y->n > o->max_seq_len)
        y->n = o->max_seq_len;
    return true;
}

const struct cr_transform cr_transform_truncate = {
    .about = {
        .name = "Truncate",
        .summary = "The first elements of a list.",
        .detail = "Lists of tokens or of numbers; shorter ones pass unchanged.",
        .example = "datapipe: {text: [{Truncate: {max_seq_len: 256}}]}\n",
        .opts = truncate_opts,
        .size = sizeof(struct truncate),
    },
    .plan = truncate_plan,
    .apply = truncate_apply,
    .ragged = true,
};
