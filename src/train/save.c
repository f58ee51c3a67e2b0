/*
 * Checkpoints and records of a run.
 *
 * A write error is reported once, and the run continues unless
 * `checkpoint.on_save_error` is abort. In either case it ends with status 1.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/table.h"
#include "ckpt/dtype.h"
#include "ckpt/vocab.h"
#include "tensorboard/tensorboard.h"
#include "mpi/mpi.h"
#include "train/nonfinite.h"
#include "train/prepare.h"
#include "train/ranks.h"
#include "train/save.h"
#include "train/train.h"

/* ---- Records */

/* Seconds since 1970 with milliseconds. */
static double save_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-3 * (double)(now.tv_nsec / 1000000);
}

/* `ahead`: the record belongs to the next step, so resuming from a checkpoint
 * of the present state must drop it. A sample count larger by one marks it. */
static void save_record_of(struct cr_train *t, struct cr_buf *b,
                           const char *split, bool ahead, int64_t epoch)
{
    int64_t step = t->state.step + ahead;

    cr_buf_f(b,
             "{\"t\":%.3f,\"step\":%" PRId64 ",\"epoch\":%" PRId64
             ",\"samples\":%" PRId64 ",\"split\":\"%s\"",
             save_time(), step, epoch, t->state.samples + ahead, split);
}

static void save_record_head(struct cr_train *t, struct cr_buf *b,
                             const char *split, bool ahead)
{
    save_record_of(t, b, split, ahead,
                   cr_state_epoch_of(&t->state, t->state.step + ahead));
}

static void save_member(struct cr_buf *b, const char *name, double value)
{
    cr_buf_f(b, ",\"%s\":", name);
    cr_buf_real(b, value);
}

static void save_line(struct cr_train *t, struct cr_buf *b)
{
    cr_buf_str(b, "}\n");
    cr_append_file_add(&t->dir.metrics, b->text, b->len);
    cr_tensorboard_record(t->observers.tensorboard, b->text, b->len);
}

bool cr_train_records_norm(const struct cr_train *t)
{
    return t->opts.log.grad_norm || !isnan(t->opts.train.clip.norm);
}

void cr_train_record(struct cr_train *t, bool ahead, double grad_norm,
                     double rate)
{
    struct cr_arena mem = { 0 };
    struct cr_buf b = { .arena = &mem };

    save_record_head(t, &b, "train", ahead);
    save_member(&b, "loss", t->last.loss);
    for (int i = 0; i < t->last.n_aux; i++)
        save_member(&b, t->last.aux_names[i], t->last.aux[i]);
    save_member(&b, "lr", t->last.lr);
    if (cr_train_records_norm(t))
        save_member(&b, "grad_norm", grad_norm);
    if (t->optim.scale.on)
        save_member(&b, "loss_scale", t->state.scale.value);
    if (cr_train_may_skip(t))
        cr_buf_f(&b, ",\"skipped\":%" PRId64, cr_state_skipped(&t->state));
    cr_buf_f(&b, ",\"samples_per_s\":%.0f", rate);
    save_line(t, &b);
    cr_arena_free(&mem);
}

void cr_train_record_overflow(struct cr_train *t, double scale)
{
    struct cr_arena mem = { 0 };
    struct cr_buf b = { .arena = &mem };

    save_record_head(t, &b, "overflow", true);
    save_member(&b, "loss", t->last.loss);
    save_member(&b, "loss_scale", scale);
    save_member(&b, "next_scale", t->state.scale.value);
    cr_buf_f(&b, ",\"skipped\":%" PRId64, cr_state_skipped(&t->state));
    save_line(t, &b);
    cr_arena_free(&mem);
}

void cr_train_record_eval(struct cr_train *t)
{
    struct cr_arena mem = { 0 };
    struct cr_buf b = { .arena = &mem };

    save_record_of(t, &b, "eval", false, t->state.eval_epoch);
    cr_buf_char(&b, ',');
    cr_buf_scores(&b, &t->state.eval, true);
    if (t->state.epoch_loss.samples > 0)
        save_member(&b, "train_loss", cr_loss_mean(&t->state.epoch_loss));
    save_line(t, &b);
    cr_arena_free(&mem);
}

void cr_train_record_more(struct cr_train *t, const char *split, bool ahead,
                          const char *members)
{
    struct cr_arena mem = { 0 };
    struct cr_buf b = { .arena = &mem };

    save_record_head(t, &b, split, ahead);
    cr_buf_str(&b, members);
    save_line(t, &b);
    cr_arena_free(&mem);
}

