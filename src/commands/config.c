/*
 * config: prints the resolved config, or a part of it, as a run would use it;
 * with --origin also the source of each value.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "chart/chart.h"
#include "conf/command_line.h"
#include "train/lr_curve.h"

struct config {
    bool origin, full, minimal;
    const char *get, *diff, *plot, *out;
};

static const struct cr_opt config_opts[] = {
    CR_BOOL_DEFAULT(struct config, origin, false,
                    "Append the origin of each value as a comment."),
    CR_BOOL_DEFAULT(struct config, full, false,
                    "Include all defaults."),
    CR_BOOL_DEFAULT(struct config, minimal, false,
                    "Omit values that equal their defaults."),
    CR_STR_OPTIONAL(struct config, get,
                    "Print only the value of this key (train.epochs), or its "
                    "default.",
                    .text = "KEY"),
    CR_STR_OPTIONAL(struct config, diff,
                    "Print the differences from this config, key by key.",
                    .text = "FILE"),
    CR_STR_OPTIONAL(
        struct config, plot,
        "Plot a curve over the steps of a run: lr, the learning rates.",
        .text = "lr"),
    CR_STR_OPTIONAL(
        struct config, out,
        "With --plot: the file to write, as SVG; - is standard output.",
        .flag = 'o', .text = "FILE"),
    { 0 },
};

/* The config with all defaults filled in. */
static struct cr_node *config_full(struct cr_config *config)
{
    struct cr_config_from from = {
        .text = cr_config_yaml(config, false, true),
        .text_name = "full config",
        .text_dir = config->dir,
        .closed = true,
    };

    return cr_config_load(config->arena, config->diag, &from)->root;
}

/* ---- --minimal ---------------------------------------------------------- */

static bool config_is_default(struct cr_arena *arena, const struct cr_opt *row,
                              const struct cr_node *node)
{
    const char *preset = cr_opt_default(arena, row);
    struct cr_quantity a, b;

    if (!preset || !node->text)
        return false;
    if (row->type == CR_OPT_INT)
        return node->kind == CR_NODE_INT && node->integer == row->int_default;
    if (row->type == CR_OPT_REAL)
        return (node->kind == CR_NODE_INT || node->kind == CR_NODE_REAL) &&
               node->real == row->real_default;
    if (row->type == CR_OPT_QUANTITY) {
        enum cr_unit unit = (enum cr_unit)row->int_default;

        return cr_quantity_parse(preset, unit, &a) &&
               cr_quantity_parse(node->text, unit, &b) && a.unit == b.unit &&
               a.value == b.value;
    }
    return strcmp(node->text, preset) == 0;
}

static void config_minimal(struct cr_arena *arena, const struct cr_opt *rows,
                           struct cr_node *map)
{
    struct cr_node **at = &map->child;

    if (map->kind != CR_NODE_MAP)
        return;
    while (*at) {
        struct cr_node *node = *at;
        const struct cr_opt *row = rows;
        bool gone;

        while (row && row->name && strcmp(row->name, node->key) != 0)
            row++;
        gone = row && row->name && config_is_default(arena, row, node);
        if (row && row->name && row->type == CR_OPT_SUB) {
            config_minimal(arena, row->sub, node);
            gone = node->kind == CR_NODE_MAP && !node->child;
        }
        if (gone)
            *at = node->next;
        else
            at = &node->next;
    }
}

/* Removes defaults from sections, and from the types directly in them. */
static void config_minimal_root(struct cr_arena *arena, struct cr_node *root)
{
    for (struct cr_node *section = root->child; section;
         section = section->next) {
        const struct cr_descriptor *about =
            cr_registry_find(CR_KIND_SECTION, section->key);
        const struct cr_node *args;
        const char *type = cr_node_type(section, &args);

        if (about)
            config_minimal(arena, about->opts, section);
        for (int k = 0; type && args && k < CR_KIND_SECTION; k++) {
            about = cr_registry_find((enum cr_kind)k, type);
            if (about && k != CR_KIND_OP)
                config_minimal(arena, about->opts, cr_node_get(section, type));
        }
    }
}

/* ---- --diff ------------------------------------------------------------- */

/* Every scalar, and every list that holds only scalars, is a leaf. */
static bool config_is_leaf(const struct cr_node *node)
{
    if (node->kind != CR_NODE_MAP && node->kind != CR_NODE_LIST)
        return true;
    for (CR_EACH(m, node))
        if (node->kind == CR_NODE_MAP || m->kind == CR_NODE_MAP ||
            m->kind == CR_NODE_LIST)
            return false;
    return true;
}

struct leaves {
    struct cr_arena *arena;
    int n, cap;
    struct leaf {
        const char *path, *text;
    } * v;
};

