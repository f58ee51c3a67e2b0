#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "conf/node.h"
#include "graph/cell.h"
#include "predict/predict.h"
#include "score/eval.h"
#include "train/section.h"

/* ---- The kind of a result */

/* Sets the layout of an output whose classes are along `axis` (of the batch):
 * one class per sample, or one per position. */
static void outputs_positions(struct cr_predict_out *o,
                              const struct cr_spec *b, int axis)
{
    o->axis = axis - 1;
    o->stride = 1;
    for (int k = axis + 1; k < b->rank; k++)
        o->stride *= b->dim[k];
    o->positions = o->count / o->classes;
    o->kind = b->rank == 2 ? CR_PREDICT_CLASSES : CR_PREDICT_SEQUENCE;
}

static void outputs_kind(struct cr_predict *j, struct cr_predict_out *o,
                         const struct cr_spec *b)
{
    const struct cr_config *config = j->model.config;
    const struct cr_prob_loss *loss =
        o->result == 0 ? cr_prob_loss(config) : NULL;

    o->kind = CR_PREDICT_VALUES;
    if (o->result < 0)
        return;
    o->classes = cr_prob_classes(config, o->result, b,
                                 o->truth >= 0 ? &j->truth[o->truth].out
                                               : NULL,
                                 j->model.state.classes);
    if (o->classes == 0)
        return;
    o->act = loss ? loss->map : cr_prob_of_result(j->model.net, o->result);
    if (loss && loss->binary)
        o->kind = o->count == 1 ? CR_PREDICT_BINARY : CR_PREDICT_LABELS;
    else
        outputs_positions(o, b, loss ? cr_class_axis(config, b) : 1);
}

/* ---- Names */

/* The list `classes` of a column, in its CSV fields or its LabelIndex; NULL:
 * none. */
static const struct cr_node *outputs_listed_classes(struct cr_predict *j,
                                                    const char *column)
{
    struct cr_config *c = j->model.config;
    const struct cr_node *args, *list, *columns;
    const struct cr_node *train =
        cr_node_get(cr_section(c, "dataset"), "train");

    if (train && cr_node_type(train, &args)) {
        columns = cr_node_get(args, "columns");
        list = cr_node_get(cr_node_get(columns, column), "classes");
        if (list)
            return list;
    }
    for (CR_EACH(op, cr_node_get(cr_section(c, "datapipe"), column))) {
        const char *type = cr_node_type(op, &args);

        if (type && strcmp(type, "LabelIndex") == 0)
            return args && args->kind == CR_NODE_MAP
                       ? cr_node_get(args, "classes")
                   : args && args->kind == CR_NODE_LIST && args->child &&
                           args->child->kind == CR_NODE_LIST
                       ? args->child
                       : args;
    }
    return NULL;
}

/* The class names under predict.labels, for outputs with as many classes. */
static struct cr_strs outputs_config_names(struct cr_predict *j)
{
    struct cr_predict_section predict = { 0 };

    if (cr_section(j->model.config, "predict"))
        cr_section_read(j->model.config, "predict", &predict);
    return predict.labels;
}

static bool outputs_given_fit(struct cr_predict *j)
{
    int64_t *classes = CR_NEWS(j->cli->arena, int64_t, j->n_outs + 1);

    for (int k = 0; k < j->n_outs; k++)
        classes[k] = j->out[k].kind == CR_PREDICT_VALUES ? 0
                                                         : j->out[k].classes;
    return cr_prob_labels(j->model.config, classes, j->n_outs);
}

