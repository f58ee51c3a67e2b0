/*
 * Where a step went wrong: the first value that is not finite, found by
 * computing the batch again, with every value kept.
 */
#include "base/compiler.h"
#include "base/str.h"
#include "run/run.h"

#include <string.h>

CR_O3

#define FINITE_BLOCK 4096 /* elements between two looks at the result */

/* How many are not finite: x - x is 0 for those that are, else NaN. */
CR_CLONES static int reals_bad(const cr_real *x, int64_t n)
{
    int bad = 0;

    for (int64_t i = 0; i < n; i++)
        bad += !(x[i] - x[i] == 0);
    return bad;
}

/* The exponent of infinity and NaN has all its bits set, which `exponent`
 * selects. */
CR_CLONES static uint16_t bits_bad(const uint16_t *x, int64_t n,
                                   uint16_t exponent)
{
    uint16_t bad = 0;

    for (int64_t i = 0; i < n; i++)
        bad = (uint16_t)(bad + ((x[i] & exponent) == exponent));
    return bad;
}

static bool reals_finite(const cr_real *x, int64_t n)
{
    int64_t i;

    for (i = 0; i < n; i += FINITE_BLOCK)
        if (reals_bad(x + i, n - i < FINITE_BLOCK ? n - i : FINITE_BLOCK))
            return false;
    return true;
}

static bool bits_finite(const uint16_t *x, int64_t n, uint16_t exponent)
{
    int64_t i;

    for (i = 0; i < n; i += FINITE_BLOCK)
        if (bits_bad(x + i, n - i < FINITE_BLOCK ? n - i : FINITE_BLOCK,
                     exponent))
            return false;
    return true;
}

bool cr_all_finite(enum cr_type type, const void *x, int64_t n)
{
    return type == CR_REAL   ? reals_finite(x, n)
           : type == CR_F16  ? bits_finite(x, n, 0x7c00)
           : type == CR_BF16 ? bits_finite(x, n, 0x7f80)
                             : true;
}

static bool tensor_finite(const struct cr_tensor *t)
{
    return cr_all_finite(t->spec.type, t->data, cr_count(&t->spec));
}

/* The type of the cell of a name in the graph: "CELL", "CELL#2", "CELL#.0". */
static const char *culprit_type(const struct cr_net *net, const char *name)
{
    size_t len = strcspn(name, "#");
    int i;

    for (i = 0; i < net->n_cells; i++)
        if (strlen(net->cells[i].name) == len &&
            memcmp(net->cells[i].name, name, len) == 0)
            return net->cells[i].type ? net->cells[i].type : "";
    return "";
}

static struct cr_nonfinite culprit_of(const struct cr_net *net,
                                      const char *name)
{
    return (struct cr_nonfinite){ *name ? name : "network",
                                  culprit_type(net, name), false };
}

/* The last of the kept gradients of outputs is the first that was computed;
 * those of parameters follow in any order. */
static struct cr_nonfinite culprit_backward(const struct cr_net *net,
                                            const struct cr_tensor *kept, int n)
{
    static const char output[] = "grad.output.", param[] = "grad.";
    struct cr_nonfinite found = { "", "", true };
    int i;

    for (i = n - 1; i >= 0 && !*found.name; i--)
        if (cr_starts(kept[i].name, output) && !tensor_finite(&kept[i]))
            found = culprit_of(net, kept[i].name + strlen(output));
    for (i = 0; i < n && !*found.name; i++)
        if (cr_starts(kept[i].name, param) && !tensor_finite(&kept[i]))
            found.name = kept[i].name + strlen(param);
    found.name = cr_strdup(net->arena, found.name);
    found.backward = true;
    return found;
}

static struct cr_nonfinite culprit_forward(struct cr_exec *again)
{
    const struct cr_named *c;
    int i;

