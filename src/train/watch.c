#include "train/watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "net/hook.h"
#include "train/train.h"

#define BINS 20 /* of a histogram */

struct tap {
    const struct cr_hook *hook;
    struct cr_every every;
};

struct cr_watch {
    struct cr_train *t;
    struct tap *taps;
    int n;
    struct cr_plans plans;
    bool planned;
};

void cr_watch_open(struct cr_train *t, struct cr_watch **to)
{
    struct cr_watch *w = CR_NEW(t->arena, struct cr_watch);
    int n;
    const struct cr_hook *hooks = cr_net_hooks(t->net, &n);

    *to = NULL;
    w->t = t;
    w->taps = CR_NEWS(t->arena, struct tap, n + 1);
    w->n = n;
    for (int i = 0; i < n; i++) {
        w->taps[i].hook = &hooks[i];
        w->taps[i].every = cr_train_every(t, &hooks[i].every);
        if (hooks[i].sees)
            *to = w;
    }
}

/* ---- Numbers */

struct numbers {
    double v[CR_STATS];
    int64_t bins[BINS];
};

/* The finite ones of n values. */
static struct numbers watch_numbers(const cr_real *x, int64_t n)
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

static void watch_write(struct cr_watch *w, const struct cr_hook *hook,
                        const char *cell, const char *what,
                        const struct numbers *s)
{
    struct cr_arena mem = { 0 };
    struct cr_buf record = { .arena = &mem }, line = { .arena = &mem };

    cr_buf_str(&record, ",\"at\":");
    cr_buf_json(&record, cell);
    cr_buf_f(&record, ",\"what\":\"%s\"", what);
    for (int k = 0; k < CR_STATS; k++) {
        if (!hook->stat[k])
            continue;
        if (k == CR_STAT_HISTOGRAM) {
            cr_buf_str(&record, ",\"low\":");
            cr_buf_real(&record, s->v[CR_STAT_MIN]);
            cr_buf_str(&record, ",\"high\":");
            cr_buf_real(&record, s->v[CR_STAT_MAX]);
            for (int i = 0; i < BINS; i++)
                cr_buf_f(&record, "%s%" PRId64, i ? "," : ",\"bins\":[",
                         s->bins[i]);
            cr_buf_char(&record, ']');
            continue;
        }
        cr_buf_f(&record, ",\"%s\":", cr_hook_stats[k]);
        cr_buf_real(&record, s->v[k]);
        cr_buf_f(&line, " %s %.6g", cr_hook_stats[k], s->v[k]);
    }
    cr_train_record_more(w->t, "watch", true, cr_buf_text(&record));
    if (hook->print)
        cr_console_say(&w->t->console, "watch  step %" PRId64 "  %s %s%s",
                       w->t->state.step + 1, cell, what, cr_buf_text(&line));
    cr_arena_free(&mem);
}

/* ---- A step */

static bool watch_due(const struct cr_watch *w, const struct tap *tap)
{
    int64_t step = w->t->state.step + 1;

    return tap->hook->sees &&
           (step == 1 || cr_every_step(&tap->every, step - 1));
}

/* Its name is tap.ENTRY.WHAT.CELL. */
static void watch_one(struct cr_watch *w, const struct cr_tensor *kept)
{
    char *rest; /* WHAT.CELL */
    const char *cell;
    char what[16];
    long entry = strtol(kept->name + strlen("tap."), &rest, 10);
    const struct tap *tap = &w->taps[entry];
    struct numbers s;

    if (kept->spec.type != CR_REAL || !watch_due(w, tap))
        return;
    cell = strchr(++rest, '.');
    s = watch_numbers(kept->data, cr_count(&kept->spec));
    snprintf(what, sizeof what, "%.*s", (int)(cell - rest), rest);
    watch_write(w, tap->hook, cell + 1, what, &s);
}

static bool watch_grad(const char *name)
{
    return cr_starts(strchr(name + strlen("tap."), '.'), ".grad");
}

static void watch_kept(struct cr_watch *w, struct cr_exec *exec)
{
    const struct cr_tensor *kept;
    int n;

    kept = cr_exec_kept(exec, &n);
    /* gradients come in the other order */
    for (int i = 0; i < n; i++)
        if (cr_starts(kept[i].name, "tap.") && !watch_grad(kept[i].name))
            watch_one(w, &kept[i]);
    for (int i = n - 1; i >= 0; i--)
        if (cr_starts(kept[i].name, "tap.") && watch_grad(kept[i].name))
            watch_one(w, &kept[i]);
}

bool cr_watch_step(struct cr_watch *w, const struct cr_batch *batch)
{
    struct cr_exec_want want = { .training = true,
                                 .loss = true,
                                 .backward = true,
                                 .keep = true,
                                 .still = true,
                                 .taps = true };
    enum cr_gradient bad;
    struct cr_exec *exec;
    bool due = false;
    double loss;

    for (int k = 0; k < w->n; k++)
        due = due || watch_due(w, &w->taps[k]);
    if (!due)
        return true;
    if (!w->planned && !cr_plans_make(&w->plans, w->t->net, &want, w->t->pipe))
        return false;
    w->planned = true;
    exec = cr_plans_for(&w->plans, batch);
    for (int i = 0; i < w->t->n_columns; i++)
        cr_exec_feed(exec, i, batch->data[i]);
    /* as the first batch of the step, with its random numbers and loss scale */
    bad = cr_gradient_compute(exec, w->t->diag,
                              w->t->state.step * w->t->micro + 1,
                              cr_gradient_scale(&w->t->optim.scale,
                                                &w->t->state.scale),
                              0, true, &loss);
    if (bad == CR_GRADIENT_NO_FORWARD || bad == CR_GRADIENT_NO_BACKWARD)
        return false;
    watch_kept(w, exec);
    return true;
}

void cr_watch_forget(struct cr_watch *w)
{
    if (!w)
        return;
    cr_plans_free(&w->plans);
    w->planned = false;
}
