/*
 * Opening a run directory, and resuming from a checkpoint.
 */
#include "base/signals.h"
#include "rundir/config_diff.h"
#include "train/freeze_report.h"
#include "train/prepare.h"
#include "train/train.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/str.h"
#include "ckpt/json.h"
#include "ckpt/load.h"
#include "ckpt/provenance.h"
#include "ckpt/run_index.h"
#include "ckpt/vocab.h"
#include "kernels/blas.h"
#include "plugin/plugin.h"
#include "tensorboard/tensorboard.h"
#include "train/lint.h"
#include "train/run_record.h"
#include "train/run_start.h"
#include "train/save.h"
#include "train/unfreeze.h"

const char *cr_train_folder(struct cr_train *t)
{
    const char *runs = getenv("CELLRUN_RUNS");

    if (t->flags.run_dir)
        return t->flags.run_dir;
    if (t->opts.run.dir)
        runs = t->opts.run.dir;
    else if (!runs || !*runs)
        runs = "runs";
    return cr_strf(t->arena, "%s/%s/%.8s", runs, t->name, t->id);
}

/* ---- Checkpoints to resume from */

/* Opens and verifies a file without reporting. Returns NULL and sets *why on
 * error. */
static struct cr_tensor_file *start_sound(struct cr_arena *arena,
                                          const char *path,
                                          const struct cr_message **why)
{
    struct cr_diag quiet = { .arena = arena };
    struct cr_tensor_file *file = cr_tensor_file_open(arena, &quiet, path);

    if (file && !cr_tensor_file_verify(file, &quiet)) {
        cr_tensor_file_close(file);
        file = NULL;
    }
    *why = quiet.first;
    return file;
}

struct cr_tensor_file *cr_train_newest(struct cr_arena *arena,
                                       struct cr_diag *diag,
                                       const char *ckpt_dir, bool *none)
{
    int n;
    const struct cr_ckpt_file *list =
        cr_ckpt_list(arena, diag, ckpt_dir, NULL, &n);

    *none = n == 0;
    for (int i = 0; i < n; i++) {
        const struct cr_message *why;
        struct cr_tensor_file *file = start_sound(arena, list[i].path, &why);

        if (file)
            return file;
        if (i + 1 < n)
            cr_warn(diag, why->pos, why->code,
                    "%s; trying the previous checkpoint", why->text);
        else
            cr_error(diag, why->pos, why->code, "%s", why->text);
    }
    return NULL;
}

/* Recomputes the step of a run resumed with another batch size: it continues
 * with the batch that contains the next unseen sample. */
static void start_rebatch(struct cr_train *t)
{
    struct cr_state *s = &t->state;
    int64_t epoch = cr_state_epoch(s), before = s->step;
    int64_t batch, named = cr_state_name_of(s, before, &batch);
    double part;

    if (s->per_epoch == t->length.per_epoch &&
        s->grad_accum == t->length.grad_accum)
        return;
    cr_warn(t->diag, CR_NOWHERE, CR_E_CKPT_MISMATCH,
            "steps per epoch changed from %" PRId64 " to %" PRId64
            "; step numbers are recomputed",
            s->per_epoch / s->grad_accum,
            t->length.per_epoch / t->length.grad_accum);
    if (epoch > INT64_MAX / 4 / t->length.per_epoch) /* beyond any real run */
        epoch = INT64_MAX / 4 / t->length.per_epoch;
    s->step = (epoch * t->length.per_epoch + s->cursor / t->plans.batch) /
              t->length.grad_accum;
    s->per_epoch = t->length.per_epoch;
    s->grad_accum = t->length.grad_accum;
    /* The present step keeps the name of its checkpoint. */
    s->named_epoch = named;
    s->ckpt_name_offset =
        batch - (s->step * s->grad_accum - named * s->per_epoch);
    /* The same parameters are not evaluated again. */
    s->eval_step = before > 0 && s->eval_step == before ? s->step : -1;
    s->nan.good_step = -1;
    /* Counts of steps are scaled to the new step numbers. */
    part = before > 0 ? (double)s->step / (double)before : 0;
    s->best_step = (int64_t)(part * (double)s->best_step);
    s->scale.skipped = (int64_t)(part * (double)s->scale.skipped);
    s->nan.skipped = (int64_t)(part * (double)s->nan.skipped);
}

