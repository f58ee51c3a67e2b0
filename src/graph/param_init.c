/*
 * Initialisation of parameters: the section `init`, and filling them.
 *
 * The last of these that is given applies: the scheme, the argument of the
 * cell (weight_init), the modifier `init` (of the weight), the rules of
 * `init` in their order.
 */
#include "base/str.h"
#include "graph/graph.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct rule {
    const struct cr_node *node;
    struct cr_patterns *of;
    struct cr_obj init;
};

struct cr_init_rules {
    int scheme;
    struct rule *rules;
    int n_rules;
};

struct init_section {
    int scheme;
    const struct cr_node *rules;
};

enum {
    SCHEME_2,
    SCHEME_1
};

static const struct cr_opt init_opts[] = {
    CR_ENUM_DEFAULT(
        struct init_section, scheme, SCHEME_2, "mindspore2|mindspore1",
        "Initialisation of all other parameters: mindspore2 is "
        "HeUniform(negative_slope sqrt(5)) for weights and U(-1/sqrt(fan_in), "
        "1/sqrt(fan_in)) for biases, mindspore1 is N(0, 0.01^2) and zeros "
        "(MindSpore up to 2.0)."),
    CR_NODE(struct init_section, rules,
            "A list of rules {match: PATTERNS, of: TYPES, INITIALIZER: {...}}; "
            "the last rule that matches a parameter decides. A bare list under "
            "`init` is `rules`."),
    { 0 },
};

const struct cr_section cr_section_init = {
    .about = {
        .name = "init",
        .summary = "Initialisation of parameters.",
        .detail = "Initial values come from the first of these that is given: "
                  "the last rule that matches, the modifier `init` of the "
                  "cell, an argument such as weight_init, the scheme.",
        .example = "init:\n"
                   "  scheme: mindspore1\n"
                   "  rules:\n"
                   "    - {match: \"*.bias\", Zero: {}}\n",
        .opts = init_opts,
        .size = sizeof(struct init_section),
    },
    .raw = true,
};

static bool read_rule(struct cr_net *net, const struct cr_node *node,
                      struct rule *to)
{
    const struct cr_node *args;
    const char *type = cr_node_type(node, &args);
    bool ok = true;

    to->node = node;
    if (node->kind != CR_NODE_MAP || !type)
        return cr_error(net->diag, node->pos, CR_E_FORM,
                        "init: found %s, expected a rule {match: PATTERNS, of: "
                        "TYPES, INITIALIZER: {...}}",
                        cr_node_what(net->arena, node));
    for (CR_EACH(m, node))
        if (strcmp(m->key, "match") != 0 && strcmp(m->key, "of") != 0 &&
            strcmp(m->key, type) != 0)
            ok = cr_error(net->diag, m->key_pos, CR_E_UNKNOWN_KEY,
                          "'%s' is not a key of a rule of init", m->key);
    to->of = cr_patterns_beside(net->config, node);
    ok = to->of && ok;
    return cr_obj_read(net->arena, net->diag, CR_KIND_INIT, node, &to->init) &&
           ok;
}

struct cr_init_rules *cr_init_rules_read(struct cr_net *net)
{
    struct cr_init_rules *s = CR_NEW(net->arena, struct cr_init_rules);
    const struct cr_node *node = cr_section(net->config, "init");
    const struct cr_node *rules = node;
    struct init_section section = { 0 };
    bool ok = true;

    if (!node || node->kind != CR_NODE_LIST) {
        if (!cr_opts_read(net->arena, net->diag, &cr_section_init.about, node,
                          node ? node->pos : CR_NOWHERE, &section))
            return NULL;
        rules = section.rules;
    }
    s->scheme = section.scheme;
    if (rules && rules->kind != CR_NODE_LIST) {
        cr_error(net->diag, rules->pos, CR_E_WRONG_TYPE,
                 "rules: found %s, expected a list",
                 cr_node_what(net->arena, rules));
        return NULL;
    }
    s->rules = CR_NEWS(net->arena, struct rule, cr_node_count(rules) + 1);
    for (CR_EACH(m, rules))
        ok = read_rule(net, m, &s->rules[s->n_rules++]) && ok;
    return ok ? s : NULL;
}

