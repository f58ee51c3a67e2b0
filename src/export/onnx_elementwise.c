/*
 * ONNX nodes of ops on single elements and of reductions.
 */
#include "export/onnx.h"

#include <math.h>
#include <string.h>

#include "graph/op_attrs.h"

static const char *real(struct cr_onnx *o, double value)
{
    return cr_onnx_number(o, CR_REAL, value);
}

/* One node of the type `arg`; inputs are cast to the type of the result. */
static const char *same_type(struct cr_onnx *o, const char *arg)
{
    const char *in[CR_OP_MAX];
    enum cr_type type = cr_onnx_out(o, 0)->spec.type;

    for (int i = 0; i < o->node->n_in; i++)
        in[i] = cr_onnx_in_as(o, i, type);
    return cr_onnx_op(o, arg, o->node->n_in, in);
}

/* A comparison: operands of two types are compared as the wider one. */
static const char *compare(struct cr_onnx *o, const char *arg)
{
    enum cr_type a = cr_onnx_val(o, 0)->spec.type;
    enum cr_type b = cr_onnx_val(o, 1)->spec.type;
    enum cr_type type = a == CR_REAL || b == CR_REAL ? CR_REAL : CR_I32;
    const char *x = cr_onnx_in_as(o, 0, type), *y = cr_onnx_in_as(o, 1, type);

    if (strcmp(arg, "NotEqual") == 0)
        return CR_ONNX(o, "Not", CR_ONNX(o, "Equal", x, y));
    return CR_ONNX(o, arg, x, y);
}

static const char *logical(struct cr_onnx *o, const char *arg)
{
    const char *in[2];

    for (int i = 0; i < o->node->n_in; i++)
        in[i] = cr_onnx_in_as(o, i, CR_BOOL);
    return cr_onnx_op(o, arg, o->node->n_in, in);
}

static const char *where(struct cr_onnx *o, const char *arg)
{
    enum cr_type type = cr_onnx_out(o, 0)->spec.type;

    return CR_ONNX(o, arg, cr_onnx_in_as(o, 0, CR_BOOL),
                   cr_onnx_in_as(o, 1, type), cr_onnx_in_as(o, 2, type));
}

static const char *cast(struct cr_onnx *o, const char *arg)
{
    enum cr_type type = cr_onnx_out(o, 0)->spec.type, low = CR_REAL;
    const char *dtype = cr_inference_enum(o->arena, o->node, "dtype");

    (void)arg;
    if (strcmp(dtype, "float16") == 0)
        low = CR_F16;
    else if (strcmp(dtype, "bfloat16") == 0)
        low = CR_BF16;
    return cr_onnx_cast(
        o, low == CR_REAL ? cr_onnx_in(o, 0) : cr_onnx_cast(o, cr_onnx_in(o, 0),
                                                             low),
        type);
}

/* A rounding to low precision. */
static const char *fake_cast(struct cr_onnx *o, const char *arg)
{
    const char *type = cr_inference_enum(o->arena, o->node, "type");

    (void)arg;
    return cr_onnx_cast(o,
                        cr_onnx_cast(o, cr_onnx_in(o, 0),
                                     strcmp(type, "float16") == 0 ? CR_F16
                                                                  : CR_BF16),
                        CR_REAL);
}

/* ---- Arithmetic */

/* Input 0 in the type of the result. */
static const char *in_result_type(struct cr_onnx *o)
{
    return cr_onnx_in_as(o, 0, cr_onnx_out(o, 0)->spec.type);
}

/* Integers are round; ONNX rounds real numbers only. */
static const char *rounding(struct cr_onnx *o, const char *arg)
{
    const char *x = in_result_type(o);

    return cr_onnx_out(o, 0)->spec.type == CR_REAL ? CR_ONNX(o, arg, x) : x;
}

static const char *square(struct cr_onnx *o, const char *arg)
{
    const char *x = in_result_type(o);

    return CR_ONNX(o, arg, x, x);
}

static const char *rsqrt(struct cr_onnx *o, const char *arg)
{
    return CR_ONNX(o, arg, CR_ONNX(o, "Sqrt", in_result_type(o)));
}

