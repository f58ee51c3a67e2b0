/*
 * tpe: the tree-structured Parzen estimator of parzen.h on the points of a
 * sweep. Candidate k is computed when a process is free, from the results that
 * there are, and stored in DIR/.sweep/tpe-K; the first process that stores it
 * wins, so that all have the same candidates, and a killed sweep continues with
 * them. Points that are not complete count as bad results, so that processes
 * that ask at the same time get different candidates ("constant liar",
 * Ginsbourger, Le Riche and Carraro 2010).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "ckpt/run_index.h"
#include "num/rng.h"
#include "sweep/sweep.h"

#define TPE_FILE_MAX ((size_t)1 << 20)
#define TPE_RETRIES 50 /* draws until one is a new point */

static bool tpe_check(struct cr_sweep *sweep)
{
    sweep->counted = true;
    return cr_sweep_check_goal(sweep) &&
           (sweep->n_axes > 0 ||
            cr_error(sweep->diag, CR_NOWHERE, CR_E_NO_MATCH,
                     "the sweep has no parameters"));
}

/* ---- Values and numbers */

static struct cr_parzen_axis *tpe_axes(struct cr_arena *arena,
                                       const struct cr_sweep *sweep)
{
    struct cr_parzen_axis *to =
        CR_NEWS(arena, struct cr_parzen_axis, sweep->n_axes);

    for (int a = 0; a < sweep->n_axes; a++) {
        enum cr_sweep_distribution d = sweep->axis[a].distribution;

        to[a] = (struct cr_parzen_axis){
            .n = d == CR_DIST_NONE ? sweep->axis[a].n : 0,
            .integer = d == CR_DIST_INT_UNIFORM || d == CR_DIST_INT_LOG_UNIFORM,
            .log = d == CR_DIST_LOG_UNIFORM || d == CR_DIST_INT_LOG_UNIFORM,
            .min = sweep->axis[a].min,
            .max = sweep->axis[a].max,
        };
    }
    return to;
}

/* Sets the columns of an axis. */
static void tpe_set(struct cr_sweep *sweep, int a, double x, const char **value)
{
    const struct cr_sweep_axis *axis = &sweep->axis[a];

    if (axis->distribution != CR_DIST_NONE) {
        value[axis->column] = cr_sweep_number_text(sweep->arena, axis, x);
        return;
    }
    for (int c = 0; c < axis->n_columns; c++)
        value[axis->column + c] =
            axis->choice[(int64_t)x * axis->n_columns + c];
}

static bool tpe_is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The number of an axis at a point: its value, or the index of its choice;
 * NAN: not set there. */
static double tpe_get(const struct cr_sweep *sweep, int a,
                      const char *const *value)
{
    const struct cr_sweep_axis *axis = &sweep->axis[a];

    if (axis->distribution != CR_DIST_NONE)
        return value[axis->column] ? strtod(value[axis->column], NULL)
                                   : (double)NAN;
    for (int i = 0; i < axis->n; i++) {
        int same = 0;

        for (int c = 0; c < axis->n_columns; c++)
            same += tpe_is_same(value[axis->column + c],
                                axis->choice[i * axis->n_columns + c]);
        if (same == axis->n_columns)
            return i;
    }
    return NAN;
}

/* Whether a point of the sweep has these values. */
static bool tpe_is_known(const struct cr_sweep *sweep, const char **value)
{
    for (int64_t i = 0; i < sweep->n; i++) {
        int c = 0;

        while (c < sweep->n_columns &&
               (!sweep->point[i].value[c] || /* its condition is false */
                tpe_is_same(sweep->point[i].value[c], value[c])))
            c++;
        if (c == sweep->n_columns)
            return true;
    }
    return false;
}

/* ---- Results */

struct tpe_result {
    double merit; /* larger is better */
    int64_t index;
};