static void config_leaves(struct leaves *to, const char *path,
                          const struct cr_node *node)
{
    int i = 0;

    if (config_is_leaf(node)) {
        if (to->n == to->cap) {
            to->cap = to->cap ? 2 * to->cap : 64;
            to->v = cr_grow(to->arena, to->v, (size_t)to->n, (size_t)to->cap,
                            sizeof *to->v);
        }
        to->v[to->n++] = (struct leaf){ path, cr_node_flow(to->arena, node) };
        return;
    }
    for (CR_EACH(m, node)) {
        const char *name = m->key ? m->key : cr_strf(to->arena, "%d", i);

        config_leaves(
            to, *path ? cr_strf(to->arena, "%s.%s", path, name) : name, m);
        i++;
    }
}

static const char *config_leaf(const struct leaves *in, const char *path)
{
    for (int i = 0; i < in->n; i++)
        if (strcmp(in->v[i].path, path) == 0)
            return in->v[i].text;
    return NULL;
}

static void config_changed(struct cr_buf *buf, bool json, const char *path,
                           const char *old, const char *new)
{
    if (!json) {
        if (old)
            cr_buf_f(buf, "- %s: %s\n", path, old);
        if (new)
            cr_buf_f(buf, "+ %s: %s\n", path, new);
        return;
    }
    cr_buf_str(buf, buf->len > 1 ? ",\n {\"key\": " : "\n {\"key\": ");
    cr_buf_json(buf, path);
    if (old) {
        cr_buf_str(buf, ", \"other\": ");
        cr_buf_json(buf, old);
    }
    if (new) {
        cr_buf_str(buf, ", \"this\": ");
        cr_buf_json(buf, new);
    }
    cr_buf_char(buf, '}');
}

static void config_diff(struct cr_buf *buf, bool json,
                        const struct cr_node *other, const struct cr_node *this)
{
    struct leaves a = { .arena = buf->arena }, b = a;

    config_leaves(&a, "", other);
    config_leaves(&b, "", this);
    if (json)
        cr_buf_char(buf, '[');
    for (int i = 0; i < a.n; i++) {
        const char *new = config_leaf(&b, a.v[i].path);

        if (!new || strcmp(new, a.v[i].text) != 0)
            config_changed(buf, json, a.v[i].path, a.v[i].text, new);
    }
    for (int i = 0; i < b.n; i++)
        if (!config_leaf(&a, b.v[i].path))
            config_changed(buf, json, b.v[i].path, NULL, b.v[i].text);
    if (json)
        cr_buf_str(buf, "\n]\n");
}

/* ---- --plot ------------------------------------------------------------- */

static void config_plot_json(struct cr_buf *buf, const struct cr_lr_curves *r)
{
    cr_buf_f(buf,
             "{\"steps\": %" PRId64 ", \"steps_per_epoch\": ", r->run.total);
    cr_buf_str(buf, r->run.per_epoch > 0
                        ? cr_real_text(buf->arena, r->run.per_epoch)
                        : "null");
    cr_buf_f(buf, ", \"every\": %" PRId64 ", \"curves\": [", r->stride);
    for (int c = 0; c < r->n_curves; c++) {
        cr_buf_str(buf, c ? ",\n {\"name\": " : "\n {\"name\": ");
        cr_buf_json(buf, r->curve[c].name);
        cr_buf_str(buf, ", \"lr\": [");
        for (int64_t i = 0; i < r->n; i++)
            cr_buf_f(buf, "%s%s", i ? ", " : "",
                     cr_real_text(buf->arena, r->curve[c].y[i]));
        cr_buf_str(buf, "]}");
    }
    cr_buf_str(buf, "\n]}\n");
}

/* The curves as SVG over steps and, if their length is known, epochs. */
static void config_plot_svg(struct cr_buf *to, const struct cr_lr_curves *r)
{
    struct cr_chart chart = { .arena = to->arena,
                              .title = "Learning rate",
                              .x = { .label = "steps" },
                              .y = { .from_zero = true },
                              .file = true };
    struct cr_chart_curve *curve =
        CR_NEWS(to->arena, struct cr_chart_curve, r->n_curves);
    double *x = CR_NEWS(to->arena, double, r->n + 1);

    for (int64_t i = 0; i < r->n; i++)
        x[i] = (double)(i * r->stride);
    for (int i = 0; i < r->n_curves; i++)
        curve[i] = (struct cr_chart_curve){
            .name = r->n_curves > 1 ? r->curve[i].name : NULL,
            .n = r->n,
            .x = x,
            .y = r->curve[i].y
        };
    if (r->run.per_epoch > 0 && r->n > 1) {
        chart.x.second_label = "epochs";
        chart.x.second_max = x[r->n - 1] / r->run.per_epoch;
    }
    cr_chart_curves(to, &chart, curve, r->n_curves);
}

