#include "train/watch.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "train/train.h"

#define BINS 20 /* of a histogram */

static const char *const whats[] = { "output", "grad", NULL };
enum { OUTPUT, GRAD };
static const char *const stats[] = { "mean", "std",       "min",
                                     "max",  "norm",      "nan_count",
                                     "zero_fraction", "histogram", NULL };
enum { MEAN, STD, MIN, MAX, NORM, NAN_COUNT, ZERO_FRACTION, HISTOGRAM, STATS };

struct tap_opts {
    const struct cr_node *at;
    struct cr_strs what, stats;
    struct cr_amount every;
    bool print;
};

static const struct cr_opt tap_rows[] = {
    CR_NODE(struct tap_opts, at, "Patterns over cell names."),
    CR_STRS_MAY(struct tap_opts, what,
                "output, grad (the gradient that arrives there), or both; "
                "output if not given."),
    CR_STRS_MAY(struct tap_opts, stats,
                "Of mean, std, min, max, norm, nan_count (values that are not "
                "finite), zero_fraction, histogram (20 bins); mean, std, max "
                "and nan_count if not given."),
    CR_AMOUNT_OR(struct tap_opts, every, "100 steps", CR_STEPS,
                 "Which steps are watched: the first and then every so many."),
    CR_BOOL_OR(struct tap_opts, print, false,
               "Print a line too, besides the record in metrics.jsonl."),
    { 0 },
};

const struct cr_section cr_section_watch = {
    .about = {
        .name = "watch",
        .summary = "Statistics of outputs and gradients while training.",
        .detail = "A list of taps. Each writes records with \"split\": "
                  "\"watch\" into metrics.jsonl. It changes no result: a "
                  "watched step is computed twice, others cost nothing.",
        .example = "watch:\n"
                   "  - {at: dense_relu_sequential.1, what: [output, grad], "
                   "stats: [mean, std, max, nan_count], every: 100 steps}\n",
        .opts = tap_rows,
        .size = sizeof(struct tap_opts),
    },
    .raw = true,
};

struct tap {
    struct cr_patterns *at;
    bool what[2], stat[STATS], print;
    struct cr_every every;
};

struct cr_watch {
    struct cr_train *t;
    struct tap *taps;
    int n;
    struct cr_plans plans;
    bool planned;
};

/* ---- Reading */

/* Sets flag[i] for each word that is names[i]. */
static bool watch_words(struct cr_train *t, const struct cr_node *node,
                        const char *key, const struct cr_strs *words,
                        const char *const *names, bool *flag)
{
    const struct cr_node *at = cr_node_get(node, key);
    bool ok = true;

    for (int i = 0; i < words->n; i++) {
        int k = 0;

        while (names[k] && strcmp(names[k], words->v[i]) != 0)
            k++;
        if (names[k]) {
            flag[k] = true;
            continue;
        }
        ok = cr_error(t->diag, at ? at->pos : node->pos, CR_E_OUT_OF_RANGE,
                      "'%s' of watch: there is no '%s'", key,
                      cr_quote(t->arena, words->v[i], strlen(words->v[i])));
        if (cr_nearest(words->v[i], names))
            cr_hint(t->diag, "did you mean '%s'?",
                    cr_nearest(words->v[i], names));
    }
    return ok;
}

static bool watch_tap(struct cr_train *t, const struct cr_node *node,
                      const char *const *cells, struct tap *to)
{
    static const char *const usual[] = { "mean", "std", "max", "nan_count" };
    struct tap_opts o = { 0 };
    bool ok;

    if (!cr_opts_read(t->arena, t->diag, &cr_section_watch.about, node,
                      node->pos, &o))
        return false;
    if (!o.at)
        return cr_error(t->diag, node->pos, CR_E_MISSING_KEY,
                        "'at' is missing: the cells to watch");
    if (o.what.n == 0)
        o.what = (struct cr_strs){ 1, whats };
    if (o.stats.n == 0)
        o.stats = (struct cr_strs){ (int)CR_LEN(usual), usual };
    to->at = cr_patterns_read(t->config, o.at);
    to->print = o.print;
    to->every = cr_train_every(t, &o.every);
    ok = to->at && cr_patterns_used(t->config, to->at, cells, "cell");
    if (o.every.unit == CR_SECONDS || o.every.value <= 0)
        ok = cr_error(t->diag, node->pos, CR_E_OUT_OF_RANGE,
                      "'every' of watch counts steps, epochs, samples or "
                      "percent, more than 0 of them");
    ok = watch_words(t, node, "what", &o.what, whats, to->what) && ok;
    return watch_words(t, node, "stats", &o.stats, stats, to->stat) && ok;
}

bool cr_watch_read(struct cr_train *t, struct cr_watch **to)
{
    const struct cr_node *node = cr_section(t->config, "watch");
    struct cr_watch *w = CR_NEW(t->arena, struct cr_watch);
    const struct cr_cell_row *rows;
    const char **cells;
    bool ok = true;
    int n;

    *to = NULL;
    if (!node || node->kind == CR_NODE_NULL)
        return true;
    if (node->kind != CR_NODE_LIST)
        return cr_error(t->diag, node->pos, CR_E_WRONG_TYPE,
                        "watch is a list of taps {at: CELL, ...}, not %s",
                        cr_node_what(t->arena, node));
    rows = cr_net_cells(t->net, &n);
    cells = CR_NEWS(t->arena, const char *, n + 1);
    for (int i = 0, k = 0; i < n; i++)
        if (rows[i].name[0])
            cells[k++] = rows[i].name;
    w->t = t;
    w->taps = CR_NEWS(t->arena, struct tap, cr_node_count(node) + 1);
    for (CR_EACH(tap, node))
        ok = watch_tap(t, tap, cells, &w->taps[w->n++]) && ok;
    *to = w;
    return ok;
}

