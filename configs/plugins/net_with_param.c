/*
 * A plug-in cell with a weight: bprop also computes the gradient of the weight.
 *
 *   y = x w        dx = dy w        dw = sum of dy x over the batch
 *
 * x (n, features), w (features). Processes of mpirun may share out the samples.
 * Computes what ../seeds/net_with_param.yaml does; the initial value of the
 * weight is an option.
 */
#include <cellrun.h>
#include <stdio.h>

enum {
    FEATURES
};

static const struct cellrun_option options[] = {
    [FEATURES] = { .name = "features",
                   .type = CELLRUN_INTEGER,
                   .number = 1,
                   .low = 1,
                   .high = 1e9,
                   .doc = "Numbers of a sample." },
    { 0 },
};

static const struct cellrun_param params[] = {
    { .name = "w", .init = "2.0" },
    { 0 },
};

static int net_shape(struct cellrun_plan *p)
{
    const struct cellrun_shape *x = &p->input[0];
    int64_t features = p->option[FEATURES].integer;

    if (x->rank != 2 || x->dim[1] != features) {
        snprintf(p->error, sizeof p->error,
                 "takes (samples, %lld), not rank %d with a last dimension "
                 "of %lld",
                 (long long)features, x->rank,
                 x->rank > 0 ? (long long)x->dim[x->rank - 1] : 0LL);
        return 1;
    }
    p->param[0] = (struct cellrun_shape){ .rank = 1, .dim = { features } };
    p->macs = (double)cellrun_count(x);
    return 0;
}

static void net_forward(const struct cellrun_step *s)
{
    int64_t n = s->input[0].dim[0], features = s->input[0].dim[1], i, k;

    for (i = 0; i < n; i++)
        for (k = 0; k < features; k++)
            s->y[0][i * features + k] = s->x[0][i * features + k] * s->w[0][k];
}

static void net_bprop(const struct cellrun_step *s)
{
    int64_t n = s->input[0].dim[0], features = s->input[0].dim[1], i, k;
    const cellrun_real *dy = s->dy[0], *x = s->x[0], *w = s->w[0];

    for (i = 0; s->dx[0] && i < n; i++)
        for (k = 0; k < features; k++)
            s->dx[0][i * features + k] = dy[i * features + k] * w[k];
    for (k = 0; s->dw[0] && k < features; k++) {
        double sum = 0;

        for (i = 0; i < n; i++)
            sum += (double)dy[i * features + k] * (double)x[i * features + k];
        s->dw[0][k] = (cellrun_real)sum;
    }
}

static const struct cellrun_cell net_with_param = {
    .name = "NetWithParam",
    .summary = "A weight for each feature.",
    .detail = "Input (n, features), output the same. y = x w.",
    .options = options,
    .params = params,
    .flags = CELLRUN_SAMPLES_APART,
    .shape = net_shape,
    .forward = net_forward,
    .bprop = net_bprop,
};

CELLRUN_PLUGIN(&net_with_param);
