/*
 * data convert: writes the samples of a config, as the data set stores them,
 * to files that cellrun and other programs read, and a config that reads them.
 *
 * A format is a row of the table in data_convert.c. Samples are read with all
 * threads and written in their order as they are read; the files get their
 * names when all of them are complete.
 */
#ifndef CR_MODEL_DATA_CONVERT_H
#define CR_MODEL_DATA_CONVERT_H

#include "conf/command_line.h"

#define CR_CONVERT_TO "npy|idx|csv" /* in the order of the table */

/* Writes `dir`/SPLIT-COLUMN.npy or .idx, or `dir`/SPLIT.csv, and
 * `dir`/dataset.yaml; creates the folder. `split` NULL: all splits; `samples`
 * > 0: only that many of each split. `format` is an index into CR_CONVERT_TO.
 * False after reporting; then no file has been written. */
bool cr_data_convert(struct cr_cli *cli, struct cr_config *config,
                     const char *split, int64_t samples, int format,
                     const char *dir);

#endif
