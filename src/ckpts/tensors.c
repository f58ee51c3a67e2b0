/* The tensors of a file. */
#include <fnmatch.h>
#include <inttypes.h>

#include "base/table.h"
#include "ckpts/ckpts.h"

bool cr_ckpts_matches(const struct cr_cli *cli, const char *name)
{
    const struct cr_ckpts_opts *o = cr_cli_opts(cli);

    return !o->edit.match || fnmatch(o->edit.match, name, 0) == 0;
}

const char *cr_ckpts_shape(struct cr_arena *arena,
                           const struct cr_tensor_info *e)
{
    return e->spec.rank < 0 ? "more than 8 dimensions"
                            : cr_diag_format(arena, &e->spec);
}

void cr_ckpts_tensors_json(struct cr_cli *cli, struct cr_tensor_file *file,
                           struct cr_buf *to)
{
    const char *comma = "";
    int n;
    const struct cr_tensor_info *e = cr_tensor_file_entries(file, &n);

    cr_buf_char(to, '[');
    for (int i = 0; i < n; i++) {
        if (!cr_ckpts_matches(cli, e[i].name))
            continue;
        cr_buf_f(to, "%s{\"name\": ", comma);
        cr_buf_json(to, e[i].name);
        cr_buf_str(to, ", \"dtype\": ");
        cr_buf_json(to, e[i].dtype);
        cr_buf_str(to, ", \"shape\": ");
        cr_buf_str(to, e[i].spec.rank < 0 ? "null" : "[");
        for (int k = 0; k < e[i].spec.rank; k++)
            cr_buf_f(to, "%s%" PRId64, k > 0 ? ", " : "", e[i].spec.dim[k]);
        cr_buf_f(to, "%s, \"offset\": %" PRId64 ", \"bytes\": %zu}",
                 e[i].spec.rank < 0 ? "" : "]", e[i].offset, e[i].bytes);
        comma = ", ";
    }
    cr_buf_char(to, ']');
}

void cr_ckpts_tensors(struct cr_cli *cli, struct cr_tensor_file *file)
{
    struct cr_table table = { .arena = cli->arena, .align = "llrr" };
    int n;
    const struct cr_tensor_info *e = cr_tensor_file_entries(file, &n);

    cr_table_add(&table, "tensor");
    cr_table_add(&table, "dtype");
    cr_table_add(&table, "shape");
    cr_table_add(&table, "bytes");
    for (int i = 0; i < n; i++) {
        if (!cr_ckpts_matches(cli, e[i].name))
            continue;
        cr_table_add(&table, e[i].name);
        cr_table_add(&table, e[i].dtype);
        cr_table_add(&table, cr_ckpts_shape(cli->arena, &e[i]));
        cr_table_f(&table, "%zu", e[i].bytes);
    }
    cr_table_show(&table, false);
}