static void outputs_names(struct cr_predict *j, struct cr_predict_out *o)
{
    struct cr_strs given = outputs_config_names(j);
    struct cr_arena *arena = j->cli->arena;
    const char *column = o->truth >= 0 ? j->truth[o->truth].name : "label";
    const struct cr_node *list = outputs_listed_classes(j, column);
    bool first = o->result == 0 &&
                 (o->truth < 0 || strcmp(column, "label") == 0);

    o->names = CR_NEWS(arena, const char *, o->classes + 1);
    for (int64_t k = 0; k < o->classes; k++) {
        const struct cr_node *m = cr_node_at(list, (int)k);
        const char *name = given.n == o->classes ? given.v[k]
                           : first ? cr_model_class_name(&j->model, k)
                                   : NULL;

        if (!name && m && cr_node_count(list) == o->classes)
            name = m->text;
        o->named = o->named || name;
        o->names[k] = name ? name : cr_strf(arena, "%" PRId64, k);
    }
}

/* ---- Finding the outputs */

/* A result of the network, or, with --at, of a cell. */
static bool outputs_add(struct cr_predict *j, int result, int results)
{
    struct cr_predict_out *o = &j->out[j->n_outs];
    const char *name = result >= 0
                           ? cr_net_result_name(j->model.net, result)
                       : j->o->at ? j->o->at
                                  : "embedding";
    struct cr_spec b;

    if (result >= 0)
        cr_exec_result(j->exec, result, &b);
    else
        cr_exec_at(j->exec, &b);
    if (b.rank < 1 || b.dim[0] != j->o->batch)
        return cr_error(
            j->cli->diag, CR_NOWHERE, CR_E_SHAPE,
            "%s of the network: found %s, expected a row for each "
            "of %" PRId64 " samples",
            result >= 0 ? cr_strf(j->cli->arena, "result %d", result) : name,
            cr_diag_format(j->cli->arena, &b), j->o->batch);
    *o = (struct cr_predict_out){ .name = name, .result = result, .spec = b };
    if (!name)
        o->name = results > 1 ? cr_strf(j->cli->arena, "output%d", result)
                              : "output";
    o->spec.rank--;
    memmove(o->spec.dim, o->spec.dim + 1, sizeof b.dim - sizeof b.dim[0]);
    o->count = cr_count(&o->spec);
    o->positions = 1;
    o->truth = result < 0 ? -1
               : results == j->n_truths || result == 0
                   ? (result < j->n_truths ? result : -1)
                   : -1;
    if (b.type != CR_REAL)
        o->converted = CR_NEWS(j->cli->arena, cr_real, cr_count(&b));
    outputs_kind(j, o, &b);
    if (o->kind != CR_PREDICT_VALUES) {
        outputs_names(j, o);
        o->p = CR_NEWS(j->cli->arena, double, o->classes);
        o->order = CR_NEWS(j->cli->arena, int64_t, o->classes);
    }
    j->n_outs++;
    return true;
}

static bool outputs_of_cell(struct cr_predict *j)
{
    struct cr_diag *diag = j->cli->diag;
    struct cr_spec spec;
    const char *near;

    if (cr_exec_at(j->exec, &spec))
        return outputs_add(j, -1, 1);
    if (j->o->embed)
        return cr_error(diag, CR_NOWHERE, CR_E_USAGE,
                        "--embed: the network has no layer with a weight of "
                        "two or more dimensions");
    cr_error(diag, CR_NOWHERE, CR_E_NO_MATCH,
             "--at: the network has no cell '%s' that returns one tensor",
             cr_quote(j->cli->arena, j->o->at, strlen(j->o->at)));
    near = cr_closest_name(j->o->at, cr_net_at_names(j->model.net));
    if (near)
        cr_hint(diag, "did you mean '%s'?", near);
    else
        cr_hint(diag, "`cellrun summary %s` lists them", j->o->ckpt);
    return false;
}

/* Without --threshold, two classes are separated at the metric best_threshold
 * of the last evaluation before the checkpoint. */
