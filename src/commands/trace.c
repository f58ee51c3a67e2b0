/*
 * trace: runs one batch through the network and writes its tensors, to compare
 * a cell with another framework and to inspect values. Tests rely on these
 * names:
 *
 *   output, output.CELL        output of the network, of every named cell
 *   loss                       if there is a loss and a label
 *   grad.PARAM, grad.COLUMN, grad.output.CELL   with --grad: of the loss or,
 *                              without one, of the network's results
 *   param.NAME, slot.NAME      with --step, after the last update
 *
 * This takes a plan that keeps every value, so it fuses less than the plans of
 * train, eval and predict. --as-run takes their plans: it writes output and
 * loss, param.NAME and slot.NAME, and grad.PARAM if gradients are separate
 * from updates, which --grad causes as log.grad_norm does.
 */
#include <assert.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/str.h"
#include "base/table.h"
#include "ckpt/against.h"
#include "ckpt/load.h"
#include "conf/command_line.h"
#include "model/grad_targets.h"
#include "model/model.h"
#include "model/single_batch.h"
#include "num/array_text.h"
#include "score/eval.h"
#include "train/gradient.h"
#include "train/hook_recorder.h"
#include "train/optim.h"
#include "train/print.h"
#include "train/section.h"
#include "train/state.h"
#include "train/step_plan.h"

#define TRACE_TO "auto|safetensors|npz|ckpt"

struct trace {
    const char *ckpt, *against, *out, *print;
    struct cr_strs feed, wrt, sens;
    bool eval, predict, eager, as_run, grad;
    int64_t step;
    int to;
    double rtol, atol;
};

static const struct cr_opt trace_opts[] = {
    CR_STRS_OPTIONAL(
        struct trace, feed,
        "A column of the batch, as the datapipe would deliver it. Default: "
        "the first training batch.",
        .text = "COLUMN=FILE"),
    CR_STR_OPTIONAL(
        struct trace, ckpt,
        "Weights: every parameter of the network, and nothing else.",
        .text = "CKPT"),
    CR_BOOL_DEFAULT(struct trace, eval, false,
                    "Compute in predict mode instead of training mode."),
    CR_BOOL_DEFAULT(struct trace, predict, false,
                    "Compute in predict mode, without the loss."),
    CR_BOOL_DEFAULT(
        struct trace, as_run, false,
        "Use the fused plan that train runs (with --eval: eval; with "
        "--predict: predict). Of outputs and gradients it keeps the "
        "network's output, the loss and, with --grad, parameter "
        "gradients; --grad then separates gradients from updates, as "
        "log.grad_norm does."),
    CR_BOOL_DEFAULT(struct trace, eager, false,
                    "Run op by op, without fusion or pruning."),
    CR_BOOL_DEFAULT(
        struct trace, grad, false,
        "Write gradients too: of the loss or, without the section "
        "loss or with --predict or --sens, of the network's output."),
    CR_STRS_OPTIONAL(
        struct trace, wrt,
        "--grad: of columns and parameters, write the gradients of "
        "these only, frozen ones included: patterns over their names, "
        "or a number N for input N of the network, from 0. Default: "
        "all float columns and all trained parameters. "
        "`grad.output.CELL` is written with and without.",
        .text = "PATTERN"),
    CR_STRS_OPTIONAL(
        struct trace, sens,
        "--grad: the gradient that arrives at the network's output, "
        "an array of the same shape; N=FILE.npy for output N of "
        "several. Default: ones.",
        .text = "FILE.npy"),
    CR_INT_DEFAULT(struct trace, step, 0, 0, INT64_C(1) << 40,
                   "Do this many updates on the batch; write parameters and "
                   "slots too.",
                   .implicit_value = "1"),
    CR_STR_OPTIONAL(struct trace, out,
                    "File to write: .safetensors, .npz or MindSpore's .ckpt; "
                    "- is standard output.",
                    .flag = 'o', .text = "FILE"),
    CR_ENUM_DEFAULT(struct trace, to, 0, TRACE_TO,
                    "Format of -o. auto: by its suffix, or safetensors."),
    CR_STR_OPTIONAL(
        struct trace, print,
        "Print the values of this cell's output, its parameters and "
        "their gradients instead, as NumPy prints arrays: a glob over "
        "names of cells or tensors; network is the whole network.",
        .text = "CELL"),
    CR_STR_OPTIONAL(
        struct trace, against,
        "Compare with the tensors of this file; exit 6 if one differs.",
        .text = "FILE"),
    CR_REAL_DEFAULT(
        struct trace, rtol, 1e-4, 0, DBL_MAX,
        "--against: relative tolerance."),
    CR_REAL_DEFAULT(struct trace, atol, 1e-5, 0, DBL_MAX,
                    "--against: absolute tolerance."),
    { 0 },
};