/* ---- Numbers */

struct numbers {
    double v[STATS];
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
    s.v[NAN_COUNT] = (double)(n - some);
    s.v[MEAN] = some > 0 ? sum / (double)some : NAN;
    s.v[NORM] = sqrt(squares);
    s.v[MIN] = some > 0 ? low : NAN;
    s.v[MAX] = some > 0 ? high : NAN;
    s.v[ZERO_FRACTION] = n > 0 ? (double)zeros / (double)n : NAN;
    for (i = 0; i < n; i++) {
        double part = (x[i] - low) / (high - low) * BINS;

        if (!isfinite(x[i]))
            continue;
        spread += ((double)x[i] - s.v[MEAN]) * ((double)x[i] - s.v[MEAN]);
        s.bins[part >= BINS ? BINS - 1 : part > 0 ? (int)part : 0]++;
    }
    s.v[STD] = some > 0 ? sqrt(spread / (double)some) : NAN;
    return s;
}

static void watch_write(struct cr_watch *w, const struct tap *tap,
                        const char *cell, const char *what,
                        const struct numbers *s)
{
    struct cr_arena mem = { 0 };
    struct cr_buf record = { .arena = &mem }, line = { .arena = &mem };

    cr_buf_str(&record, ",\"at\":");
    cr_buf_json(&record, cell);
    cr_buf_f(&record, ",\"what\":\"%s\"", what);
    for (int k = 0; k < STATS; k++) {
        if (!tap->stat[k])
            continue;
        if (k == HISTOGRAM) {
            cr_buf_str(&record, ",\"low\":");
            cr_buf_real(&record, s->v[MIN]);
            cr_buf_str(&record, ",\"high\":");
            cr_buf_real(&record, s->v[MAX]);
            for (int i = 0; i < BINS; i++)
                cr_buf_f(&record, "%s%" PRId64, i ? "," : ",\"bins\":[",
                         s->bins[i]);
            cr_buf_char(&record, ']');
            continue;
        }
        cr_buf_f(&record, ",\"%s\":", stats[k]);
        cr_buf_real(&record, s->v[k]);
        cr_buf_f(&line, " %s %.6g", stats[k], s->v[k]);
    }
    cr_train_record_more(w->t, "watch", true, cr_buf_text(&record));
    if (tap->print)
        cr_console_say(&w->t->console, "watch  step %" PRId64 "  %s %s%s",
                       w->t->state.step + 1, cell, what, cr_buf_text(&line));
    cr_arena_free(&mem);
}

/* ---- A step */

static bool watch_due(const struct cr_watch *w, const struct tap *tap)
{
    int64_t step = w->t->state.step + 1;

    return step == 1 || cr_every_step(&tap->every, step - 1);
}

/* The cell of a name such as "fc#2" or "attn#.0". */
static bool watch_at(const struct tap *tap, const char *name)
{
    size_t len = strcspn(name, "#");
    char *cell = strndup(name, len);
    bool match;

    if (!cell)
        cr_out_of_memory(len);
    match = cr_patterns_match(tap->at, cell);
    free(cell);
    return match;
}

static void watch_kept(struct cr_watch *w, struct cr_exec *exec)
{
    static const char *const prefix[] = { "output.", "grad.output." };
    const struct cr_tensor *kept;
    int n;

    kept = cr_exec_kept(exec, &n);
    for (int k = 0; k < w->n; k++)
        for (int i = 0; i < n && watch_due(w, &w->taps[k]); i++)
            for (int what = OUTPUT; what <= GRAD; what++) {
                const char *cell = kept[i].name + strlen(prefix[what]);
                struct numbers s;

                if (!w->taps[k].what[what] || kept[i].spec.type != CR_REAL ||
                    !cr_starts(kept[i].name, prefix[what]) ||
                    !watch_at(&w->taps[k], cell))
                    continue;
                s = watch_numbers(kept[i].data, cr_count(&kept[i].spec));
                watch_write(w, &w->taps[k], cell, whats[what], &s);
            }
}

bool cr_watch_step(struct cr_watch *w, const struct cr_batch *batch)
{
    struct cr_exec_want want = { .training = true,
                                 .loss = true,
                                 .backward = true,
                                 .keep = true,
                                 .still = true };
    struct cr_exec *exec;
    bool due = false;

    for (int k = 0; k < w->n; k++)
        due = due || watch_due(w, &w->taps[k]);
    if (!due)
        return true;
    if (!w->planned &&
        !cr_plans_make(&w->plans, w->t->net, &want, w->t->pipe))
        return false;
    w->planned = true;
    exec = cr_plans_for(&w->plans, batch);
    for (int i = 0; i < w->t->n_columns; i++)
        cr_exec_feed(exec, i, batch->data[i]);
    cr_exec_forward(exec, w->t->state.step + 1);
    if (!cr_exec_sound(exec, w->t->diag))
        return false;
    cr_exec_backward(exec, 1, 0);
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
