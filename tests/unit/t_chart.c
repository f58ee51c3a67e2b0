/*
 * Charts: ticks and places that a ruler gives, elements that are counted in
 * the SVG, texts that are escaped.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/compiler.h"
#include "chart/scale.h"
#include "tap.h"

static struct cr_arena mem;

/* ---- Scales */

static const char *ticks(const struct cr_scale *s)
{
    struct cr_buf b = { .arena = &mem };

    for (int i = 0; i < s->n; i++)
        cr_buf_f(&b, "%s%s", i ? " " : "", s->text[i]);
    return cr_buf_text(&b);
}

static struct cr_scale scale(enum cr_chart_scale kind, double min, double max,
                             int want, bool round)
{
    struct cr_chart_axis axis = { .scale = kind };

    return cr_scale_make(&mem, &axis, min, max, want, round);
}

static void test_ticks(void)
{
    static const struct {
        enum cr_chart_scale kind;
        double min, max;
        bool round;
        const char *want;
    } rows[] = {
        { CR_SCALE_LINEAR, 0.03, 2.31, true, "0.0 0.5 1.0 1.5 2.0 2.5" },
        { CR_SCALE_LINEAR, 0, 471, false, "0 100 200 300 400" },
        { CR_SCALE_LINEAR, -3, 7, true, "-4 -2 0 2 4 6 8" },
        { CR_SCALE_LINEAR, 0.8931, 0.9442, true,
          "0.89 0.90 0.91 0.92 0.93 0.94 0.95" },
        { CR_SCALE_LINEAR, 0, 3e7, true,
          "0 5e6 1e7 1.5e7 2e7 2.5e7 3e7" },
        { CR_SCALE_LINEAR, 0, 4e-7, true, "0 1e-7 2e-7 3e-7 4e-7" },
        { CR_SCALE_LINEAR, 5, 5, true, "2 3 4 5 6 7 8" },
        { CR_SCALE_LINEAR, 1, 0, true, "0.0 0.2 0.4 0.6 0.8 1.0" },
        { CR_SCALE_LOG, 1e-6, 5, false, "1e-6 0.0001 0.01 1" },
        { CR_SCALE_LOG, 0.03, 2.31, true,
          "0.02 0.05 0.1 0.2 0.5 1 2 5" },
        { CR_SCALE_LOG, 1.5, 2.5, false,
          "1.6 1.8 2.0 2.2 2.4" },
        { CR_SCALE_LOG, 5, -5, false, "1 2 5 10" },
        { CR_SCALE_DURATION, 0, 100, false, "0 30 s 60 s 90 s" },
        { CR_SCALE_DURATION, 0, 5400, false, "0 15 min 30 min 45 min 60 min "
                                             "75 min 90 min" },
        { CR_SCALE_DURATION, 0, 90000, false, "0 6 h 12 h 18 h 24 h" },
        { CR_SCALE_DURATION, 0, 0.9, false, "0 0.2 s 0.4 s 0.6 s 0.8 s" },
    };

    test_begin("ticks are round numbers");
    for (size_t i = 0; i < CR_LEN(rows); i++) {
        struct cr_scale s = scale(rows[i].kind, rows[i].min, rows[i].max, 6,
                                  rows[i].round);

        same(ticks(&s), rows[i].want, "ticks");
    }
    test_end();
}

static void test_places(void)
{
    struct cr_scale s = scale(CR_SCALE_LINEAR, 0, 4, 4, false);
    struct cr_scale l = scale(CR_SCALE_LOG, 0.01, 100, 4, false);

    ok(cr_scale_at(&s, 1) == 0.25 && fabs(cr_scale_at(&l, 1) - 0.5) < 1e-12,
       "a value is where a ruler has it, linear or logarithmic");
    ok(isnan(cr_scale_at(&l, 0)) && isnan(cr_scale_at(&l, -1)) &&
           isnan(cr_scale_at(&s, (double)NAN)) &&
           isnan(cr_scale_at(&s, INFINITY)),
       "0 on a logarithmic scale and what is not finite has no place");
}

/* ---- Charts */

static int count(const char *text, const char *what)
{
    int n = 0;

    for (text = strstr(text, what); text; text = strstr(text + 1, what))
        n++;
    return n;
}

/* Elements are closed in order, and no coordinate is missing. */
static bool is_sound(const char *svg)
{
    int open = 0;

    for (const char *p = strchr(svg, '<'); p; p = strchr(p + 1, '<')) {
        const char *end = strchr(p, '>');

        if (!end)
            return false;
        open += p[1] == '/' ? -1 : end[-1] == '/' ? 0 : 1;
        if (open < 0)
            return false;
    }
    return open == 0 && cr_starts(svg, "<svg ") && cr_ends(svg, "</svg>\n") &&
           !strstr(svg, "nan") && !strstr(svg, "inf\"");
}

