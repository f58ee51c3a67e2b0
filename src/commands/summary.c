/*
 * summary: cells, shapes, parameters and costs of a network, and the savings
 * of freezing; from a config or a checkpoint. Nothing is computed.
 */
#include <inttypes.h>
#include <string.h>

#include "base/str.h"
#include "base/table.h"
#include "base/thread_pool.h"
#include "build/hook.h"
#include "draw/draw.h"
#include "model/model.h"
#include "num/array_text.h"
#include "train/step_plan.h"

struct summary {
    int64_t batch;
    bool params, passes;
    const char *at, *svg, *dot;
};

static const struct cr_opt summary_opts[] = {
    CR_INT_OPTIONAL(struct summary, batch, 1, CR_DIM_MAX,
                    "Samples in a batch. Default: that of the datapipe."),
    CR_STR_OPTIONAL(struct summary, at,
                    "Only this cell and its subcells, by its full name.",
                    .text = "CELL"),
    CR_BOOL_DEFAULT(
        struct summary, params, false,
        "List the parameters instead, as MindSpore's "
        "parameters_and_names does: name, shape, type, requires_grad, "
        "initialiser and the optimizer's group. -v lists both."),
    CR_BOOL_DEFAULT(
        struct summary, passes, false,
        "Show the steps of the plans for training and prediction after each "
        "pass instead; CELLRUN_PASSES skips passes."),
    CR_STR_OPTIONAL(struct summary, svg,
                    "Write a diagram of the network, or of that cell, to "
                    "this file; - is standard output.",
                    .text = "FILE"),
    CR_STR_OPTIONAL(struct summary, dot, "The same as text for Graphviz.",
                    .text = "FILE"),
    { 0 },
};

struct job {
    struct cr_cli *cli;
    const struct summary *o;
    struct cr_model model;
    struct cr_exec *exec;
    const struct cr_hook *hooks;
    const struct cr_unfused_step *splits; /* steps not fused because of hooks */
    int n_hooks, n_splits;
    const char *mode; /* "training" or "prediction" */
    const struct cr_cell_row *rows;
    const struct cr_param *params;
    int n_rows, n_params;
    int64_t values, statistics, trained; /* limited by --at */
    size_t state;                        /* bytes of parameters and slots */
};

/* Whether --at includes the cell or parameter. */
static bool summary_shows(const struct job *j, const char *name)
{
    const char *at = j->o->at;
    size_t n = at ? strlen(at) : 0;

    return !at ||
           (strncmp(name, at, n) == 0 && (name[n] == 0 || name[n] == '.'));
}

static bool summary_at(struct job *j)
{
    const char **names = CR_NEWS(j->cli->arena, const char *, j->n_rows + 1);
    int i;

    for (i = 0; i < j->n_rows; i++) {
        names[i] = j->rows[i].name;
        if (!j->o->at || strcmp(j->rows[i].name, j->o->at) == 0)
            return true;
    }
    cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
             "--at: cell '%s' not found",
             cr_quote(j->cli->arena, j->o->at, strlen(j->o->at)));
    if (cr_closest_name(j->o->at, names))
        cr_hint(j->cli->diag, "did you mean '%s'?",
                cr_closest_name(j->o->at, names));
    return false;
}

/* Finds the steps that would be fused without hooks. */
static bool summary_splits(struct job *j, struct cr_exec_opts want)
{
    struct cr_exec *without;
    bool replaces = false;
    int i, k, all;
    const struct cr_unfused_step *splits;
    struct cr_unfused_step *own;

    j->hooks = cr_net_hooks(j->model.net, &j->n_hooks);
    for (i = 0; i < j->n_hooks; i++)
        replaces = replaces || j->hooks[i].text;
    if (!replaces)
        return true;
    want.no_hooks = true;
    without = cr_net_exec(j->model.net, &want);
    if (!without)
        return false;
    splits = cr_exec_unfused_steps(j->exec, without, &all);
    own = CR_NEWS(j->cli->arena, struct cr_unfused_step, all + 1);
    for (i = k = 0; i < all; i++)
        if (summary_shows(j, splits[i].cell))
            own[k++] = splits[i];
    j->splits = own;
    j->n_splits = k;
    cr_exec_free(without);
    return true;
}

