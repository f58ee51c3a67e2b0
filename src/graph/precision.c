/*
 * Precision: which type each node computes in, and the casts between them.
 *
 * Cells emit the network as it is written; each node only records the level
 * and type that its cell asks for. As with its shape, a node's type is found
 * when it is emitted (cr_precision_infer), from its op and the types of its
 * inputs; later, cr_precision_pass goes through the complete graph once and
 * puts a cast wherever a node takes another type than its input has, and where
 * it rounds its result. Nothing but plans and kernels knows of it afterwards.
 *
 * The rules are those of MindSpore 2.10 (train/amp.py; cellrun-arithmetic(7),
 * MIXED PRECISION), per node of a cell at that level:
 *
 *   level   computes in the low type if         its result
 *   O0      every real input was cast to it,    has the type
 *           or has it, if amp.level is O0
 *   O1      the op is on the white list or of   is cast back to float32
 *           a Dense: its activation
 *   auto    the op is on the low list; or, if   has the type; the bias of a
 *           on neither list, all real inputs    product is added in float32
 *           have it
 *   O2, O3  always                              has the type
 *
 * A number in a text has the type of what it is computed with; auto divides one
 * by a tensor in float32, as its reciprocal. Products and quotients with a
 * scalar tensor have the type of the other operand. Moving statistics are never
 * cast. Ops on the black list of O2 take their input as it is. The parameters
 * of a BatchNorm are not cast in O2 nor with keep_batchnorm_fp32, else in
 * prediction alone; those of LayerNorm and GroupNorm have the type of the input
 * as it arrives, in float32 cells, too. Gradients follow: that of a cast is a
 * cast.
 */
#include <string.h>

#include "graph/graph.h"
#include "graph/op_attrs.h"
#include "num/low_precision.h"

/* MindSpore's lists, by the names of ops. */
enum list {
    WHITE = 1,      /* O1 computes it in low precision */
    LOW = 2,        /* auto computes it in low precision; */
    BIAS = 4,       /* and adds input 2 in float32 */
    HIGH = 8,       /* auto computes it in float32 */
    BLACK = 16,     /* O2 computes it on its input as it is */
    BATCHNORM = 32, /* keep_batchnorm_fp32 speaks of its parameters */
    FOLLOW = 64     /* its parameters have the type of its input */
};

static const struct row {
    const char *op;
    unsigned lists;
} rows[] = {
    { "conv2d", WHITE | LOW | BIAS },
    { "conv3d", WHITE | LOW | BIAS },
    { "conv2d_transpose", WHITE | LOW | BIAS },
    { "conv3d_transpose", WHITE | LOW | BIAS },
    { "linear", WHITE | LOW | BIAS },
    { "linear_steps", LOW },
    { "matmul", WHITE | LOW },
    { "prelu", WHITE | LOW },
    { "relu", WHITE },
    { "batch_norm", HIGH | BLACK | BATCHNORM },
    { "layer_norm", HIGH | BLACK | FOLLOW },
    { "group_norm", HIGH | FOLLOW },
    { "softmax", HIGH },
    { "log_softmax", HIGH },
    { "logsumexp", HIGH },
    { "log_sigmoid", HIGH },
    { "cross_entropy", HIGH },
    { "sum", HIGH },
    { "prod", HIGH },
    { "cumsum", HIGH },
    { "cumprod", HIGH },
    { "pow", HIGH },
    { "rsqrt", HIGH },
    { "exp", HIGH },
    { "expm1", HIGH },
    { "log", HIGH },
    { "log1p", HIGH },
    { "tan", HIGH },
    { "asin", HIGH },
    { "acos", HIGH },
    { "sinh", HIGH },
    { "cosh", HIGH },
    { "softplus", HIGH },
    { "var", HIGH },
};

static unsigned lists_of(const struct cr_op *op)
{
    size_t i;

    for (i = 0; i < CR_LEN(rows); i++)
        if (strcmp(rows[i].op, op->about.name) == 0)
            return rows[i].lists;
    return 0;
}

/* ---- types ---- */

static bool is_real(const struct cr_val *x)
{
    return x && x->id >= 0 && x->spec.type == CR_REAL;
}

static bool is_number(const struct cr_val *x)
{
    const struct cr_opnode *from = x->producer;

    while (from && from->n_in == 1 && strcmp(from->op->about.name, "cast") == 0)
        from = from->in[0]->producer;
    return from && x->spec.rank == 0 &&
           strcmp(from->op->about.name, "constant") == 0;
}

