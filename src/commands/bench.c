/*
 * bench: speed of training and prediction of a network on this machine, and
 * its fraction of the processor's peak. Data are random: only steps are timed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/cpu.h"
#include "base/str.h"
#include "base/table.h"
#include "base/thread_pool.h"
#include "kernels/blas.h"
#include "kernels/kernel.h"
#include "model/model.h"
#include "num/rng.h"
#include "train/gradient.h"
#include "train/profile.h"
#include "train/step_plan.h"

struct bench {
    struct cr_ints batch;
    int64_t warmup, repeat;
    bool kernels;
};

static const struct cr_opt bench_opts[] = {
    CR_INTS_OPTIONAL(struct bench, batch, 1, CR_DIM_MAX,
                     "Batch sizes, separated by commas. Default: that of the "
                     "datapipe."),
    CR_INT_DEFAULT(struct bench, warmup, 20, 0, 1000000,
                   "Warm-up steps before timing."),
    CR_INT_DEFAULT(struct bench, repeat, 5, 1, 10000,
                   "Number of measurements of 0.1 s each, alternating with "
                   "measurements of the processor; the median is reported."),
    CR_BOOL_DEFAULT(struct bench, kernels, false,
                    "Instead, time every kernel that can compute a step of the "
                    "network, in milliseconds, forward and backward, the "
                    "fastest first; * marks the one that is used."),
    { 0 },
};

#define ROUND 0.1     /* seconds of one measurement */
#define PEAK 0.05     /* seconds of the peak measurement before it */
#define THREADS_MAX 2 /* maximum number of thread counts to measure */

struct result {
    const char *mode;
    int64_t batch;
    int threads;
    double seconds; /* per step, the median */
    double flops;   /* per step */
    double peak;    /* FLOP per second of the processor; 0: unknown */
    double fraction; /* of the peak; negative: unknown */
};

struct job {
    struct cr_cli *cli;
    const struct bench *o;
    struct cr_model model;
    void **data; /* per column */
    int threads[THREADS_MAX], n_threads;
    struct result *results;
    int n;
    struct cr_profile_rows
        parts; /* cells of the last mode timed by cell */
    double parts_steps;
    double whole; /* seconds of a step without timing its cells */
    double parts_peak;
};

static double bench_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int bench_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* ---- The processor */

/* Measures one thread and all, or the number of --threads. */
static void bench_threads(struct job *j)
{
    int all = cr_thread_count();

    if (all > 1 && j->cli->threads == 0)
        j->threads[j->n_threads++] = 1;
    j->threads[j->n_threads++] = all;
}

/* ---- Data */

/* Random numbers; integers are 0 until a plan gives their range. */
static void bench_data(struct job *j, int64_t batch)
{
    struct cr_arena *arena = j->cli->arena;
    int64_t i, n;
    int c;

    j->data = CR_NEWS(arena, void *, j->model.n_columns + 1);
    for (c = 0; c < j->model.n_columns; c++) {
        const struct cr_spec *spec = &j->model.columns[c].spec;
        struct cr_rng rng =
            cr_rng(j->model.seed, CR_STREAM_TEST, (uint64_t)c, 0);

        n = batch * cr_count(spec);
        j->data[c] = cr_alloc(arena, (size_t)n + 1, cr_type_size(spec->type));
        for (i = 0; i < n; i++)
            if (spec->type == CR_REAL)
                ((cr_real *)j->data[c])[i] =
                    (cr_real)cr_rng_normal(&rng, (uint64_t)i);
            else if (spec->type == CR_U8)
                ((unsigned char *)j->data[c])[i] =
                    (unsigned char)cr_rng_u32(&rng, (uint64_t)i);
    }
}

/* Fills integers over the range that the plan accepts, so that look-ups are
 * spread as in a run. */
static void bench_integers(struct job *j, const struct cr_exec *e,
                           int64_t batch)
{
    int c;

    for (c = 0; c < j->model.n_columns; c++) {
        const struct cr_spec *spec = &j->model.columns[c].spec;
        struct cr_rng rng =
            cr_rng(j->model.seed, CR_STREAM_TEST, (uint64_t)c, 1);
        int64_t i, low, high, n = batch * cr_count(spec);
        int32_t *v = j->data[c];

        if (spec->type != CR_I32 || !cr_exec_range(e, c, &low, &high))
            continue;
        for (i = 0; i < n; i++)
            v[i] = (int32_t)(low + (int64_t)(cr_rng_u32(&rng, (uint64_t)i) %
                                             (uint64_t)(high - low)));
    }
}

