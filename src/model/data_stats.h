/*
 * data stats and data verify: what a data set holds, and whether it can be
 * read. Samples are those that the data set stores, before the datapipe.
 */
#ifndef CR_MODEL_DATA_STATS_H
#define CR_MODEL_DATA_STATS_H

#include "conf/command_line.h"

/* Prints statistics of each column, the classes and duplicates. `split` NULL:
 * all splits of the config. With `tsv` rows of split, column, class and
 * numbers. False after reporting. */
bool cr_data_stats(struct cr_cli *cli, struct cr_config *config,
                   const char *split, bool per_class, bool tsv);

/* Reads every sample and lists the ones that cannot be read, and labels that
 * are negative or not among the classes of the training data. Reports an error
 * if there is one. */
bool cr_data_verify(struct cr_cli *cli, struct cr_config *config,
                    const char *split);

/* The splits that the config has, of train, eval and test, or the one that is
 * asked for; NULL-terminated, in the arena. NULL after reporting that there is
 * none. */
const char *const *cr_data_splits(struct cr_cli *cli, struct cr_config *config,
                                  const char *split);

#endif
