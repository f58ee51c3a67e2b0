#include "score/require.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "conf/terms.h"

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

/* rest: what cannot be read; NULL: something is missing. */
static struct cr_require *require_wrong(struct cr_diag *diag,
                                        const char *text, const char *rest)
{
    cr_error(
        diag, CR_NOWHERE, CR_E_USAGE,
        "--require: found '%s', expected a comparison such as 'accuracy>=0.97'",
        cr_quote(diag->arena, text, strlen(text)));
    if (rest && *rest == '%')
        cr_hint(diag, "a fraction is written as a number: 0.9 for 90 %%");
    else if (rest && *rest == '=')
        cr_hint(diag, "write == for equality, >= for at least");
    return NULL;
}

/* Warns if a metric from 0 to 1 is compared with a percentage. */
static void require_fraction(struct cr_diag *diag, const struct cr_require *r)
{
    static const char *const fractions[] = {
        "accuracy", "top_1_accuracy", "top_5_accuracy", "balanced_accuracy",
        "precision", "recall", "F1", "auc", "pr_auc", "dice", NULL };
    const struct side *name = r->left.name ? &r->left : &r->right;
    double number = r->left.name ? r->right.number : r->left.number;
    const char *bare = strrchr(name->name, '.');

    if ((r->left.name && r->right.name) || number <= 1)
        return;
    bare = bare ? bare + 1 : name->name;
    for (int i = 0; fractions[i]; i++)
        if (strcmp(bare, fractions[i]) == 0) {
            cr_warn(diag, CR_NOWHERE, CR_E_USAGE,
                    "--require: found %s, expected a number from 0 to 1: %s "
                    "is a fraction", r->text, bare);
            cr_hint(diag, "write %g instead of %g", number / 100, number);
        }
}

struct cr_require *cr_require_read(struct cr_diag *diag, const char *text)
{
    struct cr_require *first = NULL, **next = &first;
    const char *p = text;

    while (p) {
        struct cr_require *r = CR_NEW(diag->arena, struct cr_require);
        const char *from = require_skip(p), *rest;

        p = rest = require_side(diag, p, &r->left);
        p = p ? require_op(p, &r->op) : NULL;
        if (rest && !p)
            return require_wrong(diag, text, require_skip(rest));
        p = p ? require_side(diag, p, &r->right) : NULL;
        if (!p || (!r->left.name && !r->right.name))
            return require_wrong(diag, text, NULL);
        r->text = cr_strndup(diag->arena, from, (size_t)(p - from));
        if (*require_skip(p) != '%')
            require_fraction(diag, r);
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
            return require_wrong(diag, text, p);
    }
    return first;
}

static void require_unknown(struct cr_diag *diag, const char *name,
                            const char *const *names)
{
    struct cr_buf all = { .arena = diag->arena };
    const char *bare = strrchr(name, '.');

    cr_error(diag, CR_NOWHERE, CR_E_USAGE, "--require: metric '%s' not found",
             name);
    if (!names || !names[0])
        return;
    cr_term_hint_name(diag, bare ? bare + 1 : name, names);
    for (int i = 0; names[i]; i++)
        cr_buf_f(&all, " %s", names[i]);
    cr_note(diag, "metrics:%s; others are added by the section metrics",
            cr_buf_text(&all));
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
                      void *ctx, const char *const *names)
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
            if (!value(ctx, side[i]->name, &number[i])) {
                require_unknown(diag, side[i]->name, names);
                known = false;
            }
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
