/*
 * Export to C: one file with the weights and a function that computes the
 * network for one sample after another.
 *
 * Shapes are those of a batch of one sample, so an op must not mix samples.
 * Values and weights become arrays named by their numbers; ops become calls of
 * the functions in c_code.c, or loops.
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/table.h"
#include "base/version.h"
#include "export/c_code.h"
#include "export/export.h"
#include "export/window.h"
#include "net/op_attrs.h"

struct c_file {
    struct cr_export *e;
    struct cr_arena *arena;
    const struct cr_inference *graph;
    const struct cr_inference_node *node;
    const char **name;    /* array of each value; NULL: not yet */
    bool *used;           /* of cr_c_functions */
    struct cr_buf data;   /* weights and buffers */
    struct cr_buf code;   /* the body of the function for a sample */
    int n_weights;
};

typedef bool c_emit(struct c_file *c, const char *arg);

static bool c_no(struct c_file *c, const char *why)
{
    const struct cr_inference_node *n = c->node;

    return cr_error(c->e->diag, n->pos, CR_E_NETWORK,
                    "export to C: op '%s' of %s%s%s (%s): %s",
                    n->op->about.name, n->cell[0] ? "cell '" : "the network",
                    n->cell, n->cell[0] ? "'" : "", n->type, why);
}

/* ---- Values */

static const struct cr_inference_val *c_val(const struct c_file *c, int i)
{
    return i < c->node->n_in && c->node->in[i] >= 0
               ? &c->graph->vals[c->node->in[i]]
               : NULL;
}

static const struct cr_inference_val *c_result(const struct c_file *c)
{
    return &c->graph->vals[c->node->out[0]];
}

/* The shape for one sample. */
static struct cr_spec c_spec(const struct cr_inference_val *v)
{
    struct cr_spec s = v->spec;

    for (int i = 0; i < s.rank; i++)
        s.dim[i] = v->fixed[i] + v->per_sample[i];
    return s;
}

static int64_t c_dim(const struct cr_inference_val *v, int i)
{
    return v->fixed[i] + v->per_sample[i];
}

/* The number of elements in dimensions from .. to - 1. */
static int64_t c_count(const struct cr_inference_val *v, int from, int to)
{
    int64_t n = 1;

    for (int i = from; i < to; i++)
        n *= c_dim(v, i);
    return n;
}

static int64_t c_all(const struct cr_inference_val *v)
{
    return c_count(v, 0, v->spec.rank);
}

static const char *c_number(struct c_file *c, double v)
{
    float f = (float)v;

    if (isnan(f))
        return "NAN";
    if (isinf(f))
        return f > 0 ? "INFINITY" : "-INFINITY";
    return cr_strf(c->arena, "%.9g%sf", (double)f,
                   f == floorf(f) && fabsf(f) < 1e9f ? ".0" : "");
}

/* The text of a comment. */
static const char *c_comment(struct c_file *c, const char *text)
{
    char *safe = cr_strdup(c->arena, cr_escape(c->arena, text));

    for (char *at = safe; *at; at++)
        if ((*at == '*' && at[1] == '/') || (*at == '/' && at[1] == '*'))
            *at = ' ';
    return safe;
}

/* Appends an array of constants. */
static void c_constants(struct c_file *c, const char *name,
                        const struct cr_inference_val *v)
{
    struct cr_spec s = c_spec(v);
    int64_t n = cr_count(&s);
    size_t width = cr_type_size(v->spec.type);
    bool real = v->spec.type == CR_REAL;

    cr_buf_f(&c->data, "/* %s: %s */\nstatic const %s %s[] = {",
             c_comment(c, v->name), cr_diag_format(c->arena, &s),
             real ? "float" : "int", name);
    for (int64_t i = 0; i < n; i++) {
        const char *at = (const char *)v->data + (size_t)i * width;
        double x;

        cr_convert(v->spec.type, at, CR_F64, &x, 1);
        cr_buf_str(&c->data, i % 5 == 0 ? "\n    " : " ");
        if (!real)
            cr_buf_f(&c->data, "%.0f,", x);
        else if (isfinite((float)x))
            cr_buf_f(&c->data, "%af,", (double)(float)x);
        else
            cr_buf_f(&c->data, "%s,", c_number(c, x));
    }
    cr_buf_str(&c->data, "\n};\n\n");
}

