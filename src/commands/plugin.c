/*
 * plugin: writes the source of a new plug-in, and checks plug-in files.
 *
 * In the texts of the starter @NAME@ is replaced by the name of the cell, and
 * @FILE@ by the name of its folder and source file.
 */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "base/table.h"
#include "conf/command_line.h"
#include "plugin/plugin.h"

struct plugin {
    const char *dir;
};

static const struct cr_opt plugin_opts[] = {
    CR_STR_OPTIONAL(
        struct plugin, dir,
        "new: the folder to write into. Default: the name in lower case.",
        .text = "DIR"),
    { 0 },
};

/* ---- The starter */

static const char plugin_source[] =
    "/*\n"
    " * @NAME@: y = x w, a weight for each feature.\n"
    " *\n"
    " *   x (n, ..., features)   w (features)   y as x\n"
    " *   dx = dy w              dw = sum of dy x over all rows\n"
    " *\n"
    " * cellrun.h documents everything used here.\n"
    " */\n"
    "#include <cellrun.h>\n"
    "\n"
    "#include <stdio.h>\n"
    "\n"
    "enum { GAIN };\n"
    "\n"
    "static const struct cellrun_option options[] = {\n"
    "    [GAIN] = { .name = \"gain\", .type = CELLRUN_REAL, .number = 1,\n"
    "               .doc = \"Multiplies all weights.\" },\n"
    "    { 0 },\n"
    "};\n"
    "\n"
    "enum { WEIGHT };\n"
    "\n"
    "static const struct cellrun_param params[] = {\n"
    "    [WEIGHT] = { .name = \"weight\", .init = \"One\" },\n"
    "    { 0 },\n"
    "};\n"
    "\n"
    "/* Called when a network is built: shapes, and what is wrong. */\n"
    "static int shape(struct cellrun_plan *p)\n"
    "{\n"
    "    const struct cellrun_shape *x = &p->input[0];\n"
    "\n"
    "    if (x->rank < 2) {\n"
    "        snprintf(p->error, sizeof p->error,\n"
    "                 \"takes (samples, ..., features), not rank %d\", "
    "x->rank);\n"
    "        return 1;\n"
    "    }\n"
    "    p->output[0] = *x;\n"
    "    p->param[WEIGHT] = (struct cellrun_shape){\n"
    "        .rank = 1, .dim = { x->dim[x->rank - 1] }\n"
    "    };\n"
    "    p->macs = (double)cellrun_count(x);\n"
    "    return 0;\n"
    "}\n"
    "\n"
    "static void forward(const struct cellrun_step *s)\n"
    "{\n"
    "    cellrun_real gain = (cellrun_real)s->option[GAIN].real;\n"
    "    int64_t features = s->param[WEIGHT].dim[0];\n"
    "    int64_t i, n = cellrun_count(&s->input[0]);\n"
    "\n"
    "    for (i = 0; i < n; i++)\n"
    "        s->y[0][i] = s->x[0][i] * gain * s->w[WEIGHT][i % features];\n"
    "}\n"
    "\n"
    "/* dx and dw are NULL for gradients that are not needed. */\n"
    "static void bprop(const struct cellrun_step *s)\n"
    "{\n"
    "    cellrun_real gain = (cellrun_real)s->option[GAIN].real;\n"
    "    int64_t features = s->param[WEIGHT].dim[0];\n"
    "    int64_t i, k, n = cellrun_count(&s->input[0]);\n"
    "\n"
    "    if (s->dx[0])\n"
    "        for (i = 0; i < n; i++)\n"
    "            s->dx[0][i] = s->dy[0][i] * gain * "
    "s->w[WEIGHT][i % features];\n"
    "    if (s->dw[WEIGHT])\n"
    "        for (k = 0; k < features; k++) {\n"
    "            double sum = 0;\n"
    "\n"
    "            for (i = k; i < n; i += features)\n"
    "                sum += (double)s->dy[0][i] * (double)s->x[0][i];\n"
    "            s->dw[WEIGHT][k] = (cellrun_real)sum * gain;\n"
    "        }\n"
    "}\n"
    "\n"
    "static const struct cellrun_cell cell = {\n"
    "    .name = \"@NAME@\",\n"
    "    .summary = \"A weight for each feature.\",\n"
    "    .detail = \"Input (n, ..., features), output the same: y = x w.\",\n"
    "    .options = options,\n"
    "    .params = params,\n"
    "    .flags = CELLRUN_SAMPLES_APART, /* mpirun may share out a batch */\n"
    "    .shape = shape,\n"
    "    .forward = forward,\n"
    "    .bprop = bprop,\n"
    "};\n"
    "\n"
    "CELLRUN_PLUGIN(&cell);\n";

