/*
 * The section `watch`: MindSpore's hooks as data. An entry looks at what goes
 * through cells, or puts something else in its place.
 *
 *   forward_pre    the cell's inputs
 *   forward        its results
 *   backward_pre   the gradients that arrive at its results
 *   backward       the gradients that leave it at its inputs
 *   hook_backward  the gradient at hook_backward(x, 'name') of a construct
 *
 * The order around one call, in which entries of a form follow each other as
 * in the config, as in MindSpore's PyNative mode:
 *
 *   forward_pre  [ backward  cell  backward_pre ]  forward
 *
 * What replaces is part of the network (hook_graph.c). What is only looked at
 * stands in a graph of its own, for plans with opts.observe; all else continues
 * as if it were not there.
 */
#ifndef CR_BUILD_HOOK_H
#define CR_BUILD_HOOK_H

#include "conf/config.h"

struct cr_net;

enum cr_hook_form {
    CR_HOOK_TAP, /* looks, wherever `what` says */
    CR_HOOK_FORWARD_PRE,
    CR_HOOK_FORWARD,
    CR_HOOK_BACKWARD_PRE,
    CR_HOOK_BACKWARD,
    CR_HOOK_POINT
};
extern const char *const cr_hook_forms[]; /* "tap", "forward_pre" ... */

/* What can be looked at. */
enum cr_hook_what {
    CR_OBSERVE_OUTPUT,
    CR_OBSERVE_GRAD, /* arrives at the output, or at a point */
    CR_OBSERVE_INPUT,
    CR_OBSERVE_GRAD_INPUT,  /* leaves the cell */
    CR_OBSERVE_GRAD_PARAMS, /* of its own parameters */
    CR_OBSERVE_PARAMS,      /* its own parameters, before the update */
    CR_OBSERVES
};
extern const char *const cr_hook_whats[];

enum cr_hook_stat {
    CR_STAT_MEAN,
    CR_STAT_STD,
    CR_STAT_MIN,
    CR_STAT_MAX,
    CR_STAT_NORM,
    CR_STAT_NAN_COUNT,
    CR_STAT_ZERO_FRACTION,
    CR_STAT_HISTOGRAM,
    CR_STAT_VALUES, /* all of them */
    CR_STATS
};
extern const char *const cr_hook_stats[];

/* Where an entry looks. */
enum cr_hook_in { CR_IN_TRAIN, CR_IN_EVAL, CR_IN_PREDICT, CR_INS };
extern const char *const cr_hook_ins[];

/* Which gradients it sees. */
enum cr_hook_as { CR_AS_SCALED, CR_AS_UNSCALED, CR_AS_CLIPPED };

struct cr_hook {
    const char *name; /* its handle; NULL: none */
    struct cr_pos pos;
    enum cr_hook_form form;
    struct cr_patterns *at;     /* over names of cells, or of points */
    const struct cr_node *text; /* what replaces; NULL: nothing does */
    bool each;                  /* the text says so of every tensor x */
    const char *how;            /* "scale 0.5", "construct"; NULL */
    bool observe[CR_OBSERVES], stat[CR_STATS], observes;
    bool network, loss; /* `at` names the whole network, or of the loss */
    bool in[CR_INS];
    int as; /* enum cr_hook_as */
    struct cr_quantity every, until; /* until: CR_UNIT_NONE: for ever */
    const char *save; /* file of what it sees; NULL: none */
    bool print;
};

/* The entries that are enabled; n == 0: none. */
const struct cr_hook *cr_net_hooks(const struct cr_net *net, int *n);
/* Whether the entry speaks of a cell of that type (of a point, where it is
 * such a hook, which has none: NULL). */
bool cr_hook_matches(const struct cr_hook *hook, const char *name,
                     const char *type);
/* Whether a cell of that name is the loss, or inside it. */
bool cr_hook_of_loss(const char *name);
/* Whether some entry looks there; *grads: at gradients too. */
bool cr_hooks_observe(const struct cr_net *net, enum cr_hook_in in,
                      bool *grads);
/* Names of points, in order of computation; NULL after the last. */
const char *const *cr_net_points(const struct cr_net *net);

#endif
