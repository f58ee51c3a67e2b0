/* LabelIndex: the index of a string among the classes. */
#include "base/str.h"
#include "data/transform.h"

#include <string.h>

struct label_index {
    struct cr_strs classes;
};

static const struct cr_opt label_index_opts[] = {
    CR_STRS(struct label_index, classes, "Class names, for 0, 1, ..."),
    { 0 },
};

static int32_t label_index_of(const struct cr_strs *classes, const char *word,
                              size_t len)
{
    int i;

    for (i = 0; i < classes->n; i++)
        if (strlen(classes->v[i]) == len &&
            memcmp(classes->v[i], word, len) == 0)
            return i;
    return -1;
}

static const char *label_index_all(struct cr_arena *arena,
                                   const struct cr_strs *classes)
{
    struct cr_buf b = { .arena = arena };
    int i;

    for (i = 0; i < classes->n && i < 20; i++)
        cr_buf_f(&b, "%s%s", i ? ", " : "", classes->v[i]);
    if (i < classes->n)
        cr_buf_str(&b, " ...");
    return cr_buf_text(&b);
}

/* The data set may have replaced strings by indices already: maps these to the
 * indices in `classes`. */
static bool label_index_renumber(struct cr_transform_plan *p)
{
    const struct label_index *o = p->opts;
    int32_t *to = CR_NEWS(p->arena, int32_t, p->classes.n + 1);
    int i;

    for (i = 0; i < p->classes.n; i++) {
        const char *word = p->classes.v[i];

        to[i] = label_index_of(&o->classes, word, strlen(word));
        if (to[i] < 0)
            return cr_error(p->diag, p->pos, CR_E_DATA_RANGE,
                            "LabelIndex: found '%s' in the data, expected one "
                            "of %s",
                            cr_quote(p->arena, word, strlen(word)),
                            label_index_all(p->arena, &o->classes));
    }
    p->self = to;
    return true;
}

static bool label_index_plan(struct cr_transform_plan *p)
{
    const struct label_index *o = p->opts;
    int i;

    for (i = 0; i < o->classes.n; i++)
        if (label_index_of(&o->classes, o->classes.v[i],
                           strlen(o->classes.v[i])) < i)
            return cr_error(p->diag, p->pos, CR_E_CONFLICT,
                            "LabelIndex: duplicate class '%s'",
                            o->classes.v[i]);
    if (p->in.rank != 0 || (p->in.type != CR_STRING &&
                            !(p->in.type == CR_I32 && p->classes.n > 0)))
        return cr_error(p->diag, p->pos, CR_E_DTYPE,
                        "LabelIndex: found %s %s, expected a string",
                        cr_type_name(p->in.type),
                        cr_diag_format(p->arena, &p->in));
    if (p->in.type == CR_I32 && !label_index_renumber(p))
        return false;
    p->out = (struct cr_spec){ .type = CR_I32 };
    p->classes = o->classes;
    return true;
}

static bool label_index_apply(struct cr_sample *s)
{
    const struct label_index *o = s->plan->opts;
    const struct cr_ragged *word = s->x;
    int32_t *to = s->y, from;

    if (s->plan->in.type == CR_I32) {
        memcpy(&from, s->x, sizeof from);
        *to = ((const int32_t *)s->plan->self)[from];
        return true;
    }
    *to = label_index_of(&o->classes, word->v, (size_t)word->n);
    return *to >= 0 ||
           cr_error(s->diag, s->plan->pos, CR_E_DATA_RANGE,
                    "LabelIndex: found '%s' in the data, expected one of %s",
                    cr_quote(s->diag->arena, word->v, (size_t)word->n),
                    label_index_all(s->diag->arena, &o->classes));
}

const struct cr_transform cr_transform_label_index = {
    .about = {
        .name = "LabelIndex",
        .summary = "Class indices of strings.",
        .detail = "Input: a column of strings; output int32. predict and "
                  "confusion matrices print these class names.",
        .example = "datapipe: {label: [{LabelIndex: {classes: [neg, "
                   "pos]}}]}\n",
        .opts = label_index_opts,
        .size = sizeof(struct label_index),
    },
    .plan = label_index_plan,
    .apply = label_index_apply,
    .ragged = true,
};