static const char plugin_makefile[] =
    "# make: builds @FILE@.so    make test: compares its gradients\n"
    "#\n"
    "# cellrun.h is next to the program, where `make install` puts\n"
    "# it (PREFIX/bin, PREFIX/include); INCLUDE=DIR is another place, such as\n"
    "# src of cellrun's source tree.\n"
    "CELLRUN ?= cellrun\n"
    "INCLUDE ?= $(abspath $(dir $(realpath $(shell command -v "
    "$(CELLRUN))))../include)\n"
    "CFLAGS  ?= -O2 -Wall -Wextra\n"
    "\n"
    "@FILE@.so: @FILE@.c\n"
    "\t@echo '#include <cellrun.h>' | $(CC) -I$(INCLUDE) $(CPPFLAGS) "
    "-fsyntax-only -x c - \\\n"
    "\t    2>/dev/null || { echo 'cellrun.h is not in $(INCLUDE): say "
    "make INCLUDE=DIR,' \\\n"
    "\t    'src of the source tree if cellrun is not installed' >&2; "
    "exit 1; }\n"
    "\t$(CC) -std=c17 -fPIC -shared $(if $(wildcard $(INCLUDE)/cellrun.h),"
    "-I$(INCLUDE)) \\\n"
    "\t    $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< -lm\n"
    "\n"
    "test: @FILE@.so\n"
    "\t$(CELLRUN) plugin check ./@FILE@.so\n"
    "\t$(CELLRUN) gradcheck test.yaml\n"
    "\n"
    "clean:\n"
    "\trm -f @FILE@.so\n"
    "\n"
    ".PHONY: test clean\n";

/* The gradient of the Dense before the cell tests dx, that of the cell's
 * weight tests dw. */
static const char plugin_config[] =
    "# A small network around the cell: `make test` runs gradcheck on it.\n"
    "cellrun: 1\n"
    "plugin: @FILE@.so\n"
    "dataset:\n"
    "  train: {CSVDataset: {dataset_files: test.csv, columns: {x: {fields: "
    "\"0:3\", type: float32}, label: {fields: 3, classes: [a, b]}}}}\n"
    "datapipe: {batch: {batch_size: 5}}\n"
    "network:\n"
    "  before: {Dense: {out_channels: 4}}\n"
    "  cell: {@NAME@: {gain: 1.5}}\n"
    "  act: Tanh\n"
    "  after: {Dense: {out_channels: 2}}\n"
    "loss: CrossEntropyLoss\n"
    "optimizer: {SGD: {learning_rate: 0.1}}\n"
    "train: {epochs: 2}\n";

static const char plugin_table[] = "u,v,w,class\n"
                                   "0.5,-1.2,0.3,a\n"
                                   "1.1,0.4,-0.7,b\n"
                                   "-0.6,0.9,1.5,b\n"
                                   "0.2,-0.1,-1.4,a\n"
                                   "-1.3,0.8,0.6,b\n"
                                   "0.7,1.6,-0.2,a\n"
                                   "1.9,-0.5,0.1,a\n";

static const struct {
    const char *name, *text;
} plugin_parts[] = {
    { "@FILE@.c", plugin_source },
    { "Makefile", plugin_makefile },
    { "test.yaml", plugin_config },
    { "test.csv", plugin_table },
    { NULL, NULL },
};

/* ---- new */

/* Converts "MyScale" to "my_scale". */
static const char *plugin_small(struct cr_arena *arena, const char *name)
{
    struct cr_buf b = { .arena = arena };

    for (const char *p = name; *p; p++) {
        if (isupper((unsigned char)*p) && p > name &&
            (islower((unsigned char)p[-1]) || isdigit((unsigned char)p[-1])))
            cr_buf_char(&b, '_');
        cr_buf_char(&b, (char)tolower((unsigned char)*p));
    }
    return cr_buf_text(&b);
}

static const char *plugin_fill(struct cr_arena *arena, const char *text,
                               const char *name, const char *file)
{
    struct cr_buf b = { .arena = arena };

    for (const char *at; (at = strchr(text, '@')); text = at) {
        cr_buf_add(&b, text, (size_t)(at - text));
        if (cr_starts(at, "@NAME@")) {
            cr_buf_str(&b, name);
            at += strlen("@NAME@");
        } else if (cr_starts(at, "@FILE@")) {
            cr_buf_str(&b, file);
            at += strlen("@FILE@");
        } else {
            cr_buf_char(&b, *at++);
        }
    }
    cr_buf_str(&b, text);
    return cr_buf_text(&b);
}

