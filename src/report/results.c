/*
 * The results of the evaluations, and how far they would vary with other
 * samples.
 *
 * The interval of a metric is the percentile bootstrap (Efron and Tibshirani,
 * "An Introduction to the Bootstrap", 1993, chapter 13): the metric is computed
 * for RESAMPLES sets of n samples drawn with replacement from those in
 * eval.npz; the interval goes from the quantile 0.025 to the quantile 0.975 of
 * these values, interpolated linearly between order statistics. Samples are
 * drawn by SplitMix64 (Steele et al., 2014) from a fixed seed, so that the same
 * files give the same page.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/section.h"

#define RESAMPLES 1000
#define RESAMPLES_MANY 200 /* for more than MANY samples */
#define MANY 20000
#define SEED 1
#define METRICS 8
#define WIDTH 64 /* outputs of a sample */

/* Sums over a set of samples, from which all metrics follow. */
struct tally {
    int64_t n;
    double loss;
    int64_t *correct, *actual, *predicted; /* of each class */
    double absolute;
    double right;                          /* of positions, or exact matches */
    int64_t found, real, both;             /* labels */
    /* Of each output; labels relative to that of the first sample, so that no
     * digits are lost where the mean is large. */
    double square[WIDTH], truth[WIDTH], truth2[WIDTH];
};

struct metric {
    const char *name, *label;
    double value, low, high;
    double *resampled;
};

struct job {
    struct cr_arena *arena;
    const struct cr_run_outcomes *o;
    int n_metrics, n_resamples;
    struct metric metric[METRICS];
};

/* ---- Metrics of a tally */

static void results_clear(const struct job *j, struct tally *t)
{
    size_t bytes = (size_t)j->o->classes * sizeof *t->correct;
    struct tally empty = { .correct = t->correct,
                           .actual = t->actual,
                           .predicted = t->predicted };

    *t = empty;
    if (bytes == 0)
        return;
    memset(t->correct, 0, bytes);
    memset(t->actual, 0, bytes);
    memset(t->predicted, 0, bytes);
}

static void results_add(const struct job *j, struct tally *t, int64_t i)
{
    const struct cr_run_outcomes *o = j->o;

    if ((o->classes > 0 && o->label[i] < 0) || (o->right && isnan(o->right[i])))
        return;
    t->n++;
    t->loss += o->loss[i];
    if (o->classes > 0) {
        t->actual[o->label[i]]++;
        t->predicted[o->predicted[i]]++;
        t->correct[o->label[i]] += o->label[i] == o->predicted[i];
    }
    if (o->right)
        t->right += o->right[i];
    if (o->labels > 0) {
        uint64_t real = (uint64_t)o->true_labels[i];
        uint64_t found = (uint64_t)o->found_labels[i];

        t->right += real == found;
        t->real += __builtin_popcountll(real);
        t->found += __builtin_popcountll(found);
        t->both += __builtin_popcountll(real & found);
    }
    for (int64_t k = 0; k < o->width; k++) {
        double y = o->truth[i * o->width + k];
        double e = o->output[i * o->width + k] - y, d = y - o->truth[k];

        t->absolute += fabs(e);
        t->square[k] += e * e;
        t->truth[k] += d;
        t->truth2[k] += d * d;
    }
}

/* Precision, recall and F1 are unweighted means over the classes that occur as
 * label or prediction; a quotient 0 / 0 is 0, as in scikit-learn. */
static void results_classes(const struct job *j, const struct tally *t,
                            double *to)
{
    double correct = 0, sum[3] = { 0 };
    int64_t seen = 0;

    for (int64_t c = 0; c < j->o->classes; c++) {
        double hit = (double)t->correct[c];
        double a = (double)t->actual[c], p = (double)t->predicted[c];

        correct += hit;
        seen += a + p > 0;
        sum[0] += p > 0 ? hit / p : 0;
        sum[1] += a > 0 ? hit / a : 0;
        sum[2] += a + p > 0 ? 2 * hit / (a + p) : 0;
    }
    to[0] = correct / (double)t->n;
    for (int k = 0; k < 3; k++)
        to[1 + k] = seen > 0 ? sum[k] / (double)seen : (double)NAN;
    to[4] = t->loss / (double)t->n;
}

/* R2 is the mean over the outputs; constant labels give 1 if all outputs equal
 * them, else 0, as the metric r2. */
static void results_numbers(const struct job *j, const struct tally *t,
                            double *to)
{
    double n = (double)t->n, width = (double)j->o->width, square = 0, sum = 0;

    if (j->o->width == 0) {
        to[0] = t->loss / n;
        return;
    }
    for (int64_t k = 0; k < j->o->width; k++) {
        double spread = t->truth2[k] - t->truth[k] * t->truth[k] / n;

        square += t->square[k];
        sum += spread > 0 ? 1 - t->square[k] / spread : t->square[k] == 0;
    }
    to[0] = t->absolute / (n * width);
    to[1] = square / (n * width);
    to[2] = sqrt(to[1]);
    to[3] = sum / width;
}