void cr_train_record_text(struct cr_train *t, const char *text, size_t n)
{
    struct cr_arena mem = { 0 };
    struct cr_buf b = { .arena = &mem };

    save_record_head(t, &b, "sample", false);
    cr_buf_str(&b, ",\"text\":");
    cr_buf_json_n(&b, text, n);
    save_line(t, &b);
    cr_arena_free(&mem);
}

void cr_train_flush(struct cr_train *t)
{
    cr_append_file_flush(&t->dir.metrics, t->diag);
    cr_tensorboard_flush(t->observers.tensorboard, t->diag);
    cr_append_file_flush(&t->console.log, t->diag);
    cr_console_problems(&t->console, t->diag);
}

void cr_train_close_records(struct cr_train *t)
{
    cr_append_file_close(&t->dir.metrics, t->diag);
    cr_tensorboard_close(t->observers.tensorboard, t->diag);
    cr_append_file_close(&t->console.log, t->diag);
}

/* ---- Checkpoints */

static struct cr_tensor *save_tensors(struct cr_train *t,
                                            struct cr_arena *arena, int *n)
{
    struct cr_tensor *all;
    int params, slots, means;
    const struct cr_param *param = cr_net_params(t->net, &params);
    const struct cr_tensor *slot = cr_net_slots(t->net, &slots);
    const struct cr_tensor *mean = cr_net_ema_tensors(t->net, &means);

    if (t->opts.checkpoint.weights_only)
        slots = 0;
    if (t->opts.checkpoint.weights_only && !t->opts.eval.use_ema)
        means = 0;
    *n = params + slots + means;
    all = CR_NEWS(arena, struct cr_tensor, *n + 1);
    for (int i = 0; i < params; i++)
        all[i] =
            (struct cr_tensor){ param[i].name, param[i].spec, param[i].data };
    for (int i = 0; i < slots; i++)
        all[params + i] = slot[i];
    for (int i = 0; i < means; i++)
        all[params + slots + i] = mean[i];
    return all;
}

/* The checkpoint counts as saved even if its links could not be made: they are
 * made with the next checkpoint or when the run is resumed. */
static bool save_publish(struct cr_train *t, const char *path)
{
    bool best = t->state.best_metric && t->state.best_step == t->state.step;
    struct cr_retention retention = {
        .path = path,
        .best = best ? path : t->files.best_waits,
        .keep = t->opts.checkpoint.keep_checkpoint_max,
        .resumed = t->files.resumed,
        .good = t->files.good,
    };

    t->files.best_waits = NULL;
    if (cr_ckpt_retain(t->diag, &retention))
        return true;
    t->files.best_waits = retention.best;
    cr_note(t->diag,
            "the checkpoint itself is saved; the links best and last are "
            "updated with the next one, or when the run is resumed");
    return false;
}

/* Converts the tensors to the type that the files have, where their values
 * allow it. */
static void save_convert(struct cr_train *t, struct cr_arena *arena,
                         struct cr_tensor *tensors, int n)
{
    enum cr_type type = cr_dtype_of(t->opts.checkpoint.dtype);

    for (int i = 0; i < n; i++)
        if (!cr_dtype_convert(arena, &tensors[i], type))
            cr_warn(t->diag, CR_NOWHERE, CR_E_OUT_OF_RANGE, CR_DTYPE_BEYOND,
                    cr_escape(t->arena, tensors[i].name),
                    cr_type_name(tensors[i].spec.type), cr_type_name(type));
}

static bool save_write(struct cr_train *t, const char *path)
{
    struct cr_arena mem = { 0 };
    struct cr_ckpt ckpt = { .train = !t->opts.checkpoint.weights_only,
                            .config = t->yaml };
    struct cr_meta more[2];
    const char *vocab = cr_vocabs_json(&mem, t->config);
    struct cr_tensor *tensors;
    bool ok;

    tensors = save_tensors(t, &mem, &ckpt.n);
    save_convert(t, &mem, tensors, ckpt.n);
    ckpt.tensors = tensors;
    t->state.fitted = cr_data_loader_fitted(t->loader, &mem);
    ckpt.state = cr_state_write(&mem, &t->state);
    ckpt.more = more;
    if (!ckpt.train) /* read by eval and predict */
        more[ckpt.n_more++] = (struct cr_meta){ "cellrun.state", ckpt.state };
    if (vocab)
        more[ckpt.n_more++] = (struct cr_meta){ "cellrun.vocab", vocab };
    ok = cr_ckpt_write(t->diag, path, &ckpt);
    t->state.fitted = NULL;
    cr_arena_free(&mem);
    return ok;
}