static const char *expm1_(struct cr_onnx *o, const char *arg)
{
    return CR_ONNX(o, "Sub", CR_ONNX(o, arg, in_result_type(o)), real(o, 1));
}

static const char *log1p_(struct cr_onnx *o, const char *arg)
{
    return CR_ONNX(o, arg, CR_ONNX(o, "Add", in_result_type(o), real(o, 1)));
}

static const char *erfc_(struct cr_onnx *o, const char *arg)
{
    return CR_ONNX(o, "Sub", real(o, 1), CR_ONNX(o, arg, in_result_type(o)));
}

/* x floored by y: quotient or, with "Mod", remainder; integers by Mod, which
 * has the sign of the divisor. */
static const char *floor_division(struct cr_onnx *o, const char *arg)
{
    enum cr_type type = cr_onnx_out(o, 0)->spec.type;
    const char *x = cr_onnx_in_as(o, 0, type), *y = cr_onnx_in_as(o, 1, type);
    const char *q;

    if (type != CR_REAL) {
        q = CR_ONNX(o, "Mod", x, y);
        return strcmp(arg, "Mod") == 0
                   ? q
                   : CR_ONNX(o, "Div", CR_ONNX(o, "Sub", x, q), y);
    }
    q = CR_ONNX(o, "Floor", CR_ONNX(o, "Div", x, y));
    return strcmp(arg, "Mod") == 0
               ? CR_ONNX(o, "Sub", x, CR_ONNX(o, "Mul", q, y))
               : q;
}

/* arctan(y / x), half a turn further where x < 0, in the direction of y. */
static const char *arc_tangent2(struct cr_onnx *o, const char *arg)
{
    const char *y = cr_onnx_in(o, 0), *x = cr_onnx_in(o, 1);
    const char *zero = real(o, 0), *turn, *angle;

    (void)arg;
    turn = CR_ONNX(o, "Where", CR_ONNX(o, "Less", y, zero), real(o, -M_PI),
                   real(o, M_PI));
    angle = CR_ONNX(o, "Atan", CR_ONNX(o, "Div", y, x));
    angle = CR_ONNX(o, "Where", CR_ONNX(o, "Less", x, zero),
                    CR_ONNX(o, "Add", angle, turn), angle);
    /* 0 / 0 */
    return CR_ONNX(o, "Where",
                   CR_ONNX(o, "And", CR_ONNX(o, "Equal", y, zero),
                           CR_ONNX(o, "Equal", x, zero)),
                   zero, angle);
}

static const char *clamp(struct cr_onnx *o, const char *arg)
{
    double low = cr_inference_real(o->node, "min");
    double high = cr_inference_real(o->node, "max");
    enum cr_type type = cr_onnx_out(o, 0)->spec.type;
    const char *in[3] = { cr_onnx_in_as(o, 0, type), "", "" };

    if (type != CR_REAL) { /* bounds of integers are rounded inwards */
        low = fmin(fmax(ceil(low), INT32_MIN), INT32_MAX);
        high = fmax(fmin(floor(high), INT32_MAX), INT32_MIN);
    }
    if (!isnan(low))
        in[1] = cr_onnx_number(o, type, low);
    if (!isnan(high))
        in[2] = cr_onnx_number(o, type, high);
    return cr_onnx_node(o, arg, 3, in, 1, 1)[0];
}

/* ---- Activations */

static const char *product(struct cr_onnx *o, const char *x, double y)
{
    return CR_ONNX(o, "Mul", x, real(o, y));
}

static const char *gelu(struct cr_onnx *o, const char *arg)
{
    const char *x = cr_onnx_in(o, 0), *u;

    (void)arg;
    if (strcmp(cr_inference_enum(o->arena, o->node, "approximate"), "none") ==
        0) {
        u = CR_ONNX(o, "Erf", product(o, x, M_SQRT1_2));
    } else {
        u = CR_ONNX(o, "Mul", CR_ONNX(o, "Mul", x, x), x);
        u = CR_ONNX(o, "Add", x, product(o, u, 0.044715));
        u = CR_ONNX(o, "Tanh", product(o, u, M_2_SQRTPI * M_SQRT1_2));
    }
    return CR_ONNX(o, "Mul", product(o, x, 0.5),
                   CR_ONNX(o, "Add", u, real(o, 1)));
}