struct trace_job {
    struct cr_cli *cli;
    struct cr_arena *arena;
    struct cr_diag *diag;
    const struct trace *o;
    struct cr_config *config;
    struct cr_tensor_file *file; /* weights; NULL: initial ones */
    struct cr_single_batch single;
    struct cr_train_section train;
    struct cr_log_section log;
    bool eager;    /* the flag, or run.eager */
    bool separate; /* gradients are separate from updates:
                      cr_plans_need_gradients */
    struct cr_state state; /* of a training checkpoint, or of a new run */
    uint64_t seed;
    struct cr_net *net;
    struct cr_optim_use optim;
    struct cr_exec *exec;
    bool loss, rule; /* there is a loss; an update rule, even without --step */
    bool results;    /* gradients are of the network's results */
    struct cr_grad_targets targets;
    cr_real **before;        /* values of parameters before the last update */
    struct cr_tensor *grads; /* of parameters, without the loss scale */
    int n, n_grads;
    struct cr_tensor *tensor; /* tensors to write */
};

/* ---- Config and weights */

static bool trace_config(struct trace_job *t)
{
    struct cr_model model;
    bool ok = cr_model_operands(t->cli, &model) &&
              cr_model_weights(&model, t->o->ckpt);

    t->config = model.config;
    t->eager = t->o->eager || (ok && cr_plans_eager(model.config));
    t->file = model.file;
    t->seed = model.seed;
    return ok;
}

/* Reads the state of a training checkpoint: steps, slots, schedule and loss
 * scale continue from it. */
static bool trace_state(struct trace_job *t)
{
    struct cr_state *s = &t->state;
    bool goes_on = t->file && cr_tensor_file_is_train(t->file) &&
                   (t->o->grad || t->o->step > 0);

    *s = (struct cr_state){ .grad_accum = t->train.grad_accumulation,
                            .nan = { .factor = 1 } };
    if (goes_on &&
        !cr_state_read(t->arena, t->diag,
                       cr_at_file(t->arena, cr_tensor_file_path(t->file)),
                       cr_tensor_file_meta(t->file, "cellrun.state"), s))
        return false;
    if (t->optim.scale.on && s->scale.value <= 0)
        s->scale.value = t->optim.scale.rule.start;
    if (t->o->step == 0) {
        s->step = 0; /* use the random numbers of update 1 */
        return true;
    }
    if (goes_on && !cr_load_slots(t->file, t->diag, t->net))
        return false;
    cr_net_skipped(t->net, cr_state_skipped(s));
    t->optim.lr.plateau = &s->plateau;
    t->optim.factor = s->nan.factor;
    return true;
}

/* ---- The batch, the network and its plan */

static bool trace_batch(struct trace_job *t)
{
    t->single = (struct cr_single_batch){ .arena = t->arena,
                                          .diag = t->diag,
                                          .config = t->config,
                                          .feed = t->o->feed,
                                          .seed = t->seed };
    return cr_single_batch_open(&t->single);
}

/* Sets the length of the run, for schedules, and unfreezes what it would have
 * unfrozen by now. */
