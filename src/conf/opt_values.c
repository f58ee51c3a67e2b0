/*
 * Options as text, as MindSpore prints the arguments of a cell:
 * in_channels=784, out_channels=10, has_bias=True.
 */
#include "conf/opt.h"

#include <inttypes.h>
#include <math.h>

#include "base/str.h"

static const char *values_ints(struct cr_arena *arena, const struct cr_ints *v)
{
    struct cr_buf b = { .arena = arena };

    for (int i = 0; i < v->n; i++)
        cr_buf_f(&b, "%s%" PRId64, i > 0 ? ", " : "", v->v[i]);
    return v->n == 1 ? cr_buf_text(&b)
                     : cr_strf(arena, "(%s)", cr_buf_text(&b));
}

static const char *values_reals(struct cr_arena *arena,
                                const struct cr_reals *v)
{
    struct cr_buf b = { .arena = arena };

    for (int i = 0; i < v->n; i++)
        cr_buf_f(&b, "%s%s", i > 0 ? ", " : "",
                 cr_real_text(arena, v->v[i]));
    return v->n == 1 ? cr_buf_text(&b)
                     : cr_strf(arena, "(%s)", cr_buf_text(&b));
}

/* NULL: not set, or not a number, string or boolean. */
static const char *values_one(struct cr_arena *arena, const struct cr_opt *row,
                              const void *at)
{
    const struct cr_ints *ints = at;
    const struct cr_reals *reals = at;

    switch (row->type) {
    case CR_OPT_INT:
        return *(const int64_t *)at == CR_INT_NONE
                   ? NULL
                   : cr_strf(arena, "%" PRId64, *(const int64_t *)at);
    case CR_OPT_REAL:
        return isnan(*(const double *)at)
                   ? NULL
                   : cr_real_text(arena, *(const double *)at);
    case CR_OPT_BOOL:
        return *(const unsigned char *)at > 1 ? NULL
               : *(const unsigned char *)at   ? "True"
                                              : "False";
    case CR_OPT_STR:
        return *(const char *const *)at;
    case CR_OPT_ENUM:
        return *(const int *)at < 0
                   ? NULL
                   : cr_opt_choices(arena, row)[*(const int *)at];
    case CR_OPT_INTS:
        return ints->n > 0 ? values_ints(arena, ints) : NULL;
    case CR_OPT_REALS:
        return reals->n > 0 ? values_reals(arena, reals) : NULL;
    default:
        return NULL;
    }
}

const char *cr_opts_text(struct cr_arena *arena,
                         const struct cr_descriptor *about, const void *opts)
{
    struct cr_buf b = { .arena = arena };

    for (const struct cr_opt *row = about->opts; row && row->name; row++) {
        const char *text =
            values_one(arena, row, (const char *)opts + row->at);

        if (text)
            cr_buf_f(&b, "%s%s=%s", b.len > 0 ? ", " : "", row->name, text);
    }
    return cr_buf_text(&b);
}
