#include "build/hook.h"

#include <string.h>

#include "base/str.h"
#include "build/hook_internal.h"

const char *const cr_hook_forms[] = { "tap",      "forward_pre",
                                      "forward",  "backward_pre",
                                      "backward", "hook_backward",
                                      NULL };
const char *const cr_hook_whats[] = { "output",     "grad",        "input",
                                      "grad_input", "grad_params", "params",
                                      NULL };
const char *const cr_hook_ins[] = { "train", "eval", "predict", NULL };
const char *const cr_hook_stats[] = {
    "mean",      "std",           "min",       "max",    "norm",
    "nan_count", "zero_fraction", "histogram", "values", NULL
};

struct hook_opts {
    const char *name;
    const struct cr_node *at, *construct;
    int hook;
    double scale;
    struct cr_reals clamp;
    bool zero, enabled, print;
    struct cr_strs what, stats, in;
    struct cr_quantity every, until;
    const char *save;
    int as;
};

static const struct cr_opt hook_rows[] = {
    CR_NODE(struct hook_opts, at,
            "Patterns over cell names; for hook_backward, over names of "
            "points. network: the whole network. loss, loss.CELL: the loss, "
            "and cells inside it."),
    CR_ENUM_DEFAULT(
        struct hook_opts, hook, CR_HOOK_TAP,
        "tap|forward_pre|forward|backward_pre|backward|hook_backward",
        "tap: observe only. The others are MindSpore's hooks. forward_pre: "
        "inputs of the cell. forward: its outputs. backward_pre: gradients of "
        "its outputs. backward: gradients of its inputs. hook_backward: the "
        "gradient at hook_backward(x, 'point') of a construct."),
    CR_STR_OPTIONAL(struct hook_opts, name,
                    "Name of the entry: ~watch.NAME on the command line "
                    "removes it, watch.NAME.scale=2 changes it."),
    CR_BOOL_DEFAULT(struct hook_opts, enabled, true,
                    "false: ignore the entry."),
    CR_REAL_OPTIONAL(struct hook_opts, scale, -DBL_MAX, DBL_MAX,
                     "Multiply the value by this factor."),
    CR_REALS_OPTIONAL(struct hook_opts, clamp, -DBL_MAX, DBL_MAX,
                      "Clamp the value to these two bounds."),
    CR_BOOL_DEFAULT(struct hook_opts, zero, false,
                    "Replace the value by zeros."),
    CR_NODE(struct hook_opts, construct,
            "Replace the value by the result of this text, written like the "
            "construct of a block. Its variables: inputs (forward_pre); inputs "
            "and output (forward); grad_output (backward_pre); grad_input and "
            "grad_output (backward); grad (hook_backward): each a tensor, or a "
            "tuple if there are several. Returning None keeps the values."),
    CR_STRS_OPTIONAL(struct hook_opts, what,
                     "What to observe: output, grad (gradient of the output), "
                     "input, grad_input (gradient of the input), grad_params "
                     "(gradients of the cell's own parameters; for network: of "
                     "all parameters), params (the parameters themselves, "
                     "before the update of the step). Default: output for a "
                     "tap; for another hook that replaces nothing, the value "
                     "it acts on."),
    CR_STRS_OPTIONAL(
        struct hook_opts, stats,
        "Statistics: mean, std, min, max, norm, nan_count (number of values "
        "that are not finite), zero_fraction, histogram (20 bins), values "
        "(printed as by print(...); at most 1000 in the record). Default: "
        "mean, std, max and nan_count."),
    CR_STRS_OPTIONAL(struct hook_opts, in,
                     "When to observe: train, eval (evaluations during "
                     "training, and the command eval), predict. trace observes "
                     "as eval or predict with --eval or --predict, else as "
                     "train. Default: train. Gradients exist in train only."),
    CR_ENUM_DEFAULT(
        struct hook_opts, as, CR_AS_SCALED, "scaled|unscaled|clipped",
        "Gradients to show. scaled: multiplied by amp.loss_scale, as in the "
        "backward pass. unscaled: divided by it. clipped: grad_params, divided "
        "and after train.clip, as the update uses them."),
    CR_QUANTITY_DEFAULT(
        struct hook_opts, every, "100 steps", CR_STEPS,
        "Interval between observed steps, the first one included. Replacements "
        "act in every step. In eval and predict a step is a batch."),
    CR_QUANTITY_OPTIONAL(
        struct hook_opts, until, CR_STEPS,
        "Stop observing after this time, like MindSpore's handle.remove()."),
    CR_STR_OPTIONAL(struct hook_opts, save,
                    "Write the observed values to one file per step: FILE.npz "
                    "becomes FILE-STEP.npz in the run directory (eval, predict "
                    "and trace: one file per batch in the current folder). "
                    "Tensors are called CELL.output, CELL.grad and so on."),
    CR_BOOL_DEFAULT(
        struct hook_opts, print, false,
        "Also print a line, in addition to the record in metrics.jsonl."),
    { 0 },
};