static bool trace_span(struct trace_job *t)
{
    const struct cr_state *s = &t->state;
    int64_t batches = t->single.loader
                          ? cr_data_loader_batches(t->single.loader)
                          : s->per_epoch;
    struct cr_run_steps run = { .per_epoch =
                                    (double)batches / (double)s->grad_accum };
    int n;
    const struct cr_unfreeze_rule *rule = cr_net_unfreeze_rules(t->net, &n);

    if (t->o->step == 0)
        return true;
    if (t->train.steps != CR_INT_NONE)
        run.total = t->train.steps;
    else if (t->train.epochs != CR_INT_NONE)
        run.total = t->train.epochs * batches / s->grad_accum;
    for (int i = 0; i < n; i++) {
        double at = cr_run_updates(&run, &rule[i].at);

        if (rule[i].at.unit == CR_SAMPLES)
            at /= (double)(t->single.batch * s->grad_accum);
        if (s->step > 0 && (double)s->step >= at)
            cr_net_unfreeze(t->net, i);
    }
    return cr_optim_bind(t->diag, &t->optim, &run);
}

/* The plan that keeps all values, or with --as-run that of a run. */
static struct cr_exec_opts trace_want(const struct trace_job *t)
{
    const struct trace *o = t->o;
    bool apart = cr_plans_need_gradients(&t->train, &t->log, &t->optim);
    struct cr_exec_opts want = { .training = !o->eval && !o->predict,
                                 .loss = t->loss,
                                 .backward = o->grad || o->step > 0,
                                 .update = o->step > 0,
                                 .separate_update = o->grad || apart,
                                 .eager = t->eager,
                                 .inputs = o->grad,
                                 .keep_outputs = true };

    if (o->as_run && o->predict) {
        want = cr_plans_predict(t->single.batch, true);
    } else if (o->as_run && o->eval) {
        want = cr_plans_eval(t->config, false, t->eager);
        want.loss = t->loss;
    } else if (o->as_run) {
        want = cr_plans_train(want.separate_update, t->eager);
        want.update = t->rule && !t->results;
        want.loss = t->loss;
    }
    want.results = t->results;
    want.wrt_params = t->targets.params;
    want.wrt_columns = t->targets.columns;
    want.batch = t->single.batch;
    return want;
}

static bool trace_build(struct trace_job *t)
{
    bool train = t->o->as_run && !t->o->eval && !t->o->predict;
    bool backward = train || t->o->grad || t->o->step > 0;
    bool section = cr_section(t->config, "loss") != NULL;
    struct cr_net_opts want = { .columns = t->single.column,
                                .n_columns = t->single.n_columns,
                                .batch = t->single.batch,
                                .seed = t->seed,
                                .print = cr_print_open(t->config, NULL),
                                .classes = t->single.classes };
    struct cr_exec_opts plan;
    struct cr_load_report load;

    t->results = t->o->grad && t->o->step == 0 &&
                 (t->o->predict || t->o->sens.n > 0 || !section);
    t->loss = (backward && !t->results) ||
              (!t->o->predict && section &&
               cr_label_column(t->config, t->single.column,
                               t->single.n_columns) >= 0);
    t->rule = t->o->step > 0 || (train && cr_section(t->config, "optimizer"));
    want.loss = t->loss;
    want.loaded = t->file != NULL;
    if (!cr_section_read(t->config, "train", &t->train) ||
        !cr_section_read(t->config, "log", &t->log))
        return false;
    t->net = cr_net_build(t->config, &want);
    if (!t->net || !cr_hook_recorder_observe(t->config, t->net, NULL,
                                             t->o->predict ? CR_IN_PREDICT
                                             : t->o->eval  ? CR_IN_EVAL
                                                           : CR_IN_TRAIN))
        return false;
    /* cellrun's training checkpoints have no slots for parameters never
     * trained */
    if (t->rule ? !cr_optim_rule(t->config, t->net,
                                 !t->file || !cr_tensor_file_is_train(t->file),
                                 &t->optim)
                : !cr_loss_scale_section(t->config, &t->optim.scale))
        return false;
    if (t->file ? !cr_load_weights(t->file, t->config, t->net, true)
                : !cr_load(t->config, t->net, NULL, &load))
        return false;
    if (!trace_state(t) || !trace_span(t))
        return false;
    t->train.grad_accumulation = t->state.grad_accum;
    if (!cr_grad_targets_read(t->arena, t->config, t->net, &t->o->wrt,
                              &t->targets))
        return false;
    plan = trace_want(t);
    t->separate = plan.separate_update;
    if (plan.update)
        cr_net_grad_accum(t->net, t->state.grad_accum);
    t->exec = cr_net_exec(t->net, &plan);
    if (!t->exec || (!cr_single_batch_read(&t->single)))
        return false;
    for (int c = 0; c < t->single.n_columns; c++)
        cr_exec_feed(t->exec, c, t->single.data[c]);
    if (!cr_grad_sens_read(t->arena, t->diag, t->exec, &t->o->sens))
        return false;
    return cr_exec_check(t->exec, t->diag, t->single.samples);
}

