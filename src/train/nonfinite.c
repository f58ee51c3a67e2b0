/*
 * train.nan: handling of a loss or gradient that is not finite.
 *
 *   stop      end the run with status 5
 *   skip      skip the update, as the loss scaler does: parameters, slots,
 *             schedule and EMA do not change, and the moving statistics are
 *             restored to their values before the step
 *   fallback  return to the last checkpoint of checkpoint.every, with its
 *             state and position in the data, and lower all rates from then
 *             on. The checkpoint is rewritten at once with the new factor, so
 *             that a run that is killed and resumed counts the same fallbacks.
 *
 * Both skip and fallback end the run after a maximum. A loss scaler handles
 * gradients first: overflows reach train.nan only when it gives up. A loss
 * that is not finite always does, since its value does not depend on the
 * scale.
 */
#include <inttypes.h>
#include <string.h>

#include "ckpt/checkpoint.h"
#include "train/gradient.h"
#include "train/nonfinite.h"
#include "train/ranks.h"
#include "train/run_start.h"
#include "train/save.h"
#include "train/train.h"
#include "train/unfreeze.h"

enum { NAN_ROW_MAX = 50, NAN_BACK_MAX = 5 };

static int64_t nan_most(const struct cr_train *t, int64_t unless)
{
    return t->opts.train.nan_give_up_after != CR_INT_NONE
               ? t->opts.train.nan_give_up_after
               : unless;
}

/* ---- Skipping an update */

const char *cr_train_why(struct cr_train *t, struct cr_arena *arena,
                         struct cr_exec *exec, enum cr_gradient bad)
{
    return cr_gradient_why(arena, exec, cr_gradient_text(bad),
                           t->state.step + 1,
                           bad == CR_GRADIENT_BAD_LOSS
                               ? 0
                               : t->fault.overflow_scale);
}

/* A suggested fix. cr_train_loss_scale_note adds more if the loss scale
 * overflowed. */
const char *cr_train_fix(struct cr_train *t, struct cr_exec *exec)
{
    const char *column = exec ? cr_exec_bad_column(exec) : NULL;
    const struct cr_node *lr = t->optim.opts->learning_rate.node;
    const char *clip = isnan(t->opts.train.clip.norm)
                           ? "; or clip the gradients: train.clip.norm=1"
                           : "";
    struct cr_ignored ignored;

    if (column)
        return cr_strf(t->arena,
                       "column '%s' of this batch has values that are not "
                       "finite: check the data",
                       column);
    if (exec && cr_exec_all_ignored(exec, &ignored))
        return cr_strf(t->arena,
                       "all labels of this batch (column '%s') are %" PRId64
                       ", which the loss ignores: a mean of no labels is NaN; "
                       "remove such samples, use larger batches or "
                       "train.nan=skip",
                       ignored.column, ignored.label);
    if (cr_state_updates(&t->state) == 0)
        return "this is the first update: check the scale of the inputs, the "
               "initial values (init) and the loss";
    if (lr && lr->kind != CR_NODE_INT && lr->kind != CR_NODE_REAL)
        return cr_strf(t->arena,
                       "try lower learning rates, such as a tenth: %g instead "
                       "of %g at this step%s",
                       t->last.lr / 10, t->last.lr, clip);
    return cr_strf(t->arena,
                   "try a lower learning rate, such as a tenth of %g: "
                   "optimizer.learning_rate=%g%s",
                   t->last.lr, t->last.lr / 10, clip);
}

/* Reports only the first of consecutive skipped updates; metrics.jsonl records
 * all. */
bool cr_train_nan_skip(struct cr_train *t, struct cr_exec *exec,
                       enum cr_gradient bad)
{
    struct cr_nan_state *s = &t->state.nan;
    struct cr_arena mem = { 0 };