static void config_plot(struct cr_cli *cli, struct cr_buf *buf,
                        struct cr_config *config)
{
    const struct config *o = cr_cli_opts(cli);
    struct cr_plot_axis rule[2] = { { .unit = "steps" }, { .unit = "epochs" } };
    struct cr_plot plot = { .arena = cli->arena,
                            .rule = rule,
                            .n_rules = 1,
                            .from_zero = true,
                            .mark = -1 };
    struct cr_lr_curves rates;
    struct cr_buf svg = { .arena = cli->arena };

    if (strcmp(o->plot, "lr") != 0) {
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE, "--plot: found '%s', "
                                                    "expected lr",
                 cr_quote(cli->arena, o->plot, strlen(o->plot)));
        return;
    }
    if (!cr_cli_ending(cli, "-o", o->out, ".svg") ||
        !cr_lr_curves_read(config, &rates))
        return;
    plot.n = rates.n;
    plot.n_curves = rates.n_curves;
    plot.curve = rates.curve;
    rule[0].to = (double)((rates.n - 1) * rates.stride);
    if (rates.run.per_epoch > 0) {
        rule[1].to = rule[0].to / rates.run.per_epoch;
        plot.n_rules = 2;
    }
    if (o->out) {
        config_plot_svg(&svg, &rates);
        cr_write_file(cli->diag, o->out, cr_buf_text(&svg), svg.len);
    } else if (cli->json) {
        config_plot_json(buf, &rates);
    } else {
        cr_buf_str(buf,
                   cr_plot_text(&plot, cr_plot_columns(), cr_plot_braille()));
    }
}

/* ---- The command -----------------------------------------------------------
 */

static bool config_get(struct cr_cli *cli, struct cr_buf *buf,
                       struct cr_config *config, const char *key)
{
    const struct cr_node *node = cr_node_find(config->root, key);

    if (!node)
        node = cr_node_find(config_full(config), key);
    if (!node) {
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "--get: the config has no key '%s'",
                 cr_quote(cli->arena, key, strlen(key)));
        return false;
    }
    if (cli->json)
        cr_buf_str(buf, cr_node_json(cli->arena, node));
    else
        cr_buf_str(buf,
                   node->text ? node->text : cr_node_flow(cli->arena, node));
    cr_buf_char(buf, '\n');
    return true;
}

static void config_print(struct cr_cli *cli, struct cr_buf *buf,
                         struct cr_config *config)
{
    const struct config *o = cr_cli_opts(cli);

    if (o->minimal) {
        config->root = cr_node_copy(cli->arena, config->root);
        config_minimal_root(cli->arena, config->root);
    }
    if (cli->json)
        cr_buf_f(buf, "%s\n",
                 cr_node_json(cli->arena,
                              o->full ? config_full(config) : config->root));
    else
        cr_buf_str(buf, cr_config_yaml(config, o->origin, o->full));
}

static int config_run(struct cr_cli *cli)
{
    const struct config *o = cr_cli_opts(cli);
    struct cr_config *config = cr_cli_config(cli);
    struct cr_buf buf = { .arena = cli->arena };

    if (o->full && o->minimal) {
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "--full and --minimal cannot be combined");
        return 2;
    }
    if (o->out && !o->plot)
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE, "-o requires --plot");
    if (cli->diag->errors == 0)
        cr_config_check(config);
    if (cli->diag->errors > 0)
        return cr_diag_exit(cli->diag);
    if (o->diff) {
        const char *const files[] = { o->diff, NULL };
        struct cr_config_from from = { .files = files, .closed = true };
        struct cr_config *other = cr_config_load(cli->arena, cli->diag, &from);

        config_diff(&buf, cli->json, other->root, config->root);
    } else if (o->plot) {
        config_plot(cli, &buf, config);
    } else if (o->get) {
        config_get(cli, &buf, config, o->get);
    } else {
        config_print(cli, &buf, config);
    }
    if (cli->diag->errors == 0)
        fputs(cr_buf_text(&buf), stdout);
    return cr_diag_exit(cli->diag);
}

const struct cr_command cr_command_config = {
    .about = {
        .name = "config",
        .summary = "Print the resolved config.",
        .detail =
            "Merges the files, CELLRUN_SET and assignments, and replaces "
            "variables and expressions. The output, read in the folder of "
            "the config, where relative paths start, gives the same config. "
            "--plot lr plots the learning rate over the run, as wide as "
            "COLUMNS or the terminal, in Braille dots if the locale is "
            "UTF-8.",
        .example = "cellrun config digits.yaml train.epochs=5 --origin\n"
                   "cellrun config digits.yaml --get optimizer.learning_rate\n"
                   "cellrun config digits.yaml --plot lr -o lr.svg\n",
        .opts = config_opts,
        .size = sizeof(struct config),
    },
    .usage = "FILE... [key=value...] [--origin] [--full|--minimal] "
             "[--get KEY] [--diff OTHER] [--plot lr [-o FILE]]",
    .min_operands = 1,
    .max_operands = -1,
    .takes_config = true,
    .closed = true,
    .run = config_run,
};