/* x times the logistic function of a multiple of x. */
static const char *gated(struct cr_onnx *o, double factor)
{
    const char *x = cr_onnx_in(o, 0);

    return CR_ONNX(
        o, "Mul", x,
        CR_ONNX(o, "Sigmoid", factor == 1 ? x : product(o, x, factor)));
}

static const char *silu(struct cr_onnx *o, const char *arg)
{
    (void)arg;
    return gated(o, 1);
}

static const char *fast_gelu(struct cr_onnx *o, const char *arg)
{
    (void)arg;
    return gated(o, 1.702);
}

static const char *mish(struct cr_onnx *o, const char *arg)
{
    const char *x = cr_onnx_in(o, 0);

    return CR_ONNX(o, "Mul", x,
                   CR_ONNX(o, "Tanh", CR_ONNX(o, arg, x)));
}

static const char *log_sigmoid(struct cr_onnx *o, const char *arg)
{
    const char *x = CR_ONNX(o, "Neg", cr_onnx_in(o, 0));

    return CR_ONNX(o, "Neg", CR_ONNX(o, arg, x));
}

static const char *hard_sigmoid(struct cr_onnx *o, const char *arg)
{
    cr_onnx_float(o, "alpha", 1.0 / 6);
    cr_onnx_float(o, "beta", 0.5);
    return CR_ONNX(o, arg, cr_onnx_in(o, 0));
}

static const char *clip(struct cr_onnx *o, double low, double high)
{
    return CR_ONNX(o, "Clip", cr_onnx_in(o, 0), real(o, low), real(o, high));
}

static const char *relu6(struct cr_onnx *o, const char *arg)
{
    (void)arg;
    return clip(o, 0, 6);
}

static const char *hardtanh(struct cr_onnx *o, const char *arg)
{
    (void)arg;
    return clip(o, cr_inference_real(o->node, "min_val"),
                cr_inference_real(o->node, "max_val"));
}

/* A node with the attribute alpha. */
static const char *with_alpha(struct cr_onnx *o, const char *arg)
{
    cr_onnx_float(o, "alpha", cr_inference_real(o->node, "alpha"));
    return CR_ONNX(o, arg, cr_onnx_in(o, 0));
}

static const char *shrink(struct cr_onnx *o, double lambd, double bias)
{
    cr_onnx_float(o, "lambd", lambd);
    cr_onnx_float(o, "bias", bias);
    return CR_ONNX(o, "Shrink", cr_onnx_in(o, 0));
}

static const char *h_shrink(struct cr_onnx *o, const char *arg)
{
    (void)arg;
    return shrink(o, cr_inference_real(o->node, "lambd"), 0);
}

static const char *soft_shrink(struct cr_onnx *o, const char *arg)
{
    double lambd = cr_inference_real(o->node, "lambd");

    (void)arg;
    return shrink(o, lambd, lambd);
}

static const char *threshold(struct cr_onnx *o, const char *arg)
{
    const char *x = cr_onnx_in(o, 0);

    return CR_ONNX(
        o, arg,
        CR_ONNX(o, "Greater", x,
                real(o, cr_inference_real(o->node, "threshold"))),
        x, real(o, cr_inference_real(o->node, "value")));
}

static const char *tanhshrink(struct cr_onnx *o, const char *arg)
{
    const char *x = cr_onnx_in(o, 0);

    return CR_ONNX(o, "Sub", x, CR_ONNX(o, arg, x));
}

static const char *positional_encoding(struct cr_onnx *o, const char *arg)
{
    const struct cr_encode *a = o->node->attr;
    const struct cr_spec *x = &cr_onnx_val(o, 0)->spec;
    struct cr_spec spec = CR_SPEC(x->dim[x->rank - 2], a->dim);

    if (cr_onnx_varies(cr_onnx_val(o, 0), x->rank - 2))
        return cr_onnx_no(o, "it encodes positions in the batch");
    return CR_ONNX(o, arg, product(o, cr_onnx_in(o, 0), (double)a->scale),
                   cr_onnx_reals(o, &spec, a->table));
}