/* The array of a value. Constants are written when they are first read. */
static const char *c_name(struct c_file *c, int val)
{
    const struct cr_inference_val *v = &c->graph->vals[val];

    if (!c->name[val] && v->data) {
        c->name[val] = cr_strf(c->arena, "w%d", c->n_weights++);
        c_constants(c, c->name[val], v);
    }
    return c->name[val];
}

/* Input i of the node; "NULL" where it is absent. */
static const char *c_in(struct c_file *c, int i)
{
    return c_val(c, i) ? c_name(c, c->node->in[i]) : "NULL";
}

/* Declares the array of the result. */
static const char *c_out(struct c_file *c)
{
    const struct cr_inference_val *v = c_result(c);
    int val = c->node->out[0];
    struct cr_spec s = c_spec(v);

    if (!c->name[val]) {
        c->name[val] = cr_strf(c->arena, "v%d", val);
        cr_buf_f(&c->data, "static float %s[%" PRId64 "]; /* %s: %s */\n",
                 c->name[val], cr_count(&s) > 0 ? cr_count(&s) : 1,
                 c_comment(c, v->name), cr_diag_format(c->arena, &s));
    }
    return c->name[val];
}

static void c_call(struct c_file *c, const char *function, const char *args)
{
    for (int i = 0; cr_c_functions[i].name; i++)
        if (strcmp(cr_c_functions[i].name, function) == 0)
            c->used[i] = true;
    cr_buf_f(&c->code, "    %s(%s);\n", function, args);
}

/* An axis counted from the start, -1 after reporting that samples would mix. */
static int c_axis(struct c_file *c, const struct cr_inference_val *v,
                  int64_t axis)
{
    axis += axis < 0 ? v->spec.rank : 0;
    if (v->per_sample[axis] == 0)
        return (int)axis;
    c_no(c, "it mixes samples");
    return -1;
}

/* ---- Elements */

struct c_unary {
    const char *op, *expr; /* of x, and of a and b, the attributes */
    const char *a, *b;
};

static const struct c_unary unary[] = {
    { "abs", "fabsf(x)", NULL, NULL },
    { "celu", "x > 0 ? x : a * expm1f(x / a)", "alpha", NULL },
    { "cos", "cosf(x)", NULL, NULL },
    { "elu", "x > 0 ? x : a * expm1f(x)", "alpha", NULL },
    { "erf", "erff(x)", NULL, NULL },
    { "exp", "expf(x)", NULL, NULL },
    { "fast_gelu", "x / (1 + expf(-1.702f * x))", NULL, NULL },
    { "h_sigmoid", "fminf(fmaxf(x / 6 + 0.5f, 0), 1)", NULL, NULL },
    { "h_swish", "x * fminf(fmaxf(x / 6 + 0.5f, 0), 1)", NULL, NULL },
    { "hardtanh", "x < a ? a : x > b ? b : x", "min_val", "max_val" },
    { "leaky_relu", "x > 0 ? x : a * x", "alpha", NULL },
    { "log", "logf(x)", NULL, NULL },
    { "log_sigmoid",
      "x < 0 ? x - log1pf(expf(x)) : -log1pf(expf(-x))", NULL, NULL },
    { "mish", "x * tanhf(log1pf(expf(x)))", NULL, NULL },
    { "neg", "-x", NULL, NULL },
    { "relu", "x < 0 ? 0 : x", NULL, NULL },
    { "relu6", "x < 0 ? 0 : x > 6 ? 6 : x", NULL, NULL },
    { "rsqrt", "1 / sqrtf(x)", NULL, NULL },
    { "selu",
      "1.05070099f * (x > 0 ? x : 1.67326324f * expm1f(x))", NULL, NULL },
    { "sigmoid", "1 / (1 + expf(-x))", NULL, NULL },
    { "silu", "x / (1 + expf(-x))", NULL, NULL },
    { "sin", "sinf(x)", NULL, NULL },
    { "softsign", "x / (1 + fabsf(x))", NULL, NULL },
    { "sqrt", "sqrtf(x)", NULL, NULL },
    { "square", "x * x", NULL, NULL },
    { "tanh", "tanhf(x)", NULL, NULL },
    { 0 },
};

