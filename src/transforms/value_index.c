/* ValueIndex: y = the position of x in a list of integers. */
#include "data/transform.h"

#include <inttypes.h>
#include <string.h>

#define RANGE_MAX (1 << 20)

struct value_index {
    struct cr_ints values;
    int64_t other;
};

static const struct cr_opt value_index_opts[] = {
    CR_INTS(struct value_index, values, INT32_MIN, INT32_MAX,
            "Values of the classes 0, 1, ..."),
    CR_INT_OPTIONAL(struct value_index, other, INT32_MIN, INT32_MAX,
                    "Class of all other values, such as the ignore_index of "
                    "the loss. Default: they are errors.",
                    .keyword_only = true),
    { 0 },
};

/* Indices of the values from `low` on; -1: none of the list. */
struct indices {
    int64_t low, n;
    int32_t *to;
};

static bool value_index_table(struct cr_transform_plan *p)
{
    const struct value_index *o = p->opts;
    struct indices *t = CR_NEW(p->arena, struct indices);
    int64_t low = o->values.v[0], high = low;

    for (int i = 1; i < o->values.n; i++) {
        low = o->values.v[i] < low ? o->values.v[i] : low;
        high = o->values.v[i] > high ? o->values.v[i] : high;
    }
    if (high - low >= RANGE_MAX)
        return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                        "ValueIndex: values: found %" PRId64 " and %" PRId64
                        ", expected a range of at most %d",
                        low, high, RANGE_MAX);
    t->low = low;
    t->n = high - low + 1;
    t->to = CR_NEWS(p->arena, int32_t, t->n);
    memset(t->to, 0xff, (size_t)t->n * sizeof *t->to);
    for (int i = 0; i < o->values.n; i++) {
        int32_t *to = &t->to[o->values.v[i] - low];

        if (*to >= 0)
            return cr_error(p->diag, p->pos, CR_E_CONFLICT,
                            "ValueIndex: duplicate value %" PRId64,
                            o->values.v[i]);
        *to = i;
    }
    p->self = t;
    return true;
}

static bool value_index_plan(struct cr_transform_plan *p)
{
    const struct value_index *o = p->opts;

    if (p->in.type != CR_I32 && p->in.type != CR_I64 && p->in.type != CR_U8)
        return cr_error(p->diag, p->pos, CR_E_DTYPE,
                        "ValueIndex: found %s %s, expected integers",
                        cr_type_name(p->in.type),
                        cr_diag_format(p->arena, &p->in));
    p->out = p->in;
    p->out.type = CR_I32;
    p->classes = (struct cr_strs){ 0 };
    if (o->values.n > 0)
        return value_index_table(p);
    return cr_error(p->diag, p->pos, CR_E_OUT_OF_RANGE,
                    "ValueIndex: values: the list is empty");
}

static int64_t value_index_at(const struct cr_sample *s, int64_t i)
{
    int64_t wide;
    int32_t v;

    if (s->plan->in.type == CR_U8)
        return ((const unsigned char *)s->x)[i];
    if (s->plan->in.type == CR_I32) {
        memcpy(&v, (const char *)s->x + 4 * i, sizeof v);
        return v;
    }
    memcpy(&wide, (const char *)s->x + 8 * i, sizeof wide);
    return wide;
}

static bool value_index_apply(struct cr_sample *s)
{
    const struct value_index *o = s->plan->opts;
    const struct indices *t = s->plan->self;
    int64_t n = cr_count(&s->plan->in);
    int32_t *y = s->y;

    for (int64_t i = 0; i < n; i++) {
        int64_t x = value_index_at(s, i);

        y[i] = x >= t->low && x < t->low + t->n ? t->to[x - t->low] : -1;
        if (y[i] >= 0)
            continue;
        if (o->other == CR_INT_NONE)
            return cr_error(s->diag, s->plan->pos, CR_E_DATA_RANGE,
                            "ValueIndex: found %" PRId64 " in the data, "
                            "expected one of values; `other` gives the class "
                            "of the rest",
                            x);
        y[i] = (int32_t)o->other;
    }
    return true;
}

const struct cr_transform cr_transform_value_index = {
    .about = {
        .name = "ValueIndex",
        .summary = "Class indices of integers, as of the pixels of a mask.",
        .detail = "The position of each value in a list, as int32: masks of 0 "
                  "and 255 get the classes 0 and 1, labels that begin at 1 "
                  "those from 0.",
        .example = "datapipe: {label: [{ValueIndex: [0, 255]}]}\n"
                   "---\n"
                   "datapipe: {label: [{ValueIndex: {values: [7, 8, 11], "
                   "other: 255}}]}\n",
        .opts = value_index_opts,
        .size = sizeof(struct value_index),
    },
    .plan = value_index_plan,
    .apply = value_index_apply,
};
