#include "conf/search.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "conf/command_line.h"
#include "conf/environment.h"
#include "conf/help_tables.h"
#include "conf/terms.h"

/* The manual pages, sentence by sentence (man/plain). */
static const struct {
    const char *name, *text;
} search_pages[] = {
#include "conf/pages.inc"
};

struct search {
    struct cr_buf *buf;
    const char *words;
    int found;
};

static bool search_in(const char *text, const char *word, size_t len)
{
    for (; *text; text++)
        if (strncasecmp(text, word, len) == 0)
            return true;
    return false;
}

static bool search_match(const struct search *s, const char *name,
                         const char *sentence)
{
    for (const char *p = s->words + strspn(s->words, " "); *p;) {
        size_t len = strcspn(p, " ");

        if (!search_in(name, p, len) && !search_in(sentence, p, len))
            return false;
        p += len + strspn(p + len, " ");
    }
    return true;
}

static void search_sentence(struct search *s, const char *name,
                            const char *sentence)
{
    if (!search_match(s, name, sentence))
        return;
    cr_buf_f(s->buf, "%s: %s\n", name, sentence);
    s->found++;
}

/* Searches a text of several sentences. A sentence ends with a full stop before
 * a blank and a capital. */
static void search_text(struct search *s, const char *name, const char *text)
{
    struct cr_buf one = { .arena = s->buf->arena };

    for (; text && *text; text++) {
        cr_buf_char(&one, *text == '\n' ? ' ' : *text);
        if (!text[1] || (*text == '.' && isspace((unsigned char)text[1]) &&
                         isupper((unsigned char)text[2]))) {
            search_sentence(s, name, cr_buf_text(&one));
            one = (struct cr_buf){ .arena = s->buf->arena };
            text += text[1] != '\0';
        }
    }
}

static void search_rows(struct search *s, const struct cr_opt *rows,
                        const char *above, bool flags)
{
    for (const struct cr_opt *row = rows; row && row->name; row++) {
        struct cr_arena *arena = s->buf->arena;
        const char *path =
            flags ? cr_strf(arena, "%s %s", above, cr_flag_name(arena, row))
                  : cr_strf(arena, "%s.%s", above, row->name);

        search_text(s, path, row->doc);
        if (row->type == CR_OPT_SUB)
            search_rows(s, row->sub, path, false);
    }
}

static void search_kind(struct search *s, enum cr_kind kind)
{
    for (const struct cr_descriptor *const *p = cr_registry_list(kind); *p;
         p++) {
        const struct cr_descriptor *about = *p;
        bool command = kind == CR_KIND_COMMAND;
        const char *name = command ? cr_strf(s->buf->arena, "cellrun %s",
                                             about->name)
                                   : about->name;

        if (about->internal)
            continue;
        search_text(s, name, about->summary);
        search_text(s, name, about->detail);
        search_rows(s, about->opts, name, command);
    }
}

int cr_search(struct cr_buf *buf, const char *words)
{
    struct search s = { .buf = buf, .words = words };

    for (const struct cr_term *t = cr_terms; t->words; t++)
        search_sentence(&s, t->words,
                        cr_strf(buf->arena, "%s (%s)", t->text, t->names));
    for (int k = CR_KINDS - 1; k >= 0; k--)
        search_kind(&s, (enum cr_kind)k);
    search_rows(&s, cr_cli_rows, "cellrun", true);
    for (const struct cr_doc_entry *w = cr_keywords; w->name; w++)
        search_text(&s, w->name, w->text);
    for (const struct cr_env *v = cr_env_list; v->name; v++)
        search_text(&s, v->name, v->text);
    for (const struct cr_status *x = cr_statuses; x->code; x++)
        search_text(&s, cr_strf(buf->arena, "exit %s", x->code), x->text);
    for (int i = 0; i < CR_E_COUNT; i++) {
        const char *number = cr_code_number((enum cr_code)i);

        search_sentence(&s, number, cr_code_title((enum cr_code)i));
        search_text(&s, number, cr_code_text((enum cr_code)i));
    }
    for (size_t i = 0; i < CR_LEN(search_pages); i++)
        search_sentence(&s, search_pages[i].name, search_pages[i].text);
    return s.found;
}
