#include "score/eval.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "graph/cell.h"
#include "mpi/mpi.h"
#include "score/probability.h"

#define SAMPLES_MIN 20 /* minimum number for the warning about one class */

struct cr_eval {
    struct cr_arena arena;
    struct cr_config *config;
    const struct cr_net *net;
    struct cr_data_loader *loader;
    const struct cr_metrics *metrics;
    struct cr_plans plans;
    int64_t max_batches;
    int n_columns, label; /* index in the data loader; -1: none */
    int *from;            /* from[i]: the data loader's index of the network's
                             column i */
    struct cr_spec label_spec;  /* of the labels of one sample */
    int axis;                   /* axis of the classes in the output */
    int64_t classes, *rows;     /* classes of the output; rows of each metric's
                                   state */
    char *state;                /* states of all metrics */
    struct cr_metric_block_value *block_values; /* in the current batch; NULL:
                                                   none */
    size_t *state_at, state_size;
    struct cr_arena mem;        /* memory of the metrics' states */
    struct cr_arena reported;   /* memory of the scores of the last complete
                                   evaluation */
    struct cr_scores scores;
    struct cr_outcomes **outcomes; /* NULL: not wanted */
    /* Of the labels and predictions of the current evaluation: the first class
     * (-1: none so far), -2 after another one was found. */
    int64_t only_label, only_predicted;
    /* Batches of the current evaluation whose labels the loss all ignores. */
    int64_t n_ignored;
    struct cr_ignored ignored;
    double label_cut;           /* of labels by themselves (NaN: the loss has
                                   classes) */
    bool multi_hot;             /* some of these labels are not one-hot */
    double threshold, cut;      /* of the checkpoint, as a probability (NaN:
                                   none); cut: the same for raw outputs */
};

/* ---- Label column */

static int label_find(const struct cr_column *columns, int n, const char *name)
{
    for (int i = 0; i < n && name; i++)
        if (strcmp(columns[i].name, name) == 0)
            return i;
    return -1;
}

int cr_label_column(const struct cr_config *config,
                    const struct cr_column *columns, int n)
{
    const struct cr_node *args, *loss = cr_section(config, "loss");
    const char *type = loss ? cr_node_type(loss, &args) : NULL;
    const struct cr_cell *cell = type ? cr_loss_find(type) : NULL;
    const struct cr_node *inputs = loss ? cr_node_get(loss, "inputs") : NULL;
    int found = -1;

    /* A loss written in the config: the first of its inputs, after the results
     * of the network, that is a column. */
    for (int i = 1; i < cr_node_count(inputs) && !type && found < 0; i++) {
        const struct cr_node *m = cr_node_at(inputs, i);

        found = label_find(columns, n, m->key ? m->key : m->text);
    }
    if (found >= 0)
        return found;
    return label_find(columns, n,
                      cell && cell->targets && cell->targets[0]
                          ? cell->targets[0]
                          : "label");
}

bool cr_label_classifies(const struct cr_config *config,
                         const struct cr_column *columns, int n)
{
    int label = cr_label_column(config, columns, n);

    return label >= 0 && columns[label].spec.type == CR_I32;
}

/* ---- Opening */

/* Maps the columns of the network to those of the data loader. */
static bool eval_columns(struct cr_eval *e, const struct cr_eval_opts *want)
{
    int n;
    const struct cr_column *have = cr_data_loader_columns(e->loader, &n);
    struct cr_diag *diag = e->config->diag;
    bool ok = true;

    e->n_columns = want->n_columns;
    e->from = CR_NEWS(&e->arena, int, want->n_columns + 1);
    for (int i = 0; i < want->n_columns; i++) {
        const struct cr_column *c = &want->columns[i];
        int at = 0;

        while (at < n && strcmp(have[at].name, c->name) != 0)
            at++;
        e->from[i] = at;
        if (at == n)
            ok = cr_error(diag, cr_data_loader_pos(e->loader), CR_E_SHAPE,
                          "the evaluation data has no column '%s'", c->name);
        else if (!cr_spec_same(&have[at].spec, &c->spec))
            ok = cr_error(
                diag, cr_data_loader_pos(e->loader), CR_E_SHAPE,
                "column '%s' of the evaluation data is %s %s, expected %s %s",
                c->name, cr_type_name(have[at].spec.type),
                cr_diag_format(diag->arena, &have[at].spec),
                cr_type_name(c->spec.type),
                cr_diag_format(diag->arena, &c->spec));
    }
    e->label = cr_label_column(e->config, have, n);
    if (e->label >= 0)
        e->label_spec = have[e->label].spec;
    return ok;
}

