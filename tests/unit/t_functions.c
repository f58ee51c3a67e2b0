/* The functions that `construct` may call (config.md 2): each is an op that
 * says so, and its inputs have names. */
#include "base/attr.h"
#include "net/op.h"
#include "tap.h"

static const char *const names[] = {
    "abs", "exp", "log", "log1p", "sqrt", "rsqrt", "square", "sin", "cos",
    "tanh", "erf", "sigmoid", "relu", "gelu", "floor", "ceil", "round", "sign",
    "minimum", "maximum", "clamp", "where", "cast", "sum", "mean", "max", "min",
    "prod", "norm", "logsumexp", "argmax", "all", "any", "reshape", "transpose",
    "flatten", "squeeze", "expand_dims", "concat", "stack", "split", "tile",
    "broadcast_to", "pad", "sort", "topk", "cumsum", "gather", "one_hot",
    "arange", "zeros_like", "ones_like", "softmax", "log_softmax",
    "stop_gradient", "causal_mask", "masked_mean", "top_fraction",
    /* what the operators become */
    "add", "sub", "mul", "div", "floor_div", "mod", "pow", "matmul", "neg",
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal",
    "logical_and", "logical_or", "logical_not"
};

int main(void)
{
    test_begin("every function of construct has named inputs");
    for (size_t i = 0; i < CR_LEN(names); i++) {
        const struct cr_op *op = cr_op_find(names[i]);
        int n = 0, named;

        if (!ok(op && op->function, "%s is a function", names[i]))
            continue;
        while (op->inputs && op->inputs[n])
            n++;
        /* tensors of concat and stack share one name */
        named = op->max_inputs == CR_OP_MAX ? 1 : op->max_inputs;
        ok(n == named, "%s: inputs have names", names[i]);
    }
    return done();
}
