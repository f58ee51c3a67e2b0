#include "model/ckpt_edit.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "base/table.h"
#include "ckpt/dtype.h"
#include "ckpt/load.h"
#include "ckpt/rename.h"
#include "conf/yaml.h"
#include "model/model.h"
#include "train/section.h"

/* The tensors to write. */
struct edit {
    struct cr_cli *cli;
    const struct cr_ckpt_edit *o;
    struct cr_tensor_file *file; /* the first input */
    const struct cr_net *net;    /* of its config; NULL: it has none */
    bool ema;                    /* evaluation uses the moving averages */
    struct cr_tensor *tensor;
    int n;
};

/* ---- Input and output */

/* Opens an input. Overwriting it would make its run impossible to resume. */
static struct cr_tensor_file *edit_open(struct edit *e, const char *path)
{
    struct cr_tensor_file *file =
        cr_tensor_file_open(e->cli->arena, e->cli->diag, path);

    if (!file || !cr_ckpt_same(cr_tensor_file_path(file), e->o->out))
        return file;
    cr_error(e->cli->diag, CR_NOWHERE, CR_E_USAGE,
             "-o: found the input checkpoint, expected another file");
    cr_tensor_file_close(file);
    return NULL;
}

static struct cr_pos edit_at(const struct edit *e,
                             const struct cr_tensor_file *file)
{
    return cr_at_file(e->cli->arena, cr_tensor_file_path(file));
}

/* Reads a tensor into the arena, in its own type. */
static bool edit_read(struct edit *e, const struct cr_tensor_info *entry,
                      const char *name, struct cr_tensor *to)
{
    *to = (struct cr_tensor){ .name = name, .spec = entry->spec };
    to->data = cr_alloc(e->cli->arena, entry->bytes + 1, 1);
    return cr_tensor_file_read(e->file, e->cli->diag, entry, entry->spec.type,
                               to->data);
}

/* Converts a tensor of floating point, if its values allow it. */
static void edit_convert(struct edit *e, struct cr_tensor *t, enum cr_type type)
{
    if (!cr_dtype_convert(e->cli->arena, t, type))
        cr_warn(e->cli->diag, edit_at(e, e->file), CR_E_OUT_OF_RANGE,
                CR_DTYPE_BEYOND, cr_escape(e->cli->arena, t->name),
                cr_type_name(t->spec.type), cr_type_name(type));
}

static void edit_print(struct edit *e)
{
    if (e->cli->json)
        printf("{\"tensors\": %d}\n", e->n);
    else if (cr_cli_says(e->cli, e->o->out))
        printf("%s: %d tensor%s\n", cr_escape(e->cli->arena, e->o->out), e->n,
               e->n == 1 ? "" : "s");
}

/* ---- convert and rename */

/* The only type in the section `optimizer` of a checkpoint's config, as
 * written; the rest of the config is not read. */
static const struct cr_node *edit_optimizer(struct cr_cli *cli,
                                            struct cr_tensor_file *file)
{
    const char *text = cr_tensor_file_meta(file, "cellrun.config");
    struct cr_source *src = CR_NEW(cli->arena, struct cr_source);
    struct cr_diag quiet = { .arena = cli->arena };
    struct cr_node *root = NULL;

    *src = (struct cr_source){ .name = cr_tensor_file_path(file),
                               .text = text,
                               .len = text ? strlen(text) : 0 };
    if (text)
        root = cr_yaml_read(cli->arena, &quiet, src, 0, src->len);
    return root ? cr_node_get(root, "optimizer") : NULL;
}

/* The values that MindSpore's optimizer keeps in addition to slots, such as
 * global_step. */
static const struct cr_tensor *edit_numbers(struct cr_cli *cli,
                                            struct cr_tensor_file *file, int *n)
{
    struct cr_pos at = cr_at_file(cli->arena, cr_tensor_file_path(file));
    const char *text = cr_tensor_file_meta(file, "cellrun.state");
    const struct cr_node *optimizer = edit_optimizer(cli, file);
    const struct cr_tensor *to = NULL;
    struct cr_diag quiet = { .arena = cli->arena };
    struct cr_state state;