/* Bytes of a training step besides plan, parameters and slots. */
static size_t summary_more(const struct job *j,
                           const struct cr_train_section *train)
{
    size_t more = 0;

    for (int i = 0; i < j->n_params; i++) {
        const struct cr_param *p = &j->params[i];

        if (train->ema.decay > 0)
            more += cr_bytes(&p->spec);
        if (train->grad_accumulation > 1 && (p->trained || p->unfrozen_later))
            more += cr_bytes(&p->spec);
    }
    return more;
}

static bool summary_plan(struct job *j)
{
    struct cr_exec_opts want = { 0 };
    struct cr_train_section train;
    int i;

    j->rows = cr_net_cells(j->model.net, &j->n_rows);
    j->params = cr_net_params(j->model.net, &j->n_params);
    if (!summary_at(j))
        return false;
    if (!cr_model_trains(&j->model))
        want.training = want.loss = want.backward = j->model.loss;
    else if (!cr_plans_train_of(j->model.config, &j->model.optim, &train,
                                &want))
        return false;
    want.batch = j->model.batch;
    j->mode = want.training ? "training" : "prediction";
    j->exec = cr_net_exec(j->model.net, &want);
    for (i = 0; i < j->n_params; i++) {
        const struct cr_param *p = &j->params[i];

        j->state += cr_bytes(&p->spec);
        if (!summary_shows(j, p->name))
            continue;
        j->values += cr_count(&p->spec);
        j->statistics += p->statistic ? cr_count(&p->spec) : 0;
        j->trained += p->trained ? cr_count(&p->spec) : 0;
    }
    if (want.update) {
        int n;
        const struct cr_tensor *slots = cr_net_slots(j->model.net, &n);

        while (n-- > 0)
            j->state += cr_bytes(&slots[n].spec);
        j->state += summary_more(j, &train);
    }
    return j->exec && summary_splits(j, want);
}

static size_t summary_memory(const struct job *j)
{
    return j->state + cr_exec_bytes(j->exec);
}

/* ---- Text */

static void summary_cells(const struct job *j)
{
    struct cr_table table = { .arena = j->cli->arena, .align = "llllrrrl" };
    static const char *const head[] = {
        "cell",      "type",          "in",       "out", "parameters",
        "trainable", "multiply-adds", "arguments"
    };
    int64_t values = 0, trained = 0;
    size_t k;
    int i;

    for (k = 0; k < CR_LEN(head); k++)
        cr_table_add(&table, head[k]);
    for (i = 0; i < j->n_rows; i++) {
        const struct cr_cell_row *r = &j->rows[i];

        if (!summary_shows(j, r->name))
            continue;
        cr_table_add(&table, r->name[0] ? r->name : "network");
        cr_table_add(&table, r->type);
        cr_table_add(&table, cr_diag_format(j->cli->arena, &r->in));
        cr_table_add(&table, cr_diag_format(j->cli->arena, &r->out));
        values += r->params;
        trained += r->trained;
        if (r->leaf || r->params > 0 || r->macs > 0) {
            cr_table_f(&table, "%" PRId64, r->params);
            cr_table_f(&table, "%" PRId64, r->trained);
            cr_table_f(&table, "%.0f", r->macs);
        } else {
            for (k = 0; k < 3; k++)
                cr_table_add(&table, "");
        }
        cr_table_add(&table, r->args ? r->args : "");
    }
    if (values < j->values) { /* the rest belongs to the loss */
        cr_table_add(&table, "loss");
        for (k = 0; k < 3; k++)
            cr_table_add(&table, "");
        cr_table_f(&table, "%" PRId64, j->values - values);
        cr_table_f(&table, "%" PRId64, j->trained - trained);
        cr_table_add(&table, "");
        cr_table_add(&table, "");
    }
    cr_table_show(&table, false);
}

/* The optimizer's group of a parameter, from 1; 0: none, or never updated. */
static int summary_group(const struct job *j, int param)
{
    const int *of = j->model.optim.group_of;
    const struct cr_param *p = &j->params[param];

    return of && (p->trained || p->unfrozen_later) ? of[param] + 1 : 0;
}

