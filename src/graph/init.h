/*
 * An initialiser: fills a parameter once, from random numbers keyed by the
 * run's seed and the parameter's name. Values are made in double and stored.
 * fan_in = d1*d2*..., fan_out = d0*d2*... (cellrun-arithmetic(7)).
 */
#ifndef CR_GRAPH_INIT_H
#define CR_GRAPH_INIT_H

#include "conf/opt.h"
#include "num/rng.h"
#include "num/spec.h"

struct cr_config;

struct cr_init_args {
    const void *opts;
    struct cr_spec spec;
    struct cr_rng rng;
    struct cr_arena *arena; /* working room */
    struct cr_diag *diag;
    struct cr_pos pos;
    const char *param;      /* its name, for messages */
    struct cr_config *config;
    bool replaced;          /* weights of a checkpoint come in its place */
    cr_real *to;            /* NULL: only check that the shape will do */
};

struct cr_init {
    struct cr_descriptor about;
    const char *alias;      /* MindSpore's string: "he_uniform" */
    bool (*fill)(const struct cr_init_args *fill);
};

/* given.c: the values of a .npy file, or the check of its shape. */
bool cr_init_from_file(const struct cr_init_args *fill, const char *name);

/* By class name or by MindSpore's strings, in any case. */
const struct cr_init *cr_init_find(const char *name);

/* He et al., "Delving deep into rectifiers" (ICCV 2015): the options of both
 * distributions, and gain / sqrt(fan). False (reported) when there is none. */
struct cr_he {
    double negative_slope;
    int mode;
    const char *nonlinearity;
};
extern const struct cr_opt cr_he_opts[];
bool cr_he_scale(const struct cr_init_args *fill, double *scale);

/* fan_in and fan_out; false (reported) when the rank is below 2. */
bool cr_fan(const struct cr_init_args *fill, double *fan_in, double *fan_out);
/* Gain of "linear", "relu", "leaky_relu" ... ; NaN when not known. */
double cr_gain(const char *nonlinearity, double negative_slope);

#endif
