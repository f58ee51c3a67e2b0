#include "train/profile.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/table.h"
#include "base/thread_pool.h"
#include "console/console.h"

#define PEAK 0.2 /* duration of the peak measurement in seconds */

/* ---- Cells */

/* The cell of a parameter. */
static const char *parts_cell(struct cr_arena *arena,
                              const struct cr_exec_step_cost *c)
{
    const char *dot = strrchr(c->cell, '.');

    if (strcmp(c->op, "update") == 0)
        return dot ? cr_strndup(arena, c->cell, (size_t)(dot - c->cell)) : "";
    return strcmp(c->op, "reorder") == 0 ? "(reorder)" : c->cell;
}

static struct cr_profile_row *parts_find(struct cr_profile_rows *parts,
                                         const char *cell)
{
    struct cr_profile_row *more;
    int at = cr_name_map_get(&parts->at, cell);

    if (at >= 0)
        return &parts->v[at];
    if (parts->n == parts->cap) {
        parts->cap = 2 * parts->cap + 16;
        more = CR_NEWS(parts->arena, struct cr_profile_row, parts->cap);
        if (parts->n)
            memcpy(more, parts->v, (size_t)parts->n * sizeof *more);
        parts->v = more;
    }
    cr_name_map_add(parts->arena, &parts->at, cell, parts->n);
    parts->v[parts->n] = (struct cr_profile_row){ .cell = cell };
    return &parts->v[parts->n++];
}

void cr_profile_rows_add(struct cr_profile_rows *parts, struct cr_exec *exec)
{
    int n;
    const struct cr_exec_step_cost *costs = cr_exec_costs(exec, &n);

    for (int i = 0; i < n; i++) {
        const struct cr_exec_step_cost *c = &costs[i];
        struct cr_profile_row *p =
            parts_find(parts, parts_cell(parts->arena, c));

        p->seconds[c->back] += c->seconds;
        p->flops += 2 * c->macs * (double)c->runs;
        p->bytes += c->bytes * (double)c->runs;
    }
}

double cr_profile_rows_seconds(const struct cr_profile_rows *parts)
{
    double sum = 0;

    for (int i = 0; i < parts->n; i++)
        sum += parts->v[i].seconds[0] + parts->v[i].seconds[1];
    return sum;
}

void cr_profile_rows_print(const struct cr_profile_rows *parts, double steps,
                           double peak)
{
    struct cr_table table = { .arena = parts->arena, .align = "lrrrrrr" };
    static const char *const head[] = { "cell",  "forward ms", "backward ms",
                                        "share", "GFLOP/s",    "of peak",
                                        "GB/s" };
    double sum = cr_profile_rows_seconds(parts);

    for (size_t k = 0; k < CR_LEN(head); k++)
        cr_table_add(&table, head[k]);
    for (int i = 0; i < parts->n; i++) {
        const struct cr_profile_row *p = &parts->v[i];
        double seconds = p->seconds[0] + p->seconds[1];

        if (p->bytes == 0)
            continue; /* a view takes no time */
        cr_table_add(&table, p->cell[0] ? p->cell : "network");
        cr_table_f(&table, "%.4f", 1e3 * p->seconds[0] / steps);
        cr_table_f(&table, "%.4f", 1e3 * p->seconds[1] / steps);
        cr_table_f(&table, "%.1f %%", 100 * seconds / sum);
        if (p->flops > 0 && seconds > 0)
            cr_table_f(&table, "%.1f", 1e-9 * p->flops / seconds);
        else
            cr_table_add(&table, "");
        if (p->flops > 0 && seconds > 0 && peak > 0)
            cr_table_f(&table, "%.1f %%", 100 * p->flops / seconds / peak);
        else
            cr_table_add(&table, "");
        if (seconds > 0)
            cr_table_f(&table, "%.1f", 1e-9 * p->bytes / seconds);
        else
            cr_table_add(&table, "");
    }
    cr_table_print(&table, stdout, false);
}

void cr_profile_rows_json(const struct cr_profile_rows *parts, double steps,
                          struct cr_buf *to)
{
    cr_buf_char(to, '[');
    for (int i = 0; i < parts->n; i++) {
        const struct cr_profile_row *p = &parts->v[i];

        cr_buf_f(to, "%s{\"cell\": ", i ? ", " : "");
        cr_buf_json(to, p->cell);
        cr_buf_f(to,
                 ", \"forward_s\": %.6g, \"backward_s\": %.6g, "
                 "\"flops\": %.6g, \"bytes\": %.6g}",
                 p->seconds[0] / steps, p->seconds[1] / steps, p->flops / steps,
                 p->bytes / steps);
    }
    cr_buf_char(to, ']');
}

