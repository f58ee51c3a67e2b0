#include "base/table.h"

#include <string.h>

#include "base/str.h"

const char *cr_escape(struct cr_arena *arena, const char *text)
{
    struct cr_buf to = { .arena = arena };
    const char *p = text;
    size_t left;

    while (*p >= ' ' && *p <= '~')
        p++;
    if (!*p)
        return text;
    cr_buf_add(&to, text, (size_t)(p - text));
    for (left = strlen(p); left > 0;) {
        uint32_t code;
        int len = cr_utf8(p, left, &code);
        size_t n = len > 0 ? (size_t)len : 1;

        cr_buf_str(&to, cr_quote(arena, p, n));
        p += n;
        left -= n;
    }
    return cr_buf_text(&to);
}

void cr_table_add(struct cr_table *t, const char *text)
{
    if (t->cells == t->cap) {
        t->cap = 2 * t->cap + 64;
        t->cell = cr_grow(t->arena, t->cell, (size_t)t->cells, (size_t)t->cap,
                          sizeof *t->cell);
    }
    t->cell[t->cells++] = cr_escape(t->arena, text);
}

void cr_table_f(struct cr_table *t, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    cr_table_add(t, cr_vstrf(t->arena, format, args));
    va_end(args);
}

static int table_width(const char *text)
{
    return (int)cr_utf8_count(text, strlen(text));
}

void cr_table_print(const struct cr_table *t, FILE *to, bool tabs)
{
    int columns = (int)strlen(t->align);
    int *width = CR_NEWS(t->arena, int, columns);

    for (int i = 0; i < t->cells; i++) {
        int n = table_width(t->cell[i]);

        if (n > width[i % columns])
            width[i % columns] = n;
    }
    for (int i = 0; i < t->cells; i++) {
        int k = i % columns, pad = width[k] - table_width(t->cell[i]);
        const char *end = k == columns - 1 ? "\n" : tabs ? "\t" : "  ";

        if (tabs)
            fprintf(to, "%s%s", t->cell[i], end);
        else if (t->align[k] == 'r')
            fprintf(to, "%*s%s%s", pad, "", t->cell[i], end);
        else if (k == columns - 1)
            fprintf(to, "%s%s", t->cell[i], end);
        else
            fprintf(to, "%s%*s%s", t->cell[i], pad, "", end);
    }
}