static bool emit_unary(struct c_file *c, const char *expr, double a, double b)
{
    const char *x = c_in(c, 0), *y = c_out(c);

    cr_buf_f(&c->code, "    for (int i = 0; i < %" PRId64 "; i++) {\n",
             c_all(c_result(c)));
    if (!isnan(a))
        cr_buf_f(&c->code, "        const float a = %s;\n", c_number(c, a));
    if (!isnan(b))
        cr_buf_f(&c->code, "        const float b = %s;\n", c_number(c, b));
    cr_buf_f(&c->code,
             "        float x = %s[i];\n\n        %s[i] = %s;\n    }\n", x, y,
             expr);
    return true;
}

static bool emit_table(struct c_file *c, const char *arg)
{
    const struct c_unary *u = unary;

    (void)arg;
    while (strcmp(u->op, c->node->op->about.name) != 0)
        u++;
    return emit_unary(c, u->expr,
                      u->a ? cr_inference_real(c->node, u->a) : (double)NAN,
                      u->b ? cr_inference_real(c->node, u->b) : (double)NAN);
}

static bool emit_gelu(struct c_file *c, const char *arg)
{
    const char *how = cr_inference_enum(c->arena, c->node, "approximate");

    (void)arg;
    return emit_unary(c,
                      strcmp(how, "none") == 0
                          ? "0.5f * x * (1 + erff(0.707106781f * x))"
                          : "0.5f * x * (1 + tanhf(0.797884561f * "
                            "(x + 0.044715f * x * x * x)))",
                      (double)NAN, (double)NAN);
}

/* The index of an element of an input, by the indices of the result. */
static const char *c_index(struct c_file *c, const struct cr_inference_val *v,
                           int rank)
{
    struct cr_buf at = { .arena = c->arena };

    for (int i = 0; i < v->spec.rank; i++)
        if (c_dim(v, i) > 1)
            cr_buf_f(&at, "%si%d * %" PRId64, at.len > 0 ? " + " : "",
                     i + rank - v->spec.rank,
                     c_count(v, i + 1, v->spec.rank));
    return at.len > 0 ? cr_buf_text(&at) : "0";
}

/* Opens a loop per dimension of the result. */
static void c_loops(struct c_file *c, const struct cr_inference_val *y)
{
    for (int i = 0; i < y->spec.rank; i++)
        if (c_dim(y, i) != 1)
            cr_buf_f(&c->code,
                     "    for (int i%d = 0; i%d < %" PRId64 "; i%d++)\n", i, i,
                     c_dim(y, i), i);
}

static bool emit_binary(struct c_file *c, const char *arg)
{
    const struct cr_inference_val *y = c_result(c);
    const char *in[2] = { c_in(c, 0), c_in(c, 1) }, *out = c_out(c);
    int rank = y->spec.rank;

    c_loops(c, y);
    cr_buf_f(&c->code, "        %s[%s] = ", out, c_index(c, y, rank));
    for (const char *at = arg; *at; at++)
        if (*at == '@' || *at == '#')
            cr_buf_f(&c->code, "%s[%s]", in[*at == '#'],
                     c_index(c, c_val(c, *at == '#'), rank));
        else
            cr_buf_char(&c->code, *at);
    cr_buf_str(&c->code, ";\n");
    return true;
}

static bool emit_softmax(struct c_file *c, const char *arg)
{
    const struct cr_inference_val *x = c_val(c, 0);
    int axis = c_axis(c, x, cr_inference_int(c->node, "axis"));

    if (axis < 0)
        return false;
    c_call(c, "softmax",
           cr_strf(c->arena, "%s, %s, %" PRId64 ", %" PRId64 ", %" PRId64
                   ", %s",
                   c_in(c, 0), c_out(c), c_count(x, 0, axis), c_dim(x, axis),
                   c_count(x, axis + 1, x->spec.rank), arg));
    return true;
}

