#include "train/require.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

static const char *const require_ops[] = { ">=", "<=", "==", "!=", ">", "<" };
enum { GE, LE, EQ, NE, GT, LT };

struct side {
    const char *name;       /* NULL: this side is a number */
    double number;
};

struct cr_require {
    struct side left, right;
    int op;
    const char *text;
    struct cr_require *next;
};

static const char *require_skip(const char *p)
{
    while (isspace((unsigned char)*p))
        p++;
    return p;
}

/* Reads a name or a number; NULL if the text is neither. */
static const char *require_side(struct cr_diag *diag, const char *p,
                                struct side *to)
{
    size_t len = 0;
    char *end;

    p = require_skip(p);
    if (isalpha((unsigned char)*p) || *p == '_') {
        while (isalnum((unsigned char)p[len]) || p[len] == '_' ||
               p[len] == '.')
            len++;
        to->name = cr_strndup(diag->arena, p, len);
        return p + len;
    }
    to->number = strtod(p, &end);
    return end > p && isfinite(to->number) ? end : NULL;
}

static const char *require_op(const char *p, int *op)
{
    p = require_skip(p);
    for (*op = 0; *op < (int)CR_LEN(require_ops); ++*op)
        if (cr_starts(p, require_ops[*op]))
            return p + strlen(require_ops[*op]);
    return NULL;
}

static struct cr_require *require_wrong(struct cr_diag *diag,
                                        const char *text)
{
    cr_error(
        diag, CR_NOWHERE, CR_E_USAGE,
        "--require: found '%s', expected a comparison such as 'accuracy>=0.97'",
        cr_quote(diag->arena, text, strlen(text)));
    return NULL;
}

struct cr_require *cr_require_read(struct cr_diag *diag, const char *text)
{
    struct cr_require *first = NULL, **next = &first;
    const char *p = text;

    while (p) {
        struct cr_require *r = CR_NEW(diag->arena, struct cr_require);
        const char *from = require_skip(p);

        p = require_side(diag, p, &r->left);
        p = p ? require_op(p, &r->op) : NULL;
        p = p ? require_side(diag, p, &r->right) : NULL;
        if (!p || (!r->left.name && !r->right.name))
            return require_wrong(diag, text);
        r->text = cr_strndup(diag->arena, from, (size_t)(p - from));
        *next = r;
        next = &r->next;
        p = require_skip(p);
        if (*p == ',')
            p++;
        else if (cr_starts(p, "and") && isspace((unsigned char)p[3]))
            p += 3;
        else if (!*p)
            break;
        else
            return require_wrong(diag, text);
    }
    return first;
}

static bool require_holds(int op, double a, double b)
{
    switch (op) {
    case GE:
        return a >= b;
    case LE:
        return a <= b;
    case EQ:
        return a == b;
    case NE:
        return a != b;
    case GT:
        return a > b;
    default:
        return a < b;
    }
}

bool cr_require_check(struct cr_diag *diag, const struct cr_require *require,
                      bool only_names,
                      bool (*value)(void *ctx, const char *name, double *to),
                      void *ctx)
{
    bool ok = true;

    for (const struct cr_require *r = require; r; r = r->next) {
        const struct side *side[2] = { &r->left, &r->right };
        struct cr_buf found = { .arena = diag->arena };
        double number[2] = { 0 };
        bool known = true;

        for (int i = 0; i < 2; i++) {
            number[i] = side[i]->number;
            if (!side[i]->name)
                continue;
            if (!value(ctx, side[i]->name, &number[i]))
                known =
                    cr_error(diag, CR_NOWHERE, CR_E_USAGE,
                             "--require: metric '%s' not found", side[i]->name);
            cr_buf_f(&found, "%s%s is %.6g", found.len ? ", " : "",
                     side[i]->name, number[i]);
        }
        if (known && !only_names &&
            !require_holds(r->op, number[0], number[1]))
            known = cr_error(diag, CR_NOWHERE, CR_E_NOT_MET,
                             "not met: %s, required %s", cr_buf_text(&found),
                             r->text);
        ok = known && ok;
    }
    return ok;
}