/* Prints the sums of all parameters, and of the trained ones. */
static void summary_params(const struct job *j)
{
    struct cr_table table = { .arena = j->cli->arena, .align = "lllrllr" };
    static const char *const head[] = { "parameter",     "shape",
                                        "dtype",         "values",
                                        "requires_grad", "initialiser",
                                        "group" };
    int64_t values = 0, trained = 0;
    size_t k;
    int i;

    for (k = 0; k < CR_LEN(head); k++)
        cr_table_add(&table, head[k]);
    for (i = 0; i < j->n_params; i++) {
        const struct cr_param *p = &j->params[i];
        int group = summary_group(j, i);

        if (!summary_shows(j, p->name))
            continue;
        cr_table_add(&table, p->name);
        cr_table_add(&table, cr_diag_format(j->cli->arena, &p->spec));
        cr_table_add(&table, cr_type_title(p->spec.type));
        cr_table_f(&table, "%" PRId64, cr_count(&p->spec));
        cr_table_add(&table, p->trained ? "True" : "False");
        cr_table_add(&table, p->init);
        cr_table_add(&table,
                     group > 0 ? cr_strf(j->cli->arena, "%d", group) : "");
        values += cr_count(&p->spec);
        trained += p->trained ? cr_count(&p->spec) : 0;
    }
    cr_table_show(&table, false);
    printf("\nvalues: %" PRId64 "\nrequires_grad: %" PRId64 "\n", values,
           trained);
}

static double summary_macs(const struct job *j)
{
    double macs = 0;
    int i;

    for (i = 0; i < j->n_rows; i++)
        macs += summary_shows(j, j->rows[i].name) ? j->rows[i].macs : 0;
    return macs;
}

/* Prints how much of the backward pass is pruned. */
static void summary_backward(const struct job *j)
{
    double all, some = cr_exec_backward_macs(j->exec, &all);
    double batch = (double)j->model.batch;

    if (j->model.loss && some < all && !j->o->at)
        printf("backward pass: %.0f multiply-adds per sample, %.0f pruned "
               "(%.0f %%)\n",
               some / batch, (all - some) / batch, 100 * (all - some) / all);
}

/* The targets of an entry, such as "r, b.0". */
static const char *summary_places(const struct job *j, const struct cr_hook *h)
{
    struct cr_buf b = { .arena = j->cli->arena };
    const char *const *point = cr_net_points(j->model.net);
    int i;

    for (; h->form == CR_HOOK_POINT && *point; point++)
        if (cr_hook_matches(h, *point, NULL))
            cr_buf_f(&b, "%s%s", b.len ? ", " : "", *point);
    for (i = 0; h->form != CR_HOOK_POINT && i < j->n_rows; i++)
        if (cr_hook_matches(h, j->rows[i].name, j->rows[i].type) &&
            summary_shows(j, j->rows[i].name))
            cr_buf_f(&b, "%s%s", b.len ? ", " : "", j->rows[i].name);
    return b.len ? cr_buf_text(&b) : NULL;
}

/* The actions of an entry, such as "scale 0.5, observes grad". */
static const char *summary_does(const struct job *j, const struct cr_hook *h)
{
    struct cr_buf b = { .arena = j->cli->arena };
    const char *before = h->how ? ", observes " : "observes ";
    int i;

    cr_buf_str(&b, h->how ? h->how : "");
    for (i = 0; i < CR_OBSERVES; i++)
        if (h->observe[i]) {
            cr_buf_f(&b, "%s%s", before, cr_hook_whats[i]);
            before = ", ";
        }
    return cr_buf_text(&b);
}

static void summary_hooks(const struct job *j)
{
    int i;

    for (i = 0; i < j->n_hooks; i++) {
        const struct cr_hook *h = &j->hooks[i];
        const char *places = summary_places(j, h);

        if (places)
            printf("hook%s%s: %s of %s: %s\n", h->name ? " " : "",
                   h->name ? h->name : "", cr_hook_forms[h->form], places,
                   summary_does(j, h));
    }
    for (i = 0; i < j->n_splits; i++) {
        const struct cr_unfused_step *s = &j->splits[i];

        if (s->back)
            printf("unfused because of a hook: %s of %s in the backward "
                   "pass, otherwise part of the next step\n",
                   s->op, s->cell);
        else
            printf("unfused because of a hook: %s of %s, otherwise part of "
                   "%s of %s\n", s->op,
                   s->cell, s->with, s->of);
    }
}

static bool in_predict_mode(const struct cr_cell_row *row)
{
    return row->predict;
}

static bool is_recomputed(const struct cr_cell_row *row)
{
    return row->recompute;
}

