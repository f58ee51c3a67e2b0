#include "score/roc_curve.h"

#include <math.h>
#include <stdlib.h>

size_t cr_roc_size(const void *opts, int64_t classes)
{
    (void)opts;
    (void)classes;
    return sizeof(struct cr_roc);
}

static void roc_softmax(cr_real *x, int64_t n)
{
    double top = (double)x[0], sum = 0;

    for (int64_t c = 1; c < n; c++)
        top = fmax(top, (double)x[c]);
    for (int64_t c = 0; c < n; c++)
        sum += exp((double)x[c] - top);
    for (int64_t c = 0; c < n; c++)
        x[c] = (cr_real)(exp((double)x[c] - top) / sum);
}

/* Whether each output has its own label: the counts are equal. */
static bool roc_marks(const struct cr_metric_batch *batch)
{
    return cr_count(batch->label_spec) == cr_count(batch->spec);
}

static void roc_reserve(struct cr_roc *r, struct cr_arena *mem, int64_t n)
{
    int64_t width = r->multilabel ? r->classes : 1, cap = r->cap;

    if (r->n + n <= cap)
        return;
    cap = 2 * (r->n + n);
    r->score = cr_grow(mem, r->score, (size_t)(r->n * r->classes),
                       (size_t)(cap * r->classes), sizeof *r->score);
    r->target = cr_grow(mem, r->target, (size_t)(r->n * width),
                        (size_t)(cap * width), sizeof *r->target);
    r->cap = cap;
}

static void roc_add(struct cr_roc *r, int64_t classes,
                    const struct cr_metric_batch *batch)
{
    int64_t n = cr_count(batch->spec) / classes, stride = 1;

    r->classes = classes;
    roc_reserve(r, batch->mem, n);
    for (int64_t i = 0; i < n; i++) {
        int64_t at = classes > 1 ? cr_metric_first(batch, i, &stride) : i;
        cr_real *to = r->score + r->n * classes;

        if (!r->multilabel && cr_metric_label(batch, i) < 0)
            continue;
        for (int64_t c = 0; c < classes; c++) {
            to[c] = batch->output[at + c * stride];
            if (r->multilabel)
                r->target[r->n * classes + c] =
                    cr_metric_target(batch, at + c * stride) > 0.5;
        }
        if (!r->multilabel) {
            if (!batch->probs)
                roc_softmax(to, classes);
            r->target[r->n] = (int32_t)cr_metric_label(batch, i);
        }
        r->n++;
    }
}

void cr_roc_add(const void *opts, void *state, int64_t classes,
                const struct cr_metric_batch *batch)
{
    struct cr_roc *r = state;

    (void)opts;
    r->multilabel = roc_marks(batch);
    roc_add(r, classes, batch);
}

void cr_roc_class_add(struct cr_roc *r, int64_t classes,
                      const struct cr_metric_batch *batch)
{
    r->multilabel = roc_marks(batch) && !cr_metric_classified(batch);
    roc_add(r, classes, batch);
}

struct ranked {
    double score;
    bool is;
};

/* Sorts in descending order, NaN last. */
static int roc_order(const void *a, const void *b)
{
    double x = ((const struct ranked *)a)->score;
    double y = ((const struct ranked *)b)->score;

    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x < y) - (x > y);
}

static struct ranked *roc_sorted(const struct cr_roc *r, int64_t class,
                                 struct cr_arena *mem, int64_t *yes)
{
    struct ranked *all = CR_NEWS(mem, struct ranked, r->n + 1);

    *yes = 0;
    for (int64_t i = 0; i < r->n; i++) {
        all[i].score = (double)r->score[i * r->classes + class];
        all[i].is = r->multilabel ? r->target[i * r->classes + class] != 0
                                  : r->target[i] == class;
        *yes += all[i].is;
    }
    qsort(all, (size_t)r->n, sizeof *all, roc_order);
    return all;
}

/* Drops the middle one of three collinear points. */
static int64_t roc_corner(double *p, int64_t n)
{
    double *c = p + 3 * (n - 1), *b = c - 3, *a = b - 3;

    if (n < 3 || (b[0] - a[0]) * (c[1] - a[1]) != (c[0] - a[0]) * (b[1] - a[1]))
        return n;
    for (int i = 0; i < 3; i++)
        b[i] = c[i];
    return n - 1;
}

const double *cr_roc_curve(const struct cr_roc *r, int64_t class,
                           struct cr_arena *mem, int64_t *points)
{
    int64_t yes, n = 1, tp = 0;
    struct ranked *all = roc_sorted(r, class, mem, &yes);
    double *p = CR_NEWS(mem, double, 3 * (r->n + 2));