const struct cr_section cr_section_watch = {
    .about = {
        .name = "watch",
        .summary = "Hooks: observe or replace the values and gradients of "
                   "cells, as in MindSpore.",
        .detail = "A list of entries. Entries that observe write records with "
                  "\"split\": \"watch\" to metrics.jsonl and do not change "
                  "results; observed steps are computed twice, others cost "
                  "nothing. Evaluations of a run also write \"in\": \"eval\" "
                  "and \"batch\"; the commands eval, predict and trace print "
                  "lines to standard error instead. Entries see values before "
                  "replacements by the same or a later entry. An entry that "
                  "replaces also observes if what, stats, every, in, save or "
                  "print is set.\nReplacements are part of the network: "
                  "forward replacements also act in evaluation and prediction, "
                  "and are differentiated; backward replacements change "
                  "gradients only. Around a cell the order is forward_pre, the "
                  "cell, forward in the forward pass, and backward_pre, the "
                  "cell, backward in the backward pass; entries of the same "
                  "kind act in the order of the list. zero also replaces "
                  "values that are not finite, scale 0 does not. summary lists "
                  "the hooks, and the fusions that they prevent.",
        .example = "watch:\n"
                   "  - {at: dense_relu_sequential.1, what: [output, grad], "
                   "stats: [mean, std, max, nan_count], every: 100 steps}\n"
                   "  - {at: dense_relu_sequential.0, hook: backward_pre, "
                   "clamp: [-0.01, 0.01], name: calm}\n"
                   "  - {at: network, in: [eval, predict], stats: values, "
                   "save: logits.npz}\n"
                   "  - {at: '*', what: grad_params, as: clipped, stats: norm, "
                   "until: 1 epoch}\n",
        .opts = hook_rows,
        .size = sizeof(struct hook_opts),
    },
    .raw = true,
};

/* ---- reading ---- */

/* Sets flag[i] for each word that is names[i]. */
static bool hook_words(struct cr_net *net, const struct cr_node *node,
                       const char *key, const struct cr_strs *words,
                       const char *const *names, bool *flag)
{
    const struct cr_node *at = cr_node_get(node, key);
    bool ok = true;
    int i;

    for (i = 0; i < words->n; i++) {
        int k = 0;

        while (names[k] && strcmp(names[k], words->v[i]) != 0)
            k++;
        if (names[k]) {
            flag[k] = true;
            continue;
        }
        ok = cr_error(net->diag, at ? at->pos : node->pos, CR_E_OUT_OF_RANGE,
                      "'%s' of watch: '%s' is not one of the values", key,
                      cr_quote(net->arena, words->v[i], strlen(words->v[i])));
        if (cr_closest_name(words->v[i], names))
            cr_hint(net->diag, "did you mean '%s'?",
                    cr_closest_name(words->v[i], names));
    }
    return ok;
}

/* A generated text that stands where the entry does. */
static const struct cr_node *
hook_text(struct cr_net *net, const struct cr_hook *h, const char *text)
{
    struct cr_node *node = CR_NEW(net->arena, struct cr_node);

    node->kind = CR_NODE_STR;
    node->key = "watch";
    node->pos = h->pos;
    node->text = text;
    return node;
}

