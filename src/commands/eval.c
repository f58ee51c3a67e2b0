/* eval: evaluates a checkpoint, which contains config and data set. */
#include <inttypes.h>
#include <string.h>

#include "base/table.h"
#include "console/work_progress.h"
#include "model/kfold.h"
#include "mpi/mpi.h"
#include "model/model.h"
#include "model/samples.h"
#include "predict/predict.h"
#include "score/eval.h"
#include "score/require.h"
#include "train/section.h"

struct eval {
    const char *ckpt, *data, *metrics, *require, *confusion, *wrong, *run_dir;
    int64_t kfold;
    bool per_class, eager, force;
};

static const struct cr_opt eval_opts[] = {
    CR_STR_OPTIONAL(struct eval, ckpt,
                    "Checkpoint or run directory (best checkpoint, else "
                    "last).",
                    .text = "CKPT"),
    CR_STR_OPTIONAL(
        struct eval, data,
        "A split (train, eval, test), a folder in place of its dataset_dir, "
        "a table (.csv, .tsv), text (.txt) or array (.npy) in place of its "
        "files, or a YAML file with a dataset. Default: the split eval, else "
        "test.",
        .text = "DATA"),
    CR_STR_OPTIONAL(struct eval, metrics,
                    "Metrics, separated by commas. Default: those of the "
                    "config.",
                    .text = "NAMES"),
    CR_STR_OPTIONAL(struct eval, require,
                    "Exit with 6 if this condition is not met: "
                    "'accuracy>=0.97'.",
                    .text = "EXPR"),
    CR_STR_OPTIONAL(struct eval, confusion,
                    "Write the confusion matrix as CSV; - is standard output.",
                    .text = "FILE"),
    CR_STR_OPTIONAL(struct eval, wrong,
                    "Write the misclassified samples, largest loss first, as "
                    "predict --wrong does: rows as TSV, .csv or .jsonl, or a "
                    "contact sheet of images, .png; - is standard output.",
                    .text = "FILE"),
    CR_BOOL_DEFAULT(struct eval, per_class, false,
                    "Print precision, recall and F1 of each class too."),
    CR_INT_OPTIONAL(
        struct eval, kfold, 2, 1000,
        "Instead of --ckpt: split the training data of the config into N "
        "folds, train N times on all but one fold, evaluate on that fold, and "
        "print mean and standard deviation. Folds with a finished run are not "
        "trained again."),
    CR_STR_OPTIONAL(
        struct eval, run_dir,
        "--kfold: write the runs to DIR/fold-0 and so on. Default: "
        "RUNS/NAME/ID for each.",
        .flag = 'o', .text = "DIR"),
    CR_BOOL_DEFAULT(struct eval, force, false,
                    "--kfold: train all folds again."),
    CR_BOOL_DEFAULT(struct eval, eager, false,
                    "Run op by op, without fusion or pruning: slow, for "
                    "debugging."),
    { 0 },
};

/* ---- Metrics: the requested ones, then those needed for tables */

static bool eval_metrics(const struct eval *o, struct cr_config *config,
                         bool classifies, struct cr_metrics *to, int *asked)
{
    struct cr_metrics own, more;
    struct cr_metric_use *use;
    bool ok = o->metrics ? cr_metrics_words(config, o->metrics, &own)
                         : cr_metrics_read(config, classifies, &own);

    ok = cr_metrics_words(config,
                          cr_strf(config->arena, "%s%s",
                                  o->per_class ? "precision,recall,F1," : "",
                                  o->confusion ? "confusion_matrix" : ""),
                          &more) &&
         ok;
    if (!ok)
        return false;
    use = CR_NEWS(config->arena, struct cr_metric_use, own.n + more.n + 1);
    for (int i = 0; i < own.n; i++)
        use[i] = own.use[i];
    *asked = to->n = own.n;
    to->blocks = own.blocks;
    for (int i = 0; i < more.n; i++)
        if (!cr_metrics_find(&own, more.use[i].name))
            use[to->n++] = more.use[i];
    to->use = use;
    return true;
}

