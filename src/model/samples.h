/*
 * The data that a command looks at: those of the config of a checkpoint, or
 * others in their place.
 */
#ifndef CR_MODEL_SAMPLES_H
#define CR_MODEL_SAMPLES_H

#include "data/data_loader.h"
#include "model/model.h"

/* Opens what --data says: a split (train, eval, test), a folder in place of
 * its dataset_dir, or a YAML file with a dataset; NULL: the split eval, else
 * test. batch > 0 overrides the config's. NULL after reporting. */
struct cr_data_loader *cr_model_samples(struct cr_model *model,
                                        const char *data, int64_t batch);

#endif
