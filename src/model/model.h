/*
 * A model: a config, from a checkpoint or from config files, with its training
 * state and network.
 *
 *   cr_model_operands  opens the operands: a checkpoint, or config files
 *   cr_model_open      opens a checkpoint
 *   cr_model_net       builds the network for given columns, loads its weights
 *   cr_model_inspect   builds the network without data, to show or to time it
 *
 * The config of a checkpoint includes vocabularies, fitted statistics and class
 * names.
 *
 * Called by predict/, export/ and the commands that do not train. Knows nothing
 * of run directories.
 *
 * Includes: base ckpt conf console data graph mpi num plugin score train.
 */
#ifndef CR_MODEL_MODEL_H
#define CR_MODEL_MODEL_H

#include "ckpt/checkpoint.h"
#include "conf/command_line.h"
#include "graph/net.h"
#include "train/hook_recorder.h"
#include "train/optim.h"
#include "train/state.h"

struct cr_model {
    struct cr_config *config;
    struct cr_tensor_file
        *file; /* NULL: config files, or the weights are loaded */
    bool has_state;
    struct cr_state state; /* zeroed if there is none */
    uint64_t seed;
    enum cr_hook_in looks; /* plans that the section watch observes */
    bool no_data; /* cr_model_inspect does not open the data set, which may be
                     slow: the state of the checkpoint has its columns */
    bool no_optim; /* cr_model_inspect does not read the optimizer, whose
                      learning rates may be in a file */
    struct cr_net *net; /* after cr_model_net, cr_model_inspect */
    /* Set by cr_model_inspect; columns may be set before. */
    const struct cr_column *columns;
    int n_columns;
    int64_t batch;             /* batch size of the datapipe; default 32 */
    int64_t classes;           /* number of classes of the data; 0: unknown */
    bool loss;                 /* the network has a loss and its label */
    struct cr_optim_use optim; /* set if cr_model_trains */
    struct cr_diag missing;    /* why the data set cannot be opened */
};

/* ---- model.c */

/* Opens a checkpoint (as cr_tensor_file_open) and its config, or the config
 * `files` (NULL: none), with the assignments of the command line applied.
 * Checks the config and starts the threads. False after reporting; a checkpoint
 * without config is exit 4. */
bool cr_model_open(struct cr_cli *cli, const char *ckpt,
                   const char *const *files, struct cr_model *to);
/* The same for the operands of the command line: a checkpoint or a run
 * directory, else config files, which leave ->file NULL. */
bool cr_model_operands(struct cr_cli *cli, struct cr_model *to);
/* Reads only config and state of an open tensor file, for resume. False after
 * reporting. */
bool cr_model_read(struct cr_cli *cli, struct cr_tensor_file *file,
                   const char *const *files, struct cr_model *to);
/* Takes the weights from another file; NULL: no change. False after
 * reporting. */
bool cr_model_weights(struct cr_model *model, const char *ckpt);
void cr_model_close(struct cr_model *model);
/* Under mpirun: whether all processes have the same open checkpoint, config and
 * samples (NULL: none). False after reporting. */
bool cr_model_same(const struct cr_model *model,
                   const struct cr_data_loader *loader);

/* Builds the network for these columns, with the loss and the metrics that are
 * blocks if asked for, and fills it from the checkpoint, which is closed then.
 * False after reporting. */
bool cr_model_net(struct cr_model *model, const struct cr_column *columns,
                  int n_columns, int64_t batch, int64_t classes, bool loss,
                  bool metrics);

/* The name of a class: from predict.labels, else from the data set; NULL: it
 * has only an index. */
const char *cr_model_class_name(const struct cr_model *model, int64_t class);
/* The same, or the index as text. */
const char *cr_model_class(const struct cr_model *model, int64_t class);

/* ---- inspect.c */

/* Builds the network for `batch` samples (<= 0: the batch size of the
 * datapipe), with its loss and optimizer if the config has them. Shapes come
 * from the headers of the data set, from network.inputs, from the state of the
 * checkpoint, or from the first cell that declares its input features. Without
 * `values` no parameter is allocated or initialised. False after reporting. */
bool cr_model_inspect(struct cr_model *model, int64_t batch, bool values);
/* Weights without a state have no columns, classes and fitted values: takes
 * them from the training data of the config, or without a data set from
 * network.inputs, which are samples after the datapipe. False after
 * reporting. */
bool cr_model_describe(struct cr_model *model);
/* Whether updates can be planned: the model has a loss and an optimizer. */
bool cr_model_trains(const struct cr_model *model);

/* The file of the data that is the same as `path`, by any name or link, among
 * the texts of a config node; NULL: none. */
const char *cr_model_data_file(struct cr_config *config,
                               const struct cr_node *in, const char *path);

#endif