static bool eval_value(void *ctx, const char *name, double *to)
{
    const struct cr_score *score = cr_score_find(ctx, name);

    *to = score ? score->value : (double)NAN;
    return score && score->single;
}

/* The metrics that --require can name. */
static const char *const *eval_names(const struct cr_cli *cli,
                                     const struct cr_scores *scores)
{
    const char **names = CR_NEWS(cli->arena, const char *, scores->n + 1);

    for (int i = 0, n = 0; i < scores->n; i++)
        if (scores->v[i].single)
            names[n++] = scores->v[i].name;
    return names;
}

/* ---- Output */

/* Rows are labels, columns predictions. */
static bool eval_confusion(const struct cr_model *model,
                           const struct cr_scores *scores, const char *path)
{
    const struct cr_score *score = cr_score_find(scores, "confusion_matrix");
    struct cr_buf b = { .arena = model->config->arena };
    int64_t n = score->rows;
    double samples = 0;

    for (int64_t i = 0; i < n * n; i++)
        samples += score->table[i];
    if (samples == 0) {
        cr_error(model->config->diag, CR_NOWHERE, CR_E_SHAPE,
                 "--confusion: found no class indices in the labels, "
                 "expected at least one");
        cr_hint(model->config->diag,
                "for a regression use the metrics mae and r2");
        return false;
    }
    cr_buf_str(&b, "truth");
    for (int64_t i = 0; i < n; i++) {
        cr_buf_char(&b, ',');
        cr_buf_csv(&b, cr_model_class(model, i));
    }
    cr_buf_char(&b, '\n');
    for (int64_t i = 0; i < n; i++) {
        cr_buf_csv(&b, cr_model_class(model, i));
        for (int64_t k = 0; k < n; k++)
            cr_buf_f(&b, ",%.0f", score->table[i * n + k]);
        cr_buf_char(&b, '\n');
    }
    return cr_write_file(model->config->diag, path, b.text, b.len);
}

static const char *const eval_columns[] = { "precision", "recall", "F1" };

static void eval_per_class_text(const struct cr_model *model,
                                const struct cr_scores *scores)
{
    struct cr_table table = { .arena = model->config->arena, .align = "lrrrr" };

    cr_table_add(&table, "class");
    for (size_t k = 0; k < CR_LEN(eval_columns); k++)
        cr_table_add(&table, eval_columns[k]);
    cr_table_add(&table, "samples");
    for (int64_t i = 0; i < scores->classes; i++) {
        cr_table_add(&table, cr_model_class(model, i));
        for (size_t k = 0; k < CR_LEN(eval_columns); k++)
            cr_table_f(&table, "%.4f",
                       cr_score_find(scores, eval_columns[k])->table[i]);
        cr_table_f(&table, "%.0f", cr_score_find(scores, "F1")->actual[i]);
    }
    cr_table_show(&table, false);
}

static void eval_per_class_json(const struct cr_model *model,
                                const struct cr_scores *scores,
                                struct cr_buf *b)
{
    cr_buf_str(b, ",\"per_class\":[");
    for (int64_t i = 0; i < scores->classes; i++) {
        cr_buf_str(b, i ? ",{\"class\":" : "{\"class\":");
        cr_buf_json(b, cr_model_class(model, i));
        for (size_t k = 0; k < CR_LEN(eval_columns); k++) {
            cr_buf_f(b, ",\"%s\":", eval_columns[k]);
            cr_buf_real(b, cr_score_find(scores, eval_columns[k])->table[i]);
        }
        cr_buf_f(b, ",\"samples\":%.0f}",
                 cr_score_find(scores, "F1")->actual[i]);
    }
    cr_buf_char(b, ']');
}

