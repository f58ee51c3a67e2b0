#include "train/gradient.h"

#include <inttypes.h>
#include <math.h>

#include "base/str.h"

const char *cr_gradient_text(enum cr_gradient bad)
{
    return bad == CR_GRADIENT_BAD_LOSS     ? "the loss"
           : bad == CR_GRADIENT_BAD_OUTPUT ? "the gradient of the loss"
                                           : "the gradient";
}

double cr_gradient_scale(const struct cr_loss_scale_opts *use,
                         const struct cr_loss_scale *scale)
{
    return use->on ? scale->value : 1;
}

enum cr_gradient cr_gradient_compute(struct cr_exec *exec,
                                     struct cr_diag *diag, int64_t t,
                                     double scale, double lr, bool all,
                                     double *loss)
{
    bool finite;

    cr_exec_forward(exec, t);
    if (!cr_exec_check_faults(exec, diag))
        return CR_GRADIENT_NO_FORWARD;
    *loss = cr_exec_loss(exec);
    if (!isfinite(*loss) && !all)
        return CR_GRADIENT_BAD_LOSS;
    finite = cr_exec_backward(exec, scale, lr);
    if (!cr_exec_check_faults(exec, diag))
        return CR_GRADIENT_NO_BACKWARD;
    return !isfinite(*loss) ? CR_GRADIENT_BAD_LOSS
           : finite         ? CR_GRADIENT_FINITE
                            : CR_GRADIENT_BAD_OUTPUT;
}

static bool gradient_clips(const struct cr_train_section *train)
{
    return !isnan(train->clip.norm) || !isnan(train->clip.value) ||
           !isnan(train->clip.tensor_norm);
}

double cr_gradient_clip(struct cr_exec *exec,
                        const struct cr_train_section *train, double scale,
                        double *norm)
{
    double clip = train->clip.norm, clipped;

    clipped = *norm = cr_exec_norm(exec) / scale;
    if (!isfinite(*norm))
        return 1 / scale;
    if (!isnan(train->clip.value))
        cr_exec_clip_value(exec, -train->clip.value * scale,
                           train->clip.value * scale);
    if (!isnan(train->clip.tensor_norm))
        cr_exec_clip_per_param(exec, train->clip.tensor_norm * scale);
    if (!isnan(clip) &&
        !(isnan(train->clip.value) && isnan(train->clip.tensor_norm)))
        clipped = cr_exec_norm(exec) / scale;
    return (clipped > clip ? clip / clipped : 1) / scale;
}

enum cr_gradient cr_gradient_apply(struct cr_exec *exec,
                                   const struct cr_train_section *train,
                                   double scale, double lr, int64_t update,
                                   double *norm)
{
    double own;

    cr_exec_sum_accumulated(exec);
    if (norm || gradient_clips(train)) {
        norm = norm ? norm : &own;
        scale = cr_gradient_clip(exec, train, scale, norm);
        if (!isfinite(*norm))
            return CR_GRADIENT_BAD_PARAM;
    } else {
        if (!cr_exec_gradients_finite(exec))
            return CR_GRADIENT_BAD_PARAM;
        scale = 1 / scale;
    }
    if (train->grad_noise.eta > 0) {
        double variance = train->grad_noise.eta /
                          pow((double)(1 + update), train->grad_noise.gamma);

        cr_exec_noise(exec, scale, sqrt(variance), update);
        scale = 1;
    }
    cr_exec_update(exec, scale, lr);
    return CR_GRADIENT_FINITE;
}

enum cr_gradient_action cr_gradient_action(const struct cr_loss_scale_opts *use,
                                           int nan, enum cr_gradient bad)
{
    if (use->on && !use->rule.unchecked && use->skip &&
        bad != CR_GRADIENT_BAD_LOSS)
        return CR_ACTION_RESCALE;
    return nan == CR_NAN_SKIP ? CR_ACTION_SKIP : CR_ACTION_DIVERGE;
}

const char *cr_gradient_why(struct cr_arena *arena, struct cr_exec *exec,
                            const char *what, int64_t step, double sens)
{
    struct cr_nonfinite first = cr_exec_first_nonfinite(exec, sens);
    const char *type = *first.type ? cr_strf(arena, " (%s)", first.type) : "";

    return cr_strf(arena, "%s is not finite at step %" PRId64 "%s%s%s%s", what,
                   step, *first.name ? "; the first " : "",
                   !*first.name     ? ""
                   : !first.backward ? "output that is not finite: "
                   : *first.type    ? "gradient that is not finite: at the "
                                      "output of "
                                    : "gradient that is not finite: of ",
                   first.name, type);
}