/* Sums and means over neighbouring axes. */
static bool emit_reduce(struct c_file *c, const char *arg)
{
    const struct cr_inference_val *x = c_val(c, 0);
    struct cr_ints axes = cr_inference_ints(c->node, "axis");
    int from = x->spec.rank, to = 0;
    int64_t n, inner;

    for (int i = 0; i < axes.n; i++) {
        int axis = c_axis(c, x, axes.v[i]);

        if (axis < 0)
            return false;
        from = axis < from ? axis : from;
        to = axis + 1 > to ? axis + 1 : to;
    }
    if (axes.n == 0 || to - from != axes.n)
        return c_no(c, "its axes are not next to each other");
    n = c_count(x, from, to);
    inner = c_count(x, to, x->spec.rank);
    cr_buf_f(&c->code,
             "    for (int k = 0; k < %" PRId64 "; k++) {\n"
             "        float sum = 0;\n\n"
             "        for (int i = 0; i < %" PRId64 "; i++)\n"
             "            sum += %s[(k / %" PRId64 " * %" PRId64
             " + i) * %" PRId64 " + k %% %" PRId64 "];\n"
             "        %s[k] = sum%s;\n    }\n",
             c_all(c_result(c)), n, c_in(c, 0), inner, n, inner, inner,
             c_out(c),
             strcmp(arg, "mean") == 0
                 ? cr_strf(c->arena, " / %" PRId64, n)
                 : "");
    return true;
}

/* ---- Shapes */

/* The same elements under another shape. */
static bool emit_reshape(struct c_file *c, const char *arg)
{
    (void)arg;
    c->name[c->node->out[0]] = c_in(c, 0);
    return true;
}

static bool emit_transpose(struct c_file *c, const char *arg)
{
    const struct cr_inference_val *x = c_val(c, 0), *y = c_result(c);
    int rank = x->spec.rank, from[CR_RANK_MAX];
    struct cr_buf at = { .arena = c->arena };
    const char *in = c_in(c, 0), *out = c_out(c);

    for (int i = 0; i < rank; i++) {
        if (strcmp(arg, "first") == 0)
            from[i] = i == 0 ? 0 : i == 1 ? rank - 1 : i - 1;
        else if (strcmp(arg, "last") == 0)
            from[i] = i == 0 ? 0 : i == rank - 1 ? 1 : i + 1;
        else {
            struct cr_ints perm = cr_inference_ints(c->node, "input_perm");

            from[i] = perm.n > 0 ? (int)perm.v[i] : rank - 1 - i;
            from[i] += from[i] < 0 ? rank : 0;
        }
        if (c_dim(y, i) > 1)
            cr_buf_f(&at, "%si%d * %" PRId64, at.len > 0 ? " + " : "", i,
                     c_count(x, from[i] + 1, rank));
    }
    c_loops(c, y);
    cr_buf_f(&c->code, "        %s[%s] = %s[%s];\n", out, c_index(c, y, rank),
             in, at.len > 0 ? cr_buf_text(&at) : "0");
    return true;
}

static bool emit_concat(struct c_file *c, const char *arg)
{
    const struct cr_inference_val *y = c_result(c);
    int axis = c_axis(c, y, cr_inference_int(c->node, "axis"));
    const char *out = c_out(c);
    int64_t at = 0, row;

    (void)arg;
    if (axis < 0)
        return false;
    row = c_count(y, axis, y->spec.rank);
    for (int k = 0; k < c->node->n_in; k++) {
        int64_t n = c_count(c_val(c, k), axis, y->spec.rank);

        cr_buf_f(&c->code,
                 "    for (int i = 0; i < %" PRId64 "; i++)\n"
                 "        %s[i / %" PRId64 " * %" PRId64 " + %" PRId64
                 " + i %% %" PRId64 "] = %s[i];\n",
                 c_all(c_val(c, k)), out, n, row, at, n, c_in(c, k));
        at += n;
    }
    return true;
}

/* ---- Layers */