/* ---- Steps */

/* How a training step treats gradients. */
struct bench_train {
    struct cr_train_section section;
    bool separate; /* separate from updates: cr_plans_need_gradients */
    bool norm;     /* computed in every step, for records */
};

/* Leaves the parameters unchanged. Not 0, because libraries return early for
 * it. */
#define RATE 1e-9

/* `train` NULL: forward passes only. Clipping and noise are part of a step;
 * loss scaling takes no extra time. */
static bool bench_steps(struct cr_exec *e, const struct bench_train *train,
                        int64_t n)
{
    double norm;
    int64_t i;

    for (i = 0; i < n; i++) {
        cr_exec_forward(e, 1);
        if (train && !cr_exec_backward(e, 1, RATE))
            return false;
        if (train && train->separate)
            cr_gradient_apply(e, &train->section, 1, RATE, 0,
                              train->norm ? &norm : NULL);
    }
    return true;
}

static double bench_median(double *v, int64_t n)
{
    qsort(v, (size_t)n, sizeof *v, bench_order);
    return v[n / 2];
}

/* The peak is measured right before each round, because clock rates and the
 * load of the machine vary. */
static bool bench_time(struct job *j, struct cr_exec *e,
                       const struct bench_train *train, struct result *r)
{
    int64_t k, n = 1, rounds = j->o->repeat;
    double *times = CR_NEWS(j->cli->arena, double, rounds);
    double *peaks = CR_NEWS(j->cli->arena, double, rounds);
    double *fractions = CR_NEWS(j->cli->arena, double, rounds);
    double start;

    if (!bench_steps(e, train, j->o->warmup + 1))
        return cr_exec_check_faults(e, j->cli->diag) &&
               cr_error(j->cli->diag, CR_NOWHERE, CR_E_DIVERGED,
                        "the gradient of the loss is not finite");
    if (!cr_exec_check_faults(e, j->cli->diag))
        return false;
    for (;; n *= 2) { /* find the number of steps per round */
        start = bench_now();
        bench_steps(e, train, n);
        if (bench_now() - start > ROUND / 2)
            break;
    }
    for (k = 0; k < rounds; k++) {
        peaks[k] = cr_profile_rows_peak(j->cli->arena, r->threads, PEAK);
        start = bench_now();
        bench_steps(e, train, n);
        times[k] = (bench_now() - start) / (double)n;
        fractions[k] =
            peaks[k] > 0 && r->flops > 0 ? r->flops / times[k] / peaks[k] : -1;
    }
    r->seconds = bench_median(times, rounds);
    r->peak = bench_median(peaks, rounds);
    r->fraction = bench_median(fractions, rounds);
    return true;
}

/* ---- Cells */

/* Times each step of the plan; the clock adds about 50 ns per step. */
static void bench_cells(struct job *j, struct cr_exec *e,
                        const struct bench_train *train, const struct result *r)
{
    int64_t steps = (int64_t)(4 * ROUND / r->seconds) + 1;
    int n;

    cr_exec_costs(e, &n); /* starts the clock */
    bench_steps(e, train, steps);
    j->parts = (struct cr_profile_rows){ .arena = j->cli->arena };
    cr_profile_rows_add(&j->parts, e);
    j->parts_steps = (double)steps;
    j->whole = r->seconds;
    j->parts_peak = r->peak;
}

/* A plan for training or prediction, fed; NULL after reporting. */
static struct cr_exec *bench_plan(struct job *j, bool train, int64_t batch,
                                  struct bench_train *how)
{
    struct cr_exec_opts want = cr_plans_predict(batch, true);
    struct cr_log_section log = { 0 };
    struct cr_exec *e;
    int c;