/* The vocabulary must be the same, since rows of embeddings belong to its
 * tokens. */
static bool start_same_tokens(struct cr_train *t,
                              const struct cr_tensor_file *file)
{
    const char *was = cr_tensor_file_meta(file, "cellrun.vocab");
    const char *is = cr_vocabs_json(t->arena, t->config);

    return !was || !is || strcmp(was, is) == 0 ||
           cr_error(
               t->diag, cr_at_file(t->arena, cr_tensor_file_path(file)),
               CR_E_CKPT_MISMATCH,
               "the vocabulary differs from the one the run was started with");
}

/* Finds the checkpoint to which the state falls back. If it is not in this
 * run's directory, the one just read is used. */
static void start_good(struct cr_train *t)
{
    int64_t step = t->state.nan.good_step;

    t->files.good = NULL;
    if (t->opts.train.nan != CR_NAN_FALLBACK) {
        t->state.nan.good_step = -1;
        return;
    }
    if (step >= 0)
        t->files.good = cr_train_ckpt_name(t, step);
    if (step >= 0 && access(t->files.good, F_OK) == 0)
        return;
    t->state.nan.good_step = t->state.step;
    t->files.good = t->files.newest;
}

/* Members of the state that come from this process, not from the checkpoint. */
static void start_state(struct cr_train *t)
{
    char *dir = realpath(t->config->dir, NULL);

    t->state.seed = t->opts.seed;
    t->state.config_dir = cr_strdup(t->arena, dir ? dir : t->config->dir);
    t->state.optimizer = t->optim.optim->about.name;
    t->state.plugins = cr_plugin_marks(t->config);
    free(dir);
}

bool cr_train_restore(struct cr_train *t, struct cr_tensor_file *file)
{
    const char *text = cr_tensor_file_meta(file, "cellrun.state");
    struct cr_pos at = cr_at_file(t->arena, cr_tensor_file_path(file));
    const struct cr_dataset *data = cr_data_loader_dataset(t->loader);
    bool ok;

    if (!cr_tensor_file_is_train(file) || !text) {
        cr_error(t->diag, at, CR_E_CKPT_FORMAT,
                 "contains only weights and cannot be resumed");
        cr_note(t->diag,
                "use train --load to start a new run from these weights");
        return false;
    }
    ok = cr_load_weights(file, t->config, t->net, true);
    ok = cr_load_slots(file, t->diag, t->net) && ok;
    if (t->opts.train.ema.decay > 0) {
        if (!t->files.resumed)
            cr_net_ema(t->net);
        ok = cr_load_means(file, t->diag, t->net) && ok;
    }
    ok = cr_state_read(t->arena, t->diag, at, text, &t->state) && ok;
    if (!ok)
        return false;
    if (!start_same_tokens(t, file))
        return false;
    if (t->state.fingerprint != data->fingerprint)
        cr_warn(t->diag, at, CR_E_CKPT_MISMATCH,
                "the data set has changed since the run was started");
    else if (t->state.has_contents && t->state.contents != data->contents)
        cr_warn(t->diag, at, CR_E_CKPT_MISMATCH,
                "the data set has changed since the run was started: its files "
                "have the same names and sizes, but different contents");
    if (!t->state.has_contents)
        t->state.contents = data->contents;
    cr_plugin_compare(t->config, t->state.plugins, at);
    t->files.trim.step = t->state.step;
    t->files.trim.eval_step = t->state.eval_step;
    start_rebatch(t);
    t->config->fitted = t->state.fitted;
    t->files.newest = cr_tensor_file_path(file);
    t->files.step = t->state.step;
    t->files.eval_step = t->state.eval_step;
    cr_train_keep_best(t);
    t->state.stopped_early = t->opts.train.early_stop.patience > 0 &&
                             t->state.wait >= t->opts.train.early_stop.patience;
    start_good(t);
    t->optim.factor = t->state.nan.factor;
    start_state(t);
    return true;
}

/* ---- Contents of the directory */

/* The key of the first difference; NULL if it cannot be determined. */
static const char *start_differs(struct cr_train *t)
{
    size_t len;
    const char *text =
        cr_run_file(t->arena, cr_rundir_file(&t->dir, "resolved.yaml"),
                    1 << 26, &len);

    return text ? cr_config_diff(t->config, text, len) : NULL;
}