static bool emit_linear(struct c_file *c, const char *arg)
{
    const struct cr_inference_val *x = c_val(c, 0), *w = c_val(c, 1);

    c_call(c, arg,
           cr_strf(c->arena, "%s, %s, %s, %s, %" PRId64 ", %" PRId64
                   ", %" PRId64,
                   c_in(c, 0), c_in(c, 1), c_in(c, 2), c_out(c),
                   c_count(x, 0, x->spec.rank - 1), c_dim(w, 1), c_dim(w, 0)));
    return true;
}

static bool emit_conv(struct c_file *c, const char *arg)
{
    const struct cr_inference_val *x = c_val(c, 0), *w = c_val(c, 1);
    const struct cr_inference_val *y = c_result(c);
    struct cr_ints stride = cr_inference_ints(c->node, "stride");
    struct cr_ints padding = cr_inference_ints(c->node, "padding");
    struct cr_ints dilation = cr_inference_ints(c->node, "dilation");
    const char *mode = cr_inference_enum(c->arena, c->node, "pad_mode");
    int64_t s[2], d[2], before[2] = { 0 };

    if (x->spec.rank != 4 || w->spec.rank != 4)
        return c_no(c, "only convolutions of two dimensions have a C form");
    for (int i = 0; i < 2; i++) {
        int64_t all;

        s[i] = cr_window_pick(&stride, i, 1);
        d[i] = cr_window_pick(&dilation, i, 1);
        all = (c_dim(y, 2 + i) - 1) * s[i] + d[i] * (c_dim(w, 2 + i) - 1) + 1 -
              c_dim(x, 2 + i);
        if (strcmp(mode, "pad") == 0)
            before[i] = cr_window_pick(&padding, 2 * i, 0);
        else if (strcmp(mode, "same") == 0 && all > 0)
            before[i] = all / 2;
    }
    c_call(c, arg,
           cr_strf(c->arena,
                   "%s, %s, %s, %s, %" PRId64 ", %" PRId64 ", %" PRId64
                   ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                   ",\n           %" PRId64 ", %" PRId64 ", %" PRId64
                   ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                   ", %" PRId64,
                   c_in(c, 0), c_in(c, 1), c_in(c, 2), c_out(c), c_dim(x, 1),
                   c_dim(x, 2), c_dim(x, 3), c_dim(y, 1), c_dim(y, 2),
                   c_dim(y, 3), c_dim(w, 2), c_dim(w, 3), s[0], s[1],
                   before[0], before[1], d[0], d[1],
                   cr_inference_int(c->node, "groups")));
    return true;
}

static bool emit_pool(struct c_file *c, const char *arg)
{
    const struct cr_pool_opts *a = c->node->attr;
    const struct cr_inference_val *x = c_val(c, 0), *y = c_result(c);
    int rank = x->spec.rank, dims = a->dims > 0 ? (int)a->dims : rank - 2;
    struct cr_pool_window w[2] = { { .in = 1, .out = 1, .kernel = 1,
                                     .stride = 1, .dilation = 1 } };
    bool max = strcmp(arg, "max_pool") == 0;
    const char *end;

    if (dims > 2 || c->node->n_out > 1)
        return c_no(c, "only pooling of at most two dimensions has a C form");
    for (int i = 0; i < dims; i++) {
        int k = rank - dims + i;

        if (a->output_size.n > 0 && c_dim(x, k) % c_dim(y, k) != 0)
            return c_no(c, "the windows differ in size");
        w[2 - dims + i] = cr_window_of_pool(a, i, c_dim(x, k), c_dim(y, k));
    }
    end = max ? cr_strf(c->arena, "%" PRId64 ", %" PRId64, w[0].dilation,
                        w[1].dilation)
              : cr_strf(c->arena, "%" PRId64 ", %" PRId64 ", %d, %" PRId64,
                        w[0].after, w[1].after,
                        a->pad_mode == CR_POOL_PAD && a->count_include_pad,
                        a->divisor_override == CR_INT_NONE ||
                                a->output_size.n > 0
                            ? 0
                            : a->divisor_override);
    c_call(c, arg,
           cr_strf(c->arena,
                   "%s, %s, %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64
                   ", %" PRId64 ",\n             %" PRId64 ", %" PRId64
                   ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %" PRId64 ", %s",
                   c_in(c, 0), c_out(c), c_count(x, 0, rank - dims), w[0].in,
                   w[1].in, w[0].out, w[1].out, w[0].kernel, w[1].kernel,
                   w[0].stride, w[1].stride, w[0].before, w[1].before, end));
    return true;
}

