/* Cells for tests/cli/plugin.bats: each uses another part of cellrun.h. */
#include <cellrun.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#ifndef NAMED
#define NAMED(name) name
#endif

/* ---- Noise: Dropout, or Gaussian noise's cheap cousin; the options of all
 * types, random numbers, keep, split over threads ---- */

enum {
    RATE,
    MODE,
    ON,
    LABEL
};

static const struct cellrun_option noise_options[] = {
    { .name = "rate",
      .type = CELLRUN_REAL,
      .number = 0.25,
      .high = 0.9,
      .doc = "Share of the elements that become 0." },
    { .name = "mode",
      .type = CELLRUN_CHOICE,
      .choices = "drop|add",
      .text = "drop",
      .doc = "What is done to them." },
    { .name = "on", .type = CELLRUN_BOOL, .number = 1, .doc = "At all." },
    { .name = "label", .type = CELLRUN_TEXT, .doc = "Any text." },
    { 0 },
};

static int noise_shape(struct cellrun_plan *p)
{
    const char *label = p->option[LABEL].text;

    if (label && strcmp(label, "no") == 0) {
        snprintf(p->error, sizeof p->error, "the label is '%s'", label);
        return 1;
    }
    p->keep = (size_t)cellrun_count(&p->input[0]);
    return 0;
}

static void noise_range(const struct cellrun_step *s, int64_t *from,
                        int64_t *to)
{
    int64_t each = cellrun_count(&s->input[0]) / s->input[0].dim[0];

    *from = each * s->from;
    *to = each * s->to;
}

static void noise_forward(const struct cellrun_step *s)
{
    bool does = s->training && s->option[ON].truth;
    double rate = s->option[RATE].real;
    unsigned char *mask = s->keep;
    int64_t i, to;

    for (noise_range(s, &i, &to); i < to; i++) {
        double u = cellrun_random(s->seed, (uint64_t)i);

        mask[i] = does && s->option[MODE].choice == 0 && u < rate;
        s->y[0][i] = mask[i] ? 0 : s->x[0][i];
        if (does && s->option[MODE].choice == 1)
            s->y[0][i] += (cellrun_real)(rate * u);
    }
}

static void noise_bprop(const struct cellrun_step *s)
{
    const unsigned char *mask = s->keep;
    int64_t i, to;

    if (!s->dx[0])
        return;
    for (noise_range(s, &i, &to); i < to; i++)
        s->dx[0][i] = mask[i] ? 0 : s->dy[0][i];
}

static const struct cellrun_cell noise = {
    .name = NAMED("Noise"),
    .summary = "Zeroes elements, or adds noise.",
    .options = noise_options,
    .flags = CELLRUN_SPLIT_FORWARD | CELLRUN_SPLIT_BPROP,
    .shape = noise_shape,
    .forward = noise_forward,
    .bprop = noise_bprop,
};

/* ---- Centre: y = (x - mean) w scale + bias, x (n, features); the mean is a
 * statistic, which training moves, scale never changes, bias is optional;
 * scratch holds the sums, keep the mean before ---- */

static const struct cellrun_option centre_options[] = {
    { .name = "has_bias", .type = CELLRUN_BOOL, .number = 1, .doc = "Bias." },
    { 0 },
};

enum {
    MEAN,
    WEIGHT,
    SCALE,
    BIAS
};

static const struct cellrun_param centre_params[] = {
    [MEAN] = { .name = "mean", .role = CELLRUN_STATISTIC, .init = "0.5" },
    [WEIGHT] = { .name = "weight", .init = "{Uniform: {scale: 0.5}}" },
    [SCALE] = { .name = "scale", .role = CELLRUN_FIXED, .init = "2.0" },
    [BIAS] = { .name = "bias" },
    { 0 },
};

static int centre_shape(struct cellrun_plan *p)
{
    struct cellrun_shape f = { .rank = 1, .dim = { 0 } };
    int i;

    if (p->input[0].rank != 2) {
        strcpy(p->error, "takes (samples, features)");
        return -1;
    }
    f.dim[0] = p->input[0].dim[1];
    for (i = 0; i < 4; i++)
        p->param[i] = f;
    if (!p->option[0].truth)
        p->param[BIAS].rank = -1;
    p->keep = p->scratch = (size_t)f.dim[0] * sizeof(cellrun_real);
    return 0;
}

static void centre_forward(const struct cellrun_step *s)
{
    int64_t n = s->input[0].dim[0], f = s->input[0].dim[1], i, k;
    cellrun_real *mean = s->keep, *sum = s->scratch;

    memcpy(mean, s->w[MEAN], (size_t)f * sizeof *mean);
    memset(sum, 0, (size_t)f * sizeof *sum);
    for (i = 0; i < n; i++)
        for (k = 0; k < f; k++) {
            sum[k] += s->x[0][i * f + k];
            s->y[0][i * f + k] = (s->x[0][i * f + k] - mean[k]) *
                                     s->w[WEIGHT][k] * s->w[SCALE][k] +
                                 (s->w[BIAS] ? s->w[BIAS][k] : 0);
        }
    for (k = 0; s->moved[MEAN] && k < f; k++)
        s->moved[MEAN][k] = (cellrun_real)0.75 * mean[k] +
                            (cellrun_real)0.25 * sum[k] / (cellrun_real)n;
}

