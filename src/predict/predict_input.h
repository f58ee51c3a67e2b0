/*
 * Samples from files that are not part of a data set (predict): images and
 * arrays, converted to the input of a column's datapipe and passed through it.
 *
 * An image of another size than the data set's is passed unchanged if the
 * datapipe resizes it; otherwise it is resized first (LINEAR). Channels are
 * converted: colour to grey by the weights of ITU-R BT.601, grey is repeated,
 * alpha is dropped, 16 bits become 8.
 */
#ifndef CR_PREDICT_PREDICT_INPUT_H
#define CR_PREDICT_PREDICT_INPUT_H

#include "data/data_loader.h"
#include "data/format.h"

/* The conversion of inputs for one column. */
struct cr_input_adapter {
    struct cr_arena *arena;
    struct cr_config *config;
    const char *column;
    struct cr_spec head;        /* a sample of the data set */
    struct cr_spec out;         /* after the datapipe */
    struct cr_input_route
        *routes; /* planned so far, one per input shape and type */
};

/* Plans the datapipe for the data set's own samples. False after reporting. */
bool cr_input_adapter_open(struct cr_input_adapter *adapter,
                           struct cr_config *config,
                           const struct cr_column *column);

/* The samples of a file: one for an image, one per index of axis 0 of an
 * array. */
struct cr_input {
    const char *path;
    int64_t count;
    bool many; /* an array, whose samples are numbered */

    const struct cr_format *format;
    struct cr_file *file;
    struct cr_spec spec;        /* of one sample in the file */
    struct cr_input_route *route;
    struct cr_arena mem;
    void *raw, *painted; /* as in the file; with converted channels */
};

/* Opens a file. False after reporting an error (exit 3). */
bool cr_input_open(struct cr_input_adapter *adapter, struct cr_diag *diag,
                   const char *path, struct cr_input *to);
/* Writes sample i after the datapipe to `to`, as adapter->out. False after
 * reporting. */
bool cr_input_read(struct cr_input *input, struct cr_diag *diag, int64_t i,
                   void *to);
/* "uint8 (17, 31, 3) becomes uint8 (6, 5, 1)": the conversion of the samples
 * before the datapipe; NULL: none. */
const char *cr_input_change(const struct cr_input *input,
                            struct cr_arena *arena);
void cr_input_close(struct cr_input *input);

#endif
