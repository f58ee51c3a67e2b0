/* ckpt show: metadata, tensors and values of a file. */
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>

#include "base/table.h"
#include "ckpt/json.h"
#include "ckpts/ckpts.h"
#include "num/array_text.h"

static void show_meta(struct cr_cli *cli, struct cr_tensor_file *file,
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

static bool show_value(struct cr_cli *cli, struct cr_tensor_file *file,
                       const struct cr_tensor_info *e, struct cr_buf *json)
{
    struct cr_arena mem = { 0 };
    size_t n = e->readable ? (size_t)cr_count(&e->spec) : 0;
    void *data = cr_alloc(&mem, n + 1, sizeof(double));
    enum cr_type type = cli->json ? CR_F64 : e->spec.type;
    bool ok = e->readable;

    if (!ok)
        cr_error(cli->diag, cr_at_file(cli->arena, cr_tensor_file_path(file)),
                 CR_E_CKPT_FORMAT, "'%s': cannot read values of type %s",
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

static void show_values(struct cr_cli *cli, struct cr_tensor_file *file,
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
        if (!show_value(cli, file, &e[i], &json))
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

static void show_json(struct cr_cli *cli, struct cr_tensor_file *file)
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
    cr_ckpts_tensors_json(cli, file, &to);
    printf("%s}\n", cr_buf_text(&to));
}

/* Prints the first values of each list in a map. */
static void show_lists(struct cr_arena *arena, const char *what,
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

static void show_lines(struct cr_cli *cli, struct cr_tensor_file *file)
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
            show_lists(cli->arena, "vocab", node, "tokens");
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
            show_lists(cli->arena, "fitted", m, NULL);
        else if (m->key)
            printf("state.%s: %s\n", cr_escape(cli->arena, m->key),
                   m->kind == CR_NODE_STR
                       ? cr_escape(cli->arena, m->text)
                       : cr_escape(cli->arena, cr_node_json(cli->arena, m)));
    e = cr_tensor_file_entries(file, &n);
    for (int i = 0; i < n; i++)
        values += e[i].spec.rank < 0 ? 0 : (double)cr_count(&e[i].spec);
    printf("tensors: %d\nvalues: %.0f\n\n", n, values);
    cr_ckpts_tensors(cli, file);
}

static void show_run(struct cr_cli *cli, const char *path)
{
    const struct cr_ckpts_opts *o = cr_cli_opts(cli);
    struct cr_tensor_file *file =
        cr_tensor_file_open(cli->arena, cli->diag, path);

    if (!file)
        return;
    if (o->meta)
        show_meta(cli, file, o->meta);
    else if (o->values)
        show_values(cli, file, o->values);
    else if (cli->json)
        show_json(cli, file);
    else
        show_lines(cli, file);
    cr_tensor_file_close(file);
}

const struct cr_ckpts_sub cr_ckpts_sub_show = { .name = "show",
                                                .run = show_run };