static const char *curves(const struct cr_chart_curve *c, int n)
{
    struct cr_chart chart = { .arena = &mem,
                              .x = { .label = "step" },
                              .y = { .label = "loss" } };
    struct cr_buf b = { .arena = &mem };

    cr_chart_curves(&b, &chart, c, n);
    return cr_buf_text(&b);
}

static void test_curves(void)
{
    double x[] = { 0, 1, 2, 3, 4 }, y[] = { 4, 2, (double)NAN, 1, 0 };
    double low[] = { 3, 1, 1, 0, 0 }, high[] = { 5, 3, 3, 2, 1 };
    struct cr_chart_curve c = { .name = "a<b>&\"\x01\xff", .n = 5, .x = x,
                                .y = y };
    const char *svg = curves(&c, 1), *path;

    ok(is_sound(svg), "a line chart is a sound SVG");
    path = strstr(svg, "class=\"curve c1\" d=\"");
    path = path ? strstr(path, "d=\"") + 3 : "";
    path = cr_strndup(&mem, path, strcspn(path, "\""));
    ok(count(path, "M") == 2 && count(path, "L") == 2,
       "a value that is not finite is a gap in the line");
    ok(strstr(svg, "a&#60;b&#62;&#38;&#34;\xef\xbf\xbd\xef\xbf\xbd") &&
           !strstr(svg, "a<b>"),
       "names are escaped");
    ok(strstr(svg, "Line chart of loss over step.") &&
           strstr(svg, "4 at 0 to 0 at 4, minimum 0, maximum 4."),
       "the description says what is drawn");
    same(curves(&c, 1), svg, "the same data give the same bytes");
    c.low = low;
    c.high = high;
    svg = curves(&c, 1);
    ok(is_sound(svg) && count(svg, "class=\"band c1\"") == 1 &&
           count(svg, "Z") == 1,
       "a band is an area around the line");
    c.points = true;
    c.name = NULL;
    ok(count(curves(&c, 1), "<circle class=\"dot c1\" cx") == 4 &&
           !strstr(curves(&c, 1), "class=\"curve c1\" d=\"M0"),
       "points are circles without a line");
    c.points = false;
    c.n = 0;
    ok(is_sound(curves(&c, 1)) && is_sound(curves(NULL, 0)),
       "no values give an empty chart");
    c = (struct cr_chart_curve){ .n = 1, .x = x, .y = y };
    ok(count(curves(&c, 1), "<circle class=\"dot c1\" cx") == 1,
       "a value alone is a point");
}

/* Ranges at the limits of double, on every scale. */
static void test_extremes(void)
{
    static const double rows[][4] = {
        { -1.7e308, 1.7e308, 0, 1 },         { 5e-324, 1e-323, 2e-323, 0 },
        { 1e-300, 1e300, 1, 1 },             { 1e15, 1e15 + 1, 1e15 + 2, 1e15 },
        { -5e-324, 1.7e308, -1.7e308, 1e9 }, { 0, -0.0, 0, 0 },
    };
    static const double x[] = { 1, 2, 3, 4 };

    test_begin("extreme values give a sound chart");
    for (size_t i = 0; i < CR_LEN(rows); i++)
        for (int scale = 0; scale < 9; scale++) {
            struct cr_chart chart = {
                .arena = &mem,
                .x.scale = (enum cr_chart_scale)(scale / 3),
                .y.scale = (enum cr_chart_scale)(scale % 3)
            };
            struct cr_chart_curve c[] = { { .n = 4, .x = x, .y = rows[i] },
                                          { .n = 4, .x = rows[i], .y = x } };
            struct cr_chart_terminal terminal = { .columns = 40 };
            struct cr_buf svg = { .arena = &mem }, text = { .arena = &mem };

            cr_chart_curves(&svg, &chart, c, 2);
            cr_chart_text(&text, &chart, c, 2, &terminal);
            ok(is_sound(svg.text) && text.len > 0, "row %zu, scale %d", i,
               scale);
        }
    test_end();
}

/* 100,000 values of a line: its ends and its extremes stay. */
static void test_reduction(void)
{
    enum { N = 100000 };
    double *x = CR_NEWS(&mem, double, N), *y = CR_NEWS(&mem, double, N);
    struct cr_chart_curve c = { .n = N, .x = x, .y = y };
    const char *svg;

    for (int i = 0; i < N; i++) {
        x[i] = i;
        y[i] = i % 2;
    }
    y[54321] = 100;
    svg = curves(&c, 1);
    ok(is_sound(svg) && count(svg, "L") < 4 * 720 && count(svg, "L") > 1000,
       "a long line has at most four points per pixel");
    ok(strstr(svg, "maximum 100.") && strstr(svg, " 31L"),
       "and keeps its extremes");
}

