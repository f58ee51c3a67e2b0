/*
 * C code of products, convolution, pooling and normalisation.
 */
#include "export/c.h"

#include <string.h>

#include "export/window.h"
#include "graph/op_attrs.h"

static bool linear(struct cr_c *c, const char *arg)
{
    const struct cr_inference_val *x = cr_c_val(c, 0), *w = cr_c_val(c, 1);

    cr_c_call(c, arg,
              cr_strf(c->arena, "%s, %s, %s, %s, %s", cr_c_in(c, 0),
                      cr_c_in(c, 1), cr_c_in(c, 2), cr_c_out(c),
                      CR_C_INTS(c, cr_c_count(x, 0, x->spec.rank - 1),
                                cr_c_dim(w, 1), cr_c_dim(w, 0))));
    return true;
}

/* A convolution of one dimension is one of images of height 1; its weight is
 * (o, c, 1, k). */
static bool conv(struct cr_c *c, const char *arg)
{
    const struct cr_inference_val *x = cr_c_val(c, 0), *w = cr_c_val(c, 1);
    const struct cr_inference_val *y = cr_c_result(c);
    struct cr_ints stride = cr_inference_ints(c->node, "stride");
    struct cr_ints padding = cr_inference_ints(c->node, "padding");
    struct cr_ints dilation = cr_inference_ints(c->node, "dilation");
    const char *mode = cr_inference_enum(c->arena, c->node, "pad_mode");
    int64_t s[2] = { 1, 1 }, d[2] = { 1, 1 }, before[2] = { 0 };
    int64_t in[2] = { 1, 1 }, out[2] = { 1, 1 };
    int dims = x->spec.rank - 2;

    if (!cr_c_apart(c, x, dims))
        return false;
    for (int i = 0; i < dims; i++) {
        int at = 2 - dims + i;
        int64_t all;

        in[at] = cr_c_dim(x, 2 + i);
        out[at] = cr_c_dim(y, 2 + i);
        s[at] = cr_window_pick(&stride, i, 1);
        d[at] = cr_window_pick(&dilation, i, 1);
        all = (out[at] - 1) * s[at] + d[at] * (cr_c_dim(w, 2 + at) - 1) + 1 -
              in[at];
        if (strcmp(mode, "pad") == 0)
            before[at] = cr_window_pick(&padding, 2 * i, 0);
        else if (strcmp(mode, "same") == 0 && all > 0)
            before[at] = all / 2;
    }
    cr_c_call(c, arg,
              cr_strf(c->arena, "%s, %s, %s, %s, %s", cr_c_in(c, 0),
                      cr_c_in(c, 1), cr_c_in(c, 2), cr_c_out(c),
                      CR_C_INTS(c, cr_c_dim(x, 0), cr_c_dim(x, 1), in[0],
                                in[1], cr_c_dim(y, 1), out[0], out[1],
                                cr_c_dim(w, 2), cr_c_dim(w, 3), s[0], s[1],
                                before[0], before[1], d[0], d[1],
                                cr_inference_int(c->node, "groups"))));
    return true;
}

static bool pool(struct cr_c *c, const char *arg)
{
    const struct cr_pool_opts *a = c->node->attr;
    const struct cr_inference_val *x = cr_c_val(c, 0), *y = cr_c_result(c);
    int rank = x->spec.rank, dims = a->dims > 0 ? (int)a->dims : rank - 2;
    struct cr_pool_window w[2] = { { .in = 1, .out = 1, .kernel = 1,
                                     .stride = 1, .dilation = 1 } };
    bool max = strcmp(arg, "max_pool") == 0;
    int64_t divisor = a->divisor_override == CR_INT_NONE ||
                              a->output_size.n > 0
                          ? 0
                          : a->divisor_override;

    if (dims > 2 || c->node->n_out > 1)
        return cr_c_no(c, "only pooling of one or two dimensions has a C form");
    if (!cr_c_apart(c, x, dims))
        return false;
    for (int i = 0; i < dims; i++) {
        int k = rank - dims + i;

        if (a->output_size.n > 0 && cr_c_dim(x, k) % cr_c_dim(y, k) != 0)
            return cr_c_no(c, "the windows differ in size");
        w[2 - dims + i] =
            cr_window_of_pool(a, i, cr_c_dim(x, k), cr_c_dim(y, k));
    }
    cr_c_call(c, arg,
              cr_strf(c->arena, "%s, %s, %s, %s", cr_c_in(c, 0), cr_c_out(c),
                      CR_C_INTS(c, cr_c_count(x, 0, rank - dims), w[0].in,
                                w[1].in, w[0].out, w[1].out, w[0].kernel,
                                w[1].kernel, w[0].stride, w[1].stride,
                                w[0].before, w[1].before),
                      max ? CR_C_INTS(c, w[0].dilation, w[1].dilation)
                          : CR_C_INTS(c, w[0].after, w[1].after,
                                      cr_pool_counts_pad(a), divisor)));
    return true;
}

