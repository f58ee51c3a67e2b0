/*
 * Loading by name. The rename rules are applied in order to the name of each
 * tensor of the file (POSIX extended regular expressions; the first match in a
 * name is replaced); the tensor is then assigned to the parameter of that
 * name, or to one that PyTorch calls so. Shapes must be equal, except for
 * trailing dimensions of 1 in the file, and the dimension of 1 in the weights
 * of Conv1d, which PyTorch does not have; floating types are converted into
 * each other, as MindSpore's load_param_into_net does.
 */
#include "ckpt/load.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "ckpt/load_internal.h"
#include "ckpt/vocab.h"

#define LOAD_LOOKED 8  /* missing names from which a prefix is inferred */

struct load {
    const char *ckpt;
    const struct cr_node *rename, *skip;
    bool strict, vocab;
};

static const struct cr_opt load_opts[] = {
    CR_STR(struct load, ckpt,
           "Checkpoint, safetensors, NPZ or MindSpore's .ckpt file, or run "
           "directory."),
    CR_NODE(struct load, rename,
            "Pairs [pattern, replacement], applied in order to the names of "
            "the file. Patterns are POSIX extended regular expressions; \\1 is "
            "the first group. They also apply to weights of another program "
            "that --ckpt names, if these lack names of the network."),
    CR_NODE(struct load, skip,
            "Patterns of parameters that are not loaded and keep their initial "
            "values."),
    CR_BOOL_DEFAULT(
        struct load, strict, true,
        "true: every parameter must be loaded or listed in skip. false: "
        "missing names are also tried with a prefix that the file uses; "
        "parameters still missing keep their initial values."),
    CR_BOOL_DEFAULT(
        struct load, vocab, true,
        "true: text columns take their vocabulary from a checkpoint that has "
        "one, so that tokens keep their indices, to which the weights belong. "
        "false: it is built from the data of this config; skip the weights "
        "of tokens."),
    { 0 },
};

const struct cr_section cr_section_load = {
    .about = {
        .name = "load",
        .summary = "Initial weights from a file.",
        .detail = "`load: FILE` is short for `load: {ckpt: FILE}`. It loads "
                  "parameters and vocabularies of text, not fitted values "
                  "(means, categories): those are of the data of this config. "
                  "Of a checkpoint with "
                  "train.ema it loads the trained weights; cellrun export "
                  "writes the moving averages to a file. Unused "
                  "tensors of the file are reported, but are not an error. A "
                  "parameter that the file does not have is also looked for "
                  "under its name in PyTorch: weight and bias for gamma and "
                  "beta, running_mean and running_var for moving_mean and "
                  "moving_variance (those of BatchNorm3d without its bn2d), "
                  "weight for embedding_table, linear1 and linear2 for dense1 "
                  "and dense2. `cellrun ckpt load-report` shows what is "
                  "loaded, before a run.",
        .example = "load:\n"
                   "  ckpt: pretrained/backbone.safetensors\n"
                   "  rename:\n"
                   "    - [\"^module\\\\.(.*)$\", \"\\\\1\"]\n"
                   "  skip: [\"classifier.*\"]\n",
        .opts = load_opts,
        .size = sizeof(struct load),
    },
};

/* ---- Renaming */

static bool load_rule_read(struct cr_load_job *job, const struct cr_node *pair)
{
    const struct cr_node *from = cr_node_at(pair, 0), *to;

    to = cr_node_at(pair, 1);
    if (cr_node_count(pair) != 2 || !from || !from->text || !to || !to->text)
        return cr_error(job->diag, pair->pos, CR_E_FORM,
                        "rename rule: found %s, expected a list of two "
                        "strings, [pattern, replacement]",
                        cr_node_what(job->diag->arena, pair));
    if (!cr_rename_rule_read(job->diag, &job->rule[job->n_rules], from->text,
                             from->pos, to->text, to->pos))
        return false;
    job->n_rules++;
    return true;
}

static bool load_rules_read(struct cr_load_job *job, const struct cr_node *node)
{
    bool ok = true;

    if (!node)
        return true;
    if (node->kind != CR_NODE_LIST)
        return cr_error(job->diag, node->pos, CR_E_WRONG_TYPE,
                        "rename: found %s, expected a list of pairs",
                        cr_node_what(job->diag->arena, node));
    job->rule =
        CR_NEWS(job->arena, struct cr_rename_rule, cr_node_count(node));
    for (CR_EACH(pair, node))
        ok &= load_rule_read(job, pair);
    return ok;
}

