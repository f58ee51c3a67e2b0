/*
 * gradcheck: compares a network's gradients with finite differences of its
 * loss.
 *
 * For a parameter w with gradient g, and for each direction d,
 *
 *   sum(g d) = (loss(w + h d) - loss(w - h d)) / 2h + O(h^2)
 *
 * Changing a single element changes the loss by less than its rounding error;
 * changing along a direction does not. So d is g, and then g with a random
 * half of its elements set to 0, --samples times: a wrong element is in some
 * of the halves. Steps of h and 2h together cancel the h^2 term (Richardson).
 * Random numbers of the network (Dropout) are always those of update 1, and
 * moving statistics are not updated. Values that pass no gradient keep their
 * value at w: stop_gradient and ops without a gradient (a comparison, argmax,
 * one_hot, floor), because the gradient is the derivative of the loss with
 * these values fixed. Hooks of `watch` that replace gradients are ignored:
 * their results are not derivatives.
 *
 * A kink (ReLU) between w - h d and w + h d makes a difference useless, and in
 * a network with BatchNorm many values cross theirs at once. So shorter steps
 * are tried until one agrees. If none does, the one-sided slopes decide: they
 * are equal if the gradient is wrong, and differ at a kink, where no gradient
 * exists to compare with.
 *
 * Rounding within the network (a norm over a small variance enlarges it) makes
 * the loss noisy. Fourth differences of losses at small distances are noise (J.
 * Moré, S. Wild, Estimating Computational Noise, 2011): if it could explain a
 * mismatch at the second step (the first one may be too long for a straight
 * line), nothing is said.
 *
 * Low precision (amp, to_float) would round a loss to steps larger than these
 * differences, so everything is computed in float32.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/str.h"
#include "base/table.h"
#include "build/hook.h"
#include "ckpt/load.h"
#include "conf/command_line.h"
#include "console/console.h"
#include "model/model.h"
#include "model/single_batch.h"
#include "num/rng.h"
#include "train/section.h"

#define STEPS 4   /* number of step lengths, each a quarter of the previous
                     one */
#define NOISE 8   /* a slope may be off by this multiple of a loss's standard
                     deviation, divided by the step: 4 of its own */
#define QUIET 2.0 /* seconds between messages of progress */

struct gradcheck {
    struct cr_strs feed;
    const char *ckpt;
    bool eval;
    double tolerance, eps;
    int64_t samples;
};

#define EPS (sizeof(cr_real) == 8 ? 1e-5 : 0.002)
#define TOLERANCE (sizeof(cr_real) == 8 ? 1e-6 : 0.02)

static const struct cr_opt gradcheck_opts[] = {
    CR_STRS_OPTIONAL(
        struct gradcheck, feed,
        "A column of the batch, as the datapipe would deliver it. Default: "
        "the first training batch.",
        .text = "COLUMN=FILE"),
    CR_STR_OPTIONAL(struct gradcheck, ckpt, "Weights at which to check.",
                    .text = "CKPT"),
    CR_BOOL_DEFAULT(struct gradcheck, eval, false,
                    "Compute in predict mode instead of training mode."),
    CR_REAL_OPTIONAL(
        struct gradcheck, tolerance, 0, 1,
        "Relative tolerance. Default: 0.02, the accuracy of float32 (1e-6 in "
        "a build with REAL=double). The rounding error of the loss is added: "
        "5e-7 of the loss (1e-15 with REAL=double) divided by the length of "
        "the step, which matters for small gradients."),
    CR_REAL_OPTIONAL(
        struct gradcheck, eps, 1e-5, 1,
        "Length of the longest step, as the fraction of the loss by which it "
        "changes the loss; steps change a parameter by at most 1/10. Default: "
        "0.002 (1e-5 in a build with REAL=double)."),
    CR_INT_DEFAULT(
        struct gradcheck, samples, 3, 0, 1000000,
        "Number of random halves of each parameter that are tested in "
        "addition to its whole gradient; more find smaller errors and take "
        "longer."),
    { 0 },
};

