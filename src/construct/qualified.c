/*
 * Names with the prefix of another language: self.conv(x), ops.relu(x),
 * torch.tanh(x). They are reported before a text is run, all of them at once,
 * with each line as it is written here.
 */
#include <string.h>

#include "base/str.h"
#include "construct/script_interp.h"

/* A prefix in a text: a name and the dot after it. */
struct prefix {
    const struct cr_script *e; /* the name with its prefix */
    size_t at, end;            /* of the prefix in the text */
};

#define PREFIXES_MAX 64 /* of one line */

struct prefixes {
    struct prefix of[PREFIXES_MAX];
    int n;
    bool ok;
};

static bool is_target(const struct cr_script_target *t, const char *name)
{
    for (int i = 0; i < t->n; i++)
        if (is_target(&t->items[i], name))
            return true;
    return t->name && strcmp(t->name, name) == 0;
}

static bool assigned(const struct cr_script_line *line, const char *name)
{
    for (; line; line = line->next)
        if (is_target(&line->target, name) || assigned(line->body, name) ||
            assigned(line->other, name))
            return true;
    return false;
}

/* Whether the text itself gives a name its meaning. */
static bool defined(struct cr_interp *m, const char *name)
{
    return cr_interp_var(m, name) || cr_interp_cell(m, name) ||
           assigned(m->lines, name);
}

static bool listed(const char *const *names, const char *name)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

/* self, ops, torch.nn.functional */
static bool module(struct cr_interp *m, const struct cr_script *e)
{
    static const char *const names[] = { "self",  "ops",   "F",     "P",
                                         "nn",    "ms",    "np",    "mint",
                                         "torch", "tf",    "keras", "mindspore",
                                         NULL };
    static const char *const inner[] = { "nn",     "functional", "ops",
                                         "linalg", "special",    "random",
                                         "keras",  "mint",       NULL };

    return e->op == CR_SCRIPT_MEMBER
               ? listed(inner, e->name) && module(m, e->args)
               : e->op == CR_SCRIPT_NAME && listed(names, e->name) &&
                     !defined(m, e->name);
}

/* Whether the name has a meaning without its prefix. A member of self always
 * has one: its cell may be missing, which is another error. */
static bool known(struct cr_interp *m, const struct cr_script *e)
{
    static const char *const words[] = { "shape", "grad", "hook_backward",
                                         NULL };

    return listed(words, e->name) || strcmp(e->args->name, "self") == 0 ||
           defined(m, e->name) || cr_registry_find(CR_KIND_OP, e->name) ||
           cr_interp_function(e->name) || cr_is_statement(e->name);
}

static void add_prefix(struct cr_interp *m, const struct cr_script *e,
                       struct prefixes *to)
{
    const char *s = m->text->text;
    size_t end = e->args->at + e->args->len;

    to->ok = false;
    if (!known(m, e)) {
        cr_interp_unknown(m, e, true);
        return;
    }
    end += strspn(s + end, " \t\n");
    end += s[end] == '.';
    end += strspn(s + end, " \t\n");
    if (to->n < PREFIXES_MAX)
        to->of[to->n++] = (struct prefix){ e, e->args->at, end };
}

static void find_prefixes(struct cr_interp *m, const struct cr_script *e,
                          struct prefixes *to)
{
    for (; e; e = e->next) {
        if ((e->op == CR_SCRIPT_MEMBER ||
             (e->op == CR_SCRIPT_CALL && e->method)) &&
            module(m, e->args)) {
            add_prefix(m, e, to);
            find_prefixes(m, e->args->next, to);
        } else {
            find_prefixes(m, e->args, to);
        }
    }
}

/* The line without its prefixes, on one line of text. */
static const char *corrected(struct cr_interp *m,
                             const struct cr_script_line *line,
                             const struct prefixes *all)
{
    struct cr_buf buf = { .arena = m->b->net->arena };
    const char *s = m->text->text;

    for (size_t i = line->at; i < line->at + line->len; i++) {
        for (int k = 0; k < all->n; k++)
            if (i == all->of[k].at)
                i = all->of[k].end;
        if (s[i] == '\n') {
            cr_buf_char(&buf, ' ');
            i += strspn(s + i, " \t\n") - 1;
        } else {
            cr_buf_char(&buf, s[i]);
        }
    }
    return cr_buf_text(&buf);
}

static bool report_lines(struct cr_interp *m, const struct cr_script_line *line)
{
    bool ok = true;

    for (; line; line = line->next) {
        struct prefixes all = { .ok = true };
        const struct cr_script *e;

        if (line->expr)
            find_prefixes(m, line->expr, &all);
        if (all.n > 0) {
            e = all.of[0].e;
            cr_interp_fail(m, e,
                           cr_strf(m->b->net->arena,
                                   "'%.*s%s': names have no prefix here",
                                   (int)(all.of[0].end - all.of[0].at),
                                   m->text->text + all.of[0].at, e->name));
            cr_hint(m->b->net->diag, "write '%s'", corrected(m, line, &all));
        }
        ok = report_lines(m, line->body) && ok;
        ok = report_lines(m, line->other) && ok && all.ok;
    }
    return ok;
}

bool cr_interp_no_prefixes(struct cr_interp *m)
{
    return report_lines(m, m->lines);
}
