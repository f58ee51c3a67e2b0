/*
 * A plug-in layer with a threshold: elements that are not above it become
 * `value` and receive no gradient.
 *
 *   y = x where x > threshold, else value;   dx = dy where x > threshold
 *
 * ../seeds/threshold.yaml does the same with a `bprop` in the config. Elements
 * are independent, so batches may be split over threads and processes.
 */
#include <cellrun.h>

enum {
    THRESHOLD,
    VALUE
};

static const struct cellrun_option options[] = {
    [THRESHOLD] = { .name = "threshold",
                    .type = CELLRUN_REAL,
                    .required = true,
                    .doc = "What is above stays." },
    [VALUE] = { .name = "value",
                .type = CELLRUN_REAL,
                .number = 20,
                .doc = "Output elsewhere." },
    { 0 },
};

/* The elements from .. to - 1 that this call computes. */
static int64_t element(const struct cellrun_step *s, int64_t sample)
{
    int64_t n = s->input[0].rank > 0 ? s->input[0].dim[0] : 1;

    return cellrun_count(&s->input[0]) / n * sample;
}

static void threshold_forward(const struct cellrun_step *s)
{
    cellrun_real threshold = (cellrun_real)s->option[THRESHOLD].real;
    cellrun_real value = (cellrun_real)s->option[VALUE].real;
    int64_t i, to = element(s, s->to);

    for (i = element(s, s->from); i < to; i++)
        s->y[0][i] = s->x[0][i] > threshold ? s->x[0][i] : value;
}

static void threshold_bprop(const struct cellrun_step *s)
{
    cellrun_real threshold = (cellrun_real)s->option[THRESHOLD].real;
    int64_t i, to = element(s, s->to);

    if (!s->dx[0])
        return; /* the gradient is not requested */
    for (i = element(s, s->from); i < to; i++)
        s->dx[0][i] = s->x[0][i] > threshold ? s->dy[0][i] : 0;
}

static const struct cellrun_cell threshold = {
    .name = "ThresholdLayer",
    .summary = "What is not above a threshold becomes a value.",
    .detail = "Any shape. y = x where x > threshold, else value.",
    .options = options,
    .flags = CELLRUN_SPLIT_FORWARD | CELLRUN_SPLIT_BPROP |
             CELLRUN_SAMPLES_APART,
    .forward = threshold_forward,
    .bprop = threshold_bprop,
};

CELLRUN_PLUGIN(&threshold);
