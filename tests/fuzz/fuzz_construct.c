/* Any bytes as the text of a `construct` over a few cells: parsed, and built
 * into a graph. What builds must plan. A `bprop` follows a byte 1. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "graph/net.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char head[] =
    "network:\n"
    "  inputs: {x: {shape: [4, 6, 6]}, n: {shape: [5], type: int32}}\n"
    "  cells:\n"
    "    conv: {Conv2d: {out_channels: 4, kernel_size: 3}}\n"
    "    act: ReLU\n"
    "    flat: Flatten\n"
    "    p: {Parameter: {shape: [4, 1, 1]}}\n"
    "  construct: |2\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    struct cr_buf text = { .arena = &mem };
    const struct cr_net_opts want = { .batch = 3, .no_values = true };
    struct cr_config_from from = { .text_name = "fuzz", .text_dir = "." };
    struct cr_config *config;
    struct cr_net *net;

    cr_buf_str(&text, head);
    cr_buf_str(&text, "    ");
    for (size_t i = 0; i < size; i++) {
        if (data[i] == 1)
            cr_buf_str(&text, "\n  bprop: |2\n    ");
        else
            cr_buf_char(&text, (char)data[i]);
        if (data[i] == '\n')
            cr_buf_str(&text, "    ");
    }
    from.text = cr_buf_text(&text);
    config = cr_config_load(&mem, &diag, &from);
    net = diag.errors == 0 ? cr_net_build(config, &want) : NULL;
    if (net) {
        struct cr_exec *exec =
            cr_net_exec(net, &(struct cr_exec_opts){ .batch = 3 });

        if (!exec)
            abort();
        cr_exec_free(exec);
    } else if (diag.errors == 0) {
        abort(); /* refused without a word */
    }
    cr_arena_free(&mem);
    return 0;
}