static bool trace_is_grad(const struct cr_tensor *kept)
{
    return cr_starts(kept->name, "grad.") &&
           !cr_starts(kept->name, "grad.output.");
}

/* Stores the gradients as the update gets them: without the loss scale, before
 * clipping. False if one is not finite. */
static bool trace_grads(struct trace_job *t, double scale)
{
    int n;
    const struct cr_tensor *kept = cr_exec_kept(t->exec, &n);
    bool finite = true;

    t->grads = CR_NEWS(t->arena, struct cr_tensor, n + 1);
    for (int i = 0; i < n; i++) {
        struct cr_tensor *g = &t->grads[t->n_grads];
        const cr_real *from = kept[i].data;
        int64_t count = cr_count(&kept[i].spec);
        cr_real *to;

        if (!trace_is_grad(&kept[i]))
            continue;
        *g = kept[i];
        g->data = to = CR_NEWS(t->arena, cr_real, count);
        for (int64_t k = 0; k < count; k++) {
            to[k] = (cr_real)((double)from[k] / scale);
            finite = finite && isfinite(from[k]);
        }
        t->n_grads++;
    }
    return finite;
}

/* Saves the parameters: the update changes them, and with them the output of a
 * cell that consists of a parameter. */
static void trace_before(struct trace_job *t)
{
    int n;
    const struct cr_param *param = cr_net_params(t->net, &n);

    t->before = CR_NEWS(t->arena, cr_real *, n + 1);
    for (int i = 0; i < n; i++) {
        size_t bytes = cr_bytes(&param[i].spec);

        t->before[i] = cr_alloc(t->arena, bytes + 1, 1);
        memcpy(t->before[i], param[i].data, bytes);
    }
}

/* Handles an update that is not finite: false after reporting an error if
 * training would end. */
static bool trace_skip(struct trace_job *t, enum cr_gradient bad, double scale)
{
    struct cr_state *s = &t->state;
    enum cr_gradient_action action =
        cr_gradient_action(&t->optim.scale, t->train.nan, bad);
    const char *why =
        cr_gradient_why(t->arena, t->exec, cr_gradient_text(bad), s->step + 1,
                        bad == CR_GRADIENT_BAD_LOSS ? 0 : scale);

    if (t->optim.scale.on)
        why = cr_strf(t->arena, "%s; the loss scale is %g", why, scale);
    if (action == CR_ACTION_RESCALE) {
        cr_loss_scale_adjust(&t->optim.scale.rule, &s->scale, false);
        if (s->scale.n_overflow >= t->optim.scale.give_up_after)
            action = CR_ACTION_DIVERGE;
    } else if (action == CR_ACTION_SKIP) {
        cr_net_statistics_restore(t->net);
        s->nan.skipped++;
    }
    if (action == CR_ACTION_DIVERGE && t->o->step > 0)
        return cr_error(t->diag, CR_NOWHERE, CR_E_DIVERGED, "%s", why);
    cr_warn(t->diag, CR_NOWHERE, CR_E_DIVERGED, "%s: training %s", why,
            action == CR_ACTION_DIVERGE ? "would end" : "skips this update");
    cr_net_skipped(t->net, cr_state_skipped(s));
    return true;
}