/* What the entry puts in place of what is there. */
static bool hook_replaces(struct cr_net *net, const struct cr_node *node,
                          const struct hook_opts *o, struct cr_hook *h)
{
    int n =
        !isnan(o->scale) + (o->clamp.n > 0) + o->zero + (o->construct != NULL);
    const char *a, *b;

    if (n > 1)
        return cr_error(net->diag, h->pos, CR_E_CONFLICT,
                        "set only one of scale, clamp, zero and construct");
    if (n == 1 && h->form == CR_HOOK_TAP)
        return cr_error(net->diag, h->pos, CR_E_MISSING_KEY,
                        "'hook' is missing: set it to forward_pre, forward, "
                        "backward_pre, backward or hook_backward");
    h->each = true;
    if (o->construct) {
        if (o->construct->kind != CR_NODE_STR)
            return cr_error(net->diag, o->construct->pos, CR_E_WRONG_TYPE,
                            "construct: found %s, expected a text of lines",
                            cr_node_what(net->arena, o->construct));
        h->each = false;
        h->text = o->construct;
        h->how = "construct";
    } else if (o->zero) {
        h->text = hook_text(net, h, "return zeros_like(x)");
        h->how = "zero";
    } else if (!isnan(o->scale)) {
        a = cr_real_text(net->arena, o->scale);
        h->text = hook_text(net, h, cr_strf(net->arena, "return x * %s", a));
        h->how = cr_strf(net->arena, "scale %s", a);
    } else if (o->clamp.n > 0) {
        if (o->clamp.n != 2 || o->clamp.v[0] > o->clamp.v[1])
            return cr_error(net->diag, cr_node_get(node, "clamp")->pos,
                            CR_E_OUT_OF_RANGE,
                            "clamp: expected two bounds, the lower one first");
        a = cr_real_text(net->arena, o->clamp.v[0]);
        b = cr_real_text(net->arena, o->clamp.v[1]);
        h->text = hook_text(
            net, h, cr_strf(net->arena, "return clamp(x, %s, %s)", a, b));
        h->how = cr_strf(net->arena, "clamp %s to %s", a, b);
    }
    return true;
}

/* What the entry looks at. */
static bool hook_sees(struct cr_net *net, const struct cr_node *node,
                      const struct hook_opts *o, struct cr_hook *h)
{
    static const char *const usual[] = { "mean", "std", "max", "nan_count" };
    static const struct cr_strs stats = { (int)CR_LEN(usual), usual };
    bool ok =
        hook_words(net, node, "what", &o->what, cr_hook_whats, h->observe);
    int i;

    h->observes = !h->text || cr_node_get(node, "what") ||
                  cr_node_get(node, "stats") || cr_node_get(node, "every") ||
                  cr_node_get(node, "print") || cr_node_get(node, "save") ||
                  cr_node_get(node, "in");
    if (o->what.n == 0 && h->observes) {
        h->observe[CR_OBSERVE_INPUT] = h->form == CR_HOOK_FORWARD_PRE;
        h->observe[CR_OBSERVE_OUTPUT] =
            h->form == CR_HOOK_TAP || h->form == CR_HOOK_FORWARD;
        h->observe[CR_OBSERVE_GRAD_INPUT] = h->form == CR_HOOK_BACKWARD;
        h->observe[CR_OBSERVE_GRAD] =
            h->form >= CR_HOOK_BACKWARD_PRE; /* arrives in all three */
    }
    for (i = 0; i < CR_OBSERVES; i++)
        if (ok && h->form == CR_HOOK_POINT && h->observe[i] &&
            i != CR_OBSERVE_GRAD)
            ok = cr_error(
                net->diag, cr_node_get(node, "what")->pos, CR_E_OUT_OF_RANGE,
                "hook_backward observes a gradient: set 'what' to grad, not %s",
                cr_hook_whats[i]);
    return hook_words(net, node, "stats", o->stats.n > 0 ? &o->stats : &stats,
                      cr_hook_stats, h->stat) &&
           ok;
}

/* Whether a word of `at` is `name`, or begins with it and a point. */
static bool hook_names(const struct cr_node *at, const char *name)
{
    size_t n = strlen(name);
    const char *p = at->kind == CR_NODE_STR ? at->text : "";

    for (CR_EACH(m, at))
        if (hook_names(m, name))
            return true;
    while (*p) {
        p += strspn(p, " ");
        if (strncmp(p, name, n) == 0 && (!p[n] || strchr(" .", p[n])))
            return true;
        p += strcspn(p, " ");
    }
    return false;
}

/* Whether `at` has no pattern at all. */
static bool hook_nowhere(const struct cr_node *at)
{
    bool none = true;

    if (at->kind == CR_NODE_STR)
        return at->text[strspn(at->text, " ")] == '\0';
    if (at->kind != CR_NODE_LIST)
        return false;
    for (CR_EACH(m, at))
        none = none && hook_nowhere(m);
    return none;
}

