/* ckpt diff: the largest difference of each tensor between two files. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/table.h"
#include "ckpts/ckpts.h"

struct diff {
    struct cr_table table;
    struct cr_buf json;
    int differ, all;
};

static void diff_row(struct diff *d, const char *name, const char *what,
                     bool differs)
{
    cr_buf_str(&d->json, d->all++ > 0 ? ", " : "");
    cr_buf_str(&d->json, "{\"name\": ");
    cr_buf_json(&d->json, name);
    if (what) {
        cr_buf_str(&d->json, ", \"what\": ");
        cr_buf_json(&d->json, what);
    }
    cr_buf_f(&d->json, ", \"same\": %s", differs ? "false" : "true");
    d->differ += differs;
}

static void diff_words(struct diff *d, const char *name, const char *what)
{
    diff_row(d, name, what, true);
    cr_buf_char(&d->json, '}');
    cr_table_add(&d->table, name);
    cr_table_add(&d->table, what);
    cr_table_add(&d->table, "");
    cr_table_add(&d->table, "");
}

static void diff_values(struct cr_cli *cli, struct diff *d,
                        struct cr_tensor_file *a,
                        const struct cr_tensor_info *x,
                        struct cr_tensor_file *b,
                        const struct cr_tensor_info *y)
{
    const struct cr_ckpts_opts *o = cr_cli_opts(cli);
    struct cr_arena mem = { 0 };
    size_t n = (size_t)cr_count(&x->spec);
    void *p = cr_alloc(&mem, n, cr_type_size(x->spec.type));
    void *q = cr_alloc(&mem, n, cr_type_size(y->spec.type));
    struct cr_tensor_diff apart;

    if (!cr_tensor_file_read(a, cli->diag, x, x->spec.type, p) ||
        !cr_tensor_file_read(b, cli->diag, y, y->spec.type, q))
        goto done;
    cr_tensor_diff(&x->spec, p, y->spec.type, q, o->rtol, o->atol, &apart);
    diff_row(d, x->name, NULL, apart.beyond > 0);
    cr_buf_str(&d->json, ", \"largest\": ");
    cr_buf_str(&d->json, isfinite(apart.deviation)
                             ? cr_strf(&mem, "%.17g", apart.deviation)
                             : "null");
    cr_buf_f(&d->json, ", \"beyond\": %" PRId64 "}", apart.beyond);
    if (apart.deviation > 0) {
        cr_table_add(&d->table, x->name);
        cr_table_f(&d->table, "%.6g", apart.deviation);
        cr_table_f(&d->table, "at %s: %.9g, %.9g",
                   cr_tensor_index_text(&mem, &x->spec, apart.at), apart.a,
                   apart.b);
        cr_table_f(&d->table, "%" PRId64 " of %zu beyond", apart.beyond, n);
    }
done:
    cr_arena_free(&mem);
}

static void diff_one(struct cr_cli *cli, struct diff *d,
                     struct cr_tensor_file *a, const struct cr_tensor_info *x,
                     struct cr_tensor_file *b)
{
    const struct cr_tensor_info *y = cr_tensor_file_find(b, x->name);
    struct cr_spec same;

    if (!y) {
        diff_words(d, x->name, "only in the first");
        return;
    }
    same = x->spec;
    same.type = y->spec.type;
    if (x->spec.rank != y->spec.rank || !cr_spec_same(&same, &y->spec))
        diff_words(d, x->name,
                   cr_strf(cli->arena, "shapes %s and %s",
                           cr_ckpts_shape(cli->arena, x),
                           cr_ckpts_shape(cli->arena, y)));
    else if (x->spec.type != y->spec.type ||
             (!x->readable && strcmp(x->dtype, y->dtype) != 0))
        diff_words(d, x->name,
                   cr_strf(cli->arena, "dtypes %s and %s", x->dtype, y->dtype));
    else
        diff_values(cli, d, a, x, b, y);
}

static int diff_run(struct cr_cli *cli)
{
    const char *first = cli->operands[0], *second = cli->operands[1];
    struct diff d = {
        .table = { .arena = cli->arena, .align = "lrll" },
        .json = { .arena = cli->arena },
    };
    struct cr_tensor_file *a =
        cr_tensor_file_open(cli->arena, cli->diag, first);
    struct cr_tensor_file *b =
        cr_tensor_file_open(cli->arena, cli->diag, second);
    const struct cr_tensor_info *x, *y;
    int n, m;

    if (!a || !b)
        goto done;
    x = cr_tensor_file_entries(a, &n);
    y = cr_tensor_file_entries(b, &m);
    for (int i = 0; i < n; i++)
        if (cr_ckpts_matches(cli, x[i].name))
            diff_one(cli, &d, a, &x[i], b);
    for (int i = 0; i < m; i++)
        if (cr_ckpts_matches(cli, y[i].name) &&
            !cr_tensor_file_find(a, y[i].name))
            diff_words(&d, y[i].name, "only in the second");
    if (cli->diag->errors > 0)
        goto done;
    if (cli->json) {
        printf("{\"same\": %s, \"tensors\": [%s]}\n",
               d.differ == 0 ? "true" : "false", cr_buf_text(&d.json));
    } else if (!cli->quiet) {
        cr_table_show(&d.table, false);
        if (d.differ > 0)
            printf("%d of %d tensors differ\n", d.differ, d.all);
        else
            printf("%d tensors, no differences\n", d.all);
    }
done:
    cr_tensor_file_close(a);
    cr_tensor_file_close(b);
    return d.differ > 0 && cli->diag->errors == 0 ? cr_code_exit(CR_E_DIFFERS)
                                                  : 0;
}

const struct cr_ckpts_sub cr_ckpts_sub_diff = { .name = "diff",
                                                .files = 2,
                                                .run_all = diff_run };
