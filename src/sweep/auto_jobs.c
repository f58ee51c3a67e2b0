/*
 * --jobs auto: measures how many runs with how many threads each train the most
 * samples per second in total.
 *
 * For 1, 2, 4 ... threads, as many copies of a point as the processors then
 * hold train for a moment in a temporary folder. Threads speed up small
 * networks little, and large networks compete for caches and memory, so only
 * the total can be compared.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/thread_pool.h"
#include "console/console.h"
#include "rundir/run_remove.h"
#include "rundir/series.h"
#include "sweep/sweep.h"

#define AUTO_SPAN 0.5   /* seconds between the records that are compared */
#define AUTO_LIMIT 30.0 /* seconds for them to appear */
#define AUTO_POLL 20000000L /* nanoseconds */
#define AUTO_GRACE 2.0  /* seconds to end after TERM */

struct auto_run {
    pid_t pid; /* 0: ended */
    const char *dir;
};

/* INT and TERM wait while runs are measured, so that these end, too, and the
 * folder is removed. */
struct auto_signals {
    sigset_t waited, before;
    int stop; /* the signal that came; 0: none */
};

/* Waits for a signal, or some seconds. */
static void auto_wait(struct auto_signals *s, long nanoseconds)
{
    struct timespec wait = { .tv_nsec = nanoseconds };
    int signal = sigtimedwait(&s->waited, NULL, &wait);

    if (signal > 0)
        s->stop = signal;
}

/* The arguments of a run that is measured: the point's, without an end, without
 * checkpoints, and with records in quick succession. */
static char **auto_argv(struct cr_sweep *sweep,
                        const struct cr_sweep_point *point, const char *dir,
                        int threads)
{
    static const char *const more[] = { "train.steps=1000000000000",
                                        "log.every=0.05 s",
                                        "log.report=false",
                                        "run.exec_on_eval=null" };
    struct cr_sweep_point run = *point;
    const char **sets;
    char **argv, **all;
    int n = 0;

    while (point->sets[n])
        n++;
    sets = CR_NEWS(sweep->arena, const char *, n + (int)CR_LEN(more) + 1);
    memcpy(sets, point->sets, (size_t)n * sizeof *sets);
    memcpy(sets + n, more, sizeof more);
    run.sets = sets;
    run.dir = dir;
    run.target = sweep->n_rungs; /* none: it does not stop at one */
    argv = cr_sweep_argv(sweep, &run, threads);
    for (n = 0; argv[n]; n++)
        ;
    all = CR_NEWS(sweep->arena, char *, n + 2);
    memcpy(all, argv, (size_t)n * sizeof *all);
    all[n] = cr_strdup(sweep->arena, "--no-ckpt");
    return all;
}

static pid_t auto_start(const struct auto_signals *s, char *const *argv)
{
    pid_t parent = getpid(), pid = fork();
    int null;

    if (pid != 0)
        return pid;
    null = open("/dev/null", O_RDWR);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || null < 0)
        _exit(1);
    for (int fd = 0; fd < 3; fd++)
        dup2(null, fd);
    sigprocmask(SIG_SETMASK, &s->before, NULL);
    execv("/proc/self/exe", argv);
    _exit(1);
}

/* Samples per second of a run; NAN: not known yet. */
static double auto_rate(const char *dir)
{
    struct cr_arena arena = { 0 };
    struct cr_diag quiet = { .arena = &arena };
    struct cr_run_series all = { .arena = &arena };
    const struct cr_series *s = NULL;
    double rate = NAN;

    if (cr_run_series_read(&all, &quiet, dir))
        s = cr_series_find(&all, "train");
    if (s && s->n > 1 && s->t[s->n - 1] - s->t[0] >= AUTO_SPAN)
        rate = (s->samples[s->n - 1] - s->samples[0]) /
               (s->t[s->n - 1] - s->t[0]);
    cr_arena_free(&arena);
    return rate;
}

/* The total of the runs once each has a rate; 0 if one ended before, a signal
 * came, or the time is over. */
static double auto_total(struct auto_signals *s, struct auto_run *run, int n)
{
    double end = cr_now() + AUTO_LIMIT, total = NAN;

    while (isnan(total) && cr_now() < end) {
        total = 0;
        auto_wait(s, AUTO_POLL);
        if (s->stop)
            return 0;
        for (int i = 0; i < n; i++) {
            if (run[i].pid <= 0 || waitpid(run[i].pid, NULL, WNOHANG) != 0) {
                run[i].pid = 0;
                return 0;
            }
            total += auto_rate(run[i].dir);
        }
    }
    return isnan(total) ? 0 : total;
}

