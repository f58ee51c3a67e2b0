/* runs export: the records of metrics.jsonl as a table. */
#include <string.h>

#include "rundir/export.h"
#include "rundir/run_names.h"
#include "runs/runs.h"

static void export_run(struct cr_runs_job *job)
{
    struct cr_cli *cli = job->cli;
    struct cr_runs runs = { .arena = job->arena, .diag = cli->diag };
    struct cr_buf to = { .arena = job->arena };
    bool ok = true;

    for (int i = 1; i < cli->n_operands; i++)
        ok = cr_runs_add_named(&runs, job->dir, cli->operands[i],
                               cli->operand_pos[i]) &&
             ok;
    if (!ok || !cr_runs_export(&runs, job->o->tsv, &to))
        return;
    cr_write_file(cli->diag, job->o->out ? job->o->out : "-", to.text, to.len);
}

const struct cr_runs_sub cr_runs_sub_export = {
    .name = "export",
    .min = 1,
    .max = -1,
    .run = export_run,
};