static void test_names_at_ends(void)
{
    double x[] = { 0, 1 }, low[] = { 0, 1 }, high[] = { 1, 1 };
    struct cr_chart_curve c[] = {
        { .name = "train", .n = 2, .x = x, .y = low },
        { .name = "eval", .n = 2, .x = x, .y = high },
    };
    struct cr_chart chart = { .arena = &mem, .names_at_ends = true,
                              .for_script = true };
    struct cr_buf svg = { .arena = &mem };
    double height = cr_chart_curves(&svg, &chart, c, 2);
    const char *train = strstr(svg.text, ">train</text>");
    const char *eval = strstr(svg.text, ">eval</text>");

    ok(is_sound(svg.text) && height == 380 && train && eval,
       "names are at the ends of curves instead of in a legend");
    while (train && *train != 'y')
        train--;
    while (eval && *eval != 'y')
        eval--;
    ok(train && eval && fabs(atof(train + 3) - atof(eval + 3)) >= 13.9,
       "names of curves that end together do not overlap");
    ok(strstr(svg.text, "data-n=\"train\"") &&
           strstr(svg.text, "data-x=\"0 1 linear\" data-y=\"0 1 linear\""),
       "curves and scales have attributes for a script");
    svg.len = 0;
    c[0].name = "a name that needs more than a third of the whole chart to fit";
    ok(cr_chart_curves(&svg, &chart, c, 2) > 380,
       "names that do not fit at the ends are in a legend");
}

static void test_given_ticks(void)
{
    static const double at[] = { 1, 2, 2.001, 1000 };
    struct cr_chart_axis axis = { .scale = CR_SCALE_LOG, .tick = at,
                                  .n_ticks = 4 };
    struct cr_scale s = cr_scale_make(&mem, &axis, 1, 1000, 5, false);

    ok(s.n == 3 && s.tick[1] == 2 && s.tick[2] == 1000 &&
           strcmp(s.text[2], "1000") == 0,
       "given ticks are at their values, but none close to another");
}

static void test_bars(void)
{
    static const char *const group[] = { "cat", "a dog with a long name" };
    static const char *const name[] = { "precision", "recall" };
    double value[] = { 0.5, 0.75, (double)NAN, -0.25 };
    double low[] = { 0.4, 0.7, 0, -0.5 }, high[] = { 0.6, 0.8, 0, 0 };
    struct cr_chart_bars b = { 2, 2, group, name, value, low, high, 0 };
    struct cr_chart chart = { .arena = &mem, .title = "Classes",
                              .file = true };
    struct cr_buf svg = { .arena = &mem };

    cr_chart_bars(&svg, &chart, &b);
    ok(is_sound(svg.text) && count(svg.text, "<rect class=\"bar") == 3,
       "each finite value is a bar");
    ok(count(svg.text, "class=\"error\"") == 3 &&
           strstr(svg.text, "<title>cat, recall: 0.75</title>"),
       "bars have titles and error bars");
    ok(strstr(svg.text, "prefers-color-scheme:dark") &&
           strstr(svg.text, "class=\"back\""),
       "a file has its style and a background");
}

static void test_histogram(void)
{
    double value[] = { 0, 1, 2, 3, 4, 4, 4, (double)NAN, INFINITY };
    struct cr_chart chart = { .arena = &mem };
    struct cr_buf svg = { .arena = &mem };

    cr_chart_histogram(&svg, &chart, value, 9, 4);
    ok(is_sound(svg.text) && strstr(svg.text, "<title>3 to 4: 4</title>") &&
           strstr(svg.text, "<title>0 to 1: 1</title>") &&
           strstr(svg.text, "Histogram of 7 values from 0 to 4 in 4"),
       "a histogram counts the finite values of each interval");
    svg.len = 0;
    cr_chart_histogram(&svg, &chart, value, 0, 0);
    ok(is_sound(svg.text), "a histogram of nothing is empty");
    value[0] = value[1] = 1e300;
    svg.len = 0;
    cr_chart_histogram(&svg, &chart, value, 2, 0);
    ok(is_sound(svg.text) && strstr(svg.text, ": 2</title>"),
       "equal values are in one interval, however large they are");
    value[0] = -DBL_MAX;
    value[1] = DBL_MAX;
    svg.len = 0;
    cr_chart_histogram(&svg, &chart, value, 2, 0);
    value[0] = 0;
    value[1] = 5e-324;
    cr_chart_histogram(&svg, &chart, value, 2, 0);
    ok(count(svg.text, "<svg") == 2 && !strstr(svg.text, "nan"),
       "ranges that overflow or underflow give a sound histogram");
    value[0] = 0.99999;
    value[1] = 1;
    chart.x.max = 1;
    svg.len = 0;
    cr_chart_histogram(&svg, &chart, value, 2, 20);
    ok(strstr(svg.text, "<title>0.95 to 1: 2</title>") &&
           count(svg.text, "class=\"bar ") == 1 &&
           !strstr(svg.text, "width=\"-"),
       "the intervals of a given axis divide it");
}

