/*
 * Every vector in tests/golden/ms/data, of ops that scikit-learn has in
 * tests/golden/sk (make_tables.py), and of others in
 * tests/cases/transforms, to the last bit, or where it has `near`
 * (float32 only) to that: `op`, one transform
 * or a list of them, `in` and `out` with type, shape and values, as MindSpore
 * gave them (tests/golden/make_data.py); `samples`, values of training samples
 * that the op learns from; `any` in place of `out`: all results of a random op,
 * one below the other, of which each draw must give one, and all draws all.
 * Each is run op by op and, where that
 * is possible, fused into tables. A transform of the registry that no vector
 * names is a failure.
 */
#include "case.h"
#include "conf.h"
#include "data/column_pipeline.h"

#include <dirent.h>

#define FOLDER "tests/golden/ms/data"
#define TABLES "tests/golden/sk"
#define OWN "tests/cases/transforms"

static const char *used[256];
static int n_used;

static void *numbers_of(struct cr_arena *mem, const struct cr_node *values,
                        const struct cr_spec *spec)
{
    size_t size = cr_type_size(spec->type);
    char *data = cr_alloc(mem, cr_bytes(spec) + 8, 1);
    int64_t i = 0;

    for (CR_EACH(v, values)) {
        double x = v->kind == CR_NODE_BOOL ? v->boolean : v->real;

        if (i < cr_count(spec))
            cr_convert(CR_F64, &x, spec->type, data + (size_t)i * size, 1);
        i++;
    }
    ok(i == cr_count(spec), "%s: the number of values is that of its shape",
       cr_diag_format(mem, spec));
    return data;
}

static void *values_of(struct cr_arena *mem, const struct cr_node *node,
                       struct cr_spec *spec)
{
    if (!case_shape(node, 1, spec))
        return NULL;
    if (spec->type == CR_REAL)
        spec->type = CR_F32;
    return numbers_of(mem, cr_node_get(node, "values"), spec);
}

/* What the ops learn from samples of the same form as x. */
static void learn(const struct cr_column_pipeline *c,
                  const struct cr_node *samples, const struct cr_spec *in)
{
    struct cr_diag diag = { .arena = &conf_mem };
    char *room = cr_alloc(&conf_mem, c->scratch_bytes + 64, 1);
    int op;

    while ((op = cr_column_pipeline_unfitted(c)) >= 0) {
        for (CR_EACH(m, samples))
            ok(cr_column_pipeline_fit(c, &diag, op, 0,
                                      numbers_of(&conf_mem, m, in), room),
               "a sample to learn from");
        cr_column_pipeline_fit_end(c, op, true);
    }
}

static bool is_used(const char *name)
{
    int i;

    for (i = 0; i < n_used; i++)
        if (strcmp(used[i], name) == 0)
            return true;
    return false;
}

static void name_ops(const struct cr_node *ops)
{
    for (CR_EACH(m, ops)) {
        const struct cr_node *args;
        const char *name = cr_node_type(m, &args);

        if (n_used < (int)CR_LEN(used) && !is_used(name))
            used[n_used++] = name;
    }
}

/* How far two values are from each other; a NaN is far from all numbers. */
static double off(float a, float b)
{
    return isnan(a) && isnan(b) ? 0
           : isnan(a - b)       ? INFINITY
                                : fabs((double)a - (double)b);
}

static void compare(const char *name, const struct cr_column_pipeline *c,
                    const struct cr_spec *want_spec, const void *want,
                    const void *x, double near, struct cr_diag *diag)
{
    char *got = cr_alloc(&conf_mem, cr_bytes(&c->out) + 8, 1);
    void *room = cr_alloc(&conf_mem, c->scratch_bytes + 64, 1);
    enum cr_type type = c->out.type == CR_REAL ? want_spec->type
                                               : c->out.type;
    struct cr_spec out = c->out;
    char *turned;

    out.type = want_spec->type;
    if (!ok(cr_spec_same(&out, want_spec), "%s: shape", name) ||
        !ok(cr_column_pipeline_run(c, diag, 0, 0, x, got, room), "%s: runs",
            name)) {
        cr_diag_print(diag, stdout, (struct cr_diag_format){ 0 });
        return;
    }
    /* the network's type back to the vector's: exact */
    turned = cr_alloc(&conf_mem, cr_bytes(want_spec) + 8, 1);
    if (c->out.type == CR_REAL && type == CR_F64) {
        cr_real *w = CR_NEWS(&conf_mem, cr_real, cr_count(want_spec) + 1);

        cr_convert(CR_F64, want, CR_REAL, w, cr_count(want_spec));
        ok(case_near(name, (cr_real *)(void *)got, w, cr_count(want_spec), 0),
           "%s: values", name);
        return;
    }
    cr_convert(c->out.type, got, want_spec->type, turned,
               cr_count(want_spec));
    ok(c->out.type == CR_REAL || c->out.type == want_spec->type,
       "%s: type %s", name, cr_type_name(c->out.type));
    if (near > 0) {
        double far = 0;
        int64_t i;

        for (i = 0; i < cr_count(want_spec); i++)
            far = fmax(far, off(((float *)(void *)turned)[i],
                                ((const float *)want)[i]));
        ok(want_spec->type == CR_F32 && far <= near, "%s: values, off by %g",
           name, far);
        return;
    }
    ok(memcmp(turned, want, cr_bytes(want_spec)) == 0, "%s: values", name);
}