    if (train && (!cr_plans_train_of(j->model.config, &j->model.optim,
                                     &how->section, &want) ||
                  !cr_section_read(j->model.config, "log", &log)))
        return NULL;
    how->separate = want.separate_update;
    how->norm = log.grad_norm;
    want.batch = batch;
    e = cr_net_exec(j->model.net, &want);
    if (!e)
        return NULL;
    bench_integers(j, e, batch);
    for (c = 0; c < j->model.n_columns; c++)
        cr_exec_feed(e, c, j->data[c]);
    return e;
}

static bool bench_mode(struct job *j, bool train, int64_t batch, int setting)
{
    struct bench_train how = { 0 }, *steps = train ? &how : NULL;
    struct result *r = &j->results[j->n];
    struct cr_exec *e;
    bool ok;

    cr_thread_pool_start(j->threads[setting]);
    e = bench_plan(j, train, batch, &how);
    if (!e)
        return false;
    *r = (struct result){ .mode = train ? "training" : "prediction",
                          .batch = batch,
                          .threads = j->threads[setting],
                          .flops = 2 * cr_exec_macs(e) };
    ok = bench_time(j, e, steps, r);
    j->n += ok;
    if (ok && (train || !j->parts.v))
        bench_cells(j, e, steps, r);
    cr_exec_free(e);
    return ok;
}

static bool bench_all(struct job *j)
{
    int64_t own = j->model.batch, largest = own;
    const int64_t *batch = j->o->batch.n > 0 ? j->o->batch.v : &own;
    int i, k, s, n = j->o->batch.n > 0 ? j->o->batch.n : 1;
    bool trains = cr_model_trains(&j->model);

    for (i = 0; i < n; i++)
        largest = batch[i] > largest ? batch[i] : largest;
    bench_data(j, largest);
    j->results =
        CR_NEWS(j->cli->arena, struct result, 2 * n * j->n_threads + 1);
    for (k = trains ? 1 : 0; k >= 0; k--)
        for (i = 0; i < n; i++)
            for (s = 0; s < j->n_threads; s++)
                if (!bench_mode(j, k == 1, batch[i], s))
                    return false;
    return true;
}

/* ---- Kernels */

#define KERNELS 64 /* names of kernels, at most */
#define SLOW 2.0   /* seconds after which a kernel is not timed again */

/* The kernels of all families by name, once each, and the steps of one op in
 * one cell that each of them can compute. */
struct bench_row {
    const char *cell, *op, *chosen;
    double seconds[KERNELS]; /* 0: does not accept it */
};

struct bench_rows {
    struct cr_arena *arena;
    const char *name[KERNELS];
    int names;
    struct bench_row *v;
    int n, cap;
};

static void bench_names(struct bench_rows *rows)
{
    const struct cr_kernel *k;
    int i, at;

    for (i = 0; (k = cr_kernel_at(i)) && rows->names < KERNELS; i++) {
        for (at = 0; at < rows->names; at++)
            if (strcmp(rows->name[at], k->name) == 0)
                break;
        if (at == rows->names)
            rows->name[rows->names++] = k->name;
    }
}

static struct bench_row *bench_row(struct bench_rows *rows, const char *cell,
                                   const char *op)
{
    int i;

    for (i = 0; i < rows->n; i++)
        if (strcmp(rows->v[i].cell, cell) == 0 &&
            strcmp(rows->v[i].op, op) == 0)
            return &rows->v[i];
    if (rows->n == rows->cap) {
        rows->v = cr_grow(rows->arena, rows->v, (size_t)rows->cap,
                          (size_t)rows->cap * 2 + 16, sizeof *rows->v);
        rows->cap = rows->cap * 2 + 16;
    }
    rows->v[rows->n] = (struct bench_row){ .cell = cell, .op = op };
    return &rows->v[rows->n++];
}

/* Seconds of each step of the plan, where they are less than in `best` (0: not
 * measured yet): other programs only add to them. */