static void outputs_best_threshold(struct cr_predict *j)
{
    const struct cr_score *score =
        cr_score_find(&j->model.state.eval, "best_threshold");

    if (!isnan(j->threshold) || !score || !(score->value >= 0))
        return;
    for (int i = 0; i < j->n_outs; i++)
        if (j->out[i].kind == CR_PREDICT_BINARY ||
            (j->out[i].kind == CR_PREDICT_CLASSES && j->out[i].classes == 2))
            j->threshold = score->value;
    if (!isnan(j->threshold) && j->cli->verbose > 0)
        fprintf(stderr, "threshold: %.4f, the best_threshold of the "
                        "checkpoint\n", j->threshold);
}

/* Checks the flags that need classes, and sets the threshold. */
static bool outputs_flags(struct cr_predict *j)
{
    const struct cr_predict_opts *o = j->o;
    bool classes = false, one = false, two = false;

    for (int i = 0; i < j->n_outs; i++) {
        classes = classes || j->out[i].kind != CR_PREDICT_VALUES;
        one = one || j->out[i].kind == CR_PREDICT_CLASSES ||
              j->out[i].kind == CR_PREDICT_BINARY;
        two = two || j->out[i].kind == CR_PREDICT_BINARY ||
              j->out[i].kind == CR_PREDICT_LABELS ||
              (j->out[i].kind == CR_PREDICT_CLASSES &&
               j->out[i].classes == 2);
    }
    if (!classes && (o->probs || o->topk != CR_INT_NONE || o->wrong))
        return cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "--topk, --probs and --wrong require an output with "
                        "classes");
    if (!one && o->topk != CR_INT_NONE)
        return cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "--topk requires an output with one class for each "
                        "sample");
    if (!two && !isnan(o->threshold))
        return cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "--threshold requires an output of two classes, or of "
                        "several labels that are true or false");
    j->threshold = o->threshold;
    outputs_best_threshold(j);
    return true;
}

bool cr_predict_outputs(struct cr_predict *j)
{
    struct cr_diag *diag = j->cli->diag;
    struct cr_buf all = { .arena = j->cli->arena };
    int n = cr_exec_results(j->exec);
    bool given = j->o->result != CR_INT_NONE, ok = true;
    struct cr_spec spec;

    j->out = CR_NEWS(j->cli->arena, struct cr_predict_out, n + 1);
    if (j->o->at || j->o->embed)
        return outputs_of_cell(j) && outputs_flags(j);
    for (int i = 0; i < n; i++) {
        cr_exec_result(j->exec, i, &spec);
        cr_buf_f(&all, "%s%d %s", i ? ", " : "", i,
                 cr_diag_format(j->cli->arena, &spec));
    }
    if (given && j->o->result >= n)
        return cr_error(diag, CR_NOWHERE, CR_E_USAGE,
                        "--result: found %" PRId64
                        ", expected one of the network's results: %s",
                        j->o->result, cr_buf_text(&all));
    for (int i = 0; i < n && ok; i++) {
        cr_exec_result(j->exec, i, &spec);
        if (!given && n > 1 && (spec.rank < 1 || spec.dim[0] != j->o->batch))
            cr_warn(diag, CR_NOWHERE, CR_E_SHAPE,
                    "result %d of the network is ignored: found %s, expected "
                    "a row for each of %" PRId64 " samples",
                    i, cr_diag_format(j->cli->arena, &spec), j->o->batch);
        else if (!given || i == j->o->result)
            ok = outputs_add(j, i, n);
    }
    if (ok && !given)
        ok = outputs_given_fit(j);
    return ok && outputs_flags(j);
}

/* ---- Values of a batch */

void cr_predict_results(struct cr_predict *j, struct cr_exec *exec, int64_t n)
{
    for (int i = 0; i < j->n_outs; i++) {
        struct cr_predict_out *o = &j->out[i];
        struct cr_spec spec;

        o->data = o->result < 0 ? cr_exec_at(exec, &spec)
                                : cr_exec_result(exec, o->result, &spec);
        if (o->converted) {
            cr_convert(spec.type, o->data, CR_REAL, o->converted, n * o->count);
            o->data = o->converted;
        }
    }
}