struct result {
    const char *name;
    double norm;      /* of the gradient */
    double deviation; /* maximum, relative to the expected value */
    int checked;      /* number of directions */
    int kinks, noisy; /* number of directions skipped: at a kink, in noise */
    const char *why;  /* why there is no gradient; NULL: there is one */
    bool ok;
};

struct job {
    struct cr_cli *cli;
    struct cr_arena *arena;
    struct cr_diag *diag;
    const struct gradcheck *o;
    struct cr_config *config;
    struct cr_tensor_file *file;
    struct cr_single_batch single;
    uint64_t seed;
    struct cr_net *net;
    struct cr_exec *back, *forth; /* with gradients; the loss only */
    struct result *results;
    int n, kinks, noisy;
    bool broken;  /* a cell reported an error */
    int done, of; /* number of parameters */
    double reported; /* time of the last message, by cr_now() */
};

static bool gradcheck_open(struct job *j)
{
    struct cr_model model;
    bool ok = cr_model_operands(j->cli, &model) &&
              cr_model_weights(&model, j->o->ckpt);

    j->config = model.config;
    j->file = model.file;
    j->seed = model.seed;
    if (!ok)
        return false;
    j->single = (struct cr_single_batch){ .arena = j->arena,
                                          .diag = j->diag,
                                          .config = j->config,
                                          .feed = j->o->feed,
                                          .seed = j->seed };
    return cr_single_batch_open(&j->single);
}

static bool gradcheck_build(struct job *j)
{
    struct cr_net_opts want = { .columns = j->single.column,
                                .n_columns = j->single.n_columns,
                                .batch = j->single.batch,
                                .seed = j->seed,
                                .classes = j->single.classes,
                                .loss = true,
                                .force_float32 = true,
                                .loaded = j->file != NULL };
    struct cr_exec_opts plan = { .training = !j->o->eval,
                                 .loss = true,
                                 .freeze_stats = true,
                                 .hold = true,
                                 .batch = j->single.batch };
    struct cr_load_report load;

    j->net = cr_net_build(j->config, &want);
    if (!j->net)
        return false;
    if (j->file ? !cr_load_weights(j->file, j->config, j->net, true)
                : !cr_load(j->config, j->net, NULL, &load))
        return false;
    j->forth = cr_net_exec(j->net, &plan);
    plan.backward = plan.keep_outputs = true;
    j->back = j->forth ? cr_net_exec(j->net, &plan) : NULL;
    if (!j->back || !cr_single_batch_read(&j->single))
        return false;
    for (int c = 0; c < j->single.n_columns; c++) {
        cr_exec_feed(j->forth, c, j->single.data[c]);
        cr_exec_feed(j->back, c, j->single.data[c]);
    }
    return cr_exec_check(j->back, j->diag, j->single.samples);
}

/* The loss at w = start + by * d. */
static double gradcheck_loss(struct job *j, const struct cr_param *p,
                             const cr_real *start, const double *d, double by)
{
    int64_t i, n = cr_count(&p->spec);

    for (i = 0; i < n; i++)
        p->data[i] = (cr_real)((double)start[i] + by * d[i]);
    cr_exec_forward(j->forth, 1);
    memcpy(p->data, start, (size_t)n * sizeof *start);
    j->broken = j->broken || !cr_exec_check_faults(j->forth, j->diag);
    return j->broken ? (double)NAN : cr_exec_objective(j->forth);
}

/* The longest step along d: it changes the loss by the fraction --eps, and the
 * parameter by at most 1/10. */
static double gradcheck_step(const struct gradcheck *o,
                             const struct cr_param *p, const cr_real *start,
                             const double *d, double base, double expected)
{
    double eps = isnan(o->eps) ? EPS : o->eps;
    double size = 0, length = 0, most, h;
    int64_t i, n = cr_count(&p->spec);

    for (i = 0; i < n; i++) {
        size += (double)start[i] * start[i];
        length += d[i] * d[i];
    }
    most = 0.1 * (sqrt(size) + 0.1 * sqrt((double)n)) / sqrt(length);
    h = eps * base / expected;
    return h > most ? most : h;
}

