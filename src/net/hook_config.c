#include "net/hook.h"

#include <string.h>

#include "base/str.h"
#include "net/hook_internal.h"

const char *const cr_hook_forms[] = { "tap",      "forward_pre",
                                      "forward",  "backward_pre",
                                      "backward", "hook_backward",
                                      NULL };
const char *const cr_hook_whats[] = { "output",     "grad",        "input",
                                      "grad_input", "grad_params", NULL };
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
            "Patterns over cell names; of hook_backward, over names of "
            "points. network: the whole network. loss, loss.CELL: the loss, "
            "and cells inside it."),
    CR_ENUM_DEFAULT(
        struct hook_opts, hook, CR_HOOK_TAP,
        "tap|forward_pre|forward|backward_pre|backward|hook_backward",
        "tap only looks. The others are MindSpore's: on a cell's "
        "inputs, on its results, on the gradients that arrive at "
        "these, on those that leave the cell at its inputs, and on "
        "the gradient at hook_backward(x, 'point') of a construct."),
    CR_STR_OPTIONAL(
        struct hook_opts, name,
        "A handle: ~watch.NAME on the command line removes the entry, "
        "watch.NAME.scale=2 changes it."),
    CR_BOOL_DEFAULT(struct hook_opts, enabled, true,
                    "false: as if the entry were not there."),
    CR_REAL_OPTIONAL(struct hook_opts, scale, -DBL_MAX, DBL_MAX,
                     "Replace: multiply by this."),
    CR_REALS_OPTIONAL(struct hook_opts, clamp, -DBL_MAX, DBL_MAX,
                      "Replace: keep between these two bounds."),
    CR_BOOL_DEFAULT(struct hook_opts, zero, false, "Replace by zeros."),
    CR_NODE(struct hook_opts, construct,
            "Replace by what a text returns, written as that of a block. It "
            "has inputs (forward_pre); inputs and output (forward); "
            "grad_output (backward_pre); grad_input and grad_output "
            "(backward); grad (hook_backward): each a tensor, or a tuple "
            "where there are several. None leaves them as they are."),
    CR_STRS_OPTIONAL(
        struct hook_opts, what,
        "What to look at: output, grad (the gradient that arrives "
        "there), input, grad_input (the gradient that the cell gives "
        "its inputs), grad_params (the gradients of its own "
        "parameters; of network: of all). If not given, of a tap "
        "output, of a hook that replaces nothing what its form is "
        "about."),
    CR_STRS_OPTIONAL(
        struct hook_opts, stats,
        "Of mean, std, min, max, norm, nan_count (values that are not "
        "finite), zero_fraction, histogram (20 bins), values (printed "
        "as print(...) does; the record has up to 1000 of them); "
        "mean, std, max and nan_count if not given."),
    CR_STRS_OPTIONAL(
        struct hook_opts, in,
        "Where to look: train, eval (evaluations during training, and "
        "the command eval), predict. trace looks where --eval or "
        "--predict say, else as train. Default: train. Gradients "
        "exist in train alone."),
    CR_ENUM_DEFAULT(
        struct hook_opts, as, CR_AS_SCALED, "scaled|unscaled|clipped",
        "Gradients to show. scaled: as the backward pass has them, "
        "times amp.loss_scale. unscaled: divided by it. clipped: of "
        "grad_params, divided and behind train.clip, as the update "
        "takes them."),
    CR_QUANTITY_DEFAULT(
        struct hook_opts, every, "100 steps", CR_STEPS,
        "Which steps are looked at: the first and then every so "
        "many. A replacement counts in all. Outside of train steps "
        "are batches."),
    CR_QUANTITY_OPTIONAL(struct hook_opts, until, CR_STEPS,
                         "Look no more behind so many steps: MindSpore's "
                         "handle.remove()."),
    CR_STR_OPTIONAL(
        struct hook_opts, save,
        "Write what is seen to a file per step: FILE.npz becomes "
        "FILE-STEP.npz, in the run directory (of eval, predict and "
        "trace in the present folder, by batch). Tensors are called "
        "CELL.output, CELL.grad and so on."),
    CR_BOOL_DEFAULT(struct hook_opts, print, false,
                    "Print a line too, besides the record in metrics.jsonl."),
    { 0 },
};