    *n = 0;
    if (optimizer && text &&
        cr_state_read(cli->arena, &quiet, at, text, &state))
        to = cr_optim_numbers(cli->arena, &quiet, optimizer,
                              cr_state_updates(&state), state.nan.factor, n);
    if (!to)
        cr_warn(cli->diag, at, CR_E_CKPT_FORMAT,
                "global_step and learning_rate are not written: the config "
                "of the checkpoint does not name its optimizer");
    return to;
}


/* Reads the rules; false after reporting. */
static bool edit_rules(struct edit *e, struct cr_rename_rule *rule, int *n)
{
    bool ok = true;

    *n = 0;
    for (int i = 0; i < e->o->rename.n; i++) {
        if (cr_rename_rule_parse(e->cli->arena, e->cli->diag, &rule[*n],
                                 e->o->rename.v[i]))
            ++*n;
        else
            ok = false;
    }
    return ok;
}

/* Reports rules without effect, and names that have become the same. */
static bool edit_renamed(struct edit *e, const struct cr_rename_rule *rule)
{
    const struct cr_tensor_info *entry;
    bool ok = true;
    int n;

    entry = cr_tensor_file_entries(e->file, &n);
    for (int i = 0; i < e->o->rename.n; i++) {
        const char *text = e->o->rename.v[i];

        if (rule[i].used == 0)
            ok = cr_error(e->cli->diag, edit_at(e, e->file), CR_E_NO_MATCH,
                          "--rename '%s': no tensor matches",
                          cr_quote(e->cli->arena, text, strlen(text)));
    }
    if (!ok && n > 0)
        cr_hint(e->cli->diag, "the first tensor is '%s'",
                cr_quote(e->cli->arena, entry[0].name,
                         strlen(entry[0].name)));
    return ok;
}

static int edit_by_name(const void *a, const void *b)
{
    const struct cr_tensor *x = *(const struct cr_tensor *const *)a;
    const struct cr_tensor *y = *(const struct cr_tensor *const *)b;

    return strcmp(x->name, y->name);
}

static bool edit_unique(struct edit *e)
{
    const struct cr_tensor **sorted =
        CR_NEWS(e->cli->arena, const struct cr_tensor *, e->n + 1);

    for (int i = 0; i < e->n; i++)
        sorted[i] = &e->tensor[i];
    qsort(sorted, (size_t)e->n, sizeof *sorted, edit_by_name);
    for (int i = 1; i < e->n; i++) {
        const char *name = sorted[i]->name;

        if (strcmp(sorted[i - 1]->name, name) == 0)
            return cr_error(e->cli->diag, edit_at(e, e->file),
                            CR_E_CKPT_MISMATCH,
                            "two tensors are renamed to '%s'",
                            cr_quote(e->cli->arena, name, strlen(name)));
    }
    if (e->n > 0 && !*sorted[0]->name)
        return cr_error(e->cli->diag, edit_at(e, e->file), CR_E_CKPT_MISMATCH,
                        "a tensor is renamed to an empty name");
    return true;
}

