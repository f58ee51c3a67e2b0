/*
 * The graph of a network in predict mode, read-only, for programs that write
 * the network in another form (src/export).
 *
 * It has semantic ops: no kernel, layout or fusion has been chosen. Nodes are
 * in order of computation, and only those on which a result depends. Ops
 * without effect in predict mode (dropout, stop_gradient, hooks that only look)
 * are omitted: their readers read their input. Whatever depends neither on
 * inputs nor on parameters is computed here and is a constant.
 *
 * The graph is built for three batch sizes N, so that each dimension of a value
 * is known as fixed + per_sample * N.
 */
#ifndef CR_BUILD_INFERENCE_H
#define CR_BUILD_INFERENCE_H

#include "graph/net.h"
#include "graph/op.h"

/* The batch size of cr_inference_val.spec and cr_inference_node.attr, and that
 * of cr_inference_node.other_attr. */
enum { CR_INFERENCE_BATCH = 2, CR_INFERENCE_OTHER_BATCH = 3 };

struct cr_inference_val {
    const char *name;   /* unique: a parameter's or a column's, or "CELL/OP" */
    struct cr_spec spec; /* for CR_INFERENCE_BATCH samples */
    int64_t fixed[CR_RANK_MAX];      /* dim[i] = fixed[i] + per_sample[i] * N */
    int64_t per_sample[CR_RANK_MAX]; /* 0: the dimension is constant */
    bool batch;         /* some per_sample is not 0 */
    int param;          /* index into cr_net_params; -1: none */
    int input;          /* index into inputs; -1: none */
    const void *data;   /* a constant, or the elements of the parameter; NULL:
                           depends on inputs */
    int producer;       /* index of its node; -1: none */
    int uses;           /* number of nodes and results that read it */
};

struct cr_inference_node {
    const struct cr_op *op;
    const void *attr;    /* the op's attributes, see cr_inference_attr; may be
                            NULL: all have their defaults */
    const void *other_attr; /* the same for CR_INFERENCE_OTHER_BATCH samples */
    bool attr_varies;    /* an attribute depends on the batch size */
    const char *cell;    /* full name; "" for the network itself */
    const char *type;    /* of the cell: "Dense" */
    struct cr_pos pos;
    int n_in, n_out;
    int in[CR_OP_MAX];   /* values; -1: absent */
    int out[CR_OP_MAX];
};

struct cr_inference_result {
    const char *name;    /* as in the network's `return`, else "output",
                            "output.1" */
    int val;
};

struct cr_inference {
    const struct cr_net *net;
    const struct cr_inference_val *vals;
    const struct cr_inference_node *nodes;
    int n_vals, n_nodes;
    int n_inputs;
    const int *inputs;   /* values: the columns that the results depend on */
    int n_results;
    const struct cr_inference_result *results;
};

/* Makes the graph; the network was built for CR_INFERENCE_BATCH samples and has
 * its weights. It lives in the config's arena. NULL after reporting. */
const struct cr_inference *cr_net_inference(struct cr_net *net);

/* An attribute of a node, by the name of its row in op->about.opts; the default
 * of the row where attr is NULL. The name must exist with that type. */
int64_t cr_inference_int(const struct cr_inference_node *node,
                         const char *name);
double cr_inference_real(const struct cr_inference_node *node,
                         const char *name);
bool cr_inference_bool(const struct cr_inference_node *node, const char *name);
/* The choice as text: "same". */
const char *cr_inference_enum(struct cr_arena *arena,
                              const struct cr_inference_node *node,
                              const char *name);
struct cr_ints cr_inference_ints(const struct cr_inference_node *node,
                                 const char *name);
struct cr_reals cr_inference_reals(const struct cr_inference_node *node,
                                   const char *name);
/* Whether the op has such an attribute. */
bool cr_inference_has(const struct cr_inference_node *node, const char *name);

#endif