/* Checks that the name is valid for a cell, and not in use. */
static bool plugin_name(struct cr_cli *cli, const char *name)
{
    struct cr_pos pos = cli->operand_pos[1];
    const char *quoted = cr_quote(cli->arena, name, strlen(name));
    bool ok = isupper((unsigned char)*name) && strlen(name) <= 64;

    for (const char *p = name; *p; p++)
        ok = ok && (isalnum((unsigned char)*p) || *p == '_');
    if (!ok)
        return cr_error(cli->diag, pos, CR_E_USAGE,
                        "plugin new: found '%s', expected the name of a cell: "
                        "a capital, then letters, digits and _",
                        quoted);
    for (int k = 0; k < 2; k++) {
        enum cr_kind kind = k ? CR_KIND_LOSS : CR_KIND_CELL;

        if (cr_registry_find(kind, name))
            return cr_error(cli->diag, pos, CR_E_USAGE,
                            "plugin new: %s is a %s of cellrun itself", quoted,
                            cr_kind_name(kind));
    }
    return true;
}

/* Writes all files, or none if one of them exists. */
static bool plugin_write(struct cr_cli *cli, const char *dir, const char *name,
                         const char *file)
{
    const char *paths[8];
    int i;

    for (i = 0; plugin_parts[i].name; i++) {
        paths[i] = cr_path_join(
            cli->arena, dir,
            plugin_fill(cli->arena, plugin_parts[i].name, name, file));
        if (access(paths[i], F_OK) == 0)
            return cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                            "plugin new: '%s' exists; --dir names another "
                            "folder",
                            paths[i]);
    }
    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        return cr_error(cli->diag, CR_NOWHERE, CR_E_SYSTEM,
                        "cannot make the folder '%s': %s", dir,
                        strerror(errno));
    for (i = 0; plugin_parts[i].name; i++) {
        const char *text =
            plugin_fill(cli->arena, plugin_parts[i].text, name, file);

        if (!cr_write_file(cli->diag, paths[i], text, strlen(text)))
            return false;
        if (!cli->quiet && !cli->json)
            printf("%s\n", paths[i]);
    }
    return true;
}

static void plugin_new(struct cr_cli *cli)
{
    const struct plugin *o = cr_cli_opts(cli);
    const char *name = cli->operands[1], *file, *dir;
    struct cr_buf b = { .arena = cli->arena };

    if (!plugin_name(cli, name))
        return;
    file = plugin_small(cli->arena, name);
    dir = o->dir ? o->dir : file;
    if (!plugin_write(cli, dir, name, file))
        return;
    if (cli->json) {
        cr_buf_str(&b, "{\"dir\": ");
        cr_buf_json(&b, dir);
        printf("%s}\n", cr_buf_text(&b));
    } else if (!cli->quiet) {
        printf("\nmake -C %s        builds %s.so\nmake -C %s test   builds it "
               "and compares its gradients with differences\n",
               dir, file, dir);
    }
}

/* ---- check */

static const char *plugin_tensors(struct cr_arena *arena,
                                  const struct cr_plugin_cell *c)
{
    struct cr_buf b = { .arena = arena };

    for (int i = 0; i < c->n_in; i++)
        cr_buf_f(&b, "%s%s", i ? ", " : "", c->cell.inputs[i]);
    cr_buf_str(&b, " -> ");
    cr_buf_f(&b, "%d", c->n_out);
    return cr_buf_text(&b);
}

static const char *plugin_params(struct cr_arena *arena,
                                 const struct cr_plugin_cell *c)
{
    struct cr_buf b = { .arena = arena };

    for (int i = 0; i < c->n_params; i++)
        cr_buf_f(&b, "%s%s", i ? ", " : "", c->of->params[i].name);
    return c->n_params ? cr_buf_text(&b) : "-";
}

static const char *plugin_options(struct cr_arena *arena,
                                  const struct cr_plugin_cell *c)
{
    struct cr_buf b = { .arena = arena };
    const struct cr_opt *row = c->cell.about.opts;

    for (; row && row->name; row++)
        cr_buf_f(&b, "%s%s", row == c->cell.about.opts ? "" : ", ", row->name);
    return c->cell.about.opts ? cr_buf_text(&b) : "-";
}

