/*
 * The parameters of a sweep: assignments with several values, ranges, and the
 * candidates that the methods make of them.
 */
#include "sweep/sweep.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

#define SETS_MAX 8

struct made {
    struct cr_arena arena;
    struct cr_diag diag;
    struct cr_cli cli;
    const char *sets[SETS_MAX];
    int args[SETS_MAX];
    struct cr_sweep s;
};

static void make(struct made *m)
{
    *m = (struct made){ 0 };
    m->diag.arena = &m->arena;
    m->cli = (struct cr_cli){ .arena = &m->arena,
                              .diag = &m->diag,
                              .sets = m->sets,
                              .set_args = m->args };
    m->s = (struct cr_sweep){ .cli = &m->cli,
                              .arena = &m->arena,
                              .diag = &m->diag,
                              .opts = { .seed = 1, .count = 20 } };
}

static void split(struct made *m, const char *a, const char *b)
{
    make(m);
    m->sets[0] = a;
    m->sets[1] = b;
    cr_sweep_split_sets(&m->s);
}

/* "0.1|0.2": the choices of an axis. */
static const char *choices(struct made *m, int a)
{
    struct cr_buf b = { .arena = &m->arena };
    const struct cr_sweep_axis *axis = &m->s.axis[a];

    for (int i = 0; i < axis->n * axis->n_columns; i++)
        cr_buf_f(&b, "%s%s", i ? "|" : "",
                 axis->choice[i] ? axis->choice[i] : "-");
    return cr_buf_text(&b);
}

/* The choices of `seed=VALUES`; "" if it is one value, NULL after an error. */
static const char *values(struct made *m, const char *text)
{
    static char copy[256];

    split(m, text, NULL);
    snprintf(copy, sizeof copy, "%s",
             m->s.n_axes > 0 && m->diag.errors == 0 ? choices(m, 0) : "");
    text = m->diag.errors > 0 ? NULL : copy;
    cr_arena_free(&m->arena);
    return text;
}

static void test_values(void)
{
    struct made m;

    same(values(&m, "seed=1,2"), "1|2", "commas separate values");
    same(values(&m, "seed=1,,2,"), "1||2|", "also empty ones");
    same(values(&m, "seed=1"), "", "one value is no parameter");
    same(values(&m, "a=[1,2],{b: 3, c: 4},(5,6)"), "[1,2]|{b: 3, c: 4}|(5,6)",
         "brackets keep commas");
    same(values(&m, "a='b,c',\"d,e\""), "'b,c'|\"d,e\"", "so do quotes");
    same(values(&m, "a=don't,won't"), "don't|won't",
         "an apostrophe inside a word is no quote");
    same(values(&m, "a=],b"), "]|b", "a bracket that closes nothing");
    same(values(&m, "a=[1,2"), "", "a bracket that is not closed");
    same(values(&m, "~a=1,2"), "", "a key that is removed has no values");
    split(&m, "seed=1,2", "a.b=3");
    ok(m.s.n_axes == 1 && strcmp(m.s.column[0], "seed") == 0 &&
           strcmp(m.s.fixed[0], "a.b=3") == 0 && !m.s.fixed[1],
       "single values are those of all points");
    cr_arena_free(&m.arena);
}

static void test_ranges(void)
{
    struct made m;

    same(values(&m, "seed=range(3)"), "0|1|2", "range(to)");
    same(values(&m, "seed=range(2,5)"), "2|3|4", "range(from,to)");
    same(values(&m, "seed=range(2,9,3)"), "2|5|8", "range(from,to,step)");
    same(values(&m, "seed=range(5,0,-2)"), "5|3|1", "downwards");
    same(values(&m, "seed=range(-1,1)"), "-1|0", "below 0");
    same(values(&m, "seed=range(2,2)"), NULL, "an empty one is an error");
    same(values(&m, "seed=range(1,0)"), NULL, "in either direction");
    same(values(&m, "seed=range(2000000)"), NULL, "as is one of millions");
    same(values(&m, "seed=range(1,5,0)"), "",
         "one that never ends is not a range");
    same(values(&m, "seed=range(1,2,3,4)"), "", "nor one of four numbers");
    same(values(&m, "seed=range(1,5)x"), "", "nor one followed by more");
    same(values(&m, "seed=range(a,5)"), "", "nor one of words");
    same(values(&m, "seed=range(-9223372036854775808,9223372036854775807,"
                    "9223372036854775807)"),
         "-9223372036854775808|-1|9223372036854775806",
         "the largest span does not overflow");
}

/* An axis of numbers, the only one. */
static void number(struct made *m, enum cr_sweep_distribution d, double min,
                   double max)
{
    make(m);
    m->s.axis = CR_NEW(&m->arena, struct cr_sweep_axis);
    m->s.n_axes = 1;
    *m->s.axis = (struct cr_sweep_axis){
        .n_columns = 1, .distribution = d, .min = min, .max = max
    };
    cr_sweep_column(&m->s, "x", 0);
}

