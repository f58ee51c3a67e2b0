/* Commands and scripts for the programs that distribute points. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "sweep/sweep.h"

static void launch_print_word(const char *word)
{
    if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyz"
                              "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789_-+=./:,@%") == strlen(word)) {
        fputs(word, stdout);
        return;
    }
    putchar('\'');
    for (; *word; word++)
        if (*word == '\'')
            fputs("'\\''", stdout);
        else
            putchar(*word);
    putchar('\'');
}

void cr_sweep_print_commands(struct cr_sweep *sweep)
{
    for (int64_t i = 0; i < sweep->n; i++) {
        char **argv =
            cr_sweep_argv(sweep, &sweep->point[i], sweep->cli->threads);

        fputs("cellrun", stdout);
        for (int a = 1; argv[a]; a++) {
            putchar(' ');
            launch_print_word(argv[a]);
        }
        putchar('\n');
    }
}

/* The name of the folder with other characters as _: #SBATCH has no quotes. */
static const char *launch_job_name(struct cr_sweep *sweep)
{
    char *name = cr_strdup(sweep->arena, cr_path_base(sweep->dir));

    for (char *p = name; *p; p++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                    "0123456789._-", *p))
            *p = '_';
    return name;
}

void cr_sweep_print_slurm(struct cr_sweep *sweep)
{
    const char *const *argv = sweep->cli->argv;

    printf("#!/bin/sh\n"
           "#SBATCH --job-name=%s\n"
           "#SBATCH --array=0-%" PRId64 "\n"
           "#SBATCH --signal=TERM@120\n"
           "#SBATCH --requeue\n"
           "# A point that is stopped before its end is queued again, and "
           "continues.\n"
           "status=0\n"
           "srun cellrun",
           launch_job_name(sweep), sweep->n - 1);
    for (int i = 1; argv[i]; i++) {
        if (strcmp(argv[i], "--slurm") == 0)
            continue;
        putchar(' ');
        launch_print_word(argv[i]);
    }
    printf(" \\\n"
           "    --index \"$SLURM_ARRAY_TASK_ID\" || status=$?\n"
           "case $status in\n"
           "75 | 143)\n"
           "    scontrol requeue "
           "\"${SLURM_ARRAY_JOB_ID}_${SLURM_ARRAY_TASK_ID}\"\n"
           "    ;;\n"
           "esac\n"
           "exit \"$status\"\n");
}

int cr_sweep_exec(struct cr_sweep *sweep, int64_t index)
{
    struct cr_sweep_point *point;
    int claim;

    if (index >= sweep->n) {
        cr_error(sweep->diag, CR_NOWHERE, CR_E_OUT_OF_RANGE,
                 "--index: found %" PRId64 ", expected 0 to %" PRId64, index,
                 sweep->n - 1);
        return 2;
    }
    point = &sweep->point[index];
    cr_sweep_refresh(sweep, point);
    if (point->state == CR_POINT_FAILED && !sweep->retry_failed) {
        cr_error(sweep->diag, cr_at_file(sweep->arena, point->dir),
                 CR_E_RUN_DIR, "this point has failed: %s",
                 point->error ? point->error : "");
        cr_hint(sweep->diag, "use --retry-failed to run it again");
        return point->exit > 0 ? point->exit : 1;
    }
    claim = cr_sweep_claim(sweep, point);
    if (claim < 0) {
        if (sweep->diag->errors == 0)
            cr_error(sweep->diag, cr_at_file(sweep->arena, point->dir),
                     CR_E_RUN_DIR, "another process runs this point");
        return 2;
    }
    if (!cr_sweep_note_failure(sweep, point, claim, 0, NULL))
        return 1;
    execv("/proc/self/exe",
          cr_sweep_argv(sweep, point, sweep->cli->threads));
    cr_error(sweep->diag, CR_NOWHERE, CR_E_SYSTEM,
             "cannot start the program again: %s", strerror(errno));
    return 1;
}