bool cr_ckpt_convert(struct cr_cli *cli, const struct cr_ckpt_edit *o,
                     const char *path)
{
    struct edit e = { .cli = cli, .o = o };
    struct cr_rename_rule *rule =
        CR_NEWS(cli->arena, struct cr_rename_rule, o->rename.n + 1);
    const struct cr_tensor_info *entry;
    const struct cr_tensor *number = NULL;
    int n, numbers = 0, rules;
    bool ok = edit_rules(&e, rule, &rules);

    e.file = edit_open(&e, path);
    if (!e.file)
        ok = false;
    if (!ok)
        goto done;
    entry = cr_tensor_file_entries(e.file, &n);
    if (cr_tensor_file_is_train(e.file) && cr_ends(o->out, ".ckpt"))
        number = edit_numbers(cli, e.file, &numbers);
    e.tensor = CR_NEWS(cli->arena, struct cr_tensor, n + numbers + 1);
    for (int i = 0; ok && i < n; i++)
        if (!o->match || fnmatch(o->match, entry[i].name, 0) == 0)
            ok = edit_read(&e, &entry[i],
                           cr_rename(cli->arena, rule, rules, entry[i].name),
                           &e.tensor[e.n++]);
    for (int i = 0; ok && i < e.n; i++)
        edit_convert(&e, &e.tensor[i], cr_dtype_of(o->dtype));
    for (int i = 0; i < numbers; i++)
        if (!o->match || fnmatch(o->match, number[i].name, 0) == 0)
            e.tensor[e.n++] = number[i];
    if (ok && e.n == 0)
        ok = cr_error(cli->diag, edit_at(&e, e.file), CR_E_CKPT_FORMAT,
                      "no tensor in it matches");
    ok = ok && edit_renamed(&e, rule) && edit_unique(&e) &&
         cr_tensors_write(cli->diag, o->out, e.tensor, e.n);
    if (ok)
        edit_print(&e);
done:
    for (int i = 0; i < rules; i++)
        cr_rename_rule_free(&rule[i]);
    cr_tensor_file_close(e.file);
    return ok;
}

/* ---- The weights of a checkpoint */

static bool inspect_weights(struct cr_model *model)
{
    model->no_optim = true;
    return cr_model_inspect(model, 0, false);
}

/* Takes the network of a model. */
static bool edit_network(struct edit *e, const struct cr_model *model)
{
    struct cr_eval_section eval = { 0 };

    e->net = model->net;
    if (cr_section(model->config, "eval") &&
        !cr_section_read(model->config, "eval", &eval))
        return false;
    e->ema = eval.use_ema;
    return true;
}

/* Opens the first input and builds the network of its config, without values,
 * whose parameters are the weights. */
static bool edit_open_weights(struct edit *e, const char *path)
{
    struct cr_model *model;

    e->file = edit_open(e, path);
    if (!e->file || !cr_tensor_file_meta(e->file, "cellrun.config"))
        return e->file != NULL;
    model = CR_NEW(e->cli->arena, struct cr_model);
    if (!cr_model_open(e->cli, path, NULL, model) ||
        !inspect_weights(model)) {
        cr_model_close(model);
        return false;
    }
    cr_model_close(model);
    return edit_network(e, model);
}

/* Whether a tensor is written: a parameter, or a moving average that evaluation
 * uses. Without a config every tensor is that has not the name of a slot. */
static bool edit_is_weight(const struct edit *e, struct cr_tensor_file *file,
                           const char *name)
{
    if (e->net && e->ema && cr_starts(name, "cellrun.ema."))
        return true;
    return e->net ? cr_net_param(e->net, name) != NULL
                  : !cr_load_is_run_state(file, NULL, name);
}

/* The weights of the first input, as entries. Parameters that the file lacks
 * are an error. */
static const struct cr_tensor_info **edit_weights(struct edit *e, int *many)
{
    int n, params = 0;
    const struct cr_tensor_info *entry = cr_tensor_file_entries(e->file, &n);
    const struct cr_param *param = NULL;
    const struct cr_tensor_info **to =
        CR_NEWS(e->cli->arena, const struct cr_tensor_info *, n + 1);
    bool ok = true;

    *many = 0;
    if (e->net)
        param = cr_net_params(e->net, &params);
    for (int i = 0; i < params; i++)
        if (!cr_tensor_file_find(e->file, param[i].name))
            ok = cr_error(e->cli->diag, edit_at(e, e->file),
                          CR_E_CKPT_MISMATCH,
                          "no tensor '%s', a parameter of its network",
                          cr_escape(e->cli->arena, param[i].name));
    for (int i = 0; i < n; i++)
        if (edit_is_weight(e, e->file, entry[i].name))
            to[(*many)++] = &entry[i];
    if (ok && *many == 0)
        ok = cr_error(e->cli->diag, edit_at(e, e->file), CR_E_CKPT_FORMAT,
                      "found no weights in it");
    return ok ? to : NULL;
}

