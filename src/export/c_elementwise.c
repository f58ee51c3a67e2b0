/*
 * C code of ops on single elements and of reductions.
 */
#include "export/c.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* y = expr of each x and, if they are numbers, of a and b. */
static bool each(struct cr_c *c, const char *expr, double a, double b)
{
    const char *x = cr_c_in(c, 0), *y = cr_c_out(c);

    cr_buf_f(&c->code, "    for (int i = 0; i < %" PRId64 "; i++) {\n",
             cr_c_all(cr_c_result(c)));
    if (!isnan(a))
        cr_buf_f(&c->code, "        const float a = %s;\n",
                 cr_c_number(c, a));
    if (!isnan(b))
        cr_buf_f(&c->code, "        const float b = %s;\n",
                 cr_c_number(c, b));
    cr_buf_f(&c->code,
             "        float x = %s[i];\n\n        %s[i] = %s;\n    }\n", x, y,
             expr);
    return true;
}

static bool unary(struct cr_c *c, const char *arg)
{
    return each(c, arg, (double)NAN, (double)NAN);
}

static bool with_alpha(struct cr_c *c, const char *arg)
{
    return each(c, arg, cr_inference_real(c->node, "alpha"), (double)NAN);
}

static bool with_lambd(struct cr_c *c, const char *arg)
{
    return each(c, arg, cr_inference_real(c->node, "lambd"), (double)NAN);
}

static bool hardtanh(struct cr_c *c, const char *arg)
{
    return each(c, arg, cr_inference_real(c->node, "min_val"),
                cr_inference_real(c->node, "max_val"));
}

static bool threshold(struct cr_c *c, const char *arg)
{
    return each(c, arg, cr_inference_real(c->node, "threshold"),
                cr_inference_real(c->node, "value"));
}

static bool gelu(struct cr_c *c, const char *arg)
{
    const char *how = cr_inference_enum(c->arena, c->node, "approximate");

    return unary(c, strcmp(how, "none") == 0
                        ? arg
                        : "0.5f * x * (1 + tanhf(0.797884561f * "
                          "(x + 0.044715f * x * x * x)))");
}

static bool binary(struct cr_c *c, const char *arg)
{
    const struct cr_inference_val *y = cr_c_result(c);
    const char *in[2] = { cr_c_in(c, 0), cr_c_in(c, 1) }, *out = cr_c_out(c);
    int rank = y->spec.rank;

    cr_c_loops(c, y);
    cr_buf_f(&c->code, "        %s[%s] = ", out, cr_c_index(c, y, rank));
    for (const char *at = arg; *at; at++)
        if (*at == '@' || *at == '#')
            cr_buf_f(&c->code, "%s[%s]", in[*at == '#'],
                     cr_c_index(c, cr_c_val(c, *at == '#'), rank));
        else
            cr_buf_char(&c->code, *at);
    cr_buf_str(&c->code, ";\n");
    return true;
}

static bool softmax(struct cr_c *c, const char *arg)
{
    const struct cr_inference_val *x = cr_c_val(c, 0);
    int axis = cr_c_axis(c, x, cr_inference_int(c->node, "axis"));

    if (axis < 0)
        return false;
    cr_c_call(c, "softmax",
              cr_strf(c->arena, "%s, %s, %s, %s", cr_c_in(c, 0), cr_c_out(c),
                      CR_C_INTS(c, cr_c_count(x, 0, axis), cr_c_dim(x, axis),
                                cr_c_count(x, axis + 1, x->spec.rank)),
                      arg));
    return true;
}

