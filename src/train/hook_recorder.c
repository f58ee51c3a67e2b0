#include "train/hook_recorder.h"

#include "mpi/mpi.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "ckpt/checkpoint.h"
#include "conf/trust.h"
#include "num/array_text.h"
#include "train/gradient.h"
#include "train/save.h"
#include "train/train.h"

#define BINS 20     /* bins of a histogram */
#define VALUES 1000 /* maximum number of values in a record */

struct tap {
    const struct cr_hook *hook;
    struct cr_interval every;
    double until; /* number of steps; 0: no limit */
    bool due;
};

struct cr_hook_recorder {
    struct cr_train *t; /* NULL: not part of a run */
    struct cr_net *net;
    struct cr_config *config;
    enum cr_hook_in in;
    struct tap *taps;
    int n;
    struct cr_plans plans; /* plans for training */
    bool planned;
    int64_t batch; /* outside of training: number of batches so far */
    struct cr_observer observer;
};

static struct cr_hook_recorder *recorder_new(struct cr_config *config,
                                             struct cr_net *net,
                                             struct cr_train *t,
                                             enum cr_hook_in in)
{
    struct cr_hook_recorder *w = CR_NEW(config->arena, struct cr_hook_recorder);
    const struct cr_hook *hooks = cr_net_hooks(net, &w->n);

    w->t = t;
    w->net = net;
    w->config = config;
    w->in = in;
    w->taps = CR_NEWS(config->arena, struct tap, w->n + 1);
    for (int i = 0; i < w->n; i++)
        w->taps[i].hook = &hooks[i];
    return w;
}

/* Whether the files named by entries may be written; reports those that may
 * not. */
static bool recorder_may(const struct cr_hook_recorder *w)
{
    bool ok = true;

    for (int i = 0; i < w->n; i++) {
        const struct cr_hook *h = w->taps[i].hook;

        if (h->save && h->in[w->in])
            ok = cr_config_may(w->config, CR_WRITE_FILE, h->save, h->pos) && ok;
    }
    return ok;
}

static bool recorder_clips(const struct cr_hook *hook)
{
    return hook->observes && hook->in[CR_IN_TRAIN] && hook->as == CR_AS_CLIPPED;
}

/* The entry that log.histograms stands for. */
static const struct cr_hook *recorder_histograms(const struct cr_train *t)
{
    struct cr_hook *h = CR_NEW(t->arena, struct cr_hook);

    h->form = CR_HOOK_TAP;
    h->network = h->observes = h->in[CR_IN_TRAIN] = true;
    h->observe[CR_OBSERVE_PARAMS] = h->observe[CR_OBSERVE_GRAD_PARAMS] = true;
    h->stat[CR_STAT_MEAN] = h->stat[CR_STAT_STD] = h->stat[CR_STAT_MIN] =
        h->stat[CR_STAT_MAX] = h->stat[CR_STAT_HISTOGRAM] = true;
    h->as = CR_AS_UNSCALED;
    h->every = t->opts.log.histograms;
    return h;
}

bool cr_hook_recorder_open(struct cr_train *t, struct cr_hook_recorder **to)
{
    struct cr_hook_recorder *w =
        recorder_new(t->config, t->net, t, CR_IN_TRAIN);
    bool grads;

    *to = cr_hooks_observe(t->net, CR_IN_TRAIN, &grads) ? w : NULL;
    if (t->opts.log.histograms.unit != CR_UNIT_NONE) {
        w->taps[w->n++].hook = recorder_histograms(t);
        *to = w;
    }
    for (int i = 0; i < w->n; i++) {
        const struct cr_hook *h = w->taps[i].hook;

        w->taps[i].every = cr_run_interval(&t->length, &h->every);
        if (h->until.unit != CR_UNIT_NONE)
            w->taps[i].until = cr_run_interval(&t->length, &h->until).steps;
        if (recorder_clips(h) && t->length.grad_accum > 1)
            return cr_error(t->diag, h->pos, CR_E_CONFLICT,
                            "'as: clipped' requires train.grad_accumulation of "
                            "1: the update clips the sum of %" PRId64
                            " batches",
                            t->length.grad_accum);
    }
    return recorder_may(w);
}

/* ---- Statistics */

struct numbers {
    double v[CR_STATS];
    int64_t bins[BINS];
};

