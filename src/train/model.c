#include "train/model.h"

#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "ckpt/load.h"
#include "ckpt/vocab.h"
#include "net/plugin.h"
#include "train/section.h"

bool cr_model_config(struct cr_cli *cli, struct cr_store *store,
                     const char *const *files, struct cr_model *to)
{
    const char *path = cr_store_path(store);
    const char *text = cr_store_meta(store, "cellrun.state");
    struct cr_pos at = cr_at_file(cli->arena, path);
    struct cr_config_from from = {
        .files = files && files[0] ? files : NULL,
        .text = cr_store_meta(store, "cellrun.config"),
        .text_name = cr_strf(cli->arena, "config in %s", path),
        .sets = cli->sets,
        .set_args = cli->set_args,
    };

    *to = (struct cr_model){ .store = store };
    if (text) {
        if (!cr_state_read(cli->arena, cli->diag, at, text, &to->state))
            return false;
        to->has_state = true;
        from.text_dir = to->state.config_dir;
    }
    if (from.files) {
        from.text = NULL;
    } else if (!from.text) {
        cr_error(cli->diag, at, CR_E_CKPT_FORMAT,
                 files ? "no config in it; give one" : "no config in it");
        if (files)
            cr_note(cli->diag, "usage: cellrun %s FILE.yaml --ckpt %s",
                    cli->verb->about.name, path);
        else
            cr_note(cli->diag,
                    "a run that begins with 'load: %s' writes checkpoints "
                    "that have one",
                    path);
        return false;
    }
    to->config = cr_config_load(cli->arena, cli->diag, &from);
    to->config->kept = to->state.fitted;
    if (to->state.class_names)
        to->config->classes = (struct cr_strs){
            .n = (int)to->state.classes, .v = to->state.class_names
        };
    if (to->config->broken)
        return false;
    cr_plugin_compare(to->config, to->state.plugins, at);
    return cr_vocabs_read(to->config, store);
}

/* With eval.use_ema the network is that of the moving means. */
static bool model_means(struct cr_model *model)
{
    struct cr_config *config = model->config;
    struct cr_eval_section eval = { 0 };

    if (!cr_section(config, "eval") ||
        !cr_section_read(config, "eval", &eval) || !eval.use_ema)
        return true;
    if (!cr_node_find(config->root, "train.ema.decay") ||
        !cr_store_is_ours(model->store)) {
        cr_warn(config->diag,
                cr_node_find(config->root, "eval.use_ema")->pos,
                CR_E_NO_MATCH,
                "'eval.use_ema': the run kept no moving means (train.ema), "
                "so the parameters themselves are taken");
        return true;
    }
    cr_net_mean(model->net);
    if (!cr_load_means(model->store, config->diag, model->net))
        return false;
    cr_net_swap(model->net);
    return true;
}

bool cr_model_net(struct cr_model *model, const struct cr_column *columns,
                  int n_columns, int64_t batch, int64_t classes, bool loss,
                  bool metrics)
{
    struct cr_config *config = model->config;
    struct cr_net_want want = {
        .columns = columns,
        .n_columns = n_columns,
        .batch = batch,
        .classes = classes > 0 ? classes : model->state.classes,
        .loss = loss,
        .metrics = metrics,
    };
    bool ok = cr_seed_read(config, &want.seed);

    model->net = ok ? cr_net_build(config, &want) : NULL;
    ok = model->net && cr_load_weights(model->store, config->diag, model->net,
                                       cr_store_is_ours(model->store)) &&
         model_means(model);
    cr_store_close(model->store);
    model->store = NULL;
    return ok;
}

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
