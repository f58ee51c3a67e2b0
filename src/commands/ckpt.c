/*
 * ckpt: inspects and compares checkpoints and any safetensors, NPZ or MindSpore
 * file, writes them anew (model/ckpt_edit.h), and reports what `load` would
 * load.
 */
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "base/table.h"
#include "ckpt/checkpoint.h"
#include "ckpt/json.h"
#include "ckpt/load.h"
#include "conf/command_line.h"
#include "math/array_text.h"
#include "model/ckpt_edit.h"
#include "model/model.h"
#include "train/freeze_report.h"

struct ckpt {
    const char *meta, *values;
    double rtol, atol;
    struct cr_ckpt_edit edit;
};

static const struct cr_opt ckpt_opts[] = {
    { .name = "match",
      .at = offsetof(struct ckpt, edit.match),
      .type = CR_OPT_STR,
      .need = CR_OPTIONAL,
      .text = "GLOB",
      .doc = "ls, show, diff, convert, rename: only tensors whose names match "
             "this glob." },
    CR_STR_OPTIONAL(struct ckpt, meta,
                    "show: print only this value of the metadata "
                    "(cellrun.config, cellrun.state, cellrun.vocab).",
                    .text = "KEY"),
    CR_STR_OPTIONAL(
        struct ckpt, values,
        "show: print only the values of the tensors whose names match this "
        "glob, in NumPy's format; more than 1000 values are abridged, except "
        "with --json.",
        .text = "GLOB"),
    { .name = "rename",
      .at = offsetof(struct ckpt, edit.rename),
      .type = CR_OPT_STRS,
      .need = CR_OPTIONAL,
      .text = "PATTERN=REPLACEMENT",
      .doc = "rename: replace the first match in each name, as load.rename "
             "does. The pattern is a POSIX extended regular expression that "
             "ends at the first =; \\= stands for an equals sign. \\1 in the "
             "replacement is the first group. May be repeated; rules are "
             "applied in order." },
    { .name = "out",
      .at = offsetof(struct ckpt, edit.out),
      .type = CR_OPT_STR,
      .need = CR_OPTIONAL,
      .flag = 'o',
      .text = "FILE",
      .doc = "convert, rename, strip, average: the file to write: "
             ".safetensors, .npz (bfloat16 becomes float32) or MindSpore's "
             ".ckpt." },
    CR_REAL_DEFAULT(struct ckpt, rtol, 0, 0, DBL_MAX,
                    "diff: relative tolerance, a fraction of the value in the "
                    "second file."),
    CR_REAL_DEFAULT(struct ckpt, atol, 0, 0, DBL_MAX,
                    "diff: absolute tolerance."),
    { 0 },
};

static bool ckpt_matches(const struct ckpt *o, const char *name)
{
    return !o->edit.match || fnmatch(o->edit.match, name, 0) == 0;
}

/* ---- Tensors of a file */

static const char *ckpt_shape(struct cr_arena *arena,
                              const struct cr_tensor_info *e)
{
    return e->spec.rank < 0 ? "more than 8 dimensions"
                            : cr_diag_format(arena, &e->spec);
}

static void ckpt_tensors_json(struct cr_cli *cli, struct cr_tensor_file *file,
                              struct cr_buf *to)
{
    const struct ckpt *o = cr_cli_opts(cli);
    const char *comma = "";
    int n;
    const struct cr_tensor_info *e = cr_tensor_file_entries(file, &n);

