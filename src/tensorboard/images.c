/*
 * Samples: the pictures of a list of samples.json as one summary, and a table
 * with the labels and losses of these samples.
 */
#include "tensorboard/summary.h"

#include <string.h>

#include "ckpt/json.h"

/* Decodes base64 (RFC 4648) as cr_sample_json writes it; false if it is not. */
static bool images_base64(struct cr_arena *arena, const char *text,
                          ProtobufCBinaryData *to)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqr"
                                 "stuvwxyz0123456789+/";
    size_t n = strcspn(text, "=");
    uint32_t bits = 0;

    to->len = 0;
    to->data = cr_alloc(arena, n + 1, 1);
    for (size_t i = 0; i < n; i++) {
        const char *digit = strchr(digits, text[i]);

        if (!digit)
            return false;
        bits = bits << 6 | (uint32_t)(digit - digits);
        if (i % 4 > 0)
            to->data[to->len++] = (uint8_t)(bits >> (6 - 2 * (i % 4)) & 0xff);
    }
    return n > 0;
}

static void images_put(struct cr_tensorboard *tb,
                       const struct cr_tb_record *at, const char *tag,
                       size_t n, ProtobufCBinaryData *strings)
{
    struct cr_tb_plugin plugin = CR_TB(plugin);
    struct cr_tb_metadata metadata = CR_TB(metadata);
    struct cr_tb_tensor tensor = CR_TB(tensor);

    plugin.name = cr_tb_text("images");
    metadata.plugin = &plugin;
    metadata.data_class = CR_TB_BLOBS;
    tensor.dtype = CR_TB_STRING;
    tensor.shape =
        cr_tb_shape_of(at->arena, 1, (const int64_t[]){ (int64_t)n });
    tensor.n_strings = n;
    tensor.strings = strings;
    cr_tb_put(tb, at, tag, &metadata, &tensor);
}

/* The pictures of one column: after width and height of the first, as texts,
 * the PNGs. */
static void images_column(struct cr_tensorboard *tb,
                          const struct cr_tb_record *at, const char *name,
                          const char *column, const struct cr_node *samples)
{
    ProtobufCBinaryData *all =
        CR_NEWS(at->arena, ProtobufCBinaryData, cr_node_count(samples) + 2);
    size_t n = 2;

    for (CR_EACH(sample, samples)) {
        const struct cr_node *picture =
            cr_node_get(cr_node_get(sample, "columns"), column);
        const char *png = cr_json_str(picture, "png", "");

        if (!images_base64(at->arena, png, &all[n]))
            continue;
        if (n++ > 2)
            continue;
        all[0] = cr_tb_text(
            cr_strf(at->arena, "%lld",
                    (long long)cr_json_int(picture, "width", 0)));
        all[1] = cr_tb_text(
            cr_strf(at->arena, "%lld",
                    (long long)cr_json_int(picture, "height", 0)));
    }
    if (n > 2)
        images_put(tb, at, cr_strf(at->arena, "%s/%s", name, column), n, all);
}

/* A row of each sample: its members that are numbers. */
static void images_table(struct cr_tensorboard *tb,
                         const struct cr_tb_record *at, const char *name,
                         const struct cr_node *samples)
{
    struct cr_buf b = { .arena = at->arena };
    int n = 0;

    for (CR_EACH(m, cr_node_at(samples, 0)))
        if (m->text)
            cr_buf_f(&b, "| %s ", m->key);
    cr_buf_str(&b, "|\n");
    for (CR_EACH(m, cr_node_at(samples, 0)))
        if (m->text)
            cr_buf_str(&b, "|---");
    cr_buf_str(&b, "|\n");
    for (CR_EACH(sample, samples)) {
        for (CR_EACH(m, sample))
            if (m->kind == CR_NODE_REAL)
                cr_buf_f(&b, "| %.4g ", m->real);
            else if (m->text)
                cr_buf_f(&b, "| %s ", m->text);
        cr_buf_str(&b, "|\n");
        n++;
    }
    if (n > 0)
        cr_tb_markdown(tb, at, name, cr_buf_text(&b));
}

void cr_tb_images(struct cr_tensorboard *tb, const struct cr_tb_record *at,
                  const char *name, const struct cr_node *samples)
{
    for (CR_EACH(m, cr_node_get(cr_node_at(samples, 0), "columns")))
        images_column(tb, at, name, m->key, samples);
    images_table(tb, at, name, samples);
}
