#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/str.h"
#include "base/table.h"
#include "base/thread_pool.h"
#include "bench/bench.h"
#include "kernels/blas.h"
#include "kernels/kernel.h"

#define KERNELS 64 /* names of kernels, at most */
#define SLOW 2.0   /* seconds after which a kernel is not timed again */

/* The kernels of all families by name, once each, and the steps of a node that
 * each of them can compute: a cell may call an op several times. */
struct bench_row {
    const char *cell, *op, *chosen;
    int node;
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

static struct bench_row *bench_row(struct bench_rows *rows,
                                   const struct cr_exec_step_cost *c)
{
    int i;

    for (i = 0; i < rows->n; i++)
        if (rows->v[i].node == c->node &&
            strcmp(rows->v[i].cell, c->cell) == 0 &&
            strcmp(rows->v[i].op, c->op) == 0)
            return &rows->v[i];
    if (rows->n == rows->cap) {
        rows->v = cr_grow(rows->arena, rows->v, (size_t)rows->cap,
                          (size_t)rows->cap * 2 + 16, sizeof *rows->v);
        rows->cap = rows->cap * 2 + 16;
    }
    rows->v[rows->n] = (struct bench_row){ .cell = c->cell, .op = c->op,
                                           .node = c->node };
    return &rows->v[rows->n++];
}

/* Seconds of each step of the plan, where they are less than in `best` (0: not
 * measured yet): other programs only add to them. */
static bool bench_round(struct cr_exec *e, const struct cr_bench_train *train,
                        double *best, struct cr_arena *arena)
{
    double start = cr_now(), *seconds, mean;
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
        ok = cr_bench_steps(e, train, 1, NULL);
    while (ok && cr_now() - start < CR_BENCH_ROUND);
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
static bool bench_kernel(struct cr_bench_job *j, bool train, int64_t batch,
                         int at, struct bench_rows *rows)
{
    struct cr_bench_train how = { 0 }, *steps = train ? &how : NULL;
    struct cr_exec *e = cr_bench_plan(j, train, false, batch, &how);
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
    start = cr_now();
    ok = e != NULL;
    for (i = 0; ok && i <= j->o->warmup && cr_now() - start < SLOW; i++)
        ok = cr_bench_steps(e, steps, 1, NULL);
    ok = ok && cr_exec_check_faults(e, j->cli->diag);
    c = ok ? cr_exec_costs(e, &n) : NULL;
    best = CR_NEWS(rows->arena, double, n + 1);
    start = cr_now();
    for (round = 0; ok && at >= 0 && round < j->o->repeat &&
                    (round == 0 || cr_now() - start < SLOW);
         round++)
        ok = bench_round(e, steps, best, rows->arena);
    for (i = 0; i < n; i++) {
        struct bench_row *row;

        if (!c[i].kernel)
            continue;
        row = bench_row(rows, &c[i]);
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
                       r->chosen && strcmp(rows->name[best], r->chosen) == 0
                           ? "*"
                           : "",
                       1e3 * r->seconds[best]);
    }
}

static void bench_kernels_print(const struct cr_bench_job *j, bool train,
                                int64_t batch, const struct bench_rows *rows)
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

static void bench_kernels_json(const struct cr_bench_job *j, bool train,
                               int64_t batch, const struct bench_rows *rows)
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
                 r->op, r->chosen ? r->chosen : "");
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

bool cr_bench_kernels(struct cr_bench_job *j)
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
    cr_bench_data(j, own);
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