/* Computes the gradients of the network's results: no loss, no scale. */
static bool trace_results(struct trace_job *t)
{
    cr_exec_forward(t->exec, 1);
    if (!cr_exec_check_faults(t->exec, t->diag))
        return false;
    cr_exec_backward(t->exec, 1, 0);
    if (!cr_exec_check_faults(t->exec, t->diag))
        return false;
    trace_grads(t, 1);
    return true;
}

/* Runs one pass or, with --step, one update as training does. */
static bool trace_pass(struct trace_job *t, bool last)
{
    struct cr_state *s = &t->state;
    const struct cr_loss_scale_opts *use = &t->optim.scale;
    bool step = t->o->step > 0;
    int64_t update = cr_state_updates(s);
    double scale = cr_gradient_scale(use, &s->scale), loss;
    double lr = step ? cr_optim_lr(&t->optim, t->net, update) : 0;
    enum cr_gradient bad;

    cr_net_statistics_save(t->net);
    if (last && step)
        trace_before(t);
    bad = cr_gradient_compute(t->exec, t->diag, s->step * s->grad_accum + 1,
                              scale, lr, t->separate || !step, &loss);
    if (bad == CR_GRADIENT_NO_FORWARD || bad == CR_GRADIENT_NO_BACKWARD)
        return false;
    /* With an update, gradients are checked there. */
    if (last && t->o->grad && !trace_grads(t, scale) && !step &&
        bad == CR_GRADIENT_FINITE &&
        cr_plans_need_gradients(&t->train, &t->log, &t->optim))
        bad = CR_GRADIENT_BAD_PARAM;
    if (bad == CR_GRADIENT_FINITE && step && t->separate) {
        if (s->grad_accum > 1)
            cr_exec_accumulate(t->exec);
        bad = cr_gradient_apply(t->exec, &t->train, scale, lr, update, NULL);
    }
    if (bad != CR_GRADIENT_FINITE && !trace_skip(t, bad, scale))
        return false;
    if (bad == CR_GRADIENT_FINITE && use->on)
        cr_loss_scale_adjust(&use->rule, &s->scale, true);
    s->step++;
    return true;
}

static bool trace_compute(struct trace_job *t)
{
    int64_t n = t->o->step > 0 ? t->o->step : 1;

    if (t->o->step == 0 && !t->o->grad) {
        cr_exec_forward(t->exec, 1);
        return cr_exec_check_faults(t->exec, t->diag);
    }
    if (t->results)
        return trace_results(t);
    for (int64_t i = 1; i <= n; i++)
        if (!trace_pass(t, i == n))
            return false;
    return true;
}

/* ---- Collecting tensors */

static void trace_keep(struct trace_job *t, const char *prefix,
                       const char *name, const struct cr_spec *spec, void *data)
{
    t->tensor[t->n++] =
        (struct cr_tensor){ cr_strf(t->arena, "%s%s", prefix, name), *spec,
                            data };
}

/* An eager plan also computes gradients that are not needed. They are not
 * written, so that the names do not depend on the plan. */
static struct cr_exec *trace_usual(struct trace_job *t)
{
    struct cr_exec_opts want = trace_want(t);

    want.eager = want.update = false;
    return t->eager && t->o->grad && !t->o->as_run ? cr_net_exec(t->net, &want)
                                                   : NULL;
}

static bool trace_arrives(struct cr_exec *usual, const char *name)
{
    int n;
    const struct cr_tensor *kept = cr_exec_kept(usual, &n);

    for (int i = 0; i < n; i++)
        if (strcmp(kept[i].name, name) == 0)
            return true;
    return false;
}

static bool trace_shows(const struct trace_job *t, struct cr_exec *usual,
                        const char *name)
{
    return !cr_starts(name, "grad.") ||
           (t->o->grad && (!usual || trace_arrives(usual, name)));
}

/* The address of a tensor's data, or of its copy from before the last
 * update. */
