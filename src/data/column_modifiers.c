#include "data/column_modifiers.h"

#include <string.h>

#include "base/gz.h"
#include "conf/typed_node.h"

bool cr_modifier_only(struct cr_config *config, const struct cr_node *node,
                      bool train, bool *yes)
{
    const struct cr_node *only = cr_node_get(node, "only");

    *yes = true;
    if (!only)
        return true;
    if (only->kind != CR_NODE_STR ||
        (strcmp(only->text, "train") != 0 && strcmp(only->text, "eval") != 0))
        return cr_error(config->diag, only->pos, CR_E_WRONG_TYPE,
                        "only: found %s, expected train or eval",
                        cr_node_what(config->arena, only));
    *yes = (strcmp(only->text, "train") == 0) == train;
    return true;
}

static const struct cr_descriptor *modifier_type(const struct cr_node *node)
{
    const struct cr_node *args;
    const char *type = cr_node_type(node, &args);

    return type ? cr_registry_find(CR_KIND_TRANSFORM, type) : NULL;
}

/* Whether a transform is of that type and applies to that data. */
static bool modifier_is(const struct cr_node *node,
                        const struct cr_descriptor *type, bool train)
{
    const struct cr_node *only = cr_node_get(node, "only");

    return modifier_type(node) == type &&
           (!only || only->kind != CR_NODE_STR ||
            (strcmp(only->text, "train") == 0) == train);
}

/* The transform of that type in a column which `before` others of the type
 * precede, or NULL with the number of all in *n. */
static const struct cr_node *modifier_peer(const struct cr_config *config,
                                           const char *column,
                                           const struct cr_descriptor *type,
                                           int before, bool train, int *n)
{
    const struct cr_node *ops =
        cr_node_get(cr_section(config, "datapipe"), column);

    *n = 0;
    for (CR_EACH(m, ops))
        if (modifier_is(m, type, train) && (*n)++ == before)
            return m;
    return NULL;
}

/* The column whose random numbers `with: of` means: that of the transform there
 * may follow another column itself. */
static const char *modifier_source(const struct cr_config *config,
                                   const char *of,
                                   const struct cr_descriptor *type, int before,
                                   bool train)
{
    for (int i = 0, n; i < CR_COLUMNS_MAX; i++) {
        const struct cr_node *with = cr_node_get(
            modifier_peer(config, of, type, before, train, &n), "with");

        if (!with || with->kind != CR_NODE_STR)
            break;
        of = with->text;
    }
    return of;
}

/* The key of the random numbers of a transform, besides seed, epoch and sample:
 * the column, the name of the transform, and the number of transforms of that
 * name before it. Two columns are cropped and flipped independently, as by two
 * `map` in MindSpore, unless `with: COLUMN` names another column to take the
 * key from: an image and its mask. */
bool cr_modifier_with(const struct cr_column_pipeline *c,
                      struct cr_config *config, const struct cr_node *node,
                      const char *op, bool train)
{
    const struct cr_node *with = cr_node_get(node, "with");
    const char *of = c->name;
    uint32_t before = 0, *to = &c->draws[c->n];
    int i;

    if (with && with->kind != CR_NODE_STR)
        return cr_error(config->diag, with->pos, CR_E_WRONG_TYPE,
                        "with: found %s, expected the name of a column",
                        cr_node_what(config->arena, with));
    for (i = 0; i < c->n; i++)
        before += strcmp(c->op[i]->about.name, op) == 0;
    if (with)
        of = modifier_source(config, with->text, modifier_type(node),
                             (int)before, train);
    *to = cr_crc32(0, of, strlen(of) + 1);
    *to = cr_crc32(*to, op, strlen(op) + 1);
    *to = cr_crc32(*to, &before, sizeof before);
    return true;
}

