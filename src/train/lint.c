/*
 * Warnings about settings that are valid but have no effect. They need the
 * network and the plans, so check and train both run them after preparing a
 * run.
 */
#include "data/lint.h"
#include "graph/amp.h"
#include "score/probability.h"
#include "train/lint.h"
#include "train/train.h"
#include "train/unfreeze.h"

#include <inttypes.h>
#include <string.h>

static struct cr_pos lint_pos(const struct cr_train *t, const char *section,
                              const char *key)
{
    const struct cr_node *in = cr_section(t->config, section);
    const struct cr_node *node = cr_node_get(in, key);

    return node ? node->pos : in ? in->pos : CR_NOWHERE;
}

static void lint_freeze(struct cr_train *t)
{
    int n, n_rules, all = 0, trained = 0;
    const struct cr_param *p = cr_net_params(t->net, &n);
    const struct cr_unfreeze_rule *rule =
        cr_net_unfreeze_rules(t->net, &n_rules);

    for (int i = 0; i < n; i++) {
        all += !p[i].statistic && !p[i].never_trained;
        trained += p[i].trained || p[i].unfrozen_later;
    }
    if (all > 0 && trained == 0)
        cr_warn(t->diag, lint_pos(t, "freeze", "patterns"), CR_E_NO_MATCH,
                "no parameter is trainable; run cellrun summary to see why");
    for (int i = 0; i < n_rules; i++)
        if (cr_train_unfreeze_step(&t->length, &rule[i]) >= t->length.total)
            cr_warn(t->diag, rule[i].pos, CR_E_OUT_OF_RANGE,
                    "this entry of 'freeze.schedule' never applies: it is due "
                    "after %" PRId64 " updates, but the run has %" PRId64,
                    cr_train_unfreeze_step(&t->length, &rule[i]),
                    t->length.total);
}

/* An optimizer of rows, without a table whose rows it can tell apart. */
static void lint_rows(struct cr_train *t)
{
    int n;
    const struct cr_param *p = cr_net_params(t->net, &n);
    const char *name = t->optim.optim->about.name;
    const struct cr_node *in = cr_section(t->config, "optimizer");
    const struct cr_node *type = cr_node_get(in, name);
    bool rows = !t->optim.optim->rows;

    for (int i = 0; i < n && !rows; i++)
        rows = p[i].rows;
    if (rows)
        return;
    cr_warn(t->diag, type ? type->key_pos : in->pos, CR_E_NO_MATCH,
            "%s is Adam here: it updates single rows of the table of an "
            "EmbeddingLookup with sparse: true, and the network has none",
            name);
}

static void lint_optim(struct cr_train *t)
{
    const struct cr_optim_use *o = &t->optim;

    if (o->lr.warm > (double)t->length.total)
        cr_warn(t->diag, o->lr.pos, CR_E_OUT_OF_RANGE,
                "the warmup takes %.0f updates, but the run has only %" PRId64,
                o->lr.warm, t->length.total);
    lint_rows(t);
    for (int i = 0; i < o->n_groups; i++)
        if (o->group[i].params == 0)
            cr_warn(t->diag, o->group[i].node->pos, CR_E_NO_MATCH,
                    "this entry of 'group_params' has no effect: earlier "
                    "entries already cover everything it matches");
}

static bool lint_column(const struct cr_train *t, const char *name)
{
    const struct cr_dataset *set = cr_data_loader_dataset(t->loader);
    int n;
    const struct cr_column *column = cr_data_loader_columns(t->loader, &n);

    for (int i = 0; i < set->columns; i++)
        if (strcmp(set->column[i].name, name) == 0)
            return true;
    for (int i = 0; i < n; i++)
        if (strcmp(column[i].name, name) == 0)
            return true;
    return false;
}

