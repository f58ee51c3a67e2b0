#include "model/model.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"
#include "ckpt/load.h"
#include "ckpt/provenance.h"
#include "ckpt/vocab.h"
#include "data/fingerprint.h"
#include "data/section.h"
#include "mpi/mpi.h"
#include "plugin/plugin.h"
#include "train/print.h"
#include "train/ranks.h"
#include "train/section.h"

/* ---- Opening */

static bool model_has_flag(const struct cr_command *command, const char *name)
{
    const struct cr_opt *row = command->about.opts;

    while (row && row->name && strcmp(row->name, name) != 0)
        row++;
    return row && row->name;
}

static bool model_no_config(struct cr_cli *cli, const char *path)
{
    bool files = cli->command->takes_config && cli->command->max_operands != 0;

    cr_error(cli->diag, cr_at_file(cli->arena, path), CR_E_CKPT_FORMAT,
             files ? "the checkpoint contains no config; name a config file"
                   : "the checkpoint contains no config");
    if (model_has_flag(cli->command, "config"))
        cr_note(cli->diag, "usage: cellrun %s --config FILE.yaml --ckpt %s",
                cli->command->about.name, path);
    else if (files && model_has_flag(cli->command, "ckpt"))
        cr_note(cli->diag, "usage: cellrun %s FILE.yaml --ckpt %s",
                cli->command->about.name, path);
    else if (!files)
        cr_note(cli->diag,
                "a run with 'load: %s' writes checkpoints that contain one",
                path);
    return false;
}

/* Sets *own: whether a run of this user wrote the checkpoint. False after
 * reporting. */
static bool model_is_own(struct cr_cli *cli, const struct cr_model *m,
                         const char *config, bool *own)
{
    return cr_provenance_own(
        cli->arena, cli->diag, cr_tensor_file_path(m->file),
        cr_provenance_hash(cli->arena, config, m->state.config_dir,
                           m->state.plugins),
        own);
}

bool cr_model_read(struct cr_cli *cli, struct cr_tensor_file *file,
                   const char *const *files, struct cr_model *to)
{
    const char *path = cr_tensor_file_path(file);
    const char *text = cr_tensor_file_meta(file, "cellrun.state");
    struct cr_pos at = cr_at_file(cli->arena, path);
    struct cr_config_from from = {
        .files = files && files[0] ? files : NULL,
        .text = cr_tensor_file_meta(file, "cellrun.config"),
        .text_name = cr_strf(cli->arena, "config in %s", path),
        .sets = cli->sets,
        .set_args = cli->set_args,
    };
    bool own = cli->trust;

    *to = (struct cr_model){ .file = file };
    if (text) {
        if (!cr_state_read(cli->arena, cli->diag, at, text, &to->state))
            return false;
        to->has_state = true;
    }
    if (from.files)
        from.text = NULL;
    else if (!from.text)
        return model_no_config(cli, path);
    else if (!own && !model_is_own(cli, to, from.text, &own))
        return false;
    else if (own)
        from.text_dir = to->state.config_dir;
    else
        from.text_kind = CR_FROM_CKPT;
    from.plugin_marks = from.text ? to->state.plugins : NULL;
    to->config = cr_config_load(cli->arena, cli->diag, &from);
    to->config->fitted = to->state.fitted;
    if (to->state.class_names)
        to->config->classes = (struct cr_strs){ .n = (int)to->state.classes,
                                                .v = to->state.class_names };
    if (to->config->load_failed)
        return false;
    cr_plugin_compare(to->config, to->state.plugins, at);
    return cr_vocabs_read(to->config, file);
}

/* Checks the config, reads seed and batch size, starts the threads. */
static bool model_start(struct cr_cli *cli, struct cr_model *m)
{
    struct cr_datapipe_section datapipe = { 0 };

    if (!cr_config_check(m->config) || cli->diag->errors > 0 ||
        !cr_seed_read(m->config, &m->seed) ||
        !cr_datapipe_section_read(m->config, &datapipe) ||
        !cr_threads_start(m->config, cli->threads))
        return false;
    m->batch = datapipe.batch.batch_size;
    return true;
}

bool cr_model_open(struct cr_cli *cli, const char *ckpt,
                   const char *const *files, struct cr_model *to)
{
    struct cr_tensor_file *file =
        cr_tensor_file_open(cli->arena, cli->diag, ckpt);

    *to = (struct cr_model){ 0 };
    return file && cr_model_read(cli, file, files, to) && model_start(cli, to);
}

