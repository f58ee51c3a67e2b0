/* Normalize: y = (x - mean_c) / std_c in float32, subtracted, then divided. */
#include "data/transform.h"

struct normalize {
    struct cr_reals mean, std;
    bool is_hwc;
};

static const struct cr_opt normalize_opts[] = {
    CR_REALS(struct normalize, mean, 0, 255, "Mean of each channel."),
    CR_REALS(struct normalize, std, DBL_MIN, 255,
             "Standard deviation of each channel."),
    CR_BOOL_DEFAULT(struct normalize, is_hwc, true,
                    "Layout: true: channels last. false: channels first."),
    { 0 },
};

static int64_t normalize_channels(const struct cr_transform_plan *p)
{
    const struct normalize *o = p->opts;

    return p->in.rank < 3 ? 1 : p->in.dim[o->is_hwc ? p->in.rank - 1 : 0];
}

static bool normalize_plan(struct cr_transform_plan *p)
{
    const struct normalize *o = p->opts;
    int64_t channels = normalize_channels(p);

    if (p->in.type == CR_STRING || p->in.rank < 2 || p->in.rank > 3)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "Normalize: found %s, expected images (height, width, "
                        "channels) or (height, width)",
                        cr_diag_format(p->arena, &p->in));
    if (o->mean.n != o->std.n)
        return cr_error(p->diag, p->pos, CR_E_CONFLICT,
                        "Normalize: mean has %d numbers, std has %d",
                        o->mean.n, o->std.n);
    if (o->mean.n != 1 && o->mean.n != channels)
        return cr_error(p->diag, p->pos, CR_E_SHAPE,
                        "Normalize: mean has %d numbers, but the image %s "
                        "has %lld channel%s",
                        o->mean.n, cr_diag_format(p->arena, &p->in),
                        (long long)channels, channels == 1 ? "" : "s");
    p->out = p->in;
    p->out.type = CR_F32;
    return true;
}

static int64_t normalize_channel(const struct cr_transform_plan *p, int64_t i)
{
    const struct normalize *o = p->opts;

    if (o->mean.n == 1)
        return 0;
    return o->is_hwc ? i % normalize_channels(p)
                     : i / (p->in.dim[1] * p->in.dim[2]);
}

static double normalize_value(const struct cr_transform_plan *p, double x,
                              int64_t c)
{
    const struct normalize *o = p->opts;

    return ((float)x - (float)o->mean.v[c]) / (float)o->std.v[c];
}

static bool normalize_apply(struct cr_sample *s)
{
    int64_t i, n = cr_count(&s->plan->in);
    float *y = s->y;

    cr_convert(s->plan->in.type, s->x, CR_F32, y, n);
    for (i = 0; i < n; i++)
        y[i] = (float)normalize_value(s->plan, y[i],
                                      normalize_channel(s->plan, i));
    return true;
}

const struct cr_transform cr_transform_normalize = {
    .about = {
        .name = "Normalize",
        .summary = "(x - mean) / std per channel, as float32.",
        .detail = "Images (height, width, channels) or (height, width); a "
                  "single mean applies to all channels. Mean and standard "
                  "deviation are in the units of the input: 0 to 1 after "
                  "Rescale, 0 to 255 for raw pixels.",
        .example = "datapipe: {image: [{Normalize: {mean: [0.1307], std: "
                   "[0.3081]}}]}\n",
        .opts = normalize_opts,
        .size = sizeof(struct normalize),
    },
    .plan = normalize_plan,
    .apply = normalize_apply,
    .value = normalize_value,
    .channel = normalize_channel,
};