static void *trace_data(const struct trace_job *t, void *data)
{
    int n;
    const struct cr_param *param = cr_net_params(t->net, &n);

    for (int i = 0; t->before && i < n; i++)
        if (param[i].data == data)
            return t->before[i];
    return data;
}

static void trace_accumulate(struct trace_job *t)
{
    struct cr_exec *usual = trace_usual(t);
    int n_kept, n_params, n_slots = 0;
    const struct cr_tensor *kept = cr_exec_kept(t->exec, &n_kept);
    const struct cr_param *param = cr_net_params(t->net, &n_params);
    const struct cr_tensor *slot =
        t->o->step > 0 ? cr_net_slots(t->net, &n_slots) : NULL;

    t->tensor = CR_NEWS(t->arena, struct cr_tensor,
                        n_kept + t->n_grads + n_params + n_slots);
    for (int i = 0; i < n_kept; i++)
        if (!trace_is_grad(&kept[i]) && trace_shows(t, usual, kept[i].name))
            trace_keep(t, "", kept[i].name, &kept[i].spec,
                       trace_data(t, kept[i].data));
    for (int i = 0; i < t->n_grads; i++)
        if (trace_shows(t, usual, t->grads[i].name))
            trace_keep(t, "", t->grads[i].name, &t->grads[i].spec,
                       t->grads[i].data);
    for (int i = 0; t->o->step > 0 && i < n_params; i++)
        trace_keep(t, "param.", param[i].name, &param[i].spec, param[i].data);
    for (int i = 0; i < n_slots; i++)
        trace_keep(t, "slot.", slot[i].name, &slot[i].spec, slot[i].data);
    if (usual)
        cr_exec_free(usual);
    cr_grad_targets_check(t->arena, t->diag, t->net, &t->targets, t->tensor,
                          t->n);
}

struct trace_stats {
    double mean, deviation, low, high;
    int64_t odd; /* number of values that are not finite */
};

static struct trace_stats trace_stats(struct trace_job *t,
                                      const struct cr_tensor *x)
{
    struct trace_stats s = { .low = INFINITY, .high = -INFINITY };
    int64_t n = cr_count(&x->spec), some = 0;
    double *v = CR_NEWS(t->arena, double, n), sum = 0;

    cr_convert(x->spec.type, x->data, CR_F64, v, n);
    for (int64_t i = 0; i < n; i++) {
        if (!isfinite(v[i])) {
            s.odd++;
            continue;
        }
        some++;
        s.mean += v[i];
        s.low = fmin(s.low, v[i]);
        s.high = fmax(s.high, v[i]);
    }
    s.mean = some > 0 ? s.mean / (double)some : NAN;
    for (int64_t i = 0; i < n; i++)
        sum += isfinite(v[i]) ? (v[i] - s.mean) * (v[i] - s.mean) : 0;
    s.deviation = some > 0 ? sqrt(sum / (double)some) : NAN;
    return s;
}

/* Prints a table if there is no file to write. */
static void trace_print(struct trace_job *t)
{
    struct cr_table table = { .arena = t->arena, .align = "lrrrrrr" };
    static const char *const head[] = { "tensor", "shape", "mean",      "std",
                                        "min",    "max",   "not finite" };
    struct cr_buf json = { .arena = t->arena };

    for (size_t i = 0; i < CR_LEN(head); i++)
        cr_table_add(&table, head[i]);
    for (int i = 0; i < t->n; i++) {
        const struct cr_tensor *x = &t->tensor[i];
        struct trace_stats s = trace_stats(t, x);
        const double number[] = { s.mean, s.deviation, s.low, s.high };

        cr_table_add(&table, x->name);
        cr_table_add(&table, cr_diag_format(t->arena, &x->spec));
        cr_buf_str(&json, i > 0 ? ", " : "");
        cr_buf_str(&json, "{\"name\": ");
        cr_buf_json(&json, x->name);
        for (int k = 0; k < x->spec.rank; k++)
            cr_buf_f(&json, "%s%" PRId64, k > 0 ? ", " : ", \"shape\": [",
                     x->spec.dim[k]);
        cr_buf_str(&json, x->spec.rank > 0 ? "]" : ", \"shape\": []");
        for (size_t k = 0; k < CR_LEN(number); k++) {
            cr_table_f(&table, "%.6g", number[k]);
            cr_buf_f(&json, ", \"%s\": %s", head[k + 2],
                     isfinite(number[k]) ? cr_real_text(t->arena, number[k])
                                         : "null");
        }
        cr_table_f(&table, "%" PRId64, s.odd);
        cr_buf_f(&json, ", \"not_finite\": %" PRId64 "}", s.odd);
    }
    if (t->cli->json)
        printf("[%s]\n", cr_buf_text(&json));
    else
        cr_table_show(&table, false);
}