/* Lists the outermost cells of which `is` is true. */
static void summary_outermost(const struct job *j, const char *title,
                              bool (*is)(const struct cr_cell_row *row))
{
    const char *outer = NULL;
    int shown = 0;

    for (int i = 0; i < j->n_rows; i++) {
        const struct cr_cell_row *row = &j->rows[i];

        if (!is(row) || !summary_shows(j, row->name) ||
            (outer && (!outer[0] || cr_starts(row->name, outer))))
            continue;
        printf("%s%s%s", shown ? "" : title, shown ? " " : ": ",
               row->name[0] ? row->name : "network");
        shown++;
        outer = row->name[0] ? cr_strf(j->cli->arena, "%s.", row->name) : "";
    }
    if (shown)
        puts("");
}

static void summary_print(const struct job *j)
{
    const struct cr_pruned *cuts;
    int i, n;

    summary_cells(j);
    printf("\nparameters: %" PRId64, j->values);
    if (j->statistics > 0)
        printf(" (%" PRId64 " of them moving statistics)", j->statistics);
    printf("\ntrainable: %" PRId64 "\nmultiply-adds: %.0f per sample\n"
           "memory: %.2f MiB: %.2f for parameters and optimizer, %.2f for a "
           "step of %s on %" PRId64 " samples, %.2f of it for the kernels of "
           "%d thread%s\n",
           j->trained, summary_macs(j), (double)summary_memory(j) / 0x1p20,
           (double)j->state / 0x1p20, (double)cr_exec_bytes(j->exec) / 0x1p20,
           j->mode, j->model.batch,
           (double)cr_exec_thread_scratch(j->exec) / 0x1p20, cr_thread_count(),
           cr_thread_count() == 1 ? "" : "s");
    for (i = 0; i < j->n_params; i++)
        if (j->params[i].frozen_reason && summary_shows(j, j->params[i].name))
            printf("not trained: %s: %s\n", j->params[i].name,
                   j->params[i].frozen_reason);
    summary_outermost(j, "in predict mode", in_predict_mode);
    summary_outermost(j, "recomputed in backward", is_recomputed);
    for (i = 0; i < j->model.optim.n_groups; i++) {
        const struct cr_optim_group *g = &j->model.optim.group[i];

        printf("group %d: %d parameter%s: %s\n", i + 1, g->params,
               g->params == 1 ? "" : "s", cr_patterns_text(g->patterns));
    }
    summary_hooks(j);
    summary_backward(j);
    cuts = cr_exec_pruned(j->exec, &n);
    for (i = 0; i < n; i++)
        if (summary_shows(j, cuts[i].name))
            printf("pruned from the backward pass: %s: %s\n", cuts[i].name,
                   cuts[i].reason);
    if (j->cli->verbose > 0) {
        putchar('\n');
        summary_params(j);
        printf("\n%s", cr_exec_dump(j->exec, j->o->at, j->cli->arena));
    }
}

/* ---- Passes */

static void summary_pass(void *ctx, const char *name, const char *steps)
{
    const char *at;
    int n = 0;

    (void)ctx;
    if (!steps) {
        printf("%s: no change\n\n", name);
        return;
    }
    for (at = steps; (at = strchr(at, '\n')); at++)
        n++;
    printf("%s: %d step%s\n%s\n", name, n, n == 1 ? "" : "s", steps);
}

static bool summary_plan_passes(struct job *j, struct cr_exec_opts want)
{
    static const struct cr_pass_report report = { summary_pass, NULL };
    struct cr_exec *e;
    size_t bytes, live;

    want.batch = j->model.batch;
    want.passes = &report;
    printf("plan for %s, batch %" PRId64 "\n\n",
           want.training ? "training" : "prediction", want.batch);
    e = cr_net_exec(j->model.net, &want);
    if (!e)
        return false;
    bytes = cr_exec_value_bytes(e, &live);
    printf("memory of values: %.2f MiB, at least %.2f\n%s",
           (double)bytes / 0x1p20, (double)live / 0x1p20,
           want.training ? "\n" : "");
    cr_exec_free(e);
    return true;
}

static bool summary_passes(struct job *j)
{
    struct cr_exec_opts want = { 0 };
    struct cr_train_section train;

    if (cr_model_trains(&j->model) &&
        !(cr_plans_train_of(j->model.config, &j->model.optim, &train, &want) &&
          summary_plan_passes(j, want)))
        return false;
    return summary_plan_passes(j, cr_plans_predict(j->model.batch, true));
}