static void eval_print(const struct cr_cli *cli, const struct cr_model *model,
                       const struct cr_scores *scores, int asked)
{
    const struct eval *o = cr_cli_opts(cli);
    struct cr_buf b = { .arena = cli->arena };
    struct cr_scores shown = *scores;

    shown.n = asked;
    if (!cli->json) {
        cr_buf_score_lines(&b, &shown, "");
        fputs(cr_buf_text(&b), stdout);
        if (o->per_class)
            eval_per_class_text(model, scores);
        return;
    }
    cr_buf_char(&b, '{');
    cr_buf_scores(&b, &shown, true);
    cr_buf_f(&b, "%s\"samples\":%" PRId64, shown.n ? "," : "", shown.samples);
    if (o->per_class)
        eval_per_class_json(model, scores, &b);
    puts((cr_buf_str(&b, "}"), b.text));
}

/* ---- Cross-validation */

static void eval_kfold_text(const struct cr_kfold *k)
{
    struct cr_table table = { .arena = k->arena };
    char *align = cr_alloc(k->arena, (size_t)k->mean.n + 4, 1);

    for (int i = 0; i < k->mean.n; i++)
        printf("%s: %.4f +- %.4f\n", k->mean.v[i].name, k->mean.v[i].value,
               k->deviation[i]);
    memset(align, 'r', (size_t)k->mean.n + 2);
    align[k->mean.n + 2] = 'l';
    table.align = align;
    cr_table_add(&table, "fold");
    cr_table_add(&table, "samples");
    for (int i = 0; i < k->mean.n; i++)
        cr_table_add(&table, k->mean.v[i].name);
    cr_table_add(&table, "run");
    for (int64_t f = 0; f < k->folds; f++) {
        const struct cr_kfold_run *run = &k->run[f];

        cr_table_f(&table, "%" PRId64, f);
        cr_table_f(&table, "%" PRId64, run->scores.samples);
        for (int i = 0; i < k->mean.n; i++)
            cr_table_f(&table, "%.4f", run->scores.v[i].value);
        cr_table_add(&table, run->dir);
    }
    cr_table_show(&table, false);
}

static void eval_kfold_json(const struct cr_kfold *k)
{
    struct cr_buf b = { .arena = k->arena };

    cr_buf_char(&b, '{');
    cr_buf_scores(&b, &k->mean, false);
    cr_buf_str(&b, k->mean.n ? ",\"deviation\":{" : "\"deviation\":{");
    for (int i = 0; i < k->mean.n; i++) {
        cr_buf_str(&b, i ? "," : "");
        cr_buf_json(&b, k->mean.v[i].name);
        cr_buf_char(&b, ':');
        cr_buf_real(&b, k->deviation[i]);
    }
    cr_buf_f(&b, "},\"samples\":%" PRId64 ",\"folds\":[", k->mean.samples);
    for (int64_t f = 0; f < k->folds; f++) {
        const struct cr_kfold_run *run = &k->run[f];

        cr_buf_f(&b, "%s{\"fold\":%" PRId64 ",\"samples\":%" PRId64 ",\"run\":",
                 f ? "," : "", f, run->scores.samples);
        cr_buf_json(&b, run->dir);
        cr_buf_str(&b, run->scores.n ? "," : "");
        cr_buf_scores(&b, &run->scores, false);
        cr_buf_char(&b, '}');
    }
    cr_buf_str(&b, "]}\n");
    fputs(b.text, stdout);
}

static int eval_kfold(struct cr_cli *cli)
{
    const struct eval *o = cr_cli_opts(cli);
    struct cr_kfold_opts want = { .folds = o->kfold,
                                  .dir = o->run_dir,
                                  .metrics = o->metrics,
                                  .force = o->force,
                                  .eager = o->eager };
    struct cr_require *require = cr_require_read(cli->diag, o->require);
    struct cr_kfold k;
    int status;

    if (o->ckpt || o->data || o->confusion || o->wrong || o->per_class)
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "--kfold cannot be combined with --%s: it trains its own "
                 "checkpoints",
                 o->ckpt        ? "ckpt"
                 : o->data      ? "data"
                 : o->confusion ? "confusion"
                 : o->wrong     ? "wrong"
                                : "per-class");
    if (cr_mpi_size() > 1)
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "--kfold trains in one process: start it without mpirun");
    if (cli->n_operands == 0)
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "--kfold: found no config, expected FILE.yaml");
    if (cli->diag->errors > 0)
        return cr_diag_exit(cli->diag);
    status = cr_kfold(cli, &want, &k);
    if (status != 0)
        return status;
    if (cli->json)
        eval_kfold_json(&k);
    else
        eval_kfold_text(&k);
    cr_require_check(cli->diag, require, false, eval_value, &k.mean,
                     eval_names(cli, &k.mean));
    return cr_diag_exit(cli->diag);
}