    cr_net_statistics_restore(t->net);
    if (s->consecutive == 0)
        cr_console_log(&t->console, "%s: update skipped",
                       cr_train_why(t, &mem, exec, bad));
    s->consecutive++;
    s->skipped++;
    cr_train_record_more(t, "skipped", true,
                         cr_strf(&mem,
                                 ",\"what\":\"%s\",\"skipped\":%" PRId64
                                 ",\"in_a_row\":%" PRId64,
                                 cr_gradient_text(bad),
                                 cr_state_skipped(&t->state), s->consecutive));
    cr_arena_free(&mem);
    cr_net_skipped(t->net, cr_state_skipped(&t->state));
    if (s->consecutive < nan_most(t, NAN_ROW_MAX))
        return true;
    t->fault.why =
        cr_strf(t->arena, "%" PRId64 " consecutive update%s %s skipped: %s",
                s->consecutive, s->consecutive == 1 ? "" : "s",
                s->consecutive == 1 ? "was" : "were",
                cr_train_why(t, t->arena, exec, bad));
    return false;
}

/* ---- Falling back */

/* Loads the tensors into separate memory, because the file may be damaged. */
static bool nan_restore(struct cr_train *t)
{
    struct cr_tensor_file *file =
        cr_tensor_file_open(t->arena, t->diag, t->files.good);
    bool ok = file && cr_tensor_file_verify(file, t->diag) &&
              cr_train_restore(t, file);

    cr_tensor_file_close(file);
    return ok;
}

bool cr_train_nan_fallback(struct cr_train *t)
{
    struct cr_nan_state was = t->state.nan;
    struct cr_arena mem = { 0 };
    int64_t from = t->state.step + 1, most = nan_most(t, NAN_BACK_MAX);
    enum cr_outcome end = CR_RUNNING;

    if (t->opts.train.nan != CR_NAN_FALLBACK || !t->files.good)
        return false;
    if (was.fallbacks >= most) {
        t->fault.why =
            cr_strf(t->arena, "%s (after %" PRId64 " fallback%s)", t->fault.why,
                         was.fallbacks, was.fallbacks == 1 ? "" : "s");
        return false;
    }
    cr_net_slots_open(t->net);
    if (!cr_train_first_says(!t->dir.path || nan_restore(t)) ||
        !cr_train_follow(t) || !cr_train_refreeze(t))
        return false;
    t->state.nan.fallbacks = was.fallbacks + 1;
    t->state.nan.factor = was.factor * t->opts.train.nan_factor;
    t->optim.factor = t->state.nan.factor;
    cr_console_log(&t->console,
                   "%s: falling back to step %" PRId64
                   ", all learning rates multiplied by %g (fallback %" PRId64
                   " of %" PRId64 ")",
                   t->fault.why, t->state.step, t->state.nan.factor,
                   t->state.nan.fallbacks, most);
    if (!cr_train_first_says(!t->dir.path || (cr_train_drop_newer_ckpts(t) &&
                                               cr_train_reopen(t))))
        return false;
    cr_train_record_more(t, "fallback", false,
                         cr_strf(&mem,
                                 ",\"from\":%" PRId64 ",\"fallbacks\":%" PRId64
                                 ",\"factor\":%.17g",
                                 from, t->state.nan.fallbacks,
                                 t->state.nan.factor));
    cr_arena_free(&mem);
    t->files.step = -1;
    return cr_train_save(t, &end);
}

/* ---- The loss scale */

void cr_train_loss_scale_note(struct cr_train *t)
{
    const struct cr_loss_scale_opts *use = &t->optim.scale;
    bool moves = use->rule.window > 0;
    double scale = t->fault.overflow_scale;

    if (scale == 0 && !moves) /* skipped before the run was resumed */
        scale = t->state.scale.value;
    if (scale > 1)
        cr_note(t->diag,
                "the loss is finite, but its gradient times the loss scale %g "
                "is not: %s",
                scale,
                !moves ? "use a smaller scale (1024) in amp.loss_scale, or "
                         "DynamicLossScaleManager, which adapts it"
                : use->skip
                    ? "each skipped update lowers the scale; start with a "
                      "smaller one (amp.loss_scale), or allow more updates and "
                      "a larger amp.overflow.give_up_after"
                    : "set amp.overflow.skip_step: true to skip such updates "
                      "and lower the scale until none overflows");
}
