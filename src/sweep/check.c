/*
 * Checks the values of a sweep before anything runs, each as `cellrun check`
 * does.
 *
 * Not every point is checked, but as many as it takes to see each value of each
 * parameter once. Of a parameter with many numbers, such as one drawn at random
 * for each point, the smallest and the largest are checked: ranges of options
 * are intervals. Errors in a combination of values are reported when its point
 * runs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/thread_pool.h"
#include "ckpt/load.h"
#include "sweep/sweep.h"
#include "train/train.h"

#define CHECK_VALUES 16 /* of more numbers only the extremes are checked */
#define CHECK_ERRORS 5  /* points whose errors are printed */

/* The values of a column that are still to be checked. */
struct check_column {
    const char **value; /* in ascending order; NULL: seen */
    int n, left;
};

static double check_number(const char *text)
{
    char *end;
    double x = strtod(text, &end);

    return end > text && !*end ? x : NAN;
}

/* Orders numbers by value, other texts after them. */
static int check_order(const void *a, const void *b)
{
    const char *s = *(const char *const *)a, *t = *(const char *const *)b;
    double x = check_number(s), y = check_number(t);

    if (x < y || x > y)
        return x < y ? -1 : 1;
    if (isnan(x) != isnan(y))
        return isnan(x) ? 1 : -1;
    return strcmp(s, t);
}

bool cr_sweep_is_due(const struct cr_sweep *sweep,
                     const struct cr_sweep_point *point)
{
    return point->state == CR_POINT_WAITING ||
           point->state == CR_POINT_INTERRUPTED ||
           (point->state == CR_POINT_FAILED && sweep->retry_failed);
}

/* Collects the values of a column in the points that are due. */
static struct check_column check_collect(const struct cr_sweep *sweep, int c,
                                         struct cr_arena *arena)
{
    struct check_column col = { .value = CR_NEWS(arena, const char *,
                                                 sweep->n + 1) };
    int numbers = 0, n = 0;

    for (int64_t i = 0; i < sweep->n; i++) {
        const struct cr_sweep_point *point = &sweep->point[i];

        if (cr_sweep_is_due(sweep, point) && point->value[c])
            col.value[n++] = point->value[c];
    }
    qsort(col.value, (size_t)n, sizeof *col.value, check_order);
    for (int i = 0; i < n; i++)
        if (col.n == 0 || strcmp(col.value[i], col.value[col.n - 1]) != 0) {
            col.value[col.n++] = col.value[i];
            numbers += !isnan(check_number(col.value[i]));
        }
    if (numbers > CHECK_VALUES) { /* they come first */
        col.value[1] = col.value[numbers - 1];
        for (int i = numbers; i < col.n; i++)
            col.value[2 + i - numbers] = col.value[i];
        col.n -= numbers - 2;
    }
    col.left = col.n;
    return col;
}

/* Marks the values of a point as seen. Returns whether one was new. */
static bool check_see(struct check_column *col, int n_columns,
                      const struct cr_sweep_point *point)
{
    bool new = false;

    for (int c = 0; c < n_columns; c++)
        for (int i = 0; point->value[c] && col[c].left > 0 && i < col[c].n; i++)
            if (col[c].value[i] &&
                strcmp(col[c].value[i], point->value[c]) == 0) {
                col[c].value[i] = NULL;
                col[c].left--;
                new = true;
            }
    return new;
}

/* Prepares the run of a point, without values of its parameters. */
static void check_prepare(struct cr_sweep *sweep, struct cr_config *config)
{
    struct cr_cli cli = *sweep->cli;
    struct cr_train t = { .cli = &cli,
                          .arena = config->arena,
                          .diag = config->diag,
                          .config = config,
                          .flags = { .check = true, .resume = true } };
    struct cr_load_report load;

    cli.arena = config->arena;
    cli.diag = config->diag;
    cli.threads = 1;
    if (cr_config_check(config) && !config->unknown && cr_train_prepare(&t))
        (void)!cr_load(config, t.net, NULL, &load);
    cr_train_close(&t);
}

/* "optimizer.learning_rate=0.1 seed=3" */
static const char *check_name(const struct cr_sweep *sweep,
                              const struct cr_sweep_point *point,
                              struct cr_arena *arena)
{
    struct cr_buf b = { .arena = arena };

    for (int c = 0; c < sweep->n_columns; c++)
        if (point->value[c])
            cr_buf_f(&b, "%s%s=%s", b.len ? " " : "", sweep->column[c],
                     point->value[c]);
    return b.len ? cr_buf_text(&b) : point->id;
}

/* For each assignment of a point the index of its argument on the command line:
 * first the assignments of all points, then the columns. */
static const int *check_args(const struct cr_sweep *sweep,
                             const struct cr_sweep_point *point,
                             struct cr_arena *arena)
{
    int n = 0, k = 0, *args;

    while (point->sets[n])
        n++;
    args = CR_NEWS(arena, int, n + 1);
    for (; sweep->fixed[k] && k < n; k++)
        args[k] = sweep->fixed_args[k];
    for (int c = 0; c < sweep->n_columns && k < n; c++)
        if (point->value[c])
            args[k++] = sweep->column_arg[c];
    return args;
}

/* Whether diag has each error of another diag. */
static bool check_is_known(const struct cr_diag *diag,
                           const struct cr_diag *errors)
{
    const struct cr_message *m, *old;

    for (m = errors->first; m; m = m->next) {
        for (old = diag->first; old; old = old->next)
            if (strcmp(m->text, old->text) == 0)
                break;
        if (!m->warning && !old)
            return false;
    }
    return true;
}

/* Checks a point. Its messages live as long as the arena. */
static struct cr_diag check_point(struct cr_sweep *sweep,
                                  const struct cr_sweep_point *point,
                                  struct cr_arena *arena)
{
    struct cr_diag diag = { .arena = arena };
    struct cr_config_from from = { .files = sweep->cli->operands,
                                   .closed = true,
                                   .sets = point->sets,
                                   .set_args =
                                       check_args(sweep, point, arena) };
    struct cr_config *config = cr_config_load(arena, &diag, &from);

    if (!config->load_failed)
        check_prepare(sweep, config);
    if (diag.errors > 0)
        cr_note(&diag, "in the point %s", check_name(sweep, point, arena));
    return diag;
}

bool cr_sweep_check(struct cr_sweep *sweep)
{
    struct cr_arena own = { 0 };
    struct check_column *col =
        CR_NEWS(&own, struct check_column, sweep->n_columns + 1);
    int errors = sweep->diag->errors, failed = 0;

    for (int c = 0; c < sweep->n_columns; c++)
        col[c] = check_collect(sweep, c, &own);
    for (int64_t i = 0; i < sweep->n && failed < CHECK_ERRORS; i++) {
        const struct cr_sweep_point *point = &sweep->point[i];
        struct cr_arena arena = { 0 };
        struct cr_diag diag;

        if (!cr_sweep_is_due(sweep, point) ||
            !check_see(col, sweep->n_columns, point))
            continue;
        diag = check_point(sweep, point, &arena);
        if (diag.errors > 0 && !check_is_known(sweep->diag, &diag)) {
            /* again, since the messages refer to the texts of the config */
            diag = check_point(sweep, point, sweep->arena);
            cr_diag_append(sweep->diag, &diag);
            failed++;
        }
        cr_arena_free(&arena);
    }
    cr_thread_unpin(); /* run.pin of a point concerns its own process */
    cr_arena_free(&own);
    return sweep->diag->errors == errors;
}