const cr_real *cr_predict_values(const struct cr_predict_out *o, int64_t i)
{
    return o->data + i * o->count;
}

/* ---- Classes */

/* Orders classes by falling probability, equal ones by index. */
static int outputs_by_probability(const void *a, const void *b, void *probs)
{
    const int64_t *x = a, *y = b;
    const double *p = probs;

    if (p[*x] != p[*y])
        return p[*x] < p[*y] ? 1 : -1;
    return *x < *y ? -1 : *x > *y;
}

static double outputs_sigmoid(enum cr_prob_map act, double x)
{
    return act == CR_PROB_SIGMOID ? 1 / (1 + exp(-x)) : x;
}

/* Sets o->p to the probabilities of the classes with these outputs. */
static void outputs_probs_of(struct cr_predict_out *o, const cr_real *y,
                             int64_t stride)
{
    double top = -INFINITY, sum = 0;
    int64_t k;

    for (k = 0; k < o->classes; k++) {
        o->p[k] = outputs_sigmoid(o->act, (double)y[k * stride]);
        top = fmax(top, o->p[k]);
    }
    for (k = 0; k < o->classes && o->act == CR_PROB_SOFTMAX; k++)
        sum += o->p[k] = exp(o->p[k] - top);
    for (k = 0; k < o->classes && o->act == CR_PROB_SOFTMAX; k++)
        o->p[k] /= sum;
    for (k = 0; k < o->classes && o->act == CR_PROB_EXP; k++)
        o->p[k] = exp(o->p[k]);
}

/* Sets o->p to the probabilities of row i. */
static void outputs_probs(struct cr_predict_out *o, int64_t i)
{
    const cr_real *y = cr_predict_values(o, i);

    if (o->kind != CR_PREDICT_BINARY) {
        outputs_probs_of(o, y, 1);
        return;
    }
    o->p[1] = outputs_sigmoid(o->act, (double)y[0]);
    o->p[0] = 1 - o->p[1];
}

/* The index of the largest of n elements; the first of equal ones. */
static int64_t outputs_largest(const cr_real *y, int64_t n, int64_t stride)
{
    int64_t best = 0;

    for (int64_t k = 1; k < n; k++)
        if (y[k * stride] > y[best * stride])
            best = k;
    return best;
}

int64_t cr_predict_class(const struct cr_predict *j, struct cr_predict_out *o,
                         int64_t i, bool all)
{
    bool cut = !isnan(j->threshold) && o->classes == 2;
    int64_t class;

    if (!all && !cut && o->kind == CR_PREDICT_CLASSES)
        return outputs_largest(cr_predict_values(o, i), o->classes, 1);
    outputs_probs(o, i);
    if (o->kind == CR_PREDICT_BINARY || cut)
        class = o->p[1] >= (cut ? j->threshold : 0.5);
    else
        class = outputs_largest(cr_predict_values(o, i), o->classes, 1);
    if (all) {
        for (int64_t k = 0; k < o->classes; k++)
            o->order[k] = k;
        qsort_r(o->order, (size_t)o->classes, sizeof *o->order,
                outputs_by_probability, o->p);
    }
    return class;
}

/* Index of the output of class 0 at position k; the others follow at o->stride.
 */
static int64_t outputs_position(const struct cr_predict_out *o, int64_t k)
{
    return k / o->stride * o->stride * o->classes + k % o->stride;
}

int64_t cr_predict_class_at(const struct cr_predict_out *o, int64_t i,
                            int64_t k)
{
    return outputs_largest(cr_predict_values(o, i) + outputs_position(o, k),
                           o->classes, o->stride);
}

void cr_predict_probs_at(struct cr_predict_out *o, int64_t i, int64_t k,
                         cr_real *to)
{
    int64_t at = outputs_position(o, k);

    outputs_probs_of(o, cr_predict_values(o, i) + at, o->stride);
    for (int64_t c = 0; c < o->classes; c++)
        to[at + c * o->stride] = (cr_real)o->p[c];
}

