/*
 * Warns about a run that did not learn: it finishes like any other, with a
 * loss and a checkpoint, so its symptoms are tested.
 *
 *   loss       the mean over the last quarter of the run is not below that
 *              of the first quarter, or not below that of guessing,
 *              ln(classes)
 *   classes    the last evaluation predicted one class for all samples
 *   outputs    all samples of a batch have the same output
 *   ReLU       (nearly) all outputs are 0 for all samples of a batch
 *
 * Each symptom is a warning (E0404) at its position in the config. The batch
 * is the first one of the evaluation, or else of the training data. Short runs
 * are not tested.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "train/diagnose.h"
#include "train/train.h"

#define UPDATES_MIN 50     /* minimum number of updates for a diagnosis */
#define FALL_MIN 0.01      /* smallest relative decrease of the loss */
#define GUESS_MARGIN 0.02  /* a loss this close to ln(classes), relatively, is
                              guessing */
#define DEAD_MIN 0.9       /* fraction of units that are 0 for all samples */
#define UNITS_MIN 32       /* minimum number of units and of samples */
#define EQUAL_MAX 1e-6     /* largest relative range of equal outputs */

/* ---- Positions in the config */

static struct cr_pos diagnose_section(const struct cr_train *t,
                                      const char *name)
{
    const struct cr_node *node = cr_section(t->config, name);

    return node ? node->pos : CR_NOWHERE;
}

static struct cr_pos diagnose_cell(const struct cr_train *t, const char *cell)
{
    struct cr_arena mem = { 0 };
    const struct cr_node *node = cr_node_find(
        t->config->root, cr_strf(&mem, "network.%s", cell));

    cr_arena_free(&mem);
    return node ? node->pos : diagnose_section(t, "network");
}

/* ---- The loss */

static bool diagnose_fall(struct cr_train *t)
{
    const struct cr_trend *trend = &t->last.trend;
    int whole = trend->n - (trend->in > 0), quarter = whole / 4;
    double first, last;

    if (quarter < 4 || t->files.resumed || cr_section(t->config, "load"))
        return false;
    first = cr_trend_mean(trend, 0, quarter);
    last = cr_trend_mean(trend, whole - quarter, whole);
    if (first == 0 || last < first - FALL_MIN * fabs(first))
        return false;
    cr_warn(t->diag, diagnose_section(t, "loss"), CR_E_NOT_LEARNING,
            "the training loss does not decrease: its mean is %g over the "
            "first %" PRId64 " updates and %g over the last",
            first, (int64_t)quarter * trend->per, last);
    cr_hint(t->diag, "run cellrun lr-find for a learning rate, and cellrun "
                     "data show to see the input of the network");
    return true;
}

/* Whether the loss is a plain cross entropy: ln(classes) is the value of
 * guessing only there. */
static bool diagnose_guessable(const struct cr_train *t)
{
    const struct cr_node *args = NULL, *loss = cr_section(t->config, "loss");
    const char *type = loss ? cr_node_type(loss, &args) : NULL;

    return type && cr_node_count(args) == 0 &&
           (strcmp(type, "CrossEntropyLoss") == 0 ||
            strcmp(type, "NLLLoss") == 0);
}

static bool diagnose_guess(struct cr_train *t, const struct cr_spec *out)
{
    const struct cr_trend *trend = &t->last.trend;
    int whole = trend->n - (trend->in > 0), quarter = whole / 4;
    double last, guess;

    if (quarter < 4 || !diagnose_guessable(t) || out->rank < 2 ||
        out->dim[1] < 2)
        return false;
    guess = log((double)out->dim[1]);
    last = cr_trend_mean(trend, whole - quarter, whole);
    if (last < guess * (1 - GUESS_MARGIN))
        return false;
    cr_warn(t->diag, diagnose_section(t, "loss"), CR_E_NOT_LEARNING,
            "the training loss is %sthat of guessing: its mean over the last "
            "%" PRId64 " updates is %.4f; ln(%" PRId64 " classes) is %.4f",
            last > guess * (1 + GUESS_MARGIN) ? "above " : "",
            (int64_t)quarter * trend->per, last, (int64_t)out->dim[1], guess);
    cr_hint(t->diag, "check that labels belong to their samples, that inputs "
                     "are normalised, and the learning rate (cellrun lr-find)");
    return true;
}

/* ---- One batch */

/* Whether the column differs between samples. */
static bool diagnose_varies(const struct cr_column *column, const char *data,
                            int64_t n)
{
    size_t bytes = cr_bytes(&column->spec);

    for (int64_t i = 1; i < n; i++)
        if (memcmp(data, data + (size_t)i * bytes, bytes) != 0)
            return true;
    return false;
}

static void diagnose_equal(struct cr_train *t, const cr_real *y,
                           const struct cr_spec *out)
{
    int64_t n = out->rank > 0 ? out->dim[0] : 0;
    int64_t width = n > 0 ? cr_count(out) / n : 0;

    if (n < 2)
        return;
    for (int64_t j = 0; j < width; j++) {
        double low = (double)y[j], high = low;

        for (int64_t i = 1; i < n; i++) {
            low = fmin(low, (double)y[i * width + j]);
            high = fmax(high, (double)y[i * width + j]);
        }
        if (high - low > EQUAL_MAX * fmax(fabs(low), fabs(high)))
            return;
    }
    cr_warn(t->diag, diagnose_section(t, "network"), CR_E_NOT_LEARNING,
            "the network gives the same output for all %" PRId64
            " samples of a batch", n);
    cr_hint(
        t->diag,
        "try a lower learning rate, another initialiser, or normalised inputs");
}