/* ---- The command */

/* eval.max_batches limits evaluations in training. A checkpoint is evaluated
 * on all data, unless the command line sets it. */
static bool eval_part(struct cr_model *model,
                      const struct cr_data_loader *loader,
                      struct cr_eval_opts *want)
{
    struct cr_config *config = model->config;
    const struct cr_node *node = cr_node_find(config->root, "eval.max_batches");
    struct cr_eval_section section = { 0 };

    if (!node || !node->pos.src || node->pos.src->argument == 0)
        return true;
    if (!cr_section_read(config, "eval", &section))
        return false;
    want->max_batches = section.max_batches;
    cr_eval_part(config, loader, section.max_batches);
    return true;
}

/* Writes the misclassified samples of the split that was evaluated. */
static void eval_wrong(struct cr_cli *cli, const struct cr_model *model)
{
    const struct eval *o = cr_cli_opts(cli);
    struct cr_cli rows = *cli;
    struct cr_predict_opts want = {
        .ckpt = o->ckpt,
        .to = o->wrong,
        .data = o->data ? o->data : cr_model_split(model->config),
        .format = CR_PREDICT_BY_NAME,
        .on_error = CR_PREDICT_DEFAULT,
        .topk = CR_INT_NONE,
        .result = CR_INT_NONE,
        .batch = 64,
        .threshold = (double)NAN,
        .wrong = true,
        .samples = CR_INT_NONE,
    };

    rows.json = false; /* the metrics are JSON, rows have the format of FILE */
    cr_predict_format(&rows, &want);
    cr_predict_run(&rows, &want, cli->operands);
}

/* The bar of an evaluation. */
struct eval_work {
    struct cr_work_progress bar;
    int64_t batches, batch_size;
};

/* After each batch; never stops the evaluation. */
static bool eval_step(void *ctx)
{
    struct eval_work *work = ctx;

    work->batches++;
    cr_work_step(&work->bar, work->batches, work->batches * work->batch_size);
    return false;
}

static bool eval_judge(struct cr_cli *cli, struct cr_model *model,
                       struct cr_data_loader *loader)
{
    const struct eval *o = cr_cli_opts(cli);
    struct cr_eval_opts want = { .loader = loader,
                                 .eager = o->eager,
                                 .chosen = &model->state.eval };
    struct cr_require *require = cr_require_read(cli->diag, o->require);
    const struct cr_scores *scores;
    struct cr_metrics metrics;
    struct cr_eval *eval;
    struct eval_work work = {
        .batch_size = cr_data_loader_batch_size(loader)
    };
    int64_t batches = cr_data_loader_batches(loader);
    bool ok, stopped;
    int asked;