bool cr_predict_has(const struct cr_predict *j, const struct cr_predict_out *o,
                    int64_t i, int64_t k)
{
    double t = isnan(j->threshold) ? 0.5 : j->threshold;

    return outputs_sigmoid(o->act, (double)cr_predict_values(o, i)[k]) >= t;
}

/* ---- Comparing with labels */

/* The class that the label of row i names, as an index or one-hot; -1: none of
 * the classes. */
static int64_t outputs_true_class(const struct cr_predict *j,
                                  const struct cr_predict_out *o, int64_t i)
{
    const struct cr_predict_feed *t = &j->truth[o->truth];
    const char *x = t->batch + (size_t)i * t->size;
    int64_t n = cr_count(&t->out), at = -1;
    double v[2] = { 0 };

    if (n == 1) {
        cr_convert(t->out.type, x, CR_I64, &at, 1);
        return at >= 0 && at < o->classes ? at : -1;
    }
    for (int64_t k = 0; k < n && n == o->classes; k++) {
        cr_convert(t->out.type, x + (size_t)k * cr_type_size(t->out.type),
                   CR_F64, &v[0], 1);
        if (at < 0 || v[0] > v[1]) {
            v[1] = v[0];
            at = k;
        }
    }
    return at;
}

/* Whether one of several labels of row i differs; adds to *loss. */
static bool outputs_labels_wrong(struct cr_predict *j,
                                 struct cr_predict_out *o, int64_t i,
                                 double *loss)
{
    const struct cr_predict_feed *t = &j->truth[o->truth];
    const char *x = t->batch + (size_t)i * t->size;
    bool wrong = false;

    outputs_probs(o, i);
    for (int64_t k = 0; k < o->classes && k < cr_count(&t->out); k++) {
        double v;

        cr_convert(t->out.type, x + (size_t)k * cr_type_size(t->out.type),
                   CR_F64, &v, 1);
        wrong = wrong || cr_predict_has(j, o, i, k) != (v >= 0.5);
        *loss -= log(fmax(v >= 0.5 ? o->p[k] : 1 - o->p[k], 1e-300));
    }
    return wrong;
}

static bool outputs_sequence_wrong(struct cr_predict *j,
                                   struct cr_predict_out *o, int64_t i,
                                   double *loss)
{
    const struct cr_predict_feed *t = &j->truth[o->truth];
    const char *x = t->batch + (size_t)i * t->size;
    int64_t n = cr_count(&t->out), wrong = 0, at;

    for (int64_t k = 0; k < o->positions && k < n; k++) {
        cr_convert(t->out.type, x + (size_t)k * cr_type_size(t->out.type),
                   CR_I64, &at, 1);
        wrong += at != cr_predict_class_at(o, i, k);
    }
    *loss += (double)wrong / (double)(n > 0 ? n : 1);
    return wrong > 0;
}

bool cr_predict_compare(struct cr_predict *j, int64_t i, double *loss)
{
    bool wrong = false;

    *loss = 0;
    for (int n = 0; n < j->n_outs; n++) {
        struct cr_predict_out *o = &j->out[n];
        int64_t class, truth;

        if (o->truth < 0 || o->kind == CR_PREDICT_VALUES)
            continue;
        if (o->kind == CR_PREDICT_LABELS) {
            wrong = outputs_labels_wrong(j, o, i, loss) || wrong;
            continue;
        }
        if (o->kind == CR_PREDICT_SEQUENCE) {
            wrong = outputs_sequence_wrong(j, o, i, loss) || wrong;
            continue;
        }
        truth = outputs_true_class(j, o, i);
        class = cr_predict_class(j, o, i, false);
        outputs_probs(o, i);
        wrong = wrong || class != truth;
        if (truth >= 0)
            *loss -= log(fmax(o->p[truth], 1e-300));
    }
    return wrong;
}