static bool start_same_run(struct cr_train *t, const struct cr_node *record)
{
    const char *id = cr_json_str(record, "id", ""), *why;

    if (!*id || strcmp(id, t->id) == 0 || t->flags.allow_change)
        return true;
    why = start_differs(t);
    cr_error(t->diag, cr_at_file(t->arena, t->dir.path), CR_E_RUN_DIR,
             "the run directory belongs to a run with a different config: %s",
             why ? why : cr_strf(t->arena, "%.8s, not %.8s", id, t->id));
    if (strcmp(t->cli->command->about.name, "resume") != 0)
        cr_note(t->diag, "use --force to start over in it");
    else
        cr_note(t->diag, "use --allow-change to continue with the config of "
                         "the checkpoint plus the command line");
    return false;
}

/* Whether the recorded run is complete. */
static bool start_over(const struct cr_train *t, const struct cr_node *record)
{
    const char *status = cr_json_str(record, "status", "");

    return strcmp(status, "early_stopped") == 0 ||
           (strcmp(status, "completed") == 0 &&
            cr_json_int(record, "steps", 0) >= t->length.total);
}

/* Removes the checkpoints after the one resumed from. best.safetensors may
 * have been one of them. */
bool cr_train_drop_newer_ckpts(struct cr_train *t)
{
    const char *best = cr_path_join(t->arena, t->dir.ckpt, "best.safetensors");
    int n, gone = 0;
    const struct cr_ckpt_file *list =
        cr_ckpt_list(t->arena, t->diag, t->dir.ckpt, NULL, &n);
    const char *kept = cr_train_ckpt_name(t, t->state.best_step);
    int64_t batch;
    int64_t epoch = cr_state_name_of(&t->state, t->state.step, &batch) + 1;
    struct stat st;

    for (int i = 0; i < n; i++) {
        if (list[i].epoch < epoch ||
            (list[i].epoch == epoch && list[i].step <= batch) ||
            cr_ckpt_same(list[i].path, t->files.newest))
            continue;
        if (unlink(list[i].path) != 0)
            return cr_error(t->diag, cr_at_file(t->arena, list[i].path),
                            CR_E_SYSTEM, "cannot remove: %s", strerror(errno));
        gone++;
    }
    if (gone && stat(best, &st) == 0 && st.st_nlink == 1) {
        unlink(best);
        for (int i = 0; i < n && t->state.best_metric; i++)
            if (strcmp(list[i].path, kept) == 0)
                (void)!link(list[i].path, best);
    }
    return n >= 0;
}

/* Reports that the run is already longer than requested. A complete run is
 * accepted unless flags.exact is set. */
static bool start_too_short(struct cr_train *t)
{
    cr_error(t->diag, cr_at_file(t->arena, t->dir.path), CR_E_OUT_OF_RANGE,
             "the run has already done %" PRId64 " steps (%" PRId64
             " epochs), but should end after %" PRId64,
             t->state.step, cr_train_epochs_done(t), t->length.total);
    cr_note(t->diag, t->flags.exact ? "use --force to start over in it"
                                    : "--epochs and --steps are totals, "
                                      "counted from the start of the run");
    return false;
}

