/*
 * Runs the points of a sweep in local processes, each `cellrun train` with
 * --resume auto.
 *
 * Children have process groups of their own, so that a terminal's Ctrl-C
 * reaches them once, through this process; if this process dies they get TERM,
 * save and end.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"
#include "base/str.h"
#include "base/table.h"
#include "sweep/sweep.h"

#define RUN_POLL 0.2    /* seconds between checks of points of others */
#define RUN_TABLE 1.0   /* seconds between versions of sweep.tsv */
#define RUN_ATTEMPTS 5  /* of a point whose process was killed */
#define ERROR_MAX 4096  /* bytes of standard error that are kept */

struct run_job {
    pid_t pid;
    struct cr_sweep_point *point; /* NULL: free */
    int claim, err;               /* its claim; file of its standard error */
};

struct runner {
    struct cr_sweep *sweep;
    const struct cr_sweep_run *opts;
    struct run_job *job;
    int busy;
    sigset_t waited, before; /* signals that sigtimedwait takes */
    int stop;     /* signal that ends the sweep; 0: none */
    bool again;   /* a run ended with CR_STATUS_AGAIN */
    bool ending;  /* no further points are started */
    double written;
    bool changed;
};

char **cr_sweep_argv(struct cr_sweep *sweep, const struct cr_sweep_point *point,
                     int threads)
{
    struct cr_arena *arena = sweep->arena;
    int n = 0, n_files = sweep->cli->n_operands, n_sets = 0;
    const char *stop = cr_sweep_rungs_stop(sweep, point);
    char **argv;

    while (point->sets[n_sets])
        n_sets++;
    argv = CR_NEWS(arena, char *, n_files + n_sets + 13);
    argv[n++] = cr_strdup(arena, "cellrun");
    argv[n++] = cr_strdup(arena, "train");
    for (int i = 0; i < n_files; i++)
        argv[n++] = cr_strdup(arena, sweep->cli->operands[i]);
    for (int i = 0; i < n_sets; i++)
        if (!cr_starts(point->sets[i], "sweep.")) /* train ignores these */
            argv[n++] = cr_strdup(arena, point->sets[i]);
    if (stop)
        argv[n++] = cr_strdup(arena, stop);
    argv[n++] = cr_strdup(arena, "-q");
    argv[n++] = cr_strdup(arena, "-o");
    argv[n++] = cr_strdup(arena, point->dir);
    argv[n++] = cr_strdup(arena, "--resume=auto");
    if (threads > 0)
        argv[n++] = cr_strf(arena, "--threads=%d", threads);
    return argv;
}

/* ---- Starting */

/* The child's part: standard streams, signals, group; then the program. */
static CR_NORETURN void run_child(const struct runner *r, int err, pid_t parent,
                                  char *const *argv)
{
    int null = open("/dev/null", O_RDWR);

    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(143);
    if (null >= 0) {
        dup2(null, 0);
        dup2(null, 1);
    }
    dup2(err, 2);
    sigprocmask(SIG_SETMASK, &r->before, NULL);
    execv("/proc/self/exe", argv);
    _exit(1);
}

/* A file in memory for the messages of a child; -1 after reporting. */
static int run_error_file(struct cr_sweep *sweep)
{
    int first = memfd_create("messages", MFD_CLOEXEC), fd = -1;

    if (first >= 0) { /* the child's streams replace 0 to 2 */
        fd = fcntl(first, F_DUPFD_CLOEXEC, 3);
        close(first);
    }
    if (fd < 0)
        cr_error(sweep->diag, CR_NOWHERE, CR_E_SYSTEM,
                 "cannot create a temporary file: %s", strerror(errno));
    return fd;
}

/* Starts a point in a free job. False if it cannot be started. */
static bool run_start(struct runner *r, struct cr_sweep_point *point, int claim)
{
    struct cr_sweep *sweep = r->sweep;
    struct run_job *job = r->job;
    char **argv = cr_sweep_argv(sweep, point, r->opts->threads);
    pid_t parent = getpid();

    while (job->point)
        job++;
    job->err = run_error_file(sweep);
    if (job->err < 0)
        return false;
    if (!cr_sweep_note_failure(sweep, point, claim, 0, NULL)) {
        close(job->err);
        return false;
    }
    job->pid = fork();
    if (job->pid == 0)
        run_child(r, job->err, parent, argv);
    if (job->pid < 0) {
        cr_error(sweep->diag, CR_NOWHERE, CR_E_SYSTEM,
                 "cannot start a process: %s", strerror(errno));
        close(job->err);
        return false;
    }
    fcntl(claim, F_SETFD, FD_CLOEXEC);
    job->claim = claim;
    job->point = point;
    point->state = CR_POINT_RUNNING;
    point->attempts++;
    r->busy++;
    r->changed = true;
    return true;
}

