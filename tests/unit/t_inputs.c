/* The input where no data define it. */
#include "base/str.h"
#include "conf/config.h"
#include "graph/net.h"
#include "tap.h"

/* The first column's name and shape, or the first message. */
static const char *column_of(struct cr_arena *mem, const char *network)
{
    struct cr_diag diag = { .arena = mem };
    struct cr_config_from from = { .text =
                                       cr_strf(mem, "network: %s\n", network),
                                   .text_name = "test",
                                   .text_dir = "." };
    struct cr_net_opts want = { .batch = 2, .no_values = true };
    struct cr_config *config = cr_config_load(mem, &diag, &from);
    struct cr_net *net =
        config && !diag.errors ? cr_net_build(config, &want) : NULL;
    const struct cr_column *c;
    int n;

    if (!net || diag.errors)
        return diag.first ? diag.first->text : "no message";
    c = cr_net_columns(net, &n);
    return cr_strf(mem, "%s %s%s", c->name, cr_type_name(c->spec.type),
                   cr_diag_format(mem, &c->spec));
}

#ifdef CR_DOUBLE
#define REAL "float64"
#else
#define REAL "float32"
#endif
#define UNKNOWN                                                               \
    "cannot infer the input shape: there is no data set, and the first cell " \
    "does not declare its input features"

static const struct {
    const char *network, *want, *what;
} tests[] = {
    { "{Dense: [6, 3]}", "x " REAL "(6,)", "Dense" },
    { "[{Dense: {out_channels: 3, in_channels: 6}}]", "x " REAL "(6,)",
      "Dense by names, in a list" },
    { "{flatten: Flatten, body: [[{Dense: [784, 10]}]]}", "x " REAL "(784,)",
      "Flatten before it, nested" },
    { "{SequentialCell: [Flatten, {Dense: [7, 2]}]}", "x " REAL "(7,)",
      "SequentialCell" },
    { "{inputs: [tokens], fc: {Dense: [4, 2]}}", "tokens " REAL "(4,)",
      "a name without a shape" },
    { "{inputs: {y: {shape: [1, 4, 5]}}, f: Flatten}", "y " REAL "(1, 4, 5)",
      "inputs" },
    { "{inputs: {y: {shape: [4], type: uint8}}, f: Flatten}", "y uint8(4,)",
      "inputs with a type" },
    { "{inputs: {y: {shape: []}}, f: Flatten}", "y " REAL "()",
      "a number per sample" },
    { "{Dense: {out_channels: 3}}", UNKNOWN, "no in_channels" },
    { "[ReLU, {Dense: [6, 3]}]", UNKNOWN, "another cell first" },
    { "[Flatten]", UNKNOWN, "nothing defines it" },
    { "{inputs: {y: {shape: [4], typ: uint8}}, f: Flatten}",
      "'typ' is not a key of an input; use shape and type", "unknown key" },
    { "{inputs: {y: {type: uint8}}, f: Flatten}",
      "input 'y' has no shape, and there is no data set: add {shape: "
      "[...]}",
      "no shape" },
    { "{inputs: {y: {shape: [0]}}, f: Flatten}",
      "shape: found the number 0, expected a positive integer", "no size" },
    { "{inputs: {y: {shape: 4}}, f: Flatten}",
      "shape: expected a list of up to 7 sizes, found the number 4",
      "no list" },
    { "{inputs: {y: {shape: [4], type: float}}, f: Flatten}",
      "type 'float' not found", "no type" },
};

int main(void)
{
    struct cr_arena mem = { 0 };
    size_t i;

    test_begin("which column a network takes");
    for (i = 0; i < CR_LEN(tests); i++)
        same(column_of(&mem, tests[i].network), tests[i].want, tests[i].what);
    cr_arena_free(&mem);
    return done();
}