/* An initialiser with one option set by us instead of by a config. */
static struct cr_param_init by_default(struct cr_net *net, const char *name,
                                       const char *option, double value)
{
    const struct cr_init *init = cr_init_find(name);
    char *opts = cr_alloc(net->arena, 1, init->about.size + 1);
    struct cr_diag quiet = { .arena = net->arena }; /* value is required */
    const struct cr_opt *row;

    cr_opts_read(net->arena, &quiet, &init->about, NULL, CR_NOWHERE, opts);
    for (row = init->about.opts; option && row && row->name; row++)
        if (strcmp(row->name, option) == 0)
            memcpy(opts + row->at, &value, sizeof value);
    return (struct cr_param_init){
        .init = init,
        .opts = opts,
        .text = option ? cr_strf(net->arena, "%s(%s=%.6g)", init->about.name,
                                 option, value)
                       : init->about.name,
    };
}

static struct cr_param_init
from_obj(struct cr_net *net, const struct cr_obj *obj, struct cr_pos pos)
{
    struct cr_param_init f;

    if (obj->is_number)
        f = by_default(net, "Constant", "value", obj->number);
    else
        f = (struct cr_param_init){
            .init = cr_init_find(obj->about->name),
            .opts = obj->opts,
            .text = obj->node && obj->node->kind != CR_NODE_STR
                        ? cr_node_flow(net->arena, obj->node)
                        : obj->about->name,
        };
    f.pos = obj->node ? obj->node->pos : pos;
    return f;
}

static bool is_given(const struct cr_obj *obj)
{
    return obj && (obj->about || obj->is_number);
}

bool cr_init_choose(struct cr_init_rules *s, struct cr_net *net,
                    const struct cr_param *param, const struct cr_obj *control,
                    const struct cr_obj *given, enum cr_default_init begin,
                    double bound, struct cr_param_init *to)
{
    struct cr_init_args check = { .spec = param->spec,
                                  .arena = net->arena,
                                  .diag = net->diag,
                                  .param = param->name,
                                  .config = net->config,
                                  .replaced = net->opts.loaded };
    struct cr_subject subject = { param->name, param->types };
    struct cr_pos pos = param->pos;
    bool old = s->scheme == SCHEME_1;
    int i;

    if (begin == CR_DEFAULT_INIT_WEIGHT)
        *to = old ? by_default(net, "Normal", "sigma", 0.01)
                  : by_default(net, "HeUniform", "negative_slope", sqrt(5));
    else if (bound > 0 && (begin == CR_DEFAULT_INIT_UNIFORM ||
                           (begin == CR_DEFAULT_INIT_FAN_IN && !old)))
        *to = by_default(net, "Uniform", "scale", 1 / sqrt(bound));
    else if (begin == CR_DEFAULT_INIT_ONE)
        *to = by_default(net, "One", NULL, 0);
    else if (begin == CR_DEFAULT_INIT_NORMAL)
        *to = by_default(net, "Normal", "sigma", 0.01);
    else if (begin == CR_DEFAULT_INIT_XAVIER)
        *to = by_default(net, "XavierUniform", NULL, 0);
    else if (begin == CR_DEFAULT_INIT_XAVIER_NORMAL)
        *to = by_default(net, "XavierNormal", NULL, 0);
    else
        *to = by_default(net, "Zero", NULL, 0);
    to->pos = pos;
    if (is_given(given))
        *to = from_obj(net, given, pos);
    if (is_given(control))
        *to = from_obj(net, control, pos);
    for (i = 0; i < s->n_rules; i++) {
        struct rule *r = &s->rules[i];

        if (!cr_patterns_match(r->of, &subject))
            continue;
        *to = from_obj(net, &r->init, pos);
        to->pos = r->node->pos;
    }
    check.opts = to->opts;
    check.pos = to->pos;
    return to->init->fill(&check);
}

bool cr_init_rules_check(struct cr_init_rules *s, struct cr_net *net)
{
    int i, n;
    const struct cr_subject *params = cr_net_subjects(net, &n);
    bool ok = true;

    for (i = 0; i < s->n_rules; i++)
        ok = cr_patterns_used(net->config, s->rules[i].of, params, n,
                              "parameter") &&
             ok;
    return ok;
}