/* Whether a point waits for a process. */
static bool run_is_open(const struct runner *r,
                        const struct cr_sweep_point *point)
{
    switch (point->state) {
    case CR_POINT_WAITING:
    case CR_POINT_INTERRUPTED:
        return point->attempts < RUN_ATTEMPTS;
    case CR_POINT_FAILED:
        return r->sweep->retry_failed && point->attempts == 0;
    default:
        return false;
    }
}

static bool run_is_mine(const struct runner *r,
                        const struct cr_sweep_point *point)
{
    for (int i = 0; i < r->opts->jobs; i++)
        if (r->job[i].point == point)
            return true;
    return false;
}

/* Claims and starts a point in a free job, unless another process has it. */
static void run_try(struct runner *r, struct cr_sweep_point *point)
{
    struct cr_sweep *sweep = r->sweep;
    int claim = cr_sweep_claim(sweep, point);

    if (claim < 0) {
        if (sweep->diag->errors > 0)
            r->ending = true;
        point->state = CR_POINT_RUNNING;
        return;
    }
    point->mine = true;
    cr_sweep_refresh(sweep, point); /* another process may have changed it */
    cr_sweep_rungs_settle(sweep, point);
    if (run_is_open(r, point) && run_start(r, point, claim))
        return;
    r->ending |= sweep->diag->errors > 0;
    point->mine = false;
    close(claim);
}

/* Starts points in free jobs, those of higher rungs first. Returns whether
 * points remain that are not done. */
static bool run_fill_points(struct runner *r)
{
    struct cr_sweep *sweep = r->sweep;
    int top = sweep->n_rungs > 0 ? sweep->n_rungs - 1 : 0;
    bool remain = r->busy > 0;

    cr_sweep_rungs_promote(sweep);
    r->ending |= sweep->diag->errors > 0;
    for (int rung = top; rung >= 0; rung--)
        for (int64_t i = 0; i < sweep->n; i++) {
            struct cr_sweep_point *point = &sweep->point[i];

            if (point->state == CR_POINT_RUNNING && !run_is_mine(r, point))
                remain = true;
            if (point->target != rung || !run_is_open(r, point))
                continue;
            if (r->ending || r->busy == r->opts->jobs)
                return true;
            run_try(r, point);
            remain = true;
        }
    return remain || r->busy > 0;
}

/* Starts points in free jobs, and asks the method for more. Returns whether
 * points remain that are not done. */
static bool run_fill(struct runner *r)
{
    struct cr_sweep *sweep = r->sweep;
    bool remain = run_fill_points(r);

    while (!r->ending && r->busy < r->opts->jobs && sweep->method->suggest) {
        if (!cr_sweep_more_points(sweep))
            r->ending = true;
        cr_sweep_refresh_all(sweep);
        if (r->ending || !cr_sweep_ask(sweep)) {
            r->ending |= sweep->diag->errors > 0;
            return run_fill_points(r);
        }
        remain = run_fill_points(r);
    }
    return remain || r->busy > 0;
}

/* ---- Ending */

/* The first message of a run, without its position's excerpt. */
static const char *run_error(struct cr_sweep *sweep, int fd, int status)
{
    char *text = cr_alloc(sweep->arena, 1, ERROR_MAX);
    ssize_t n = pread(fd, text, ERROR_MAX - 1, 0);
    char *line = n > 0 ? strstr(text, "error: ") : NULL;

    if (!line)
        return status > 128 ? cr_strf(sweep->arena, "ended by signal %d",
                                      status - 128)
                            : "";
    line += strlen("error: ");
    line[strcspn(line, "\n")] = '\0';
    return line;
}

static void run_report(struct runner *r, const struct cr_sweep_point *p)
{
    struct cr_sweep *sweep = r->sweep;

    if (sweep->cli->quiet)
        return;
    fprintf(stderr, "%s %s", p->id, cr_sweep_state_name(p->state));
    for (int c = 0; c < sweep->n_columns; c++)
        if (p->value[c])
            fprintf(stderr, " %s=%s", sweep->column[c], p->value[c]);
    if (p->state == CR_POINT_STOPPED)
        fprintf(stderr, "  at %" PRId64 " %s", p->length,
                cr_sweep_rungs_unit(sweep));
    if (p->state != CR_POINT_FAILED && sweep->metric && isfinite(p->metric))
        fprintf(stderr, "  %s %.4f", sweep->metric, p->metric);
    if (p->error && *p->error)
        fprintf(stderr, "  %s", cr_escape(sweep->arena, p->error));
    fputc('\n', stderr);
}

/* Whether a run that ended with this status has failed, although it left no
 * record of it: before its start, or because it is killed each time. */
static bool run_has_failed(const struct runner *r,
                           const struct cr_sweep_point *point, int status)
{
    if (point->state != CR_POINT_WAITING &&
        point->state != CR_POINT_INTERRUPTED)
        return false;
    if (status > 128)
        return !r->ending && point->attempts >= RUN_ATTEMPTS;
    return status != CR_STATUS_AGAIN;
}

