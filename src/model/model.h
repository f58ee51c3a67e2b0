/*
 * A model, as commands open it: the config of a checkpoint, or of config files,
 * the state and the network.
 *
 *   cr_model_operands  what stands on the line: a checkpoint, or config files
 *   cr_model_open      a checkpoint
 *   cr_model_net       its network for given columns, with its weights
 *   cr_model_inspect   its network without data, to show or to time
 *
 * The config of a checkpoint brings vocabularies, fitted values and names of
 * classes along.
 */
#ifndef CR_MODEL_MODEL_H
#define CR_MODEL_MODEL_H

#include "ckpt/checkpoint.h"
#include "conf/command_line.h"
#include "net/net.h"
#include "train/hook_recorder.h"
#include "train/optim.h"
#include "train/state.h"

struct cr_model {
    struct cr_config *config;
    struct cr_tensor_file
        *file; /* NULL: config files, or the weights are loaded */
    bool has_state;
    struct cr_state state; /* zeroed without */
    uint64_t seed;
    enum cr_hook_in looks; /* whose plans the section watch looks at */
    struct cr_net *net; /* after cr_model_net, cr_model_inspect */
    /* what cr_model_inspect finds out; columns may be set before */
    const struct cr_column *columns;
    int n_columns;
    int64_t batch;             /* of the datapipe; 32 */
    int64_t classes;           /* of the data; 0: not known */
    bool loss;                 /* there is one, and a label for it */
    struct cr_optim_use optim; /* where an update can be planned */
    struct cr_diag missing;    /* why the data set cannot be opened */
};

/* ---- model.c */

/* Opens a checkpoint (what cr_tensor_file_open takes) and its config, with the
 * assignments of the line laid over it; or the config of `files`, when there
 * are any (NULL: none). The config is checked, the threads are
 * started. False after reporting: a file without config is exit 4. */
bool cr_model_open(struct cr_cli *cli, const char *ckpt,
                   const char *const *files, struct cr_model *to);
/* The same for the operands of the line: one that is a checkpoint or a run
 * directory, else config files, which leave ->store NULL. */
bool cr_model_operands(struct cr_cli *cli, struct cr_model *to);
/* Config and state of an open store, and no more: for resume. */
bool cr_model_read(struct cr_cli *cli, struct cr_tensor_file *file,
                   const char *const *files, struct cr_model *to);
/* The weights come from this file instead; NULL changes nothing. */
bool cr_model_weights(struct cr_model *model, const char *ckpt);
void cr_model_close(struct cr_model *model);

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

/* ---- inspect.c */

/* Builds the network for `batch` samples (<= 0: the datapipe's), with its
 * loss and optimizer where the config has them. Shapes come from `inputs` of
 * the network, from the headers of the data set, or, where neither is there,
 * from the first cell that tells. Without `values` nothing is allocated or
 * initialised. False after reporting. */
bool cr_model_inspect(struct cr_model *model, int64_t batch, bool values);
/* Whether an update can be planned: there are loss and optimizer. */
bool cr_model_trains(const struct cr_model *model);

#endif