/* Finds, verifies and reads the checkpoint; false after reporting an error. */
static bool start_resume(struct cr_train *t)
{
    const struct cr_node *record;
    const char *kernels;
    struct cr_tensor_file *file;
    bool none = false, ok;

    if (!cr_rundir_record(&t->dir, &record))
        return false;
    /* a checkpoint from elsewhere needs a directory without other files */
    if (!record && t->flags.ckpt && !cr_rundir_is_free(&t->dir))
        return false;
    if (record && !start_same_run(t, record))
        return false;
    kernels = cr_json_str(record, "kernels", cr_blas_name());
    if (strcmp(kernels, cr_blas_name()) != 0)
        cr_warn(t->diag, CR_NOWHERE, CR_E_CKPT_MISMATCH,
                "the run used kernels '%s' and continues with '%s'; results "
                "differ by rounding",
                kernels, cr_blas_name());
    if (record) {
        t->history.started_text = cr_json_str(record, "started", NULL);
        if (!t->history.vars)
            t->history.vars = cr_node_get(record, "vars");
        t->history.seconds_before = cr_json_real(record, "seconds", 0);
    }
    if (t->flags.ckpt)
        file = cr_tensor_file_open(t->arena, t->diag, t->flags.ckpt);
    else
        file = cr_train_newest(t->arena, t->diag, t->dir.ckpt, &none);
    /* A run without checkpoints is complete only if it was to keep none. */
    if (none && start_over(t, record) &&
        cr_json_int(record, "exit", 0) != cr_code_exit(CR_E_SYSTEM)) {
        t->history.old_record = record; /* kept no checkpoint */
        return true;
    }
    if (none) {
        t->history.started_text = NULL;
        t->history.seconds_before = 0;
        return cr_rundir_clear(&t->dir);
    }
    if (!file)
        return false;
    ok = cr_train_restore(t, file);
    if (ok)
        t->files.resumed = cr_tensor_file_path(file);
    cr_tensor_file_close(file);
    if (ok && t->state.step > t->length.total &&
        (t->flags.exact || !start_over(t, record)))
        ok = start_too_short(t);
    if (ok && start_over(t, record) &&
        (t->state.stopped_early || t->state.step >= t->length.total))
        t->history.old_record = record;
    return ok;
}

/* Makes the links of the checkpoint: a process may have been killed before it
 * made them, and a complete run saves no later one. */
static bool start_retain(struct cr_train *t)
{
    struct cr_retention publish = {
        .path = t->files.resumed,
        .best = t->state.best_metric && t->state.best_step == t->state.step
                    ? t->files.resumed
                    : NULL,
        /* resuming a complete run must not delete files */
        .keep = t->history.old_record
                    ? 0
                    : t->opts.checkpoint.keep_checkpoint_max,
        .resumed = t->files.resumed,
        .good = t->files.good,
    };

    if (strcmp(cr_path_dir(t->arena, t->files.resumed), t->dir.ckpt) != 0 ||
        t->flags.no_ckpt)
        return true;
    return cr_ckpt_retain(t->diag, &publish);
}

/* ---- A fresh state */

void cr_train_start_fresh(struct cr_train *t)
{
    const struct cr_dataset *data = cr_data_loader_dataset(t->loader);
    struct cr_state *s = &t->state;

    *s = (struct cr_state){ .per_epoch = t->length.per_epoch,
                            .grad_accum = t->length.grad_accum,
                            .eval_step = -1,
                            .nan = { .factor = 1, .good_step = -1 } };
    t->files.step = t->files.eval_step = -1;
    s->fingerprint = data->fingerprint;
    s->contents = data->contents;
    for (int i = 0; i < data->columns && i < CR_STATE_COLUMNS; i++)
        s->columns[s->n_columns++] = data->column[i];
    s->classes = data->classes;
    s->class_names = data->class_names;
}

/* Keeps records of samples that the state has seen; an evaluation at the last
 * sample only if the state has it. Records of older versions count steps only,
 * in batches of that time. */
static bool start_keep(void *ctx, const char *line)
{
    struct cr_train *t = ctx;
    const struct cr_state *s = &t->state;
    struct cr_metrics_trim *cut = &t->files.trim;
    struct cr_arena mem = { 0 };
    const char *why;
    size_t at;
    const struct cr_node *node =
        cr_json_read(&mem, line, strlen(line), &why, &at);
    const char *split = cr_json_str(node, "split", "");
    bool eval = strcmp(split, "eval") == 0, keep;
    int64_t step = cr_json_int(node, "step", INT64_MAX);
    int64_t samples = cr_json_int(node, "samples", -1);

    if (samples >= 0)
        keep = samples < s->samples ||
               (samples == s->samples && (!eval || s->eval_step == s->step));
    else
        keep = node && (cut->n_read < s->legacy_records ||
                        step <= (eval ? cut->eval_step : cut->step));
    /* a fallback that the restored state does not know */
    if (strcmp(split, "fallback") == 0 &&
        cr_json_int(node, "fallbacks", 0) > s->nan.fallbacks)
        keep = false;
    cut->n_read++;
    cut->n_legacy += keep && samples < 0;
    cut->n_unreadable += !node;
    cr_arena_free(&mem);
    return keep;
}