static bool bench_round(struct cr_exec *e, const struct bench_train *train,
                        double *best, struct cr_arena *arena)
{
    double start = bench_now(), *seconds, mean;
    const struct cr_exec_step_cost *c;
    int64_t *runs;
    bool ok = true;
    int n, i;

    c = cr_exec_costs(e, &n);
    seconds = CR_NEWS(arena, double, n + 1);
    runs = CR_NEWS(arena, int64_t, n + 1);
    for (i = 0; i < n; i++) {
        seconds[i] = c[i].seconds;
        runs[i] = (int64_t)c[i].runs;
    }
    do
        ok = bench_steps(e, train, 1);
    while (ok && bench_now() - start < ROUND);
    for (i = 0; i < n && ok; i++) {
        if (c[i].runs == runs[i])
            continue;
        mean = (c[i].seconds - seconds[i]) / (double)(c[i].runs - runs[i]);
        if (best[i] == 0 || mean < best[i])
            best[i] = mean;
    }
    return ok;
}

static bool bench_uses(struct cr_exec *e, const char *kernel)
{
    const struct cr_exec_step_cost *c;
    int n, i;

    c = cr_exec_costs(e, &n);
    for (i = 0; i < n; i++)
        if (c[i].kernel && strcmp(c[i].kernel, kernel) == 0)
            return true;
    return false;
}

/* Times the steps of a plan that kernel `at` computes; at < 0: sees what is
 * chosen. */
static bool bench_kernel(struct job *j, bool train, int64_t batch, int at,
                         struct bench_rows *rows)
{
    struct bench_train how = { 0 }, *steps = train ? &how : NULL;
    struct cr_exec *e = bench_plan(j, train, batch, &how);
    const struct cr_exec_step_cost *c;
    int64_t round;
    double *best, start;
    bool ok;
    int n = 0, i;

    if (e && at >= 0 && !bench_uses(e, rows->name[at])) {
        cr_exec_free(e);
        return true;
    }
    /* The slowest kernels, which are there to compare, need no precision. */
    start = bench_now();
    ok = e != NULL;
    for (i = 0; ok && i <= j->o->warmup && bench_now() - start < SLOW; i++)
        ok = bench_steps(e, steps, 1);
    ok = ok && cr_exec_check_faults(e, j->cli->diag);
    c = ok ? cr_exec_costs(e, &n) : NULL;
    best = CR_NEWS(rows->arena, double, n + 1);
    start = bench_now();
    for (round = 0; ok && at >= 0 && round < j->o->repeat &&
                    (round == 0 || bench_now() - start < SLOW);
         round++)
        ok = bench_round(e, steps, best, rows->arena);
    for (i = 0; i < n; i++) {
        struct bench_row *row;

        if (!c[i].kernel)
            continue;
        row = bench_row(rows, c[i].cell, c[i].op);
        if (at < 0)
            row->chosen = c[i].kernel;
        else if (strcmp(c[i].kernel, rows->name[at]) == 0)
            row->seconds[at] += best[i];
    }
    cr_exec_free(e);
    return ok;
}

/* The kernels of a row, the fastest first. */
static const char *bench_row_text(const struct bench_rows *rows,
                                  const struct bench_row *r)
{
    bool done[KERNELS] = { false };
    const char *text = "";
    int k, best;

    for (;;) {
        for (best = -1, k = 0; k < rows->names; k++)
            if (!done[k] && r->seconds[k] > 0 &&
                (best < 0 || r->seconds[k] < r->seconds[best]))
                best = k;
        if (best < 0)
            return text;
        done[best] = true;
        text = cr_strf(rows->arena, "%s%s%s%s %.4f", text, *text ? "  " : "",
                       rows->name[best],
                       strcmp(rows->name[best], r->chosen) == 0 ? "*" : "",
                       1e3 * r->seconds[best]);
    }
}

static void bench_kernels_print(const struct job *j, bool train, int64_t batch,
                                const struct bench_rows *rows)
{
    struct cr_table table = { .arena = j->cli->arena, .align = "lll" };
    int i;

    printf("ms per step in %s, batch %" PRId64 ", %d thread%s, %s:\n",
           train ? "training" : "prediction", batch, cr_thread_count(),
           cr_thread_count() == 1 ? "" : "s", cr_isa_name(cr_isa()));
    cr_table_add(&table, "cell");
    cr_table_add(&table, "op");
    cr_table_add(&table, "kernels");
    for (i = 0; i < rows->n; i++) {
        cr_table_add(&table, rows->v[i].cell);
        cr_table_add(&table, rows->v[i].op);
        cr_table_add(&table, bench_row_text(rows, &rows->v[i]));
    }
    cr_table_show(&table, false);
}

