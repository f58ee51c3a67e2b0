#include "graph/amp.h"

#include <string.h>

#include "base/str.h"
#include "graph/graph.h"
#include "graph/op_attrs.h"

static const char *const types[] = { "float16", "bfloat16", "float32", NULL };

static const struct cr_opt overflow_opts[] = {
    CR_BOOL_DEFAULT(
        struct cr_amp_overflow, skip_step, true,
        "true: skip an update whose gradient is not finite, and lower the "
        "scale; moving statistics keep the update of the forward pass, as in "
        "MindSpore. false: end the run with status 5."),
    CR_INT_DEFAULT(struct cr_amp_overflow, give_up_after, 1000, 1, INT32_MAX,
                   "Number of consecutive skipped updates after which the run "
                   "counts as diverged."),
    { 0 },
};

static const struct cr_opt amp_opts[] = {
    CR_ENUM_DEFAULT(struct cr_amp, level, CR_LEVEL_O0, "O0|O1|O2|O3|auto",
                    "O0: float32. O1: convolutions, Dense, matrix products and "
                    "ReLU in low precision. O2: low precision except for the "
                    "parameters of BatchNorm, and for the loss. "
                    "O3: low precision except for the loss. auto: matrix "
                    "products in low precision; sums, powers and normalisation "
                    "in float32; other ops in the precision of their inputs."),
    CR_ENUM_DEFAULT(struct cr_amp, dtype, 0, CR_LOW_TYPES,
                    "Type of the low precision."),
    CR_BOOL_OPTIONAL(struct cr_amp, keep_batchnorm_fp32,
                     "Keep the parameters of BatchNorm in float32. Default: "
                     "true except in O3."),
    CR_NODE(struct cr_amp, cast,
            "Precision of single cells: {float32: PATTERNS, float16: "
            "PATTERNS}, over names of cells or, {of: BatchNorm2d}, their "
            "types; the last matching pattern decides."),
    CR_OBJ_OPTIONAL(struct cr_amp, loss_scale, CR_KIND_SCALER,
                    "Factor of the loss while gradients are computed. Default: "
                    "DynamicLossScaleManager in O2 with float16, else none."),
    CR_SUB(struct cr_amp, overflow, overflow_opts,
           "Action when the gradient of an update is not finite."),
    { 0 },
};

const struct cr_section cr_section_amp = {
    .about = {
        .name = "amp",
        .summary = "Mixed precision.",
        .detail = "Values are rounded to float16 or bfloat16 wherever "
                  "MindSpore stores them so; overflow and underflow occur as "
                  "in MindSpore. Such values take two bytes in memory where "
                  "the ops around them allow it, else while they wait for the "
                  "backward pass if that saves memory; softmax, LayerNorm, "
                  "GELU and ops like them run again for it. O1 keeps "
                  "MultiheadAttention, LSTM, GRU and RNN in float32, because "
                  "they contain no op of its list. auto keeps LSTM in float32 "
                  "if its input is float32 and seq_length is not given. "
                  "Parameters and their updates are float32; so is the loss "
                  "unless `to_float` next to its type sets another type. The "
                  "modifier to_float sets the precision of one cell and its "
                  "subcells; it cannot be combined with amp.level. Dense "
                  "layers and matrix products in bfloat16 use AVX512-BF16 "
                  "and AMX-BF16 on processors where they are the faster "
                  "way, and so do convolutions. Their sums are then float32 "
                  "too, but of pairs of products (AMX: of 16 pairs), and "
                  "numbers below 2^-126 count as 0: the last bits of a sum "
                  "may differ before it is rounded to bfloat16.",
        .example = "amp: {level: O2, dtype: bfloat16, cast: {float32: "
                   "[\"dense_relu_sequential.4\"]}}\n",
        .opts = amp_opts,
        .size = sizeof(struct cr_amp),
    },
};

static const struct cr_precision full = { .level = CR_LEVEL_O0,
                                         .type = CR_REAL };

/* float32, float16 or bfloat16 all through; false if it is none of them. */
static bool precision_named(const char *name, struct cr_precision *to)
{
    *to = full;
    if (strcmp(name, "float32") == 0)
        return true;
    to->level = CR_LEVEL_O3;
    to->type = strcmp(name, "bfloat16") == 0 ? CR_BF16 : CR_F16;
    return to->type == CR_BF16 || strcmp(name, "float16") == 0;
}