static void centre_bprop(const struct cellrun_step *s)
{
    int64_t n = s->input[0].dim[0], f = s->input[0].dim[1], i, k;
    const cellrun_real *mean = s->keep;

    for (k = 0; k < f; k++) {
        double w = 0, b = 0;

        for (i = 0; i < n; i++) {
            cellrun_real dy = s->dy[0][i * f + k];

            w += (double)(dy * (s->x[0][i * f + k] - mean[k]));
            b += (double)dy;
            if (s->dx[0])
                s->dx[0][i * f + k] = dy * s->w[WEIGHT][k] * s->w[SCALE][k];
        }
        if (s->dw[WEIGHT])
            s->dw[WEIGHT][k] = (cellrun_real)w * s->w[SCALE][k];
        if (s->dw[BIAS])
            s->dw[BIAS][k] = (cellrun_real)b;
    }
}

static const struct cellrun_cell centre = {
    .name = NAMED("Centre"),
    .options = centre_options,
    .params = centre_params,
    .shape = centre_shape,
    .forward = centre_forward,
    .bprop = centre_bprop,
};

/* ---- Halves: two inputs, two results of other shapes: a + b, and the sum of
 * a b over the last dimension ---- */

static const char *const halves_inputs[] = { "a", "b", NULL };

static int halves_shape(struct cellrun_plan *p)
{
    const struct cellrun_shape *a = &p->input[0], *b = &p->input[1];

    if (a->rank < 1 || memcmp(a, b, sizeof *a) != 0) {
        strcpy(p->error, "a and b differ");
        return 1;
    }
    p->output[1].rank = a->rank - 1;
    return 0;
}

static void halves_forward(const struct cellrun_step *s)
{
    int64_t last = s->input[0].dim[s->input[0].rank - 1], i, k;
    int64_t rows = cellrun_count(&s->output[1]);

    for (i = 0; i < rows; i++) {
        const cellrun_real *a = s->x[0] + i * last, *b = s->x[1] + i * last;
        cellrun_real sum = 0;

        for (k = 0; k < last; k++) {
            s->y[0][i * last + k] = a[k] + b[k];
            sum += a[k] * b[k];
        }
        s->y[1][i] = sum;
    }
}

static void halves_bprop(const struct cellrun_step *s)
{
    int64_t last = s->input[0].dim[s->input[0].rank - 1], j;
    int64_t n = cellrun_count(&s->input[0]);
    int i;

    for (i = 0; i < 2; i++)
        for (j = 0; s->dx[i] && j < n; j++)
            s->dx[i][j] = s->dy[0][j] + s->dy[1][j / last] * s->x[1 - i][j];
}

static const struct cellrun_cell halves = {
    .name = NAMED("Halves"),
    .inputs = halves_inputs,
    .outputs = 2,
    .shape = halves_shape,
    .forward = halves_forward,
    .bprop = halves_bprop,
};

/* ---- Odd: what shape may not say ---- */

static const struct cellrun_option odd_options[] = {
    { .name = "how",
      .type = CELLRUN_INTEGER,
      .required = true,
      .low = 1,
      .high = 10,
      .doc = "What is wrong; 10: forward." },
    { 0 },
};

static const struct cellrun_param odd_params[] = {
    { .name = "p", .role = CELLRUN_FIXED },
    { 0 },
};

static int odd_shape(struct cellrun_plan *p)
{
    int i;

    if (p->option[0].integer != 1)
        p->param[0] = (struct cellrun_shape){ .rank = 1, .dim = { 2 } };
    switch (p->option[0].integer) {
    case 2:
        p->output[0].rank = 9;
        break;
    case 3:
        p->output[0].dim[0] = 0;
        break;
    case 4:
        p->output[0].rank = 8;
        for (i = 0; i < 8; i++)
            p->output[0].dim[i] = 1 << 20;
        break;
    case 5:
        p->param[0].dim[0] = -3;
        break;
    case 6:
        p->keep = (size_t)-1;
        break;
    case 7: /* a message without an end, on two lines */
        memset(p->error, 'x', sizeof p->error);
        p->error[3] = '\n';
        return 1;
    case 8:
        return 1;
    case 9:
        p->param[0].dim[0] = p->input[0].dim[0];
        break;
    default:
        break;
    }
    return 0;
}

static void odd_forward(const struct cellrun_step *s)
{
    int64_t i, n = cellrun_count(&s->output[0]);

    for (i = 0; i < n; i++)
        s->y[0][i] = (cellrun_real)NAN;
}

static const struct cellrun_cell odd = {
    .name = NAMED("Odd"),
    .options = odd_options,
    .params = odd_params,
    .shape = odd_shape,
    .forward = odd_forward,
};

CELLRUN_PLUGIN(&noise, &centre, &halves, &odd);