    if ((o->require && !require) || !eval_part(model, loader, &want))
        return false;
    want.columns = cr_data_loader_columns(loader, &want.n_columns);
    want.metrics = &metrics;
    if (!eval_metrics(
            o, model->config,
            cr_label_classifies(model->config, want.columns, want.n_columns),
            &metrics, &asked))
        return false;
    model->looks = CR_IN_EVAL;
    if (!cr_model_net(model, want.columns, want.n_columns,
                      cr_data_loader_batch_size(loader),
                      cr_data_loader_dataset(loader)->classes,
                      cr_section(model->config, "loss") != NULL,
                      metrics.blocks))
        return false;
    eval = cr_eval_open(model->config, model->net, &want);
    if (!eval)
        return false;
    if (!cli->quiet && !cli->json && !isnan(cr_eval_threshold(eval)))
        fprintf(stderr,
                "threshold: %.4f, the best_threshold of the "
                "checkpoint\n",
                cr_eval_threshold(eval));
    scores = cr_eval_scores(eval);
    if (want.max_batches > 0 && want.max_batches < batches)
        batches = want.max_batches;
    cr_work_begin(&work.bar, cli, "eval", batches);
    ok = cr_require_check(cli->diag, require, true, eval_value,
                          (void *)scores, eval_names(cli, scores)) &&
         cr_eval_run(eval, cli->diag, eval_step, &work, &stopped);
    cr_work_clear(&work.bar);
    if (ok) {
        eval_print(cli, model, scores, asked);
        cr_eval_warn_one_class(eval, cli->diag, CR_NOWHERE);
        ok = !o->confusion || cr_mpi_rank() > 0 ||
             eval_confusion(model, scores, o->confusion);
        if (o->wrong)
            eval_wrong(cli, model);
        ok = cr_require_check(cli->diag, require, false, eval_value,
                              (void *)scores, NULL) &&
             ok;
    }
    cr_eval_close(eval);
    return ok;
}

static int eval_run(struct cr_cli *cli)
{
    const struct eval *o = cr_cli_opts(cli);
    struct cr_model model = { 0 };
    struct cr_data_loader *loader = NULL;

    if (o->kfold != CR_INT_NONE)
        return eval_kfold(cli);
    if (!o->ckpt) {
        cr_error(cli->diag, CR_NOWHERE, CR_E_MISSING_KEY, "--ckpt is missing");
        cr_cli_usage(cli);
    }
    if (o->run_dir || o->force)
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "--run-dir and --force require --kfold");
    if (cli->diag->errors > 0)
        return cr_diag_exit(cli->diag);
    if (cli->json && o->wrong && strcmp(o->wrong, "-") == 0)
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "--json and --wrong - both write to standard output");
    if (o->wrong && strcmp(o->wrong, "-") != 0 &&
        !cr_cli_ending(cli, "--wrong", o->wrong, ".tsv .csv .jsonl .png .txt"))
        return cr_diag_exit(cli->diag);
    if (cli->json && o->confusion && strcmp(o->confusion, "-") == 0) {
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "--json and --confusion - both write to standard output");
        cr_hint(cli->diag, "use --confusion FILE, or the metric "
                           "confusion_matrix, which --json includes");
    }
    if (cli->diag->errors > 0)
        return cr_diag_exit(cli->diag);
    if (cr_model_open(cli, o->ckpt, cli->operands, &model))
        loader = cr_model_samples(&model, o->data, 0);
    if (cr_mpi_agree(cli->diag, loader != NULL) &&
        cr_model_same(&model, loader))
        eval_judge(cli, &model, loader);
    cr_data_loader_close(loader);
    cr_model_close(&model);
    return cr_diag_exit(cli->diag);
}

const struct cr_command cr_command_eval = {
    .about = {
        .name = "eval",
        .summary = "Evaluate a checkpoint with the metrics of its config.",
        .detail =
            "Config and data set come from the checkpoint; name a config "
            "FILE for weights without one. With --kfold, FILE is the config "
            "to train; its eval data, if any, serve early stopping and the "
            "selection of the best checkpoint, and the fold that is "
            "evaluated is not part of them. If the checkpoint has a "
            "best_threshold, it separates two classes, as in predict.",
        .example = "cellrun eval --ckpt runs/digits --require "
                   "'accuracy>=0.9'\n"
                   "cellrun eval --ckpt runs/digits --per-class --confusion "
                   "-\n"
                   "cellrun eval --ckpt runs/digits --wrong wrong.png\n"
                   "cellrun eval --kfold 3 wine.yaml -o folds\n",
        .opts = eval_opts,
        .size = sizeof(struct eval),
    },
    .usage = "--ckpt CKPT|--kfold N [FILE...] [key=value...] [flags]",
    .min_operands = 0,
    .max_operands = -1,
    .takes_config = true,
    .shares = true,
    .run = eval_run,
};