#define DRAWS 60000

/* Each epoch gives one of the results in `any`, and all of them appear. */
static void compare_any(const char *name, const struct cr_column_pipeline *c,
                        const struct cr_node *any, const void *x,
                        struct cr_diag *diag)
{
    size_t one = cr_bytes(&c->out);
    char *got = cr_alloc(&conf_mem, one + 8, 1);
    void *room = cr_alloc(&conf_mem, c->scratch_bytes + 64, 1);
    struct cr_spec spec;
    const char *want = values_of(&conf_mem, any, &spec);
    int64_t i, k, n = spec.dim[0], seen = 0, other = 0;
    bool *met = CR_NEWS(&conf_mem, bool, n);

    if (!ok(want && spec.type == c->out.type &&
                cr_bytes(&spec) == one * (size_t)n,
            "%s: shape", name))
        return;
    for (i = 0; i < DRAWS && (i < 5000 || seen < n); i++) {
        if (!cr_column_pipeline_run(c, diag, i, 0, x, got, room))
            break;
        for (k = 0; k < n && memcmp(got, want + (size_t)k * one, one); k++)
            ;
        if (k == n)
            other++;
        else if (!met[k])
            seen += met[k] = true;
    }
    ok(other == 0, "%s: %d results are none of MindSpore's", name, (int)other);
    ok(seen == n, "%s: %d of %d results", name, (int)seen, (int)n);
}

static void run(const char *folder, const char *file)
{
    const char *path = cr_strf(&conf_mem, "%s/%s", folder, file);
    struct cr_diag diag = { .arena = &conf_mem };
    struct cr_spec in, out;
    struct cr_config *config;
    const struct cr_node *near, *any;
    struct cr_node *ops;
    const void *x, *want;
    const char *text;
    int fuse;
    size_t len;

    text = cr_read_file(&conf_mem, &diag, CR_NOWHERE, path, CR_E_SYSTEM,
                        CR_TEXT_MAX, &len);
    if (!ok(text, "%s is there", path))
        return;
    /* under a key of its own the text is no config; `vars` takes anything */
    config = conf_load(&diag, text, NULL);
    if (!ok(config && config->root, "%s is YAML", path)) {
        cr_diag_print(&diag, stdout, (struct cr_diag_format){ 0 });
        return;
    }
    diag = (struct cr_diag){ .arena = &conf_mem };
    config->diag = &diag;
    ops = cr_node_get(config->root, "op");
    if (ops->kind != CR_NODE_LIST) {
        struct cr_node *list = CR_NEW(&conf_mem, struct cr_node);

        list->kind = CR_NODE_LIST;
        list->pos = ops->pos;
        list->child = cr_node_copy(&conf_mem, ops);
        list->child->key = NULL;
        list->child->next = NULL;
        ops = list;
    }
    name_ops(ops);
    near = cr_node_get(config->root, "near");
    x = values_of(&conf_mem, cr_node_get(config->root, "in"), &in);
    any = cr_node_get(config->root, "any");
    want = any ? x
               : values_of(&conf_mem, cr_node_get(config->root, "out"), &out);
    for (fuse = 0; fuse < 2 && x && want; fuse++) {
        struct cr_column_pipeline *c =
            cr_column_pipeline_make(config, "x", ops, &in, true, fuse, 1);

        if (!ok(c, "%s is planned", file)) {
            cr_diag_print(&diag, stdout, (struct cr_diag_format){ 0 });
            return;
        }
        learn(c, cr_node_get(config->root, "samples"), &in);
        if (fuse && (!c->fused || any))
            continue;
        if (any) {
            compare_any(file, c, any, x, &diag);
            continue;
        }
        compare(cr_strf(&conf_mem, "%s%s", file, fuse ? ", fused" : ""), c,
                &out, want, x, near ? near->real : 0, &diag);
    }
}

/* ---- what no vector has */

static struct cr_config *config_of(struct cr_diag *diag, const char *ops)
{
    struct cr_config *config =
        conf_load(diag, cr_strf(&conf_mem, "datapipe: {x: %s}\n", ops), NULL);

    config->diag = diag;
    return config;
}