static void run_ended(struct runner *r, struct run_job *job, int wait)
{
    struct cr_sweep *sweep = r->sweep;
    struct cr_sweep_point *point = job->point;
    int status = WIFEXITED(wait) ? WEXITSTATUS(wait) : 128 + WTERMSIG(wait);
    const char *error = run_error(sweep, job->err, status);
    bool failed;

    close(job->err);
    job->point = NULL;
    r->busy--;
    r->changed = true;
    cr_sweep_refresh(sweep, point);
    cr_sweep_rungs_settle(sweep, point);
    if (point->state == CR_POINT_STOPPED)
        point->attempts = 0;
    else if (status == CR_STATUS_AGAIN)
        r->again = r->ending = true;
    failed = run_has_failed(r, point, status);
    if (failed &&
        cr_sweep_note_failure(sweep, point, job->claim, status, error)) {
        point->state = CR_POINT_FAILED;
        point->exit = status;
        point->error = error;
    } else if (failed) {
        r->ending = true; /* a full disk is not the point's failure */
    }
    point->mine = false;
    close(job->claim);
    if (point->state == CR_POINT_DONE || point->state == CR_POINT_FAILED ||
        point->state == CR_POINT_STOPPED)
        run_report(r, point);
    if (point->state == CR_POINT_FAILED && r->opts->fail_fast)
        r->ending = true;
}

static void run_reap(struct runner *r)
{
    int wait;
    pid_t pid;

    while ((pid = waitpid(-1, &wait, WNOHANG)) > 0)
        for (int i = 0; i < r->opts->jobs; i++)
            if (r->job[i].point && r->job[i].pid == pid)
                run_ended(r, &r->job[i], wait);
}

static void run_forward(const struct runner *r, int signal)
{
    for (int i = 0; i < r->opts->jobs; i++)
        if (r->job[i].point)
            kill(r->job[i].pid, signal);
}

/* ---- The loop */

static void run_block_signals(struct runner *r)
{
    static const int list[] = { SIGCHLD, SIGINT, SIGTERM, SIGUSR1 };

    sigemptyset(&r->waited);
    for (size_t i = 0; i < CR_LEN(list); i++)
        sigaddset(&r->waited, list[i]);
    sigprocmask(SIG_BLOCK, &r->waited, &r->before);
}

/* Waits for a signal, or until the points of other processes are to be checked
 * again. */
static void run_wait(struct runner *r)
{
    struct timespec wait = { .tv_nsec = (long)(RUN_POLL * 1e9) };
    int signal = sigtimedwait(&r->waited, NULL, &wait);

    if (signal == SIGUSR1) {
        run_forward(r, signal);
    } else if (signal == SIGINT || signal == SIGTERM) {
        r->stop = signal;
        r->ending = true;
        run_forward(r, signal);
    } else if (signal < 0) {
        for (int64_t i = 0; i < r->sweep->n; i++) {
            struct cr_sweep_point *point = &r->sweep->point[i];

            if (point->state == CR_POINT_RUNNING && !run_is_mine(r, point)) {
                cr_sweep_refresh(r->sweep, point);
                r->changed |= point->state != CR_POINT_RUNNING;
            }
        }
    }
}

static void run_write(struct runner *r, bool end)
{
    double now = cr_now();

    if (!end && (!r->changed || now - r->written < RUN_TABLE))
        return;
    if (end) {
        cr_sweep_find_metric(r->sweep);
        cr_sweep_refresh_all(r->sweep);
    }
    if (!cr_sweep_write_table(r->sweep))
        r->ending = true;
    r->written = now;
    r->changed = false;
}

static int run_status(const struct runner *r)
{
    const struct cr_sweep *sweep = r->sweep;
    int64_t failed = 0;

    for (int64_t i = 0; i < sweep->n; i++)
        failed += sweep->point[i].state == CR_POINT_FAILED;
    if (r->stop)
        return 128 + r->stop;
    if (sweep->diag->errors > 0)
        return cr_diag_exit(sweep->diag);
    if (failed > 0)
        return CR_STATUS_SOME_FAILED;
    return r->again ? CR_STATUS_AGAIN : 0;
}

int cr_sweep_run(struct cr_sweep *sweep, const struct cr_sweep_run *run)
{
    struct runner r = { .sweep = sweep, .opts = run, .changed = true };

    r.job = CR_NEWS(sweep->arena, struct run_job, run->jobs);
    run_block_signals(&r);
    cr_sweep_refresh_all(sweep);
    while (run_fill(&r) && !(r.ending && r.busy == 0)) {
        run_write(&r, false);
        run_wait(&r);
        run_reap(&r);
    }
    run_write(&r, true);
    sigprocmask(SIG_SETMASK, &r.before, NULL);
    return run_status(&r);
}