static void trace_against(struct trace_job *t)
{
    struct cr_against against = { .arena = t->arena,
                                  .diag = t->diag,
                                  .path = t->o->against,
                                  .tensor = t->tensor,
                                  .n = t->n,
                                  .rtol = t->o->rtol,
                                  .atol = t->o->atol,
                                  .json = t->cli->json,
                                  .quiet = t->cli->quiet };

    cr_against(&against);
}

/* ---- The command */

static const char *const trace_suffix[] = {
    CR_TENSORS_ENDINGS, ".safetensors", ".npz", ".ckpt"
};

static bool trace_usage(struct trace_job *t)
{
    const struct trace *o = t->o;

    if (!cr_cli_ending(t->cli, "-o", o->out, trace_suffix[o->to]) ||
        !cr_cli_not_json(t->cli, "-o", o->out) ||
        !cr_cli_no_terminal(t->cli, "-o", o->out))
        return false;
    if (o->out && strcmp(o->out, "-") == 0 && (o->print || o->against))
        return cr_error(t->diag, CR_NOWHERE, CR_E_USAGE,
                        "--%s and -o - both write to standard output",
                        o->print ? "print" : "against");
    if ((o->eval || o->predict) && o->step > 0)
        return cr_error(t->diag, CR_NOWHERE, CR_E_USAGE,
                        "--step and --%s: an update belongs to training",
                        o->eval ? "eval" : "predict");
    if (o->eval && o->predict)
        return cr_error(t->diag, CR_NOWHERE, CR_E_USAGE,
                        "--eval and --predict cannot be combined");
    if (o->grad && o->as_run && (o->predict || o->eval))
        return cr_error(t->diag, CR_NOWHERE, CR_E_USAGE,
                        "--grad and --as-run --%s: %s computes no gradients",
                        o->predict ? "predict" : "eval",
                        o->predict ? "a prediction" : "an evaluation");
    if (!o->grad && (o->wrt.n > 0 || o->sens.n > 0))
        return cr_error(t->diag, CR_NOWHERE, CR_E_USAGE,
                        "--%s selects what --grad computes: give --grad too",
                        o->wrt.n > 0 ? "wrt" : "sens");
    if (o->sens.n > 0 && o->step > 0)
        return cr_error(t->diag, CR_NOWHERE, CR_E_USAGE,
                        "--sens and --step: an update takes the gradient of "
                        "the loss");
    return true;
}

/* Whether --print selects a tensor, by its name or that of its cell. */
static bool trace_asked(struct trace_job *t, const char *name)
{
    static const char *const heads[] = { "output.", "grad.output.", "grad.",
                                         "param.", "slot." };
    const char *glob = t->o->print, *cell, *end;

    if (fnmatch(glob, name, 0) == 0 ||
        (strcmp(glob, "network") == 0 &&
         (strcmp(name, "output") == 0 || cr_starts(name, "output#"))))
        return true;
    for (size_t i = 0; i < CR_LEN(heads); i++) {
        if (!cr_starts(name, heads[i]))
            continue;
        cell = name + strlen(heads[i]);
        end = i < 2 ? strchr(cell, '#') : strrchr(cell, '.');
        if (end)
            cell = cr_strndup(t->arena, cell, (size_t)(end - cell));
        if (fnmatch(glob, cell, 0) == 0)
            return true;
    }
    return false;
}