int cr_class_axis(const struct cr_config *config, const struct cr_spec *out)
{
    const struct cr_node *loss = cr_section(config, "loss"), *args = NULL;
    const struct cr_node *axis;

    if (!loss || !cr_node_type(loss, &args))
        return 1;
    axis = cr_node_get(args, "axis");
    if (!axis || axis->kind != CR_NODE_INT)
        return 1;
    return (int)(axis->integer < 0 ? axis->integer + out->rank
                                   : axis->integer);
}

/* What the output or the labels lack to be classes; NULL: nothing. */
static const char *eval_no_classes(const struct cr_eval *e,
                                   const struct cr_spec *out)
{
    const struct cr_spec *label = &e->label_spec;
    bool one_hot = label->type == CR_REAL;

    if (out->rank < 2 || e->axis < 1 || e->axis >= out->rank ||
        out->dim[e->axis] < 2)
        return "an output of shape (n, classes)";
    if (e->label < 0)
        return "a column of labels";
    if (label->type != CR_I32 && !one_hot)
        return "labels of type int32, or one-hot";
    if (label->rank != out->rank - (one_hot ? 1 : 2))
        return "labels whose shape matches the output";
    for (int i = 0; i < label->rank; i++)
        if (label->dim[i] !=
            out->dim[i + 1 + (!one_hot && i + 1 >= e->axis)])
            return "labels whose shape matches the output";
    return NULL;
}

/* What is missing for one label per number of the output; NULL: nothing. */
static const char *eval_no_labels(const struct cr_eval *e,
                                  const struct cr_spec *out)
{
    enum cr_type type = e->label_spec.type;

    if (e->label < 0)
        return "a column of labels";
    if (type != CR_REAL && type != CR_I32 && type != CR_U8 && type != CR_BOOL)
        return "labels that are numbers";
    if (out->rank < 1 ||
        cr_count(out) / out->dim[0] != cr_count(&e->label_spec))
        return "one label for each number of the output";
    return NULL;
}

/* Number of classes that the metric counts; 0: it cannot count them. */
static int64_t eval_rows(const struct cr_eval *e,
                         const struct cr_metric_use *use,
                         const struct cr_spec *out)
{
    if (!use->metric->classes)
        return e->classes;
    return use->metric->classes(use->opts,
                                eval_no_classes(e, out) ? 0 : e->classes);
}

/* What the metric needs and does not have; NULL: nothing. */
static const char *eval_mismatch(const struct cr_eval *e,
                                 const struct cr_metric_use *use,
                                 const struct cr_spec *out)
{
    const struct cr_metric *m = use->metric;
    const char *why = NULL;

    if (cr_metric_is_multilabel(m, use->opts)) {
        if (out->rank < 2 || e->axis < 1 || e->axis >= out->rank)
            return "an output of shape (n, classes)";
        return eval_no_labels(e, out);
    }
    if (m->classifies)
        why = eval_no_classes(e, out);
    if (m->compares && (!m->classifies || why))
        why = eval_no_labels(e, out);
    if (!why && m->mismatch)
        why = m->mismatch(use->opts, out, e->axis);
    if (!why && eval_rows(e, use, out) < 1)
        why = "a 'num_classes' of at least the number of classes of the output";
    return why;
}

/* Text such as ", a sample of the label column 'y' is (3,)"; "" without a
 * label column. */
