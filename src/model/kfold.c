#include "model/kfold.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/signals.h"
#include "model/model.h"
#include "train/flags.h"
#include "train/train.h"

struct kfold {
    struct cr_cli *cli;         /* the command line */
    const struct cr_kfold_opts *want;
    struct cr_kfold *to;
    struct cr_reported reported; /* warnings of the folds before */
};

/* ---- Settings that all folds share */

/* The label column by which the folds are stratified; NULL: none. */
static const char *kfold_classes(struct cr_config *config)
{
    struct cr_data_loader_opts want = { .split = "train", .headers = true };
    struct cr_data_loader *loader;
    const struct cr_column *columns;
    const char *found = NULL;
    int n, label;

    if (!cr_section(config, "dataset") ||
        cr_node_find(config->root, "dataset.split.stratify") ||
        cr_node_find(config->root, "dataset.split.group") ||
        cr_node_find(config->root, "dataset.split.time"))
        return NULL;
    loader = cr_data_loader_open(config, &want);
    if (!loader)
        return NULL;
    columns = cr_data_loader_columns(loader, &n);
    label = cr_label_column(config, columns, n);
    if (label >= 0 && cr_label_classifies(config, columns, n)) {
        const struct cr_column *c =
            &cr_data_loader_dataset(loader)->column[label];

        if (c->spec.rank == 0 && c->spec.type != CR_STRING)
            found = cr_strdup(config->arena, c->name);
    }
    cr_data_loader_close(loader);
    return found;
}

/* Adds dataset.split.folds and stratify to the command line. False after
 * reporting. */
static bool kfold_line(struct kfold *k)
{
    struct cr_config *config = cr_cli_config(k->cli);
    const char *label;

    if (config->load_failed || !cr_config_check(config))
        return false;
    cr_flag_int(k->cli, "--kfold", "dataset.split.folds", k->want->folds);
    label = kfold_classes(config);
    if (k->cli->diag->errors > 0)
        return false;
    if (label)
        cr_flag_text(k->cli, "--kfold", "dataset.split.stratify", label);
    return true;
}

/* ---- One fold */

static int kfold_train(struct kfold *k, struct cr_cli *cli, int64_t fold,
                       const char **dir)
{
    struct cr_train t = { .cli = cli, .arena = cli->arena,
                          .diag = cli->diag, .history.started = cr_now() };
    int status = 2;

    t.flags = (struct cr_train_flags){
        .progress = cli->verbose > 0 ? CR_PROGRESS_PLAIN : CR_PROGRESS_NONE,
        .force = k->want->force,
        .resume = !k->want->force,
        .eager = k->want->eager,
        .silent = true,
        .exact = true,
    };
    if (k->want->dir)
        t.flags.run_dir = cr_path_join(cli->arena, k->want->dir,
                                       cr_strf(cli->arena, "fold-%" PRId64,
                                               fold));
    t.config = cr_cli_config(cli);
    if (!t.config->load_failed && cr_train_prepare(&t) && cr_train_start(&t)) {
        status = cr_train_finish(&t, cr_train_loop(&t));
        *dir = cr_strdup(k->to->arena, t.dir.path);
    } else {
        status = cr_diag_exit(cli->diag);
    }
    cr_train_close(&t);
    return status;
}

static void kfold_keep(struct cr_kfold *to, const struct cr_scores *from,
                       struct cr_scores *scores)
{
    *scores = (struct cr_scores){ .samples = from->samples };
    scores->v = CR_NEWS(to->arena, struct cr_score, from->n + 1);
    for (int i = 0; i < from->n; i++) {
        struct cr_score *s = &scores->v[scores->n];

        if (!from->v[i].single)
            continue;
        *s = from->v[i];
        s->name = cr_strdup(to->arena, s->name);
        s->table = NULL;
        s->rows = s->columns = 0;
        scores->n++;
    }
}

static bool kfold_evaluate(struct kfold *k, struct cr_model *model,
                           struct cr_data_loader *loader,
                           struct cr_kfold_run *run)
{
    struct cr_config *config = model->config;
    struct cr_eval_opts want = { .loader = loader,
                                 .eager = k->want->eager,
                                 .chosen = &model->state.eval };
    struct cr_metrics metrics;
    struct cr_eval *eval;
    bool ok, stopped;

    want.columns = cr_data_loader_columns(loader, &want.n_columns);
    want.metrics = &metrics;
    ok = k->want->metrics
             ? cr_metrics_words(config, k->want->metrics, &metrics)
             : cr_metrics_read(config,
                               cr_label_classifies(config, want.columns,
                                                   want.n_columns),
                               &metrics);
    model->looks = CR_IN_EVAL;
    if (!ok ||
        !cr_model_net(model, want.columns, want.n_columns,
                      cr_data_loader_batch_size(loader),
                      cr_data_loader_dataset(loader)->classes,
                      cr_section(config, "loss") != NULL, metrics.blocks))
        return false;
    eval = cr_eval_open(config, model->net, &want);
    ok = eval && cr_eval_run(eval, config->diag, NULL, NULL, &stopped);
    if (ok)
        kfold_keep(k->to, cr_eval_scores(eval), &run->scores);
    cr_eval_close(eval);
    return ok;
}