struct peak {
    double seconds, *flops; /* of each thread */
};

static void parts_peak_part(void *ctx, int task, int n_tasks)
{
    struct peak *p = ctx;

    (void)n_tasks;
    p->flops[task] = cr_cpu_peak(p->seconds);
}

int cr_profile_peak_threads(int threads)
{
    int cores = cr_cpu_count();

    return threads < cores ? threads : cores;
}

/* Measures all threads at once: cores share power and units. Threads that share
 * a core would each measure its peak, one after the other. */
double cr_profile_rows_peak(struct cr_arena *arena, int threads, double seconds)
{
    int n = cr_profile_peak_threads(threads);
    struct peak p = { seconds, CR_NEWS(arena, double, n) };
    double sum = 0;

    cr_parallel_run(parts_peak_part, &p, n);
    for (int i = 0; i < n; i++)
        sum += p.flops[i];
    return sum;
}

/* ---- A run */

void cr_profile_at(struct cr_profile *p, enum cr_phase phase)
{
    double now = cr_now();

    if (p->since > 0)
        p->seconds[p->phase] += now - p->since;
    p->since = now;
    p->phase = phase;
}

static void profile_plans(struct cr_profile *p, const struct cr_plans *plans)
{
    for (int s = 0; s < CR_SIZES_MAX; s++)
        for (int k = 0; k < 2; k++) {
            int n;

            if (!plans->at[s][k])
                continue;
            if (p)
                cr_profile_rows_add(&p->parts, plans->at[s][k]);
            else
                cr_exec_costs(plans->at[s][k], &n);
        }
}

void cr_profile_start(const struct cr_plans *plans)
{
    profile_plans(NULL, plans);
}

void cr_profile_add(struct cr_profile *p, const struct cr_plans *plans)
{
    profile_plans(p, plans);
}

static const char *const profile_phase[CR_PHASES][2] = {
    { "data", "data" },
    { "steps", "forward and backward" },
    { "updates", "updates" },
    { "evaluation", "evaluation" },
    { "checkpoints", "checkpoints" },
    { "watch", "hooks" },
    { "sample", "text samples" },
    { "command", "run.exec_on_eval" },
    { "other", "other" },
};

static double profile_seconds(const struct cr_profile *p)
{
    double sum = 0;

    for (int i = 0; i < CR_PHASES; i++)
        sum += p->seconds[i];
    return sum;
}

void cr_profile_print(const struct cr_profile *p)
{
    struct cr_table table = { .arena = p->parts.arena, .align = "lrr" };
    double sum = profile_seconds(p), steps = (double)p->steps;
    int threads = cr_thread_count();

    printf("\ntime of the run, %.3f s:\n", sum);
    cr_table_add(&table, "");
    cr_table_add(&table, "seconds");
    cr_table_add(&table, "share");
    for (int i = 0; i < CR_PHASES; i++) {
        if (p->seconds[i] == 0 && i != CR_PHASE_DATA && i != CR_PHASE_STEP &&
            i != CR_PHASE_EVAL && i != CR_PHASE_SAVE)
            continue;
        cr_table_add(&table, profile_phase[i][1]);
        cr_table_f(&table, "%.3f", p->seconds[i]);
        cr_table_f(&table, "%.1f %%", sum > 0 ? 100 * p->seconds[i] / sum : 0);
    }
    cr_table_print(&table, stdout, false);
    if (p->steps == 0)
        return;
    printf("\ncells in %" PRId64 " step%s of training on %d thread%s, "
           "%.4f ms of %.4f:\n",
           p->steps, p->steps == 1 ? "" : "s", threads, threads == 1 ? "" : "s",
           1e3 * cr_profile_rows_seconds(&p->parts) / steps,
           1e3 * (p->seconds[CR_PHASE_STEP] + p->seconds[CR_PHASE_UPDATE]) /
               steps);
    cr_profile_rows_print(&p->parts, steps,
                          cr_profile_rows_peak(p->parts.arena, threads, PEAK));
}

void cr_profile_phases(const struct cr_profile *p, struct cr_buf *to)
{
    for (int i = 0; i < CR_PHASES; i++)
        cr_buf_f(to, "%s\"%s\": %.6g", i ? ", " : "{", profile_phase[i][0],
                 p->seconds[i]);
    cr_buf_char(to, '}');
}

void cr_profile_json(const struct cr_profile *p, struct cr_buf *to)
{
    cr_buf_f(to, "{\"steps\": %" PRId64 ", \"seconds\": ", p->steps);
    cr_profile_phases(p, to);
    cr_buf_str(to, ", \"cells\": ");
    cr_profile_rows_json(&p->parts, p->steps > 0 ? (double)p->steps : 1, to);
    cr_buf_char(to, '}');
}
