/*
 * What connects the processes of mpirun, a step that they share out, and the
 * times that the model of mpi/scaling.h expects.
 */
#include <inttypes.h>
#include <math.h>

#include "base/clock.h"
#include "base/signals.h"
#include "base/str.h"
#include "base/table.h"
#include "base/thread_pool.h"
#include "bench/bench.h"
#include "mpi/mpi.h"
#include "mpi/scaling.h"
#include "train/step_plan.h"

#define PROCESSES_MAX 1024

struct scaling {
    int n;               /* processes of mpirun */
    int64_t batch, rows; /* rows: the most of one of them */
    struct cr_mpi_link link;
    struct cr_mpi_step step;
    double measured; /* seconds of a step */
};

/* A step that is measured. */
struct stepping {
    struct cr_bench_job *job;
    struct cr_exec *exec;
    struct cr_bench_train how;
    bool shared; /* one batch, not one of each process */
};

/* Steps of all processes at once. Where they share a batch, each comes with the
 * messages of the training loop: one before it, and those by which it learns of
 * faults. False after the first one, in all processes then. */
static bool bench_steps_together(const struct stepping *s, int64_t n)
{
    int64_t say[CR_SIGNALS + 2] = { 0 };
    bool ok = true;

    if (!s->shared)
        return cr_bench_steps(s->exec, &s->how, n, NULL);
    for (; ok && n > 0; n--) {
        cr_mpi_max(say, CR_LEN(say));
        ok = cr_bench_steps(s->exec, &s->how, 1, s->job->cli->diag);
    }
    return ok;
}

/* Seconds, those of the slowest process; false if a process has failed. */
static bool bench_together(const struct stepping *s, int64_t n, double *seconds)
{
    enum { NS, FAILED, ALL };
    int64_t say[ALL];
    double start;

    cr_mpi_all(true);
    start = cr_now();
    say[FAILED] = !bench_steps_together(s, n);
    say[NS] = (int64_t)(1e9 * (cr_now() - start));
    cr_mpi_max(say, ALL);
    *seconds = 1e-9 * (double)say[NS];
    return say[FAILED] == 0;
}

/* Reports why steps have failed, in one of the processes at least. */
static bool bench_failed(const struct stepping *s)
{
    struct cr_diag *diag = s->job->cli->diag;

    if (diag->errors == 0 && cr_exec_check_faults(s->exec, diag))
        cr_error(diag, CR_NOWHERE, CR_E_DIVERGED,
                 "the gradient of the loss is not finite");
    return cr_mpi_agree(diag, false);
}

/* Median seconds of a training step of all processes at once: of one batch
 * that they share out, or of one each. False after reporting. */
static bool bench_step_of(struct cr_bench_job *j, bool shared, int64_t batch,
                          double *seconds, struct cr_mpi_traffic *traffic)
{
    struct stepping s = { .job = j, .shared = shared };
    double *times = CR_NEWS(j->cli->arena, double, j->o->repeat), first;
    struct cr_mpi_traffic before;
    int64_t k, n = 1;
    bool ok;

    s.exec = cr_bench_plan(j, true, shared, batch, &s.how);
    if (!cr_mpi_agree(j->cli->diag, s.exec != NULL)) {
        cr_exec_free(s.exec);
        return false;
    }
    ok = bench_together(&s, j->o->warmup + 1, &first);
    while (ok && (ok = bench_together(&s, n, &first)) &&
           first < CR_BENCH_ROUND / 2)
        n *= 2;
    for (k = 0; ok && k < j->o->repeat; k++) {
        ok = bench_together(&s, n, &times[k]);
        times[k] /= (double)n;
    }
    before = cr_mpi_traffic();
    if (ok)
        bench_steps_together(&s, 1);
    *traffic = cr_mpi_traffic();
    traffic->sums -= before.sums;
    traffic->sum_bytes -= before.sum_bytes;
    traffic->waits -= before.waits;
    traffic->wait_bytes -= before.wait_bytes;
    if (ok)
        *seconds = cr_median(times, j->o->repeat);
    else
        bench_failed(&s);
    cr_exec_free(s.exec);
    return ok;
}

/* A line through the times for the rows of one process and for the whole
 * batch; and how much of the time of the sums the step does not show, or what
 * it takes more. */
