#include "base/table.h"

#include <string.h>

#include "base/str.h"
#include "base/terminal.h"

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

/* ---- Fitting the terminal */

#define GAP 2      /* blanks between columns */
#define TEXT_MIN 6 /* columns of shortened text */
#define KEY_MIN 10 /* columns of a shortened key */
#define HEAD_MIN 4 /* columns of a shortened header */

struct column {
    bool right, key;
    int cells; /* columns of the widest cell below the header */
    int full;  /* of the widest cell */
    int width; /* to print; -1: omitted */
};

static void table_measure(const struct cr_table *t, struct column *column,
                          int n)
{
    for (int k = 0; k < n; k++) {
        column[k].right = t->align[k] == 'r' || t->align[k] == 'R';
        column[k].key = k == 0 || t->align[k] == 'L' || t->align[k] == 'R';
    }
    for (int i = 0; i < t->cells; i++) {
        struct column *c = &column[i % n];
        int columns = cr_text_columns(t->cell[i]);

        if (columns > c->full)
            c->full = columns;
        if ((i >= n || t->headless) && columns > c->cells)
            c->cells = columns;
    }
    for (int k = 0; k < n; k++)
        column[k].width = column[k].full;
}

static int table_sum(const struct column *column, int n)
{
    int sum = -GAP;

    for (int k = 0; k < n; k++)
        if (column[k].width >= 0)
            sum += column[k].width + GAP;
    return sum;
}

static int table_larger(int a, int b)
{
    return a > b ? a : b;
}

/* The smallest width of a column in a step of table_fit: 0: its header may be
 * shortened; 1: text; 2: keys. */
static int table_min(const struct column *c, int step)
{
    int head = c->full < HEAD_MIN ? c->full : HEAD_MIN;
    int min = c->key ? KEY_MIN : TEXT_MIN;

    if (step == 0 || c->right || (step == 1 && c->key))
        return table_larger(c->cells, head);
    return c->cells < min ? table_larger(c->cells, head) : min;
}

/* Makes columns narrower, the widest first, until the table fits. */
static void table_narrow(struct column *column, int n, int width)
{
    for (int step = 0; step < 3; step++)
        for (int over = table_sum(column, n) - width; over > 0; over--) {
            struct column *widest = NULL;

            for (int k = 0; k < n; k++)
                if (column[k].width > table_min(&column[k], step) &&
                    (!widest || column[k].width > widest->width))
                    widest = &column[k];
            if (!widest)
                break;
            widest->width--;
        }
}

/* Omits the last column that is not a key, else the last one; false if only
 * the first remains. */
static bool table_omit(struct column *column, int n)
{
    int last = 0;

    for (int k = 1; k < n; k++)
        if (column[k].width >= 0 &&
            (last == 0 || !column[k].key || column[last].key))
            last = k;
    column[last].width = last > 0 ? -1 : column[last].width;
    return last > 0;
}

static void table_fit(struct column *column, int n, int width)
{
    do {
        for (int k = 0; k < n; k++)
            if (column[k].width >= 0)
                column[k].width = column[k].full;
        table_narrow(column, n, width);
    } while (table_sum(column, n) > width && table_omit(column, n));
    if (table_sum(column, n) > width)
        column[0].width = width;
}

/* ---- Printing */

static void table_tabs(const struct cr_table *t, FILE *to)
{
    int columns = (int)strlen(t->align);

    for (int i = 0; i < t->cells; i++)
        fprintf(to, "%s%c", t->cell[i],
                i % columns == columns - 1 ? '\n' : '\t');
}

/* Names the columns that were omitted. */
static void table_hidden(const struct cr_table *t, const struct column *column,
                         int n, int width, FILE *to)
{
    struct cr_buf text = { .arena = t->arena };

    for (int k = 0; k < n; k++)
        if (column[k].width < 0 && !t->headless)
            cr_buf_f(&text, "%s%s", text.len > 0 ? ", " : "--wide adds ",
                     t->cell[k]);
    if (text.len > 0)
        fprintf(to, "%s\n",
                cr_text_shorten(t->arena, text.text, width, CR_CUT_END));
}

/* A header in fewer columns: of "eval.accuracy" the end counts. */
static const char *table_header(const struct cr_table *t, const char *text,
                                int width)
{
    const char *dot = strrchr(text, '.');

    if (!dot || cr_text_columns(text) <= width)
        return cr_text_shorten(t->arena, text, width, CR_CUT_END);
    if (cr_text_columns(dot) < width - 1)
        return cr_text_shorten(t->arena, text, width, CR_CUT_START);
    return cr_text_shorten(t->arena, dot + 1, width, CR_CUT_END);
}

static void table_cell(const struct cr_table *t, const struct column *c,
                       bool head, bool last, const char *text, FILE *to)
{
    int pad;

    if (c->width < c->full && head)
        text = table_header(t, text, c->width);
    else if (c->width < c->full)
        text = cr_text_shorten(t->arena, text, c->width,
                               c->key ? CR_CUT_MIDDLE : CR_CUT_END);
    pad = c->width - cr_text_columns(text);
    if (c->right)
        fprintf(to, "%*s%s", pad, "", text);
    else
        fprintf(to, "%s%*s", text, last ? 0 : pad, "");
    fputs(last ? "\n" : "  ", to);
}

void cr_table_print(const struct cr_table *t, FILE *to, bool tabs)
{
    int n = (int)strlen(t->align), last = 0;
    int width = to == stdout ? cr_terminal_width() : 0;
    struct column *column;

    if (tabs) {
        table_tabs(t, to);
        return;
    }
    column = CR_NEWS(t->arena, struct column, n + 1);
    table_measure(t, column, n);
    if (width > 0 && table_sum(column, n) > width)
        table_fit(column, n, width);
    for (int k = 0; k < n; k++)
        if (column[k].width >= 0)
            last = k;
    for (int i = 0; i < t->cells; i++)
        if (column[i % n].width >= 0)
            table_cell(t, &column[i % n], i < n && !t->headless, i % n == last,
                       t->cell[i], to);
    if (width > 0)
        table_hidden(t, column, n, width, to);
}

void cr_table_show(const struct cr_table *t, bool tabs)
{
    size_t columns = strlen(t->align);

    if (!tabs && columns > 0)
        cr_terminal_page(t->cells / (long)columns + 1);
    cr_table_print(t, stdout, tabs);
}