/* Whether the op is a product or a quotient, of a tensor: it gives its type to
 * a scalar tensor that is the other operand. */
static bool gives_type(const struct cr_opnode *node)
{
    const char *op = node->op->about.name;
    int i;

    for (i = 0; i < node->n_in; i++)
        if (is_real(node->in[i]) && node->in[i]->spec.rank > 0)
            return strcmp(op, "mul") == 0 || strcmp(op, "div") == 0;
    return false;
}

/* Whether input i is such a scalar tensor: its number is float32. */
static bool is_scalar(const struct cr_opnode *node, int i)
{
    const struct cr_val *x = node->in[i];

    return is_real(x) && x->spec.rank == 0 && !is_number(x) &&
           gives_type(node) && node->precision.level != CR_LEVEL_O2 &&
           node->precision.level != CR_LEVEL_O3;
}

/* Whether the type of input i matters: that of a number does not, and of a
 * normalisation only that of its input does. */
static bool matters(const struct cr_opnode *node, int i)
{
    const struct cr_val *x = node->in[i];

    return is_real(x) && !is_number(x) &&
           (i == 0 || !(lists_of(node->op) & (BATCHNORM | FOLLOW))) &&
           !is_scalar(node, i);
}

/* The type of all inputs that matter, if they have the same. */
static enum cr_type common_type(const struct cr_opnode *node)
{
    enum cr_type type = CR_REAL;
    bool seen = false;
    int i;

    for (i = 0; i < node->n_in; i++) {
        if (!matters(node, i))
            continue;
        if (seen && node->in[i]->low_type != type)
            return CR_REAL;
        type = node->in[i]->low_type;
        seen = true;
    }
    return type;
}

/* Whether x brings its type to a node of level O0. A cell of float32 casts what
 * comes from outside, but not what its text casts. */
static bool brings_type(const struct cr_opnode *node, const struct cr_val *x)
{
    const struct cr_opnode *from = x->producer;

    return x->low_type != CR_REAL &&
           (node->precision.follows ||
            (x->cast && from && from->precision.level == CR_LEVEL_O0 &&
             !from->precision.follows));
}

/* The type of all inputs that matter, if all bring it. */
static enum cr_type cast_type(const struct cr_opnode *node)
{
    enum cr_type type = CR_REAL;
    int i;

    for (i = 0; i < node->n_in && !node->loss; i++) {
        const struct cr_val *x = node->in[i];

        if (!matters(node, i))
            continue;
        if (!brings_type(node, x) || (type != CR_REAL && x->low_type != type))
            return CR_REAL;
        type = x->low_type;
    }
    return type;
}

/* The reciprocal of a tensor, times a number. */
static bool is_reciprocal(const struct cr_opnode *node)
{
    return strcmp(node->op->about.name, "div") == 0 && is_number(node->in[0]);
}

static enum cr_type computes_in(const struct cr_opnode *node)
{
    unsigned lists;

    if (node->as_is || node->precision.within ||
        strcmp(node->op->about.name, "cast") == 0)
        return CR_REAL;
    switch (node->precision.level) {
    case CR_LEVEL_O0:
        return cast_type(node);
    case CR_LEVEL_O1:
        return node->precision.all || (lists_of(node->op) & WHITE)
                   ? node->precision.type
                   : CR_REAL;
    case CR_LEVEL_AUTO:
        lists = lists_of(node->op);
        return lists & LOW ? node->precision.type
               : (lists & HIGH) || is_reciprocal(node) ? CR_REAL
                                                       : common_type(node);
    case CR_LEVEL_O2:
    case CR_LEVEL_O3:
        break;
    }
    return node->precision.type;
}

enum cr_type cr_computes_in(const struct cr_build *b, const struct cr_op *op,
                            int n, struct cr_val *const *in)
{
    struct cr_opnode node = { .op = op,
                              .loss = b->loss,
                              .precision = b->precision,
                              .n_in = n };

    memcpy(node.in, in, (size_t)n * sizeof *in);
    return computes_in(&node);
}

/* Whether its bias is added in float32 afterwards. */
static bool bias_apart(const struct cr_opnode *node)
{
    return node->precision.level == CR_LEVEL_AUTO && node->low != CR_REAL &&
           node->n_in > 2 && node->in[2] && lists_of(node->op) & BIAS;
}

