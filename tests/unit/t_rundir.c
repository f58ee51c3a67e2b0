/* Statuses and deletion of runs whose files change meanwhile. */
#include "tap.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "rundir/run_remove.h"
#include "rundir/run_status.h"

static struct cr_arena arena;
static struct cr_diag diag = { .arena = &arena };
static const char *folder, *record;

static void put(const char *status)
{
    const char *text = cr_strf(
        &arena, "{\"cellrun\":\"1\",\"id\":\"a\",\"status\":\"%s\"}", status);

    if (!cr_write_file(&diag, record, text, strlen(text)))
        abort();
}

static void statuses(void)
{
    struct cr_runs runs = { .arena = &arena, .diag = &diag };

    put("running");
    if (!cr_runs_add(&runs, folder) || runs.n != 1)
        abort();
    put("completed");
    cr_runs_settle_status(&runs);
    ok(strcmp(cr_run_status(&runs.run[0]), "completed") == 0,
       "a run that ended after its record was read has its new status");
    runs.n = 0;
    put("running");
    cr_runs_add(&runs, folder);
    cr_runs_settle_status(&runs);
    ok(strcmp(cr_run_status(&runs.run[0]), "interrupted") == 0 &&
           !cr_run_is_running(&runs.run[0]),
       "a run without a process is interrupted");
    unlink(record);
    runs.n = 0;
    put("running");
    cr_runs_add(&runs, folder);
    unlink(record);
    cr_runs_settle_status(&runs);
    ok(strcmp(cr_run_status(&runs.run[0]), "interrupted") == 0,
       "so is one that has been deleted");
}

static void removal(void)
{
    struct cr_run_contents c;

    put("running");
    ok(cr_run_remove(&arena, &diag, folder, true) &&
           access(record, F_OK) == 0 && diag.errors == 0,
       "a run that has begun is not deleted as one that never began");
    ok(cr_run_contents(&arena, folder, &c) && c.files == 1 && c.n_others == 0,
       "and nothing else is left in its directory");
    ok(cr_run_remove(&arena, &diag, folder, false) &&
           access(folder, F_OK) != 0,
       "it is deleted as a run");
    ok(cr_run_remove(&arena, &diag, folder, false) && diag.errors == 0,
       "which another process may have done before");
    ok(!cr_run_contents(&arena, folder, &c), "then it has no contents");
    ok(cr_run_is_removed(".a.removed.7") && !cr_run_is_removed("a.removed.7") &&
           !cr_run_is_removed(".a.removed.") &&
           !cr_run_is_removed(".a.removed.7x") &&
           cr_run_is_removed(".x.removed.1.removed.2") &&
           !cr_run_is_removed(".removed"),
       "names of directories under deletion");
}

int main(void)
{
    char *top = cr_strdup(&arena, "/tmp/t_rundir.XXXXXX");

    if (!mkdtemp(top))
        abort();
    folder = cr_strf(&arena, "%s/run", top);
    record = cr_strf(&arena, "%s/record.json", folder);
    if (mkdir(folder, 0777) != 0)
        abort();
    statuses();
    removal();
    ok(rmdir(top) == 0, "nothing is left");
    cr_arena_free(&arena);
    return done();
}