/* A fallback continues the event file of the process. */
static bool start_events(struct cr_train *t)
{
    struct cr_tensorboard_run run = {
        .folder = t->dir.path,
        .config = t->config,
        .yaml = t->yaml,
        .net = t->net,
        .resumed = t->files.resumed ? t->state.step : -1,
    };

    if (!t->opts.log.tensorboard)
        return true;
    if (t->observers.tensorboard)
        cr_tensorboard_rewind(t->observers.tensorboard, t->state.step);
    else
        t->observers.tensorboard = cr_tensorboard_open(t->arena, t->diag, &run);
    return t->observers.tensorboard != NULL;
}

bool cr_train_reopen(struct cr_train *t)
{
    struct cr_metrics_trim *trim = &t->files.trim;
    struct cr_state *s = &t->state;
    bool ok;

    cr_append_file_close(&t->dir.metrics, t->diag);
    trim->n_read = trim->n_legacy = trim->n_unreadable = 0;
    ok = cr_rundir_metrics(&t->dir, start_keep, t);
    if (trim->n_unreadable > 0)
        cr_warn(t->diag,
                cr_at_file(t->arena, cr_rundir_file(&t->dir, "metrics.jsonl")),
                CR_E_SYSTEM, "dropped %" PRId64 " line%s that %s not a record",
                trim->n_unreadable, trim->n_unreadable == 1 ? "" : "s",
                trim->n_unreadable == 1 ? "is" : "are");
    s->legacy_records = trim->n_legacy;
    return ok && start_events(t);
}

/* The command line, quoted for the shell. */
static const char *start_line(struct cr_train *t)
{
    struct cr_buf b = { .arena = t->arena };
    char *cwd = getcwd(NULL, 0);

    for (int i = -1; i < 0 || t->cli->argv[i]; i++) {
        const char *word = i < 0 ? (cwd ? cwd : ".") : t->cli->argv[i];

        cr_buf_str(&b, i < 0 ? "cd " : i == 0 ? " && " : " ");
        if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789_-./=:,+@%") == strlen(word)) {
            cr_buf_str(&b, word);
            continue;
        }
        cr_buf_char(&b, '\'');
        for (; *word; word++)
            if (*word == '\'')
                cr_buf_str(&b, "'\\''");
            else
                cr_buf_char(&b, *word);
        cr_buf_char(&b, '\'');
    }
    free(cwd);
    return cr_buf_text(&b);
}

/* Writes the file command: a command line that repeats the whole run. `train`
 * does that even if it resumed; `resume` is appended if it changes settings. */
static bool start_command(struct cr_train *t)
{
    const char *path = cr_rundir_file(&t->dir, "command");
    const char *line = start_line(t), *old = NULL;
    bool resume = strcmp(t->cli->command->about.name, "resume") == 0;
    size_t len;

    if (t->files.resumed && resume) {
        old = cr_run_file(t->arena, path, 1 << 20, &len);
        if (!t->cli->sets[0] || !old)
            return true;
        if (len > 0 && old[len - 1] == '\n')
            old = cr_strndup(t->arena, old, len - 1);
        if (cr_ends(old, line))
            return true;
        line = cr_strf(t->arena, "%s && %s", old, line);
    }
    return cr_rundir_put(&t->dir, "command", cr_strf(t->arena, "%s\n", line));
}

/* Text such as "epoch 3", or "step 500" within an epoch. */
static const char *start_when(const void *of,
                              const struct cr_unfreeze_rule *rule)
{
    const struct cr_train *t = of;
    int64_t at = cr_train_unfreeze_step(&t->length, rule);
    int64_t batches = at * t->length.grad_accum;

    return batches % t->length.per_epoch == 0
               ? cr_strf(t->arena, "epoch %" PRId64,
                         batches / t->length.per_epoch)
               : cr_strf(t->arena, "step %" PRId64, at);
}

/* Marks settings that come from an untrusted checkpoint and not from the
 * user. */
static bool start_provenance(struct cr_train *t)
{
    return cr_config_foreign(t->config) ||
           cr_provenance_add(t->arena, t->diag, t->dir.path,
                             cr_provenance_hash(t->arena, t->yaml,
                                                t->state.config_dir,
                                                t->state.plugins));
}