/* The state, without the results of evaluations, which are those of other
 * weights. NULL after reporting. */
static const char *edit_state_unscored(struct edit *e, const char *text)
{
    struct cr_state state;

    if (!cr_state_read(e->cli->arena, e->cli->diag, edit_at(e, e->file), text,
                       &state))
        return NULL;
    state.eval_step = -1;
    state.eval.n = 0;
    state.best_metric = NULL;
    return cr_state_write(e->cli->arena, &state);
}

/* Writes a checkpoint of kind weights with config, state and vocabularies of
 * the first input; other formats, and files from elsewhere, have no metadata.
 * With `scored` the state keeps the results of evaluations. */
static bool edit_write(struct edit *e, bool scored)
{
    static const char *const own[] = {
        "cellrun.format",   "cellrun.header_crc32", "cellrun.tensor_crc32",
        "cellrun.config",   "cellrun.kind",         "cellrun.requires",
        "cellrun.writer",   "crc_num",              "format",
    };
    struct cr_ckpt ckpt = { .tensors = e->tensor, .n = e->n };
    int n;
    const struct cr_meta *meta = cr_tensor_file_metas(e->file, &n);
    struct cr_meta *more = CR_NEWS(e->cli->arena, struct cr_meta, n + 1);

    if (!cr_tensor_file_is_cellrun(e->file) ||
        cr_ends(e->o->out, ".npz") || cr_ends(e->o->out, ".ckpt"))
        return cr_tensors_write(e->cli->diag, e->o->out, e->tensor, e->n);
    ckpt.config = cr_tensor_file_meta(e->file, "cellrun.config");
    for (int i = 0; i < n; i++) {
        const char *value = meta[i].value;
        bool written = false;

        for (size_t k = 0; k < CR_LEN(own); k++)
            written = written || strcmp(own[k], meta[i].key) == 0;
        if (written)
            continue;
        if (!scored && strcmp(meta[i].key, "cellrun.state") == 0)
            value = edit_state_unscored(e, value);
        if (!value)
            return false;
        more[ckpt.n_more++] = (struct cr_meta){ meta[i].key, value };
    }
    ckpt.more = more;
    return cr_ckpt_write(e->cli->diag, e->o->out, &ckpt);
}

/* ---- strip */

bool cr_ckpt_strip(struct cr_cli *cli, const struct cr_ckpt_edit *o,
                   const char *path)
{
    struct edit e = { .cli = cli, .o = o };
    const struct cr_tensor_info **entry = NULL;
    bool ok = edit_open_weights(&e, path);
    int n = 0;

    if (ok)
        entry = edit_weights(&e, &n);
    ok = entry != NULL;
    e.tensor = CR_NEWS(cli->arena, struct cr_tensor, n + 1);
    for (int i = 0; ok && i < n; i++)
        ok = edit_read(&e, entry[i], entry[i]->name, &e.tensor[e.n++]);
    for (int i = 0; ok && i < e.n; i++)
        edit_convert(&e, &e.tensor[i], cr_dtype_of(o->dtype));
    ok = ok && edit_write(&e, true);
    if (ok)
        edit_print(&e);
    cr_tensor_file_close(e.file);
    return ok;
}

/* ---- export */

/* The weights that the network of `of` loads from a file, as entries. */
static const struct cr_tensor_info **
edit_loaded(struct edit *e, const char *path, const struct cr_model *of, int *n)
{
    e->file = edit_open(e, path);
    if (!e->file || !edit_network(e, of))
        return NULL;
    cr_net_params(of->net, n);
    return cr_load_entries(e->file, of->config, of->net);
}

/* Reads a weight, or its moving average; `param`: of a network of another
 * config. */
