#include "export/export.h"

#include <string.h>

#include "base/sha256.h"
#include "base/str.h"
#include "base/table.h"
#include "data/transform.h"

const struct cr_export_format *const cr_export_formats[] = {
    &cr_export_c,    &cr_export_ckpt,        &cr_export_npz,
    &cr_export_onnx, &cr_export_safetensors, NULL
};

/* ---- Options */

/* The choice number `at` of "a|b|c". */
static const char *export_choice(struct cr_arena *arena, const char *choices,
                                 int at)
{
    while (at-- > 0)
        choices = strchr(choices, '|') + 1;
    return cr_strndup(arena, choices, strcspn(choices, "|"));
}

/* Sets the format by --to or by the suffix of -o. */
static bool export_format(struct cr_export *e)
{
    const char *to = export_choice(e->arena, CR_EXPORT_TO, e->o->to);
    struct cr_buf all = { .arena = e->arena };

    if (!e->o->out)
        return cr_error(e->diag, CR_NOWHERE, CR_E_USAGE,
                        "export needs -o FILE: the file to write");
    for (int i = 0; cr_export_formats[i]; i++) {
        const struct cr_export_format *f = cr_export_formats[i];

        if (e->o->to ? strcmp(to, f->name) == 0 : cr_ends(e->o->out, f->suffix))
            e->format = f;
        cr_buf_f(&all, "%s%s", i > 0 ? " " : "", f->suffix);
    }
    if (!e->format && cr_cli_ending(e->cli, "-o", e->o->out, cr_buf_text(&all)))
        return cr_error(e->diag, CR_NOWHERE, CR_E_USAGE,
                        "-o %s: give the format with --to",
                        cr_quote(e->arena, e->o->out, strlen(e->o->out)));
    return e->format &&
           cr_cli_ending(e->cli, "-o", e->o->out, e->format->suffix);
}

static bool export_usage(struct cr_export *e)
{
    if (!export_format(e))
        return false;
    if (!cr_cli_not_json(e->cli, "-o", e->o->out) ||
        (e->format != &cr_export_c &&
         !cr_cli_no_terminal(e->cli, "-o", e->o->out)))
        return false;
    e->dtype = cr_dtype_of(e->o->dtype);
    if (e->o->normalize && !e->format->network)
        return cr_error(e->diag, CR_NOWHERE, CR_E_USAGE,
                        "--normalize: found --to %s, expected a format that "
                        "contains the network",
                        e->format->name);
    return true;
}

/* ---- The network */

/* Reports an output that would replace the input. */
static bool export_apart(struct cr_export *e, const char *path)
{
    if (!cr_ckpt_same(path, e->o->out))
        return true;
    return cr_error(e->diag, CR_NOWHERE, CR_E_USAGE,
                    "-o: found the input checkpoint, expected another file");
}

/* Hashes the config that the checkpoint contains, or for config files the
 * resolved one. */
static void export_hash(struct cr_export *e)
{
    const char *text = cr_tensor_file_meta(e->model.file, "cellrun.config");
    char *hex = cr_alloc(e->arena, CR_SHA256_DIGITS + 1, 1);
    struct cr_sha256 hash;

    if (!text)
        return;
    cr_sha256_start(&hash);
    cr_sha256_add(&hash, text, strlen(text));
    cr_sha256_end(&hash, hex);
    e->config_hash = hex;
}

/* The data set is opened only if the checkpoint does not describe its
 * columns. */
bool cr_export_inspect(struct cr_export *e)
{
    struct cr_model *m = &e->model;

    if (!cr_model_operands(e->cli, m) || !cr_model_weights(m, e->o->ckpt))
        return false;
    if (!m->file)
        return cr_error(e->diag, CR_NOWHERE, CR_E_USAGE,
                        "export needs weights: name a checkpoint or --ckpt");
    if (!export_apart(e, cr_tensor_file_path(m->file)))
        return false;
    export_hash(e);
    m->no_data = m->has_state && m->state.n_columns > 0;
    m->no_optim = true;
    return cr_model_inspect(m, CR_INFERENCE_BATCH, false);
}

/* Opens the checkpoint and makes the graph. */
static bool export_network(struct cr_export *e)
{
    struct cr_model *m = &e->model;
    struct cr_column *column;
    int n;

    if (!cr_export_inspect(e))
        return false;
    n = m->n_columns;
    column = CR_NEWS(e->arena, struct cr_column, n + 1);
    memcpy(column, m->columns ? m->columns : cr_net_columns(m->net, &n),
           (size_t)n * sizeof *column);
    m->looks = CR_IN_TRAIN; /* nothing runs: the section watch has no effect */
    if (!cr_model_net(m, column, n, CR_INFERENCE_BATCH, m->classes, false,
                      false))
        return false;
    e->graph = cr_net_inference(m->net);
    return e->graph != NULL;
}

/* Appends the transforms of a column that prediction applies. */
static void export_transforms(const struct cr_export *e, const char *column,
                              struct cr_buf *to)
{
    const struct cr_node *list =
        cr_node_get(cr_section(e->model.config, "datapipe"), column);
    const char *comma = "";

    for (CR_EACH(m, list)) {
        const struct cr_node *args, *only = cr_node_get(m, "only");
        const char *type = cr_node_type(m, &args);
        const struct cr_transform *t = type ? cr_transform_find(type) : NULL;

        if (!type || (t && t->mix) ||
            (only && strcmp(only->text, "train") == 0))
            continue;
        if (!*comma)
            cr_buf_f(to, "%s%s after ", to->len > 0 ? "; " : "",
                     cr_escape(e->arena, column));
        cr_buf_f(to, "%s%s", comma, t ? t->about.name : type);
        comma = ", ";
    }
}

/* Says which transforms the file does not contain. */
static void export_note(const struct cr_export *e)
{
    struct cr_buf b = { .arena = e->arena };

    if (!e->graph || e->o->normalize || e->cli->quiet || e->cli->json)
        return;
    for (int i = 0; i < e->graph->n_inputs; i++)
        export_transforms(e, e->graph->vals[e->graph->inputs[i]].name, &b);
    if (b.len > 0)
        fprintf(stderr,
                "the file has no datapipe; inputs are samples after it: %s%s\n",
                cr_buf_text(&b),
                e->format == &cr_export_onnx ? " (see --normalize)" : "");
}

bool cr_export(struct cr_cli *cli, const struct cr_export_opts *o)
{
    struct cr_export e = {
        .cli = cli, .arena = cli->arena, .diag = cli->diag, .o = o
    };
    bool ok = export_usage(&e) && (!e.format->network || export_network(&e)) &&
              e.format->write(&e);

    if (ok)
        export_note(&e);
    cr_model_close(&e.model);
    return ok;
}
