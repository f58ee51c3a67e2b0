/*
 * record.json: identity, state and results of a run, for `cellrun runs`.
 *
 *   cellrun id name config seed host pid cpu kernels threads
 *   ranks       number of processes of mpirun; absent without it
 *   data        split -> {samples, fingerprint, contents}
 *   trained     number of trainable values
 *   vars        name -> value, of the config
 *   started ended (RFC 3339), seconds
 *   phases      seconds of the last process by phase of the run
 *   status      running completed early_stopped interrupted terminated
 *               time_limit stopped diverged failed
 *   exit        exit status; absent while the run is under way
 *   epochs steps loss (of the last step)
 *   skipped     number of skipped updates, if updates may be skipped
 *   eval        metric -> value, of the last evaluation
 *   best        {metric, mode, value, epoch (from 1), step}
 *   ckpt        the best checkpoint, else the last; relative to the directory
 *   error       first error message of a failed run
 */
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/signals.h"
#include "base/thread_pool.h"
#include "base/version.h"
#include "ckpt/json.h"
#include "mpi/mpi.h"
#include "conf/environment.h"
#include "kernels/blas.h"
#include "train/prepare.h"
#include "train/run_record.h"
#include "train/train.h"

const char *cr_train_status(enum cr_outcome end)
{
    switch (end) {
    case CR_RUNNING:
        return "running";
    case CR_OUTCOME_DONE:
        return "completed";
    case CR_OUTCOME_EARLY:
        return "early_stopped";
    case CR_OUTCOME_SIGNAL:
        return cr_signals_stop() == SIGINT ? "interrupted" : "terminated";
    case CR_OUTCOME_TIME:
        return "time_limit";
    case CR_OUTCOME_USR1:
    case CR_OUTCOME_STOP_AFTER:
        return "stopped";
    case CR_OUTCOME_DIVERGED:
        return "diverged";
    case CR_OUTCOME_FAILED:
        break;
    }
    return "failed";
}

static void record_time(struct cr_buf *b, const char *name, long long at)
{
    int64_t epoch = at;
    time_t time;
    struct tm tm;

    cr_env_number("SOURCE_DATE_EPOCH", &epoch);
    time = (time_t)epoch;
    gmtime_r(&time, &tm);
    cr_buf_f(b, ",\"%s\":\"%04d-%02d-%02dT%02d:%02d:%02dZ\"", name,
             tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday, tm.tm_hour,
             tm.tm_min, tm.tm_sec);
}

static void record_text(struct cr_buf *b, const char *name, const char *text)
{
    cr_buf_f(b, ",\"%s\":", name);
    cr_buf_json(b, text);
}

static const char *record_cpu(struct cr_arena *arena)
{
    FILE *f = fopen("/proc/cpuinfo", "r");
    char *name = NULL, line[256];

    while (f && !name && fgets(line, sizeof line, f)) {
        char *value = cr_starts(line, "model name") ? strchr(line, ':') : NULL;

        if (value) {
            value[strcspn(value, "\n")] = '\0';
            name = cr_strdup(arena, value + 1 + strspn(value + 1, " "));
        }
    }
    if (f)
        fclose(f);
    if (!name) {
        name = CR_NEWS(arena, char, CR_CPU_NAME);
        cr_cpu_name(name);
    }
    return name;
}

static void record_data(struct cr_buf *b, const char *split,
                        const struct cr_data_loader *loader)
{
    if (loader)
        cr_buf_f(b,
                 "%s\"%s\":{\"samples\":%" PRId64
                 ",\"fingerprint\":\"%08" PRIx32 "\",\"contents\":\"%08" PRIx32
                 "\"}",
                 b->text[b->len - 1] == '{' ? "" : ",", split,
                 cr_data_loader_samples(loader),
                 cr_data_loader_dataset(loader)->fingerprint,
                 cr_data_loader_dataset(loader)->contents);
}

const char *cr_run_ckpt(const struct cr_rundir *dir)
{
    static const char *const names[] = { "ckpt/best.safetensors",
                                         "ckpt/last.safetensors" };

    for (size_t i = 0; i < CR_LEN(names); i++)
        if (access(cr_rundir_file(dir, names[i]), F_OK) == 0)
            return names[i];
    return NULL;
}

static void record_best(struct cr_train *t, struct cr_buf *b)
{
    cr_buf_str(b, ",\"best\":{\"metric\":");
    cr_buf_json(b, t->state.best_metric);
    cr_buf_f(b, ",\"mode\":\"%s\",\"value\":",
             t->state.best_max ? "max" : "min");
    cr_buf_real(b, t->state.best);
    cr_buf_f(b, ",\"epoch\":%" PRId64 ",\"step\":%" PRId64 "}",
             cr_state_best_epoch(&t->state), t->state.best_step);
}