static void trace_values(struct trace_job *t)
{
    const char **names = CR_NEWS(t->arena, const char *, t->n + 1);
    int n = 0;

    for (int i = 0; i < t->n; i++) {
        const struct cr_tensor *x = &t->tensor[i];

        names[i] = cr_starts(x->name, "output.") ? x->name + 7 : x->name;
        if (!trace_asked(t, x->name))
            continue;
        printf("%s: %s\n", x->name,
               cr_tensor_text(t->arena, &x->spec, x->spec.type, x->data));
        n++;
    }
    if (n > 0)
        return;
    cr_error(t->diag, CR_NOWHERE, CR_E_USAGE, "--print: cell '%s' not found",
             cr_quote(t->arena, t->o->print, strlen(t->o->print)));
    if (cr_closest_name(t->o->print, names))
        cr_hint(t->diag, "did you mean '%s'?",
                cr_closest_name(t->o->print, names));
}

static int trace_run(struct cr_cli *cli)
{
    struct trace_job t = { .cli = cli,
                           .arena = cli->arena,
                           .diag = cli->diag,
                           .o = cr_cli_opts(cli) };

    if (trace_usage(&t) && trace_config(&t) && trace_batch(&t) &&
        trace_build(&t) && trace_compute(&t)) {
        trace_accumulate(&t);
        if (t.o->out)
            cr_tensors_write_as(
                t.diag, t.o->out,
                t.o->to ? trace_suffix[t.o->to] : t.o->out, t.tensor, t.n);
        if (t.o->against)
            trace_against(&t);
        if (t.o->print)
            trace_values(&t);
        else if (!t.o->out && !t.o->against)
            trace_print(&t);
    }
    if (t.exec)
        cr_exec_free(t.exec);
    cr_single_batch_close(&t.single);
    cr_tensor_file_close(t.file);
    return 0;
}

const struct cr_command cr_command_trace = {
    .about = {
        .name = "trace",
        .summary = "Run one batch and write the output of every cell.",
        .detail =
            "Writes `output`, `output.CELL` for every named cell, and `loss` "
            "if there is a loss and a label; with --grad also `grad.PARAM`, "
            "`grad.COLUMN` for float columns and `grad.output.CELL`; with "
            "--step `param.NAME` and `slot.NAME` after the updates. --as-run "
            "traces the fused plan of a run instead of one that keeps every "
            "value: it writes `output`, `loss`, `grad.PARAM` and the values "
            "of --step, and `grad.COLUMN` only with --wrt. Without -o and "
            "--against it prints a table. --grad differentiates the loss; "
            "without the section loss (~loss), with --predict or with --sens "
            "it differentiates the output of the network, and the gradient "
            "of the output is ones or --sens, as in MindSpore's grad and "
            "GradOperation. Gradients of the loss are those of training: "
            "with a loss scale (amp.loss_scale) `grad.output.CELL` includes "
            "the scale, and `grad.PARAM` and `grad.COLUMN` are divided by "
            "it, before clipping and weight decay. --step updates as "
            "training does, with clipping, noise and the loss scale, and "
            "skips the update if training would (overflow, train.nan). Each "
            "update uses the one batch, whatever train.grad_accumulation is. "
            "The config may be a cellrun checkpoint. Random numbers are "
            "those of update 1, or, with --step from a training checkpoint, "
            "those of the next updates.",
        .example = "cellrun trace digits.yaml --ckpt runs/digits --grad -o "
                   "out.safetensors\n"
                   "cellrun trace digits.yaml --ckpt runs/digits --grad "
                   "--against out.safetensors\n"
                   "cellrun trace digits.yaml --ckpt runs/digits --predict "
                   "--grad --wrt image -o saliency.npz\n",
        .opts = trace_opts,
        .size = sizeof(struct trace),
    },
    .usage = "CONFIG|CKPT [key=value...] [--feed COLUMN=FILE.npy...] "
             "[-o OUT]",
    .min_operands = 1,
    .max_operands = -1,
    .takes_config = true,
    .run = trace_run,
};