static const char *eval_label_text(struct cr_eval *e)
{
    const struct cr_column *have;
    int n;

    if (e->label < 0)
        return "";
    have = cr_data_loader_columns(e->loader, &n);
    return cr_strf(&e->arena, ", a sample of the label column '%s' is %s",
                   have[e->label].name,
                   cr_diag_format(&e->arena, &e->label_spec));
}

static bool eval_metrics(struct cr_eval *e)
{
    struct cr_exec *exec = e->plans.full ? e->plans.full : e->plans.last;
    struct cr_diag *diag = e->config->diag;
    struct cr_spec out;
    const char *why;
    bool ok = true;

    cr_exec_output(exec, &out);
    e->axis = cr_class_axis(e->config, &out);
    e->classes = out.rank > 1 && e->axis > 0 && e->axis < out.rank
                     ? out.dim[e->axis]
                     : 1;
    e->state_at = CR_NEWS(&e->arena, size_t, e->metrics->n + 1);
    e->rows = CR_NEWS(&e->arena, int64_t, e->metrics->n + 1);
    e->scores.n = e->metrics->n;
    e->scores.classes = e->classes;
    e->scores.v = CR_NEWS(&e->arena, struct cr_score, e->metrics->n + 1);
    for (int i = 0; i < e->metrics->n; i++) {
        const struct cr_metric_use *use = &e->metrics->use[i];

        why = eval_mismatch(e, use, &out);
        if (why) {
            ok = cr_error(diag, use->pos, CR_E_SHAPE,
                          "the metric '%s' needs %s; the output is %s%s",
                          use->name, why, cr_diag_format(diag->arena, &out),
                          eval_label_text(e));
            if (out.rank == 1 && out.type == CR_REAL)
                cr_hint(diag, "for two classes, end the network with two "
                              "outputs and use CrossEntropyLoss; for one "
                              "output, metrics: [auc, {best_threshold: "
                              "{logits: true}}]");
            continue;
        }
        why = use->metric->no_effect
                  ? use->metric->no_effect(use->opts, !eval_no_classes(e, &out))
                  : NULL;
        if (why)
            cr_warn(diag, use->pos, CR_E_NO_MATCH,
                    "the metric '%s': %s, so it has no effect", use->name, why);
        e->rows[i] = eval_rows(e, use, &out);
        e->state_at[i] = e->state_size;
        e->state_size += (cr_metric_size(use, e->rows[i]) + 15) & ~(size_t)15;
        e->scores.v[i] = (struct cr_score){
            .name = use->name,
            .single = cr_metric_single(use->metric),
            .value = NAN,
        };
        if (!cr_metric_tabular(use))
            continue;
        e->scores.v[i].rows = e->rows[i];
        e->scores.v[i].table =
            CR_NEWS(&e->arena, double, e->rows[i] * e->rows[i]);
        if (use->metric->of)
            e->scores.v[i].actual = CR_NEWS(&e->arena, double, e->rows[i]);
    }
    e->state = CR_NEWS(&e->arena, char, e->state_size + 1);
    return ok;
}

void cr_eval_part(struct cr_config *config, const struct cr_data_loader *loader,
                  int64_t max_batches)
{
    if (max_batches > 0 && max_batches < cr_data_loader_batches(loader))
        cr_data_loader_warn_class(
            loader, max_batches * cr_data_loader_batch_size(loader),
            cr_node_find(config->root, "eval.max_batches"), "eval.max_batches");
}

/* Reads the threshold of the checkpoint. It is used as predict uses it: for
 * outputs of two classes, or of one number. */