struct slope {
    double both;  /* derivative along d */
    double rounding; /* its rounding error */
    double gap;   /* difference between the two one-sided slopes */
};

static struct slope gradcheck_slope(struct job *j, const struct cr_param *p,
                                    const cr_real *start, const double *d,
                                    double h)
{
    double at = gradcheck_loss(j, p, start, d, 0), near[2], far[2];
    struct slope s;

    near[0] = gradcheck_loss(j, p, start, d, -h / 2);
    near[1] = gradcheck_loss(j, p, start, d, h / 2);
    far[0] = gradcheck_loss(j, p, start, d, -h);
    far[1] = gradcheck_loss(j, p, start, d, h);
    s.both = (4 * (near[1] - near[0]) / h - (far[1] - far[0]) / (2 * h)) / 3;
    s.gap = fabs((near[1] - at) - (at - near[0])) / (h / 2);
    s.rounding = (fabs(at) + 1e-3) * (sizeof(cr_real) == 8 ? 1e-15 : 5e-7) / h;
    return s;
}

/* The standard deviation of the noise of the loss, near w. */
static double gradcheck_noise(struct job *j, const struct cr_param *p,
                              const cr_real *start, const double *d, double h)
{
    double f[9], sum = 0;
    int i, order;

    for (i = 0; i < 9; i++)
        f[i] = gradcheck_loss(j, p, start, d, (i - 4) * h / 64);
    for (order = 1; order <= 4; order++)
        for (i = 0; i < 9 - order; i++)
            f[i] = f[i + 1] - f[i];
    for (i = 0; i < 5; i++)
        sum += f[i] * f[i];
    return sqrt(sum / 5 / (1 + 16 + 36 + 16 + 1));
}

static const struct cr_tensor *gradcheck_find(const struct cr_tensor *kept,
                                              int n, const char *param)
{
    for (int i = 0; i < n; i++)
        if (cr_starts(kept[i].name, "grad.") &&
            strcmp(kept[i].name + 5, param) == 0)
            return &kept[i];
    return NULL;
}

/* Reports progress; small networks finish before the first message. */
static void gradcheck_say(struct job *j, const char *param)
{
    double now = cr_now();

    if (j->cli->quiet || now - j->reported < QUIET)
        return;
    j->reported = now;
    fprintf(stderr, "%d of %d parameters, at %s\n", j->done, j->of,
            cr_escape(j->arena, param));
}

/* Checks one direction, whose derivative should be `expected`. */
static void gradcheck_along(struct job *j, const struct cr_param *p,
                            const cr_real *start, const double *d,
                            double expected, struct result *r)
{
    double limit = isnan(j->o->tolerance) ? TOLERANCE : j->o->tolerance;
    double base = fabs(gradcheck_loss(j, p, start, d, 0)) + 1e-3;
    double h = gradcheck_step(j->o, p, start, d, base, expected);
    double best = INFINITY, second = h / 4;
    struct slope s = { 0 };
    bool agrees = false;
    int k;

    for (k = 0; k < STEPS && !agrees; k++, h /= 4) {
        double off;

        s = gradcheck_slope(j, p, start, d, h);
        if (k > 0 && s.rounding > 0.1 * expected)
            break; /* rounding dominates */
        off = fabs(s.both - expected);
        best = off < best ? off : best;
        agrees = off <= limit * expected + s.rounding;
    }
    if (!agrees && s.gap > limit * expected + 4 * s.rounding) {
        r->kinks++;
        return;
    }
    if (!agrees && NOISE * gradcheck_noise(j, p, start, d, second) / second >
                       limit * expected) {
        r->noisy++;
        return;
    }
    r->checked++;
    r->ok = r->ok && agrees;
    if (!(best / expected <= r->deviation))
        r->deviation = best / expected;
}