/* Where and how long the entry looks. */
static bool hook_place(struct cr_net *net, const struct cr_node *node,
                       const struct hook_opts *o, struct cr_hook *h)
{
    bool grads = h->observe[CR_OBSERVE_GRAD] ||
                 h->observe[CR_OBSERVE_GRAD_INPUT] ||
                 h->observe[CR_OBSERVE_GRAD_PARAMS] ||
                 h->observe[CR_OBSERVE_PARAMS];
    const struct cr_node *at = o->in.n > 0 ? cr_node_get(node, "in") : node;

    h->until = o->until;
    h->save = o->save;
    h->as = o->as;
    h->in[CR_IN_TRAIN] = o->in.n == 0;
    if (!hook_words(net, node, "in", &o->in, cr_hook_ins, h->in))
        return false;
    if (grads && !h->in[CR_IN_TRAIN])
        return cr_error(net->diag, at->pos, CR_E_CONFLICT,
                        "gradients and parameters are observed in training "
                        "only: add train to 'in'");
    if (h->text && h->until.unit != CR_UNIT_NONE)
        return cr_error(net->diag, cr_node_get(node, "until")->pos,
                        CR_E_CONFLICT,
                        "'until' ends observation only: to end a replacement, "
                        "resume with ~watch.NAME and --allow-change");
    if (h->until.unit == CR_SECONDS)
        return cr_error(net->diag, cr_node_get(node, "until")->pos,
                        CR_E_OUT_OF_RANGE,
                        "'until' of watch: expected a number of steps, epochs, "
                        "samples or percent");
    if (h->as == CR_AS_CLIPPED && !h->observe[CR_OBSERVE_GRAD_PARAMS])
        return cr_error(net->diag, cr_node_get(node, "as")->pos, CR_E_CONFLICT,
                        "train.clip acts on gradients of parameters: 'as: "
                        "clipped' needs 'what: grad_params'");
    return !h->save || cr_ends(h->save, ".npz") ||
           cr_ends(h->save, ".safetensors") ||
           cr_error(net->diag, cr_node_get(node, "save")->pos,
                    CR_E_OUT_OF_RANGE,
                    "found '%s', expected a file *.npz or "
                    "*.safetensors",
                    cr_quote(net->arena, h->save, strlen(h->save)));
}