    *points = 0;
    if (yes == 0 || yes == r->n)
        return NULL;
    p[2] = all[0].score + 1;
    for (int64_t i = 0; i < r->n; i++) {
        tp += all[i].is;
        if (i + 1 < r->n && roc_order(&all[i], &all[i + 1]) == 0)
            continue;
        p[3 * n] = (double)(i + 1 - tp);
        p[3 * n + 1] = (double)tp;
        p[3 * n + 2] = all[i].score;
        n = roc_corner(p, n + 1);
    }
    for (int64_t i = 0; i < n; i++) {
        p[3 * i] /= (double)(r->n - yes);
        p[3 * i + 1] /= (double)yes;
    }
    *points = n;
    return p;
}

double cr_roc_area(const struct cr_roc *roc, int64_t class)
{
    struct cr_arena mem = { 0 };
    int64_t n;
    const double *p = cr_roc_curve(roc, class, &mem, &n);
    double area = 0;

    for (int64_t i = 1; i < n; i++)
        area += (p[3 * i] - p[3 * i - 3]) * (p[3 * i + 1] + p[3 * i - 2]) / 2;
    cr_arena_free(&mem);
    return n ? area : (double)NAN;
}

/* Area under the precision-recall curve, with one step per distinct output as
 * threshold. */
static double roc_recall_area(const struct cr_roc *r, int64_t class,
                              bool trapezoid)
{
    struct cr_arena mem = { 0 };
    int64_t yes, tp = 0;
    struct ranked *all = roc_sorted(r, class, &mem, &yes);
    double area = 0, recall = 0, precision = 1;

    for (int64_t i = 0; i < r->n; i++) {
        double to_recall, to_precision;

        tp += all[i].is;
        if (i + 1 < r->n && roc_order(&all[i], &all[i + 1]) == 0)
            continue;
        to_recall = (double)tp / (double)yes;
        to_precision = (double)tp / (double)(i + 1);
        area += (to_recall - recall) *
                (trapezoid ? (precision + to_precision) / 2 : to_precision);
        recall = to_recall;
        precision = to_precision;
    }
    cr_arena_free(&mem);
    return yes ? area : (double)NAN;
}

double cr_roc_average_precision(const struct cr_roc *roc, int64_t class)
{
    return roc_recall_area(roc, class, false);
}

double cr_roc_pr_area(const struct cr_roc *roc, int64_t class)
{
    return roc_recall_area(roc, class, true);
}

double cr_roc_threshold(const struct cr_roc *r, int64_t class,
                        double (*score)(struct cr_roc_counts counts))
{
    struct cr_arena mem = { 0 };
    struct ranked *all;
    double best, found;
    int64_t yes, tp = 0;

    if (r->n == 0)
        return (double)NAN;
    all = roc_sorted(r, class, &mem, &yes);
    best = score((struct cr_roc_counts){ .fn = (double)yes,
                                         .tn = (double)(r->n - yes) });
    found = all[0].score < 1 ? (all[0].score + 1) / 2 : all[0].score + 1;
    for (int64_t i = 0; i < r->n; i++) {
        double here;

        tp += all[i].is;
        if (i + 1 < r->n && roc_order(&all[i], &all[i + 1]) == 0)
            continue;
        here = score((struct cr_roc_counts){
            .tp = (double)tp,
            .fp = (double)(i + 1 - tp),
            .fn = (double)(yes - tp),
            .tn = (double)(r->n - yes - (i + 1 - tp)) });
        if (!(here > best))
            continue;
        best = here;
        found = i + 1 < r->n       ? (all[i].score + all[i + 1].score) / 2
                : all[i].score > 0 ? all[i].score / 2
                : all[i].score < 0 ? all[i].score - 1
                                   : 0;
    }
    cr_arena_free(&mem);
    return found;
}

double cr_roc_mean(const struct cr_roc *roc,
                   double (*of)(const struct cr_roc *, int64_t))
{
    double sum = 0, n = 0;

    for (int64_t c = 0; c < roc->classes; c++) {
        double value = of(roc, c);

        if (isnan(value))
            continue;
        sum += value;
        n++;
    }
    return sum / n;
}

double cr_roc_positive(const struct cr_roc *roc,
                       double (*of)(const struct cr_roc *, int64_t))
{
    return roc->classes == 2 && !roc->multilabel ? of(roc, 1)
                                                 : cr_roc_mean(roc, of);
}

int64_t cr_roc_table(const struct cr_roc *roc, int64_t classes,
                     double (*of)(const struct cr_roc *, int64_t), double *to)
{
    for (int64_t c = 0; c < classes; c++)
        to[c] = of(roc, c);
    return 1;
}
