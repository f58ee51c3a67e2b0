/* Whether two structures that option tables fill are alike. */
#include "conf/opt.h"

#include <string.h>

static bool lists_same(int64_t n, int64_t m, const void *x, const void *y,
                       size_t each)
{
    return n == m && (n == 0 || memcmp(x, y, (size_t)n * each) == 0);
}

static bool text_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Rows of other types are none of an op. */
static bool values_same(const struct cr_opt *row, const char *a, const char *b)
{
    const void *x = a + row->at, *y = b + row->at;
    const struct cr_ints *i = x, *k = y;
    const struct cr_reals *r = x, *s = y;
    const char *const *text = x, *const *other = y;

    switch (row->type) {
    case CR_OPT_INT:
        return memcmp(x, y, sizeof(int64_t)) == 0;
    case CR_OPT_REAL:
        return memcmp(x, y, sizeof(double)) == 0;
    case CR_OPT_BOOL:
        return memcmp(x, y, 1) == 0;
    case CR_OPT_STR:
        return text_same(*text, *other);
    case CR_OPT_ENUM:
        return memcmp(x, y, sizeof(int)) == 0;
    case CR_OPT_INTS:
        return lists_same(i->n, k->n, i->v, k->v, sizeof *i->v);
    case CR_OPT_REALS:
        return lists_same(r->n, s->n, r->v, s->v, sizeof *r->v);
    default:
        return false;
    }
}

bool cr_opts_same(const struct cr_opt *rows, const void *a, const void *b)
{
    if (a == b || !a || !b)
        return a == b;
    for (; rows && rows->name; rows++)
        if (!values_same(rows, a, b))
            return false;
    return true;
}