static void bench_fit(struct scaling *s, double part, double whole)
{
    struct cr_mpi_step *step = &s->step;
    double sums = cr_mpi_sums_seconds(&s->link, step, s->n);
    double waits = cr_mpi_waits_seconds(&s->link, step, s->n);
    double most = cr_mpi_hidden_most(sums, part), rest;

    step->per_row = (whole - part) / (double)(s->batch - s->rows);
    if (step->per_row < 0)
        step->per_row = 0;
    step->fixed = part - step->per_row * (double)s->rows;
    if (step->fixed < 0) {
        step->fixed = 0;
        step->per_row = part / (double)s->rows;
    }
    rest = s->measured - part - waits;
    step->hidden = most > 0 ? fmin(fmax(sums - rest, 0) / most, 1) : 1;
    step->skew = fmax(0, rest - sums);
}

/* Part of the time of the sums that passes while the process computes. */
static double bench_hidden(const struct scaling *s)
{
    double sums = cr_mpi_sums_seconds(&s->link, &s->step, s->n);
    double compute = s->step.fixed + s->step.per_row * (double)s->rows;

    return sums > 0 ? s->step.hidden * cr_mpi_hidden_most(sums, compute) / sums
                    : 1;
}

static double bench_expected(const struct scaling *s, int n, int64_t batch)
{
    return cr_mpi_step_seconds(&s->link, &s->step, n,
                               (double)((batch + n - 1) / n));
}

/* Speed over n times that of one process. */
static double bench_efficiency(const struct scaling *s, int n, int64_t batch)
{
    return bench_expected(s, 1, batch) / n / bench_expected(s, n, batch);
}

static void bench_scaling_print(const struct scaling *s, struct cr_arena *arena)
{
    static const char *const head[] = { "processes",  "batch", "ms/step",
                                        "efficiency", "batch", "ms/step",
                                        "efficiency" };
    struct cr_table table = { .arena = arena, .align = "rrrrrrr" };
    const struct cr_mpi_traffic *t = &s->step.traffic;
    size_t k;
    int n;

    printf("processes:  %d with %d thread%s each, by %s\n", s->n,
           cr_thread_count(), cr_thread_count() == 1 ? "" : "s",
           cr_mpi_transport());
    printf("latency:    %.2f us\n", 1e6 * s->link.latency);
    if (s->link.per_byte > 0)
        printf("bandwidth:  %.2f GB/s\n", 1e-9 / s->link.per_byte);
    printf("gradients:  %.1f KB in %" PRId64 " sums of %.3f ms; %.0f %% of "
           "that while the process computes\n",
           1e-3 * (double)t->sum_bytes, t->sums,
           1e3 * cr_mpi_sums_seconds(&s->link, &s->step, s->n),
           100 * bench_hidden(s));
    printf("waits:      %.1f KB in %" PRId64 " messages of %.3f ms\n",
           1e-3 * (double)t->wait_bytes, t->waits,
           1e3 * cr_mpi_waits_seconds(&s->link, &s->step, s->n));
    printf("step:       %.3f ms, batch %" PRId64 "; it computes for %.3f ms, "
           "and waits %.3f ms for the slowest process\n\n",
           1e3 * s->measured, s->batch,
           1e3 * (s->step.fixed + s->step.per_row * (double)s->rows),
           1e3 * s->step.skew);
    printf("expected, with one batch for all processes and with one for each:"
           "\n");
    for (k = 0; k < CR_LEN(head); k++)
        cr_table_add(&table, head[k]);
    for (n = 1; n <= PROCESSES_MAX; n *= 2) {
        cr_table_f(&table, "%d", n);
        for (k = 0; k < 2; k++) {
            int64_t batch = k ? s->batch * n : s->batch;
            double seconds = bench_expected(s, n, batch);

            if (batch < n) { /* it is not shared out */
                cr_table_f(&table, "%" PRId64, batch);
                cr_table_add(&table, "-");
                cr_table_add(&table, "-");
                continue;
            }
            cr_table_f(&table, "%" PRId64, batch);
            cr_table_f(&table, "%.3f", 1e3 * seconds);
            cr_table_f(&table, "%.0f %%", 100 * bench_efficiency(s, n, batch));
        }
    }
    cr_table_show(&table, false);
}