static bool edit_read_weight(struct edit *e, const struct cr_tensor_info *entry,
                             const struct cr_param *param, enum cr_type type)
{
    struct cr_tensor *to = &e->tensor[e->n++];
    const char *name = param ? param->name : entry->name;
    const struct cr_tensor_info *mean = NULL;

    if (e->ema)
        mean = cr_tensor_file_find(
            e->file, cr_strf(e->cli->arena, "cellrun.ema.%s", name));
    if (!edit_read(e, mean ? mean : entry, name, to))
        return false;
    if (param) { /* of the same values; an axis of 1 may be missing */
        enum cr_type own = to->spec.type;

        to->spec = param->spec;
        to->spec.type = own;
    }
    edit_convert(e, to, type);
    return true;
}

bool cr_ckpt_weights(struct cr_cli *cli, const struct cr_ckpt_edit *o,
                     const char *path, const struct cr_model *of,
                     const char *suffix, enum cr_type type)
{
    struct edit e = { .cli = cli, .o = o };
    const struct cr_tensor_info **entry = NULL;
    const struct cr_param *param = NULL;
    bool ok;
    int n = 0;

    if (of)
        entry = edit_loaded(&e, path, of, &n);
    else if (edit_open_weights(&e, path))
        entry = edit_weights(&e, &n);
    if (of && entry)
        param = cr_net_params(of->net, &n);
    ok = entry != NULL;
    e.tensor = CR_NEWS(cli->arena, struct cr_tensor, n + 1);
    for (int i = 0; ok && i < n; i++)
        if (!cr_starts(entry[i]->name, "cellrun.ema."))
            ok = edit_read_weight(&e, entry[i], param ? &param[i] : NULL, type);
    ok = ok && cr_tensors_write_as(cli->diag, o->out, suffix, e.tensor, e.n);
    if (ok)
        edit_print(&e);
    cr_tensor_file_close(e.file);
    return ok;
}

/* ---- average */

/* Whether the file has the same weights, by name and shape, as the first. */
static bool edit_fits(struct edit *e, struct cr_tensor_file *file,
                      const struct cr_tensor_info *const *entry, int n)
{
    int more;
    const struct cr_tensor_info *have = cr_tensor_file_entries(file, &more);
    const char *first = cr_escape(e->cli->arena, cr_tensor_file_path(e->file));
    bool ok = true;

    for (int i = 0; i < n; i++) {
        const char *name = cr_escape(e->cli->arena, entry[i]->name);
        const struct cr_tensor_info *x =
            cr_tensor_file_find(file, entry[i]->name);
        struct cr_spec same = entry[i]->spec;

        if (x)
            same.type = x->spec.type;
        if (!x)
            ok = cr_error(e->cli->diag, edit_at(e, file), CR_E_CKPT_MISMATCH,
                          "no tensor '%s', which %s has", name, first);
        else if (x->spec.rank != same.rank || !cr_spec_same(&same, &x->spec))
            ok = cr_error(e->cli->diag, edit_at(e, file), CR_E_CKPT_MISMATCH,
                          "'%s' is %s, but %s in %s", name,
                          cr_diag_format(e->cli->arena, &x->spec),
                          cr_diag_format(e->cli->arena, &entry[i]->spec),
                          first);
        else if (cr_type_is_float(x->spec.type) !=
                 cr_type_is_float(entry[i]->spec.type))
            ok = cr_error(e->cli->diag, edit_at(e, file), CR_E_CKPT_MISMATCH,
                          "'%s' is of type %s, but %s in %s", name, x->dtype,
                          entry[i]->dtype, first);
    }
    for (int i = 0; i < more; i++)
        if (!cr_tensor_file_find(e->file, have[i].name) &&
            !cr_load_is_run_state(file, e->net, have[i].name))
            ok = cr_error(e->cli->diag, edit_at(e, file), CR_E_CKPT_MISMATCH,
                          "tensor '%s' is not in %s",
                          cr_escape(e->cli->arena, have[i].name), first);
    return ok;
}