/* A value far outside of an axis that was given. */
static void test_outside(void)
{
    double x[] = { 0, 1e300 }, y[] = { 0, -1e300 };
    struct cr_chart_curve c = { .n = 2, .x = x, .y = y, .points = true };
    struct cr_chart chart = { .arena = &mem, .x = { .max = 1 },
                              .y = { .max = 1 } };
    struct cr_buf svg = { .arena = &mem };

    cr_chart_curves(&svg, &chart, &c, 1);
    ok(is_sound(svg.text) && strstr(svg.text, " cx=\"1000000\" cy=\"1000000\""),
       "values far outside of the axes have short numbers");
}

static void test_heatmap(void)
{
    static const char *const names[] = { "cat", "dog" };
    double value[] = { 9, 1, (double)NAN, 5 };
    struct cr_chart_heatmap m = { 2, 2, names, names, value, false,
                                  false };
    struct cr_chart chart = { .arena = &mem, .x = { .label = "predicted" },
                              .y = { .label = "true" } };
    struct cr_buf svg = { .arena = &mem };

    cr_chart_heatmap(&svg, &chart, &m);
    ok(is_sound(svg.text) && count(svg.text, "class=\"heat c1\"") == 3 &&
           strstr(svg.text, "<title>cat, dog: 1</title>") &&
           strstr(svg.text, "class=\"on\""),
       "a heat map has a rectangle with a number for each finite value");
    svg.len = 0;
    m.by_row = true;
    cr_chart_heatmap(&svg, &chart, &m);
    ok(count(svg.text, "fill-opacity=\"1.000\"") == 2,
       "by row, the maximum of each row has the full colour");
    svg.len = 0;
    m.diagonal = true;
    cr_chart_heatmap(&svg, &chart, &m);
    ok(count(svg.text, "class=\"heat c2\"") == 1 &&
           strstr(svg.text, "class=\"heat c2\"") <
               strstr(svg.text, "<title>cat, dog: 1</title>"),
       "values off the diagonal have a colour of their own");
}

static void test_parallel(void)
{
    static const char *const names[] = { "Adam", "SGD" };
    static const char *const *const category[] = { names, NULL, NULL };
    int categories[] = { 2, 0, 0 };
    struct cr_chart_axis axis[] = {
        { .label = "optimizer" },
        { .label = "learning rate", .scale = CR_SCALE_LOG },
        { .label = "accuracy" },
    };
    double value[] = { 0, 0.001, 0.9, 1, 0.1, 0.95, 1, 0, (double)NAN };
    static const char *const lines[] = { "r1", "r2", "r3" };
    struct cr_chart_parallel p = { 3, 3, axis, category, categories, value,
                                   lines, false };
    struct cr_chart chart = { .arena = &mem };
    struct cr_buf svg = { .arena = &mem };

    cr_chart_parallel(&svg, &chart, &p);
    ok(is_sound(svg.text) && count(svg.text, "class=\"axis\"") == 3 &&
           count(svg.text, "class=\"curve c1\"") == 2,
       "parallel coordinates have an axis for each setting");
    ok(count(svg.text, "class=\"curve c2\"") == 1 &&
           strstr(svg.text, "The best is r2: optimizer SGD, learning rate "
                            "0.1, accuracy 0.95."),
       "the best line is marked and described");
    p.minimize = true;
    svg.len = 0;
    cr_chart_parallel(&svg, &chart, &p);
    ok(strstr(svg.text, "The best is r1:") != NULL,
       "with minimize the smallest value is the best");
}

int main(void)
{
    test_ticks();
    test_places();
    test_curves();
    test_extremes();
    test_reduction();
    test_names_at_ends();
    test_given_ticks();
    test_bars();
    test_histogram();
    test_outside();
    test_heatmap();
    test_parallel();
    cr_arena_free(&mem);
    return done();
}