static bool emit_batch_norm(struct c_file *c, const char *arg)
{
    const struct cr_batch_norm *a = c->node->attr;
    const struct cr_inference_val *x = c_val(c, 0);

    if (a->use_batch_statistics == 1)
        return c_no(c, "it mixes samples");
    c_call(c, arg,
           cr_strf(c->arena, "%s, %s, %s, %s, %s, %s, %" PRId64 ", %" PRId64
                   ", %s",
                   c_in(c, 0), c_in(c, 1), c_in(c, 2), c_in(c, 3), c_in(c, 4),
                   c_out(c), c_dim(x, 1), c_count(x, 2, x->spec.rank),
                   c_number(c, a->eps)));
    return true;
}

static bool emit_layer_norm(struct c_file *c, const char *arg)
{
    const struct cr_layer_norm *a = c->node->attr;
    const struct cr_inference_val *x = c_val(c, 0);
    int rank = x->spec.rank, from = c_axis(c, x, a->begin_norm_axis);
    int64_t params = a->begin_params_axis;

    params += params < 0 ? rank : 0;
    if (from < 0)
        return false;
    if (from != params)
        return c_no(c, "begin_norm_axis and begin_params_axis differ");
    c_call(c, arg,
           cr_strf(c->arena, "%s, %s, %s, %s, %" PRId64 ", %" PRId64 ", %s",
                   c_in(c, 0), c_in(c, 1), c_in(c, 2), c_out(c),
                   c_count(x, 0, from), c_count(x, from, rank),
                   c_number(c, a->epsilon)));
    return true;
}

static const struct {
    const char *op;
    c_emit *emit;
    const char *arg;
} emitters[] = {
    { "add", emit_binary, "@ + #" },
    { "avg_pool", emit_pool, "avg_pool" },
    { "batch_norm", emit_batch_norm, "batch_norm" },
    { "channels_first", emit_transpose, "first" },
    { "channels_last", emit_transpose, "last" },
    { "concat", emit_concat, NULL },
    { "conv2d", emit_conv, "conv2d" },
    { "div", emit_binary, "@ / #" },
    { "expand_dims", emit_reshape, NULL },
    { "flatten", emit_reshape, NULL },
    { "gelu", emit_gelu, NULL },
    { "layer_norm", emit_layer_norm, "layer_norm" },
    { "linear", emit_linear, "linear" },
    { "log_softmax", emit_softmax, "1" },
    { "max_pool", emit_pool, "max_pool" },
    { "maximum", emit_binary, "fmaxf(@, #)" },
    { "mean", emit_reduce, "mean" },
    { "minimum", emit_binary, "fminf(@, #)" },
    { "mul", emit_binary, "@ * #" },
    { "pow", emit_binary, "powf(@, #)" },
    { "reshape", emit_reshape, NULL },
    { "softmax", emit_softmax, "0" },
    { "squeeze", emit_reshape, NULL },
    { "sub", emit_binary, "@ - #" },
    { "sum", emit_reduce, "sum" },
    { "transpose", emit_transpose, "" },
};

