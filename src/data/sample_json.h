/*
 * Samples of a data set as JSON, for people to look at: as they are stored,
 * before any transform.
 */
#ifndef CR_DATA_SAMPLE_JSON_H
#define CR_DATA_SAMPLE_JSON_H

#include "base/str.h"
#include "data/data_loader.h"

#define CR_SAMPLE_PIXELS 96  /* largest side of a picture */
#define CR_SAMPLE_TEXT 400   /* bytes of a text */
#define CR_SAMPLE_NUMBERS 32 /* numbers of a column */

/* Appends the columns of a sample but `label` (NULL: none) as the members of an
 * object. A picture is {"height": H, "width": W, "png": BASE64}; a text or
 * tokens of a vocabulary a string; anything else a number, a list of numbers,
 * or an object where the features of a table have names. Columns that cannot
 * be shown or read are skipped. */
void cr_sample_json(struct cr_buf *to, struct cr_config *config,
                    const struct cr_data_loader *loader, int64_t sample,
                    const char *label);

#endif