/* Tests a ReLU. Units are the channels of an image, else the last axis. */
static void diagnose_relu(struct cr_train *t, const char *name,
                          const struct cr_tensor *v, const char *type)
{
    const struct cr_spec *s = &v->spec;
    int axis = s->rank >= 4 ? 1 : s->rank - 1;
    int64_t units, inner = 1, outer = 1, dead = 0;
    const cr_real *y = v->data;

    if (s->rank < 2 || s->type != CR_REAL)
        return;
    units = s->dim[axis];
    for (int i = 0; i < s->rank; i++) {
        outer *= i < axis ? s->dim[i] : 1;
        inner *= i > axis ? s->dim[i] : 1;
    }
    for (int64_t u = 0; u < units; u++) {
        bool zero = true;

        for (int64_t o = 0; o < outer && zero; o++)
            for (int64_t i = 0; i < inner && zero; i++)
                zero = y[(o * units + u) * inner + i] == 0;
        dead += zero;
    }
    if (dead < units && ((double)dead < DEAD_MIN * (double)units ||
                         units < UNITS_MIN || s->dim[0] < UNITS_MIN))
        return;
    cr_warn(t->diag, diagnose_cell(t, name), CR_E_NOT_LEARNING,
            "%" PRId64 " of %" PRId64
            " units of '%s' (%s) are 0 for all %" PRId64
            " samples of a batch: their weights are no longer trained",
            dead, units, name, type, (int64_t)s->dim[0]);
    cr_hint(t->diag, "lower the learning rate, use LeakyReLU, or add BatchNorm "
                     "before the activation");
}

static void diagnose_cells(struct cr_train *t, struct cr_exec *exec)
{
    int n, n_rows;
    const struct cr_tensor *kept = cr_exec_kept(exec, &n);
    const struct cr_cell_row *row = cr_net_cells(t->net, &n_rows);

    for (int i = 0; i < n; i++) {
        const char *name = kept[i].name;

        if (!cr_starts(name, "output."))
            continue;
        name += strlen("output.");
        for (int r = 0; r < n_rows; r++)
            if (strcmp(row[r].name, name) == 0 &&
                (strcmp(row[r].type, "ReLU") == 0 ||
                 strcmp(row[r].type, "ReLU6") == 0))
                diagnose_relu(t, name, &kept[i], row[r].type);
    }
}

/* Feeds the columns of the network from the batch; false if one is missing. */
static bool diagnose_feed(struct cr_train *t, struct cr_exec *exec,
                          struct cr_data_loader *loader,
                          const struct cr_batch *batch, int64_t n_samples,
                          bool *varies)
{
    int n, n_have;
    const struct cr_column *want = cr_net_columns(t->net, &n);
    const struct cr_column *have = cr_data_loader_columns(loader, &n_have);

    *varies = false;
    for (int i = 0, at; i < n; i++) {
        for (at = 0; at < n_have; at++)
            if (strcmp(have[at].name, want[i].name) == 0)
                break;
        if (at == n_have)
            return false;
        cr_exec_feed(exec, i, batch->data[at]);
        *varies = *varies ||
                  (i == 0 && diagnose_varies(&have[at], batch->data[at],
                                             n_samples));
    }
    return true;
}

static void diagnose_batch(struct cr_train *t)
{
    struct cr_data_loader *loader =
        t->scoring.loader ? t->scoring.loader : t->loader;
    struct cr_diag quiet = { .arena = t->arena };
    struct cr_exec_opts want = { .keep_outputs = true,
                                 .silent = true,
                                 .in_turn = true };
    const struct cr_batch *batch;
    struct cr_exec *exec;
    struct cr_spec out;
    const bool whole[CR_COLUMNS_MAX] = { false }; /* of other processes, too */
    bool varies;

    cr_data_loader_share(loader, whole);
    cr_data_loader_seek(loader, 0, 0);
    batch = cr_data_loader_next(loader, &quiet);
    if (!batch || batch->size_index != 0)
        return;
    /* At most the batch size of training: it needs no more memory, and the
     * network accepts it. */
    want.batch = batch->n < t->plans.batch ? batch->n : t->plans.batch;
    if (!t->observers.profile) /* it refers to the steps of the plans */
        cr_plans_free(&t->plans);
    exec = cr_net_exec(t->net, &want);
    if (exec && diagnose_feed(t, exec, loader, batch, want.batch, &varies) &&
        cr_exec_check(exec, &quiet, batch->samples)) {
        cr_exec_forward(exec, 0);
        if (cr_exec_check_faults(exec, &quiet)) {
            const cr_real *y = cr_exec_output(exec, &out);

            diagnose_cells(t, exec);
            if (varies && out.type == CR_REAL)
                diagnose_equal(t, y, &out);
            if (!diagnose_guess(t, &out))
                diagnose_fall(t);
        }
    }
    cr_exec_free(exec);
}

void cr_train_diagnose(struct cr_train *t)
{
    int before = t->diag->warnings + t->diag->errors;

    if (cr_state_updates(&t->state) - t->history.started_step < UPDATES_MIN)
        return;
    diagnose_batch(t);
    if (t->scoring.eval && t->diag->warnings + t->diag->errors == before)
        cr_eval_warn_one_class(t->scoring.eval, t->diag,
                               diagnose_section(t, "loss"));
}