/* Statistics of the finite values among n. */
static struct numbers recorder_numbers(const cr_real *x, int64_t n)
{
    struct numbers s = { 0 };
    double sum = 0, squares = 0, spread = 0, low = INFINITY, high = -INFINITY;
    int64_t i, some = 0, zeros = 0;

    for (i = 0; i < n; i++) {
        if (!isfinite(x[i]))
            continue;
        some++;
        sum += x[i];
        squares += (double)x[i] * x[i];
        zeros += x[i] == 0;
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    s.v[CR_STAT_NAN_COUNT] = (double)(n - some);
    s.v[CR_STAT_MEAN] = some > 0 ? sum / (double)some : NAN;
    s.v[CR_STAT_NORM] = sqrt(squares);
    s.v[CR_STAT_MIN] = some > 0 ? low : NAN;
    s.v[CR_STAT_MAX] = some > 0 ? high : NAN;
    s.v[CR_STAT_ZERO_FRACTION] = n > 0 ? (double)zeros / (double)n : NAN;
    for (i = 0; i < n; i++) {
        double part = (x[i] - low) / (high - low) * BINS;

        if (!isfinite(x[i]))
            continue;
        spread += ((double)x[i] - s.v[CR_STAT_MEAN]) *
                  ((double)x[i] - s.v[CR_STAT_MEAN]);
        s.bins[part >= BINS ? BINS - 1 : part > 0 ? (int)part : 0]++;
    }
    s.v[CR_STAT_STD] = some > 0 ? sqrt(spread / (double)some) : NAN;
    return s;
}

/* ---- Records */

/* Writes the first and last values of a tensor. */
static void recorder_list(struct cr_buf *b, const struct cr_spec *spec,
                          const cr_real *x)
{
    int64_t n = cr_count(spec);

    for (int i = 0; i < spec->rank; i++)
        cr_buf_f(b, "%s%" PRId64, i ? "," : ",\"shape\":[", spec->dim[i]);
    cr_buf_str(b, spec->rank ? "]" : ",\"shape\":[]");
    if (n > VALUES)
        return;
    for (int64_t i = 0; i < n; i++) {
        cr_buf_str(b, i ? "," : ",\"values\":[");
        cr_buf_real(b, x[i]);
    }
    cr_buf_char(b, ']');
}

static const char *recorder_place(const struct cr_hook_recorder *w,
                                  struct cr_arena *mem)
{
    if (w->in == CR_IN_TRAIN && w->t)
        return cr_strf(mem, "step %" PRId64, w->t->state.step + 1);
    return cr_strf(mem, "%sbatch %" PRId64,
                   w->in == CR_IN_TRAIN ? "" : w->t ? "eval " : "", w->batch);
}

static void recorder_say(const struct cr_hook_recorder *w, const char *text)
{
    if (w->t)
        cr_console_log(&w->t->console, "%s", text);
    else
        fprintf(stderr, "%s\n", text);
}

/* Writes the record of a tensor; x holds its values as real numbers. */
static void recorder_write(struct cr_hook_recorder *w,
                           const struct cr_hook *hook, const char *cell,
                           const char *what, const struct cr_tensor *kept,
                           const cr_real *x)
{
    const struct cr_spec *spec = &kept->spec;
    const void *data = spec->type == CR_REAL ? x : kept->data;
    struct cr_arena mem = { 0 };
    struct cr_buf record = { .arena = &mem }, line = { .arena = &mem };
    struct numbers s = recorder_numbers(x, cr_count(spec));

    if (w->in != CR_IN_TRAIN)
        cr_buf_f(&record, ",\"in\":\"%s\",\"batch\":%" PRId64,
                 cr_hook_ins[w->in], w->batch);
    cr_buf_str(&record, ",\"at\":");
    cr_buf_json(&record, cell);
    cr_buf_f(&record, ",\"what\":\"%s\"", what);
    for (int k = 0; k < CR_STATS; k++) {
        if (!hook->stat[k])
            continue;
        if (k == CR_STAT_VALUES) {
            recorder_list(&record, spec, x);
            cr_buf_f(&line, "\n%s",
                     cr_tensor_text(&mem, spec, spec->type, data));
            continue;
        }
        if (k == CR_STAT_HISTOGRAM) {
            cr_buf_str(&record, ",\"low\":");
            cr_buf_real(&record, s.v[CR_STAT_MIN]);
            cr_buf_str(&record, ",\"high\":");
            cr_buf_real(&record, s.v[CR_STAT_MAX]);
            for (int i = 0; i < BINS; i++)
                cr_buf_f(&record, "%s%" PRId64, i ? "," : ",\"bins\":[",
                         s.bins[i]);
            cr_buf_char(&record, ']');
            continue;
        }
        cr_buf_f(&record, ",\"%s\":", cr_hook_stats[k]);
        cr_buf_real(&record, s.v[k]);
        cr_buf_f(&line, " %s %.6g", cr_hook_stats[k], s.v[k]);
    }
    if (w->t)
        cr_train_record_more(w->t, "watch", w->in == CR_IN_TRAIN,
                             cr_buf_text(&record));
    if (hook->print || !w->t)
        recorder_say(w, cr_strf(&mem, "watch  %s  %s %s%s",
                                recorder_place(w, &mem), cell, what,
                                cr_buf_text(&line)));
    cr_arena_free(&mem);
}

/* ---- A step */

/* State of the entries in one step. */
struct sight {
    struct cr_hook_recorder *w;
    struct cr_exec *exec;
    double scale; /* loss scale of the gradients */
    double clip;  /* factor of gradient clipping; NaN before clipping */
    struct cr_arena mem;
    struct cr_tensor *saved; /* tensors saved by all entries */
    const struct cr_hook **of; /* of[i]: the entry that saved tensor i */
    int n, cap;
};

static bool recorder_is_grad(const char *what)
{
    return cr_starts(what, "grad");
}

/* Returns the values in the form that the entry asks for (scaled, unscaled or
 * clipped), or NULL if that form exists only after or before clipping. */
static const cr_real *sight_values(struct sight *s, const struct cr_hook *hook,
                                   const char *what,
                                   const struct cr_tensor *kept)
{
    int64_t n = cr_count(&kept->spec);
    bool clips = strcmp(what, "grad_params") == 0 && hook->as == CR_AS_CLIPPED;
    double by = !recorder_is_grad(what) || hook->as == CR_AS_SCALED ? 1
                : clips                                             ? s->clip
                        : 1 / s->scale;
    const cr_real *x = kept->data;
    cr_real *to;

    if (clips == isnan(s->clip))
        return NULL;
    if (by == 1 && kept->spec.type == CR_REAL)
        return x;
    to = cr_alloc(&s->mem, (size_t)n + 1, sizeof *to);
    if (kept->spec.type != CR_REAL) {
        cr_convert(kept->spec.type, x, CR_REAL, to, n);
        return to;
    }
    for (int64_t i = 0; i < n; i++)
        to[i] = (cr_real)(x[i] * by);
    return to;
}

static void sight_save(struct sight *s, const struct cr_hook *hook,
                       const char *cell, const char *what,
                       const struct cr_spec *spec, const void *x)
{
    size_t bytes = cr_bytes(spec);

    if (s->n == s->cap) {
        int cap = 2 * s->cap + 16;

        s->saved = cr_grow(&s->mem, s->saved, (size_t)s->n, (size_t)cap,
                           sizeof *s->saved);
        s->of = cr_grow(&s->mem, s->of, (size_t)s->n, (size_t)cap,
                        sizeof *s->of);
        s->cap = cap;
    }
    s->of[s->n] = hook;
    s->saved[s->n].name = cr_strf(&s->mem, "%s.%s", cell, what);
    s->saved[s->n].spec = *spec;
    s->saved[s->n].data = cr_alloc(&s->mem, bytes + 1, 1);
    memcpy(s->saved[s->n++].data, x, bytes);
}

static void sight_one(struct sight *s, const struct tap *tap, const char *cell,
                      const char *what, const struct cr_tensor *kept)
{
    const cr_real *x;

    if (!tap->due)
        return;
    x = sight_values(s, tap->hook, what, kept);
    if (!x)
        return;
    recorder_write(s->w, tap->hook, cell, what, kept, x);
    if (tap->hook->save)
        sight_save(s, tap->hook, cell, what, &kept->spec,
                   kept->spec.type == CR_REAL ? (const void *)x : kept->data);
}

/* Handles a tensor named tap.ENTRY.WHAT.CELL. */
static void sight_tap(struct sight *s, const struct cr_tensor *kept, bool grads)
{
    char *rest; /* WHAT.CELL */
    const char *cell;
    char what[16];
    long entry;

    if (!cr_starts(kept->name, "tap."))
        return;
    entry = strtol(kept->name + strlen("tap."), &rest, 10);
    cell = strchr(++rest, '.');
    snprintf(what, sizeof what, "%.*s", (int)(cell - rest), rest);
    if (recorder_is_grad(what) == grads)
        sight_one(s, &s->w->taps[entry], cell + 1, what, kept);
}

/* Handles a parameter or its gradient, for entries that observe `kind` of its
 * cell. */
static void sight_param(struct sight *s, const char *name,
                        enum cr_hook_what kind, const struct cr_tensor *kept)
{
    const struct cr_param *p = cr_net_param(s->w->net, name);
    const char *cell;