    cr_buf_char(to, '[');
    for (int i = 0; i < n; i++) {
        if (!ckpt_matches(o, e[i].name))
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

static void ckpt_tensors(struct cr_cli *cli, struct cr_tensor_file *file)
{
    const struct ckpt *o = cr_cli_opts(cli);
    struct cr_table table = { .arena = cli->arena, .align = "llrr" };
    int n;
    const struct cr_tensor_info *e = cr_tensor_file_entries(file, &n);

    cr_table_add(&table, "tensor");
    cr_table_add(&table, "dtype");
    cr_table_add(&table, "shape");
    cr_table_add(&table, "bytes");
    for (int i = 0; i < n; i++) {
        if (!ckpt_matches(o, e[i].name))
            continue;
        cr_table_add(&table, e[i].name);
        cr_table_add(&table, e[i].dtype);
        cr_table_add(&table, ckpt_shape(cli->arena, &e[i]));
        cr_table_f(&table, "%zu", e[i].bytes);
    }
    cr_table_show(&table, false);
}

static bool ckpt_same_file(const char *a, const char *b)
{
    struct stat x, y;

    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

/* ---- ls */

/* Lists the checkpoints of a run, newest first. */
static void ckpt_ls_folder(struct cr_cli *cli, const char *dir)
{
    struct cr_table table = { .arena = cli->arena, .align = "lrrrl" };
    struct cr_buf json = { .arena = cli->arena };
    const char *inner = cr_path_join(cli->arena, dir, "ckpt"), *comma = "";
    const struct cr_ckpt_file *file;
    struct stat st;
    int n;

    if (stat(inner, &st) == 0 && S_ISDIR(st.st_mode))
        dir = inner;
    file = cr_ckpt_list(cli->arena, cli->diag, dir, NULL, &n);
    if (n < 0)
        return;
    if (n == 0) {
        cr_error(cli->diag, cr_at_file(cli->arena, dir), CR_E_CKPT_MISSING,
                 "no checkpoints in this folder");
        return;
    }
    cr_table_add(&table, "file");
    cr_table_add(&table, "epoch");
    cr_table_add(&table, "step");
    cr_table_add(&table, "bytes");
    cr_table_add(&table, "");
    for (int i = 0; i < n; i++) {
        const char *path = file[i].path;
        bool best = ckpt_same_file(
            path, cr_path_join(cli->arena, dir, "best.safetensors"));
        bool last = ckpt_same_file(
            path, cr_path_join(cli->arena, dir, "last.safetensors"));
        int64_t bytes = stat(path, &st) == 0 ? st.st_size : 0;

        cr_table_add(&table, path);
        cr_table_f(&table, "%" PRId64, file[i].epoch);
        cr_table_f(&table, "%" PRId64, file[i].step);
        cr_table_f(&table, "%" PRId64, bytes);
        cr_table_f(&table, "%s%s%s", best ? "best" : "",
                   best && last ? " " : "", last ? "last" : "");
        cr_buf_f(&json, "%s{\"file\": ", comma);
        cr_buf_json(&json, path);
        cr_buf_f(&json,
                 ", \"epoch\": %" PRId64 ", \"step\": %" PRId64
                 ", \"bytes\": %" PRId64 ", \"best\": %s, \"last\": %s}",
                 file[i].epoch, file[i].step, bytes, best ? "true" : "false",
                 last ? "true" : "false");
        comma = ", ";
    }
    if (cli->json)
        printf("[%s]\n", cr_buf_text(&json));
    else
        cr_table_show(&table, false);
}

static void ckpt_ls(struct cr_cli *cli, const char *path)
{
    struct cr_buf json = { .arena = cli->arena };
    struct cr_tensor_file *file;
    struct stat st;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        ckpt_ls_folder(cli, path);
        return;
    }
    file = cr_tensor_file_open(cli->arena, cli->diag, path);
    if (!file)
        return;
    if (cli->json) {
        ckpt_tensors_json(cli, file, &json);
        puts(cr_buf_text(&json));
    } else {
        ckpt_tensors(cli, file);
    }
    cr_tensor_file_close(file);
}

/* ---- show */

static void ckpt_show_meta(struct cr_cli *cli, struct cr_tensor_file *file,
                           const char *key)
{
    const char *value = cr_tensor_file_meta(file, key);

    if (!value) {
        cr_error(cli->diag, cr_at_file(cli->arena, cr_tensor_file_path(file)),
                 CR_E_CKPT_FORMAT, "no '%s' in its metadata",
                 cr_quote(cli->arena, key, strlen(key)));
        return;
    }
    fputs(value, stdout);
    if (*value && !cr_ends(value, "\n"))
        putchar('\n');
}

static bool ckpt_value(struct cr_cli *cli, struct cr_tensor_file *file,
                       const struct cr_tensor_info *e, struct cr_buf *json)
{
    struct cr_arena mem = { 0 };
    size_t n = e->readable ? (size_t)cr_count(&e->spec) : 0;
    void *data = cr_alloc(&mem, n + 1, sizeof(double));
    enum cr_type type = cli->json ? CR_F64 : e->spec.type;
    bool ok = e->readable;

    if (!ok)
        cr_error(cli->diag, cr_at_file(cli->arena, cr_tensor_file_path(file)),
                 CR_E_CKPT_FORMAT,
                 "'%s': cannot read values of type %s",
                 cr_escape(cli->arena, e->name), e->dtype);
    ok = ok && cr_tensor_file_read(file, cli->diag, e, type, data);
    if (ok && cli->json) {
        cr_buf_str(json, json->len > 1 ? ", " : "");
        cr_buf_json(json, e->name);
        cr_buf_str(json, ": ");
        cr_array_json(json, &e->spec, data);
    } else if (ok) {
        printf("%s: %s\n", cr_escape(cli->arena, e->name),
               cr_tensor_text(&mem, &e->spec, type, data));
    }
    cr_arena_free(&mem);
    return ok;
}

static void ckpt_show_values(struct cr_cli *cli, struct cr_tensor_file *file,
                             const char *glob)
{
    struct cr_buf json = { .arena = cli->arena };
    int n, shown = 0;
    const struct cr_tensor_info *e = cr_tensor_file_entries(file, &n);
    const char **names = CR_NEWS(cli->arena, const char *, n + 1);

    cr_buf_char(&json, '{');
    for (int i = 0; i < n; i++) {
        names[i] = e[i].name;
        if (fnmatch(glob, e[i].name, 0) != 0)
            continue;
        shown++;
        if (!ckpt_value(cli, file, &e[i], &json))
            return;
    }
    if (shown == 0) {
        cr_error(cli->diag, cr_at_file(cli->arena, cr_tensor_file_path(file)),
                 CR_E_NO_MATCH, "--values: no tensor is called '%s'",
                 cr_quote(cli->arena, glob, strlen(glob)));
        if (cr_closest_name(glob, names))
            cr_hint(cli->diag, "did you mean '%s'?",
                    cr_closest_name(glob, names));
        return;
    }
    if (cli->json)
        printf("%s}\n", cr_buf_text(&json));
}

static void ckpt_show_json(struct cr_cli *cli, struct cr_tensor_file *file)
{
    struct cr_buf to = { .arena = cli->arena };
    int n;
    const struct cr_meta *meta = cr_tensor_file_metas(file, &n);

    cr_buf_str(&to, "{\"path\": ");
    cr_buf_json(&to, cr_tensor_file_path(file));
    cr_buf_str(&to, ", \"kind\": ");
    cr_buf_json(&to, cr_tensor_file_kind(file));
    cr_buf_f(&to, ", \"bytes\": %" PRId64 ", \"metadata\": {",
             cr_tensor_file_size(file));
    for (int i = 0; i < n; i++) {
        cr_buf_str(&to, i > 0 ? ", " : "");
        cr_buf_json(&to, meta[i].key);
        cr_buf_str(&to, ": ");
        cr_buf_json(&to, meta[i].value);
    }
    cr_buf_str(&to, "}, \"tensors\": ");
    ckpt_tensors_json(cli, file, &to);
    printf("%s}\n", cr_buf_text(&to));
}

/* Prints the first values of each list in a map. */
static void ckpt_show_lists(struct cr_arena *arena, const char *what,
                            const struct cr_node *map, const char *in)
{
    for (CR_EACH(m, map)) {
        int i = 0;

        printf("%s.%s:", what, cr_escape(arena, m->key));
        for (CR_EACH(v, in ? cr_node_get(m, in) : m))
            if (i++ < 100)
                printf("%s %s", i > 1 ? "," : "",
                       v->kind == CR_NODE_STR ? cr_escape(arena, v->text)
                                              : cr_node_json(arena, v));
        printf(i > 100 ? " and %d more\n" : "\n", i - 100);
    }
}

static void ckpt_show_lines(struct cr_cli *cli, struct cr_tensor_file *file)
{
    const char *state = cr_tensor_file_meta(file, "cellrun.state"), *why;
    const struct cr_tensor_info *e;
    struct cr_node *node;
    double values = 0;
    size_t at;
    int n;
    const struct cr_meta *meta = cr_tensor_file_metas(file, &n);

    printf("path: %s\nformat: %s\nbytes: %" PRId64 "\n",
           cr_escape(cli->arena, cr_tensor_file_path(file)),
           cr_tensor_file_kind(file), cr_tensor_file_size(file));
    for (int i = 0; i < n; i++) {
        const char *value = meta[i].value;

        if (strcmp(meta[i].key, "cellrun.state") == 0 ||
            strcmp(meta[i].key, "cellrun.tensor_crc32") == 0)
            continue;
        node = cr_json_read(cli->arena, value, strlen(value), &why, &at);
        if (strcmp(meta[i].key, "cellrun.vocab") == 0)
            ckpt_show_lists(cli->arena, "vocab", node, "tokens");
        else if (strlen(value) > 100 || strchr(value, '\n'))
            printf("%s: %zu bytes (--meta %s prints it)\n",
                   cr_escape(cli->arena, meta[i].key), strlen(value),
                   cr_escape(cli->arena, meta[i].key));
        else
            printf("%s: %s\n", cr_escape(cli->arena, meta[i].key),
                   cr_escape(cli->arena, value));
    }
    node = NULL;
    if (state)
        node = cr_json_read(cli->arena, state, strlen(state), &why, &at);
    for (CR_EACH(m, node))
        if (m->key && strcmp(m->key, "fitted") == 0)
            ckpt_show_lists(cli->arena, "fitted", m, NULL);
        else if (m->key)
            printf("state.%s: %s\n", cr_escape(cli->arena, m->key),
                   m->kind == CR_NODE_STR
                       ? cr_escape(cli->arena, m->text)
                       : cr_escape(cli->arena, cr_node_json(cli->arena, m)));
    e = cr_tensor_file_entries(file, &n);
    for (int i = 0; i < n; i++)
        values += e[i].spec.rank < 0 ? 0 : (double)cr_count(&e[i].spec);
    printf("tensors: %d\nvalues: %.0f\n\n", n, values);
    ckpt_tensors(cli, file);
}

static void ckpt_show(struct cr_cli *cli, const char *path)
{
    const struct ckpt *o = cr_cli_opts(cli);
    struct cr_tensor_file *file =
        cr_tensor_file_open(cli->arena, cli->diag, path);

    if (!file)
        return;
    if (o->meta)
        ckpt_show_meta(cli, file, o->meta);
    else if (o->values)
        ckpt_show_values(cli, file, o->values);
    else if (cli->json)
        ckpt_show_json(cli, file);
    else
        ckpt_show_lines(cli, file);
    cr_tensor_file_close(file);
}

/* ---- verify */

static void ckpt_verify(struct cr_cli *cli, const char *path)
{
    struct cr_tensor_file *file =
        cr_tensor_file_open(cli->arena, cli->diag, path);
    struct cr_buf json = { .arena = cli->arena };
    bool summed;
    int n;

    if (!file)
        return;
    cr_tensor_file_entries(file, &n);
    summed = cr_tensor_file_has_checksums(file);
    if (!cr_tensor_file_verify(file, cli->diag)) {
        cr_tensor_file_close(file);
        return;
    }
    if (cli->json) {
        cr_buf_str(&json, "{\"path\": ");
        cr_buf_json(&json, cr_tensor_file_path(file));
        cr_buf_f(&json,
                 ", \"ok\": true, \"checksums\": %s, \"tensors\": %d, "
                 "\"bytes\": %" PRId64 "}",
                 summed ? "true" : "false", n, cr_tensor_file_size(file));
        puts(cr_buf_text(&json));
    } else if (!cli->quiet) {
        printf("%s: ok, %d tensors, %" PRId64 " bytes%s\n",
               cr_escape(cli->arena, cr_tensor_file_path(file)), n,
               cr_tensor_file_size(file),
               summed ? "" : " (without checksums)");
    }
    cr_tensor_file_close(file);
}

/* ---- diff */

struct ckpt_diff {
    struct cr_table table;
    struct cr_buf json;
    int differ, all;
};

static void ckpt_diff_row(struct ckpt_diff *d, const char *name,
                          const char *what, bool differs)
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

static void ckpt_diff_words(struct ckpt_diff *d, const char *name,
                            const char *what)
{
    ckpt_diff_row(d, name, what, true);
    cr_buf_char(&d->json, '}');
    cr_table_add(&d->table, name);
    cr_table_add(&d->table, what);
    cr_table_add(&d->table, "");
    cr_table_add(&d->table, "");
}

static void ckpt_diff_values(struct cr_cli *cli, struct ckpt_diff *d,
                             struct cr_tensor_file *a,
                             const struct cr_tensor_info *x,
                             struct cr_tensor_file *b,
                             const struct cr_tensor_info *y)
{
    const struct ckpt *o = cr_cli_opts(cli);
    struct cr_arena mem = { 0 };
    size_t n = (size_t)cr_count(&x->spec);
    void *p = cr_alloc(&mem, n, cr_type_size(x->spec.type));
    void *q = cr_alloc(&mem, n, cr_type_size(y->spec.type));
    struct cr_tensor_diff apart;

    if (!cr_tensor_file_read(a, cli->diag, x, x->spec.type, p) ||
        !cr_tensor_file_read(b, cli->diag, y, y->spec.type, q))
        goto done;
    cr_tensor_diff(&x->spec, p, y->spec.type, q, o->rtol, o->atol, &apart);
    ckpt_diff_row(d, x->name, NULL, apart.beyond > 0);
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

static void ckpt_diff_one(struct cr_cli *cli, struct ckpt_diff *d,
                          struct cr_tensor_file *a,
                          const struct cr_tensor_info *x,
                          struct cr_tensor_file *b)
{
    const struct cr_tensor_info *y = cr_tensor_file_find(b, x->name);
    struct cr_spec same;

    if (!y) {
        ckpt_diff_words(d, x->name, "only in the first");
        return;
    }
    same = x->spec;
    same.type = y->spec.type;
    if (x->spec.rank != y->spec.rank || !cr_spec_same(&same, &y->spec))
        ckpt_diff_words(d, x->name,
                        cr_strf(cli->arena, "shapes %s and %s",
                                ckpt_shape(cli->arena, x),
                                ckpt_shape(cli->arena, y)));
    else if (x->spec.type != y->spec.type ||
             (!x->readable && strcmp(x->dtype, y->dtype) != 0))
        ckpt_diff_words(
            d, x->name,
            cr_strf(cli->arena, "dtypes %s and %s", x->dtype, y->dtype));
    else
        ckpt_diff_values(cli, d, a, x, b, y);
}

static int ckpt_diff(struct cr_cli *cli)
{
    const char *first = cli->operands[0], *second = cli->operands[1];
    const struct ckpt *o = cr_cli_opts(cli);
    struct ckpt_diff d = {
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
        if (ckpt_matches(o, x[i].name))
            ckpt_diff_one(cli, &d, a, &x[i], b);
    for (int i = 0; i < m; i++)
        if (ckpt_matches(o, y[i].name) && !cr_tensor_file_find(a, y[i].name))
            ckpt_diff_words(&d, y[i].name, "only in the second");
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

/* ---- load-report */

static const char *ckpt_when(const void *of, const struct cr_unfreeze_rule *u)
{
    const struct cr_cli *cli = of;
    static const char *const units[] = {
        [CR_EPOCHS] = "epoch", [CR_STEPS] = "step", [CR_SAMPLES] = "sample"
    };

    if (u->at.unit >= 0 && (size_t)u->at.unit < CR_LEN(units) &&
        units[u->at.unit])
        return cr_strf(cli->arena, "%s %.10g", units[u->at.unit], u->at.value);
    return cr_strf(cli->arena, "%.10g %% of the run", u->at.value);
}

/* Reports what train would report about `load` and `freeze`. */
static int ckpt_load_report(struct cr_cli *cli)
{
    struct cr_load_report report;
    struct cr_model model;
    const char *frozen;

    if (!cr_model_operands(cli, &model))
        return cr_cli_errors(cli, NULL);
    if (!cr_section(model.config, "load"))
        cr_error(cli->diag, model.config->root->pos, CR_E_MISSING_KEY,
                 "ckpt load-report: the config has no section 'load'");
    else if (cr_model_inspect(&model, 0, true) &&
             cr_load(model.config, model.net, NULL, &report)) {
        frozen = cr_freeze_report(cli->arena, model.net, ckpt_when, cli);
        if (cli->json)
            printf("{\"loaded\": %d, \"skipped\": %d, \"missing\": %d, "
                   "\"unused\": %d}\n",
                   report.loaded, report.skipped, report.missing,
                   report.unused);
        else
            printf("%s\n%s%s", report.text, frozen, *frozen ? "\n" : "");
    }
    cr_model_close(&model);
    return 0;
}

/* ---- The command */

/* Subcommands have one of these functions. */
static const struct ckpt_sub {
    const char *name;
    int files; /* 0: any number, at least one */
    void (*run)(struct cr_cli *cli, const char *path); /* for each PATH */
    int (*run_all)(struct cr_cli *cli);
    bool (*write)(struct cr_cli *cli, const struct cr_ckpt_edit *edit,
                  const char *path);
    bool (*write_all)(struct cr_cli *cli, const struct cr_ckpt_edit *edit,
                      const char *const *paths, int n);
} ckpt_subs[] = {
    { "ls", 0, .run = ckpt_ls },
    { "show", 0, .run = ckpt_show },
    { "diff", 2, .run_all = ckpt_diff },
    { "verify", 0, .run = ckpt_verify },
    { "convert", 1, .write = cr_ckpt_convert },
    { "rename", 1, .write = cr_ckpt_convert },
    { "strip", 1, .write = cr_ckpt_strip },
    { "average", 0, .write_all = cr_ckpt_average },
    { "load-report", 0, .run_all = ckpt_load_report },
};

static const struct ckpt_sub *ckpt_find(struct cr_cli *cli, const char *name)
{
    const char **names =
        CR_NEWS(cli->arena, const char *, CR_LEN(ckpt_subs) + 1);
    struct cr_buf all = { .arena = cli->arena };
    size_t n = CR_LEN(ckpt_subs);

    for (size_t i = 0; i < n; i++) {
        names[i] = ckpt_subs[i].name;
        if (strcmp(name, names[i]) == 0)
            return &ckpt_subs[i];
        cr_buf_f(&all, "%s%s", i + 1 == n ? " or " : i > 0 ? ", " : "",
                 names[i]);
    }
    cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
             "ckpt: found '%s', expected %s",
             cr_quote(cli->arena, name, strlen(name)), cr_buf_text(&all));
    if (cr_closest_name(name, names))
        cr_hint(cli->diag, "did you mean '%s'?", cr_closest_name(name, names));
    return NULL;
}

/* Checks the number of files and the flags of a subcommand. */
static bool ckpt_usage(struct cr_cli *cli, const struct ckpt_sub *sub, int n)
{
    static const char *const many[] = { "at least one", "one", "two" };
    const struct ckpt *o = cr_cli_opts(cli);
    bool writes = sub->write || sub->write_all;
    bool renames = strcmp(sub->name, "rename") == 0;

    if (sub->files > 0 ? n != sub->files : n == 0)
        return cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
                        "ckpt %s: found %d file%s, expected %s", sub->name, n,
                        n == 1 ? "" : "s", many[sub->files]);
    if (writes != (o->edit.out != NULL))
        return cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
                        writes ? "ckpt %s: -o FILE is missing"
                               : "ckpt %s writes no file: -o is for convert, "
                                 "rename, strip and average",
                        sub->name);
    if (renames != (o->edit.rename.n > 0))
        return cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
                        renames ? "ckpt %s: --rename is missing"
                                : "ckpt %s does not take --rename: use ckpt "
                                  "rename",
                        sub->name);
    if (o->edit.match && (sub->write == cr_ckpt_strip || sub->write_all))
        return cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
                        "ckpt %s does not take --match", sub->name);
    return cr_cli_ending(cli, "-o", o->edit.out, CR_TENSORS_ENDINGS);
}