static bool eval_cut(struct cr_eval *e, const struct cr_scores *chosen)
{
    const struct cr_score *score = cr_score_find(chosen, "best_threshold");
    struct cr_metrics all;
    struct cr_spec out;

    e->threshold = NAN;
    if (!score || !(score->value >= 0) || !isfinite(score->value))
        return true;
    cr_exec_output(e->plans.full ? e->plans.full : e->plans.last, &out);
    if (!eval_no_classes(e, &out)) {
        if (out.rank == 2 && e->classes == 2)
            e->cut = e->threshold = score->value;
        return true;
    }
    if (out.rank < 1 || cr_count(&out) != out.dim[0])
        return true;
    if (!cr_metrics_read(e->config, false, &all))
        return false;
    for (int i = 0; i < all.n; i++)
        if (all.use[i].metric->cut) {
            e->threshold = score->value;
            e->cut = all.use[i].metric->cut(all.use[i].opts, score->value);
        }
    return true;
}

/* Warns of metrics that take logits for probabilities, because their option
 * `logits` is false; not of one that repeats the checkpoint's threshold. */
static void eval_check_logits(const struct cr_eval *e)
{
    const struct cr_prob_loss *loss = cr_prob_loss(e->config);
    struct cr_spec out;

    cr_exec_output(e->plans.full ? e->plans.full : e->plans.last, &out);
    if (!loss || loss->map != CR_PROB_SIGMOID || !eval_no_classes(e, &out))
        return;
    for (int i = 0; i < e->metrics->n; i++) {
        const struct cr_metric_use *use = &e->metrics->use[i];
        const struct cr_opt *row = use->metric->about.opts;

        while (row && row->name && strcmp(row->name, "logits") != 0)
            row++;
        if (!row || !row->name ||
            (use->metric->cut && !isnan(e->threshold)) ||
            *(const bool *)((const char *)use->opts + row->at))
            continue;
        cr_warn(e->config->diag, use->pos, CR_E_NO_MATCH,
                "the metric '%s' takes the output for a probability, but it "
                "is a logit of %s",
                use->name, loss->name);
        cr_hint(e->config->diag, "use {%s: {logits: true}}", use->name);
    }
}

static double eval_label_cut(const struct cr_config *config)
{
    const struct cr_prob_loss *loss = cr_prob_loss(config);

    if (!loss || !loss->binary)
        return (double)NAN;
    return loss->map == CR_PROB_IDENTITY ? 0.5 : 0;
}

/* Warns once of metrics that see one class where labels are not one-hot. */
static void eval_check_labels(struct cr_eval *e)
{
    struct cr_diag *diag = e->config->diag;

    for (int i = 0; i < e->metrics->n; i++) {
        const struct cr_metric_use *use = &e->metrics->use[i];

        if (!use->metric->exclusive ||
            cr_metric_is_multilabel(use->metric, use->opts))
            continue;
        cr_warn(diag, use->pos, CR_E_NO_MATCH,
                "the metric '%s' compares one class of each sample, but there "
                "are samples with no label 1 or with several",
                use->name);
        if (use->metric->multilabel)
            cr_hint(diag, "use {%s: {eval_type: multilabel, threshold: %g}}",
                    use->name, e->label_cut);
        else
            cr_hint(diag, "F1, precision, recall, auc and average_precision "
                          "take each label by itself");
    }
}

struct cr_eval *cr_eval_open(struct cr_config *config, struct cr_net *net,
                             const struct cr_eval_opts *want)
{
    struct cr_eval *e = CR_NEW(config->arena, struct cr_eval);
    struct cr_exec_opts plan =
        cr_plans_eval(config, want->metrics->blocks, want->eager);

    if (plan.metrics)
        e->block_values = CR_NEWS(&e->arena, struct cr_metric_block_value,
                            cr_node_count(cr_section(config, "metrics")) + 1);
    e->config = config;
    e->net = net;
    e->loader = want->loader;
    e->metrics = want->metrics;
    e->outcomes = want->outcomes;
    e->threshold = NAN;
    e->label_cut = eval_label_cut(config);
    e->max_batches = want->max_batches > 0 ? want->max_batches : INT64_MAX;
    if (eval_columns(e, want) &&
        cr_plans_make(&e->plans, net, &plan, want->loader) && eval_metrics(e) &&
        (!want->chosen || eval_cut(e, want->chosen))) {
        eval_check_logits(e);
        cr_plans_share(&e->plans, want->loader, e->from, e->n_columns,
                       e->label);
        return e;
    }
    cr_eval_close(e);
    return NULL;
}

