/*
 * Texts, which TensorBoard shows as Markdown.
 */
#include "tensorboard/summary.h"

#include <string.h>

void cr_tb_markdown(struct cr_tensorboard *tb, const struct cr_tb_record *at,
                    const char *name, const char *text)
{
    struct cr_tb_plugin plugin = CR_TB(plugin);
    struct cr_tb_metadata metadata = CR_TB(metadata);
    struct cr_tb_tensor tensor = CR_TB(tensor);
    ProtobufCBinaryData string = cr_tb_text(text);

    plugin.name = cr_tb_text("text");
    metadata.plugin = &plugin;
    metadata.data_class = CR_TB_TENSORS;
    tensor.dtype = CR_TB_STRING;
    tensor.shape = cr_tb_shape_of(at->arena, 1, (const int64_t[]){ 1 });
    tensor.n_strings = 1;
    tensor.strings = &string;
    cr_tb_put(tb, at, cr_strf(at->arena, "%s/text_summary", name), &metadata,
              &tensor);
}

void cr_tb_verbatim(struct cr_tensorboard *tb, const struct cr_tb_record *at,
                    const char *name, const char *text)
{
    struct cr_buf b = { .arena = at->arena };

    while (*text) { /* an indented block is code */
        size_t n = strcspn(text, "\n");

        cr_buf_str(&b, "    ");
        cr_buf_add(&b, text, n);
        cr_buf_char(&b, '\n');
        text += n + (text[n] == '\n');
    }
    cr_tb_markdown(tb, at, name, cr_buf_text(&b));
}
