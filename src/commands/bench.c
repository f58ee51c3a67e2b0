/*
 * bench: speed of training and prediction of a network on this machine, and
 * its fraction of the processor's peak.
 */
#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/str.h"
#include "base/table.h"
#include "base/thread_pool.h"
#include "bench/bench.h"
#include "kernels/blas.h"
#include "model/model.h"
#include "mpi/mpi.h"
#include "train/profile.h"

#define PEAK 0.05 /* seconds of the measurement of the peak before it */

static const struct cr_opt bench_opts[] = {
    CR_INTS_OPTIONAL(struct cr_bench, batch, 1, CR_DIM_MAX,
                     "Batch sizes, separated by commas. Default: that of the "
                     "datapipe."),
    CR_INT_DEFAULT(struct cr_bench, warmup, 20, 0, 1000000,
                   "Warm-up steps before timing."),
    CR_INT_DEFAULT(struct cr_bench, repeat, 5, 1, 10000,
                   "Number of measurements of 0.1 s each, alternating with "
                   "measurements of the processor; the median is reported."),
    CR_BOOL_DEFAULT(struct cr_bench, kernels, false,
                    "Instead, time every kernel that can compute a step of the "
                    "network, in milliseconds, forward and backward, the "
                    "fastest first; * marks the one that is used."),
    CR_BOOL_DEFAULT(struct cr_bench, mpi, false,
                    "Instead, time a training step over the processes of "
                    "mpirun and what connects them, and print the expected "
                    "times over 2 to 1,024 processes: SCALING in "
                    "cellrun-mpi(7)."),
    { 0 },
};

/* ---- The processor */

/* Measures one thread and all, or the number of --threads. */
static void bench_threads(struct cr_bench_job *j)
{
    int all = cr_thread_count();

    if (all > 1 && j->cli->threads == 0)
        j->threads[j->n_threads++] = 1;
    j->threads[j->n_threads++] = all;
}

/* The peak is measured right before each round, because clock rates and the
 * load of the machine vary. */
static bool bench_time(struct cr_bench_job *j, struct cr_exec *e,
                       const struct cr_bench_train *train,
                       struct cr_bench_result *r)
{
    int64_t k, n = 1, rounds = j->o->repeat;
    double *times = CR_NEWS(j->cli->arena, double, rounds);
    double *peaks = CR_NEWS(j->cli->arena, double, rounds);
    double *fractions = CR_NEWS(j->cli->arena, double, rounds);
    double start;

    if (!cr_bench_steps(e, train, j->o->warmup + 1, NULL))
        return cr_exec_check_faults(e, j->cli->diag) &&
               cr_error(j->cli->diag, CR_NOWHERE, CR_E_DIVERGED,
                        "the gradient of the loss is not finite");
    if (!cr_exec_check_faults(e, j->cli->diag))
        return false;
    for (;; n *= 2) { /* find the number of steps per round */
        start = cr_now();
        cr_bench_steps(e, train, n, NULL);
        if (cr_now() - start > CR_BENCH_ROUND / 2)
            break;
    }
    for (k = 0; k < rounds; k++) {
        peaks[k] = cr_profile_rows_peak(j->cli->arena, r->threads, PEAK);
        start = cr_now();
        cr_bench_steps(e, train, n, NULL);
        times[k] = (cr_now() - start) / (double)n;
        fractions[k] =
            peaks[k] > 0 && r->flops > 0 ? r->flops / times[k] / peaks[k] : -1;
    }
    r->seconds = cr_median(times, rounds);
    r->peak = cr_median(peaks, rounds);
    r->fraction = cr_median(fractions, rounds);
    return true;
}

/* ---- Cells */

/* Times each step of the plan; the clock adds about 50 ns per step. */
static void bench_cells(struct cr_bench_job *j, struct cr_exec *e,
                        const struct cr_bench_train *train,
                        const struct cr_bench_result *r)
{
    int64_t steps = (int64_t)(4 * CR_BENCH_ROUND / r->seconds) + 1;
    int n;

    cr_exec_costs(e, &n); /* starts the clock */
    cr_bench_steps(e, train, steps, NULL);
    j->parts = (struct cr_profile_rows){ .arena = j->cli->arena };
    cr_profile_rows_add(&j->parts, e);
    j->parts_steps = (double)steps;
    j->whole = r->seconds;
    j->parts_peak = r->peak;
}