static bool c_node(struct c_file *c, const struct cr_inference_node *node)
{
    const char *op = node->op->about.name;
    c_emit *emit = NULL;
    const char *arg = NULL;

    c->node = node;
    for (const struct c_unary *u = unary; u->op; u++)
        if (strcmp(u->op, op) == 0)
            emit = emit_table;
    for (size_t i = 0; i < CR_LEN(emitters); i++)
        if (strcmp(emitters[i].op, op) == 0) {
            emit = emitters[i].emit;
            arg = emitters[i].arg;
        }
    if (!emit)
        return c_no(c, "it has no C form; --to onnx may have one");
    if (node->attr_varies && emit != emit_reshape)
        return c_no(c, "an attribute depends on the batch size");
    for (int i = 0; i < node->n_in; i++)
        if (c_val(c, i) && c_val(c, i)->spec.type != CR_REAL)
            return c_no(c, "it reads integers");
    for (int i = 0; i < node->n_out; i++)
        if (c_all(&c->graph->vals[node->out[i]]) > INT32_MAX / 8)
            return c_no(c, "its result is too large");
    cr_buf_f(&c->code, "    /* %s%s%s */\n", c_comment(c, node->cell),
             node->cell[0] ? ": " : "", op);
    return emit(c, arg);
}

/* ---- The file */

/* "lenet" of "runs/lenet.c"; characters that C has not become _. */
static const char *c_stem(struct cr_arena *arena, const char *path)
{
    char *name = cr_strdup(arena, cr_path_stem(arena, path));

    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) || (unsigned char)*at > 127)
            *at = '_';
    return isalpha((unsigned char)*name) ? name
                                         : cr_strf(arena, "net_%s", name);
}

static void c_shapes(struct c_file *c, struct cr_buf *to, const char *what,
                     const struct cr_inference_val *v, const char *name,
                     int64_t *at)
{
    struct cr_spec s = c_spec(v);

    cr_buf_f(to, " *   %s[%" PRId64 " .. %" PRId64 "]: %s %s\n", what, *at,
             *at + cr_count(&s) - 1, c_comment(c, name),
             cr_diag_format(c->arena, &s));
    *at += cr_count(&s);
}

static void c_head(struct c_file *c, struct cr_buf *to, const char *name,
                   int64_t *n_in, int64_t *n_out)
{
    const char *class;

    cr_buf_f(to,
             "/*\n * A network, written by cellrun " CR_VERSION
             " export --to c.\n *\n"
             " * %s_predict computes n samples, which follow one another in x "
             "and y;\n * it returns 0. One call at a time: its buffers are "
             "static.\n",
             name);
    for (int i = 0; i < c->graph->n_inputs; i++) {
        const struct cr_inference_val *v = &c->graph->vals[c->graph->inputs[i]];

        c_shapes(c, to, "x", v, v->name, n_in);
    }
    for (int i = 0; i < c->graph->n_results; i++) {
        const struct cr_inference_result *r = &c->graph->results[i];

        c_shapes(c, to, "y", &c->graph->vals[r->val], r->name, n_out);
    }
    cr_buf_str(to, " * Inputs are numbers as the datapipe gives them.\n");
    for (int64_t i = 0; (class = cr_model_class_name(&c->e->model, i)); i++)
        cr_buf_f(to, " * class %" PRId64 ": %s\n", i, c_comment(c, class));
    cr_buf_f(to,
             " *\n * cc -std=c99 -O3 -c %s.c\n"
             " * cc -std=c99 -O3 -D%s_MAIN %s.c -lm   reads rows of x, "
             "prints rows of y\n */\n#include <math.h>\n#include <stddef.h>\n"
             "\nenum { %s_inputs = %" PRId64 ", %s_outputs = %" PRId64
             " };\n\n"
             "int %s_predict(const float *x, int n, float *y);\n\n",
             name, name, name, name, *n_in, name, *n_out, name);
}

static void c_tail(struct cr_buf *to, const char *name)
{
    cr_buf_f(to,
             "\nint %s_predict(const float *x, int n, float *y)\n{\n"
             "    for (int i = 0; i < n; i++)\n"
             "        sample(x + (size_t)i * %s_inputs,\n"
             "               y + (size_t)i * %s_outputs);\n"
             "    return 0;\n}\n\n#ifdef %s_MAIN\n#include <stdio.h>\n\n"
             "int main(void)\n{\n"
             "    static float x[%s_inputs], y[%s_outputs];\n"
             "    int n = 0;\n\n"
             "    while (scanf(\"%%f\", &x[n]) == 1) {\n"
             "        int c = getchar();\n\n"
             "        if (c != ',')\n            ungetc(c, stdin);\n"
             "        if (++n < %s_inputs)\n            continue;\n"
             "        n = 0;\n        %s_predict(x, 1, y);\n"
             "        for (int i = 0; i < %s_outputs; i++)\n"
             "            printf(\"%%s%%.9g\", i > 0 ? \"\\t\" : \"\", "
             "(double)y[i]);\n"
             "        putchar('\\n');\n    }\n    return n != 0;\n}\n#endif\n",
             name, name, name, name, name, name, name, name, name);
}

