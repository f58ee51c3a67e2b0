/* The question before something is deleted. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "base/compiler.h"
#include "runs/runs.h"

const char *cr_runs_size(struct cr_arena *arena, int64_t bytes)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
    double size = (double)bytes / 1024;
    size_t k = 0;

    if (bytes < 1024)
        return cr_strf(arena, "%" PRId64 " bytes", bytes);
    while (size >= 1023.95 && k + 1 < CR_LEN(units)) {
        size /= 1024;
        k++;
    }
    return cr_strf(arena, "%.1f %s", size, units[k]);
}

bool cr_runs_may_delete(struct cr_runs_job *job)
{
    if (job->o->yes || job->o->dry_run ||
        (isatty(STDIN_FILENO) && isatty(STDERR_FILENO)))
        return true;
    cr_error(job->cli->diag, CR_NOWHERE, CR_E_USAGE,
             "runs %s asks before it deletes, but standard input or standard "
             "error is not a terminal",
             job->cli->operands[0]);
    cr_hint(job->cli->diag, "use --yes to delete without a question, or "
                            "--dry-run to see what would be deleted");
    return false;
}

bool cr_runs_confirm(struct cr_runs_job *job, const char *question)
{
    char answer[64] = "";

    if (job->o->yes)
        return true;
    fflush(stdout);
    fprintf(stderr, "%s [y/N] ", question);
    fflush(stderr);
    if (!fgets(answer, sizeof answer, stdin))
        fputc('\n', stderr);
    answer[strcspn(answer, "\n")] = '\0';
    if (strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0)
        return true;
    fputs("Nothing was deleted.\n", stderr);
    return false;
}
