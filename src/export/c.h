/*
 * The C file being made (c.c), and what emitters use.
 *
 * An emitter writes the C code of one op of the network to `code`, for a batch
 * of one sample. Values are arrays of float, integers too: cr_c_in has the name
 * of that of an input, cr_c_out declares that of the result.
 *
 *   c_elementwise.c, c_shape.c, c_layers.c   the emitters
 *   c_code.c                                 functions that the code calls
 */
#ifndef CR_EXPORT_C_H
#define CR_EXPORT_C_H

#include "base/str.h"
#include "export/export.h"

struct cr_c {
    struct cr_export *e;
    struct cr_arena *arena;
    const struct cr_inference *graph;
    const struct cr_inference_node *node; /* being written */
    const char **name; /* of the array of each value; NULL: not yet */
    bool *used;        /* of cr_c_functions */
    struct cr_buf data; /* weights and buffers */
    struct cr_buf code; /* the body of the function for a sample */
    int n_weights;
};

/* An emitter by the name of its op; false after reporting. */
struct cr_c_emitter {
    const char *op;
    bool (*emit)(struct cr_c *c, const char *arg);
    const char *arg;
    bool reads_shapes; /* uses attributes that depend on the batch size by
                          shapes only */
    bool integers;     /* moves integers like real numbers */
};
/* Each ends with a zero row. */
extern const struct cr_c_emitter cr_c_elementwise[], cr_c_shape[],
    cr_c_layers[];

/* Reports that the node has no C form, and why; returns false. */
bool cr_c_no(struct cr_c *c, const char *why);

/* Input i of the node (NULL: absent), and its result. */
const struct cr_inference_val *cr_c_val(const struct cr_c *c, int i);
const struct cr_inference_val *cr_c_result(const struct cr_c *c);

/* Dimension i for one sample, the product of dimensions from .. to - 1, and of
 * all. */
int64_t cr_c_dim(const struct cr_inference_val *v, int i);
int64_t cr_c_count(const struct cr_inference_val *v, int from, int to);
int64_t cr_c_all(const struct cr_inference_val *v);

/* An axis counted from the start; -1 after reporting that samples would mix. */
int cr_c_axis(struct cr_c *c, const struct cr_inference_val *v, int64_t axis);
/* Whether none of the last `dims` axes goes through the samples; false after
 * reporting. */
bool cr_c_apart(struct cr_c *c, const struct cr_inference_val *v, int dims);
/* The axis of the samples; the rank where there is none, -1 for two. */
int cr_c_samples(const struct cr_inference_val *v);

/* The array of input i, "NULL" where it is absent; that of the result. */
const char *cr_c_in(struct cr_c *c, int i);
const char *cr_c_out(struct cr_c *c);
/* The index of an element of v in a loop over a value of that rank, and the
 * loops over the elements of y: i0, i1, ... */
const char *cr_c_index(struct cr_c *c, const struct cr_inference_val *v,
                       int rank);
void cr_c_loops(struct cr_c *c, const struct cr_inference_val *y);
/* A number as a constant of type float. */
const char *cr_c_number(struct cr_c *c, double v);
/* The integers as arguments: "1, 2". */
const char *cr_c_list(struct cr_c *c, int n, const int64_t *v);
#define CR_C_INTS(c, ...)                                                   \
    cr_c_list((c), (int)CR_LEN(((const int64_t[]){ __VA_ARGS__ })),         \
              (const int64_t[]){ __VA_ARGS__ })
/* Writes the call of a function of cr_c_functions; arguments of several words
 * are separated by ", ". */
void cr_c_call(struct cr_c *c, const char *function, const char *args);

#endif
