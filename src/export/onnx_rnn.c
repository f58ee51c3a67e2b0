/*
 * ONNX nodes of recurrent layers. cellrun computes the matrix product of the
 * input before the recurrent op (families/rnn.h); an RNN of ONNX includes it.
 */
#include "export/onnx.h"

#include <string.h>

#include "families/rnn.h"

enum { GATES_MAX = 4 };

/* A weight or bias with its gates in ONNX's order: lstm i f g o as i o f c, gru
 * r z n as z r h. NULL gives NULL. */
static const char *rnn_gates(struct cr_onnx *o, const char *w, int gates)
{
    static const int lstm[] = { 0, 3, 1, 2 }, gru[] = { 1, 0, 2 };
    const int *order = gates == 4 ? lstm : gru;
    const char **part, *to[GATES_MAX];

    if (gates == 1 || !w)
        return w;
    cr_onnx_int(o, "axis", 0);
    part = cr_onnx_node(o, "Split", 1, &w, 1, gates);
    for (int i = 0; i < gates; i++)
        to[i] = part[order[i]];
    cr_onnx_int(o, "axis", 0);
    return cr_onnx_op(o, "Concat", gates, to);
}

static const char *rnn_zeros(struct cr_onnx *o, int64_t n)
{
    struct cr_spec spec = CR_SPEC(n);

    return cr_onnx_reals(o, &spec, CR_NEWS(o->arena, cr_real, n));
}

/* The identity matrix, where the matrix product of the input cannot be
 * included. */
static const char *rnn_identity(struct cr_onnx *o, int64_t n)
{
    struct cr_spec spec = CR_SPEC(n, n);
    cr_real *v = CR_NEWS(o->arena, cr_real, n * n);

    for (int64_t i = 0; i < n; i++)
        v[i * n + i] = 1;
    return cr_onnx_reals(o, &spec, v);
}

struct rnn_parts {
    const char *x, *w, *b; /* the input, its weight and bias (or NULL) */
};

static struct rnn_parts rnn_parts(struct cr_onnx *o, int gates)
{
    const struct cr_inference_val *x = cr_onnx_val(o, CR_RNN_X);
    int64_t width = x->spec.dim[x->spec.rank - 1];
    struct rnn_parts p;
    const struct cr_inference_node *linear;

    if (x->producer < 0 || !o->skip[x->producer]) {
        p = (struct rnn_parts){ .x = cr_onnx_in(o, CR_RNN_X) };
        /* the order of gates is that of the input here */
        p.w = rnn_gates(o, rnn_identity(o, width), gates);
        return p;
    }
    linear = &o->graph->nodes[x->producer];
    p.x = cr_onnx_name(o, linear->in[0]);
    p.w = rnn_gates(o, cr_onnx_name(o, linear->in[1]), gates);
    p.b = linear->n_in > 2 && linear->in[2] >= 0
              ? rnn_gates(o, cr_onnx_name(o, linear->in[2]), gates)
              : NULL;
    return p;
}

/* Bias of the input and of the state, one after the other, (1, 2 g H). */
static const char *rnn_bias(struct cr_onnx *o, const char *ih, const char *hh,
                            int64_t width)
{
    const char *pair[2] = { ih ? ih : rnn_zeros(o, width),
                            hh ? hh : rnn_zeros(o, width) };

    cr_onnx_int(o, "axis", 0);
    return cr_onnx_unsqueeze(o, cr_onnx_op(o, "Concat", 2, pair), 0);
}

/* The first state i as (1, N, H). */
static const char *rnn_state(struct cr_onnx *o, int i, bool one)
{
    const char *h = cr_onnx_in(o, i);

    return h && one ? cr_onnx_unsqueeze(o, h, 0) : h;
}

static const char *rnn(struct cr_onnx *o, const char *arg)
{
    int gates = strcmp(arg, "LSTM") == 0 ? 4 : strcmp(arg, "GRU") == 0 ? 3 : 1;
    const struct cr_spec *x = &cr_onnx_val(o, CR_RNN_X)->spec;
    int64_t width = x->dim[x->rank - 1], size = width / gates;
    bool one = x->rank == 2, reverse = cr_inference_bool(o->node, "reverse");
    bool batch_first = !one && cr_inference_bool(o->node, "batch_first");
    static const int64_t swap[] = { 1, 0, 2 };
    const char *nonlinearity =
        cr_inference_enum(o->arena, o->node, "nonlinearity");
    struct rnn_parts p;
    const char *in[7], **y;

    if (strcmp(cr_inference_enum(o->arena, o->node, "low"), "none") != 0)
        return cr_onnx_no(o, "it rounds to low precision");
    p = rnn_parts(o, gates);
    in[0] = one           ? cr_onnx_unsqueeze(o, p.x, 0)
            : batch_first ? cr_onnx_transpose(o, p.x, 3, swap)
                          : p.x;
    in[1] = cr_onnx_unsqueeze(o, p.w, 0);
    in[2] = cr_onnx_unsqueeze(
        o, rnn_gates(o, cr_onnx_in(o, CR_RNN_W), gates), 0);
    in[3] = rnn_bias(o, p.b, rnn_gates(o, cr_onnx_in(o, CR_RNN_B), gates),
                     width);
    in[4] = cr_onnx_in(o, CR_RNN_SEQ);
    in[5] = rnn_state(o, CR_RNN_H, one);
    in[6] = gates == 4 ? rnn_state(o, CR_RNN_C, one) : NULL;
    cr_onnx_int(o, "hidden_size", size);
    cr_onnx_text(o, "direction", reverse ? "reverse" : "forward");
    if (gates == 3)
        cr_onnx_int(o, "linear_before_reset", 1);
    if (gates == 1)
        cr_onnx_texts(o, "activations", 1,
                      &(const char *){ strcmp(nonlinearity, "relu") == 0
                                           ? "Relu"
                                           : "Tanh" });
    y = cr_onnx_node(o, arg, 7, in, 4, gates == 4 ? 3 : 2);
    for (int i = 1; i < o->node->n_out; i++)
        cr_onnx_result(o, i, one ? cr_onnx_squeeze(o, y[i], 0) : y[i]);
    y[0] = cr_onnx_squeeze(o, y[0], 1);
    return one           ? cr_onnx_squeeze(o, y[0], 0)
           : batch_first ? cr_onnx_transpose(o, y[0], 3, swap)
                         : y[0];
}

const struct cr_onnx_emitter cr_onnx_rnn[] = {
    { "gru", rnn, "GRU", false },
    { "lstm", rnn, "LSTM", false },
    { "rnn", rnn, "RNN", false },
    { 0 },
};