static int ckpt_run(struct cr_cli *cli)
{
    const struct ckpt *o = cr_cli_opts(cli);
    const struct ckpt_sub *sub = ckpt_find(cli, cli->operands[0]);
    struct cr_cli rest = *cli;

    if (!sub || !ckpt_usage(cli, sub, cli->n_operands - 1))
        return 0;
    rest.operands++;
    rest.operand_pos++;
    rest.n_operands--;
    if (sub->run_all)
        return sub->run_all(&rest);
    if (sub->write)
        sub->write(&rest, &o->edit, rest.operands[0]);
    if (sub->write_all)
        sub->write_all(&rest, &o->edit, rest.operands, rest.n_operands);
    for (int i = 0; sub->run && i < rest.n_operands; i++)
        sub->run(&rest, rest.operands[i]);
    return 0;
}

const struct cr_command cr_command_ckpt = {
    .about = {
        .name = "ckpt",
        .summary = "Inspect, compare, convert and average checkpoints.",
        .detail =
            "ls lists the checkpoints of a run directory, or the tensors of "
            "a file. show also prints the metadata. verify reads every byte "
            "and checks every checksum (exit 4). diff prints the largest "
            "difference of every tensor that differs between two files (exit "
            "6 if one exceeds the tolerances). convert writes the tensors to "
            "a file of another format; a MindSpore .ckpt also gets the "
            "values from which MindSpore's optimizer continues (global_step, "
            "beta1_power). That format does not store requires_grad: "
            "load_checkpoint sets it to True for all tensors of any file, "
            "and load_param_into_net does not change it in the network. "
            "rename is a convert that also renames: its result has no config, "
            "because that describes the network with the old names; give one "
            "with eval FILE.yaml --ckpt, or use `load`. strip keeps the "
            "weights, and what eval and predict need (config, vocabularies, "
            "fitted values), and drops optimizer slots: the result is that of "
            "checkpoint.weights_only. average writes such a checkpoint with "
            "the arithmetic mean of the weights of all files, computed in "
            "double (stochastic weight averaging, Izmailov et al. 2018). "
            "Moving statistics of BatchNorm are averaged too. Config and "
            "tensors of integers come from the first file; results of "
            "evaluations are dropped, with them the chosen threshold "
            "best_threshold. What is a weight follows from the network of the "
            "config; in files without one, from the names of the slots of "
            "MindSpore's optimizers. "
            "load-report reads a config and reports what its `load` and "
            "`freeze` do. A checkpoint is a file, a run directory (its best "
            "checkpoint, else its last) or a file name without suffix; "
            "safetensors, NPZ and MindSpore's .ckpt files are accepted, too.",
        .example = "cellrun ckpt ls runs/digits\n"
                   "cellrun ckpt show runs/digits --meta cellrun.config\n"
                   "cellrun ckpt show runs/digits --values '*.bias'\n"
                   "cellrun ckpt convert runs/digits -o digits.npz\n"
                   "cellrun ckpt diff runs/digits digits.npz --atol 1e-6\n"
                   "cellrun ckpt average runs/digits/ckpt/digits-*.safetensors "
                   "-o mean.safetensors\n"
                   "cellrun ckpt strip runs/digits -o small.safetensors\n"
                   "cellrun ckpt rename runs/digits --rename "
                   "'^body=net' -o net.safetensors\n"
                   "cellrun ckpt load-report digits.yaml load=digits.npz\n",
        .opts = ckpt_opts,
        .size = sizeof(struct ckpt),
    },
    .usage = "ls|show|verify PATH... | diff PATH PATH | convert|strip PATH -o "
             "FILE | rename PATH --rename RULE -o FILE | average PATH... -o "
             "FILE | load-report FILE... [key=value...]",
    .min_operands = 1,
    .max_operands = -1,
    .takes_config = true,
    .config_after = "load-report",
    .run = ckpt_run,
};