static bool bench_mode(struct cr_bench_job *j, bool train, int64_t batch,
                       int setting)
{
    struct cr_bench_train how = { 0 }, *steps = train ? &how : NULL;
    struct cr_bench_result *r = &j->results[j->n];
    struct cr_exec *e;
    bool ok;

    cr_thread_pool_start(j->threads[setting]);
    e = cr_bench_plan(j, train, false, batch, &how);
    if (!e)
        return false;
    *r = (struct cr_bench_result){ .mode = train ? "training" : "prediction",
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

static bool bench_all(struct cr_bench_job *j)
{
    int64_t own = j->model.batch, largest = own;
    const int64_t *batch = j->o->batch.n > 0 ? j->o->batch.v : &own;
    int i, k, s, n = j->o->batch.n > 0 ? j->o->batch.n : 1;
    bool trains = cr_model_trains(&j->model);

    for (i = 0; i < n; i++)
        largest = batch[i] > largest ? batch[i] : largest;
    cr_bench_data(j, largest);
    j->results = CR_NEWS(j->cli->arena, struct cr_bench_result,
                         2 * n * j->n_threads + 1);
    for (k = trains ? 1 : 0; k >= 0; k--)
        for (i = 0; i < n; i++)
            for (s = 0; s < j->n_threads; s++)
                if (!bench_mode(j, k == 1, batch[i], s))
                    return false;
    return true;
}

/* ---- Output */

/* Peak of the processor with this number of threads, measured with the first
 * mode. */
static double bench_peak_of(const struct cr_bench_job *j, int threads)
{
    int i;

    for (i = 0; i < j->n; i++)
        if (j->results[i].threads == threads)
            return j->results[i].peak;
    return 0;
}

static void bench_print(const struct cr_bench_job *j)
{
    struct cr_table table = { .arena = j->cli->arena, .align = "lrrrrrr" };
    static const char *const head[] = { "",        "batch",     "threads",
                                        "ms/step", "samples/s", "GFLOP/s",
                                        "of peak" };
    size_t k;
    int i;

    printf("products: %s\n", cr_blas_name());
    for (i = 0; i < j->n_threads; i++) {
        int all = j->threads[i], used = cr_profile_peak_threads(all);

        if (bench_peak_of(j, all) > 0)
            printf("peak: %.1f GFLOP/s on %s%d thread%s (%s)\n",
                   1e-9 * bench_peak_of(j, all),
                   used < all ? cr_strf(j->cli->arena, "%d of ", used) : "",
                   all, all == 1 ? "" : "s", cr_isa_name(cr_isa()));
    }
    for (k = 0; k < CR_LEN(head); k++)
        cr_table_add(&table, head[k]);
    for (i = 0; i < j->n; i++) {
        const struct cr_bench_result *r = &j->results[i];

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

static void bench_print_cells(const struct cr_bench_job *j)
{
    int threads = j->threads[j->n_threads - 1];

    printf("\ncells in %s on %d thread%s, %.4f ms of %.4f:\n",
           j->results[0].mode, threads, threads == 1 ? "" : "s",
           1e3 * cr_profile_rows_seconds(&j->parts) / j->parts_steps,
           1e3 * j->whole);
    cr_profile_rows_print(&j->parts, j->parts_steps, j->parts_peak);
}

static void bench_json(const struct cr_bench_job *j)
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
        const struct cr_bench_result *r = &j->results[i];

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
    struct cr_bench_job j = { .cli = cli, .o = cr_cli_opts(cli) };

    if (cr_model_operands(cli, &j.model) &&
        cr_model_inspect(&j.model, 0, true)) {
        bench_threads(&j);
        if (j.o->mpi) {
            cr_bench_processes(&j);
        } else if (cr_mpi_rank() > 0) {
            ; /* process 0 does it */
        } else if (j.o->kernels) {
            cr_bench_kernels(&j);
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
            "Prints the processor's float32 multiply-add peak, with at most "
            "one thread per core. Then prints, for one thread and for all (or "
            "for --threads N), the time per step, samples per second and the "
            "fraction of the peak that matrix products reach (products in "
            "bfloat16 may exceed it, see section amp). Then prints, for all "
            "threads, and in training if possible, the time of each cell in "
            "the forward and backward pass (including its updates), its "
            "fraction of the peak, and the bytes of its operands per second, "
            "including those from caches. It uses generated data and initial "
            "weights. Without a loss or optimizer, only prediction is timed.",
        .example = "cellrun bench digits.yaml\n"
                   "cellrun bench digits.yaml --batch 1,64 --threads 1\n"
                   "cellrun bench digits.yaml --kernels\n"
                   "mpirun -n 2 cellrun bench digits.yaml --mpi\n",
        .opts = bench_opts,
        .size = sizeof(struct cr_bench),
    },
    .usage = "FILE...|CKPT [key=value...] [--batch N,...] [--kernels] "
             "[--mpi]",
    .min_operands = 1,
    .max_operands = -1,
    .takes_config = true,
    .shares = true,
    .run = bench_run,
};
