/*
 * States of points, read from their run directories, and claims.
 *
 * A process that starts a point holds the kernel's lock on DIR/.sweep/ID, which
 * its child inherits: until both have ended, no other process starts it. The
 * lock of the run directory, which the run takes later, protects the files
 * where kernel locks are local to a machine. A run that fails before it writes
 * its record leaves its status and error in that file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ckpt/run_index.h"
#include "sweep/sweep.h"
#include "rundir/run_lock.h"

#define STATE_TRIES 5 /* to lock a claim */

const char *cr_sweep_state_name(enum cr_sweep_state state)
{
    static const char *const names[] = { "waiting", "interrupted", "running",
                                         "stopped", "done", "failed" };

    return names[state];
}

static const char *state_claim_path(struct cr_arena *arena,
                                    const struct cr_sweep *sweep,
                                    const struct cr_sweep_point *point)
{
    return cr_strf(arena, "%s/" CR_SWEEP_CLAIMS "/%s", sweep->dir, point->id);
}

/* Opens the file of a claim; neither waits for a FIFO nor follows a link. */
static int state_open(struct cr_arena *arena, const struct cr_sweep *sweep,
                      const struct cr_sweep_point *point, int flags)
{
    return open(state_claim_path(arena, sweep, point),
                flags | O_NOFOLLOW | O_NONBLOCK, 0666);
}

static bool state_is_claimed(struct cr_arena *arena,
                             const struct cr_sweep *sweep,
                             const struct cr_sweep_point *point)
{
    int fd = point->mine
                 ? -1
                 : state_open(arena, sweep, point, O_RDONLY | O_CLOEXEC);
    bool claimed =
        fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;

    if (fd >= 0)
        close(fd);
    return claimed || cr_run_lock_is_live(arena, point->dir);
}

/* The failure of a run that left no record of it: "STATUS ERROR". */
static bool state_failure(struct cr_arena *arena, struct cr_sweep *sweep,
                          struct cr_sweep_point *point)
{
    char text[1024], *end;
    int fd = state_open(arena, sweep, point, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;

    if (fd >= 0)
        close(fd);
    if (n <= 0)
        return false;
    text[n] = '\0';
    text[strcspn(text, "\n")] = '\0';
    point->exit = (int)strtol(text, &end, 10);
    point->error = cr_strdup(sweep->arena, end + (*end == ' '));
    return true;
}

/* Whether the run is as long as the config sets. */
static bool state_is_complete(const struct cr_sweep_point *point,
                              const struct cr_node *record)
{
    const char *status = cr_json_str(record, "status", "");

    if (strcmp(status, "early_stopped") == 0)
        return true;
    if (strcmp(status, "completed") != 0)
        return false;
    return cr_json_int(record, "epochs", 0) >= point->epochs &&
           cr_json_int(record, "steps", 0) >= point->steps;
}

/* The metric that selects the best checkpoint by default, of a run without one
 * so far; NULL: it was not evaluated. */
static const char *state_default_metric(const struct cr_node *eval)
{
    static const char *const others[] = { "t", "step", "epoch", "samples",
                                          "loss", "train_loss" };

    for (CR_EACH(m, eval)) {
        bool is_metric = m->kind == CR_NODE_REAL || m->kind == CR_NODE_INT;

        for (size_t i = 0; i < CR_LEN(others); i++)
            is_metric = is_metric && strcmp(m->key, others[i]) != 0;
        if (is_metric)
            return m->key;
    }
    return cr_node_get(eval, "loss") ? "loss" : NULL;
}

/* The metric of the sweep: the best value if the metric selected the best
 * checkpoint, else the last. */
static void state_metric(struct cr_sweep *sweep, struct cr_sweep_point *point,
                         struct cr_runs *runs)
{
    const struct cr_node *best = cr_node_get(runs->run[0].record, "best");
    const struct cr_node *value;
    const char *metric = cr_json_str(best, "metric", NULL);
    const char *name =
        metric ? metric : state_default_metric(runs->run[0].eval);

    if (!sweep->metric && name) {
        sweep->metric = cr_strf(sweep->arena, "eval.%s", name);
        sweep->metric_found = true;
    }
    if (!sweep->metric)
        return;
    if (metric && strcmp(metric, cr_run_bare(sweep->metric)) == 0)
        sweep->best_maximize =
            strcmp(cr_json_str(best, "mode", "max"), "max") == 0;
    if (metric && strcmp(metric, cr_run_bare(sweep->metric)) == 0) {
        point->metric = cr_json_real(best, "value", NAN);
        point->best_step = cr_json_int(best, "step", 0);
        return;
    }
    value = cr_run_value(runs, &runs->run[0], sweep->metric);
    if (value && (value->kind == CR_NODE_REAL || value->kind == CR_NODE_INT))
        point->metric = value->real;
}

/* Sets the state of a point without a record. */
static void state_without_record(struct cr_arena *arena,
                                 struct cr_sweep *sweep,
                                 struct cr_sweep_point *point)
{
    struct stat st;