static bool c_inputs(struct c_file *c)
{
    int64_t at = 0;

    for (int i = 0; i < c->graph->n_inputs; i++) {
        int val = c->graph->inputs[i];
        const struct cr_inference_val *v = &c->graph->vals[val];

        if (v->spec.type != CR_REAL)
            return cr_error(c->e->diag, CR_NOWHERE, CR_E_NETWORK,
                            "export to C: found integers in column '%s', "
                            "expected real numbers; use --to onnx",
                            cr_quote(c->arena, v->name, strlen(v->name)));
        c->name[val] = cr_strf(c->arena, "x%d", i);
        cr_buf_f(&c->code, "    const float *x%d = x + %" PRId64 ";\n", i, at);
        at += c_all(v);
    }
    cr_buf_char(&c->code, '\n');
    return true;
}

static void c_results(struct c_file *c)
{
    int64_t at = 0;

    for (int i = 0; i < c->graph->n_results; i++) {
        int val = c->graph->results[i].val;
        int64_t n = c_all(&c->graph->vals[val]);

        cr_buf_f(&c->code,
                 "    for (int i = 0; i < %" PRId64 "; i++)\n"
                 "        y[%" PRId64 " + i] = %s%s[i];\n",
                 n, at, c->graph->vals[val].spec.type == CR_REAL
                            ? "" : "(float)",
                 c_name(c, val));
        at += n;
    }
}

static bool c_write(struct cr_export *e)
{
    struct c_file c = { .e = e,
                        .arena = e->arena,
                        .graph = e->graph,
                        .data = { .arena = e->arena },
                        .code = { .arena = e->arena } };
    struct cr_buf file = { .arena = e->arena };
    const char *name = c_stem(e->arena, e->o->out);
    int64_t n_in = 0, n_out = 0;
    int n = 0;

    if (e->o->normalize || e->dtype == CR_F16 || e->dtype == CR_BF16)
        return cr_error(e->diag, CR_NOWHERE, CR_E_USAGE,
                        "--to c: the file has float32 weights and no "
                        "transforms; omit --normalize and --dtype");
    while (cr_c_functions[n].name)
        n++;
    c.used = CR_NEWS(e->arena, bool, n);
    c.name = CR_NEWS(e->arena, const char *, e->graph->n_vals + 1);
    if (!c_inputs(&c))
        return false;
    for (int i = 0; i < e->graph->n_nodes; i++)
        if (!c_node(&c, &e->graph->nodes[i]))
            return false;
    c_results(&c);
    c_head(&c, &file, name, &n_in, &n_out);
    cr_buf_add(&file, cr_buf_text(&c.data), c.data.len);
    for (int i = 0; i < n; i++)
        if (c.used[i])
            cr_buf_f(&file, "\n%s", cr_c_functions[i].text);
    cr_buf_str(&file, "\nstatic void sample(const float *x, float *y)\n{\n");
    cr_buf_add(&file, cr_buf_text(&c.code), c.code.len);
    cr_buf_str(&file, "}\n");
    c_tail(&file, name);
    if (!cr_write_file(e->diag, e->o->out, file.text, file.len))
        return false;
    if (e->cli->json)
        printf("{\"inputs\": %" PRId64 ", \"outputs\": %" PRId64
               ", \"bytes\": %zu}\n",
               n_in, n_out, file.len);
    else if (!e->cli->quiet)
        printf("%s: %s_predict, %" PRId64 " inputs, %" PRId64 " outputs\n",
               cr_escape(e->arena, e->o->out), name, n_in, n_out);
    return true;
}

const struct cr_export_format cr_export_c = {
    .name = "c", .suffix = ".c", .network = true, .write = c_write
};