static void auto_end(struct auto_run *run, int n)
{
    static const struct timespec pause = { .tv_nsec = AUTO_POLL };
    double end = cr_now() + AUTO_GRACE;
    bool remain = true;

    for (int i = 0; i < n; i++)
        if (run[i].pid > 0)
            kill(run[i].pid, SIGTERM);
    while (remain) {
        remain = false;
        for (int i = 0; i < n; i++) {
            if (run[i].pid > 0 && waitpid(run[i].pid, NULL, WNOHANG) != 0)
                run[i].pid = 0;
            if (run[i].pid > 0 && cr_now() > end)
                kill(run[i].pid, SIGKILL);
            remain |= run[i].pid > 0;
        }
        nanosleep(&pause, NULL);
    }
}

/* Samples per second of `jobs` runs with `threads` threads each; 0: unknown. */
static double auto_measure(struct auto_signals *s, struct cr_sweep *sweep,
                           const struct cr_sweep_point *point,
                           const char *folder, int jobs, int threads)
{
    struct auto_run *run = CR_NEWS(sweep->arena, struct auto_run, jobs);
    struct cr_diag quiet = { .arena = sweep->arena };
    double total;

    for (int i = 0; i < jobs; i++) {
        run[i].dir =
            cr_strf(sweep->arena, "%s/%d-%d", folder, threads, i);
        run[i].pid = auto_start(s, auto_argv(sweep, point, run[i].dir,
                                             threads));
    }
    total = auto_total(s, run, jobs);
    auto_end(run, jobs);
    for (int i = 0; i < jobs; i++)
        cr_run_remove(sweep->arena, &quiet, run[i].dir, false);
    return total;
}

/* Measures 1, 2, 4 ... threads up to all processors. False: nothing could be
 * measured. */
static bool auto_search(struct auto_signals *s, struct cr_sweep *sweep,
                        const struct cr_sweep_point *point, int64_t open,
                        const char *folder, struct cr_sweep_run *to)
{
    int cpus = cr_cpu_count();
    double best = 0;

    for (int threads = 1; threads <= cpus && !s->stop;
         threads = threads < cpus && 2 * threads > cpus ? cpus : 2 * threads) {
        int jobs = cpus / threads < open ? cpus / threads : (int)open;
        double rate = auto_measure(s, sweep, point, folder, jobs,
                                   threads);

        if (!sweep->cli->quiet && rate > 0)
            fprintf(stderr, "%d job%s with %d thread%s: %.0f samples/s\n", jobs,
                    jobs == 1 ? "" : "s", threads, threads == 1 ? "" : "s",
                    rate);
        if (rate > best) {
            best = rate;
            to->jobs = jobs;
            to->threads = threads;
        }
        auto_wait(s, 0); /* one that also ended the runs */
    }
    return best > 0;
}

int cr_sweep_auto_jobs(struct cr_sweep *sweep, struct cr_sweep_run *run)
{
    const char *tmp = getenv("TMPDIR");
    char *folder = cr_strf(sweep->arena, "%s/cellrun-sweep-XXXXXX",
                           tmp && *tmp ? tmp : "/tmp");
    const struct cr_sweep_point *point = NULL;
    struct auto_signals s = { .stop = 0 };
    int64_t open = 0;
    int cpus = cr_cpu_count();

    if (sweep->method->suggest) { /* points are added while it runs */
        cr_sweep_ask(sweep);
        open = sweep->opts.count - sweep->n;
    }
    for (int64_t i = 0; i < sweep->n; i++)
        if (cr_sweep_is_due(sweep, &sweep->point[i])) {
            point = point ? point : &sweep->point[i];
            open++;
        }
    if (!point)
        open = 0;
    run->jobs = 1;
    sigemptyset(&s.waited);
    sigaddset(&s.waited, SIGINT);
    sigaddset(&s.waited, SIGTERM);
    if (open == 0)
        return 0;
    sigprocmask(SIG_BLOCK, &s.waited, &s.before);
    if (run->threads_set > 0) /* nothing to choose */
        run->jobs = run->threads_set < cpus ? cpus / run->threads_set : 1;
    else if (open > 1 && cpus > 1 && mkdtemp(folder)) {
        if (!auto_search(&s, sweep, point, open, folder, run))
            run->jobs = cpus < open ? cpus : (int)open; /* one
                                                           thread each */
        rmdir(folder);
    }
    sigprocmask(SIG_SETMASK, &s.before, NULL);
    if (s.stop)
        return s.stop;
    if (!sweep->cli->quiet)
        fprintf(stderr, "--jobs auto: %d job%s", run->jobs,
                run->jobs == 1 ? "" : "s");
    if (!sweep->cli->quiet && run->threads > 0)
        fprintf(stderr, " with %d thread%s each", run->threads,
                run->threads == 1 ? "" : "s");
    if (!sweep->cli->quiet)
        fputc('\n', stderr);
    return 0;
}