    if (stat(point->dir, &st) == 0 && S_ISDIR(st.st_mode) &&
        access(point->dir, R_OK | X_OK) != 0) {
        point->state = CR_POINT_FAILED;
        point->error =
            cr_strf(sweep->arena, "cannot read the run directory: %s",
                    strerror(errno));
    } else if (state_is_claimed(arena, sweep, point)) {
        point->state = CR_POINT_RUNNING;
    } else {
        point->state = state_failure(arena, sweep, point) ? CR_POINT_FAILED
                                                          : CR_POINT_WAITING;
    }
}

void cr_sweep_refresh(struct cr_sweep *sweep, struct cr_sweep_point *point)
{
    struct cr_arena arena = { 0 };
    struct cr_diag quiet = { .arena = &arena };
    struct cr_runs runs = { .arena = &arena, .diag = &quiet };
    const struct cr_node *record;
    const char *status, *error, *old = point->error ? point->error : "";

    point->exit = -1;
    point->metric = NAN;
    point->error = NULL;
    point->seconds = 0;
    point->best_step = point->length = 0;
    point->passed = 0;
    if (!cr_runs_add(&runs, point->dir) || runs.n == 0) {
        state_without_record(&arena, sweep, point);
        cr_arena_free(&arena);
        return;
    }
    record = runs.run[0].record;
    status = cr_json_str(record, "status", "");
    error = cr_json_str(record, "error", NULL);
    point->exit = (int)cr_json_int(record, "exit", -1);
    point->seconds = cr_json_real(record, "seconds", 0);
    point->length = cr_json_int(
        record, sweep->opts.halving.unit == CR_RUNG_STEPS ? "steps" : "epochs",
        0);
    point->evaluated = strcmp(status, "stopped") == 0 ||
                       strcmp(status, "completed") == 0;
    if (error)
        point->error = strcmp(error, old) == 0 ? old
                                               : cr_strdup(sweep->arena, error);
    state_metric(sweep, point, &runs);
    if (state_is_complete(point, record))
        point->state = CR_POINT_DONE;
    else if (state_is_claimed(&arena, sweep, point))
        point->state = CR_POINT_RUNNING;
    else if (strcmp(status, "failed") == 0 || strcmp(status, "diverged") == 0)
        point->state = CR_POINT_FAILED;
    else if (strcmp(status, "running") == 0 &&
             state_failure(&arena, sweep, point))
        point->state = CR_POINT_FAILED; /* while it was prepared */
    else
        point->state = CR_POINT_INTERRUPTED;
    cr_arena_free(&arena);
    if (sweep->n_rungs > 0)
        cr_sweep_rungs_read(sweep, point);
}

void cr_sweep_refresh_all(struct cr_sweep *sweep)
{
    for (int64_t i = 0; i < sweep->n; i++)
        if (sweep->point[i].state != CR_POINT_DONE)
            cr_sweep_refresh(sweep, &sweep->point[i]);
    cr_sweep_rungs_promote(sweep);
}

void cr_sweep_find_metric(struct cr_sweep *sweep)
{
    if (!sweep->metric_found)
        return;
    sweep->metric = NULL;
    for (int64_t i = 0; i < sweep->n; i++)
        cr_sweep_refresh(sweep, &sweep->point[i]);
}

/* Locks a claim; false: another process holds it. A process that reads the
 * state of the point holds it briefly (state_is_claimed). Where locks are not
 * supported, every claim succeeds. */
static bool state_lock(int fd)
{
    static const struct timespec moment = { .tv_nsec = 2000000 };

    for (int i = 0; i < STATE_TRIES; i++) {
        if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
            return true;
        nanosleep(&moment, NULL);
    }
    return false;
}

int cr_sweep_claim(struct cr_sweep *sweep, const struct cr_sweep_point *point)
{
    const char *folder = cr_path_join(sweep->arena, sweep->dir,
                                      CR_SWEEP_CLAIMS);
    int fd;

    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        cr_error(sweep->diag, cr_at_file(sweep->arena, folder), CR_E_SYSTEM,
                 "cannot create the folder: %s", strerror(errno));
        return -1;
    }
    fd = state_open(sweep->arena, sweep, point, O_RDWR | O_CREAT);
    if (fd < 0)
        cr_error(sweep->diag, cr_at_file(sweep->arena, folder), CR_E_SYSTEM,
                 "cannot write the folder: %s", strerror(errno));
    else if (state_lock(fd))
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

bool cr_sweep_note_failure(struct cr_sweep *sweep,
                           const struct cr_sweep_point *point, int claim,
                           int status, const char *error)
{
    const char *text =
        status ? cr_strf(sweep->arena, "%d %.900s\n", status, error) : "";
    size_t len = strlen(text);

    errno = ENOSPC; /* of a short write */
    return (ftruncate(claim, 0) == 0 &&
            pwrite(claim, text, len, 0) == (ssize_t)len) ||
           cr_error(sweep->diag,
                    cr_at_file(sweep->arena,
                               state_claim_path(sweep->arena, sweep, point)),
                    CR_E_SYSTEM, "cannot write the file: %s", strerror(errno));
}
