#include "train/loss_scale.h"

#include <math.h>

#include "base/str.h"
#include "graph/amp.h"

/* As in MindSpore's Model, the default of O2 in float16 is
 * DynamicLossScaleManager. */
static bool scale_by_default(const struct cr_amp *amp)
{
    return amp->level == CR_LEVEL_O2 && amp->dtype == 0;
}

static bool scale_disagrees(struct cr_config *config, struct cr_pos pos,
                            const char *optimizer, double loss_scale,
                            const struct cr_obj *scaler, double wanted)
{
    cr_error(config->diag, pos, CR_E_CONFLICT,
             "loss_scale of %s: found %s, expected %s: %s", optimizer,
             cr_real_text(config->arena, loss_scale),
             cr_real_text(config->arena, wanted),
             wanted != 1     ? "with this amp.loss_scale the optimizer divides "
                               "the gradients"
             : scaler->about ? "the training step already divides the "
                               "gradients by amp.loss_scale"
                             : "the loss is not scaled");
    if (scaler->node)
        cr_note(config->diag, "amp.loss_scale: %s      (%s:%d)",
                cr_node_flow(config->arena, scaler->node),
                scaler->node->pos.src->name, scaler->node->pos.line);
    return false;
}

static bool scale_amp(struct cr_config *config, struct cr_amp *amp,
                      struct cr_loss_scale_opts *to)
{
    const struct cr_scaler *scaler;

    *to = (struct cr_loss_scale_opts){ 0 };
    if (!cr_section_read(config, "amp", amp))
        return false;
    to->skip = amp->overflow.skip_step;
    to->give_up_after = amp->overflow.give_up_after;
    if (amp->loss_scale.about) {
        scaler = (const struct cr_scaler *)amp->loss_scale.about;
        to->on = true;
        scaler->rule(amp->loss_scale.opts, &to->rule);
    } else if (scale_by_default(amp)) {
        to->on = true;
        to->rule = (struct cr_loss_scale_rule){ .start = 0x1p24,
                                                .factor = 2,
                                                .window = 2000 };
    }
    return true;
}

bool cr_loss_scale_section(struct cr_config *config,
                           struct cr_loss_scale_opts *to)
{
    struct cr_amp amp = { 0 };

    return scale_amp(config, &amp, to);
}

bool cr_loss_scale_read(struct cr_config *config, struct cr_pos pos,
                        const char *optimizer, double loss_scale,
                        struct cr_loss_scale_opts *to)
{
    struct cr_amp amp = { 0 };
    double wanted;

    if (!scale_amp(config, &amp, to))
        return false;
    wanted = to->rule.unchecked ? to->rule.start : 1;
    return loss_scale == wanted ||
           scale_disagrees(config, pos, optimizer, loss_scale, &amp.loss_scale,
                           wanted);
}

void cr_loss_scale_adjust(const struct cr_loss_scale_rule *rule,
                          struct cr_loss_scale *s, bool finite)
{
    double larger = s->value * rule->factor;

    if (finite) {
        s->n_finite++;
        s->n_overflow = 0;
        if (rule->window > 0 && s->n_finite % rule->window == 0 &&
            larger <= CR_LOSS_SCALE_MAX)
            s->value = larger;
        return;
    }
    s->n_finite = 0;
    s->n_overflow++;
    s->skipped++;
    if (rule->window > 0)
        s->value = s->value / rule->factor < 1 ? 1 : s->value / rule->factor;
}