bool cr_modifier_prob(const struct cr_column_pipeline *c,
                      struct cr_config *config, const struct cr_node *node,
                      const char *op)
{
    const struct cr_node *prob = cr_node_get(node, "prob");

    c->prob[c->n] = 1;
    if (!prob)
        return true;
    if (cr_type_has_argument(op, "prob"))
        return cr_error(config->diag, prob->pos, CR_E_CONFLICT,
                        "prob: %s has an argument prob; write {%s: {prob: "
                        "P}}",
                        op, op);
    if (prob->kind != CR_NODE_REAL && prob->kind != CR_NODE_INT)
        return cr_error(config->diag, prob->pos, CR_E_WRONG_TYPE,
                        "prob: found %s, expected a number from 0 to 1",
                        cr_node_what(config->arena, prob));
    if (!(prob->real >= 0 && prob->real <= 1))
        return cr_error(config->diag, prob->pos, CR_E_OUT_OF_RANGE,
                        "prob: found %g, expected a number from 0 to 1",
                        prob->real);
    c->prob[c->n] = prob->real;
    return true;
}

bool cr_modifier_prob_fits(const struct cr_column_pipeline *c,
                           struct cr_config *config,
                           const struct cr_node *node)
{
    const struct cr_transform_plan *p = &c->plan[c->n];
    const struct cr_node *prob = cr_node_get(node, "prob");
    const char *name = c->op[c->n]->about.name;

    if (!prob || (cr_spec_same(&p->in, &p->out) && !cr_is_ragged(&p->in) &&
                  p->chw == c->chw && p->n_sizes <= 1 && !c->op[c->n]->mix))
        return true;
    if (c->op[c->n]->mix || cr_is_ragged(&p->in) || p->n_sizes > 1)
        return cr_error(config->diag, prob->pos, CR_E_CONFLICT,
                        "prob: %s cannot be omitted for single samples", name);
    return cr_error(config->diag, prob->pos, CR_E_CONFLICT,
                    "prob: %s changes %s %s to %s %s, and a sample without it "
                    "would not fit",
                    name, cr_type_name(p->in.type),
                    cr_diag_format(config->arena, &p->in),
                    cr_type_name(p->out.type),
                    cr_diag_format(config->arena, &p->out));
}

static double modifier_probability(const struct cr_node *node)
{
    const struct cr_node *prob = cr_node_get(node, "prob");

    return prob ? prob->real : 1;
}

bool cr_modifier_check_peers(struct cr_config *config,
                             const struct cr_node *ops, bool train)
{
    for (CR_EACH(op, ops)) {
        const struct cr_node *with = cr_node_get(op, "with"), *peer;
        const struct cr_descriptor *type = modifier_type(op);
        int before = 0, n;

        if (!with || !type || !modifier_is(op, type, train))
            continue;
        for (const struct cr_node *m = ops->child; m != op; m = m->next)
            before += modifier_is(m, type, train);
        peer = modifier_peer(config, with->text, type, before, train, &n);
        if (!peer)
            return cr_error(config->diag, with->pos, CR_E_CONFLICT,
                            "with: found %d %s in column '%s' for %s data, "
                            "expected %d",
                            n, type->name, with->text,
                            train ? "training" : "evaluation", before + 1);
        if (modifier_probability(peer) != modifier_probability(op))
            return cr_error(config->diag, with->pos, CR_E_CONFLICT,
                            "with: %s has prob %g, in column '%s' %g",
                            type->name, modifier_probability(op), with->text,
                            modifier_probability(peer));
    }
    return true;
}

/* The number is that of a key of its own, which the transform does not use. */
bool cr_modifier_skips(const struct cr_column_pipeline *c, int i, int64_t epoch,
                       int64_t index)
{
    struct cr_rng rng;

    if (c->prob[i] >= 1)
        return false;
    rng = cr_rng(c->seed, CR_STREAM_AUGMENT,
                 ((uint64_t)epoch << 32) + cr_crc32(c->draws[i], "prob", 5),
                 (uint64_t)index);
    return cr_rng_double(&rng, 0) >= c->prob[i];
}
