/*
 * Rprop: resilient backpropagation, with a step size per element (Riedmiller,
 * Braun, 1993). Meant for full batches.
 *
 *   g = g + weight_decay w
 *   step = step * etas[1] where g p > 0, step * etas[0] where g p < 0,
 *          within step_sizes
 *   g = 0 where g p < 0
 *   w = w - sign(g) step        p = g
 *
 * Slots: prev is p, initially 0; step_size is the step, stored as 0 before the
 * first update, which starts from the learning rate.
 */
#include "base/compiler.h"
#include "train/optim.h"

CR_O3

struct rprop {
    struct cr_optim_common common;
    struct cr_reals etas, step_sizes;
};

static const struct cr_opt rprop_opts[] = {
    CR_OPTIM_LR(struct rprop, .need = CR_DEFAULT, .text = "0.1"),
    CR_REALS_OPTIONAL(
        struct rprop, etas, 0, DBL_MAX,
        "Factors that decrease and increase step sizes. Default: 0.5 "
        "and 1.2."),
    CR_REALS_OPTIONAL(struct rprop, step_sizes, 0, DBL_MAX,
                      "Minimum and maximum step size. Default: 1e-6 and 50."),
    CR_OPTIM_DECAY(struct rprop),
    CR_OPTIM_GROUPS(struct rprop),
    { 0 },
};

static const char *const rprop_checked[] = { "etas", "step_sizes", NULL };

static bool rprop_check(struct cr_diag *diag, struct cr_pos pos,
                        const void *opts)
{
    const struct rprop *o = opts;

    if (o->etas.n && (o->etas.n != 2 || o->etas.v[0] <= 0 ||
                      o->etas.v[0] >= 1 || o->etas.v[1] <= 1))
        return cr_error(diag, pos, CR_E_OUT_OF_RANGE,
                        "etas of Rprop: expected a number between 0 and 1 and "
                        "a number above 1");
    if (o->step_sizes.n &&
        (o->step_sizes.n != 2 || o->step_sizes.v[0] <= 0 ||
         o->step_sizes.v[0] > o->step_sizes.v[1]))
        return cr_error(diag, pos, CR_E_OUT_OF_RANGE,
                        "step_sizes of Rprop: expected two rising numbers "
                        "above 0");
    return true;
}

CR_CLONES static void rprop_update(const struct cr_update *u)
{
    const struct rprop *o = u->opts;
    const cr_real lr = (cr_real)u->lr, scale = (cr_real)u->scale;
    const cr_real decay = (cr_real)u->weight_decay;
    cr_real *restrict w = u->w;
    const cr_real *restrict gs = u->g;
    const int64_t n = u->n;
    const cr_real down = (cr_real)(o->etas.n ? o->etas.v[0] : 0.5);
    const cr_real up = (cr_real)(o->etas.n ? o->etas.v[1] : 1.2);
    const cr_real min_step =
        (cr_real)(o->step_sizes.n ? o->step_sizes.v[0] : 1e-6);
    const cr_real max_step =
        (cr_real)(o->step_sizes.n ? o->step_sizes.v[1] : 50);
    cr_real *restrict p = u->slot[0], *restrict step = u->slot[1];

    CR_SIMD
    for (int64_t i = 0; i < n; i++) {
        cr_real g = scale * gs[i] + decay * w[i];

        cr_real s = step[i] > 0 ? step[i] : lr, same = g * p[i];

        s = same > 0 ? s * up : same < 0 ? s * down : s;
        s = s < min_step ? min_step : s > max_step ? max_step : s;
        g = same < 0 ? 0 : g;
        w[i] -= g > 0 ? s : g < 0 ? -s : 0;
        p[i] = g;
        step[i] = s;
    }
}

const struct cr_optim cr_optim_rprop = {
    .about = {
        .name = "Rprop",
        .summary = "Rprop: resilient backpropagation, for full batches.",
        .detail = "Each element has its own step size, initially the learning "
                  "rate. It is multiplied by etas[1] while the sign of its "
                  "gradient stays the same and by etas[0] when the sign "
                  "changes, within step_sizes.",
        .example = "optimizer: {Rprop: {learning_rate: 0.01}}\n",
        .opts = rprop_opts,
        .size = sizeof(struct rprop),
    },
    .slots = 2,
    .slot_names = { "prev", "step_size" },
    .update = rprop_update,
    .check = rprop_check,
    .checked = rprop_checked,
};