void cr_precision_infer(struct cr_opnode *node)
{
    bool back;
    int i;

    node->low = computes_in(node);
    back = (node->precision.level == CR_LEVEL_O1 && !node->op->exact &&
            !node->same) ||
           bias_apart(node);
    for (i = 0; i < node->n_out; i++) {
        struct cr_val *y = node->out[i];

        if (!is_real(y))
            continue;
        y->cast = node->low != CR_REAL &&
                  node->precision.level == CR_LEVEL_O0;
        if (node->op == &cr_op_fake_cast) {
            y->low_type = cr_fake_cast_type(node->attr);
        } else if (node->as_is && node->op->exact && is_real(node->in[0])) {
            y->low_type = node->in[0]->low_type;
            y->cast = node->in[0]->cast;
        } else {
            y->low_type = back ? CR_REAL : node->low;
        }
    }
}

/* ---- casts ---- */

struct pass {
    struct cr_net *net;
    const struct cr_opnode *of; /* the node whose inputs or results are cast */
    struct cr_opnode *last;     /* the node before the next new one */
    struct cr_opnode **first;   /* of the list, if there is none */
};

/* A node of the same cell and call, in the list after the last one. */
static const struct cr_fake_cast of_input, /* how a cast is */
    of_result = { .result = true }, in_prediction = { .predict = true };

static struct cr_opnode *put(struct pass *p, const struct cr_op *op,
                             const void *attr, int n, struct cr_val *const *in)
{
    struct cr_opnode *node =
        cr_node_in_call_of(p->net, p->of, op, attr, n, in);

    node->next = p->last ? p->last->next : *p->first;
    *(p->last ? &p->last->next : p->first) = node;
    p->last = node;
    return node;
}

static struct cr_opnode *put_cast(struct pass *p, enum cr_type type,
                                  struct cr_fake_cast how, struct cr_val *x)
{
    struct cr_fake_cast *attr = CR_NEW(p->net->arena, struct cr_fake_cast);

    *attr = how;
    attr->type = type == CR_BF16;
    return put(p, &cr_op_fake_cast, attr, 1, &x);
}

/* Whether the parameters of a BatchNorm stay float32, in prediction too. */
static bool parameters_full(const struct pass *p)
{
    unsigned char keep = p->net->amp->keep_batchnorm_fp32;

    return keep != CR_BOOL_NONE ? keep
                                : p->of->precision.level != CR_LEVEL_O3;
}

/* The type that the node takes input i in; CR_REAL: as it is. */
static enum cr_type takes_in(const struct pass *p, unsigned lists, int i)
{
    const struct cr_opnode *node = p->of;

    if (i == 0 && (lists & BLACK) && node->precision.level == CR_LEVEL_O2)
        return CR_REAL;
    if (i > 0 && (lists & FOLLOW))
        return node->precision.level == CR_LEVEL_O1 ? CR_REAL
                                                    : node->in[0]->low_type;
    if ((node->op->running_stats & CR_X(i)) || (bias_apart(node) && i == 2) ||
        (i > 0 && (lists & BATCHNORM) && parameters_full(p)) ||
        is_scalar(node, i))
        return CR_REAL;
    return node->low;
}

/* Input i of the node as it takes it. Each use has a cast of its own: the
 * gradient of each is rounded, and their sum is float32. Plans compute these
 * casts once (plan/casts.c). */
static struct cr_val *input(struct pass *p, unsigned lists, int i)
{
    struct cr_val *x = p->of->in[i];
    enum cr_type type = takes_in(p, lists, i);

    if (!is_real(x) || type == CR_REAL || x->low_type == type)
        return x;
    if (lists & BATCHNORM && (i == 1 || i == 2))
        return put_cast(p, type, in_prediction, x)->out[0];
    x = put_cast(p, type, of_input, x)->out[0];
    x->low_type = type;
    return x;
}

/* The node writes another value, of which `to` makes what y was. */
static struct cr_val *before(struct pass *p, struct cr_opnode *node, int i)
{
    struct cr_val *y = node->out[i], *raw;

    raw = node->out[i] = cr_val_detached(p->net, &y->spec, node);
    return raw;
}

static void writes(struct cr_opnode *node, struct cr_val *y)
{
    node->out[0] = y;
    y->producer = node;
}

static void round_result(struct pass *p, struct cr_opnode *node, int i,
                         enum cr_type type)
{
    struct cr_val *y = node->out[i], *raw = before(p, node, i);

    writes(put_cast(p, type, of_result, raw), y);
}

static void names_move(struct cr_names *names, const struct cr_val *from,
                       struct cr_val *to)
{
    struct cr_named *n;

    for (n = names->first; n; n = n->next)
        if (n->val == from)
            n->val = to;
}

