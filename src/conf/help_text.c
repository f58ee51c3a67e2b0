#include "conf/help_text.h"

#include <stdlib.h>
#include <string.h>

#include "conf/environment.h"
#include "conf/help_tables.h"
#include "conf/terms.h"

enum {
    WIDTH = 79
};

void cr_help_wrap(struct cr_buf *buf, const char *text, int indent, int at)
{
    while (*text) {
        size_t n = strcspn(text, " \n");

        if (at > indent && at + 1 + (int)n > WIDTH) {
            cr_buf_char(buf, '\n');
            at = 0;
        }
        if (at < indent) {
            cr_buf_f(buf, "%*s", indent - at, "");
            at = indent;
        } else if (at > indent) {
            cr_buf_char(buf, ' ');
            at++;
        }
        cr_buf_add(buf, text, n);
        at += (int)n;
        text += n;
        if (*text == '\n') {
            cr_buf_char(buf, '\n');
            at = 0;
        }
        text += *text != '\0';
    }
    if (at > 0)
        cr_buf_char(buf, '\n');
}

void cr_help_lines(struct cr_buf *buf, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "\n");

        cr_buf_str(buf, "  ");
        cr_buf_add(buf, text, n);
        cr_buf_char(buf, '\n');
        text += n + (text[n] == '\n');
    }
}

void cr_help_item(struct cr_buf *buf, const char *name, const char *text,
                      int column)
{
    int at = 2 + (int)strlen(name);

    cr_buf_f(buf, "  %s", name);
    if (at + 2 > column) {
        cr_buf_char(buf, '\n');
        at = 0;
    }
    cr_help_wrap(buf, text, column, at);
}

static const char *help_flag(struct cr_arena *arena, const struct cr_opt *row)
{
    const char *value = cr_flag_value(arena, row);
    const char *name = cr_flag_name(arena, row);

    return cr_strf(arena, "%s%s%s%s",
                   row->flag ? cr_strf(arena, "-%c, ", row->flag) : "    ",
                   name, *value && *value != '[' ? " " : "", value);
}

void cr_help_rows(struct cr_buf *buf, const struct cr_opt *rows, bool flags,
                      const char *above)
{
    struct cr_arena *arena = buf->arena;

    for (const struct cr_opt *row = rows; row && row->name; row++) {
        const char *what = cr_opt_facts(arena, row);

        if (flags) {
            const char *preset = cr_opt_default(arena, row);

            cr_help_item(buf, help_flag(arena, row),
                      preset && row->type != CR_OPT_BOOL && !row->implicit_value
                          ? cr_strf(arena, "%s (%s)", row->doc, preset)
                          : row->doc,
                      28);
            continue;
        }
        cr_help_item(buf, cr_strf(arena, "%s%s", above, row->name), what, 26);
        cr_help_wrap(buf, row->doc, 6, 0);
        if (row->type == CR_OPT_SUB)
            cr_help_rows(buf, row->sub, false,
                      cr_strf(arena, "%s%s.", above, row->name));
    }
}

static void help_codes(struct cr_buf *buf)
{
    for (int i = 0; i < CR_E_COUNT; i++)
        cr_help_item(buf, cr_code_number((enum cr_code)i),
                  cr_strf(buf->arena, "%s (exit %d)",
                          cr_code_title((enum cr_code)i),
                          cr_code_exit((enum cr_code)i)),
                  9);
}

static void help_variable(struct cr_buf *buf, const struct cr_env *v)
{
    const char *value = getenv(v->name);

    cr_help_item(buf, v->name, v->text, 23);
    if (value)
        cr_buf_f(buf, "%23snow: %s\n", "",
                 cr_quote(buf->arena, value, strlen(value)));
}

static void help_environment(struct cr_buf *buf)
{
    for (const struct cr_env *v = cr_env_list; v->name; v++)
        help_variable(buf, v);
}

static void help_exit(struct cr_buf *buf)
{
    for (const struct cr_status *s = cr_statuses; s->code; s++)
        cr_help_item(buf, s->code, s->text, 9);
}

static void help_keywords(struct cr_buf *buf)
{
    for (const struct cr_doc_entry *w = cr_keywords; w->name; w++)
        cr_help_item(buf, w->name, w->text, 16);
}

static void help_terms(struct cr_buf *buf)
{
    for (const struct cr_term *t = cr_terms; t->words; t++) {
        cr_help_wrap(buf, t->words, 2, 0);
        cr_help_wrap(buf, t->names, 6, 0);
    }
}

bool cr_help_variable(struct cr_buf *buf, const char *name)
{
    for (const struct cr_env *v = cr_env_list; v->name; v++)
        if (strcmp(v->name, name) == 0) {
            cr_buf_f(buf, "%s: environment variable\n", name);
            help_variable(buf, v);
            return true;
        }
    return false;
}

bool cr_help_list(struct cr_buf *buf, const char *name)
{
    static const struct {
        const char *name;
        void (*list)(struct cr_buf *buf);
    } lists[] = {
        { "codes", help_codes },
        { "environment", help_environment },
        { "exit", help_exit },
        { "terms", help_terms },
        { "keywords", help_keywords },
        { "words", help_keywords }, /* its name in cellrun 0.1 */
    };

    for (size_t i = 0; i < CR_LEN(lists); i++)
        if (strcmp(lists[i].name, name) == 0) {
            lists[i].list(buf);
            return true;
        }
    return false;
}