static const char *glu(struct cr_onnx *o, const char *arg)
{
    const char *in = cr_onnx_in(o, 0), **half;

    (void)arg;
    cr_onnx_int(o, "axis", cr_inference_int(o->node, "axis"));
    half = cr_onnx_node(o, "Split", 1, &in, 1, 2);
    return CR_ONNX(o, "Mul", half[0], CR_ONNX(o, "Sigmoid", half[1]));
}

static const char *prelu(struct cr_onnx *o, const char *arg)
{
    int64_t shape[CR_RANK_MAX];
    const char *w = cr_onnx_in(o, 1);
    int n = cr_onnx_val(o, 0)->spec.rank - 1;

    for (int i = 0; i < n; i++)
        shape[i] = i == 0 ? -1 : 1;
    if (cr_onnx_val(o, 1)->spec.dim[0] > 1)
        w = cr_onnx_to(o, w, n, shape);
    return CR_ONNX(o, arg, cr_onnx_in(o, 0), w);
}

/* A node with the attribute axis. */
static const char *with_axis(struct cr_onnx *o, const char *arg)
{
    cr_onnx_int(o, "axis", cr_inference_int(o->node, "axis"));
    return CR_ONNX(o, arg, cr_onnx_in(o, 0));
}

/* ---- Reductions */

/* Reduces x; axes are those of the node, none: all. The axes of ReduceSum are
 * an input, those of other nodes of opset 17 an attribute. */
static const char *reduce(struct cr_onnx *o, const char *type, const char *x,
                          bool keepdims)
{
    struct cr_ints axis = cr_inference_ints(o->node, "axis");
    const char *axes = NULL;

    if (strcmp(type, "ReduceSum") == 0 && axis.n > 0)
        axes = cr_onnx_list(o, axis.n, axis.v);
    else if (axis.n > 0)
        cr_onnx_ints(o, "axes", axis.n, axis.v);
    cr_onnx_int(o, "keepdims", keepdims);
    return axes ? CR_ONNX(o, type, x, axes) : CR_ONNX(o, type, x);
}

static const char *reduction(struct cr_onnx *o, const char *arg)
{
    return reduce(o, arg,
                  cr_onnx_in_as(o, 0, cr_onnx_out(o, 0)->spec.type),
                  cr_inference_bool(o->node, "keepdims"));
}

/* Whether all or any elements are true. */
static const char *truth(struct cr_onnx *o, const char *arg)
{
    const char *x = cr_onnx_cast(o, cr_onnx_in_as(o, 0, CR_BOOL), CR_I32);

    x = reduce(o, arg, x, cr_inference_bool(o->node, "keepdims"));
    return cr_onnx_cast(o, x, cr_onnx_out(o, 0)->spec.type);
}

static const char *norm(struct cr_onnx *o, const char *arg)
{
    double ord = cr_inference_real(o->node, "ord");
    bool keepdims = cr_inference_bool(o->node, "keepdims");
    const char *x = cr_onnx_in(o, 0);

    (void)arg;
    if (ord == 1 || ord == 2)
        return reduce(o, ord == 1 ? "ReduceL1" : "ReduceL2", x, keepdims);
    x = CR_ONNX(o, "Abs", x);
    if (isinf(ord))
        return reduce(o, "ReduceMax", x, keepdims);
    x = reduce(o, "ReduceSum", CR_ONNX(o, "Pow", x, real(o, ord)), keepdims);
    return CR_ONNX(o, "Pow", x, real(o, 1 / ord));
}