static void reads_move(struct cr_opnode *node, const struct cr_val *from,
                       struct cr_val *to)
{
    int i;

    for (; node; node = node->next)
        for (i = 0; i < node->n_in; i++)
            if (node->in[i] == from)
                node->in[i] = to;
}

/* The result of a cell with a gradient of its own: a cast after it rounds the
 * gradient that the cell is given, which is that of its name, too. */
static void round_given(struct pass *p, struct cr_opnode *node)
{
    struct cr_custom_grad *c = node->custom;
    struct cr_graph *graph = p->net->graph;
    struct cr_val *y = node->out[0];
    enum cr_type type = node->out[0]->low_type;
    int i;

    p->of = p->last = node;
    for (i = 0; i < c->n_out && c->out[i] != y; i++)
        ;
    if (i == c->n_out || type == CR_REAL)
        return;
    /* after all results, which are live if one of them is (plan/live.c) */
    while (p->last->next && p->last->next->custom == c)
        p->last = p->last->next;
    round_result(p, node, 0, type);
    c->out[i] = node->out[0];
    c->out[i]->low_type = type;
    reads_move(c->nodes, y, c->out[i]); /* the cast may have no other use */
    c->zero[i]->producer->in[0] = c->out[i];
    names_move(&graph->named, y, c->out[i]);
    names_move(&graph->seen, y, c->out[i]);
    names_move(&graph->seen_grads, y, c->out[i]);
}

/* y = cast(op(x, w)) + b; of a convolution the channels are dimension 1. */
static void add_bias(struct pass *p, struct cr_opnode *node)
{
    struct cr_reshape *to = CR_NEW(p->net->arena, struct cr_reshape);
    int64_t *dim = CR_NEWS(p->net->arena, int64_t, CR_RANK_MAX);
    struct cr_val *y = node->out[0], *b = node->in[2], *sum[2];
    int i;

    node->in[2] = NULL;
    sum[0] = put_cast(p, node->low, of_result, before(p, node, 0))->out[0];
    sum[0]->low_type = node->low;
    sum[1] = b;
    if (node->in[1]->spec.rank > 2) {
        to->shape.v = dim;
        to->shape.n = y->spec.rank - 1;
        for (i = 0; i < to->shape.n; i++)
            dim[i] = i == 0 ? cr_count(&b->spec) : 1;
        sum[1] = put(p, cr_op_find("reshape"), to, 1, &b)->out[0];
    }
    writes(put(p, cr_op_find("add"), NULL, 2, sum), y);
}

static void node_casts(struct pass *p, struct cr_opnode *node)
{
    unsigned lists = lists_of(node->op);
    int i;

    p->of = node;
    for (i = 0; i < node->n_in; i++)
        node->in[i] = input(p, lists, i);
    p->last = node;
    if (node->low == CR_REAL)
        return;
    if (bias_apart(node)) {
        add_bias(p, node);
        return;
    }
    for (i = 0; i < node->n_out; i++)
        if (is_real(node->out[i]) && !node->op->exact && !node->same)
            round_result(p, node, i, node->low);
}

/* A number that is put among those that an op moves has their type, too. */
static void round_padding(struct cr_net *net, struct cr_opnode *node)
{
    enum cr_type type = node->out[0]->low_type;
    struct cr_pad *to;
    cr_real value;

    if (type == CR_REAL || strcmp(node->op->about.name, "pad") != 0)
        return;
    to = CR_NEW(net->arena, struct cr_pad);
    *to = *(const struct cr_pad *)node->attr;
    value = (cr_real)to->value;
    cr_round_to_type(type, 1, &value, &value);
    to->value = (double)value;
    node->attr = to;
}

/* A list of nodes; returns its last one. The texts of custom gradients have
 * lists of their own, and their own casts: they run in the backward pass. */
static struct cr_opnode *list_casts(struct cr_net *net,
                                    struct cr_opnode **first)
{
    struct pass p = { .net = net, .first = first };
    struct cr_opnode *node, *next;

    for (node = *first; node; node = next) {
        next = node->next;
        round_padding(net, node);
        if (node->low != CR_REAL || (lists_of(node->op) & FOLLOW))
            node_casts(&p, node);
        else if (node->custom)
            round_given(&p, node);
        else
            p.last = node;
    }
    for (node = *first; node; node = node->next)
        if (node->custom && node->custom->node == node)
            list_casts(net, &node->custom->nodes);
    return p.last;
}

void cr_precision_pass(struct cr_net *net, struct cr_graph *graph)
{
    graph->last_node = list_casts(net, &graph->nodes);
}
