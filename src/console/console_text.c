/*
 * The rows of the table and the bar as text of a given width.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/compiler.h"
#include "base/str.h"
#include "console/console.h"

const char *cr_duration(struct cr_arena *arena, double seconds)
{
    int64_t s;

    if (!(seconds >= 0 && seconds < 1e9))
        return "-:--";
    if (seconds < 9.95)
        return cr_strf(arena, "%.1fs", seconds);
    s = (int64_t)(seconds + 0.5);
    if (s < 60)
        return cr_strf(arena, "%" PRId64 "s", s);
    if (s < 3600)
        return cr_strf(arena, "%" PRId64 ":%02" PRId64, s / 60, s % 60);
    return cr_strf(arena, "%" PRId64 ":%02" PRId64 ":%02" PRId64, s / 3600,
                   s / 60 % 60, s % 60);
}

/* Up to n characters of a text, as bytes. */
static size_t text_cut(const char *text, int n)
{
    size_t at = 0, len = strlen(text);
    uint32_t code;
    int bytes;

    while (n-- > 0 && at < len) {
        bytes = cr_utf8(text + at, len - at, &code);
        at += bytes > 0 ? (size_t)bytes : 1;
    }
    return at;
}

static int text_width(const char *text)
{
    return (int)cr_utf8_count(text, strlen(text));
}

/* ---- Rows */

#define GAP 2 /* blanks between cells */

/* The cells that fit into the width, chosen by rank; the first one is always
 * shown. */
static uint32_t row_shown(const struct cr_table_layout *layout,
                          const struct cr_row_cell *cell, int n, int width)
{
    uint32_t tried = 1, shown = 1;
    int total = layout->width[0];

    for (int k = 1; k < n; k++) {
        int next = -1;

        for (int i = 1; i < n; i++)
            if (!(tried >> i & 1) &&
                (next < 0 || cell[i].rank < cell[next].rank))
                next = i;
        tried |= UINT32_C(1) << next;
        if (total + GAP + layout->width[next] > width)
            continue;
        shown |= UINT32_C(1) << next;
        total += GAP + layout->width[next];
    }
    return shown;
}

static void row_blanks(struct cr_buf *to, int n)
{
    for (; n > 0; n--)
        cr_buf_char(to, ' ');
}

/* One line: the names of the cells, or their texts. No blanks at its end. */
static void row_line(struct cr_buf *to, const struct cr_table_layout *layout,
                     const struct cr_row_cell *cell, int n, bool names,
                     int width, bool color)
{
    int at = 0, pad = 0;

    for (int i = 0; i < n; i++) {
        const char *text = names ? cell[i].name : cell[i].text;
        const char *begin = !color         ? ""
                            : names        ? "\033[1m"
                            : cell[i].green ? "\033[32m"
                                           : "";
        int len = text_width(text), rest = layout->width[i] - len;

        if (!(layout->shown >> i & 1))
            continue;
        if (cell[i].right)
            pad += rest;
        if (len > width - at - pad) /* only the first cell can be too wide */
            len = width - at - pad;
        if (len > 0) {
            row_blanks(to, pad);
            cr_buf_str(to, begin);
            cr_buf_add(to, text, text_cut(text, len));
            cr_buf_str(to, *begin ? "\033[0m" : "");
            at += pad + len;
            pad = 0;
        }
        pad += GAP + (cell[i].right ? 0 : rest);
    }
    cr_buf_char(to, '\n');
}

const char *cr_row_text(struct cr_arena *arena, struct cr_table_layout *layout,
                        const struct cr_row_cell *cell, int n, int width,
                        bool color)
{
    struct cr_buf b = { .arena = arena };
    struct cr_row_cell now[CR_CONSOLE_CELLS];
    uint32_t shown;

    if (n > CR_CONSOLE_CELLS)
        n = CR_CONSOLE_CELLS;
    for (int i = 0; i < n; i++) {
        int name = text_width(cell[i].name), text = text_width(cell[i].text);
        int max = name > text ? name : text;

        max = max > cell[i].min ? max : cell[i].min;
        if (layout->width[i] < max)
            layout->width[i] = max;
    }
    shown = row_shown(layout, cell, n, width);
    for (int i = 0; i < n; i++) {
        now[i] = cell[i];
        if (cell[i].repeats && shown == layout->shown)
            now[i].text = "";
    }
    if (shown != layout->shown) {
        layout->shown = shown;
        row_line(&b, layout, cell, n, true, width, color);
    }
    row_line(&b, layout, now, n, false, width, color);
    return cr_buf_text(&b);
}

/* ---- The bar */

enum {
    BAR_LABEL,
    BAR_BAR,
    BAR_STEPS,
    BAR_LOSS,
    BAR_SPARK,
    BAR_RATE,
    BAR_LEFT,
    BAR_PARTS
};

#define BAR_MIN 6    /* with its brackets */
#define BAR_MAX 40
#define SPARK_MIN 8
#define SPARK_MAX 32