static void gradcheck_param(struct job *j, const struct cr_param *p,
                            const cr_real *g, int index)
{
    struct result *r = &j->results[j->n++];
    int64_t i, n = cr_count(&p->spec);
    double *d = CR_NEWS(j->arena, double, n);
    cr_real *start = CR_NEWS(j->arena, cr_real, n);
    int64_t k;

    *r = (struct result){ .name = p->name, .ok = true };
    memcpy(start, p->data, (size_t)n * sizeof *start);
    for (i = 0; i < n; i++)
        r->norm += (double)g[i] * g[i];
    r->norm = sqrt(r->norm);
    for (k = 0; k <= j->o->samples && !j->broken; k++) {
        struct cr_rng rng =
            cr_rng(j->seed, CR_STREAM_TEST, (uint64_t)index, (uint64_t)k);
        double expected = 0;

        for (i = 0; i < n; i++) {
            d[i] = k > 0 && (cr_rng_u32(&rng, (uint64_t)i) & 1) ? 0 : g[i];
            expected += d[i] * g[i];
        }
        if (expected > 1e-30)
            gradcheck_along(j, p, start, d, expected, r);
        else if (!(expected <= 1e-30)) /* the gradient is not finite */
            r->ok = false;
        gradcheck_say(j, p->name);
    }
    j->kinks += r->kinks;
    j->noisy += r->noisy;
}

static void gradcheck_all(struct job *j)
{
    int n_params, n_kept, wrong = 0;
    const struct cr_param *p = cr_net_params(j->net, &n_params);
    const struct cr_tensor *kept;

    j->results = CR_NEWS(j->arena, struct result, n_params + 1);
    cr_exec_forward(j->forth, 1); /* stores the values that pass no gradient */
    cr_exec_forward(j->back, 1);
    j->broken = !cr_exec_check_faults(j->back, j->diag);
    if (j->broken)
        return;
    cr_exec_backward(j->back, 1, 0);
    j->broken = !cr_exec_check_faults(j->back, j->diag);
    if (j->broken)
        return;
    kept = cr_exec_kept(j->back, &n_kept);
    for (int i = 0; i < n_params; i++)
        j->of += gradcheck_find(kept, n_kept, p[i].name) != NULL;
    j->reported = cr_now();
    for (int i = 0; i < n_params; i++) {
        const struct cr_tensor *g = gradcheck_find(kept, n_kept, p[i].name);

        if (!g && !p[i].statistic && !p[i].frozen && !p[i].never_trained)
            j->results[j->n++] =
                (struct result){ .name = p[i].name,
                                 .why = p[i].frozen_reason ? p[i].frozen_reason
                                                           : "unused",
                                 .ok = true };
        if (!g)
            continue;
        gradcheck_param(j, &p[i], g->data, i);
        if (j->broken)
            return;
        j->done++;
        wrong += !j->results[j->n - 1].ok;
    }
    if (wrong > 0)
        cr_error(j->diag, CR_NOWHERE, CR_E_DIFFERS,
                 "the gradients of %d of %d parameters do not match finite "
                 "differences of the loss",
                 wrong, j->n);
}

/* Whether an entry of `watch` replaces gradients. */
static bool gradcheck_hooks(const struct job *j)
{
    int n;
    const struct cr_hook *hook = cr_net_hooks(j->net, &n);

    for (int i = 0; i < n; i++)
        if (hook[i].text && hook[i].form >= CR_HOOK_BACKWARD_PRE)
            return true;
    return false;
}