static void load_rules_free(struct cr_load_job *job)
{
    for (int i = 0; i < job->n_rules; i++)
        cr_rename_rule_free(&job->rule[i]);
}

static int load_by_name(const void *a, const void *b)
{
    const struct cr_load_source *const *x = a, *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

/* Applies the rename rules to the names of the file and sorts them. Two names
 * that become the same are an error. */
static bool load_sources(struct cr_load_job *job)
{
    const struct cr_tensor_info *entry =
        cr_tensor_file_entries(job->file, &job->n_sources);

    job->source = CR_NEWS(job->arena, struct cr_load_source, job->n_sources);
    job->by_name = CR_NEWS(job->arena, struct cr_load_source *, job->n_sources);
    for (int i = 0; i < job->n_sources; i++) {
        job->source[i].entry = &entry[i];
        job->source[i].name =
            cr_rename(job->arena, job->rule, job->n_rules, entry[i].name);
        job->by_name[i] = &job->source[i];
    }
    qsort(job->by_name, (size_t)job->n_sources, sizeof *job->by_name,
          load_by_name);
    for (int i = 1; i < job->n_sources; i++) {
        const struct cr_load_source *a = job->by_name[i - 1];
        const struct cr_load_source *b = job->by_name[i];

        if (strcmp(a->name, b->name) == 0)
            return cr_error(
                job->diag,
                cr_at_file(job->diag->arena, cr_tensor_file_path(job->file)),
                CR_E_CKPT_MISMATCH,
                "tensors '%s' and '%s' are both renamed to '%s'",
                a->entry->name, b->entry->name, a->name);
    }
    return true;
}

static struct cr_load_source *load_source_find(const struct cr_load_job *job,
                                               const char *name)
{
    struct cr_load_source key = { .name = name }, *at = &key, **found;

    if (job->n_sources == 0)
        return NULL;
    found = bsearch(&at, job->by_name, (size_t)job->n_sources,
                    sizeof *job->by_name, load_by_name);
    return found ? *found : NULL;
}

/* ---- Matching */

static bool load_shape_fits(const struct cr_spec *want,
                            const struct cr_spec *have)
{
    int rank = have->rank;

    if (want->rank == 4 && rank == 3 && want->dim[2] == 1)
        return want->dim[0] == have->dim[0] && want->dim[1] == have->dim[1] &&
               want->dim[3] == have->dim[2];
    while (rank > want->rank && have->dim[rank - 1] == 1)
        rank--;
    if (rank != want->rank)
        return false;
    for (int k = 0; k < rank; k++)
        if (want->dim[k] != have->dim[k])
            return false;
    return true;
}

static enum cr_load_status load_fate_of(const struct cr_param *param,
                                        const struct cr_tensor_info *entry)
{
    return !entry ? CR_LOAD_MISSING
           : !entry->readable || !cr_type_is_float(entry->spec.type)
               ? CR_LOAD_DTYPE
           : !load_shape_fits(&param->spec, &entry->spec) ? CR_LOAD_SHAPE
                                                          : CR_LOAD_DONE;
}

/* The name that PyTorch has for a parameter of the same kind; NULL: the same
 * or none. */
static const char *load_torch_name(struct cr_arena *arena, const char *name)
{
    static const struct {
        const char *own, *torch;
    } ends[] = {
        { "bn2d.gamma", "weight" },
        { "bn2d.beta", "bias" },
        { "bn2d.moving_mean", "running_mean" },
        { "bn2d.moving_variance", "running_var" },
        { "gamma", "weight" },
        { "beta", "bias" },
        { "moving_mean", "running_mean" },
        { "moving_variance", "running_var" },
        { "embedding_table", "weight" },
        { "w", "weight" },
        { "dense1.weight", "linear1.weight" },
        { "dense1.bias", "linear1.bias" },
        { "dense2.weight", "linear2.weight" },
        { "dense2.bias", "linear2.bias" },
    };

    for (size_t i = 0; i < CR_LEN(ends); i++) {
        size_t base = strlen(name) - strlen(ends[i].own);

        if (cr_ends(name, ends[i].own) && (base == 0 || name[base - 1] == '.'))
            return cr_strf(arena, "%.*s%s", (int)base, name, ends[i].torch);
    }
    return NULL;
}

/* Assigns unused tensors to missing parameters that PyTorch calls so. */
static void load_try_torch(struct cr_load_job *job)
{
    for (int i = 0; i < job->n_targets; i++) {
        struct cr_load_target *t = &job->target[i];
        const char *name = load_torch_name(job->arena, t->param->name);
        struct cr_load_source *s = name ? load_source_find(job, name) : NULL;

        if (!s || s->used || t->entry ||
            load_fate_of(t->param, s->entry) != CR_LOAD_DONE)
            continue;
        s->used = true;
        t->entry = s->entry;
        if (t->status != CR_LOAD_MISSING)
            continue; /* skipped */
        t->status = CR_LOAD_DONE;
        s->read = true;
        job->torch++;
        job->torch_name = s->name;
        job->own_name = t->param->name;
    }
}

static void load_match(struct cr_load_job *job, struct cr_net *net,
                       const struct cr_patterns *skip)
{
    struct cr_param *param = cr_net_params(net, &job->n_targets);
    const struct cr_subject *subjects = cr_net_subjects(net, &job->n_targets);

    job->net = net;
    job->target = CR_NEWS(job->arena, struct cr_load_target, job->n_targets);
    for (int i = 0; i < job->n_targets; i++) {
        struct cr_load_target *t = &job->target[i];
        struct cr_load_source *s = load_source_find(job, param[i].name);

        t->param = &param[i];
        if (s) {
            s->used = true;
            t->entry = s->entry;
        }
        t->status = skip && cr_patterns_match(skip, &subjects[i])
                        ? CR_LOAD_SKIPPED
                        : load_fate_of(t->param, t->entry);
        if (t->status == CR_LOAD_DONE)
            s->read = true;
    }
    if (!cr_tensor_file_is_cellrun(job->file))
        load_try_torch(job);
}

/* The tensor of the file for a missing parameter, when `prefix` is prepended
 * to the parameter's name; NULL if not found. */
static struct cr_load_source *load_find_prefixed(const struct cr_load_job *job,
                                                 const struct cr_load_target *t,
                                                 const char *prefix)
{
    struct cr_arena mem = { 0 };
    struct cr_load_source *s = NULL;

    if (t->status == CR_LOAD_MISSING)
        s = load_source_find(job,
                             cr_strf(&mem, "%s%s", prefix, t->param->name));
    cr_arena_free(&mem);
    return s && !s->used ? s : NULL;
}

const char *cr_load_prefix(const struct cr_load_job *job, int *many)
{
    int looked = 0;

    for (int i = 0; i < job->n_targets && looked < LOAD_LOOKED; i++) {
        const char *name = job->target[i].param->name;
        size_t n = strlen(name);

        if (job->target[i].status != CR_LOAD_MISSING)
            continue;
        looked++;
        for (int k = 0; k < job->n_sources; k++) {
            const struct cr_load_source *s = &job->source[k];
            const char *prefix;

            if (s->used || !cr_ends(s->name, name) || strlen(s->name) == n)
                continue;
            prefix = cr_strndup(job->arena, s->name, strlen(s->name) - n);
            *many = 0;
            for (int j = 0; j < job->n_targets; j++)
                *many +=
                    load_find_prefixed(job, &job->target[j], prefix) != NULL;
            return prefix;
        }
    }
    return NULL;
}

/* Tries missing names with a prefix of the file's names, as MindSpore does
 * with strict_load: False, until no prefix finds another one. */
static void load_try_prefixes(struct cr_load_job *job)
{
    int many;

    for (const char *p = cr_load_prefix(job, &many); p;
         p = cr_load_prefix(job, &many)) {
        for (int i = 0; i < job->n_targets; i++) {
            struct cr_load_target *t = &job->target[i];
            struct cr_load_source *s = load_find_prefixed(job, t, p);

            if (!s)
                continue;
            s->used = true;
            t->entry = s->entry;
            t->status = load_fate_of(t->param, s->entry);
            s->read = t->status == CR_LOAD_DONE;
        }
        job->prefix = p;
        job->rescued += many;
    }
}

/* Verifies the unused tensors too: a checkpoint with any damaged tensor is
 * rejected. */
static bool load_values(struct cr_load_job *job)
{
    bool ok = true;

    for (int i = 0; i < job->n_targets; i++) {
        struct cr_load_target *t = &job->target[i];

        if (t->status != CR_LOAD_DONE)
            continue;
        /* a network made for checking only has no memory for values */
        ok &= t->param->data
                  ? cr_tensor_file_read(job->file, job->diag, t->entry, CR_REAL,
                                        t->param->data)
                  : cr_tensor_file_check(job->file, job->diag, t->entry);
    }
    for (int i = 0; cr_tensor_file_is_cellrun(job->file) && i < job->n_sources;
         i++)
        if (!job->source[i].read)
            ok &= cr_tensor_file_check(job->file, job->diag,
                                       job->source[i].entry);
    return ok;
}

/* ---- The section */

/* Skip patterns may also match names that only the file has. */
static bool load_skip_used(struct cr_load_job *job, struct cr_config *config,
                           const struct cr_patterns *skip)
{
    int n = job->n_targets + job->n_sources, at = 0;
    struct cr_subject *names = CR_NEWS(job->arena, struct cr_subject, n + 1);

    for (int i = 0; i < job->n_targets; i++)
        names[at++] = (struct cr_subject){ job->target[i].param->name,
                                           job->target[i].param->types };
    for (int i = 0; i < job->n_sources; i++)
        if (!job->source[i].used)
            names[at++].name = job->source[i].name;
    return cr_patterns_used(config, skip, names, at, "parameter");
}

static void load_skip_sources(struct cr_load_job *job,
                              const struct cr_patterns *skip)
{
    for (int i = 0; i < job->n_sources; i++)
        job->source[i].used |= cr_patterns_match(
            skip, &(struct cr_subject){ .name = job->source[i].name });
}

/* Adds the position of load.ckpt to the message about its file. */
static void load_note_place(struct cr_config *config)
{
    const struct cr_node *node = cr_node_find(config->root, "load.ckpt");

    if (!node)
        node = cr_section(config, "load");
    cr_note(config->diag, "load.ckpt names it      (%s)",
            cr_pos_text(config->arena, node->pos));
}

/* Opens load.ckpt; NULL after reporting. */
static struct cr_tensor_file *load_open(struct cr_config *config,
                                        const struct load *o)
{
    const char *path = cr_config_path(config, CR_READ_FILE, o->ckpt);
    struct cr_tensor_file *file;

    if (!cr_config_may_path(config, CR_READ_FILE, o->ckpt))
        return NULL;
    if (!path)
        path = cr_path_join(config->arena, config->dir, o->ckpt);
    file = cr_tensor_file_open(config->arena, config->diag, path);
    if (!file)
        load_note_place(config);
    return file;
}

/* The vocabulary of a column in the newest checkpoint of the run to resume that
 * can be read; NULL: none. */
static struct cr_vocab *load_resumed_vocab(struct cr_config *config,
                                           const char *column)
{
    struct cr_diag quiet = { .arena = config->arena };
    struct cr_diag *diag = config->diag;
    struct cr_vocab *found = NULL;
    const struct cr_ckpt_file *list;
    int n = 0;

    if (!config->resume_dir)
        return NULL;
    list = cr_ckpt_list(config->arena, &quiet,
                        cr_path_join(config->arena, config->resume_dir, "ckpt"),
                        NULL, &n);
    config->diag = &quiet;
    for (int i = 0; i < n && !found; i++) {
        struct cr_tensor_file *file =
            cr_tensor_file_open(config->arena, &quiet, list[i].path);

        if (!file || !cr_vocab_read(config, file, column, &found))
            found = NULL;
        cr_tensor_file_close(file);
    }
    config->diag = diag;
    return found;
}

bool cr_vocab_loaded(struct cr_config *config, const char *column,
                     struct cr_vocab **to)
{
    struct load o = { .strict = true, .vocab = true };
    struct cr_tensor_file *file;
    bool ok;

    *to = NULL;
    if (!cr_section(config, "load"))
        return true;
    if (!cr_section_read(config, "load", &o))
        return false;
    if (!o.ckpt || !o.vocab)
        return true;
    *to = load_resumed_vocab(config, column);
    if (*to)
        return true;
    file = load_open(config, &o);
    if (!file)
        cr_note(config->diag, "its vocabulary is that of the network; to "
                              "continue a run without the file: cellrun "
                              "resume RUN");
    ok = file && cr_vocab_read(config, file, column, to);
    cr_tensor_file_close(file);
    return ok;
}

/* Whether loaded weights may read n tokens. Where some are skipped, the others
 * do if they have a dimension of n. */
static bool load_reads(const void *ctx, int64_t n)
{
    const struct cr_load_job *job = ctx;
    bool skips = false;

    for (int i = 0; i < job->n_targets; i++) {
        const struct cr_spec *s = &job->target[i].param->spec;

        skips = skips || job->target[i].status == CR_LOAD_SKIPPED;
        for (int k = 0; k < s->rank && job->target[i].status == CR_LOAD_DONE;
             k++)
            if (s->dim[k] == n)
                return true;
    }
    return !skips;
}

bool cr_load(struct cr_config *config, struct cr_net *net, const char *path,
             struct cr_load_report *report)
{
    struct load o = { .strict = true, .vocab = true };
    struct cr_load_job job = { .arena = config->arena, .diag = config->diag };
    struct cr_patterns *skip = NULL;
    bool ok;

    *report = (struct cr_load_report){ 0 };
    if (cr_section(config, "load") && !cr_section_read(config, "load", &o))
        return false;
    if (!path && !o.ckpt)
        return true;
    ok = load_rules_read(&job, o.rename);
    if (o.skip) {
        skip = cr_patterns_read(config, o.skip);
        ok &= skip != NULL;
    }
    if (!ok)
        goto done;
    job.file = path ? cr_tensor_file_open(config->arena, config->diag, path)
                    : load_open(config, &o);
    ok = job.file && load_sources(&job);
    if (!ok)
        goto done;
    load_match(&job, net, skip);
    if (skip) {
        ok = load_skip_used(&job, config, skip);
        load_skip_sources(&job, skip);
    }
    if (!o.strict)
        load_try_prefixes(&job);
    ok = ok && (!o.strict || cr_load_refuse(&job, false, CR_LOAD_FIX_ALL)) &&
         load_values(&job);
    if (ok)
        cr_load_report_text(&job, config, o.skip, report);
    if (ok && report->loaded == 0)
        cr_warn(config->diag,
                cr_at_file(config->arena, cr_tensor_file_path(job.file)),
                CR_E_CKPT_MISMATCH, "no parameter was loaded from this file");
    else if (ok)
        cr_vocabs_compare(config, job.file, load_reads, &job);
done:
    load_rules_free(&job);
    cr_tensor_file_close(job.file);
    return ok;
}

/* Whether a name of a cellrun checkpoint is not a weight: an optimizer slot (a
 * parameter's name with a prefix such as moment1. or mu_) or state
 * ("cellrun."). */
static bool load_is_cellrun_state(const struct cr_load_job *job,
                                  const char *name)
{
    if (cr_starts(name, "cellrun.") || strcmp(name, "global_step") == 0)
        return true;
    for (const char *p = name; *p && job->net; p++)
        if ((*p == '_' || p == strchr(name, '.')) &&
            cr_net_param(job->net, p + 1))
            return true;
    return false;
}

/* The same for any file: a slot prefix of MindSpore before the name of another
 * tensor of the file, one of MindSpore's numbers, or the counter of PyTorch's
 * BatchNorm. */
bool cr_load_is_state(const struct cr_load_job *job, const char *name)
{
    static const char *const slots[] = {
        "moments.", "accum.",      "stat.",           "moment1.",
        "moment2.", "vhat.",       "adam_m.",         "adam_v.",
        "lamb_m.",  "lamb_v.",     "accum_update.",   "mean_square.",
        "moment.",  "mean_grad.",  "linear.",         "prev.",
        "ax_.",     "step_size.",  "exp_avg.",        "mu_",
        "eta_",     "exp_avg_sq_", "exp_avg_sq_row_", "exp_avg_sq_col_",
    };
    static const char *const numbers[] = { "global_step", "learning_rate",
                                           "momentum",    "beta1_power",
                                           "beta2_power", "epoch_num",
                                           "step_num" };

    if (cr_tensor_file_is_cellrun(job->file) &&
        load_is_cellrun_state(job, name))
        return true;
    for (size_t i = 0; i < CR_LEN(numbers); i++)
        if (strcmp(name, numbers[i]) == 0)
            return true;
    if (cr_ends(name, "num_batches_tracked") &&
        !cr_tensor_file_is_cellrun(job->file))
        return true;
    for (size_t i = 0; i < CR_LEN(slots); i++)
        if (cr_starts(name, slots[i]) &&
            cr_tensor_file_find(job->file, name + strlen(slots[i])))
            return true;
    return false;
}

bool cr_load_is_run_state(struct cr_tensor_file *file, const struct cr_net *net,
                          const char *name)
{
    struct cr_load_job job = { .file = file, .net = net };

    return cr_load_is_state(&job, name);
}

static bool load_lacks(const struct cr_load_job *job)
{
    for (int i = 0; i < job->n_targets; i++)
        if (job->target[i].status == CR_LOAD_MISSING)
            return true;
    return false;
}

/* Matches all tensors, by the names that the file gives them, else by those of
 * load.rename. The rules must be freed in either case. */
static bool load_match_all(struct cr_load_job *job, struct cr_config *config,
                           struct cr_net *net)
{
    const struct cr_node *rules = cr_node_find(config->root, "load.rename");

    if (!load_sources(job))
        return false;
    load_match(job, net, NULL);
    if (!rules || cr_tensor_file_is_cellrun(job->file) || !load_lacks(job))
        return true;
    if (!load_rules_read(job, rules) || !load_sources(job))
        return false;
    load_match(job, net, NULL);
    return true;
}

static enum cr_load_fix load_fix(const struct cr_load_job *job)
{
    return cr_tensor_file_is_cellrun(job->file) ? CR_LOAD_FIX_NONE
                                                : CR_LOAD_FIX_NAMES;
}

bool cr_load_weights(struct cr_tensor_file *file, struct cr_config *config,
                     struct cr_net *net, bool exact)
{
    struct cr_arena mem = { 0 };
    struct cr_load_job job = { .arena = &mem,
                               .diag = config->diag,
                               .file = file };
    bool ok = load_match_all(&job, config, net);

    for (int i = 0; ok && exact && i < job.n_sources; i++)
        job.source[i].used |=
            cr_load_is_state(&job, job.source[i].name) ||
            (!cr_net_has_loss(net) &&
             cr_starts(job.source[i].name, "loss."));
    ok = ok && cr_load_refuse(&job, exact, load_fix(&job)) &&
         load_values(&job);
    load_rules_free(&job);
    cr_arena_free(&mem);
    return ok;
}

const struct cr_tensor_info **cr_load_entries(struct cr_tensor_file *file,
                                              struct cr_config *config,
                                              struct cr_net *net)
{
    struct cr_load_job job = { .arena = config->arena,
                               .diag = config->diag,
                               .file = file };
    const struct cr_tensor_info **to = NULL;

    if (load_match_all(&job, config, net) &&
        cr_load_refuse(&job, false, load_fix(&job))) {
        to = CR_NEWS(job.arena, const struct cr_tensor_info *,
                     job.n_targets + 1);
        for (int i = 0; i < job.n_targets; i++)
            to[i] = job.target[i].entry;
    }
    load_rules_free(&job);
    return to;
}

static bool load_tensors(struct cr_tensor_file *file, struct cr_diag *diag,
                         const char *what, const struct cr_tensor *v, int n)
{
    struct cr_pos at = cr_at_file(diag->arena, cr_tensor_file_path(file));
    bool ok = true;

    for (int i = 0; i < n; i++) {
        const struct cr_tensor_info *e = cr_tensor_file_find(file, v[i].name);

        if (!e || !e->readable || !load_shape_fits(&v[i].spec, &e->spec))
            ok = cr_error(diag, at, CR_E_CKPT_MISMATCH,
                          "no %s '%s' %s in the file", what, v[i].name,
                          cr_diag_format(diag->arena, &v[i].spec));
        else
            ok &= cr_tensor_file_read(file, diag, e, CR_REAL, v[i].data);
    }
    return ok;
}

bool cr_load_slots(struct cr_tensor_file *file, struct cr_diag *diag,
                   const struct cr_net *net)
{
    int n;
    const struct cr_tensor *slots = cr_net_slots(net, &n);

    return load_tensors(file, diag, "optimizer slot", slots, n);
}

bool cr_load_means(struct cr_tensor_file *file, struct cr_diag *diag,
                   const struct cr_net *net)
{
    int n;
    const struct cr_tensor *means = cr_net_ema_tensors(net, &n);

    return load_tensors(file, diag, "moving mean", means, n);
}