static void bench_kernels_json(const struct job *j, bool train, int64_t batch,
                               const struct bench_rows *rows)
{
    struct cr_buf b = { .arena = j->cli->arena };
    char processor[CR_CPU_NAME];
    const char *comma;
    int i, k;

    cr_cpu_name(processor);
    cr_buf_str(&b, "{\"processor\": ");
    cr_buf_json(&b, processor);
    cr_buf_f(&b,
             ", \"mode\": \"%s\", \"batch\": %" PRId64
             ", \"threads\": %d, \"isa\": \"%s\", \"rows\": [",
             train ? "training" : "prediction", batch, cr_thread_count(),
             cr_isa_name(cr_isa()));
    for (i = 0; i < rows->n; i++) {
        const struct bench_row *r = &rows->v[i];

        cr_buf_f(&b, "%s{\"cell\": ", i ? ", " : "");
        cr_buf_json(&b, r->cell);
        cr_buf_f(&b, ", \"op\": \"%s\", \"kernel\": \"%s\", \"seconds\": {",
                 r->op, r->chosen);
        for (k = 0, comma = ""; k < rows->names; k++)
            if (r->seconds[k] > 0) {
                cr_buf_f(&b, "%s\"%s\": %.6g", comma, rows->name[k],
                         r->seconds[k]);
                comma = ", ";
            }
        cr_buf_str(&b, "}}");
    }
    printf("%s]}\n", cr_buf_text(&b));
}

static bool bench_kernels_all(struct job *j)
{
    int64_t own = j->model.batch;
    const int64_t *batch = j->o->batch.n > 0 ? j->o->batch.v : &own;
    int threads = j->threads[j->n_threads - 1];
    int n = j->o->batch.n > 0 ? j->o->batch.n : 1, i, k;
    bool train = cr_model_trains(&j->model), ok = true;
    const char *blas = cr_blas();

    cr_thread_pool_start(threads);
    for (i = 0; i < n; i++)
        own = batch[i] > own ? batch[i] : own;
    bench_data(j, own);
    for (i = 0; i < n && ok; i++) {
        struct bench_rows rows = { .arena = j->cli->arena };

        bench_names(&rows);
        ok = bench_kernel(j, train, batch[i], -1, &rows);
        for (k = 0; k < rows.names && ok; k++) {
            if (cr_kernel_prefer(rows.name[k]))
                ok = bench_kernel(j, train, batch[i], k, &rows);
            cr_kernel_prefer(NULL);
            cr_blas_force(blas);
        }
        if (ok && j->cli->json)
            bench_kernels_json(j, train, batch[i], &rows);
        else if (ok)
            bench_kernels_print(j, train, batch[i], &rows);
    }
    return ok;
}

/* ---- Output */

/* Peak of the processor with this number of threads, measured with the first
 * mode. */
static double bench_peak_of(const struct job *j, int threads)
{
    int i;

    for (i = 0; i < j->n; i++)
        if (j->results[i].threads == threads)
            return j->results[i].peak;
    return 0;
}

static void bench_print(const struct job *j)
{
    struct cr_table table = { .arena = j->cli->arena, .align = "lrrrrrr" };
    static const char *const head[] = { "",        "batch",     "threads",
                                        "ms/step", "samples/s", "GFLOP/s",
                                        "of peak" };
    size_t k;
    int i;

    printf("products: %s\n", cr_blas_name());
    for (i = 0; i < j->n_threads; i++)
        if (bench_peak_of(j, j->threads[i]) > 0)
            printf("peak: %.1f GFLOP/s on %d thread%s (%s)\n",
                   1e-9 * bench_peak_of(j, j->threads[i]), j->threads[i],
                   j->threads[i] == 1 ? "" : "s", cr_isa_name(cr_isa()));
    for (k = 0; k < CR_LEN(head); k++)
        cr_table_add(&table, head[k]);
    for (i = 0; i < j->n; i++) {
        const struct result *r = &j->results[i];

        cr_table_add(&table, r->mode);
        cr_table_f(&table, "%" PRId64, r->batch);
        cr_table_f(&table, "%d", r->threads);
        cr_table_f(&table, "%.4f", 1e3 * r->seconds);
        cr_table_f(&table, "%.0f", (double)r->batch / r->seconds);
        cr_table_f(&table, "%.1f", 1e-9 * r->flops / r->seconds);
        if (r->fraction < 0)
            cr_table_add(&table, "-");
        else
            cr_table_f(&table, "%.1f %%", 100 * r->fraction);
    }
    cr_table_show(&table, false);
}