/* The node of a pattern among one or a list of them; NULL: it is none. */
static const struct cr_node *casts_pattern(const struct cr_node *in,
                                           const struct cr_node *like)
{
    if (in->kind != CR_NODE_LIST)
        return in->text && strcmp(in->text, like->text) == 0 ? in : NULL;
    for (CR_EACH(m, in))
        if (m->text && strcmp(m->text, like->text) == 0)
            return m;
    return NULL;
}

/* A pattern that stands below another type too; true without one. */
static bool casts_apart(struct cr_net *net, const struct cr_node *cast,
                        const struct cr_node *below, const struct cr_node *one)
{
    const struct cr_node *other;

    for (CR_EACH(m, cast)) {
        if (m == below || !one->text)
            break;
        other = casts_pattern(m, one);
        if (!other)
            continue;
        cr_error(net->diag, one->pos, CR_E_CONFLICT,
                 "amp.cast: '%s' is listed under %s and %s",
                 cr_quote(net->arena, one->text, strlen(one->text)), m->key,
                 below->key);
        cr_note(net->diag, "under %s      (%s:%d)", m->key,
                other->pos.src->name, other->pos.line);
        return false;
    }
    return true;
}

static bool casts_differ(struct cr_net *net, const struct cr_node *cast,
                         const struct cr_node *below)
{
    bool ok = true;

    if (below->kind != CR_NODE_LIST)
        return casts_apart(net, cast, below, below);
    for (CR_EACH(one, below))
        ok = casts_apart(net, cast, below, one) && ok;
    return ok;
}

static bool casts_read(struct cr_net *net, struct cr_amp *amp)
{
    bool ok = true;

    if (amp->cast->kind != CR_NODE_MAP)
        return cr_error(
            net->diag, amp->cast->pos, CR_E_WRONG_TYPE,
            "amp.cast: found %s, expected a map {float32: PATTERNS}",
            cr_node_what(net->arena, amp->cast));
    amp->casts =
        CR_NEWS(net->arena, struct cr_cast, cr_node_count(amp->cast) + 1);
    for (CR_EACH(m, amp->cast)) {
        struct cr_cast *c = &amp->casts[amp->n_casts];

        if (!precision_named(m->key, &c->precision)) {
            const char *near = cr_closest_name(m->key, types);

            ok = cr_error(net->diag, m->key_pos, CR_E_UNKNOWN_KEY,
                          "amp.cast: found '%s', expected float32, float16 or "
                          "bfloat16",
                          m->key);
            if (near)
                cr_hint(net->diag, "did you mean '%s'?", near);
            continue;
        }
        c->patterns = cr_patterns_read(net->config, m);
        if (c->patterns && casts_differ(net, amp->cast, m))
            amp->n_casts++;
        else
            ok = false;
    }
    return ok;
}

bool cr_amp_read(struct cr_net *net)
{
    struct cr_amp *amp = CR_NEW(net->arena, struct cr_amp);
    const struct cr_node *node = cr_section(net->config, "amp");

    net->amp = amp;
    if (!cr_section_read(net->config, "amp", amp))
        return false;
    amp->pos = node ? node->pos : net->config->root->pos;
    if (node && cr_node_get(node, "level"))
        amp->pos = cr_node_get(node, "level")->pos;
    return !amp->cast || casts_read(net, amp);
}

bool cr_amp_used(struct cr_net *net)
{
    bool ok = true;
    int i;

    for (i = 0; i < net->amp->n_casts; i++)
        ok = cr_cells_used(net, net->amp->casts[i].patterns) && ok;
    return ok;
}

/* Losses that auto computes in float32 within a network, too. */
static const char *const full_losses[] = {
    "BCEWithLogitsLoss",    "KLDivLoss",      "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",      "PoissonNLLLoss", "SmoothL1Loss",
    "SoftMarginLoss",       "TripletMarginLoss",
    "MultilabelMarginLoss",
};

void cr_precision_of_type(struct cr_build *b)
{
    const char *type = b->cell ? b->cell->about.name : "";
    size_t i;

    if (b->precision.level == CR_LEVEL_O1 && strcmp(type, "Dense") == 0)
        b->precision.all = true;
    for (i = 0; i < CR_LEN(full_losses); i++)
        if (b->precision.level == CR_LEVEL_AUTO &&
            strcmp(type, full_losses[i]) == 0)
            b->precision = full;
}