bool cr_model_same(const struct cr_model *m,
                   const struct cr_data_loader *loader)
{
    struct cr_diag *diag = m->config->diag;
    struct cr_train_part part[] = {
        { "config", cr_config_id(m->config) },
        { "checkpoint", NULL },
        { "data", cr_train_data(diag->arena, loader) },
    };
    const char *path = cr_tensor_file_path(m->file);
    uint32_t crc = 0;

    if (cr_mpi_size() == 1)
        return true;
    if (!cr_mpi_agree(diag, cr_fingerprint_contents(diag, &crc, path)))
        return false;
    part[1].own = cr_strf(diag->arena, "%s, contents %08" PRIx32, path, crc);
    return cr_train_same(diag, part, CR_LEN(part));
}

/* Whether `name` is a run directory, a safetensors file (perhaps without its
 * suffix) or a foreign weight file, which cr_model_open refuses with a
 * reason. */
static bool model_is_ckpt(struct cr_arena *arena, const char *name)
{
    struct stat st;

    if (cr_ends(name, ".safetensors") || cr_ends(name, ".ckpt"))
        return true;
    if (stat(name, &st) == 0)
        return S_ISDIR(st.st_mode) || cr_tensor_file_is_weights(name);
    return stat(cr_strf(arena, "%s.safetensors", name), &st) == 0;
}

bool cr_model_operands(struct cr_cli *cli, struct cr_model *to)
{
    if (cli->n_operands == 1 && model_is_ckpt(cli->arena, cli->operands[0]))
        return cr_model_open(cli, cli->operands[0], NULL, to);
    *to = (struct cr_model){ .config = cr_cli_config(cli) };
    return !to->config->load_failed && model_start(cli, to);
}

bool cr_model_weights(struct cr_model *model, const char *ckpt)
{
    if (!ckpt)
        return true;
    cr_model_close(model);
    model->file =
        cr_tensor_file_open(model->config->arena, model->config->diag, ckpt);
    return model->file != NULL;
}

void cr_model_close(struct cr_model *model)
{
    if (model->file)
        cr_tensor_file_close(model->file);
    model->file = NULL;
}

/* ---- The network with its weights */

/* With eval.use_ema, replaces the parameters by their moving averages. */
static bool model_use_ema(struct cr_model *model)
{
    struct cr_config *config = model->config;
    struct cr_eval_section eval = { 0 };

    if (!cr_section(config, "eval") ||
        !cr_section_read(config, "eval", &eval) || !eval.use_ema)
        return true;
    if (!cr_node_find(config->root, "train.ema.decay") ||
        !cr_tensor_file_is_cellrun(model->file)) {
        cr_warn(config->diag, cr_node_find(config->root, "eval.use_ema")->pos,
                CR_E_NO_MATCH,
                "'eval.use_ema' has no effect: the checkpoint contains no "
                "moving averages (train.ema)");
        return true;
    }
    cr_net_ema(model->net);
    if (!cr_load_means(model->file, config->diag, model->net))
        return false;
    cr_net_ema_swap(model->net);
    return true;
}

bool cr_model_net(struct cr_model *model, const struct cr_column *columns,
                  int n_columns, int64_t batch, int64_t classes, bool loss,
                  bool metrics)
{
    struct cr_config *config = model->config;
    struct cr_net_opts want = {
        .columns = columns,
        .n_columns = n_columns,
        .batch = batch,
        .classes = classes > 0 ? classes : model->state.classes,
        .loss = loss,
        .metrics = metrics,
        .seed = model->seed,
        .loaded = true,
        .print = cr_print_open(config, NULL),
    };
    bool ok;

    model->net = cr_net_build(config, &want);
    ok = model->net &&
         (model->looks == CR_IN_TRAIN ||
          cr_hook_recorder_observe(config, model->net, NULL, model->looks)) &&
         cr_load_weights(model->file, config, model->net,
                         cr_tensor_file_is_cellrun(model->file)) &&
         model_use_ema(model);
    cr_model_close(model);
    return ok;
}

/* ---- Classes */

const char *cr_model_class_name(const struct cr_model *model, int64_t class)
{
    struct cr_predict_section predict = { 0 };

    if (cr_section(model->config, "predict") &&
        cr_section_read(model->config, "predict", &predict) &&
        class < predict.labels.n)
        return predict.labels.v[class];
    if (model->state.class_names && class < model->state.classes)
        return model->state.class_names[class];
    return NULL;
}

const char *cr_model_class(const struct cr_model *model, int64_t class)
{
    const char *name = cr_model_class_name(model, class);

    return name ? name : cr_strf(model->config->arena, "%" PRId64, class);
}

const char *cr_model_data_file(struct cr_config *config,
                               const struct cr_node *in, const char *path)
{
    for (CR_EACH(m, in)) {
        const char *found =
            m->kind == CR_NODE_MAP || m->kind == CR_NODE_LIST
                ? cr_model_data_file(config, m, path)
            : m->text ? cr_config_path(config, CR_READ_DATA, m->text)
                      : NULL;

        if (found && (m->kind == CR_NODE_MAP || m->kind == CR_NODE_LIST ||
                      cr_ckpt_same(found, path)))
            return found;
    }
    return NULL;
}