/* Replaces a tensor of the first file by the mean over all files. */
static bool edit_mean(struct edit *e, struct cr_tensor_file *const *file,
                      int files, struct cr_tensor *t)
{
    struct cr_arena mem = { 0 };
    size_t n = (size_t)cr_count(&t->spec);
    double *sum = cr_alloc(&mem, n + 1, sizeof *sum);
    double *x = cr_alloc(&mem, n + 1, sizeof *x);
    bool ok = true;

    cr_convert(t->spec.type, t->data, CR_F64, sum, (int64_t)n);
    for (int k = 1; ok && k < files; k++) {
        ok = cr_tensor_file_read(file[k], e->cli->diag,
                                 cr_tensor_file_find(file[k], t->name), CR_F64,
                                 x);
        for (size_t i = 0; ok && i < n; i++)
            sum[i] += x[i];
    }
    for (size_t i = 0; i < n; i++)
        sum[i] /= files;
    cr_convert(CR_F64, sum, t->spec.type, t->data, (int64_t)n);
    cr_arena_free(&mem);
    return ok;
}

/* Opens all files but the first; returns their number with the first, or 0
 * after reporting. A file that was named before is ignored with a note. */
static int edit_open_others(struct edit *e, const char *const *paths, int n,
                            struct cr_tensor_file **file)
{
    int files = 1;
    bool ok = true;

    for (int i = 1; i < n; i++) {
        struct cr_tensor_file *f = edit_open(e, paths[i]);
        int k = 0;

        if (!f) {
            ok = false;
            continue;
        }
        while (k < files && !cr_ckpt_same(cr_tensor_file_path(f),
                                          cr_tensor_file_path(file[k])))
            k++;
        if (k == files) {
            file[files++] = f;
            continue;
        }
        if (!e->cli->quiet)
            fprintf(stderr, "note: %s is %s: counted once\n",
                    cr_escape(e->cli->arena, cr_tensor_file_path(f)),
                    cr_escape(e->cli->arena, cr_tensor_file_path(file[k])));
        cr_tensor_file_close(f);
    }
    if (ok)
        return files;
    while (--files > 0)
        cr_tensor_file_close(file[files]);
    return 0;
}

bool cr_ckpt_average(struct cr_cli *cli, const struct cr_ckpt_edit *o,
                     const char *const *paths, int n)
{
    struct edit e = { .cli = cli, .o = o };
    struct cr_tensor_file **file =
        CR_NEWS(cli->arena, struct cr_tensor_file *, n);
    const struct cr_tensor_info **entry = NULL;
    int files = 0, many = 0;
    bool ok = edit_open_weights(&e, paths[0]);

    if (ok)
        entry = edit_weights(&e, &many);
    file[0] = e.file;
    if (entry)
        files = edit_open_others(&e, paths, n, file);
    ok = files > 0;
    for (int k = 1; k < files; k++)
        ok &= edit_fits(&e, file[k], entry, many);
    e.tensor = CR_NEWS(cli->arena, struct cr_tensor, many + 1);
    for (int i = 0; ok && i < many; i++) {
        struct cr_tensor *t = &e.tensor[e.n++];

        ok = edit_read(&e, entry[i], entry[i]->name, t) &&
             (!cr_type_is_float(t->spec.type) || edit_mean(&e, file, files, t));
    }
    for (int i = 0; ok && i < e.n; i++)
        edit_convert(&e, &e.tensor[i], cr_dtype_of(o->dtype));
    ok = ok && edit_write(&e, false);
    if (ok && cli->json)
        printf("{\"tensors\": %d, \"checkpoints\": %d}\n", e.n, files);
    else if (ok && cr_cli_says(cli, o->out))
        printf("%s: %d tensor%s, mean of %d checkpoint%s\n",
               cr_escape(cli->arena, o->out), e.n, e.n == 1 ? "" : "s", files,
               files == 1 ? "" : "s");
    for (int k = 1; k < files; k++)
        cr_tensor_file_close(file[k]);
    cr_tensor_file_close(e.file);
    return ok;
}
