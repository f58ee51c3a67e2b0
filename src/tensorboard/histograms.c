/*
 * Histograms of the section watch: bins of equal width from the smallest to the
 * largest value. The other statistics of a record are scalars.
 */
#include "tensorboard/summary.h"

#include <string.h>

#include "ckpt/json.h"

enum { COLUMNS = 3 }; /* left border, right border, count */

void cr_tb_histogram(struct cr_tensorboard *tb, const struct cr_tb_record *r)
{
    const char *in = cr_json_str(r->json, "in", NULL);
    const char *tag = cr_strf(r->arena, "watch%s%s/%s/%s", in ? "-" : "",
                              in ? in : "", cr_json_str(r->json, "at", ""),
                              cr_json_str(r->json, "what", ""));
    const struct cr_node *bins = cr_node_get(r->json, "bins");
    struct cr_tb_plugin plugin = CR_TB(plugin);
    struct cr_tb_metadata metadata = CR_TB(metadata);
    struct cr_tb_tensor tensor = CR_TB(tensor);
    double low = cr_json_real(r->json, "low", 0);
    double high = cr_json_real(r->json, "high", 0);
    int64_t n = cr_node_count(bins), i = 0;
    double *rows;

    cr_tb_scalars(tb, r, tag);
    if (n == 0)
        return;
    rows = CR_NEWS(r->arena, double, COLUMNS * n);
    for (CR_EACH(m, bins)) {
        double *row = rows + COLUMNS * i++;

        row[0] = low + (high - low) * (double)(i - 1) / (double)n;
        row[1] = low + (high - low) * (double)i / (double)n;
        row[2] = m->real;
    }
    rows[COLUMNS * n - 2] = high;
    plugin.name = cr_tb_text("histograms");
    metadata.plugin = &plugin;
    metadata.data_class = CR_TB_TENSORS;
    tensor.dtype = CR_TB_DOUBLE;
    tensor.shape =
        cr_tb_shape_of(r->arena, 2, (const int64_t[]){ n, COLUMNS });
    tensor.content = cr_tb_bytes(rows, COLUMNS * (size_t)n * sizeof *rows);
    cr_tb_put(tb, r, tag, &metadata, &tensor);
}