static void bench_scaling_json(const struct scaling *s, struct cr_arena *arena)
{
    const struct cr_mpi_traffic *t = &s->step.traffic;
    struct cr_buf b = { .arena = arena };
    int n;

    cr_buf_f(&b,
             "{\"processes\": %d, \"threads\": %d, \"transport\": \"%s\", "
             "\"latency\": %.6g, \"seconds_per_byte\": %.6g, "
             "\"sums\": %" PRId64 ", \"sum_bytes\": %" PRId64
             ", \"waits\": %" PRId64 ", \"wait_bytes\": %" PRId64
             ", \"hidden\": %.6g, \"skew_seconds\": %.6g, \"batch\": %" PRId64
             ", \"rows\": %" PRId64
             ", \"compute_seconds\": %.6g, \"seconds\": %.6g, \"expected\": [",
             s->n, cr_thread_count(), cr_mpi_transport(), s->link.latency,
             s->link.per_byte, t->sums, t->sum_bytes, t->waits, t->wait_bytes,
             bench_hidden(s), s->step.skew, s->batch, s->rows,
             s->step.fixed + s->step.per_row * (double)s->rows, s->measured);
    for (n = 1; n <= PROCESSES_MAX; n *= 2) {
        cr_buf_f(&b, "%s{\"processes\": %d", n > 1 ? ", " : "", n);
        if (n <= s->batch)
            cr_buf_f(&b, ", \"seconds\": %.6g, \"efficiency\": %.6g",
                     bench_expected(s, n, s->batch),
                     bench_efficiency(s, n, s->batch));
        cr_buf_f(&b,
                 ", \"batch_each\": {\"seconds\": %.6g, \"efficiency\": "
                 "%.6g}}",
                 bench_expected(s, n, s->batch * n),
                 bench_efficiency(s, n, s->batch * n));
    }
    printf("%s]}\n", cr_buf_text(&b));
}

void cr_bench_processes(struct cr_bench_job *j)
{
    struct scaling s = { .n = cr_mpi_size(),
                         .batch = j->o->batch.n > 0 ? j->o->batch.v[0]
                                                    : j->model.batch };
    struct cr_diag *diag = j->cli->diag;
    struct cr_train_section section;
    struct cr_mpi_traffic alone;
    double part, whole;

    if (s.n == 1)
        cr_error(diag, CR_NOWHERE, CR_E_USAGE,
                 "--mpi: found one process, expected at least two: mpirun -n 2 "
                 "cellrun bench --mpi FILE");
    else if (j->o->kernels)
        cr_error(diag, CR_NOWHERE, CR_E_USAGE,
                 "--mpi cannot be combined with --kernels");
    else if (j->o->batch.n > 1)
        cr_error(diag, CR_NOWHERE, CR_E_USAGE,
                 "--mpi: found %d batch sizes, expected one", j->o->batch.n);
    else if (!cr_model_trains(&j->model))
        cr_error(diag, CR_NOWHERE, CR_E_USAGE,
                 "--mpi: found no loss or optimizer, expected a config that "
                 "trains");
    else if (s.batch < 2 * s.n)
        cr_error(diag, CR_NOWHERE, CR_E_USAGE,
                 "--mpi: found a batch of %" PRId64
                 ", expected at least two rows for each of %d processes",
                 s.batch, s.n);
    if (diag->errors > 0 ||
        !cr_section_read(j->model.config, "train", &section))
        return;
    cr_plans_processes(j->model.net, &section);
    s.rows = (s.batch + s.n - 1) / s.n;
    cr_thread_pool_start(j->threads[j->n_threads - 1]);
    cr_bench_data(j, s.batch);
    if (!bench_step_of(j, false, s.rows, &part, &alone) ||
        !bench_step_of(j, false, s.batch, &whole, &alone))
        return;
    cr_net_shard(j->model.net, section.shard != CR_SHARD_NONE,
                 section.shard == CR_SHARD_GRADIENTS);
    cr_net_share(j->model.net);
    s.step.in_turn = section.shard == CR_SHARD_GRADIENTS;
    if (!bench_step_of(j, true, s.batch, &s.measured, &s.step.traffic))
        return;
    s.link = cr_mpi_measure(s.step.traffic.sum_bytes,
                            section.reduce_dtype == CR_REDUCE_BF16);
    bench_fit(&s, part, whole);
    if (j->cli->json)
        bench_scaling_json(&s, j->cli->arena);
    else
        bench_scaling_print(&s, j->cli->arena);
}
