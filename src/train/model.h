/*
 * A network as a checkpoint holds it: config, state and weights, for verbs
 * that use what training made.
 */
#ifndef CR_TRAIN_MODEL_H
#define CR_TRAIN_MODEL_H

#include "ckpt/checkpoint.h"
#include "conf/verb.h"
#include "net/net.h"
#include "train/state.h"

struct cr_model {
    struct cr_store *store;
    struct cr_config *config;
    bool has_state;
    struct cr_state state;      /* zeroed without */
    struct cr_net *net;         /* after cr_model_net */
};

/* The config that belongs to an open checkpoint, with the assignments of the
 * line laid over it; or that of `files`, when there are any (NULL: the verb
 * takes none). False after reporting: a file without config is exit 4. */
bool cr_model_config(struct cr_cli *cli, struct cr_store *store,
                     const char *const *files, struct cr_model *to);

/* Builds the network for these columns, with the loss and the metrics that are
 * blocks if asked for, and fills it from the checkpoint, which is closed then.
 * False after reporting. */
bool cr_model_net(struct cr_model *model, const struct cr_column *columns,
                  int n_columns, int64_t batch, int64_t classes, bool loss,
                  bool metrics);

/* Name of a class: `predict.labels`, else the data set's; NULL: it has none
 * but its number. */
const char *cr_model_class_name(const struct cr_model *model, int64_t class);
/* The same, or its number. */
const char *cr_model_class(const struct cr_model *model, int64_t class);

#endif