static void plugin_show(struct cr_cli *cli, const char *path)
{
    const struct cr_plugin_cell *const *cells = cr_plugin_cells(path);
    struct cr_table table = { .arena = cli->arena, .align = "llllll" };
    static const char *const head[] = { "cell",       "inputs -> outputs",
                                        "parameters", "options",
                                        "bprop",      "arrays" };

    for (size_t k = 0; k < CR_LEN(head); k++)
        cr_table_add(&table, head[k]);
    for (; *cells; cells++) {
        const struct cr_plugin_cell *c = *cells;

        cr_table_add(&table, c->of->name);
        cr_table_add(&table, plugin_tensors(cli->arena, c));
        cr_table_add(&table, plugin_params(cli->arena, c));
        cr_table_add(&table, plugin_options(cli->arena, c));
        cr_table_add(&table, c->of->bprop ? "yes" : "no");
        cr_table_add(&table,
                     c->real_size == sizeof(double) ? "double" : "float");
    }
    cr_table_show(&table, false);
}

static void plugin_names(struct cr_buf *b, const char *key, int n,
                         const char *const *names)
{
    cr_buf_f(b, ", \"%s\": [", key);
    for (int i = 0; i < n; i++) {
        cr_buf_str(b, i ? ", " : "");
        cr_buf_json(b, names[i]);
    }
    cr_buf_char(b, ']');
}

static void plugin_json(struct cr_buf *b, const char *path)
{
    const struct cr_plugin_cell *const *cells = cr_plugin_cells(path);
    const char *names[CR_OP_MAX];

    for (int i = 0; cells[i]; i++) {
        const struct cr_plugin_cell *c = cells[i];

        cr_buf_str(b, b->len > 1 ? ", " : "");
        cr_buf_str(b, "{\"file\": ");
        cr_buf_json(b, path);
        cr_buf_str(b, ", \"name\": ");
        cr_buf_json(b, c->of->name);
        plugin_names(b, "inputs", c->n_in, c->cell.inputs);
        for (int k = 0; k < c->n_params; k++)
            names[k] = c->of->params[k].name;
        plugin_names(b, "params", c->n_params, names);
        cr_buf_f(b, ", \"outputs\": %d, \"bprop\": %s, \"arrays\": \"%s\"}",
                 c->n_out, c->of->bprop ? "true" : "false",
                 c->real_size == sizeof(double) ? "double" : "float");
    }
}

static void plugin_check(struct cr_cli *cli)
{
    struct cr_buf b = { .arena = cli->arena };

    cr_buf_char(&b, '[');
    for (int i = 1; i < cli->n_operands; i++) {
        const char *path = cli->operands[i];

        if (!cr_plugin_load(cli->diag, cli->operand_pos[i], path))
            continue;
        if (cli->json)
            plugin_json(&b, path);
        else if (!cli->quiet)
            plugin_show(cli, path);
    }
    if (cli->json)
        printf("%s]\n", cr_buf_text(&b));
}

/* ---- The command */

static int plugin_run(struct cr_cli *cli)
{
    static const char *const names[] = { "new", "check", NULL };
    const char *name = cli->operands[0], *guess;
    bool make = strcmp(name, "new") == 0;

    if (!make && strcmp(name, "check") != 0) {
        cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
                 "plugin: found '%s', expected new or check",
                 cr_quote(cli->arena, name, strlen(name)));
        guess = cr_closest_name(name, names);
        if (guess)
            cr_hint(cli->diag, "did you mean '%s'?", guess);
        return 0;
    }
    if (make ? cli->n_operands != 2 : cli->n_operands < 2) {
        cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
                 make ? "plugin new: expected the name of one cell, Scale"
                      : "plugin check: expected a file");
        return 0;
    }
    if (make)
        plugin_new(cli);
    else
        plugin_check(cli);
    return 0;
}

const struct cr_command cr_command_plugin = {
    .about = {
        .name = "plugin",
        .summary = "Create or check a plug-in with cells in C.",
        .detail =
            "new writes a folder with a source, a Makefile and a test; it "
            "never overwrites a file. The source is a working cell with an "
            "option and a weight, to be changed into another one. `make` "
            "builds a shared object against the installed header cellrun.h "
            "(INCLUDE=DIR uses another one), and `make test` compares its "
            "gradients with finite differences of the loss. check opens "
            "shared objects and lists their cells, or reports why one is "
            "refused (exit 2). The header documents the interface of "
            "plug-ins; the section `plugin` of a config lists the files. "
            "Opening a plug-in runs its code.",
        .example = "cellrun plugin new MyScale\n"
                   "make -C my_scale\n"
                   "cellrun plugin check my_scale/my_scale.so\n",
        .opts = plugin_opts,
        .size = sizeof(struct plugin),
    },
    .usage = "new NAME [--dir DIR] | check FILE...",
    .min_operands = 1,
    .max_operands = -1,
    .run = plugin_run,
};
