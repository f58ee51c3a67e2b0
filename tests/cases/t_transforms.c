/*
 * Every vector in tests/golden/ms/data, to the last bit: `op`, one transform
 * or a list of them, `in` and `out` with type, shape and values, as MindSpore
 * gave them (tests/golden/make_data.py). Each is run op by op and, where that
 * is possible, fused into tables. A transform of the registry that no vector
 * names is a failure.
 */
#include "case.h"
#include "conf.h"
#include "data/column.h"

#include <dirent.h>

#define FOLDER "tests/golden/ms/data"

static const char *used[256];
static int n_used;

static void *values_of(struct cr_arena *mem, const struct cr_node *node,
                       struct cr_spec *spec)
{
    const struct cr_node *values = cr_node_get(node, "values");
    size_t size;
    int64_t i = 0;
    char *data;

    if (!case_shape(node, 1, spec))
        return NULL;
    if (spec->type == CR_REAL)
        spec->type = CR_F32;
    size = cr_type_size(spec->type);
    data = cr_alloc(mem, cr_bytes(spec) + 8, 1);
    for (CR_EACH(v, values)) {
        double x = v->kind == CR_NODE_BOOL ? v->boolean : v->real;

        cr_convert(CR_F64, &x, spec->type, data + (size_t)i++ * size, 1);
    }
    ok(i == cr_count(spec), "%s: as many values as its shape has",
       cr_show(mem, spec));
    return data;
}

static void name_ops(const struct cr_node *ops)
{
    for (CR_EACH(m, ops)) {
        const struct cr_node *args;

        used[n_used++ % 256] = cr_node_type(m, &args);
    }
}

static void compare(const char *name, const struct cr_colpipe *c,
                    const struct cr_spec *want_spec, const void *want,
                    const void *x, struct cr_diag *diag)
{
    char *got = cr_alloc(&conf_mem, cr_bytes(&c->out) + 8, 1);
    void *room = cr_alloc(&conf_mem, c->room + 64, 1);
    enum cr_type type = c->out.type == CR_REAL ? want_spec->type
                                               : c->out.type;
    struct cr_spec out = c->out;
    char *turned;

    out.type = want_spec->type;
    if (!ok(cr_spec_same(&out, want_spec), "%s: shape", name) ||
        !ok(cr_colpipe_run(c, diag, 0, 0, x, got, room), "%s: runs", name)) {
        cr_diag_print(diag, stdout, (struct cr_show){ 0 });
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
    ok(memcmp(turned, want, cr_bytes(want_spec)) == 0, "%s: values", name);
}

static void run(const char *file)
{
    const char *path = cr_strf(&conf_mem, FOLDER "/%s", file);
    struct cr_diag diag = { .arena = &conf_mem };
    struct cr_spec in, out;
    struct cr_config *config;
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
        cr_diag_print(&diag, stdout, (struct cr_show){ 0 });
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
    x = values_of(&conf_mem, cr_node_get(config->root, "in"), &in);
    want = values_of(&conf_mem, cr_node_get(config->root, "out"), &out);
    for (fuse = 0; fuse < 2 && x && want; fuse++) {
        struct cr_colpipe *c =
            cr_colpipe_make(config, "x", ops, &in, true, fuse, 1);

        if (!ok(c, "%s is planned", file)) {
            cr_diag_print(&diag, stdout, (struct cr_show){ 0 });
            return;
        }
        if (fuse && !c->fused)
            continue;
        compare(cr_strf(&conf_mem, "%s%s", file, fuse ? ", fused" : ""), c,
                &out, want, x, &diag);
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

int main(void)
{
    const struct cr_about *const *list = cr_list(CR_KIND_TRANSFORM);
    struct dirent **files;
    int i, n = scandir(FOLDER, &files, NULL, alphasort);

    ok(n > 2, FOLDER " has files");
    for (i = 0; i < n; i++) {
        if (cr_ends(files[i]->d_name, ".yaml"))
            run(files[i]->d_name);
        free(files[i]);
    }
    free(files);
    for (i = 0; list[i]; i++)
        ok(is_used(list[i]->name), "%s has a vector", list[i]->name);
    cr_arena_free(&conf_mem);
    return done();
}