/* Accuracy and loss of positions; or of labels: precision, recall and F1 over
 * all labels of all samples ("micro"). */
static void results_right(const struct job *j, const struct tally *t,
                          double *to)
{
    double n = (double)t->n, both = (double)t->both;

    to[0] = t->right / n;
    to[1] = t->loss / n;
    if (j->o->right) {
        to[2] = exp(to[1]);
        return;
    }
    to[2] = t->found > 0 ? both / (double)t->found : 0;
    to[3] = t->real > 0 ? both / (double)t->real : 0;
    to[4] = t->found + t->real > 0 ? 2 * both / (double)(t->found + t->real)
                                   : 0;
}

static void results_values(const struct job *j, const struct tally *t,
                           double *to)
{
    for (int k = 0; k < METRICS; k++)
        to[k] = (double)NAN;
    if (t->n > 0 && j->o->classes > 0)
        results_classes(j, t, to);
    else if (t->n > 0 && (j->o->right || j->o->labels > 0))
        results_right(j, t, to);
    else if (t->n > 0)
        results_numbers(j, t, to);
}

/* ---- Bootstrap */

static uint64_t results_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int results_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double results_quantile(const double *sorted, int n, double p)
{
    double at = p * (n - 1);
    int i = (int)at;

    return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i])
                     : sorted[n - 1];
}

static void results_bootstrap(struct job *j, struct tally *t)
{
    uint64_t state = SEED, n = (uint64_t)j->o->n;
    double value[METRICS];

    for (int b = 0; b < j->n_resamples; b++) {
        results_clear(j, t);
        for (uint64_t i = 0; i < n; i++) {
            uint64_t draw = results_random(&state) >> 32;

            results_add(j, t, (int64_t)(draw * n >> 32));
        }
        results_values(j, t, value);
        for (int k = 0; k < j->n_metrics; k++)
            j->metric[k].resampled[b] = value[k];
    }
    for (int k = 0; k < j->n_metrics; k++) {
        struct metric *m = &j->metric[k];
        int finite = 0;

        for (int b = 0; b < j->n_resamples; b++)
            if (isfinite(m->resampled[b]))
                m->resampled[finite++] = m->resampled[b];
        m->low = m->high = (double)NAN;
        if (finite < j->n_resamples / 2)
            continue;
        qsort(m->resampled, (size_t)finite, sizeof(double), results_order);
        m->low = results_quantile(m->resampled, finite, 0.025);
        m->high = results_quantile(m->resampled, finite, 0.975);
    }
}

static void results_compute(struct job *j)
{
    static const char *const classes[][2] = {
        { "accuracy", "accuracy" },
        { "precision", "precision, mean over classes" },
        { "recall", "recall, mean over classes" },
        { "F1", "F1, mean over classes" },
        { "", "negative log-likelihood" },
    };
    static const char *const numbers[][2] = {
        { "mae", "mean absolute error" },
        { "mse", "mean squared error" },
        { "", "root mean squared error" },
        { "", "coefficient of determination, R\xc2\xb2" },
    };
    static const char *const positions[][2] = {
        { "accuracy", "accuracy of the positions" },
        { "", "negative log-likelihood of a position" },
        { "perplexity", "perplexity" },
    };
    static const char *const labels[][2] = {
        { "", "exact matches of all labels" },
        { "", "negative log-likelihood of a label" },
        { "", "precision over all labels" },
        { "", "recall over all labels" },
        { "", "F1 over all labels" },
    };
    const char *const(*names)[2] = j->o->classes > 0 ? classes : numbers;
    struct tally t = { 0 };
    double value[METRICS];
    static const char *const only[][2] = { { "mse", "mean squared error" } };

    j->n_metrics = j->o->classes > 0 ? 5 : j->o->width > 0 ? 4 : 1;
    if (j->o->right) {
        names = positions;
        j->n_metrics = 3;
    } else if (j->o->labels > 0) {
        names = labels;
        j->n_metrics = 5;
    } else if (j->o->classes == 0 && j->o->width == 0) {
        names = only;
    }
    j->n_resamples = j->o->n > MANY ? RESAMPLES_MANY : RESAMPLES;
    t.correct = CR_NEWS(j->arena, int64_t, j->o->classes + 1);
    t.actual = CR_NEWS(j->arena, int64_t, j->o->classes + 1);
    t.predicted = CR_NEWS(j->arena, int64_t, j->o->classes + 1);
    for (int64_t i = 0; i < j->o->n; i++)
        results_add(j, &t, i);
    results_values(j, &t, value);
    for (int k = 0; k < j->n_metrics; k++)
        j->metric[k] = (struct metric){
            .name = names[k][0],
            .label = names[k][1],
            .value = value[k],
            .resampled = CR_NEWS(j->arena, double, j->n_resamples),
        };
    results_bootstrap(j, &t);
}

