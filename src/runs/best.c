/* runs best: the run with the best value of a metric. */
#include <string.h>

#include "base/table.h"
#include "runs/runs.h"

/* The value of the run's best checkpoint if it was selected by this metric;
 * otherwise that of the last evaluation. */
static const struct cr_node *best_value(struct cr_run *run, const char *metric)
{
    const struct cr_node *best = cr_node_get(run->record, "best"), *found;

    found = cr_node_get(best, "value");
    if (strcmp(cr_json_str(best, "metric", ""), metric) == 0 &&
        cr_runs_is_number(found))
        return found;
    return cr_node_get(cr_node_get(run->record, "eval"), metric);
}

static void best_run(struct cr_runs_job *job)
{
    const char *metric = job->o->metric ? cr_run_bare(job->o->metric) : NULL;
    struct cr_run *best = NULL;
    struct cr_buf json = { .arena = job->arena };
    const char *ckpt;
    double value = 0;
    bool max;

    for (int i = 0; i < job->found.n && !metric; i++)
        metric = cr_json_str(cr_node_get(job->found.run[i].record, "best"),
                             "metric", NULL);
    max = metric && cr_runs_larger(job, metric);
    for (int i = 0; metric && i < job->found.n; i++) {
        const struct cr_node *v = best_value(&job->found.run[i], metric);

        if (!cr_runs_is_number(v))
            continue;
        if (!best || (max ? v->real > value : v->real < value)) {
            best = &job->found.run[i];
            value = v->real;
        }
    }
    if (!best) {
        cr_error(job->cli->diag, cr_at_file(job->arena, job->dir),
                 CR_E_CKPT_MISSING, "no run below this folder has %s%s",
                 metric ? "a value of " : "been evaluated",
                 metric ? cr_quote(job->arena, metric, strlen(metric)) : "");
        return;
    }
    if (job->o->path) {
        puts(best->path);
    } else if (job->cli->json) {
        cr_runs_json(job, best, &json);
        puts(cr_buf_text(&json));
    } else {
        printf("run: %s\n%s: %.4f\n", cr_escape(job->arena, best->path),
               cr_escape(job->arena, metric), value);
        ckpt = cr_json_str(best->record, "ckpt", NULL);
        if (ckpt)
            printf("ckpt: %s\n",
                   cr_escape(job->arena,
                             cr_path_join(job->arena, best->path, ckpt)));
    }
}

const struct cr_runs_sub cr_runs_sub_best = {
    .name = "best",
    .searches = true,
    .run = best_run,
};
