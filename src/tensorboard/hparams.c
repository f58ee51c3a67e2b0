/*
 * The settings of a run for the HParams plugin, as one flat map. A setting has
 * the name that an assignment on the command line takes: types are omitted, a
 * type is the value of its key (optimizer: SGD). TensorBoard finds
 * the metrics itself, among the scalars of the run.
 */
#include "tensorboard/summary.h"

#include <string.h>

enum { SETTINGS_MAX = 1000 };

struct settings {
    struct cr_arena *arena;
    struct cr_tb_hparam *all[SETTINGS_MAX];
    size_t n;
};

static void settings_add(struct settings *s, const char *name,
                         const struct cr_node *node, const char *text)
{
    struct cr_tb_hparam *to;

    if (s->n == SETTINGS_MAX)
        return;
    s->all[s->n++] = to = CR_NEW(s->arena, struct cr_tb_hparam);
    *to = (struct cr_tb_hparam)CR_TB(hparam);
    to->key = cr_tb_text(name);
    to->value = CR_NEW(s->arena, struct cr_tb_any);
    *to->value = (struct cr_tb_any)CR_TB(any);
    if (node->kind == CR_NODE_BOOL) {
        to->value->has_boolean = true;
        to->value->boolean = node->boolean;
    } else if (node->kind == CR_NODE_INT || node->kind == CR_NODE_REAL) {
        to->value->has_number = true;
        to->value->number = node->real;
    } else {
        to->value->has_string = true;
        to->value->string = cr_tb_text(text);
    }
}

static void settings_walk(struct settings *s, const char *name,
                          const struct cr_node *node);

static void settings_members(struct settings *s, const char *name,
                             const struct cr_node *node)
{
    int i = 0;

    for (CR_EACH(m, node)) {
        const char *dot = *name ? "." : "";

        settings_walk(s,
                      m->key ? cr_strf(s->arena, "%s%s%s", name, dot, m->key)
                             : cr_strf(s->arena, "%s%s%d", name, dot, i),
                      m);
        i++;
    }
}

static bool settings_flat(const struct cr_node *list)
{
    for (CR_EACH(m, list))
        if (m->child)
            return false;
    return true;
}

static void settings_walk(struct settings *s, const char *name,
                          const struct cr_node *node)
{
    const struct cr_node *args;
    const char *type = node->kind == CR_NODE_MAP ? cr_node_type(node, &args)
                                                 : NULL;

    if (type) {
        struct cr_node of = { .kind = CR_NODE_STR };

        settings_add(s, name, &of, type);
        if (args && args->kind != CR_NODE_NULL) {
            if (args->kind == CR_NODE_MAP || args->kind == CR_NODE_LIST)
                settings_members(s, name, args);
            else
                settings_add(s, cr_strf(s->arena, "%s.0", name), args,
                             args->text);
        }
    } else if (node->kind == CR_NODE_LIST && settings_flat(node)) {
        settings_add(s, name, node, cr_node_flow(s->arena, node));
    } else if (node->child) {
        settings_members(s, name, node);
    } else if (node->kind != CR_NODE_NULL && node->text) {
        settings_add(s, name, node, node->text);
    }
}

static void hparams_put(struct cr_tensorboard *tb,
                        const struct cr_tb_record *at, const char *tag,
                        const struct cr_tb_hparams *hparams)
{
    struct cr_tb_plugin plugin = CR_TB(plugin);
    struct cr_tb_metadata metadata = CR_TB(metadata);
    struct cr_tb_tensor none = CR_TB(tensor);

    plugin.name = cr_tb_text("hparams");
    plugin.content = cr_tb_pack(at->arena, &hparams->base);
    metadata.plugin = &plugin;
    metadata.data_class = CR_TB_TENSORS;
    none.dtype = CR_TB_FLOAT;
    none.shape = cr_tb_shape_of(at->arena, 1, (const int64_t[]){ 0 });
    cr_tb_put(tb, at, tag, &metadata, &none);
}

void cr_tb_settings(struct cr_tensorboard *tb, const struct cr_tb_record *at,
                    const struct cr_node *config)
{
    static const char *const others[] = { "cellrun", "run", "log" };
    struct cr_tb_hparams_start start = CR_TB(hparams_start);
    struct cr_tb_hparams hparams = CR_TB(hparams);
    struct settings *s = CR_NEW(at->arena, struct settings);

    s->arena = at->arena;
    for (CR_EACH(section, config)) {
        bool other = false;

        for (size_t i = 0; i < CR_LEN(others); i++)
            other = other || strcmp(section->key, others[i]) == 0;
        if (!other)
            settings_walk(s, section->key, section);
    }
    start.n_hparams = s->n;
    start.hparams = s->all;
    start.time = at->time;
    hparams.start = &start;
    hparams_put(tb, at, "_hparams_/session_start_info", &hparams);
}

void cr_tb_ended(struct cr_tensorboard *tb, const struct cr_tb_record *at,
                 bool success)
{
    struct cr_tb_hparams_end end = CR_TB(hparams_end);
    struct cr_tb_hparams hparams = CR_TB(hparams);

    end.status = success ? CR_TB_SUCCESS : CR_TB_FAILURE;
    end.time = at->time;
    hparams.end = &end;
    hparams_put(tb, at, "_hparams_/session_end_info", &hparams);
}