static const char *masked_mean(struct cr_onnx *o, const char *arg)
{
    const struct cr_inference_val *x = cr_onnx_val(o, 0);
    const struct cr_inference_val *m = cr_onnx_val(o, 1);
    bool keepdims = cr_inference_bool(o->node, "keepdims");
    const char *mask = cr_onnx_in_as(o, 1, CR_BOOL), *zero = real(o, 0);
    const char *sum, *count;

    (void)arg;
    for (int i = m->spec.rank; i < x->spec.rank; i++)
        mask = cr_onnx_unsqueeze(o, mask, i);
    mask = CR_ONNX(o, "Expand", mask, CR_ONNX(o, "Shape", cr_onnx_in(o, 0)));
    sum = reduce(o, "ReduceSum",
                 CR_ONNX(o, "Where", mask, cr_onnx_in(o, 0), zero), keepdims);
    count = reduce(o, "ReduceSum", cr_onnx_cast(o, mask, CR_REAL), keepdims);
    return CR_ONNX(o, "Where", CR_ONNX(o, "Greater", count, zero),
                   CR_ONNX(o, "Div", sum, count), zero);
}

static const char *argmax(struct cr_onnx *o, const char *arg)
{
    int64_t axis = cr_inference_int(o->node, "axis");
    const char *x = cr_onnx_in(o, 0);
    bool keepdims = cr_inference_bool(o->node, "keepdims");
    bool flat = axis == CR_INT_NONE;

    if (flat)
        x = cr_onnx_to(o, x, 1, (const int64_t[]){ -1 });
    cr_onnx_int(o, "axis", flat ? 0 : axis);
    cr_onnx_int(o, "keepdims", !flat && keepdims);
    x = cr_onnx_cast(o, CR_ONNX(o, arg, x), CR_I32);
    return flat ? cr_onnx_reshape(o, x, cr_onnx_out(o, 0)) : x;
}

static const char *cumsum(struct cr_onnx *o, const char *arg)
{
    return CR_ONNX(o, arg, cr_onnx_in(o, 0),
                   cr_onnx_number(o, CR_I64,
                                  (double)cr_inference_int(o->node, "axis")));
}