    if (!p)
        return;
    cell = cr_strndup(&s->mem, name, strrchr(name, '.')
                                         ? (size_t)(strrchr(name, '.') - name)
                                         : 0);
    for (int k = 0; k < s->w->n; k++) {
        const struct cr_hook *h = s->w->taps[k].hook;

        if (h->observe[kind] && h->form != CR_HOOK_POINT &&
            (h->network || cr_hook_matches(h, cell, p->types[0]) ||
             cr_hook_matches(h, name, p->types[0]))) /* an entry that names a
                                                        Parameter */
            sight_one(s, &s->w->taps[k], name, cr_hook_whats[kind], kept);
    }
}

/* Handles the values of the parameters; not the statistics of BatchNorm. */
static void sight_params(struct sight *s)
{
    int n;
    const struct cr_param *p = cr_net_params(s->w->net, &n);

    for (int i = 0; i < n; i++)
        if (!p[i].statistic)
            sight_param(s, p[i].name, CR_OBSERVE_PARAMS,
                        &(struct cr_tensor){ .name = p[i].name,
                                             .spec = p[i].spec,
                                             .data = p[i].data });
}

static void sight_all(struct sight *s)
{
    const struct cr_tensor *kept;
    int n;

    kept = cr_exec_kept(s->exec, &n);
    for (int i = 0; i < n; i++)
        sight_tap(s, &kept[i], false);
    for (int i = n - 1; i >= 0; i--) /* the backward pass runs in the opposite
                                        order */
        sight_tap(s, &kept[i], true);
    sight_params(s);
    for (int i = 0; i < n; i++)
        if (cr_starts(kept[i].name, "grad."))
            sight_param(s, kept[i].name + strlen("grad."),
                        CR_OBSERVE_GRAD_PARAMS, &kept[i]);
}

/* FILE.npz becomes FILE-STEP.npz, or FILE-eval-STEP-BATCH.npz outside of
 * training. */
static bool sight_write(struct sight *s, const struct cr_hook *hook)
{
    struct cr_hook_recorder *w = s->w;
    const char *dot = strrchr(hook->save, '.'), *name;
    struct cr_tensor *own =
        cr_alloc(&s->mem, (size_t)s->n + 1, sizeof *own);
    int64_t step = w->t ? w->t->state.step + (w->in == CR_IN_TRAIN) : w->batch;
    int i, n = 0;

    for (i = 0; i < s->n; i++)
        if (s->of[i] == hook)
            own[n++] = s->saved[i];
    if (n == 0)
        return true;
    name = cr_strf(&s->mem, "%.*s%s-%" PRId64, (int)(dot - hook->save),
                   hook->save, w->t && w->in == CR_IN_EVAL ? "-eval" : "",
                   step);
    if (w->t && w->in == CR_IN_EVAL)
        name = cr_strf(&s->mem, "%s-%" PRId64, name, w->batch);
    name = cr_strf(&s->mem, "%s%s", name, dot);
    if (w->t)
        name = cr_path_join(&s->mem, w->t->dir.path, name);
    return cr_tensors_write(w->config->diag, name, own, n);
}

static bool sight_end(struct sight *s)
{
    bool ok = true;

    for (int k = 0; k < s->w->n && ok; k++)
        if (s->w->taps[k].hook->save &&
            !(s->w->t && !s->w->t->dir.path)) /* --dry-run writes nothing */
            ok = sight_write(s, s->w->taps[k].hook);
    cr_arena_free(&s->mem);
    return ok;
}

/* Marks the entries that observe the next step, counted from 1. */
static bool recorder_due(struct cr_hook_recorder *w, int64_t step)
{
    bool due = false;

    for (int k = 0; k < w->n; k++) {
        struct tap *tap = &w->taps[k];

        tap->due = tap->hook->observes && tap->hook->in[w->in] &&
                   !(tap->until > 0 && (double)step > tap->until) &&
                   (step == 1 || cr_interval_due(&tap->every, step - 1));
        due = due || tap->due;
    }
    return due;
}

bool cr_hook_recorder_step(struct cr_hook_recorder *w,
                           const struct cr_batch *batch)
{
    struct cr_exec_opts want = { .training = true,
                                 .loss = true,
                                 .backward = true,
                                 .keep_outputs = true,
                                 .freeze_stats = true,
                                 .observe = true };
    struct sight s = { .w = w, .clip = NAN };
    enum cr_gradient bad;
    double loss, norm;

    if (!recorder_due(w, w->t->state.step + 1))
        return true;
    cr_data_loader_gather(w->t->loader, batch);
    if (cr_mpi_rank() > 0)
        return true;
    for (int k = 0; k < w->n; k++) /* clipping needs separate gradients */
        want.separate_update = want.update =
            want.update || recorder_clips(w->taps[k].hook);
    if (!w->planned &&
        !cr_plans_make(&w->plans, w->t->net, &want, w->t->loader))
        return false;
    w->planned = true;
    s.exec = cr_plans_for(&w->plans, batch);
    for (int i = 0; i < w->t->n_columns; i++)
        cr_exec_feed(s.exec, i, batch->data[i]);
    /* same random numbers and loss scale as the first batch of the step */
    s.scale = cr_gradient_scale(&w->t->optim.scale, &w->t->state.scale);
    bad = cr_gradient_compute(s.exec, w->t->diag,
                              w->t->state.step * w->t->length.grad_accum + 1,
                              s.scale,
                              0, true, &loss);
    if (bad == CR_GRADIENT_NO_FORWARD || bad == CR_GRADIENT_NO_BACKWARD)
        return false;
    sight_all(&s);
    if (want.separate_update) {
        s.clip = cr_gradient_clip(s.exec, &w->t->opts.train, s.scale, &norm);
        sight_all(&s);
    }
    return sight_end(&s);
}

void cr_hook_recorder_forget(struct cr_hook_recorder *w)
{
    if (!w)
        return;
    cr_plans_free(&w->plans);
    w->planned = false;
}

/* ---- Outside of training */

static bool recorder_wants(void *ctx, bool training, bool *grads)
{
    const struct cr_hook_recorder *w = ctx;

    return training == (w->in == CR_IN_TRAIN) &&
           cr_hooks_observe(w->net, w->in, grads);
}

static bool recorder_batch(void *ctx)
{
    struct cr_hook_recorder *w = ctx;

    return recorder_due(w, ++w->batch);
}

static void recorder_seen(void *ctx, struct cr_exec *exec)
{
    struct sight s = { .w = ctx, .exec = exec, .scale = 1, .clip = NAN };

    sight_all(&s);
    sight_end(&s);
}

static void recorder_begin(void *ctx)
{
    ((struct cr_hook_recorder *)ctx)->batch = 0;
}

/* The number of a quantity in steps, which are batches here; else 0. */
static double recorder_batches(const struct cr_quantity *quantity)
{
    return quantity->unit == CR_STEPS ? quantity->value : 0;
}

bool cr_hook_recorder_observe(struct cr_config *config, struct cr_net *net,
                              struct cr_train *t, enum cr_hook_in in)
{
    struct cr_hook_recorder *w = recorder_new(config, net, t, in);
    bool grads;

    if (!cr_hooks_observe(net, in, &grads))
        return true;
    if (!recorder_may(w))
        return false;
    for (int i = 0; i < w->n; i++) {
        w->taps[i].every.steps = recorder_batches(&w->taps[i].hook->every);
        w->taps[i].until = recorder_batches(&w->taps[i].hook->until);
    }
    w->observer = (struct cr_observer){ w, recorder_wants, recorder_batch,
                                        recorder_seen, recorder_begin };
    cr_net_observe(net, &w->observer);
    return true;
}
