/*
 * The passes, in order. Each is a function over the list of steps in a file of
 * its own; verify.c checks the list after each one if CELLRUN_VERIFY is 1.
 * CELLRUN_PASSES=-NAME,-NAME skips passes that only save time or memory:
 * the numbers stay, apart from rounding.
 */
#include "base/str.h"
#include "plan/plan.h"

#include <stdlib.h>
#include <string.h>

static const struct pass {
    const char *name;
    bool (*run)(struct cr_exec *exec); /* false after reporting */
    bool optional;
    bool merges; /* values vanish: not in plans that keep all of them */
} passes[] = {
    { "split", cr_plan_split, false, false },
    { "lower", cr_plan_lower, false, false },
    { "constants", cr_plan_constants, true, true },
    { "fold", cr_plan_fold, true, true },
    { "casts", cr_plan_casts, false, false },
    { "fuse", cr_plan_fuse, true, true },
    { "prepare", cr_plan_prepare, true, true },
    { "gradient", cr_plan_gradient, false, false },
    { "fuse_kept", cr_plan_fuse_kept, true, true },
    { "recompute", cr_plan_recompute, true, true },
    { "two_bytes", cr_plan_two_bytes, true, true },
    { "collectives", cr_plan_collectives, false, false },
    { "update", cr_plan_update_steps, false, false },
    { "memory", cr_plan_memory, false, false },
};

static const struct pass *pass_named(const char *name, size_t len)
{
    size_t i;

    for (i = 0; i < CR_LEN(passes); i++)
        if (passes[i].optional && strlen(passes[i].name) == len &&
            strncmp(passes[i].name, name, len) == 0)
            return &passes[i];
    return NULL;
}

/* Reports an item of CELLRUN_PASSES that is no -NAME; false. */
static bool item_unknown(struct cr_exec *e, const char *item, size_t len)
{
    const char *known = "";
    size_t i;

    for (i = 0; i < CR_LEN(passes); i++)
        if (passes[i].optional)
            known = cr_strf(&e->arena, "%s%s-%s", known, *known ? ", " : "",
                            passes[i].name);
    return cr_error(e->net->diag, CR_NOWHERE, CR_E_USAGE,
                    "CELLRUN_PASSES: found '%s', expected a list of %s",
                    cr_quote(&e->arena, item, len), known);
}

/* Reads CELLRUN_PASSES: sets skipped[i] of each pass that it names.
 * False after reporting. */
static bool skipped_read(struct cr_exec *e, bool *skipped)
{
    const char *at = getenv("CELLRUN_PASSES");

    while (at && *at) {
        size_t n = strcspn(at, ",");
        const struct pass *p = *at == '-' ? pass_named(at + 1, n - 1) : NULL;

        if (!p)
            return item_unknown(e, at, n);
        skipped[p - passes] = true;
        at += n + (at[n] == ',');
    }
    return true;
}

static void steps_list(struct cr_exec *e)
{
    struct cr_exec_step *s;

    cr_steps_number(e);
    e->steps = CR_NEWS(&e->arena, struct cr_exec_step *, e->n_steps + 1);
    for (s = e->first; s; s = s->next)
        e->steps[s->at] = s;
    e->n_forward = e->last_forward ? e->last_forward->at + 1 : 0;
    e->n_loss = e->last_loss ? e->last_loss->at + 1 : e->n_forward;
}

/* Tells opts.passes what a pass has made of the list. */
static void pass_report(struct cr_exec *e, const char *pass, const char **last,
                        struct cr_arena *mem)
{
    const struct cr_pass_report *to = e->opts.passes;
    const char *text;

    if (!to)
        return;
    cr_steps_number(e);
    text = cr_plan_text(e, mem);
    to->pass(to->ctx, pass, *last && strcmp(*last, text) == 0 ? NULL : text);
    *last = text;
}

bool cr_plan_make(struct cr_exec *e)
{
    const char *verify = getenv("CELLRUN_VERIFY");
    bool skipped[CR_LEN(passes)] = { false };
    struct cr_arena mem = { 0 };
    const char *last = NULL;
    size_t i;

    if (!skipped_read(e, skipped))
        return false;
    for (i = 0; i < CR_LEN(passes); i++) {
        const struct pass *p = &passes[i];

        if ((p->merges && (cr_plan_keeps_all(e) || e->prints)) || skipped[i])
            continue;
        if (!p->run(e))
            return false;
        if (verify && strcmp(verify, "1") == 0)
            cr_plan_verify(e, p->name);
        pass_report(e, p->name, &last, &mem);
    }
    cr_arena_free(&mem);
    steps_list(e);
    return true;
}
