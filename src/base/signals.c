#include "base/signals.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t signals_stop, signals_hup, signals_usr1,
    signals_usr2, signals_some;
static volatile sig_atomic_t signals_training, signals_usr1_ends;
static volatile sig_atomic_t signals_bar;
static volatile double signals_suspended; /* written while nothing else runs */
static const char *volatile signals_lock, *volatile signals_folder;
static bool signals_shared;
/* stop, HUP, USR1, USR2 of this process alone */
static volatile sig_atomic_t signals_own[CR_SIGNALS];

static void signals_erase(void)
{
    static const char erase[] = CR_SIGNALS_ERASE;

    if (signals_bar)
        (void)!write(STDERR_FILENO, erase, sizeof erase - 1);
    signals_bar = 0;
}

static void signals_quit(int status)
{
    const char *lock = signals_lock, *folder = signals_folder;

    signals_erase();
    if (lock)
        unlink(lock);
    if (folder)
        rmdir(folder);
    _exit(status);
}

static volatile sig_atomic_t *const signals_all[CR_SIGNALS] = {
    &signals_stop, &signals_hup, &signals_usr1, &signals_usr2
};

static void signals_note(int i, int value)
{
    if (signals_shared) {
        signals_own[i] = value;
        return;
    }
    *signals_all[i] = value;
    signals_some = 1;
}

static void signals_catch(int sig)
{
    switch (sig) {
    case SIGINT:
    case SIGTERM:
        if (signals_stop || !signals_training)
            signals_quit(128 + sig);
        signals_note(0, sig);
        break;
    case SIGHUP:
        signals_note(1, 1);
        break;
    case SIGUSR1:
        if (signals_usr1_ends && !signals_training)
            signals_quit(CR_STATUS_AGAIN);
        signals_note(2, 1);
        break;
    default:
        signals_note(3, 1);
    }
}

/* Suspends the process with the default action, and counts the time. */
static void signals_suspend(int sig)
{
    struct sigaction plain = { .sa_handler = SIG_DFL }, ours;
    struct timespec from, to;
    sigset_t set, old;
    int error = errno;

    signals_erase();
    sigemptyset(&plain.sa_mask);
    sigemptyset(&set);
    sigaddset(&set, sig);
    clock_gettime(CLOCK_MONOTONIC, &from);
    sigaction(sig, &plain, &ours);
    raise(sig);
    pthread_sigmask(SIG_UNBLOCK, &set, &old); /* stops here */
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    sigaction(sig, &ours, NULL);
    clock_gettime(CLOCK_MONOTONIC, &to);
    signals_suspended += (double)(to.tv_sec - from.tv_sec) +
                         1e-9 * (double)(to.tv_nsec - from.tv_nsec);
    errno = error;
}

void cr_signals_init(void)
{
    static const int ends[] = { SIGINT, SIGTERM };
    struct sigaction act = { .sa_handler = signals_catch }, old;

    sigemptyset(&act.sa_mask);
    for (unsigned i = 0; i < sizeof ends / sizeof ends[0]; i++)
        if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(ends[i], &act, NULL);
}

/* Signals ignored at the start stay ignored (nohup). INT is the exception:
 * shells ignore it for background jobs, which would disable kill -INT. */
void cr_signals_start(void)
{
    static const int all[] = { SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 };
    struct sigaction act = { .sa_handler = signals_catch,
                             .sa_flags = SA_RESTART };
    struct sigaction old;

    sigemptyset(&act.sa_mask);
    for (unsigned i = 0; i < sizeof all / sizeof all[0]; i++)
        if (sigaction(all[i], NULL, &old) != 0 || old.sa_handler != SIG_IGN ||
            all[i] == SIGINT)
            sigaction(all[i], &act, NULL);
    act.sa_handler = signals_suspend;
    if (sigaction(SIGTSTP, NULL, &old) == 0 && old.sa_handler == SIG_DFL)
        sigaction(SIGTSTP, &act, NULL);
}

void cr_signals_bar(bool shown)
{
    signals_bar = shown;
}

double cr_signals_suspended(void)
{
    return signals_suspended;
}

void cr_signals_defer(void)
{
    signals_training = 1;
}

void cr_signals_lock(const char *path)
{
    signals_lock = path;
}

void cr_signals_folder(const char *path)
{
    signals_folder = path;
}

void cr_signals_usr1_stops(void)
{
    signals_usr1_ends = 1;
    if ((signals_usr1 || signals_own[2]) && !signals_training)
        signals_quit(CR_STATUS_AGAIN);
}

bool cr_signals_end(void)
{
    return signals_stop || (signals_usr1_ends && signals_usr1);
}

bool cr_signals_noted_end(void)
{
    return signals_own[0] || (signals_usr1_ends && signals_own[2]);
}

int cr_signals_stop(void)
{
    return signals_stop;
}

static bool signals_take(volatile sig_atomic_t *flag)
{
    if (!*flag)
        return false;
    *flag = 0;
    return true;
}

bool cr_signals_hup(void)
{
    return signals_take(&signals_hup);
}

bool cr_signals_usr1(void)
{
    return signals_take(&signals_usr1);
}

bool cr_signals_usr2(void)
{
    return signals_take(&signals_usr2);
}

void cr_signals_share(void)
{
    signals_shared = true;
    for (int i = 1; i < CR_SIGNALS; i++) /* those before are its own, too */
        if (signals_take(signals_all[i]))
            signals_own[i] = 1;
}

void cr_signals_take(int64_t all[CR_SIGNALS])
{
    for (int i = 0; i < CR_SIGNALS; i++) {
        /* one that arrives in between is not lost */
        all[i] = __atomic_exchange_n(&signals_own[i], 0, __ATOMIC_RELAXED);
    }
}

void cr_signals_give(const int64_t all[CR_SIGNALS])
{
    for (int i = 0; i < CR_SIGNALS; i++)
        if (all[i] != 0) {
            *signals_all[i] = (sig_atomic_t)all[i];
            signals_some = 1;
        }
}

bool cr_signals_any(void)
{
    bool some = signals_take(&signals_some);

    return some || signals_stop;
}