/* The characters of a sparkline, from low to high. */
static const char *const spark_utf8[] = { "\u2581", "\u2582", "\u2583",
                                          "\u2584", "\u2585", "\u2586",
                                          "\u2587", "\u2588" };
static const char *const spark_ascii[] = { "_", ".", "-", "~", "^" };

/* A line of n characters, each the mean of one segment of the values, between
 * their minimum and maximum; logarithmic if all are positive. */
static void bar_spark(struct cr_buf *to, const struct cr_bar *bar, int n,
                      bool utf8)
{
    const char *const *levels = utf8 ? spark_utf8 : spark_ascii;
    int n_levels = utf8 ? CR_LEN(spark_utf8) : CR_LEN(spark_ascii);
    double mean[SPARK_MAX], low = INFINITY, high = -INFINITY;

    for (int i = 0; i < n; i++) {
        int from = i * bar->n_trend / n, end = (i + 1) * bar->n_trend / n;

        mean[i] = 0;
        for (int k = from; k < end; k++)
            mean[i] += bar->trend[k] / (end - from);
        low = fmin(low, mean[i]);
        high = fmax(high, mean[i]);
    }
    for (int i = 0; i < n; i++) {
        double at = low > 0 ? log(mean[i] / low) / log(high / low)
                            : (mean[i] - low) / (high - low);
        int level = (int)(at * n_levels); /* NAN: all are equal */

        cr_buf_str(to, levels[!(at > 0)           ? 0
                              : level < n_levels ? level
                                                 : n_levels - 1]);
    }
}

static void bar_part(struct cr_buf *to, const char *text)
{
    if (!*text)
        return;
    cr_buf_str(to, to->len ? "  " : "");
    cr_buf_str(to, text);
}

const char *cr_bar_text(struct cr_arena *arena, const struct cr_bar *bar,
                        int width, bool utf8)
{
    /* By descending importance; the short label is always shown. */
    static const int order[] = { BAR_LOSS, BAR_LEFT, BAR_BAR,  BAR_LABEL,
                                 BAR_STEPS, BAR_RATE, BAR_SPARK };
    const char *part[BAR_PARTS] = { "", "", "", "", "", "", "" };
    int size[BAR_PARTS] = { 0 }, length = 0, filled, spark, digits;
    struct cr_buf line = { .arena = arena }, b = { .arena = arena };
    bool has[BAR_PARTS] = { false };

    digits = snprintf(NULL, 0, "%" PRId64, bar->of);
    if (bar->of > 0)
        part[BAR_STEPS] = cr_strf(arena, "%*" PRId64 "/%" PRId64, digits,
                                  bar->at, bar->of);
    if (!isnan(bar->loss))
        part[BAR_LOSS] = cr_strf(arena, "loss %6.4f", bar->loss);
    if (bar->rate > 0)
        part[BAR_RATE] = cr_strf(arena, "%6.*f samples/s", bar->rate < 10,
                                 bar->rate);
    if (bar->of > 0 || !isnan(bar->left))
        part[BAR_LEFT] =
            cr_strf(arena, "%5s left", cr_duration(arena, bar->left));
    for (int i = 0; i < BAR_PARTS; i++)
        size[i] = *part[i] ? text_width(part[i]) + GAP : 0;
    size[BAR_BAR] = bar->of > 0 ? BAR_MIN + GAP : 0;
    spark = bar->n_trend < SPARK_MAX ? bar->n_trend : SPARK_MAX;
    size[BAR_SPARK] = spark >= SPARK_MIN ? SPARK_MIN + GAP : 0;
    length = text_width(bar->short_label);
    size[BAR_LABEL] = text_width(bar->label) - length;
    for (size_t i = 0; i < CR_LEN(order); i++) {
        int k = order[i];

        has[k] = size[k] > 0 && length + size[k] <= width;
        length += has[k] ? size[k] : 0;
    }
    /* The rest of the width is divided between bar and sparkline. */
    if (has[BAR_SPARK]) {
        if (spark > SPARK_MIN + (width - length) / 2)
            spark = SPARK_MIN + (width - length) / 2;
        length += spark - SPARK_MIN;
        bar_spark(&b, bar, spark, utf8);
        part[BAR_SPARK] = cr_buf_text(&b);
    }
    if (has[BAR_BAR]) {
        int inner = BAR_MIN - 2 + width - length;

        if (inner > BAR_MAX)
            inner = BAR_MAX;
        filled = (int)((double)bar->at / (double)bar->of * inner);
        b = (struct cr_buf){ .arena = arena };
        cr_buf_char(&b, '[');
        for (int i = 0; i < inner; i++)
            cr_buf_char(&b, i < filled ? '#' : ' ');
        cr_buf_char(&b, ']');
        part[BAR_BAR] = cr_buf_text(&b);
    }
    part[BAR_LABEL] = has[BAR_LABEL] ? bar->label : bar->short_label;
    cr_buf_add(&line, part[BAR_LABEL], text_cut(part[BAR_LABEL], width));
    for (int i = BAR_LABEL + 1; i < BAR_PARTS; i++)
        if (has[i])
            bar_part(&line, part[i]);
    return cr_buf_text(&line);
}
