#include "base/line_cursor.h"

#include <string.h>

static void begin(struct cr_line_cursor *c, const char *text)
{
    if (c->text != text)
        *c = (struct cr_line_cursor){ text, text, 1 };
}

static void back(struct cr_line_cursor *c)
{
    for (c->start--; c->start > c->text && c->start[-1] != '\n';)
        c->start--;
    c->line--;
}

void cr_line_cursor_at(struct cr_line_cursor *c, const char *text,
                       const char *at)
{
    const char *end;

    begin(c, text);
    while (c->start > at)
        back(c);
    while ((end = memchr(c->start, '\n', (size_t)(at - c->start)))) {
        c->start = end + 1;
        c->line++;
    }
}

const char *cr_line_cursor_to(struct cr_line_cursor *c, const char *text,
                              size_t len, int line)
{
    const char *end;

    begin(c, text);
    while (c->line > line && c->start > text)
        back(c);
    while (c->line < line) {
        end = memchr(c->start, '\n', (size_t)(text + len - c->start));
        if (!end)
            return NULL;
        c->start = end + 1;
        c->line++;
    }
    return c->start;
}