/* The config of the checkpoint already has the assignments of the line, and
 * the variables that they set are not used in it any more. */
static bool kfold_score(struct kfold *k, const struct cr_cli *line,
                        struct cr_kfold_run *run)
{
    static const char *const none[] = { NULL };
    struct cr_cli cli = *line;
    struct cr_data_loader_opts want = { .split = "test" };
    struct cr_eval_section section = { 0 };
    struct cr_model model = { 0 };
    struct cr_data_loader *loader = NULL;
    bool ok;

    cli.sets = none;
    ok = cr_model_open(&cli, run->dir, NULL, &model) &&
         cr_section_read(model.config, "eval", &section);
    if (ok) {
        want.seed = model.seed;
        want.batch_size = section.batch_size;
        loader = cr_data_loader_open(model.config, &want);
    }
    ok = loader && kfold_evaluate(k, &model, loader, run);
    if (loader)
        cr_data_loader_close(loader);
    cr_model_close(&model);
    return ok;
}

static void kfold_report(const struct kfold *k, const struct cr_cli *cli,
                         int64_t fold)
{
    struct cr_buf b = { .arena = cli->arena };
    const struct cr_kfold_run *run = &k->to->run[fold];

    if (cli->quiet)
        return;
    cr_buf_f(&b, "fold %" PRId64 " of %" PRId64 ":", fold, k->to->folds);
    for (int i = 0; i < run->scores.n; i++)
        cr_buf_f(&b, " %s %.4f", run->scores.v[i].name,
                 run->scores.v[i].value);
    fprintf(stderr, "%s  (%s)\n", cr_buf_text(&b), run->dir);
}

/* Trains and evaluates a fold. Each has its own memory and messages, which are
 * freed before the next fold starts. */
static int kfold_fold(struct kfold *k, int64_t fold)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem, .strict = k->cli->diag->strict,
                            .reported = &k->reported };
    struct cr_diag_format show = { .json = k->cli->json,
                                   .color = k->cli->color };
    struct cr_cli cli = *k->cli;
    struct cr_kfold_run *run = &k->to->run[fold];
    int status;

    cli.arena = &mem;
    cli.diag = &diag;
    cr_flag_int(&cli, "--kfold", "dataset.split.fold", fold);
    status = kfold_train(k, &cli, fold, &run->dir);
    if (status == 0 && !kfold_score(k, &cli, run))
        status = cr_diag_exit(&diag);
    if (status == 0)
        kfold_report(k, &cli, fold);
    cr_diag_print(&diag, stderr, show);
    cr_arena_free(&mem);
    return status;
}

/* ---- All of them */

static void kfold_sum(struct cr_kfold *to)
{
    const struct cr_scores *first = &to->run[0].scores;

    to->mean = (struct cr_scores){ .n = first->n };
    to->mean.v = CR_NEWS(to->arena, struct cr_score, first->n + 1);
    to->deviation = CR_NEWS(to->arena, double, first->n + 1);
    for (int64_t f = 0; f < to->folds; f++)
        to->mean.samples += to->run[f].scores.samples;
    for (int i = 0; i < first->n; i++) {
        double sum = 0, square = 0, mean;

        for (int64_t f = 0; f < to->folds; f++)
            sum += to->run[f].scores.v[i].value;
        mean = sum / (double)to->folds;
        for (int64_t f = 0; f < to->folds; f++) {
            double d = to->run[f].scores.v[i].value - mean;

            square += d * d;
        }
        to->mean.v[i] = (struct cr_score){ .name = first->v[i].name,
                                           .single = true, .value = mean };
        to->deviation[i] = sqrt(square / (double)to->folds);
    }
}

int cr_kfold(struct cr_cli *cli, const struct cr_kfold_opts *want,
             struct cr_kfold *to)
{
    struct kfold k = { cli, want, to, { .arena = cli->arena } };
    int status = 0;

    *to = (struct cr_kfold){ .arena = cli->arena, .folds = want->folds };
    to->run = CR_NEWS(cli->arena, struct cr_kfold_run, want->folds);
    cr_signals_start();
    if (!kfold_line(&k))
        return cr_diag_exit(cli->diag);
    for (int64_t fold = 0; fold < want->folds && status == 0; fold++)
        status = kfold_fold(&k, fold);
    if (status == 0)
        kfold_sum(to);
    return status;
}