    for (c = again->graph->named.first; c; c = c->next) {
        struct cr_pval *val = again->of[c->val->id];
        const struct cr_pval *base = cr_pval_base(val);

        if (!val)
            continue;
        if (!cr_all_finite(val->spec.type,
                           base->feed >= 0 ? again->fed[base->feed]
                                           : base->data,
                           cr_count(&val->spec)))
            return culprit_of(again->net, c->name);
    }
    for (i = 0; i < again->n_outputs; i++) {
        const struct cr_pval *base = cr_pval_base(again->outputs[i]);

        if (base->feed < 0 &&
            !cr_all_finite(base->spec.type, base->data,
                           cr_count(&base->spec)))
            return culprit_of(again->net, "");
    }
    if (again->opts.loss && !isfinite(cr_exec_loss(again)))
        return (struct cr_nonfinite){ "the loss", "", false };
    return (struct cr_nonfinite){ "", "", false };
}

struct cr_nonfinite cr_exec_first_nonfinite(struct cr_exec *e, double sens)
{
    struct cr_exec_opts want = { .training = e->opts.training,
                                 .loss = e->opts.loss,
                                 .backward = sens != 0,
                                 .keep_outputs = true,
                                 .freeze_stats = true,
                                 .silent = true,
                                 .batch = e->graph->batch,
                                 .columns = e->graph->columns };
    struct cr_exec *again = cr_net_exec(e->net, &want);
    struct cr_nonfinite found = { "", "", false };
    int i, n;

    if (!again)
        return found;
    for (i = 0; i < e->net->opts.n_columns; i++)
        cr_exec_feed(again, i, e->fed[i]);
    cr_exec_forward(again, e->t);
    found = culprit_forward(again);
    if (!*found.name && sens != 0) {
        const struct cr_tensor *kept;

        cr_exec_backward(again, sens, 0);
        kept = cr_exec_kept(again, &n);
        found = culprit_backward(e->net, kept, n);
    }
    cr_exec_free(again);
    return found;
}

const char *cr_exec_bad_column(const struct cr_exec *e)
{
    int i;

    for (i = 0; i < e->net->opts.n_columns; i++) {
        const struct cr_column *c = &e->graph->columns[i];

        if (e->fed[i] && e->graph->feeds[i] &&
            !cr_all_finite(c->spec.type, e->fed[i],
                           cr_count(&c->spec) * e->graph->batch))
            return c->name;
    }
    return NULL;
}

/* Whether the n values are all the additional value of the bound. */
static bool bound_only_except(const struct cr_bound *b, const int32_t *v,
                              int64_t n)
{
    int64_t k = 0;

    while (k < n && v[k] == b->except)
        k++;
    return b->has_except && n > 0 && k == n;
}

bool cr_exec_all_ignored(const struct cr_exec *e, struct cr_ignored *to)
{
    for (int i = 0; i < e->n_bounds; i++) {
        int column = e->bounds[i].column;
        const struct cr_column *c = &e->graph->columns[column];
        const int32_t *v = e->fed[column];
        int64_t each = cr_count(&c->spec), n = each * e->opts.batch;

        if (v && cr_exec_local_column(e, column)) {
            v += each * e->split->first;
            n = each * e->split->n;
        }
        if (!v || !bound_only_except(&e->bounds[i].bound, v, n))
            continue;
        *to = (struct cr_ignored){ c->name, e->bounds[i].bound.except,
                                   e->bounds[i].node->pos };
        return true;
    }
    return false;
}

/* A parameter or slot; the type is that of the parameter's cell. */
struct cr_nonfinite cr_net_nonfinite(const struct cr_net *net)
{
    int i;

    for (i = 0; i < net->n_params; i++)
        if (!cr_all_finite(net->params[i].spec.type, net->params[i].data,
                           cr_count(&net->params[i].spec)))
            return (struct cr_nonfinite){ net->params[i].name,
                                          net->params[i].types[0], false };
    for (i = 0; i < net->n_slots; i++)
        if (!tensor_finite(&net->slots[i]))
            return (struct cr_nonfinite){ net->slots[i].name, "", false };
    return (struct cr_nonfinite){ "", "", false };
}
