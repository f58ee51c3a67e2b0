#include "train/ranks.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/signals.h"
#include "base/version.h"
#include "kernels/blas.h"
#include "mpi/mpi.h"
#include "train/run_start.h"
#include "train/save.h"
#include "train/train.h"
#include "train/unfreeze.h"

const char *cr_train_data(struct cr_arena *arena,
                          const struct cr_data_loader *loader)
{
    return loader ? cr_strf(arena, "%" PRId64 " samples, contents %08" PRIx32,
                            cr_data_loader_samples(loader),
                            cr_data_loader_dataset(loader)->contents)
                  : "none";
}

static bool same(struct cr_diag *diag, const char *what, const char *own)
{
    const char *first = cr_mpi_broadcast_text(diag->arena, own, 0);
    bool ok = strcmp(own, first) == 0 ||
              cr_error(diag, CR_NOWHERE, CR_E_CONFLICT,
                       "%s: found %s; rank 0 has %s", what, own, first);

    if (!ok && strcmp(what, "kernels") == 0)
        cr_hint(diag, "machines of different processors need the same "
                      "CELLRUN_ISA: mpirun -x CELLRUN_ISA=avx2");
    return cr_mpi_agree(diag, ok);
}

bool cr_train_same(struct cr_diag *diag, const struct cr_train_part *part,
                   size_t n)
{
    bool ok = cr_mpi_size() == 1 || (same(diag, "version", CR_VERSION) &&
                                     same(diag, "kernels", cr_blas_name()));

    for (size_t i = 0; ok && i < n && cr_mpi_size() > 1; i++)
        ok = same(diag, part[i].what, part[i].own);
    return ok;
}

bool cr_train_first_says(bool ok)
{
    int64_t said = ok;

    cr_mpi_broadcast(&said, sizeof said, 0);
    return said != 0;
}

bool cr_train_sync(struct cr_diag *diag, bool ok, double *now)
{
    enum { FAILED = CR_SIGNALS, CLOCK, ALL };
    int64_t say[ALL];

    if (cr_mpi_size() == 1)
        return ok;
    cr_signals_take(say);
    say[FAILED] = !ok;
    say[CLOCK] = cr_mpi_rank() == 0 ? (int64_t)(cr_now() * 1e9) : INT64_MIN;
    cr_mpi_max(say, ALL);
    cr_signals_give(say);
    *now = 1e-9 * (double)say[CLOCK];
    /* the second time, only to say who */
    return say[FAILED] == 0 || cr_mpi_agree(diag, ok);
}

/* ---- Following process 0 */

static void follow_tensors(const struct cr_tensor *x, int n)
{
    for (int i = 0; i < n; i++)
        cr_mpi_broadcast(x[i].data, cr_bytes(&x[i].spec), 0);
}

/* What is not in the state, but comes from the checkpoint. */
struct follow {
    double started;
    int64_t step, eval_step, resumed;
};

bool cr_train_follow(struct cr_train *t)
{
    bool first = cr_mpi_rank() == 0;
    struct follow f = { t->history.started, t->files.step, t->files.eval_step,
                        t->files.resumed != NULL };
    struct cr_state *s = &t->state;
    const char *state, *good;
    const struct cr_param *param;
    const struct cr_tensor *more;
    int n;

    if (cr_mpi_size() == 1)
        return true;
    state = cr_mpi_broadcast_text(
        t->arena, first ? cr_state_write(t->arena, s) : NULL, 0);
    good = cr_mpi_broadcast_text(t->arena, first ? t->files.good : NULL, 0);
    cr_mpi_broadcast(&f, sizeof f, 0);
    if (!first) {
        if (!cr_state_read(t->arena, t->diag, CR_NOWHERE, state, s))
            return false;
        t->files.good = good;
        t->files.step = f.step;
        t->files.eval_step = f.eval_step;
        t->history.started = f.started;
        if (f.resumed) {
            t->files.resumed = "";
            t->config->fitted = s->fitted;
        }
        cr_train_keep_best(t);
        s->stopped_early = t->opts.train.early_stop.patience > 0 &&
                           s->wait >= t->opts.train.early_stop.patience;
        t->optim.factor = s->nan.factor;
    }
    param = cr_net_params(t->net, &n);
    for (int i = 0; i < n; i++)
        cr_mpi_broadcast(param[i].data, cr_bytes(&param[i].spec), 0);
    cr_net_slots_share(t->net);
    if (!first && t->opts.train.ema.decay > 0 &&
        !cr_net_ema_tensors(t->net, &n))
        cr_net_ema(t->net);
    more = cr_net_ema_tensors(t->net, &n);
    follow_tensors(more, n);
    return true;
}

static void follow_start(struct cr_train *t)
{
    cr_console_open(&t->console, CR_PROGRESS_NONE,
                    (struct cr_diag_format){ 0 });
    t->last.loss = NAN;
    cr_train_start_fresh(t);
    t->dir.arena = t->arena;
    t->dir.diag = t->diag;
    t->dir.ckpt = "";
    if (t->opts.run.on_usr1 == CR_USR1_STOP)
        cr_signals_usr1_stops();
}

static bool start_all(struct cr_train *t)
{
    bool first = cr_mpi_rank() == 0, ok = true, over;

    cr_signals_share();
    cr_net_slots_open(t->net);
    if (first)
        ok = cr_train_start(t);
    else
        follow_start(t);
    if (!cr_mpi_agree(t->diag, ok))
        return false;
    over = cr_train_first_says(t->history.old_record != NULL);
    if (over && !first)
        t->history.old_record = t->config->root;
    if (over)
        return true;
    ok = cr_train_follow(t);
    ok = ok && cr_data_loader_prepare(t->loader, t->diag);
    if (!first)
        cr_signals_defer();
    t->history.started_step = t->state.step;
    return cr_mpi_agree(t->diag, ok);
}

bool cr_train_start_all(struct cr_train *t)
{
    return cr_train_prepare(t) &&
           (cr_mpi_size() == 1 ? cr_train_start(t) : start_all(t));
}

int cr_train_end_all(struct cr_train *t, enum cr_outcome end)
{
    int64_t status = 0;

    /* where another process has failed, process 0 knows its message */
    if (cr_mpi_rank() == 0 && end == CR_OUTCOME_FAILED && t->diag->errors == 0)
        cr_error(t->diag, CR_NOWHERE, CR_E_SYSTEM, "another process failed");
    if (cr_mpi_rank() == 0)
        status = cr_train_finish(t, end);
    cr_mpi_broadcast(&status, sizeof status, 0);
    return (int)status;
}

void cr_train_fail_alone(struct cr_train *t)
{
    cr_mpi_fail(t->diag, (struct cr_diag_format){ .json = t->cli->json,
                                                  .color = t->cli->color });
}