/* ---- The tables */

static void results_intervals(struct cr_report *r, const struct job *j)
{
    struct cr_buf *to = r->to;

    cr_html_table(to, cr_strf(r->arena,
                              "Metrics over %" PRId64 " evaluated samples "
                              "after step %" PRId64 ", with 95 %% confidence "
                              "intervals", j->o->n, j->o->step),
                  false);
    cr_buf_str(to, "<thead><tr>");
    cr_html_head(to, "metric", false);
    cr_html_head(to, "value", true);
    cr_html_head(to, "from", true);
    cr_html_head(to, "to", true);
    cr_buf_str(to, "</tr></thead>\n<tbody>\n");
    for (int k = 0; k < j->n_metrics; k++) {
        const struct metric *m = &j->metric[k];

        cr_buf_str(to, "<tr><th scope=\"row\">");
        cr_html(to, m->label);
        cr_buf_str(to, "</th>");
        cr_html_number(to, m->value, cr_html_format(m->value));
        cr_html_number(to, m->low, cr_html_format(m->value));
        cr_html_number(to, m->high, cr_html_format(m->value));
        cr_buf_str(to, "</tr>\n");
    }
    cr_buf_str(to, "</tbody>");
    cr_html_table_end(to);
    cr_buf_str(to, "<p class=\"note\">");
    cr_html_f(to,
              "Percentile bootstrap over samples: %d resamples, seed %d. The "
              "interval covers the choice of the samples, not that of the "
              "training.", j->n_resamples, SEED);
    if (j->o->seen > j->o->n)
        cr_html_f(to, " Only the first %" PRId64 " of %" PRId64
                  " samples are stored.", j->o->n, j->o->seen);
    cr_buf_str(to, "</p>\n");
}

/* The index of the record of a step; -1: none. */
static int64_t results_at(const struct cr_series *eval, double step)
{
    for (int64_t i = eval->n - 1; i >= 0; i--)
        if (eval->step[i] == step)
            return i;
    return -1;
}

static bool results_recorded(struct cr_report *r,
                             const struct cr_report_run *run)
{
    const struct cr_series *eval = cr_series_find(&run->series, "eval");
    const struct cr_node *best = cr_node_get(run->record, "best");
    int64_t at, last;

    if (!eval || eval->n == 0)
        return false;
    last = eval->n - 1;
    at = results_at(eval, (double)cr_json_int(best, "step", -1));
    cr_html_table(r->to, "Metrics that the run recorded", false);
    cr_buf_str(r->to, "<thead><tr>");
    cr_html_head(r->to, "metric", false);
    if (at >= 0 && at != last)
        cr_html_head(r->to, cr_strf(r->arena, "best, step %.0f",
                                    eval->step[at]), true);
    cr_html_head(r->to, cr_strf(r->arena, "%slast, step %.0f",
                                at == last ? "best and " : "",
                                eval->step[last]), true);
    cr_buf_str(r->to, "</tr></thead>\n<tbody>\n");
    for (int c = 0; c < eval->n_columns; c++) {
        const struct cr_series_column *column = &eval->column[c];
        bool of_train = strcmp(column->name, "train_loss") == 0;
        const char *format = cr_html_format(column->value[last]);

        cr_buf_str(r->to, "<tr><th scope=\"row\">");
        if (of_train)
            cr_html(r->to, "training loss, mean of the epoch");
        else
            cr_html_f(r->to, "eval.%s", column->name);
        cr_buf_str(r->to, "</th>");
        if (at >= 0 && at != last)
            cr_html_number(r->to, column->value[at], format);
        cr_html_number(r->to, column->value[last], format);
        cr_buf_str(r->to, "</tr>\n");
    }
    cr_buf_str(r->to, "</tbody>");
    cr_html_table_end(r->to);
    return true;
}

static bool results_write(struct cr_report *r, const struct cr_report_run *run)
{
    struct job j = { .arena = r->arena, .o = &run->outcomes };
    bool shown;

    cr_buf_str(r->to, "<div class=\"pair\"><div>\n");
    shown = results_recorded(r, run);
    cr_buf_str(r->to, "</div><div>\n");
    if (j.o->n > 0 && j.o->width <= WIDTH) {
        results_compute(&j);
        results_intervals(r, &j);
        shown = true;
    }
    cr_buf_str(r->to, "</div></div>\n");
    return shown;
}

const struct cr_report_section cr_report_results = {
    .id = "results",
    .title = "Results",
    .write = results_write,
};