static void gradcheck_print(const struct job *j)
{
    struct cr_table table = { .arena = j->arena, .align = "lrrl" };
    static const char *const head[] = { "parameter", "gradient", "deviation",
                                        "" };

    for (size_t k = 0; k < CR_LEN(head); k++)
        cr_table_add(&table, head[k]);
    for (int i = 0; i < j->n; i++) {
        const struct result *r = &j->results[i];

        cr_table_add(&table, r->name);
        if (r->why)
            cr_table_add(&table, "-");
        else
            cr_table_f(&table, "%.3g", r->norm);
        if (r->checked > 0)
            cr_table_f(&table, "%.2g", r->deviation);
        else
            cr_table_add(&table, "-");
        cr_table_add(
            &table, !r->ok   ? "DIFFERS"
                    : r->why ? cr_strf(j->arena, "gets no gradient: %s", r->why)
                    : r->norm == 0    ? "no gradient here"
                    : r->checked == 0 ? r->noisy > 0 ? "in the noise"
                                                     : "at a kink"
                    : r->kinks + r->noisy > 0
                        ? cr_strf(j->arena, "agrees, %d of %d skipped",
                                  r->kinks + r->noisy,
                                  r->kinks + r->noisy + r->checked)
                        : "agrees");
    }
    cr_table_show(&table, false);
    if (gradcheck_hooks(j))
        puts("compared without the hooks of watch that replace gradients");
    if (cr_net_amp_ignored(j->net))
        puts("compared in float32: amp and to_float are ignored");
    if (j->kinks > 0)
        printf("skipped: %d direction%s at a kink (left and right slopes of "
               "the loss differ)\n",
               j->kinks, j->kinks == 1 ? "" : "s");
    if (j->noisy > 0)
        printf("skipped: %d direction%s where the loss is too noisy to tell "
               "(a build with REAL=double tells more)\n",
               j->noisy, j->noisy == 1 ? "" : "s");
}

static void gradcheck_json(const struct job *j)
{
    struct cr_buf b = { .arena = j->arena };

    cr_buf_str(&b, "{\"params\": [");
    for (int i = 0; i < j->n; i++) {
        const struct result *r = &j->results[i];

        cr_buf_f(&b, "%s{\"name\": ", i ? ", " : "");
        cr_buf_json(&b, r->name);
        cr_buf_f(&b,
                 ", \"norm\": %s, \"deviation\": %s, "
                 "\"skipped\": %d, \"agrees\": %s}",
                 isfinite(r->norm) && !r->why ? cr_real_text(j->arena, r->norm)
                                              : "null",
                 isfinite(r->deviation) ? cr_real_text(j->arena, r->deviation)
                                        : "null",
                 r->kinks + r->noisy, r->ok ? "true" : "false");
    }
    printf("%s]}\n", cr_buf_text(&b));
}

static int gradcheck_run(struct cr_cli *cli)
{
    struct job j = { .cli = cli,
                     .arena = cli->arena,
                     .diag = cli->diag,
                     .o = cr_cli_opts(cli) };

    if (gradcheck_open(&j) && gradcheck_build(&j)) {
        gradcheck_all(&j);
        if (j.broken)
            ;
        else if (cli->json)
            gradcheck_json(&j);
        else
            gradcheck_print(&j);
    }
    cr_exec_free(j.forth);
    cr_exec_free(j.back);
    cr_single_batch_close(&j.single);
    cr_tensor_file_close(j.file);
    return 0;
}

const struct cr_command cr_command_gradcheck = {
    .about = {
        .name = "gradcheck",
        .summary = "Check a network's gradients against finite differences.",
        .detail =
            "Compares the gradient of every trainable parameter with central "
            "differences of the loss, along the gradient and along random "
            "halves of it (--samples). Prints the norm of the gradient and "
            "the largest relative deviation; exits with 6 on a mismatch. "
            "Parameters without a gradient, such as those that a `bprop` "
            "omits, are listed with the reason. Values that no gradient "
            "passes (stop_gradient, comparisons, argmax, a bprop that "
            "returns None) are held constant. Hooks of `watch` that replace "
            "gradients are ignored, and the output reports it. Directions "
            "across a kink (ReLU) are retried with shorter steps, then "
            "skipped and counted, as are those where the loss is too noisy "
            "to tell; other weights (--ckpt) or a build with "
            "REAL=double show more. Everything is computed in float32: amp "
            "and to_float are ignored, and the output reports it.",
        .example = "cellrun gradcheck digits.yaml\n"
                   "cellrun gradcheck digits.yaml --ckpt runs/digits\n",
        .opts = gradcheck_opts,
        .size = sizeof(struct gradcheck),
    },
    .usage = "CONFIG|CKPT [key=value...] [--feed COLUMN=FILE.npy...]",
    .min_operands = 1,
    .max_operands = -1,
    .takes_config = true,
    .run = gradcheck_run,
};