/* All values in one block, each parameter at a multiple of 64 bytes. */
bool cr_net_init_params(struct cr_net *net)
{
    size_t total = 0, at = 0;
    char *block;
    int i;

    for (i = 0; i < net->n_params; i++)
        total += (cr_bytes(&net->params[i].spec) + 63) / 64 * 64;
    block = cr_alloc(net->arena, total + 64, 1);
    for (i = 0; i < net->n_params; i++) {
        struct cr_param *p = &net->params[i];
        const struct cr_param_init *f = &net->param_inits[i];
        struct cr_init_args fill = {
            .opts = f->opts,
            .spec = p->spec,
            .rng = cr_rng(net->opts.seed, CR_STREAM_INIT,
                          cr_hash(CR_HASH, f->key, strlen(f->key)), 0),
            .arena = net->arena,
            .diag = net->diag,
            .pos = f->pos,
            .param = p->name,
            .config = net->config,
            .replaced = net->opts.loaded,
        };

        p->data = (cr_real *)(block + at);
        fill.to = p->data;
        at += (cr_bytes(&p->spec) + 63) / 64 * 64;
        if (!f->init->fill(&fill))
            return false;
        if (f->zero_row > 0)
            memset(p->data + (f->zero_row - 1) *
                                 (cr_count(&p->spec) / p->spec.dim[0]),
                   0, cr_bytes(&p->spec) / (size_t)p->spec.dim[0]);
    }
    return true;
}

/* ---- what initialisers share ---- */

bool cr_fan(const struct cr_init_args *fill, double *fan_in, double *fan_out)
{
    double rest = 1;
    int i;

    if (fill->spec.rank < 2)
        return cr_error(fill->diag, fill->pos, CR_E_SHAPE,
                        "parameter '%s': found %s, but the initialiser needs "
                        "at least 2 dimensions to compute a fan",
                        fill->param, cr_diag_format(fill->arena, &fill->spec));
    for (i = 2; i < fill->spec.rank; i++)
        rest *= (double)fill->spec.dim[i];
    *fan_in = (double)fill->spec.dim[1] * rest;
    *fan_out = (double)fill->spec.dim[0] * rest;
    return true;
}

double cr_gain(const char *nonlinearity, double negative_slope)
{
    if (strcmp(nonlinearity, "tanh") == 0)
        return 5.0 / 3.0;
    if (strcmp(nonlinearity, "relu") == 0)
        return sqrt(2);
    if (strcmp(nonlinearity, "leaky_relu") == 0)
        return sqrt(2 / (1 + negative_slope * negative_slope));
    if (strcmp(nonlinearity, "linear") == 0 ||
        strcmp(nonlinearity, "sigmoid") == 0 ||
        strncmp(nonlinearity, "conv", 4) == 0)
        return 1;
    return NAN;
}

enum {
    FAN_IN,
    FAN_OUT
};

const struct cr_opt cr_he_opts[] = {
    CR_REAL_DEFAULT(struct cr_he, negative_slope, 0, -1e30, 1e30,
                    "Slope of leaky_relu below zero."),
    CR_ENUM_DEFAULT(struct cr_he, mode, FAN_IN, "fan_in|fan_out",
                    "The fan of the formula: fan_in keeps the variance in the "
                    "forward pass, fan_out in the backward pass."),
    CR_STR_DEFAULT(struct cr_he, nonlinearity, "leaky_relu",
                   "The activation that follows, which determines the gain: "
                   "linear, sigmoid, tanh, relu or leaky_relu."),
    { 0 },
};

bool cr_he_scale(const struct cr_init_args *fill, double *scale)
{
    const struct cr_he *o = fill->opts;
    double in, out, gain = cr_gain(o->nonlinearity, o->negative_slope);

    if (isnan(gain))
        return cr_error(fill->diag, fill->pos, CR_E_UNKNOWN_TYPE,
                        "nonlinearity: found '%s', expected linear, sigmoid, "
                        "tanh, relu or leaky_relu",
                        o->nonlinearity);
    if (!cr_fan(fill, &in, &out))
        return false;
    *scale = gain / sqrt(o->mode == FAN_IN ? in : out);
    return true;
}