static bool hook_name(struct cr_net *net, const struct cr_node *node,
                      const struct cr_hook *h)
{
    const char *c = h->name;
    int i;

    if (!c)
        return true;
    if (*c >= 'a' && *c <= 'z')
        while ((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') ||
               (*c >= '0' && *c <= '9') || *c == '_')
            c++;
    if (*c || c == h->name)
        return cr_error(net->diag, cr_node_get(node, "name")->pos, CR_E_FORM,
                        "name: found '%s', expected a lower-case letter, then "
                        "letters, digits and _",
                        cr_quote(net->arena, h->name, strlen(h->name)));
    for (i = 0; i < net->hooks->n_names; i++)
        if (strcmp(net->hooks->names[i]->text, h->name) == 0) {
            cr_error(net->diag, cr_node_get(node, "name")->pos, CR_E_CONFLICT,
                     "two entries of watch are called '%s'", h->name);
            cr_note(net->diag, "the first is at %s:%d:%d",
                    net->hooks->names[i]->pos.src->name,
                    net->hooks->names[i]->pos.line,
                    net->hooks->names[i]->pos.col);
            return false;
        }
    net->hooks->names[net->hooks->n_names++] = cr_node_get(node, "name");
    return true;
}

static bool hook_read(struct cr_net *net, const struct cr_node *node)
{
    struct cr_hook *h = &net->hooks->v[net->hooks->n];
    struct hook_opts o = { 0 };
    bool ok;

    if (!cr_opts_read(net->arena, net->diag, &cr_section_watch.about, node,
                      node->pos, &o))
        return false;
    if (!o.at)
        return cr_error(net->diag, node->pos, CR_E_MISSING_KEY,
                        "'at' is missing: the cells to watch");
    h->pos = node->pos;
    h->name = o.name;
    h->form = (enum cr_hook_form)o.hook;
    h->every = o.every;
    h->print = o.print;
    h->at = cr_patterns_read(net->config, o.at);
    h->network = hook_names(o.at, "network");
    h->loss = hook_names(o.at, "loss");
    ok = h->at != NULL;
    if (hook_nowhere(o.at))
        ok =
            cr_error(net->diag, o.at->pos, CR_E_NO_MATCH,
                     "'at' is empty: expected names of cells, network or loss");
    if (o.every.unit == CR_SECONDS || o.every.value <= 0)
        ok = cr_error(net->diag, node->pos, CR_E_OUT_OF_RANGE,
                      "'every' of watch: expected a number of steps, epochs, "
                      "samples or percent above 0");
    ok = hook_name(net, node, h) && ok;
    ok = hook_replaces(net, node, &o, h) && ok;
    ok = hook_sees(net, node, &o, h) && hook_place(net, node, &o, h) && ok;
    if (ok && o.enabled)
        net->hooks->n++;
    else
        *h = (struct cr_hook){ 0 };
    return ok;
}

void cr_hooks_read(struct cr_net *net)
{
    const struct cr_node *node = cr_section(net->config, "watch");
    struct cr_hooks *hooks = CR_NEW(net->arena, struct cr_hooks);
    int i, count = cr_node_count(node);

    net->hooks = hooks;
    if (!node || node->kind == CR_NODE_NULL)
        return;
    if (node->kind != CR_NODE_LIST) {
        hooks->broken = true;
        cr_error(net->diag, node->pos, CR_E_WRONG_TYPE,
                 "watch: found %s, expected a list of entries {at: CELL, ...}",
                 cr_node_what(net->arena, node));
        return;
    }
    hooks->v = CR_NEWS(net->arena, struct cr_hook, count + 1);
    hooks->names = CR_NEWS(net->arena, const struct cr_node *, count + 1);
    for (CR_EACH(m, node))
        hooks->broken = !hook_read(net, m) || hooks->broken;
    for (i = 0; i < hooks->n; i++) {
        const struct cr_hook *h = &hooks->v[i];

        hooks->any = hooks->any || h->text;
        hooks->back =
            hooks->back || (h->text && h->form >= CR_HOOK_BACKWARD_PRE);
    }
}

/* ---- asking ---- */

bool cr_hooks_used(struct cr_net *net)
{
    const struct cr_hooks *hooks = net->hooks;
    struct cr_subject *cells =
        CR_NEWS(net->arena, struct cr_subject, net->n_cells + 1);
    struct cr_subject *points =
        CR_NEWS(net->arena, struct cr_subject, hooks->n_points + 1);
    bool ok = !hooks->broken;
    int i, n = 0;

    for (i = 0; i < net->n_cells; i++)
        if (i < net->n_shown || cr_hook_of_loss(net->cells[i].name)) {
            cells[n] = cr_net_cell_subject(net, i);
            if (!cells[n++].name[0])
                cells[n - 1].name = "network";
        }
    for (i = 0; i < hooks->n_points; i++)
        points[i].name = hooks->points[i];
    for (i = 0; i < hooks->n; i++) {
        bool point = hooks->v[i].form == CR_HOOK_POINT;

        if (hooks->v[i].loss && !net->opts.loss)
            continue; /* its cells are not known */
        ok = cr_patterns_used(net->config, hooks->v[i].at,
                              point ? points : cells,
                              point ? hooks->n_points : n,
                              point ? "hook_backward" : "cell") &&
             ok;
    }
    return ok;
}

enum cr_hooks_on cr_hooks_for(const struct cr_net *net,
                              const struct cr_exec_opts *want)
{
    if (want->observe)
        return CR_HOOKS_OBSERVED;
    if (!net->hooks->any)
        return CR_HOOKS_ALL;
    if (want->no_hooks)
        return CR_HOOKS_NONE;
    return net->hooks->back && (!want->backward || want->hold)
               ? CR_HOOKS_FORWARD
               : CR_HOOKS_ALL;
}

const struct cr_hook *cr_net_hooks(const struct cr_net *net, int *n)
{
    *n = net->hooks->n;
    return net->hooks->v;
}

bool cr_hook_of_loss(const char *name)
{
    return strncmp(name, "loss", 4) == 0 && (!name[4] || name[4] == '.');
}

bool cr_hooks_observe(const struct cr_net *net, enum cr_hook_in in, bool *grads)
{
    bool any = false;
    int i;

    *grads = false;
    for (i = 0; i < net->hooks->n; i++) {
        const struct cr_hook *h = &net->hooks->v[i];

        if (!h->observes || !h->in[in])
            continue;
        any = true;
        *grads = *grads || h->observe[CR_OBSERVE_GRAD] ||
                 h->observe[CR_OBSERVE_GRAD_INPUT] ||
                 h->observe[CR_OBSERVE_GRAD_PARAMS];
    }
    return any;
}

bool cr_hook_matches(const struct cr_hook *hook, const char *name,
                     const char *type)
{
    const char *types[] = { type, NULL };

    if (hook->form != CR_HOOK_POINT && !name[0])
        return hook->network;
    if (hook->form != CR_HOOK_POINT && !hook->loss && cr_hook_of_loss(name))
        return false;
    return name[0] &&
           cr_patterns_match(hook->at, &(struct cr_subject){ name, types });
}

const char *const *cr_net_points(const struct cr_net *net)
{
    static const char *const none[] = { NULL };

    return net->hooks->n_points > 0 ? net->hooks->points : none;
}
