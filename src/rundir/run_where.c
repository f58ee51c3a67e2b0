#include "rundir/run_where.h"

#include <stdlib.h>
#include <string.h>

struct where_term {
    const char *name, *op, *value;
    bool number, path; /* path: of the run */
    double real;
};

struct where {
    int n;
    struct where_term *term;
};

/* The end of a term is a comma or the word `and`; *next is the text after
 * it. */
static char *where_term_end(char *text, char **next)
{
    char *comma = strchr(text, ','), *word = strstr(text, " and ");

    if (word && (!comma || word < comma)) {
        *next = word + 5;
        return word;
    }
    *next = comma ? comma + 1 : NULL;
    return comma;
}

/* Reads one comparison. */
static bool where_term_read(struct cr_runs *runs, char *text,
                            struct where_term *t)
{
    static const char *const ops[] = { ">=", "<=", "!=", "==", ">", "<", "=" };
    const char *whole = cr_quote(runs->arena, text, strlen(text));
    char *at = strpbrk(text, "<>=!"), *rest;

    for (size_t i = 0; at && !t->op && i < CR_LEN(ops); i++)
        if (cr_starts(at, ops[i]))
            t->op = ops[i];
    if (t->op) {
        t->value = cr_run_trim(at + strlen(t->op));
        *at = '\0';
        t->name = cr_run_trim(text);
    }
    if (!t->op || !*t->name || (*t->value && strchr("<>=!", *t->value)))
        return cr_error(runs->diag, CR_NOWHERE, CR_E_USAGE,
                        "--where: found '%s', expected a comparison "
                        "such as accuracy>0.9",
                        whole);
    t->path = cr_run_is_path(t->name);
    t->real = strtod(t->value, &rest);
    t->number = rest != t->value && *rest == '\0';
    if (!t->number && (*t->op == '<' || *t->op == '>'))
        return cr_error(runs->diag, CR_NOWHERE, CR_E_USAGE,
                        "--where: found '%s', but %s compares with a number",
                        whole, t->op);
    return true;
}

static bool where_read(struct cr_runs *runs, const char *expr,
                       struct where *to)
{
    char *text, *next, *end;

    text = cr_strdup(runs->arena, expr);
    to->term = CR_NEWS(runs->arena, struct where_term, strlen(text) + 1);
    for (; text; text = next) {
        end = where_term_end(text, &next);
        if (end)
            *end = '\0';
        if (!where_term_read(runs, text, &to->term[to->n++]))
            return false;
    }
    return true;
}

/* A run without the value fails every comparison except "!=". */
static bool where_holds(struct cr_runs *runs, struct cr_run *run,
                        const struct where_term *t)
{
    const struct cr_node *node = cr_run_value(runs, run, t->name);
    char op = t->op[0];
    double order;

    if (t->number && node &&
        (node->kind == CR_NODE_INT || node->kind == CR_NODE_REAL))
        order = node->real - t->real;
    else if (op == '<' || op == '>')
        return false;
    else
        order = strcmp(t->path ? run->path : cr_run_text(runs->arena, node),
                       t->value);
    if (op == '=')
        return order == 0;
    if (op == '!')
        return order != 0;
    if (t->op[1] == '=' && order == 0)
        return true;
    return op == '<' ? order < 0 : order > 0;
}

bool cr_runs_where(struct cr_runs *runs, const char *expr)
{
    struct where where = { 0 };
    int n = 0;

    if (!where_read(runs, expr, &where))
        return false;
    for (int k = 0; k < where.n; k++)
        if (!cr_runs_has(runs, "--where", where.term[k].name))
            return false;
    for (int i = 0; i < runs->n; i++) {
        bool holds = true;

        for (int k = 0; holds && k < where.n; k++)
            holds = where_holds(runs, &runs->run[i], &where.term[k]);
        if (holds)
            runs->run[n++] = runs->run[i];
    }
    runs->n = n;
    return true;
}