static const char *record_json(struct cr_train *t, enum cr_outcome end,
                               int status)
{
    struct cr_buf b = { .arena = t->arena };
    char host[256] = "";
    int64_t values = 0;
    int n;
    const struct cr_param *params = cr_net_params(t->net, &n);

    for (int i = 0; i < n; i++)
        values += params[i].trained ? cr_count(&params[i].spec) : 0;
    gethostname(host, sizeof host - 1);
    cr_buf_str(&b, "{\"cellrun\":\"" CR_VERSION "\"");
    record_text(&b, "id", t->id);
    record_text(&b, "name", t->name);
    record_text(&b, "config", t->config->name);
    cr_buf_f(&b, ",\"seed\":%" PRIu64, t->opts.seed);
    record_text(&b, "host", host);
    cr_buf_f(&b, ",\"pid\":%ld", (long)getpid());
    record_text(&b, "cpu", record_cpu(t->arena));
    record_text(&b, "kernels", cr_blas_name());
    cr_buf_f(&b, ",\"threads\":%d", cr_thread_count());
    if (cr_mpi_size() > 1)
        cr_buf_f(&b, ",\"ranks\":%d", cr_mpi_size());
    cr_buf_str(&b, ",\"data\":{");
    record_data(&b, "train", t->loader);
    record_data(&b, "eval", t->scoring.loader);
    cr_buf_f(&b, "},\"trained\":%" PRId64, values);
    if (t->history.vars && t->history.vars->child)
        cr_buf_f(&b, ",\"vars\":%s", cr_node_json(t->arena, t->history.vars));
    if (t->history.started_text)
        record_text(&b, "started", t->history.started_text);
    else
        record_time(&b, "started", t->history.started_at);
    if (end != CR_RUNNING) {
        record_time(&b, "ended", (long long)time(NULL));
        cr_buf_f(&b, ",\"seconds\":%.3f",
                 t->history.seconds_before + cr_now() - t->history.started);
    }
    if (end != CR_RUNNING) {
        cr_buf_str(&b, ",\"phases\":");
        cr_profile_phases(t->observers.profile ? t->observers.profile
                                               : &t->observers.clock,
                          &b);
    }
    record_text(&b, "status", cr_train_status(end));
    if (end != CR_RUNNING)
        cr_buf_f(&b, ",\"exit\":%d", status);
    cr_buf_f(&b, ",\"epochs\":%" PRId64 ",\"steps\":%" PRId64 ",\"loss\":",
             cr_train_epochs_done(t), t->state.step);
    cr_buf_real(&b, t->last.loss);
    if (cr_train_may_skip(t))
        cr_buf_f(&b, ",\"skipped\":%" PRId64, cr_state_skipped(&t->state));
    if (t->state.eval_step >= 0) {
        cr_buf_str(&b, ",\"eval\":{");
        cr_buf_scores(&b, &t->state.eval, false);
        cr_buf_char(&b, '}');
    }
    if (t->state.best_metric)
        record_best(t, &b);
    if (cr_run_ckpt(&t->dir))
        record_text(&b, "ckpt", cr_run_ckpt(&t->dir));
    if (status != 0 && t->diag->first)
        record_text(&b, "error", t->diag->first->text);
    cr_buf_str(&b, "}\n");
    return cr_buf_text(&b);
}

bool cr_train_write_record(struct cr_train *t, enum cr_outcome end, int status)
{
    return cr_rundir_put(&t->dir, "record.json",
                         record_json(t, end, status));
}

/* Reads the results of a run that was already complete from its record. */
enum cr_outcome cr_train_load_record(struct cr_train *t)
{
    const struct cr_node *r = t->history.old_record;
    const struct cr_node *best = cr_node_get(r, "best");
    struct cr_state *s = &t->state;

    s->step = cr_json_int(r, "steps", 0);
    s->nan.skipped = cr_json_int(r, "skipped", 0) - s->scale.skipped;
    cr_scores_read(t->arena, cr_node_get(r, "eval"), &s->eval);
    s->eval_step = cr_node_get(r, "eval") ? s->step : -1;
    s->best_metric = cr_json_str(best, "metric", NULL);
    s->best = cr_json_real(best, "value", NAN);
    s->best_step = cr_json_int(best, "step", 0);
    return strcmp(cr_json_str(r, "status", ""), "completed") == 0
               ? CR_OUTCOME_DONE
               : CR_OUTCOME_EARLY;
}

