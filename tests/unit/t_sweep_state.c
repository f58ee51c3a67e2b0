/*
 * States of the points of a sweep: from records, from claims of processes, and
 * from the note of a run that failed without a record.
 */
#include "sweep/sweep.h"
#include "tap.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"

static struct cr_arena arena;
static struct cr_diag diag = { .arena = &arena };
static struct cr_sweep sweep = { .arena = &arena, .diag = &diag };
static struct cr_sweep_point point = { .id = "0123abcd",
                                       .epochs = 3,
                                       .steps = CR_INT_NONE };

static void put(const char *path, const char *text)
{
    if (!cr_write_file(&diag, path, text, strlen(text)))
        abort();
}

/* The state after the run has left this record. */
static enum cr_sweep_state state(const char *record)
{
    put(cr_path_join(&arena, point.dir, "record.json"), record);
    cr_sweep_refresh(&sweep, &point);
    return point.state;
}

static bool is(const char *text, const char *want)
{
    return text && strcmp(text, want) == 0;
}

static void records(void)
{
    cr_sweep_refresh(&sweep, &point);
    ok(point.state == CR_POINT_WAITING && point.exit == -1 &&
           isnan(point.metric) && !point.error,
       "a point without a run directory waits");
    mkdir(point.dir, 0777);
    cr_sweep_refresh(&sweep, &point);
    ok(point.state == CR_POINT_WAITING, "as one whose run left no record");

    ok(state("{\"status\": \"completed\", \"exit\": 0, \"epochs\": 3, "
             "\"seconds\": 2.5, \"best\": {\"metric\": \"accuracy\", "
             "\"mode\": \"max\", \"value\": 0.75, \"step\": 38}}") ==
           CR_POINT_DONE,
       "a completed run of the length of the config is done");
    ok(is(sweep.metric, "eval.accuracy") && sweep.best_maximize &&
           point.metric == 0.75 && point.best_step == 38 &&
           point.seconds == 2.5 && point.exit == 0,
       "with the metric of the best checkpoint");
    point.epochs = 4;
    cr_sweep_refresh(&sweep, &point);
    ok(point.state == CR_POINT_INTERRUPTED, "a longer one continues");
    point.epochs = 3;
    ok(state("{\"status\": \"early_stopped\", \"exit\": 0, \"epochs\": 1}") ==
           CR_POINT_DONE,
       "a run that stopped early is done");
    ok(point.best_step == 0 && isnan(point.metric) && point.seconds == 0,
       "and what an earlier record said is forgotten");
    ok(state("{\"status\": \"diverged\", \"exit\": 5, \"epochs\": 1, "
             "\"error\": \"the loss is not finite\"}") == CR_POINT_FAILED &&
           point.exit == 5 && is(point.error, "the loss is not finite"),
       "a run that diverged has failed");
    ok(state("{\"status\": \"interrupted\", \"exit\": 143, \"epochs\": 1, "
             "\"best\": {\"metric\": \"accuracy\", \"value\": 0.5, "
             "\"step\": 7}}") == CR_POINT_INTERRUPTED &&
           !point.error && point.best_step == 7,
       "a run that was interrupted continues");
    ok(state("{\"status\": \"comp") == CR_POINT_WAITING &&
           point.best_step == 0 && point.exit == -1,
       "a damaged record is none");
}

/* What a second process sees while this one holds the claim. */
static int other_process(void)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        struct cr_sweep_point same = point;

        same.mine = false;
        cr_sweep_refresh(&sweep, &same);
        _exit((int)same.state + (cr_sweep_claim(&sweep, &same) >= 0 ? 100 : 0));
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        abort();
    return WEXITSTATUS(status);
}

static void claims(void)
{
    int claim = cr_sweep_claim(&sweep, &point), second;

    ok(claim >= 0, "a point that no process works on can be claimed");
    ok(other_process() == CR_POINT_RUNNING,
       "another process sees that it runs, and cannot claim it");
    second = cr_sweep_claim(&sweep, &point);
    ok(second == -1 && diag.errors == 0,
       "nor does this process twice; that is no error");
    close(claim);
    ok(other_process() == CR_POINT_WAITING + 100,
       "a claim ends with its holder");

    claim = cr_sweep_claim(&sweep, &point);
    ok(cr_sweep_note_failure(&sweep, &point, claim, 3, "no such data set"),
       "a failure is noted");
    close(claim);
    cr_sweep_refresh(&sweep, &point);
    ok(point.state == CR_POINT_FAILED && point.exit == 3 &&
           is(point.error, "no such data set"),
       "a note of a failure is read back");
    claim = cr_sweep_claim(&sweep, &point);
    cr_sweep_note_failure(&sweep, &point, claim, 0, NULL);
    close(claim);
    cr_sweep_refresh(&sweep, &point);
    ok(point.state == CR_POINT_WAITING && point.exit == -1 && !point.error,
       "and is gone when the point starts again");
    claim = open("/dev/full", O_RDWR);
    ok(!cr_sweep_note_failure(&sweep, &point, claim, 3, "x") &&
           diag.errors == 1,
       "one that cannot be written is an error");
    close(claim);
    diag.errors = 0;
}

static void unusable(void)
{
    const char *folder = cr_path_join(&arena, sweep.dir, CR_SWEEP_CLAIMS);
    const char *path = cr_path_join(&arena, folder, point.id);

    unlink(path);
    if (symlink("../elsewhere", path) != 0)
        abort();
    ok(cr_sweep_claim(&sweep, &point) == -1 && diag.errors == 1,
       "a claim that is a link is an error");
    unlink(path);
    rmdir(folder);
    put(folder, "a file");
    ok(cr_sweep_claim(&sweep, &point) == -1 && diag.errors == 2,
       "as is a folder of claims that is a file");
    unlink(folder);
}

int main(void)
{
    char dir[] = "/tmp/cellrun-sweep-XXXXXX";

    sweep.dir = mkdtemp(dir);
    if (!sweep.dir)
        abort();
    point.dir = cr_path_join(&arena, sweep.dir, point.id);
    records();
    claims();
    unusable();
    unlink(cr_path_join(&arena, point.dir, "record.json"));
    ok(rmdir(point.dir) == 0 && rmdir(sweep.dir) == 0, "nothing else is left");
    cr_arena_free(&arena);
    return done();
}