static struct cr_column_pipeline *loader_of(struct cr_diag *diag,
                                            const char *ops,
                                            const struct cr_spec *in, bool fuse)
{
    struct cr_config *config = config_of(diag, ops);

    return cr_column_pipeline_make(
        config, "x", cr_node_get(cr_section(config, "datapipe"), "x"), in, true,
        fuse, 1);
}

/* Every op that tells channels apart may split each table. */
static void tables(void)
{
    static const char ops[] =
        "[{Normalize: {mean: [1, 2, 3], std: [4, 5, 6]}}, HWC2CHW, "
        "{Normalize: {mean: [7, 0, 2, 9], std: [3, 4, 3, 5]}}]";
    struct cr_spec in = { CR_U8, CR_ROW_MAJOR, 3, { 2, 4, 3 } };
    struct cr_diag diag = { .arena = &conf_mem };
    unsigned char x[24];
    cr_real y[2][24];
    int fuse, i;

    for (i = 0; i < 24; i++)
        x[i] = (unsigned char)(37 * i + 11);
    for (fuse = 0; fuse < 2; fuse++) {
        struct cr_column_pipeline *c = loader_of(&diag, ops, &in, fuse);

        if (!ok(c && c->fused == fuse, "%s", fuse ? "fused" : "op by op") ||
            !ok(cr_column_pipeline_run(
                    c, &diag, 0, 0, x, y[fuse],
                    cr_alloc(&conf_mem, 1, c->scratch_bytes + 64)),
                "two ops with channels run"))
            return;
        if (fuse)
            ok(c->classes == 12, "3 channels by 4 are 12 tables");
    }
    ok(memcmp(y[0], y[1], sizeof y[0]) == 0, "tables give the same bits");
    in.dim[1] = 6;
    ok(!loader_of(&diag,
                  "[{Normalize: {mean: [1, 2, 3], std: [4, 5, 6]}}, "
                  "HWC2CHW, {Normalize: {mean: [1, 2, 3, 4, 5, 6], std: "
                  "[1, 1, 1, 1, 1, 1]}}]",
                  &in, true)
            ->fused,
       "18 would be too many");
}

static void too_large(const char *ops, const struct cr_spec *in)
{
    struct cr_diag diag = { .arena = &conf_mem };

    ok(!loader_of(&diag, ops, in, true) && diag.errors == 1 &&
           strstr(diag.first->text, "is too large"),
       "%s of %s is too large", ops, cr_diag_format(&conf_mem, in));
}

static void sizes(void)
{
    struct cr_spec wide = { CR_U8, CR_ROW_MAJOR, 3, { 1, 40000, 1 } };
    struct cr_spec labels = { CR_I32, CR_ROW_MAJOR, 1, { 1 << 20 } };
    struct cr_spec none = { CR_U8, CR_ROW_MAJOR, 3, { 3, 3, 0 } };
    struct cr_spec photo = { CR_U8, CR_ROW_MAJOR, 3, { 16384, 4096, 1 } }, out;
    struct cr_diag diag = { .arena = &conf_mem };
    struct cr_config *config;
    size_t before;

    too_large("[{Resize: {size: [65536]}}]", &wide);
    too_large("[{OneHot: {num_classes: 2147483648}}]", &labels);
    ok(loader_of(&diag, "[{Rescale: [2, 0]}, HWC2CHW]", &none, true),
       "an image without channels is planned");
    config = config_of(&diag, "[{Rescale: [2, 0]}, HWC2CHW]");
    before = conf_mem.total;
    ok(cr_column_pipeline_plan(config, "x", &photo, NULL, false, &out) &&
           conf_mem.total - before < 1 << 20,
       "a plan for 64 Mi pixels takes no memory for them");
}

static void run_all(const char *folder)
{
    struct dirent **files;
    int i, n = scandir(folder, &files, NULL, alphasort);

    test_begin("%s has files", folder);
    ok(n > 2, "%d", n);
    for (i = 0; i < n; i++) {
        if (cr_ends(files[i]->d_name, ".yaml"))
        {
            test_begin("%s, op by op and fused", files[i]->d_name);
            run(folder, files[i]->d_name);
        }
        free(files[i]);
    }
    free(files);
}

int main(void)
{
    const struct cr_descriptor *const *list =
        cr_registry_list(CR_KIND_TRANSFORM);
    int i;

    run_all(FOLDER);
    run_all(TABLES);
    run_all(OWN);
    test_begin("tables of transforms that distinguish channels");
    tables();
    test_begin("what is too large is refused");
    sizes();
    test_begin("every transform has a vector, or works on batches (t_augment), "
               "or on texts (t_tokenizers) or categories (table.bats)");
    for (i = 0; list[i]; i++)
        ok(is_used(list[i]->name) ||
               strcmp(list[i]->name, "CategoryIndex") == 0 ||
               ((const struct cr_transform *)list[i])->mix ||
               ((const struct cr_transform *)list[i])->ragged,
           "%s", list[i]->name);
    cr_arena_free(&conf_mem);
    return done();
}