static double drawn(struct made *m, int64_t k)
{
    const char *text = NULL;

    cr_sweep_random.candidate(&m->s, k, &text);
    return strtod(text, NULL);
}

static void test_random(void)
{
    enum { N = 4000 };
    struct made m;
    double sum = 0, last;
    int count[4] = { 0 };

    test_begin("uniform draws fill their range evenly");
    number(&m, CR_DIST_UNIFORM, -1, 3);
    for (int k = 0; k < N; k++) {
        double x = drawn(&m, k);

        ok(x >= -1 && x <= 3, "draw %d is in the range", k);
        sum += x;
    }
    ok(fabs(sum / N - 1) < 5 * 4 / sqrt(12 * N), "their mean is the middle");
    cr_arena_free(&m.arena);
    test_end();

    test_begin("log_uniform draws fill their range evenly on a log scale");
    number(&m, CR_DIST_LOG_UNIFORM, 1e-4, 1);
    sum = 0;
    for (int k = 0; k < N; k++) {
        double x = drawn(&m, k);

        ok(x >= 1e-4 && x <= 1, "draw %d is in the range", k);
        sum += log10(x);
    }
    ok(fabs(sum / N + 2) < 5 * 4 / sqrt(12 * N), "their mean is the middle");
    cr_arena_free(&m.arena);
    test_end();

    test_begin("integers have equal probabilities, their limits included");
    number(&m, CR_DIST_INT_UNIFORM, 2, 5);
    for (int k = 0; k < N; k++)
        count[(int)drawn(&m, k) - 2]++;
    for (int i = 0; i < 4; i++)
        ok(fabs(count[i] / (double)N - 0.25) < 5 * sqrt(0.1875 / N),
           "%d was drawn %d times", i + 2, count[i]);
    cr_arena_free(&m.arena);
    test_end();

    number(&m, CR_DIST_UNIFORM, 0, 1);
    last = drawn(&m, 7);
    ok(drawn(&m, 8) != last && drawn(&m, 7) == last,
       "a draw is a function of its number");
    m.s.opts.seed = 2;
    ok(drawn(&m, 7) != last, "and of the seed");
    cr_arena_free(&m.arena);
}

static const char *text_of(struct made *m, enum cr_sweep_distribution d,
                           double min, double max, double value)
{
    number(m, d, min, max);
    return cr_sweep_number_text(&m->arena, m->s.axis, value);
}

static void test_texts(void)
{
    struct made m;

    same(text_of(&m, CR_DIST_UNIFORM, 0, 1, 1 / 3.0), "0.333333",
         "numbers have six digits");
    cr_arena_free(&m.arena);
    same(text_of(&m, CR_DIST_UNIFORM, 0.3, 0.30000001, 0.30000000123),
         "0.30000000123", "in a narrow range as many as they need");
    cr_arena_free(&m.arena);
    same(text_of(&m, CR_DIST_LOG_UNIFORM, 1e-3, 0.12345678, 0.12345678),
         "0.12345678", "also where rounding would leave the range");
    cr_arena_free(&m.arena);
    same(text_of(&m, CR_DIST_UNIFORM, 0, 0, 0), "0", "a range of nothing");
    cr_arena_free(&m.arena);
    same(text_of(&m, CR_DIST_INT_UNIFORM, 0, 1e15, 123456789012.0),
         "123456789012", "integers have all digits");
    cr_arena_free(&m.arena);

    test_begin("different values of a narrow range have different texts");
    for (int i = 0; i < 1000; i++) {
        double x = 1 + i * 1e-13;
        const char *a = text_of(&m, CR_DIST_UNIFORM, 1, 1 + 1e-9, x);

        ok(strtod(a, NULL) == x, "%s is the value", a);
        cr_arena_free(&m.arena);
    }
    test_end();
}

static void test_grid(void)
{
    struct made m;
    const char *value[2] = { 0 };
    struct cr_buf all = { .arena = &m.arena };

    split(&m, "a=1,2,3", "b=x,y");
    for (int64_t k = 0; cr_sweep_grid.candidate(&m.s, k, value); k++)
        cr_buf_f(&all, "%s%s ", value[0], value[1]);
    same(cr_buf_text(&all), "1x 1y 2x 2y 3x 3y ",
         "a grid has each combination once, the last key fastest");
    ok(cr_sweep_grid.check(&m.s), "and is of a size that can be run");
    m.s.axis[0].n = 1000;
    m.s.axis[1].n = 1001;
    ok(!cr_sweep_grid.check(&m.s), "more than a million points cannot");
    cr_arena_free(&m.arena);
}

int main(void)
{
    test_values();
    test_ranges();
    test_random();
    test_texts();
    test_grid();
    return done();
}
