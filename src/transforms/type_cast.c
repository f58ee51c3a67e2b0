/* TypeCast: conversion to another element type (cr_convert in num/spec.h). */
#include "data/transform.h"

struct type_cast {
    const char *data_type;
};

static const struct cr_opt type_cast_opts[] = {
    CR_STR(struct type_cast, data_type,
           "Name of the type, as in MindSpore: int32, float32, uint8, bool "
           "..."),
    { 0 },
};

static bool type_cast_plan(struct cr_transform_plan *p)
{
    const struct type_cast *o = p->opts;
    const char *names[CR_TYPES + 1];
    enum cr_type type;
    int i, n = 0;

    if (!cr_type_find(o->data_type, &type) || type == CR_STRING) {
        for (i = CR_I32; i < CR_STRING; i++)
            names[n++] = cr_type_name((enum cr_type)i);
        names[n] = NULL;
        cr_error(p->diag, p->pos, CR_E_UNKNOWN_TYPE, "type '%s' not found",
                 o->data_type);
        if (cr_closest_name(o->data_type, names))
            cr_hint(p->diag, "did you mean '%s'?",
                    cr_closest_name(o->data_type, names));
        return false;
    }
    if (p->in.type == CR_STRING)
        return cr_error(p->diag, p->pos, CR_E_DTYPE,
                        "TypeCast: found text, expected numbers");
    p->out = p->in;
    p->out.type = type;
    return true;
}

static bool type_cast_apply(struct cr_sample *s)
{
    cr_convert(s->plan->in.type, s->x, s->plan->out.type, s->y,
               cr_count(&s->plan->in));
    return true;
}

const struct cr_transform cr_transform_type_cast = {
    .about = {
        .name = "TypeCast",
        .summary = "Converts to another element type.",
        .detail = "As C converts: to integers toward zero, 8-bit results wrap, "
                  "values that do not fit int32 or int64 become the smallest "
                  "one.",
        .example = "datapipe: {label: [{TypeCast: {data_type: int32}}]}\n",
        .opts = type_cast_opts,
        .size = sizeof(struct type_cast),
    },
    .plan = type_cast_plan,
    .apply = type_cast_apply,
};
