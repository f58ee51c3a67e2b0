/*
 * data show: samples as the network receives them, after the datapipe, as a
 * contact sheet (PNG) or as text.
 *
 * Rescale and Normalize are inverted, so that black and white are the original
 * 0 and 255. If another op makes that impossible, black and white are the
 * minimum and maximum of the sample.
 */
#ifndef CR_MODEL_DATA_SHOW_H
#define CR_MODEL_DATA_SHOW_H

#include "conf/command_line.h"

/* Shows the first samples of a split: in the PNG file `to` ("-": standard
 * output), or as text if it is NULL. `samples` CR_INT_NONE: as many as suit the
 * form. False after reporting. */
bool cr_data_show(struct cr_cli *cli, struct cr_config *config,
                  const char *split, int64_t samples, const char *to);

#endif
