/*
 * The data set of a command that evaluates a checkpoint: the one of its config,
 * or another given by --data.
 */
#ifndef CR_MODEL_SAMPLES_H
#define CR_MODEL_SAMPLES_H

#include "data/data_loader.h"
#include "model/model.h"

/* The first split that exists of eval, test and train. */
const char *cr_model_split(const struct cr_config *config);

/* Opens the data set of --data: a split (train, eval, test), a folder that
 * replaces dataset_dir, a table (.csv, .tsv), text (.txt) or array (.npy) that
 * replaces the files of a data set that reads such, or a YAML file with a
 * section dataset; NULL: the first split that exists of eval,
 * test and train. batch > 0 overrides the batch size of the config. NULL after
 * reporting. */
struct cr_data_loader *cr_model_samples(struct cr_model *model,
                                        const char *data, int64_t batch);

#endif