void cr_eval_close(struct cr_eval *eval)
{
    if (!eval)
        return;
    cr_plans_free(&eval->plans);
    cr_arena_free(&eval->mem);
    cr_arena_free(&eval->reported);
    cr_arena_free(&eval->arena);
}

/* ---- Running */

static void eval_only(int64_t *only, int64_t class)
{
    if (*only == -1)
        *only = class;
    else if (*only != class)
        *only = -2;
}

/* Notes whether all samples have one label, and whether all have one predicted
 * class. */
static void eval_distinct(struct cr_eval *e, const struct cr_metric_batch *m)
{
    if (m->label_spec->type != CR_I32 || m->cut ||
        eval_no_classes(e, m->spec) ||
        cr_metric_positions(m) != m->samples)
        return;
    for (int64_t i = 0; i < m->samples && e->only_predicted != -2; i++) {
        eval_only(&e->only_label, cr_metric_label(m, i));
        eval_only(&e->only_predicted, cr_metric_argmax(m, i));
    }
}

static bool eval_batch(struct cr_eval *e, struct cr_diag *diag,
                       const struct cr_batch *batch, int64_t before)
{
    struct cr_exec *exec = cr_plans_for(&e->plans, batch);
    bool fits;
    struct cr_spec out, label = e->label_spec;
    struct cr_metric_batch m = { .spec = &out,
                                 .axis = e->axis,
                                 .samples = batch->n,
                                 .block_values = e->block_values,
                                 .probs = cr_prob_given(e->config, e->net, 0),
                                 .label_spec = &label,
                                 .mem = &e->mem,
                                 .cut = isnan(e->threshold) ? NULL : &e->cut };

    for (int i = 0; i < e->n_columns; i++)
        cr_exec_feed(exec, i, batch->data[e->from[i]]);
    fits = cr_exec_check(exec, diag, batch->samples);
    if (!fits)
        cr_data_loader_note(e->loader, diag);
    if (!cr_mpi_agree(diag, fits))
        return false;
    cr_exec_before(exec, before);
    cr_exec_forward(exec, 0);
    if (!cr_exec_check_faults(exec, diag)) {
        cr_data_loader_note(e->loader, diag);
        return false;
    }
    m.output = cr_exec_output(exec, &out);
    for (int i = 0; e->block_values && i < cr_exec_metrics(exec); i++)
        e->block_values[i].x =
            cr_exec_metric(exec, i, &e->block_values[i].spec);
    m.loss = cr_section(e->config, "loss") ? cr_exec_loss(exec) : (double)NAN;
    if (isnan(m.loss) && cr_exec_all_ignored(exec, &e->ignored))
        e->n_ignored++;
    if (e->label >= 0) {
        m.label = batch->data[e->label];
        memmove(&label.dim[1], &label.dim[0],
                (size_t)label.rank * sizeof label.dim[0]);
        label.rank++;
        label.dim[0] = batch->n;
        eval_distinct(e, &m);
        if (!isnan(e->label_cut) && label.type == CR_REAL &&
            cr_metric_classified(&m))
            m.label_cut = &e->label_cut;
        if (m.label_cut && !e->multi_hot && cr_metric_multi_hot(&m)) {
            e->multi_hot = true;
            eval_check_labels(e);
        }
    }
    for (int i = 0; i < e->metrics->n; i++)
        cr_metric_add(&e->metrics->use[i], e->state + e->state_at[i],
                      e->rows[i], &m);
    if (e->outcomes)
        cr_outcomes_add(*e->outcomes, e->config, e->net, &m, batch->samples);
    return true;
}

