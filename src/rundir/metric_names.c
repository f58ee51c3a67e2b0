#include "rundir/metric_names.h"

#include <string.h>

void cr_names_add(struct cr_names *names, const char *name)
{
    for (int i = 0; i < names->n; i++)
        if (strcmp(names->name[i], name) == 0)
            return;
    if (names->n + 1 >= names->cap) {
        names->cap = 2 * names->cap + 16;
        names->name = cr_grow(names->arena, names->name, (size_t)names->n,
                              (size_t)names->cap, sizeof *names->name);
    }
    names->name[names->n++] = name;
}

struct cr_names cr_names_split(struct cr_arena *arena, const char *text)
{
    struct cr_names names = { .arena = arena };
    char *copy = cr_strdup(arena, text), *save = NULL;

    for (char *p = strtok_r(copy, ",", &save); p;
         p = strtok_r(NULL, ",", &save)) {
        p += strspn(p, " ");
        p[strcspn(p, " ")] = '\0';
        if (*p)
            cr_names_add(&names, p);
    }
    return names;
}

/* Members of records that are no measure of success, or the loss again. */
static bool metric_is_auxiliary(const char *name)
{
    static const char *const names[] = { "lr", "samples_per_s", "skipped",
                                         "loss_scale", "grad_norm",
                                         "train_loss", NULL };

    for (int i = 0; names[i]; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Adds the metrics of a split, of the loss or of all others. */
static void metric_split(const struct cr_run_series *run, int n_runs,
                         struct cr_names *names, const char *split, bool loss)
{
    for (int i = 0; i < n_runs; i++) {
        const struct cr_series *s = cr_series_find(&run[i], split);

        for (int c = 0; s && c < s->n_columns; c++)
            if (!metric_is_auxiliary(s->column[c].name) &&
                (strcmp(s->column[c].name, "loss") == 0) == loss)
                cr_names_add(names, s->column[c].name);
    }
}

struct cr_names cr_metric_defaults(struct cr_arena *arena,
                                   const struct cr_run_series *run, int n_runs)
{
    struct cr_names names = { .arena = arena };

    metric_split(run, n_runs, &names, "train", true);
    metric_split(run, n_runs, &names, "eval", true);
    metric_split(run, n_runs, &names, "eval", false);
    if (names.n == 0)
        metric_split(run, n_runs, &names, "train", false);
    return names;
}

/* All metrics that the runs have. */
static struct cr_names metric_all(struct cr_arena *arena,
                                  const struct cr_run_series *run, int n_runs)
{
    struct cr_names names = { .arena = arena };

    for (int i = 0; i < n_runs; i++)
        for (int k = 0; k < run[i].n; k++) {
            const struct cr_series *s = &run[i].series[k];

            for (int c = 0; c < s->n_columns; c++)
                cr_names_add(&names, cr_strf(arena, "%s.%s", s->name,
                                             s->column[c].name));
        }
    return names;
}

static bool metric_matches(const struct cr_series *s, const char *column,
                         const char *metric, bool bare)
{
    size_t n = strlen(s->name);

    if (bare)
        return strcmp(column, metric) == 0;
    return strncmp(s->name, metric, n) == 0 && metric[n] == '.' &&
           strcmp(metric + n + 1, column) == 0;
}

static bool metric_is_main(const struct cr_series *s)
{
    return strcmp(s->name, "train") == 0 || strcmp(s->name, "eval") == 0;
}

int cr_metric_columns(const struct cr_run_series *run, const char *metric,
                      struct cr_curve *to, int most)
{
    int n = 0;

    for (int pass = 0; pass < 3 && n == 0; pass++)
        for (int k = 0; k < run->n; k++) {
            const struct cr_series *s = &run->series[k];

            for (int c = 0; c < s->n_columns && n < most; c++)
                if (metric_matches(s, s->column[c].name, metric, pass > 0) &&
                    (pass != 1 || metric_is_main(s)))
                    to[n++] = cr_curve_of(s, &s->column[c]);
        }
    return n;
}

void cr_metric_unknown(struct cr_diag *diag, const struct cr_run_series *run,
                       int n_runs, const char *metric)
{
    struct cr_arena *arena = diag->arena;
    struct cr_names known = metric_all(arena, run, n_runs), words = known;
    struct cr_buf list = { .arena = arena };
    const char *guess;

    words.name = CR_NEWS(arena, const char *, 2 * known.n + 1);
    memcpy(words.name, known.name, (size_t)known.n * sizeof *known.name);
    words.cap = 2 * known.n + 1;
    for (int i = 0; i < known.n; i++) {
        cr_buf_f(&list, "%s%s", i ? " " : "",
                 cr_quote(arena, known.name[i], strlen(known.name[i])));
        words.name[words.n++] = strrchr(known.name[i], '.') + 1;
    }
    words.name[words.n] = NULL;
    cr_error(diag, CR_NOWHERE, CR_E_UNKNOWN_KEY,
             "--metric: %s metric '%s'",
             n_runs == 1 ? "the run has no" : "no run has a",
             cr_quote(arena, metric, strlen(metric)));
    guess = cr_closest_name(metric, words.name);
    if (guess)
        cr_hint(diag, "did you mean '%s'?",
                cr_quote(arena, guess, strlen(guess)));
    cr_note(diag, "metrics: %s", cr_buf_text(&list));
}