static bool lint_data(struct cr_train *t)
{
    const struct cr_node *vocab = cr_section(t->config, "vocab");

    if (vocab && vocab->kind != CR_NODE_MAP &&
        vocab->kind != CR_NODE_NULL)
        return cr_error(t->diag, vocab->pos, CR_E_WRONG_TYPE,
                        "vocab: found %s, expected a map of columns",
                        cr_node_what(t->arena, vocab));
    for (CR_EACH(m, vocab))
        if (!lint_column(t, m->key))
            cr_warn(t->diag, m->key_pos, CR_E_NO_MATCH,
                    "the data set has no column '%s'",
                    cr_quote(t->arena, m->key, strlen(m->key)));
    return true;
}

/* Checks predict.labels against the number of classes of each result, as
 * predict will read them. */
static bool lint_labels(struct cr_train *t)
{
    const struct cr_spec *result, *truth;
    int64_t *classes;
    int n, n_columns, i, results = 0;
    const char *const *names;
    const struct cr_column *column =
        cr_data_loader_columns(t->loader, &n_columns);

    n = cr_net_targets(t->net, &names);
    while (cr_net_result_spec(t->net, results))
        results++;
    classes = CR_NEWS(t->arena, int64_t, results + 1);
    for (i = 0; i < results; i++) {
        int k = 0;

        result = cr_net_result_spec(t->net, i);
        while (i < n && k < n_columns && strcmp(column[k].name, names[i]) != 0)
            k++;
        truth = i < n && k < n_columns && (i == 0 || n == results)
                    ? &column[k].spec
                    : NULL;
        classes[i] =
            cr_prob_classes(t->config, i, result, truth,
                            cr_data_loader_dataset(t->loader)->classes);
    }
    return cr_prob_labels(t->config, classes, i);
}

/* Whether a key `word` occurs anywhere below the node. */
static bool lint_word(const struct cr_node *in, const char *word)
{
    if (in->kind != CR_NODE_MAP && in->kind != CR_NODE_LIST)
        return false;
    for (CR_EACH(m, in))
        if ((m->key && strcmp(m->key, word) == 0) || lint_word(m, word))
            return true;
    return false;
}

/* Without amp.level only amp.cast and to_float lower the precision, and both
 * name their type, so amp.dtype and the rest have no effect. */
static void lint_amp(struct cr_train *t)
{
    const struct cr_node *amp = cr_section(t->config, "amp");
    const struct cr_node *cast = cr_node_get(amp, "cast"), *vain = NULL;
    bool low = cr_node_get(cast, "float16") || cr_node_get(cast, "bfloat16") ||
               lint_word(t->config->root, "to_float");

    if (!amp || cr_node_get(amp, "level"))
        return;
    if (cr_node_get(amp, "dtype"))
        vain = cr_node_get(amp, "dtype");
    else if (!low && cr_node_get(cast, "float32"))
        vain = cr_node_get(cast, "float32");
    else if (!low)
        vain = cr_node_get(amp, "keep_batchnorm_fp32");
    if (!vain)
        return;
    cr_warn(t->diag, vain->pos, CR_E_MISSING_KEY,
            "'amp.%s%s' has no effect: without 'amp.level' the network runs in "
            "float32 (O0)",
            vain->key && strcmp(vain->key, "float32") == 0 ? "cast." : "",
            vain->key);
    cr_hint(t->diag, "amp.level: O2 (or O1, O3, auto)");
}

/* Whether the network begins with a cell that normalises its input. */
static bool lint_normalises(const struct cr_train *t)
{
    int n;
    const struct cr_cell_row *cell = cr_net_cells(t->net, &n);

    for (int i = 0; i < n; i++)
        if (cell[i].leaf)
            return strstr(cell[i].type, "Norm") != NULL;
    return false;
}

bool cr_train_lint_samples(struct cr_train *t)
{
    int n;
    const struct cr_column *column = cr_data_loader_columns(t->loader, &n);

    return cr_data_loader_lint(t->loader, t->scoring.loader, t->diag,
                               cr_label_column(t->config, column, n),
                               lint_normalises(t));
}

bool cr_train_lint(struct cr_train *t)
{
    lint_amp(t);
    lint_freeze(t);
    lint_optim(t);
    cr_net_check_loss_input(t->net);
    return lint_data(t) && lint_labels(t);
}