static void bench_print_cells(const struct job *j)
{
    int threads = j->threads[j->n_threads - 1];

    printf("\ncells in %s on %d thread%s, %.4f ms of %.4f:\n",
           j->results[0].mode, threads, threads == 1 ? "" : "s",
           1e3 * cr_profile_rows_seconds(&j->parts) / j->parts_steps,
           1e3 * j->whole);
    cr_profile_rows_print(&j->parts, j->parts_steps, j->parts_peak);
}

static void bench_json(const struct job *j)
{
    struct cr_buf b = { .arena = j->cli->arena };
    int i;

    cr_buf_f(&b, "{\"isa\": \"%s\", \"products\": ", cr_isa_name(cr_isa()));
    cr_buf_json(&b, cr_blas_name());
    cr_buf_str(&b, ", \"peak\": [");
    for (i = 0; i < j->n_threads; i++)
        cr_buf_f(&b, "%s{\"threads\": %d, \"flops\": %.6g}", i ? ", " : "",
                 j->threads[i], bench_peak_of(j, j->threads[i]));
    cr_buf_str(&b, "], \"results\": [");
    for (i = 0; i < j->n; i++) {
        const struct result *r = &j->results[i];

        cr_buf_f(&b,
                 "%s{\"mode\": \"%s\", \"batch\": %" PRId64
                 ", \"threads\": %d, \"seconds\": %.6g, \"samples_per_s\": "
                 "%.6g, \"flops\": %.6g, \"of_peak\": ",
                 i ? ", " : "", r->mode, r->batch, r->threads, r->seconds,
                 (double)r->batch / r->seconds, r->flops);
        if (r->fraction < 0)
            cr_buf_str(&b, "null}");
        else
            cr_buf_f(&b, "%.6g}", r->fraction);
    }
    cr_buf_str(&b, "], \"cells\": ");
    cr_profile_rows_json(&j->parts, j->parts_steps, &b);
    printf("%s}\n", cr_buf_text(&b));
}

static int bench_run(struct cr_cli *cli)
{
    struct job j = { .cli = cli, .o = cr_cli_opts(cli) };

    if (cr_model_operands(cli, &j.model) &&
        cr_model_inspect(&j.model, 0, true)) {
        bench_threads(&j);
        if (j.o->kernels) {
            bench_kernels_all(&j);
        } else if (bench_all(&j)) {
            if (cli->json)
                bench_json(&j);
            else {
                bench_print(&j);
                bench_print_cells(&j);
            }
        }
    }
    cr_model_close(&j.model);
    return 0;
}

const struct cr_command cr_command_bench = {
    .about = {
        .name = "bench",
        .summary = "Time training and prediction steps of a network.",
        .detail =
            "Prints the processor's float32 multiply-add peak. Then prints, "
            "for one thread and for all (or for --threads N), the time per "
            "step, samples per second and the fraction of the peak that "
            "matrix products reach (products in bfloat16 may exceed it, see "
            "section amp). Then prints, for all threads, and in training if "
            "possible, the time of each cell in the forward and backward "
            "pass (including its updates), its fraction of the peak, and the "
            "bytes of its operands per second, including those from caches. "
            "It uses generated data and initial weights. Without a loss or "
            "optimizer, only prediction is timed.",
        .example = "cellrun bench digits.yaml\n"
                   "cellrun bench digits.yaml --batch 1,64 --threads 1\n"
                   "cellrun bench digits.yaml --kernels\n",
        .opts = bench_opts,
        .size = sizeof(struct bench),
    },
    .usage = "FILE...|CKPT [key=value...] [--batch N,...] [--kernels]",
    .min_operands = 1,
    .max_operands = -1,
    .takes_config = true,
    .run = bench_run,
};