const struct cr_onnx_emitter cr_onnx_elementwise[] = {
    { .op = "abs", .emit = same_type, .arg = "Abs" },
    { .op = "acos", .emit = same_type, .arg = "Acos" },
    { .op = "acosh", .emit = same_type, .arg = "Acosh" },
    { .op = "add", .emit = same_type, .arg = "Add" },
    { .op = "all", .emit = truth, .arg = "ReduceMin" },
    { .op = "any", .emit = truth, .arg = "ReduceMax" },
    { .op = "argmax", .emit = argmax, .arg = "ArgMax" },
    { .op = "asin", .emit = same_type, .arg = "Asin" },
    { .op = "asinh", .emit = same_type, .arg = "Asinh" },
    { .op = "atan", .emit = same_type, .arg = "Atan" },
    { .op = "atan2", .emit = arc_tangent2 },
    { .op = "atanh", .emit = same_type, .arg = "Atanh" },
    { .op = "cast", .emit = cast },
    { .op = "ceil", .emit = rounding, .arg = "Ceil" },
    { .op = "celu", .emit = with_alpha, .arg = "Celu" },
    { .op = "clamp", .emit = clamp, .arg = "Clip" },
    { .op = "cos", .emit = same_type, .arg = "Cos" },
    { .op = "cosh", .emit = same_type, .arg = "Cosh" },
    { .op = "cumsum", .emit = cumsum, .arg = "CumSum" },
    { .op = "div", .emit = same_type, .arg = "Div" },
    { .op = "elu", .emit = with_alpha, .arg = "Elu" },
    { .op = "equal", .emit = compare, .arg = "Equal" },
    { .op = "erf", .emit = same_type, .arg = "Erf" },
    { .op = "erfc", .emit = erfc_, .arg = "Erf" },
    { .op = "exp", .emit = same_type, .arg = "Exp" },
    { .op = "expm1", .emit = expm1_, .arg = "Exp" },
    { .op = "fake_cast", .emit = fake_cast },
    { .op = "fast_gelu", .emit = fast_gelu },
    { .op = "floor", .emit = rounding, .arg = "Floor" },
    { .op = "floor_div", .emit = floor_division, .arg = "Div" },
    { .op = "gelu", .emit = gelu },
    { .op = "glu", .emit = glu },
    { .op = "greater", .emit = compare, .arg = "Greater" },
    { .op = "greater_equal", .emit = compare, .arg = "GreaterOrEqual" },
    { .op = "h_shrink", .emit = h_shrink },
    { .op = "h_sigmoid", .emit = hard_sigmoid, .arg = "HardSigmoid" },
    { .op = "h_swish", .emit = same_type, .arg = "HardSwish" },
    { .op = "hardtanh", .emit = hardtanh },
    { .op = "leaky_relu", .emit = with_alpha, .arg = "LeakyRelu" },
    { .op = "less", .emit = compare, .arg = "Less" },
    { .op = "less_equal", .emit = compare, .arg = "LessOrEqual" },
    { .op = "log", .emit = same_type, .arg = "Log" },
    { .op = "log1p", .emit = log1p_, .arg = "Log" },
    { .op = "log_sigmoid", .emit = log_sigmoid, .arg = "Softplus" },
    { .op = "log_softmax", .emit = with_axis, .arg = "LogSoftmax" },
    { .op = "logical_and", .emit = logical, .arg = "And" },
    { .op = "logical_not", .emit = logical, .arg = "Not" },
    { .op = "logical_or", .emit = logical, .arg = "Or" },
    { .op = "logsumexp", .emit = reduction, .arg = "ReduceLogSumExp" },
    { .op = "masked_mean", .emit = masked_mean },
    { .op = "max", .emit = reduction, .arg = "ReduceMax" },
    { .op = "maximum", .emit = same_type, .arg = "Max" },
    { .op = "mean", .emit = reduction, .arg = "ReduceMean" },
    { .op = "min", .emit = reduction, .arg = "ReduceMin" },
    { .op = "minimum", .emit = same_type, .arg = "Min" },
    { .op = "mish", .emit = mish, .arg = "Softplus" },
    { .op = "mod", .emit = floor_division, .arg = "Mod" },
    { .op = "mul", .emit = same_type, .arg = "Mul" },
    { .op = "neg", .emit = same_type, .arg = "Neg" },
    { .op = "norm", .emit = norm },
    { .op = "not_equal", .emit = compare, .arg = "NotEqual" },
    { .op = "positional_encoding", .emit = positional_encoding, .arg = "Add" },
    { .op = "pow", .emit = same_type, .arg = "Pow" },
    { .op = "prelu", .emit = prelu, .arg = "PRelu" },
    { .op = "prod", .emit = reduction, .arg = "ReduceProd" },
    { .op = "relu", .emit = same_type, .arg = "Relu" },
    { .op = "relu6", .emit = relu6 },
    { .op = "round", .emit = rounding, .arg = "Round" },
    { .op = "rsqrt", .emit = rsqrt, .arg = "Reciprocal" },
    { .op = "selu", .emit = same_type, .arg = "Selu" },
    { .op = "sigmoid", .emit = same_type, .arg = "Sigmoid" },
    { .op = "sign", .emit = same_type, .arg = "Sign" },
    { .op = "silu", .emit = silu },
    { .op = "sin", .emit = same_type, .arg = "Sin" },
    { .op = "sinh", .emit = same_type, .arg = "Sinh" },
    { .op = "soft_shrink", .emit = soft_shrink },
    { .op = "softmax", .emit = with_axis, .arg = "Softmax" },
    { .op = "softsign", .emit = same_type, .arg = "Softsign" },
    { .op = "sqrt", .emit = same_type, .arg = "Sqrt" },
    { .op = "square", .emit = square, .arg = "Mul" },
    { .op = "sub", .emit = same_type, .arg = "Sub" },
    { .op = "sum", .emit = reduction, .arg = "ReduceSum" },
    { .op = "tan", .emit = same_type, .arg = "Tan" },
    { .op = "tanh", .emit = same_type, .arg = "Tanh" },
    { .op = "tanhshrink", .emit = tanhshrink, .arg = "Tanh" },
    { .op = "threshold", .emit = threshold, .arg = "Where" },
    { .op = "where", .emit = where, .arg = "Where" },
    { 0 },
};
