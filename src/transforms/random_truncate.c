/* RandomTruncate: max_seq_len consecutive elements of a list, from a random
 * position, which is random element 0. */
#include "data/transform.h"

#include <string.h>

struct random_truncate {
    int64_t max_seq_len;
};

static const struct cr_opt random_truncate_opts[] = {
    CR_INT(struct random_truncate, max_seq_len, 1, CR_DIM_MAX,
           "Maximum number of elements; longer lists are truncated."),
    { 0 },
};

static bool random_truncate_plan(struct cr_transform_plan *p)
{
    const struct random_truncate *o = p->opts;

    if (p->in.rank < 1 || (cr_is_ragged(&p->in) && p->in.rank > 1))
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "RandomTruncate: found %s %s, expected a list, as from "
                        "Lookup, or an array",
                        cr_type_name(p->in.type),
                        cr_diag_format(p->arena, &p->in));
    p->out = p->in;
    if (p->in.dim[0] > o->max_seq_len)
        p->out.dim[0] = o->max_seq_len;
    return true;
}

/* The position of the first of `max` elements out of n. */
static int64_t random_truncate_from(struct cr_sample *s, int64_t n, int64_t max)
{
    return n > max ? (int64_t)cr_rng_below(&s->rng, 0, (uint64_t)(n - max) + 1)
                   : 0;
}

static bool random_truncate_apply(struct cr_sample *s)
{
    const struct random_truncate *o = s->plan->opts;
    const struct cr_spec *in = &s->plan->in;
    struct cr_ragged *y = s->y;
    size_t each;
    int64_t from;

    if (!cr_is_ragged(in)) {
        each = cr_bytes(in) / (size_t)in->dim[0];
        from = random_truncate_from(s, in->dim[0], o->max_seq_len);
        memcpy(s->y, (const char *)s->x + (size_t)from * each,
               cr_bytes(&s->plan->out));
        return true;
    }
    *y = *(const struct cr_ragged *)s->x;
    if (y->n <= o->max_seq_len)
        return true;
    each = in->type == CR_STRING ? sizeof(struct cr_ragged)
                                 : cr_type_size(in->type);
    from = random_truncate_from(s, y->n, o->max_seq_len);
    y->v = (const char *)y->v + (size_t)from * each;
    y->n = o->max_seq_len;
    return true;
}

const struct cr_transform cr_transform_random_truncate = {
    .about = {
        .name = "RandomTruncate",
        .summary = "Consecutive elements of a list, from a random position.",
        .detail = "Lists of tokens or of numbers, and arrays, along their "
                  "first axis. Shorter ones pass unchanged; PadEnd after it "
                  "pads them. All positions are equally likely. With `only: "
                  "train`, PadEnd truncates other data at their end.",
        .example = "datapipe:\n"
                   "  tokens: [{RandomTruncate: {max_seq_len: 256}, only: "
                   "train}, {PadEnd: {pad_shape: [256]}}]\n",
        .opts = random_truncate_opts,
        .size = sizeof(struct random_truncate),
    },
    .plan = random_truncate_plan,
    .apply = random_truncate_apply,
    .random = true,
    .ragged = true,
};