static bool batch_norm(struct cr_c *c, const char *arg)
{
    const struct cr_batch_norm *a = c->node->attr;
    const struct cr_inference_val *x = cr_c_val(c, 0);

    if (a->use_batch_statistics == 1)
        return cr_c_no(c, "it mixes samples");
    cr_c_call(c, arg,
              cr_strf(c->arena, "%s, %s, %s, %s, %s, %s, %s, %s",
                      cr_c_in(c, 0), cr_c_in(c, 1), cr_c_in(c, 2),
                      cr_c_in(c, 3), cr_c_in(c, 4), cr_c_out(c),
                      CR_C_INTS(c, cr_c_dim(x, 0), cr_c_dim(x, 1),
                                cr_c_count(x, 2, x->spec.rank)),
                      cr_c_number(c, a->eps)));
    return true;
}

static bool layer_norm(struct cr_c *c, const char *arg)
{
    const struct cr_layer_norm *a = c->node->attr;
    const struct cr_inference_val *x = cr_c_val(c, 0);
    int rank = x->spec.rank, from = cr_c_axis(c, x, a->begin_norm_axis);
    int64_t params = a->begin_params_axis;

    params += params < 0 ? rank : 0;
    if (from < 0)
        return false;
    if (from != params)
        return cr_c_no(c, "begin_norm_axis and begin_params_axis differ");
    cr_c_call(c, arg,
              cr_strf(c->arena, "%s, %s, %s, %s, %s, %s", cr_c_in(c, 0),
                      cr_c_in(c, 1), cr_c_in(c, 2), cr_c_out(c),
                      CR_C_INTS(c, cr_c_count(x, 0, from),
                                cr_c_count(x, from, rank)),
                      cr_c_number(c, a->epsilon)));
    return true;
}

static bool group_norm(struct cr_c *c, const char *arg)
{
    const struct cr_group_norm *a = c->node->attr;
    const struct cr_inference_val *x = cr_c_val(c, 0);

    if (!cr_c_apart(c, x, x->spec.rank - 1))
        return false;
    cr_c_call(c, arg,
              cr_strf(c->arena, "%s, %s, %s, %s, %s, %s", cr_c_in(c, 0),
                      cr_c_in(c, 1), cr_c_in(c, 2), cr_c_out(c),
                      CR_C_INTS(c, cr_c_dim(x, 0), a->num_groups,
                                cr_c_dim(x, 1) / a->num_groups,
                                cr_c_count(x, 2, x->spec.rank)),
                      cr_c_number(c, a->eps)));
    return true;
}

static bool prelu(struct cr_c *c, const char *arg)
{
    const struct cr_inference_val *x = cr_c_val(c, 0);
    int64_t n = cr_c_dim(cr_c_val(c, 1), 0);

    cr_c_call(c, arg,
              cr_strf(c->arena, "%s, %s, %s, %s", cr_c_in(c, 0),
                      cr_c_in(c, 1), cr_c_out(c),
                      n > 1 ? CR_C_INTS(c, cr_c_dim(x, 0), n,
                                        cr_c_count(x, 2, x->spec.rank))
                            : CR_C_INTS(c, 1, 1, cr_c_all(x))));
    return true;
}

const struct cr_c_emitter cr_c_layers[] = {
    { "avg_pool", pool, "avg_pool", false, false },
    { "batch_norm", batch_norm, "batch_norm", false, false },
    { "conv2d", conv, "conv2d", false, false },
    { "group_norm", group_norm, "group_norm", false, false },
    { "layer_norm", layer_norm, "layer_norm", false, false },
    { "linear", linear, "linear", false, false },
    { "max_pool", pool, "max_pool", false, false },
    { "prelu", prelu, "prelu", false, false },
    { 0 },
};
