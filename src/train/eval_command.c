/*
 * run.exec_on_eval: a command after each evaluation.
 *
 * The shell runs it with the metrics in its environment, an empty standard
 * input, and cellrun's standard error as standard output, because standard
 * output holds only the summary. It has its own process group: INT from the
 * keyboard reaches cellrun alone, which then ends the command with all its
 * children. The run waits for it, at most until train.time_limit. The result
 * does not affect the run: a status other than 0 is a warning.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/signals.h"
#include "base/thread_pool.h"
#include "train/eval_command.h"
#include "train/save.h"
#include "train/train.h"

#define COMMAND_NAP 0.05  /* longest interval of polling, in seconds */
#define COMMAND_GRACE 5.0 /* seconds from SIGTERM to SIGKILL */

extern char **environ;

/* ---- The environment */

struct command_env {
    struct cr_arena *arena;
    char **v;
    size_t n, cap;
};

static void command_put(struct command_env *e, char *text)
{
    if (e->n + 1 >= e->cap) {
        size_t cap = 2 * e->cap + 64;

        e->v = cr_grow(e->arena, e->v, e->n, cap, sizeof *e->v);
        e->cap = cap;
    }
    e->v[e->n++] = text;
    e->v[e->n] = NULL;
}

/* Sets CELLRUN_METRIC_NAME; characters not allowed in names of shell variables
 * become '_'. */
static void command_metric(struct command_env *e, const struct cr_score *score)
{
    char *text = cr_strf(e->arena, "CELLRUN_METRIC_%s=%.17g", score->name,
                         score->value);

    for (char *p = text; *p && *p != '='; p++)
        if (!isalnum((unsigned char)*p))
            *p = '_';
    command_put(e, text);
}

static char **command_env(struct cr_train *t, struct cr_arena *mem)
{
    static const char *const ours[] = { "CELLRUN_METRIC_",  "CELLRUN_STEP=",
                                        "CELLRUN_EPOCH=",   "CELLRUN_IS_BEST=",
                                        "CELLRUN_RUN_DIR=", "CELLRUN_RUN_NAME=",
                                        NULL };
    const struct cr_state *s = &t->state;
    struct command_env e = { .arena = mem };
    char *dir = realpath(t->dir.path, NULL);

    for (char **p = environ; *p; p++) {
        const char *const *own = ours;

        while (*own && !cr_starts(*p, *own))
            own++;
        if (!*own)
            command_put(&e, *p);
    }
    for (int i = 0; i < s->eval.n; i++)
        if (s->eval.v[i].single)
            command_metric(&e, &s->eval.v[i]);
    command_put(&e, cr_strf(mem, "CELLRUN_STEP=%" PRId64, s->step));
    command_put(&e, cr_strf(mem, "CELLRUN_EPOCH=%" PRId64, s->eval_epoch));
    command_put(&e, cr_strf(mem, "CELLRUN_IS_BEST=%d",
                            s->best_metric && s->best_step == s->step));
    command_put(&e, cr_strf(mem, "CELLRUN_RUN_DIR=%s",
                            dir ? dir : t->dir.path));
    command_put(&e, cr_strf(mem, "CELLRUN_RUN_NAME=%s", t->name));
    free(dir);
    return e.v;
}

/* ---- Starting, waiting, ending */

static int command_spawn(const char *command, char *const *env, pid_t *pid)
{
    char *const argv[] = { (char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c",
                           (char *)(uintptr_t)command, NULL };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t none, plain;
    int error;

    sigemptyset(&none);
    sigemptyset(&plain);
    sigaddset(&plain, SIGPIPE); /* ignored by cellrun */
    sigaddset(&plain, SIGXFSZ);
    sigaddset(&plain, SIGCHLD);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null",
                                     O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK |
                                        POSIX_SPAWN_SETSIGDEF |
                                        POSIX_SPAWN_SETPGROUP);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setsigdefault(&attr, &plain);
    posix_spawnattr_setpgroup(&attr, 0);
    cr_thread_unpin(); /* must not inherit the affinity of this thread */
    error = posix_spawn(pid, "/bin/sh", &files, &attr, argv, env);
    cr_thread_restore_affinity();
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    return error;
}

static void command_nap(double seconds)
{
    struct timespec nap = { .tv_nsec = (long)(seconds * 1e9) };

    nanosleep(&nap, NULL);
}

/* Returns the status of waitpid, or -1 if another part of the program has
 * reaped the child. */
static int command_wait(struct cr_train *t, pid_t pid)
{
    double nap = 1e-3, asked = 0;
    int status;
    pid_t got;

    while ((got = waitpid(pid, &status, WNOHANG)) == 0 ||
           (got < 0 && errno == EINTR)) {
        double now = cr_now();

        if (asked == 0 &&
            (cr_signals_end() || cr_signals_noted_end() ||
             (t->length.time_limit > 0 &&
              now - t->history.started >= t->length.time_limit))) {
            kill(-pid, SIGTERM);
            asked = now;
        }
        if (asked > 0 && now - asked >= COMMAND_GRACE)
            kill(-pid, SIGKILL);
        command_nap(nap);
        nap = nap * 1.5 < COMMAND_NAP ? nap * 1.5 : COMMAND_NAP;
    }
    return got == pid ? status : -1;
}

void cr_train_eval_command(struct cr_train *t)
{
    const struct cr_node *node =
        cr_node_get(cr_section(t->config, "run"), "exec_on_eval");
    struct cr_pos pos = node ? node->pos : CR_NOWHERE;
    struct sigaction plain = { .sa_handler = SIG_DFL };
    struct cr_arena mem = { 0 };
    int64_t step = t->state.step;
    int error, status;
    pid_t pid;

    if (!t->opts.run.exec_on_eval || !t->dir.path ||
        !cr_config_allows(t->config, CR_RUN_COMMAND, t->opts.run.exec_on_eval))
        return;
    cr_console_clear(&t->console);
    cr_train_flush(t);
    fflush(stderr);
    /* An ignored SIGCHLD would discard the status. */
    sigaction(SIGCHLD, &plain, NULL);
    error = command_spawn(t->opts.run.exec_on_eval, command_env(t, &mem), &pid);
    status = error ? 0 : command_wait(t, pid);
    cr_arena_free(&mem);
    if (error)
        cr_warn(t->diag, pos, CR_E_SYSTEM,
                "'run.exec_on_eval' cannot be run at step %" PRId64 ": %s",
                step, strerror(error));
    else if (status != -1 && WIFSIGNALED(status))
        cr_warn(t->diag, pos, CR_E_SYSTEM,
                "'run.exec_on_eval' was ended by signal %d at step %" PRId64,
                WTERMSIG(status), step);
    else if (status != -1 && WEXITSTATUS(status) != 0)
        cr_warn(t->diag, pos, CR_E_SYSTEM,
                "'run.exec_on_eval' ended with status %d at step %" PRId64,
                WEXITSTATUS(status), step);
    cr_console_problems(&t->console, t->diag);
}