const char *cr_train_ckpt_name(const struct cr_train *t, int64_t step)
{
    int64_t batch, epoch = cr_state_name_of(&t->state, step, &batch) + 1;

    return cr_ckpt_name(t->arena, t->dir.ckpt, t->name, epoch, batch);
}

/* Whether train.nan may return to a checkpoint of this step. One that a signal
 * asked for is excluded: an interrupted run would otherwise differ from an
 * uninterrupted one. */
static bool save_is_good(const struct cr_train *t)
{
    return t->opts.train.nan == CR_NAN_FALLBACK &&
           (t->state.nan.good_step < 0 || t->every.save.seconds > 0 ||
            cr_interval_due(&t->every.save, t->state.step));
}

void cr_train_keep_best(struct cr_train *t)
{
    t->files.best = (struct cr_best){ .metric = t->state.best_metric,
                                .value = t->state.best,
                                .step = t->state.best_step };
}

/* Restores the previous best result after the parameters of a new one could
 * not be saved, so that later evaluations are compared with what exists. The
 * diagnostic reported last concerns the file `path`, unless it is NULL. */
static void save_lose_best(struct cr_train *t, const char *path)
{
    struct cr_state *s = &t->state;

    if (!s->best_metric || s->best_step == t->files.best.step)
        return;
    if (path)
        cr_note(t->diag,
                "the best result so far, %s %.4f at epoch %" PRId64
                ", is not saved%s",
                s->best_metric, s->best, cr_state_best_epoch(&t->state),
                t->files.best.metric ? ": the previous best checkpoint stays"
                                     : "");
    s->best_metric = t->files.best.metric;
    s->best = t->files.best.value;
    s->best_step = t->files.best.step;
}

static bool save_now(struct cr_train *t, enum cr_outcome *end)
{
    int64_t step = t->state.step, good = t->state.nan.good_step;
    const char *path, *good_path = t->files.good;
    struct cr_nonfinite bad;

    bad = (struct cr_nonfinite){ "", "", false };
    if (cr_mpi_rank() == 0) /* it has all slots */
        bad = cr_net_nonfinite(t->net);
    bad.name = cr_mpi_broadcast_text(t->arena, bad.name, 0);
    if (*bad.name) {
        t->fault.why =
            cr_strf(t->arena, "%s%s is not finite after step %" PRId64,
                         bad.name,
                         *bad.type ? cr_strf(t->arena, " (%s)", bad.type) : "",
                         step);
        t->fault.fix = cr_train_fix(t, NULL);
        save_lose_best(t, NULL);
        *end = CR_OUTCOME_DIVERGED;
        return false;
    }
    /* The records up to a checkpoint must be on disk before the checkpoint
     * is. */
    cr_append_file_sync(&t->dir.metrics, t->diag);
    cr_tensorboard_flush(t->observers.tensorboard, t->diag);
    path = cr_train_ckpt_name(t, step);
    if (save_is_good(t)) {
        t->state.nan.good_step = step;
        t->files.good = path;
    }
    t->files.step = step; /* also after an error: the next checkpoint is still
                             tried */
    t->files.eval_step = t->state.eval_step;
    if (cr_train_first_says(!t->dir.path || save_write(t, path))) {
        t->files.newest = path;
        cr_train_keep_best(t);
        if (cr_train_first_says(!t->dir.path || save_publish(t, path)))
            return true;
    } else {
        t->state.nan.good_step = good;
        t->files.good = good_path;
        save_lose_best(t, path);
    }
    t->files.unsaved = true;
    cr_console_problems(&t->console, t->diag);
    if (t->opts.checkpoint.on_save_error != CR_SAVE_ABORT)
        return true;
    *end = CR_OUTCOME_FAILED;
    return false;
}

bool cr_train_save(struct cr_train *t, enum cr_outcome *end)
{
    bool ok;

    if (t->flags.no_ckpt || (t->files.step == t->state.step &&
                             t->files.eval_step == t->state.eval_step))
        return true;
    cr_net_slots_gather(t->net);
    ok = save_now(t, end);
    cr_net_slots_close(t->net);
    return ok;
}
