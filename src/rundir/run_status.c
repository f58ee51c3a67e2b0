#include "rundir/run_status.h"

#include <string.h>

#include "rundir/run_lock.h"

const char *cr_run_status(const struct cr_run *run)
{
    return cr_json_str(run->record, "status", "");
}

bool cr_run_is_running(const struct cr_run *run)
{
    return strcmp(cr_run_status(run), "running") == 0;
}

void cr_run_settle_status(struct cr_runs *runs, struct cr_run *run)
{
    struct cr_diag quiet = { .arena = runs->arena };
    struct cr_runs again = { .arena = runs->arena, .diag = &quiet };
    struct cr_node *status;

    if (!cr_run_is_running(run) || cr_run_lock_is_live(runs->arena, run->path))
        return;
    if (cr_runs_add(&again, run->path) && again.n > 0)
        *run = again.run[0];
    status = cr_node_get(run->record, "status");
    if (cr_run_is_running(run))
        status->text = "interrupted";
}

void cr_runs_settle_status(struct cr_runs *runs)
{
    for (int i = 0; i < runs->n; i++)
        cr_run_settle_status(runs, &runs->run[i]);
}