/* ---- JSON */

static void summary_shape(struct cr_buf *b, const char *key,
                          const struct cr_spec *spec)
{
    int i;

    cr_buf_f(b, ", \"%s\": [", key);
    for (i = 0; i < spec->rank; i++)
        cr_buf_f(b, "%s%" PRId64, i > 0 ? ", " : "", spec->dim[i]);
    cr_buf_char(b, ']');
}

static void summary_word(struct cr_buf *b, const char *key, const char *word)
{
    cr_buf_f(b, "\"%s\": ", key);
    if (word)
        cr_buf_json(b, word);
    else
        cr_buf_str(b, "null");
}

static void summary_json_hooks(const struct job *j, struct cr_buf *b)
{
    int i;

    if (j->n_hooks == 0)
        return;
    cr_buf_str(b, ", \"hooks\": [");
    for (i = 0; i < j->n_hooks; i++) {
        const struct cr_hook *h = &j->hooks[i];

        cr_buf_f(b, "%s{", i > 0 ? ", " : "");
        summary_word(b, "name", h->name);
        cr_buf_f(b, ", \"hook\": \"%s\", ", cr_hook_forms[h->form]);
        summary_word(b, "at", summary_places(j, h));
        cr_buf_str(b, ", ");
        summary_word(b, "replaces", h->how);
        cr_buf_char(b, '}');
    }
    cr_buf_str(b, "], \"split\": [");
    for (i = 0; i < j->n_splits; i++) {
        const struct cr_unfused_step *s = &j->splits[i];

        cr_buf_f(b, "%s{", i > 0 ? ", " : "");
        summary_word(b, "name", s->cell);
        cr_buf_f(b, ", \"op\": \"%s\", \"backward\": %s, ", s->op,
                 s->back ? "true" : "false");
        summary_word(b, "from", s->back ? NULL : s->of);
        cr_buf_char(b, '}');
    }
    cr_buf_char(b, ']');
}

static void summary_json(const struct job *j)
{
    struct cr_buf b = { .arena = j->cli->arena };
    const char *comma = "";
    const struct cr_pruned *cuts;
    int i, n;

    cr_buf_str(&b, "{\"cells\": [");
    for (i = 0; i < j->n_rows; i++) {
        const struct cr_cell_row *r = &j->rows[i];

        if (!summary_shows(j, r->name))
            continue;
        cr_buf_f(&b, "%s{", comma);
        summary_word(&b, "name", r->name);
        cr_buf_str(&b, ", ");
        summary_word(&b, "type", r->type);
        summary_shape(&b, "in", &r->in);
        summary_shape(&b, "out", &r->out);
        cr_buf_f(&b,
                 ", \"params\": %" PRId64 ", \"trainable\": %" PRId64
                 ", \"macs\": %.0f, ",
                 r->params, r->trained, r->macs);
        summary_word(&b, "args", r->args);
        cr_buf_char(&b, '}');
        comma = ", ";
    }
    cr_buf_str(&b, "], \"params\": [");
    comma = "";
    for (i = 0; i < j->n_params; i++) {
        const struct cr_param *p = &j->params[i];

        if (!summary_shows(j, p->name))
            continue;
        cr_buf_f(&b, "%s{", comma);
        summary_word(&b, "name", p->name);
        summary_shape(&b, "shape", &p->spec);
        cr_buf_f(&b, ", \"type\": \"%s\", \"trainable\": %s, ",
                 cr_type_title(p->spec.type), p->trained ? "true" : "false");
        summary_word(&b, "reason", p->frozen_reason);
        cr_buf_str(&b, ", ");
        summary_word(&b, "init", p->init);
        if (summary_group(j, i) > 0)
            cr_buf_f(&b, ", \"group\": %d", summary_group(j, i));
        cr_buf_char(&b, '}');
        comma = ", ";
    }
    cr_buf_f(&b, "], \"memory_bytes\": %zu, \"cut\": [", summary_memory(j));
    cuts = cr_exec_pruned(j->exec, &n);
    comma = "";
    for (i = 0; i < n; i++) {
        if (!summary_shows(j, cuts[i].name))
            continue;
        cr_buf_f(&b, "%s{", comma);
        summary_word(&b, "name", cuts[i].name);
        cr_buf_str(&b, ", ");
        summary_word(&b, "reason", cuts[i].reason);
        cr_buf_char(&b, '}');
        comma = ", ";
    }
    cr_buf_char(&b, ']');
    summary_json_hooks(j, &b);
    printf("%s}\n", cr_buf_text(&b));
}