const struct cr_section cr_section_watch = {
    .about = {
        .name = "watch",
        .summary = "MindSpore's hooks: look at what goes through cells, or "
                   "replace it.",
        .detail = "A list of entries. Those that look write records with "
                  "\"split\": \"watch\" into metrics.jsonl and change no "
                  "result: such a step is computed twice, others cost "
                  "nothing. Evaluations of a run write \"in\": \"eval\" and "
                  "\"batch\" as well; the commands eval, predict and trace "
                  "print lines to standard error instead. Entries see what "
                  "is there in front of a replacement of the same entry or "
                  "of a later one. An entry that replaces also looks where "
                  "it says what, stats, every, in, save or print.\n"
                  "Replacements are part of the network: those on the way "
                  "forward hold in evaluation and prediction as well, and "
                  "are differentiated; those on the way back leave the "
                  "values alone. Around a cell the order is forward_pre, "
                  "the cell between the ends of backward and backward_pre, "
                  "forward; entries of one form follow each other as they "
                  "stand here. zero also replaces what is not finite, "
                  "scale 0 does not. summary lists the hooks, and what they "
                  "keep from being fused.",
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
                      "'%s' of watch: there is no '%s'", key,
                      cr_quote(net->arena, words->v[i], strlen(words->v[i])));
        if (cr_closest_name(words->v[i], names))
            cr_hint(net->diag, "did you mean '%s'?",
                    cr_closest_name(words->v[i], names));
    }
    return ok;
}

/* A text of ours that stands where the entry does. */
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
                        "an entry replaces in one way: scale, clamp, zero or "
                        "construct");
    if (n == 1 && h->form == CR_HOOK_TAP)
        return cr_error(net->diag, h->pos, CR_E_MISSING_KEY,
                        "'hook' is missing: what is replaced, forward_pre, "
                        "forward, backward_pre, backward or hook_backward");
    h->each = true;
    if (o->construct) {
        if (o->construct->kind != CR_NODE_STR)
            return cr_error(net->diag, o->construct->pos, CR_E_WRONG_TYPE,
                            "construct is a text of lines, not %s",
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
                            "clamp takes two bounds, the lower one first");
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
            ok = cr_error(net->diag, cr_node_get(node, "what")->pos,
                          CR_E_OUT_OF_RANGE,
                          "a hook_backward sees a gradient: 'what' is grad, "
                          "not %s",
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
                 h->observe[CR_OBSERVE_GRAD_PARAMS];
    const struct cr_node *at = o->in.n > 0 ? cr_node_get(node, "in") : node;

    h->until = o->until;
    h->save = o->save;
    h->as = o->as;
    h->in[CR_IN_TRAIN] = o->in.n == 0;
    if (!hook_words(net, node, "in", &o->in, cr_hook_ins, h->in))
        return false;
    if (grads && !h->in[CR_IN_TRAIN])
        return cr_error(net->diag, at->pos, CR_E_CONFLICT,
                        "gradients exist in training alone: found no train "
                        "in 'in'");
    if (h->text && h->until.unit != CR_UNIT_NONE)
        return cr_error(net->diag, cr_node_get(node, "until")->pos,
                        CR_E_CONFLICT,
                        "'until' ends looking: a replacement is part of the "
                        "network; resume with ~watch.NAME and "
                        "--allow-change ends it");
    if (h->until.unit == CR_SECONDS)
        return cr_error(net->diag, cr_node_get(node, "until")->pos,
                        CR_E_OUT_OF_RANGE,
                        "'until' of watch counts steps, epochs, samples or "
                        "percent");
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
                        "a name is a lower-case letter, then letters, digits "
                        "and _, not '%s'",
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
        ok = cr_error(net->diag, o.at->pos, CR_E_NO_MATCH,
                      "'at' is empty: found no pattern, expected names of "
                      "cells, network or loss");
    if (o.every.unit == CR_SECONDS || o.every.value <= 0)
        ok = cr_error(net->diag, node->pos, CR_E_OUT_OF_RANGE,
                      "'every' of watch counts steps, epochs, samples or "
                      "percent, more than 0 of them");
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
                 "watch is a list of taps {at: CELL, ...}, not %s",
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