static bool start_files(struct cr_train *t)
{
    const char *text = t->config->text ? t->config->text : t->yaml;
    bool ok = cr_train_write_record(t, CR_RUNNING, 0);

    if (!t->files.resumed ||
        access(cr_rundir_file(&t->dir, "config.yaml"), F_OK) != 0)
        ok = ok && cr_rundir_put(&t->dir, "config.yaml", text);
    ok = ok && start_provenance(t);
    ok = ok && start_command(t);
    ok = ok && cr_rundir_put(&t->dir, "resolved.yaml",
                             cr_config_yaml(t->config, true, true));
    if (!ok || !cr_train_reopen(t))
        return false;
    return cr_append_file_open(&t->console.log, t->diag,
                               cr_rundir_file(&t->dir, "log.txt"));
}

static void start_say_over(struct cr_train *t)
{
    const char *status = cr_json_str(t->history.old_record, "status", "");

    if (strcmp(status, "early_stopped") == 0)
        cr_console_log(&t->console, "nothing to do: the run was stopped early");
    else
        cr_console_log(
            &t->console,
            "nothing to do: all %" PRId64
            " steps are done; increase --epochs or --steps to continue",
            cr_json_int(t->history.old_record, "steps", 0));
}

bool cr_train_start(struct cr_train *t)
{
    enum cr_run_mode how = t->flags.force    ? CR_RUN_FORCE
                           : t->flags.resume ? CR_RUN_RESUME
                                             : CR_RUN_NEW;
    struct cr_load_report load = { 0 };
    const char *frozen;

    cr_console_open(&t->console, t->flags.progress,
                    (struct cr_diag_format){ .json = t->cli->json,
                                             .color = t->cli->color });
    t->history.started_at = (long long)time(NULL);
    t->last.loss = NAN;
    cr_train_start_fresh(t);
    t->dir.arena = t->arena;
    t->dir.diag = t->diag;
    t->dir.sources = t->config->source_dirs;
    t->history.vars = t->config->vars;
    t->dir.config_file = t->cli->operands[0];
    if (t->opts.run.on_usr1 == CR_USR1_STOP)
        cr_signals_usr1_stops();
    /* An error in `load` must not leave a directory that looks used. */
    if (!t->flags.resume && !cr_load(t->config, t->net, NULL, &load))
        return false;
    /* The same applies to an error that is found only by reading all data. */
    if (!t->flags.resume && !cr_data_loader_prepare(t->loader, t->diag))
        return false;
    if (!t->flags.resume && !cr_train_lint_samples(t))
        return false;
    if (!t->flags.dry_run && !cr_rundir_open(&t->dir, cr_train_folder(t), how))
        return false;
    if (t->flags.resume && !t->flags.dry_run && !start_resume(t))
        return false;
    if (t->history.old_record) {
        start_say_over(t);
        return !t->files.resumed || start_retain(t);
    }
    if (!cr_data_loader_prepare(t->loader, t->diag))
        return false;
    if (t->flags.resume && !t->files.resumed &&
        !cr_load(t->config, t->net, NULL, &load))
        return false;
    if (t->opts.train.ema.decay > 0 && !t->files.resumed)
        cr_net_ema(t->net); /* initialised as a copy */
    start_state(t);
    if (!t->flags.dry_run) {
        cr_signals_defer();
        if (t->files.resumed && !cr_train_drop_newer_ckpts(t))
            return false;
        if (t->files.resumed && !start_retain(t))
            return false;
        if (!start_files(t))
            return false;
    }
    if (t->files.resumed)
        cr_console_log(&t->console, "resumed from %s at step %" PRId64,
                       t->files.resumed, t->state.step);
    if (t->files.resumed && t->state.step >= t->length.stop_after)
        cr_console_log(&t->console,
                       "nothing to do: train.stop_after ends the run here; "
                       "resume with '~train.stop_after' to continue");
    if (load.text)
        cr_console_log(&t->console, "%s", load.text);
    frozen = cr_freeze_report(t->arena, t->net, start_when, t);
    if (*frozen)
        cr_console_log(&t->console, "%s", frozen);
    if (!t->scoring.eval && !t->files.resumed)
        cr_console_log(&t->console, "nothing is evaluated: add dataset.eval or "
                                    "dataset.split");
    /* Warnings are shown before the first step. */
    cr_console_problems(&t->console, t->diag);
    t->history.started_step = t->state.step;
    return true;
}