/* Sums and means over neighbouring axes. */
static bool reduce(struct cr_c *c, const char *arg)
{
    const struct cr_inference_val *x = cr_c_val(c, 0);
    struct cr_ints axes = cr_inference_ints(c->node, "axis");
    int from = x->spec.rank, to = 0;
    int64_t n, inner;

    for (int i = 0; i < axes.n; i++) {
        int axis = cr_c_axis(c, x, axes.v[i]);

        if (axis < 0)
            return false;
        from = axis < from ? axis : from;
        to = axis + 1 > to ? axis + 1 : to;
    }
    if (axes.n == 0) {
        if (!cr_c_apart(c, x, x->spec.rank))
            return false;
        from = 0;
        to = x->spec.rank;
    }
    if (axes.n > 0 && to - from != axes.n)
        return cr_c_no(c, "its axes are not next to each other");
    n = cr_c_count(x, from, to);
    inner = cr_c_count(x, to, x->spec.rank);
    cr_buf_f(&c->code,
             "    for (int k = 0; k < %" PRId64 "; k++) {\n"
             "        float sum = 0;\n\n"
             "        for (int i = 0; i < %" PRId64 "; i++)\n"
             "            sum += %s[(k / %" PRId64 " * %" PRId64
             " + i) * %" PRId64 " + k %% %" PRId64 "];\n"
             "        %s[k] = sum%s;\n    }\n",
             cr_c_all(cr_c_result(c)), n, cr_c_in(c, 0), inner, n, inner, inner,
             cr_c_out(c),
             strcmp(arg, "mean") == 0
                 ? cr_strf(c->arena, " / %" PRId64, n)
                 : "");
    return true;
}

const struct cr_c_emitter cr_c_elementwise[] = {
    { "abs", unary, "fabsf(x)", false, false },
    { "add", binary, "@ + #", false, false },
    { "celu", with_alpha, "x > 0 ? x : a * expm1f(x / a)", false, false },
    { "cos", unary, "cosf(x)", false, false },
    { "cosh", unary, "coshf(x)", false, false },
    { "div", binary, "@ / #", false, false },
    { "elu", with_alpha, "x > 0 ? x : a * expm1f(x)", false, false },
    { "erf", unary, "erff(x)", false, false },
    { "exp", unary, "expf(x)", false, false },
    { "fast_gelu", unary, "x / (1 + expf(-1.702f * x))", false, false },
    { "gelu", gelu, "0.5f * x * (1 + erff(0.707106781f * x))", false, false },
    { "h_shrink", with_lambd, "x > a || x < -a ? x : 0 * x", false, false },
    { "h_sigmoid", unary, "fminf(fmaxf(x / 6 + 0.5f, 0), 1)", false, false },
    { "h_swish", unary, "x * fminf(fmaxf(x / 6 + 0.5f, 0), 1)", false, false },
    { "hardtanh", hardtanh, "x < a ? a : x > b ? b : x", false, false },
    { "leaky_relu", with_alpha, "x > 0 ? x : a * x", false, false },
    { "log", unary, "logf(x)", false, false },
    { "log_sigmoid", unary,
      "x < 0 ? x - log1pf(expf(x)) : -log1pf(expf(-x))", false, false },
    { "log_softmax", softmax, "1", false, false },
    { "maximum", binary, "fmaxf(@, #)", false, false },
    { "mean", reduce, "mean", false, false },
    { "minimum", binary, "fminf(@, #)", false, false },
    { "mish", unary, "x * tanhf(log1pf(expf(x)))", false, false },
    { "mul", binary, "@ * #", false, false },
    { "neg", unary, "-x", false, false },
    { "pow", binary, "powf(@, #)", false, false },
    { "relu", unary, "x < 0 ? 0 : x", false, false },
    { "relu6", unary, "x < 0 ? 0 : x > 6 ? 6 : x", false, false },
    { "rsqrt", unary, "1 / sqrtf(x)", false, false },
    { "selu", unary,
      "1.05070099f * (x > 0 ? x : 1.67326324f * expm1f(x))", false, false },
    { "sigmoid", unary, "1 / (1 + expf(-x))", false, false },
    { "silu", unary, "x / (1 + expf(-x))", false, false },
    { "sin", unary, "sinf(x)", false, false },
    { "soft_shrink", with_lambd,
      "x > a ? x - a : x < -a ? x + a : 0 * x", false, false },
    { "softmax", softmax, "0", false, false },
    { "softsign", unary, "x / (1 + fabsf(x))", false, false },
    { "sqrt", unary, "sqrtf(x)", false, false },
    { "square", unary, "x * x", false, false },
    { "sub", binary, "@ - #", false, false },
    { "sum", reduce, "sum", false, false },
    { "tanh", unary, "tanhf(x)", false, false },
    { "tanhshrink", unary, "x - tanhf(x)", false, false },
    { "threshold", threshold, "x > a || x != x ? x : b", false, false },
    { 0 },
};