static bool precision_read(struct cr_build *b, const struct cr_node *word)
{
    struct cr_net *net = b->net;
    const struct cr_amp *amp = net->amp;
    int i;

    if (b->loss && b->depth == 1) {
        b->precision = full;
    } else if (b->depth == 1) {
        b->precision.level = (enum cr_level)amp->level;
        b->precision.type = amp->dtype == 0 ? CR_F16 : CR_BF16;
        b->precision.follows = amp->level == CR_LEVEL_O0;
    }
    for (i = 0; i < amp->n_casts && !b->loss; i++)
        if (cr_cell_matches(b, amp->casts[i].patterns))
            b->precision = amp->casts[i].precision;
    cr_precision_of_type(b);
    if (!word)
        return true;
    if (word->kind != CR_NODE_STR ||
        !precision_named(word->text, &b->precision))
        return cr_error(
            net->diag, word->pos, CR_E_WRONG_TYPE,
            "to_float: found %s, expected float16, bfloat16 or float32",
            cr_node_what(net->arena, word));
    if (b->loss || amp->level == CR_LEVEL_O0)
        return true;
    cr_error(net->diag, word->pos, CR_E_NETWORK,
             "to_float cannot be combined with amp.level; use amp.cast to "
             "change the precision of single cells");
    cr_note(net->diag, "amp.level: %s      (%s:%d)",
            cr_node_get(cr_section(net->config, "amp"), "level")->text,
            amp->pos.src->name, amp->pos.line);
    return false;
}

bool cr_precision_of(struct cr_build *b, const struct cr_node *word)
{
    if (!precision_read(b, word))
        return false;
    if (b->net->opts.force_float32 && b->precision.level != CR_LEVEL_O0) {
        b->net->amp_ignored = true;
        b->precision = full;
    }
    return true;
}

bool cr_net_amp_ignored(const struct cr_net *net)
{
    return net->amp_ignored;
}

struct cr_precision cr_precision(const struct cr_build *b)
{
    return b->precision;
}

void cr_precision_set(struct cr_build *b, struct cr_precision precision)
{
    b->precision = precision;
}

void cr_precision_full(struct cr_build *b)
{
    b->precision = full;
}

void cr_precision_backward(struct cr_build *b)
{
    if (b->precision.level == CR_LEVEL_AUTO) {
        b->precision = full;
        b->precision.follows = true;
    }
}

bool cr_precision_follow(struct cr_build *b, const struct cr_val *v)
{
    if (b->precision.level != CR_LEVEL_AUTO || !cr_is_low(v))
        return false;
    b->precision = (struct cr_precision){ .level = CR_LEVEL_O3,
                                          .type = b->precision.type };
    return true;
}

static struct cr_val *cast_low(struct cr_build *b, enum cr_type type, bool sum,
                               struct cr_val *x)
{
    struct cr_fake_cast *attr = CR_NEW(b->net->arena, struct cr_fake_cast);

    if (b->net->opts.force_float32) {
        b->net->amp_ignored = true;
        return x;
    }
    attr->type = type == CR_BF16;
    attr->sum = sum;
    return cr_emit_as_is(b, &cr_op_fake_cast, attr, 1, &x);
}

struct cr_val *cr_cast_low(struct cr_build *b, enum cr_type type,
                           struct cr_val *x)
{
    struct cr_val *y = cast_low(b, type, false, x);

    if (y && y != x)
        y->cast = true;
    return y;
}

bool cr_is_low(const struct cr_val *x)
{
    return x->spec.type == CR_REAL && x->low_type != CR_REAL;
}

struct cr_val *cr_rounded(struct cr_build *b, struct cr_val *x)
{
    enum cr_type type = b->precision.type;

    if (type == CR_REAL || !x || x->id < 0 || x->spec.type != CR_REAL ||
        x->low_type == type)
        return x;
    return cast_low(b, type, false, x);
}

struct cr_val *cr_rounded_each_step(struct cr_build *b, struct cr_val *weight)
{
    return cast_low(b, b->precision.type, true, weight);
}
