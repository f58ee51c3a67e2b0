/* Every op that help lists is a function of `construct`: its inputs have
 * names, or its signature says how it is called. */
#include "base/compiler.h"
#include "base/str.h"
#include "graph/op.h"
#include "tap.h"

/* Each input has a name; tensors of concat and stack share one. */
static bool named(const struct cr_op *op)
{
    int n = 0;

    while (op->inputs && op->inputs[n])
        n++;
    return n == (op->max_inputs == CR_OP_MAX ? 1 : op->max_inputs);
}

int main(void)
{
    struct cr_arena mem = { 0 };
    char text[200];

    test_begin("every listed op can be called by names");
    for (const struct cr_descriptor *const *p = cr_registry_list(CR_KIND_OP);
         *p; p++) {
        const struct cr_op *op = (const struct cr_op *)*p;

        if (op->about.internal)
            continue;
        ok(op->signature ? op->text || op->plan || op->build : named(op),
           "%s: arguments have names", op->about.name);
        ok(op->text || op->plan || op->build, "%s computes something",
           op->about.name);
    }
    test_end();
    test_begin("a signature has inputs, options and defaults");
    snprintf(text, sizeof text, "%s",
             cr_op_signature(&mem, cr_op_find("sum")));
    ok(strcmp(text, "sum(input, axis=None, keepdims=False)") == 0, "%s", text);
    snprintf(text, sizeof text, "%s",
             cr_op_signature(&mem, cr_op_find("elu")));
    ok(strcmp(text, "elu(input_x, alpha=1.0)") == 0, "%s", text);
    snprintf(text, sizeof text, "%s",
             cr_op_signature(&mem, cr_op_find("gelu")));
    ok(strcmp(text, "gelu(input, approximate='none')") == 0, "%s", text);
    test_end();
    cr_arena_free(&mem);
    return done();
}
