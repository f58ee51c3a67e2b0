/*
 * Calibration: whether predictions with a probability of 0.8 are correct in 8
 * of 10 cases.
 *
 * Samples are sorted into BINS intervals of equal width by the probability of
 * the predicted class. Expected calibration error (Guo et al., "On Calibration
 * of Modern Neural Networks", 2017, equation 3):
 *
 *   ECE = sum over bins of n_b / n |accuracy_b - mean probability_b|
 */
#include <inttypes.h>
#include <math.h>

#include "report/section.h"

#define BINS 10

struct bin {
    double n, correct, probability;
};

static double calibration_bins(const struct cr_run_outcomes *o, struct bin *bin)
{
    double n = 0, error = 0;

    for (int64_t i = 0; i < o->n; i++) {
        double p = o->probability[i];
        int b = p >= 1 ? BINS - 1 : p > 0 ? (int)(p * BINS) : 0;

        if (o->label[i] < 0 || !isfinite(p))
            continue;
        bin[b].n++;
        bin[b].correct += o->label[i] == o->predicted[i];
        bin[b].probability += p;
        n++;
    }
    for (int b = 0; b < BINS; b++)
        error += fabs(bin[b].correct - bin[b].probability);
    return n > 0 ? error / n : (double)NAN;
}

static void calibration_diagram(struct cr_report *r, const struct bin *bin)
{
    static const double ends[] = { 0, 1 };
    double x[BINS], y[BINS];
    const char *label[BINS];
    struct cr_chart chart = cr_report_chart(r, "Reliability");
    struct cr_chart_curve curve[] = {
        { .name = "perfect", .n = 2, .x = ends, .y = ends, .dashed = true,
          .color = 8 },
        { .name = "this run", .x = x, .y = y, .color = 1 },
        { .x = x, .y = y, .color = 1, .points = true, .labels = label },
    };
    int n = 0;

    for (int b = 0; b < BINS; b++) {
        if (bin[b].n == 0)
            continue;
        x[n] = bin[b].probability / bin[b].n;
        y[n] = bin[b].correct / bin[b].n;
        label[n] = cr_strf(r->arena, "%.0f samples: mean probability %.3f, "
                           "accuracy %.3f", bin[b].n, x[n], y[n]);
        n++;
    }
    curve[1].n = curve[2].n = n;
    chart.x = (struct cr_chart_axis){ .label = "mean probability", .max = 1 };
    chart.y = (struct cr_chart_axis){ .label = "accuracy", .max = 1 };
    cr_report_figure(r, 0);
    cr_chart_curves(r->to, &chart, curve, 3);
    cr_report_figure_end(r, "Accuracy of the samples in each of 10 intervals "
                            "of the probability. Below the dashed line the "
                            "network is too sure.");
}

static bool calibration_write(struct cr_report *r,
                              const struct cr_report_run *run)
{
    const struct cr_run_outcomes *o = &run->outcomes;
    struct bin bin[BINS] = { 0 };
    struct cr_chart chart;
    double error;

    if (o->n == 0 || o->classes == 0)
        return false;
    error = calibration_bins(o, bin);
    cr_buf_str(r->to, "<p>Expected calibration error: <strong data-ece>");
    cr_html_f(r->to, "%.4f", error);
    cr_buf_str(r->to, "</strong>, over 10 intervals of equal width.</p>\n"
                      "<div class=\"grid\">\n");
    calibration_diagram(r, bin);
    cr_report_figure(r, 0);
    chart = cr_report_chart(r, "Probability of the prediction");
    chart.x = (struct cr_chart_axis){ .label = "probability", .max = 1 };
    chart.y.label = "samples";
    cr_chart_histogram(r->to, &chart, o->probability, o->n, 20);
    cr_report_figure_end(r, "Number of samples by the probability of their "
                            "predicted class.");
    cr_buf_str(r->to, "</div>\n");
    return true;
}

const struct cr_report_section cr_report_calibration = {
    .id = "calibration",
    .title = "Calibration",
    .write = calibration_write,
};