static int tpe_by_merit(const void *a, const void *b)
{
    const struct tpe_result *p = a, *q = b;

    if (p->merit != q->merit)
        return p->merit > q->merit ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

/* The values of all points, best first; *n_results of them are complete. */
static double *tpe_history(struct cr_arena *arena, struct cr_sweep *sweep,
                           int64_t *n_results)
{
    struct tpe_result *list = CR_NEWS(arena, struct tpe_result, sweep->n + 1);
    double *x =
        CR_NEWS(arena, double, sweep->n * sweep->n_axes + 1);

    *n_results = 0;
    for (int64_t i = 0; i < sweep->n; i++) {
        const struct cr_sweep_point *p = &sweep->point[i];
        bool done = p->state == CR_POINT_DONE;

        *n_results += done || p->state == CR_POINT_FAILED;
        list[i] = (struct tpe_result){ -INFINITY, i };
        if (done && isfinite(p->metric))
            list[i].merit = cr_sweep_maximize(sweep) ? p->metric : -p->metric;
    }
    qsort(list, (size_t)sweep->n, sizeof *list, tpe_by_merit);
    for (int64_t i = 0; i < sweep->n; i++)
        for (int a = 0; a < sweep->n_axes; a++)
            x[i * sweep->n_axes + a] =
                tpe_get(sweep, a, sweep->point[list[i].index].value);
    return x;
}

/* ---- Files */

static const char *tpe_folder(struct cr_sweep *sweep)
{
    return cr_path_join(sweep->arena, sweep->dir, CR_SWEEP_CLAIMS);
}

static const char *tpe_path(struct cr_sweep *sweep, int64_t k)
{
    return cr_strf(sweep->arena, "%s/tpe-%" PRId64, tpe_folder(sweep), k);
}

/* Identifies the parameters, to which the numbers of a file refer. */
static uint64_t tpe_space(const struct cr_sweep *sweep)
{
    uint64_t hash = CR_HASH;

    for (int a = 0; a < sweep->n_axes; a++) {
        const struct cr_sweep_axis *axis = &sweep->axis[a];
        double range[3] = { axis->min, axis->max, (double)axis->distribution };

        hash = cr_hash(hash, range, sizeof range);
        for (int c = 0; c < axis->n_columns; c++) {
            const char *key = sweep->column[axis->column + c];

            hash = cr_hash(hash, key, strlen(key) + 1);
        }
        for (int i = 0; i < axis->n * axis->n_columns; i++) {
            const char *text = axis->choice[i] ? axis->choice[i] : "\n";

            hash = cr_hash(hash, text, strlen(text) + 1);
        }
    }
    return hash;
}

/* Gives a file its final name unless there is such a file. */
static bool tpe_publish(const char *part, const char *path)
{
    if (link(part, path) == 0 || errno == EEXIST)
        return true;
    /* file systems without hard links, and without this either: there the last
     * one of two processes that store a candidate in the same moment wins */
    return renameat2(AT_FDCWD, part, AT_FDCWD, path, RENAME_NOREPLACE) == 0 ||
           errno == EEXIST || access(path, F_OK) == 0 ||
           rename(part, path) == 0;
}

/* Stores a candidate unless the file exists. False after reporting. */
static bool tpe_store(struct cr_sweep *sweep, int64_t k, const double *x)
{
    const char *folder = tpe_folder(sweep), *path = tpe_path(sweep, k), *part;
    struct cr_buf text = { .arena = sweep->arena };
    char host[256] = "";
    bool ok;
    int fd;

    gethostname(host, sizeof host - 1);
    part = cr_strf(sweep->arena, "%s/.tpe-%" PRId64 ".%s.%ld", folder, k, host,
                   (long)getpid());
    cr_buf_f(&text, "%016" PRIx64, tpe_space(sweep));
    for (int a = 0; a < sweep->n_axes; a++)
        cr_buf_f(&text, " %.17g", x[a]);
    cr_buf_char(&text, '\n');
    ok = mkdir(folder, 0777) == 0 || errno == EEXIST;
    unlink(part); /* of a process that was killed */
    fd = ok ? open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    if (fd >= 0)
        errno = ENOSPC; /* of a short write */
    ok = fd >= 0 && write(fd, text.text, text.len) == (ssize_t)text.len &&
         fsync(fd) == 0 && tpe_publish(part, path);
    if (!ok)
        cr_error(sweep->diag, cr_at_file(sweep->arena, path), CR_E_SYSTEM,
                 "cannot write the file: %s", strerror(errno));
    if (fd >= 0) {
        close(fd);
        unlink(part);
    }
    return ok;
}

/* Reads the numbers of a file. False: they are not those of these
 * parameters. */
static bool tpe_parse(const struct cr_sweep *sweep, const char *text,
                      const struct cr_parzen_axis *axes, double *x)
{
    char *end;

    if (strtoull(text, &end, 16) != tpe_space(sweep) || end != text + 16)
        return false;
    for (int a = 0; a < sweep->n_axes; a++) {
        const char *from = end;
        bool number = axes[a].n == 0;
        double min = number ? axes[a].min : 0;
        double max = number ? axes[a].max : axes[a].n - 1;

        x[a] = strtod(from, &end);
        if (*from != ' ' || end == from || !(x[a] >= min && x[a] <= max))
            return false;
    }
    return *end == '\n' && !end[1];
}

static bool tpe_candidate(struct cr_sweep *sweep, int64_t k, const char **value)
{
    struct cr_arena arena = { 0 };
    const char *path = tpe_path(sweep, k);
    size_t len;
    char *text = cr_run_file(&arena, path, TPE_FILE_MAX, &len);
    double *x = CR_NEWS(&arena, double, sweep->n_axes);
    bool ok = text && tpe_parse(sweep, text, tpe_axes(&arena, sweep), x);

    if (text && !ok)
        cr_error(sweep->diag, cr_at_file(sweep->arena, path),
                 CR_E_RUN_DIR,
                 "not a point of these parameters: to change parameters, use "
                 "another --dir");
    for (int a = 0; ok && a < sweep->n_axes; a++)
        tpe_set(sweep, a, x[a], value);
    cr_arena_free(&arena);
    return ok;
}

/* ---- Suggesting */

/* A randomly sampled candidate: the first ones, and any for which the estimate
 * finds only known points. */
static void tpe_random(struct cr_sweep *sweep, int64_t k, double *x)
{
    const char **value =
        CR_NEWS(sweep->arena, const char *, sweep->n_columns + 1);

    cr_sweep_random.candidate(sweep, k, value);
    for (int a = 0; a < sweep->n_axes; a++)
        x[a] = tpe_get(sweep, a, value);
}

/* Samples until the point is new. */
static bool tpe_estimate(struct cr_arena *arena, struct cr_sweep *sweep,
                         int64_t k, const struct cr_parzen_axis *axes,
                         const double *history, double *x)
{
    const char **value = CR_NEWS(arena, const char *, sweep->n_columns + 1);

    for (uint64_t retry = 0; retry < TPE_RETRIES; retry++) {
        struct cr_rng rng = cr_rng((uint64_t)sweep->opts.seed, CR_STREAM_SWEEP,
                                   (uint64_t)k, cr_hash(CR_HASH, "tpe", 3) +
                                                    retry);

        cr_tpe_suggest(arena, &sweep->opts.tpe, axes, sweep->n_axes, history,
                       sweep->n, &rng, x);
        for (int a = 0; a < sweep->n_axes; a++)
            tpe_set(sweep, a, x[a], value);
        if (!tpe_is_known(sweep, value))
            return true;
    }
    return false;
}

static bool tpe_suggest(struct cr_sweep *sweep, int64_t k)
{
    struct cr_arena arena = { 0 };
    double *x = CR_NEWS(&arena, double, sweep->n_axes);
    int64_t n_results;
    const double *history = tpe_history(&arena, sweep, &n_results);
    const struct cr_parzen_axis *axes = tpe_axes(&arena, sweep);
    bool ok = access(tpe_path(sweep, k), F_OK) == 0;

    if (!ok) {
        if (n_results < sweep->opts.tpe.startup ||
            !tpe_estimate(&arena, sweep, k, axes, history, x))
            tpe_random(sweep, k, x);
        ok = tpe_store(sweep, k, x);
    }
    cr_arena_free(&arena);
    return ok;
}

const struct cr_sweep_method cr_sweep_tpe = {
    .name = "tpe",
    .check = tpe_check,
    .candidate = tpe_candidate,
    .suggest = tpe_suggest,
};
