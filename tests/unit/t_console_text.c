/* Rows of the table and the bar at all widths. */
#include <math.h>

#include "base/str.h"
#include "console/console.h"
#include "tap.h"

static struct cr_arena mem;

/* Characters without escapes; -1 for a byte that is not part of UTF-8. */
static int width_of(const char *text, size_t len)
{
    int n = 0;

    for (size_t i = 0; i < len;) {
        uint32_t code;
        int bytes = cr_utf8(text + i, len - i, &code);

        if (code == 033) {
            while (i < len && text[i] != 'm')
                i++;
            i++;
            continue;
        }
        if (bytes == 0)
            return -1;
        i += (size_t)bytes;
        n++;
    }
    return n;
}

static const double falling[] = { 9, 8, 7, 6, 5, 4, 3, 2, 1, 1, 1, 1 };

static const struct cr_bar busy = { .label = "epoch 3/10",
                                    .short_label = "3/10",
                                    .at = 120,
                                    .of = 938,
                                    .loss = 0.34214,
                                    .rate = 41000.4,
                                    .left = 83.2,
                                    .trend = falling,
                                    .n_trend = 12 };

static void bars(void)
{
    struct cr_bar bar = busy;

    same(cr_bar_text(&mem, &bar, 39, false),
         "3/10  [      ]  loss 0.3421   1:23 left", "a bar of 39 characters");
    same(cr_bar_text(&mem, &bar, 79, false),
         "epoch 3/10  [#            ]  120/938  loss 0.3421  "
         " 41000 samples/s   1:23 left",
         "a bar of 79 characters");
    same(cr_bar_text(&mem, &bar, 100, false),
         "epoch 3/10  [##                  ]  120/938  loss 0.3421  "
         "^^^^~~-.____  "
         " 41000 samples/s   1:23 left",
         "a bar of 100 characters has a sparkline");
    same(cr_bar_text(&mem, &bar, 3, false), "3/1", "a bar of 3 characters");
    bar.trend = (const double[]){ 1, 1, 1, 1, 1, 1, 1, 1 };
    bar.n_trend = 8;
    ok(strstr(cr_bar_text(&mem, &bar, 100, false), "  ________  "),
       "the sparkline of a constant");
    bar.trend = (const double[]){ -1, -0.5, 0, 0.5, 1, 1.5, 2, 3 };
    ok(strstr(cr_bar_text(&mem, &bar, 100, true),
              "\u2581\u2582\u2583\u2584\u2585\u2586\u2587\u2588"),
       "the sparkline of values of both signs");
    bar = (struct cr_bar){ .label = "x", .short_label = "x",
                           .loss = NAN, .left = NAN };
    same(cr_bar_text(&mem, &bar, 79, false), "x",
         "what is not known is omitted");
}

static void bar_widths(void)
{
    test_begin("no bar is wider than the terminal");
    for (int width = 0; width <= 250; width++)
        for (int utf8 = 0; utf8 < 2; utf8++) {
            const char *text = cr_bar_text(&mem, &busy, width, utf8);
            int is = width_of(text, strlen(text));

            if (!ok(is >= 0 && is <= width, "%d: %d", width, is))
                break;
        }
    test_end();
}

static void durations(void)
{
    same(cr_duration(&mem, 0.44), "0.4s", "tenths of a second");
    same(cr_duration(&mem, 59.4), "59s", "seconds");
    same(cr_duration(&mem, 59.6), "1:00", "minutes");
    same(cr_duration(&mem, 3599.7), "1:00:00", "hours");
    same(cr_duration(&mem, NAN), "-:--", "unknown");
}

static const struct cr_row_cell cells[] = {
    { .name = "epoch", .text = "3/10", .rank = 0, .right = true },
    { .name = "loss", .text = "0.3421", .rank = 1, .right = true },
    { .name = "accuracy", .text = "0.9193", .rank = 2, .right = true },
    { .name = "time", .text = "12s", .rank = 9, .right = true },
    { .name = "", .text = "best", .min = 4, .rank = 3, .green = true },
};
#define CELLS ((int)(sizeof cells / sizeof cells[0]))

static const char *row(struct cr_table_layout *layout, int width, bool color)
{
    return cr_row_text(&mem, layout, cells, CELLS, width, color);
}

static void rows(void)
{
    struct cr_table_layout wide = { 0 }, narrow = { 0 }, color = { 0 };

    same(row(&wide, 79, false), "epoch    loss  accuracy  time\n"
                                " 3/10  0.3421    0.9193   12s  best\n",
         "the first row has a header");
    same(row(&wide, 79, false), " 3/10  0.3421    0.9193   12s  best\n",
         "the next one has none");
    same(row(&wide, 30, false), "epoch    loss  accuracy\n"
                                " 3/10  0.3421    0.9193  best\n",
         "a header shows which cells a narrow terminal omits");
    same(row(&wide, 79, false), "epoch    loss  accuracy  time\n"
                                " 3/10  0.3421    0.9193   12s  best\n",
         "and that they are back");
    same(row(&narrow, 15, false), "epoch    loss\n 3/10  0.3421\n",
         "the most important cells remain");
    same(row(&narrow, 3, false), "epo\n 3/\n", "3 characters");
    ok(strstr(row(&color, 79, true), "\033[32mbest\033[0m\n"),
       "the best epoch is marked in colour");
}

/* A rate that the row before had, in a cell that narrow terminals omit. */
static void repeated(void)
{
    struct cr_row_cell cell[] = {
        { .name = "epoch", .text = "3/10", .right = true },
        { .name = "lr", .text = "0.01", .rank = 9, .repeats = true,
          .right = true },
        { .name = "", .text = "best", .min = 4, .rank = 1 },
    };
    struct cr_table_layout layout = { 0 };

    same(cr_row_text(&mem, &layout, cell, 3, 12, false),
         "epoch\n 3/10  best\n", "the rate is omitted");
    same(cr_row_text(&mem, &layout, cell, 3, 40, false),
         "epoch    lr\n 3/10  0.01  best\n",
         "an unchanged rate is shown below a new header");
    same(cr_row_text(&mem, &layout, cell, 3, 40, false),
         " 3/10        best\n", "and nowhere else");
    cell[1].repeats = false;
    same(cr_row_text(&mem, &layout, cell, 3, 40, false),
         " 3/10  0.01  best\n", "a changed one is");
}

static void row_widths(void)
{
    test_begin("no row is wider than the terminal");
    for (int width = 0; width <= 60; width++) {
        struct cr_table_layout layout = { 0 };
        const char *text = row(&layout, width, width % 2), *end;

        for (; *text; text = end + 1) {
            int is;

            end = strchr(text, '\n');
            is = width_of(text, (size_t)(end - text));
            ok(is >= 0 && is <= width, "%d: %d", width, is);
        }
    }
    test_end();
}

int main(void)
{
    bars();
    bar_widths();
    durations();
    rows();
    repeated();
    row_widths();
    cr_arena_free(&mem);
    return done();
}