static void eval_finish(struct cr_eval *e, int64_t samples)
{
    e->scores.samples = samples;
    for (int i = 0; i < e->metrics->n; i++) {
        const struct cr_metric_use *use = &e->metrics->use[i];
        const void *state = e->state + e->state_at[i];
        struct cr_score *score = &e->scores.v[i];

        if (score->single)
            score->value = cr_metric_value(use, state, e->rows[i]);
        if (use->metric->cut && !isnan(e->threshold))
            score->value = e->threshold;
        if (isnan(score->value))
            score->value = (double)NAN; /* keeps -nan from being printed */
        if (use->metric->curve) {
            const double *curve = use->metric->curve(use->opts, state, &e->mem,
                                                     &score->rows);

            /* the memory of the states is reused, scores are kept */
            score->table = cr_grow(&e->arena, curve, (size_t)score->rows * 3,
                                   (size_t)score->rows * 3 + 1,
                                   sizeof *curve);
            score->columns = 3;
        } else if (score->table) {
            score->columns = cr_metric_table(use, state, e->rows[i],
                                             (double *)score->table);
        }
        if (score->actual)
            cr_metric_actual(state, e->rows[i], (double *)score->actual);
    }
    cr_arena_free(&e->reported);
    e->reported = e->mem;
    e->mem = (struct cr_arena){ 0 };
}

/* Warns of batches without a label that counts: their loss is NaN, and so is
 * the mean over all. */
static void eval_check_ignored(const struct cr_eval *e, struct cr_diag *diag,
                               int64_t batches)
{
    if (e->n_ignored == 0)
        return;
    cr_warn(diag, e->ignored.pos, CR_E_DATA_RANGE,
            "the loss of the evaluation is NaN: in %" PRId64 " of %" PRId64
            " batches all labels (column '%s') are %" PRId64
            ", which the loss ignores",
            e->n_ignored, batches, e->ignored.column, e->ignored.label);
    cr_hint(diag, "remove such samples, or use larger batches: "
                  "eval.batch_size");
}

bool cr_eval_run(struct cr_eval *e, struct cr_diag *diag,
                 bool (*stop)(void *ctx), void *ctx, bool *stopped)
{
    const struct cr_batch *batch;
    int errors = diag->errors;
    int64_t done = 0, samples = 0;

    *stopped = false;
    e->only_label = e->only_predicted = -1;
    e->n_ignored = 0;
    memset(e->state, 0, e->state_size);
    cr_arena_free(&e->mem);
    if (e->outcomes)
        cr_outcomes_begin(*e->outcomes);
    cr_net_observe_begin(e->net);
    cr_data_loader_seek(e->loader, 0, 0);
    while (done < e->max_batches &&
           (batch = cr_data_loader_next(e->loader, diag)) != NULL) {
        if (!eval_batch(e, diag, batch, samples))
            return false;
        done++;
        samples += batch->n;
        if (stop && stop(ctx)) {
            *stopped = true;
            return true;
        }
    }
    if (!cr_mpi_agree(diag, diag->errors == errors))
        return false;
    eval_finish(e, samples);
    eval_check_ignored(e, diag, done);
    return true;
}

void cr_eval_warn_one_class(const struct cr_eval *e, struct cr_diag *diag,
                            struct cr_pos pos)
{
    int64_t class = e->only_predicted;
    const struct cr_strs *names = &e->config->classes;

    if (class < 0 || e->only_label != -2 || e->scores.samples < SAMPLES_MIN)
        return;
    cr_warn(diag, pos, CR_E_NOT_LEARNING,
            "the network predicts the class '%s' for all %" PRId64
            " samples of the evaluation",
            class < names->n ? cr_quote(diag->arena, names->v[class],
                                        strlen(names->v[class]))
                             : cr_strf(diag->arena, "%" PRId64, class),
            e->scores.samples);
    cr_hint(diag, "if it is the most frequent class, weight the classes: loss: "
                  "{CrossEntropyLoss: {weight: balanced}}; else train longer, "
                  "or with another learning rate (cellrun lr-find)");
}

double cr_eval_threshold(const struct cr_eval *eval)
{
    return eval->threshold;
}

const struct cr_scores *cr_eval_scores(const struct cr_eval *eval)
{
    return &eval->scores;
}