/* ---- Diagrams */

static bool summary_write(const struct job *j, const char *path,
                          const char *text)
{
    return cr_write_file(j->cli->diag, path, text, strlen(text));
}

static bool summary_draw(const struct job *j)
{
    int n;
    const struct cr_pruned *cuts = cr_exec_pruned(j->exec, &n);
    const char *at = j->o->at ? j->o->at : "";
    struct cr_diagram *d;
    char *caption;

    if (!j->o->svg && !j->o->dot)
        return true;
    d = cr_net_draw(j->model.net, at, cuts, n);
    caption = at[0] ? cr_strf(j->cli->arena, "%s\n", at)
                    : cr_strf(j->cli->arena,
                              "%s\n%" PRId64 " parameters, %" PRId64
                              " trained, %.0f multiply-adds per sample\n",
                              cr_path_stem(j->cli->arena, j->cli->operands[0]),
                              j->values, j->trained, summary_macs(j));
    return (!j->o->dot ||
            summary_write(j, j->o->dot, cr_diagram_dot(d, caption))) &&
           (!j->o->svg ||
            summary_write(j, j->o->svg, cr_diagram_svg(d, caption)));
}

/* Whether standard output is used for a diagram. */
static bool summary_drawn(const struct job *j)
{
    return (j->o->svg && strcmp(j->o->svg, "-") == 0) ||
           (j->o->dot && strcmp(j->o->dot, "-") == 0);
}

static bool summary_usage(struct cr_cli *cli)
{
    const struct summary *o = cr_cli_opts(cli);
    const char *other = o->at ? "--at" : o->params ? "--params" : NULL;

    if (o->passes && other)
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "--passes and %s cannot be combined: it lists the steps of "
                 "the whole plan",
                 other);
    if (o->passes && cli->json)
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "--passes has no JSON form: remove --json");
    return cr_cli_ending(cli, "--svg", o->svg, ".svg") &&
           cr_cli_ending(cli, "--dot", o->dot, ".dot .gv") &&
           cli->diag->errors == 0;
}

static int summary_run(struct cr_cli *cli)
{
    struct job j = { .cli = cli, .o = cr_cli_opts(cli) };
    int64_t batch = j.o->batch == CR_INT_NONE ? 0 : j.o->batch;

    if (summary_usage(cli) && cr_model_operands(cli, &j.model) &&
        cr_model_inspect(&j.model, batch, false) && summary_plan(&j) &&
        summary_draw(&j) && !summary_drawn(&j)) {
        if (j.o->passes)
            summary_passes(&j);
        else if (cli->json)
            summary_json(&j);
        else if (j.o->params)
            summary_params(&j);
        else
            summary_print(&j);
    }
    cr_exec_free(j.exec);
    cr_model_close(&j.model);
    return 0;
}

const struct cr_command cr_command_summary = {
    .about = {
        .name = "summary",
        .summary = "Show a network's cells, shapes, parameters and costs.",
        .detail =
            "Needs only the section network. Shapes come from the headers of "
            "the data set, from `inputs` of the network, or from the first "
            "cell that declares its input features (Dense with in_channels, "
            "also after Flatten). Counts exclude subcells; multiply-adds are "
            "per sample, forward pass only. Memory is that of a training "
            "step if there is a loss. -v lists the steps of the plan, with "
            "--at those of that cell.\n\n"
            "--passes lists them after each pass of the planner: values are "
            "numbered (%7), parameters and columns have their names; %9@%7 "
            "lies in the memory of %7, %9@4096 at that byte of the plan's "
            "memory.",
        .example = "cellrun summary digits.yaml\n"
                   "cellrun summary runs/digits --at body\n",
        .opts = summary_opts,
        .size = sizeof(struct summary),
    },
    .usage = "FILE...|CKPT [key=value...] [--batch N] [--at CELL]",
    .min_operands = 1,
    .max_operands = -1,
    .takes_config = true,
    .run = summary_run,
};
