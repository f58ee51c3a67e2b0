/* The modifiers of each kind of typed node: a new one has its row here, and its
 * text in keywords.c. */
#include <string.h>

#include "conf/opt.h"

const char *const *cr_modifiers(enum cr_kind kind)
{
    static const char *const cell[] = { "name",   "when", "repeat",   "only",
                                        "share",  "freeze", "init",
                                        "to_float", "mode", "recompute",
                                        NULL };
    static const char *const loss[] = { "name", "when", "to_float", NULL };
    static const char *const schedule[] = { "warmup", NULL };
    static const char *const init[] = { "match", "of", NULL };
    static const char *const transform[] = { "name", "when", "repeat", "only",
                                             "with", "prob", NULL };
    static const char *const other[] = { "name", "when", NULL };

    switch (kind) {
    case CR_KIND_CELL:
        return cell;
    case CR_KIND_LOSS:
        return loss;
    case CR_KIND_SCHEDULE:
        return schedule;
    case CR_KIND_INIT:
        return init;
    case CR_KIND_TRANSFORM:
    case CR_KIND_TOKENIZER:
        return transform;
    default:
        return other;
    }
}

static bool listed(const char *const *words, const char *word)
{
    while (*words && strcmp(*words, word) != 0)
        words++;
    return *words != NULL;
}

bool cr_is_modifier(enum cr_kind kind, const char *word)
{
    return listed(cr_modifiers(kind), word);
}

bool cr_modifier_hint(struct cr_arena *arena, struct cr_diag *diag,
                      const struct cr_descriptor *type,
                      const struct cr_node *node)
{
    for (enum cr_kind kind = CR_KIND_CELL; kind < CR_KIND_SECTION; kind++)
        if (cr_registry_find(kind, type->name) == type &&
            cr_is_modifier(kind, node->key)) {
            cr_hint(diag, "write it next to %s: {%s: {...}, %s: %s}",
                    type->name, type->name, node->key,
                    cr_node_flow(arena, node));
            return true;
        }
    return false;
}

bool cr_is_cell_key(const char *key)
{
    static const char *const words[] = { "cells",       "construct", "inputs",
                                         "bprop",       "aux",       "has_aux",
                                         "auto_prefix", NULL };

    return listed(words, key) || cr_is_modifier(CR_KIND_CELL, key);
}
