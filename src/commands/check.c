/*
 * check: reports all errors of a config without running it.
 *
 * It prepares a run as train does, except for the values of the parameters, so
 * it reports the same errors in the same words, including those of files in
 * `load`. A config without data, loss or optimizer is checked as far as
 * possible. The cost of the run is estimated from the plan.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "ckpt/load.h"
#include "conf/command_line.h"
#include "data/section.h"
#include "model/model.h"
#include "plugin/plugin.h"
#include "train/lint.h"
#include "train/train.h"

/* Rough speed of one core in multiply-adds per second. */
#define CHECK_MACS 50e9

struct check {
    bool data;
};

static const struct cr_opt check_opts[] = {
    CR_BOOL_DEFAULT(struct check, data, false,
                    "Also read every sample and check its values."),
    { 0 },
};

struct cost {
    int64_t params, trained, steps, samples, eval_samples;
    double macs; /* per sample, forward pass */
    size_t memory;
};

static void check_network(const struct cr_net *net, struct cost *cost)
{
    int n_params, n_cells;
    const struct cr_param *params = cr_net_params(net, &n_params);
    const struct cr_cell_row *cells = cr_net_cells(net, &n_cells);

    for (int i = 0; i < n_params; i++) {
        if (params[i].statistic)
            continue;
        cost->params += cr_count(&params[i].spec);
        if (params[i].trained)
            cost->trained += cr_count(&params[i].spec);
    }
    for (int i = 0; i < n_cells; i++)
        cost->macs += cells[i].macs;
}

static bool check_loader(struct cr_train *t, struct cr_data_loader *loader,
                         const struct cr_plans *plans)
{
    const struct cr_batch *batch;

    while ((batch = cr_data_loader_next(loader, t->diag))) {
        struct cr_exec *exec = cr_plans_for(plans, batch);

        for (int c = 0; c < batch->columns; c++)
            cr_exec_feed(exec, c, batch->data[c]);
        if (!cr_exec_check(exec, t->diag, batch->samples)) {
            cr_data_loader_note(loader, t->diag);
            return false;
        }
    }
    return t->diag->errors == 0;
}

/* Number of samples per epoch, and of the evaluation. */
static bool check_samples(struct cr_train *t)
{
    struct cr_exec_opts want = cr_plans_eval(t->config, false, false);
    struct cr_plans plans = { 0 };
    bool ok = check_loader(t, t->loader, &t->plans);

    ok = ok && cr_train_lint_samples(t);
    if (!ok || !t->scoring.loader)
        return ok;
    ok = cr_plans_make(&plans, t->net, &want, t->scoring.loader) &&
         check_loader(t, t->scoring.loader, &plans);
    cr_plans_free(&plans);
    return ok;
}

/* Prepares a whole run without values of parameters. */
static bool check_run_needs(struct cr_cli *cli, struct cr_config *config,
                            struct cost *cost)
{
    const struct check *o = cr_cli_opts(cli);
    struct cr_train t = { .cli = cli,
                          .arena = cli->arena,
                          .diag = cli->diag,
                          .config = config,
                          .flags = { .check = true } };
    struct cr_load_report load;
    bool ok = cr_train_prepare(&t) && cr_load(config, t.net, NULL, &load);

    if (ok) {
        check_network(t.net, cost);
        cost->steps = t.length.total;
        cost->samples = cr_data_loader_samples(t.loader);
        if (t.scoring.loader)
            cost->eval_samples = cr_data_loader_samples(t.scoring.loader);
        cost->memory =
            cr_exec_bytes(t.plans.full ? t.plans.full : t.plans.last) +
            (size_t)cost->params * sizeof(cr_real);
        /* the forward pass, and twice that for both gradients */
        cost->macs *= 3 * (double)t.plans.batch;
        ok = !o->data || check_samples(&t);
    }
    cr_train_close(&t);
    return ok;
}

/* Checks a network alone, or the parts of a base config. */
static bool check_parts(struct cr_cli *cli, struct cr_config *config,
                        struct cost *cost)
{
    struct cr_diag first = { .arena = config->arena }, again = first;
    struct cr_diag *shown = &first;
    struct cr_model model = { .config = config, .batch = 1 };
    struct cr_datapipe_section datapipe = { 0 };
    struct cr_optim_use optim;
    struct cr_load_report load;
    bool ok = cr_config_check(config) && cr_seed_read(config, &model.seed);

    /* an error here is no reason not to look for others */
    cr_datapipe_section_read(config, &datapipe);
    cr_threads_start(config, cli->threads);
    if (cr_section(config, "optimizer"))
        ok = cr_optim_read(config, &optim) && ok;
    if (!ok)
        return false;
    config->diag = &first;
    ok = cr_model_inspect(&model, 0, false);
    config->diag = &again; /* networks such as siamese ones need two samples */
    if (!ok && !cr_section(config, "dataset")) {
        model = (struct cr_model){ .config = config, .seed = model.seed };
        ok = cr_model_inspect(&model, 2, false);
        shown = ok ? &again : &first;
    }
    config->diag = cli->diag;
    cr_diag_append(cli->diag, shown);
    ok = ok && cr_load(config, model.net, NULL, &load);
    if (ok)
        check_network(model.net, cost);
    return ok && cli->diag->errors == 0;
}

/* ---- Plug-ins that are not loaded */

/* Checks the headers of the data only: a network with unknown cells cannot be
 * built. */
static bool check_data(struct cr_config *config)
{
    static const char *const splits[] = { "train", "eval", "test" };
    struct cr_data_loader_opts want = { .headers = true };
    const struct cr_node *dataset = cr_section(config, "dataset");
    struct cr_optim_use optim;
    bool ok = cr_seed_read(config, &want.seed);

    if (cr_section(config, "optimizer"))
        ok = cr_optim_read(config, &optim) && ok;
    for (size_t i = 0; i < CR_LEN(splits) && ok; i++) {
        struct cr_data_loader *loader;

        if (!cr_node_get(dataset, splits[i]))
            continue;
        want.split = splits[i];
        want.train = i == 0;
        loader = cr_data_loader_open(config, &want);
        ok = loader != NULL;
        if (loader)
            cr_data_loader_close(loader);
    }
    return ok;
}

static void check_plugin_line(void *ctx, const char *path, const char *sha256)
{
    cr_buf_f(ctx, "a run opens plug-in %s, SHA-256 %s\n", path, sha256);
}

static void check_plugin_json(void *ctx, const char *path, const char *sha256)
{
    struct cr_buf *b = ctx;

    cr_buf_str(b, b->len ? ", {\"file\": " : "{\"file\": ");
    cr_buf_json(b, path);
    cr_buf_f(b, ", \"sha256\": \"%s\"}", sha256);
}

/* Rounded for people: it is an estimate. */
static const char *check_time(struct cr_arena *arena, double seconds)
{
    return seconds < 1         ? "less than 1 s"
           : seconds < 90      ? cr_strf(arena, "about %.0f s", seconds)
           : seconds < 90 * 60 ? cr_strf(arena, "about %.0f min", seconds / 60)
           : seconds < 48 * 3600
               ? cr_strf(arena, "about %.0f h", seconds / 3600)
               : cr_strf(arena, "about %.0f days", seconds / 86400);
}

static void check_print(const struct cr_cli *cli, const struct cost *c,
                        const char *plugins, bool built)
{
    double seconds = (double)c->steps * c->macs / CHECK_MACS;

    if (cli->json && *plugins)
        printf("{\"plugins\": [%s], ", plugins);
    else if (cli->json)
        putchar('{');
    else
        fputs(plugins, stdout);
    if (!built) {
        puts(cli->json ? "\"built\": false}"
                       : "ok, except the network: it contains cells of "
                         "plug-ins, which check does not open");
        return;
    }
    if (cli->json) {
        printf("\"parameters\": %" PRId64 ", \"trained\": %" PRId64
               ", \"samples\": %" PRId64 ", \"eval_samples\": %" PRId64
               ", \"steps\": %" PRId64 ", \"memory_bytes\": %zu"
               ", \"seconds\": %.3g}\n",
               c->params, c->trained, c->samples, c->eval_samples, c->steps,
               c->memory, seconds);
        return;
    }
    printf("ok: %" PRId64 " parameters, %" PRId64 " of them trained\n",
           c->params, c->trained);
    if (c->steps > 0)
        printf("%" PRId64 " samples to train on, %" PRId64 " to evaluate\n"
               "%" PRId64 " steps: %s on one core, %.1f MiB\n",
               c->samples, c->eval_samples, c->steps,
               check_time(cli->arena, seconds), (double)c->memory / 0x1p20);
    if (c->steps > 0 && c->eval_samples == 0)
        printf("nothing is evaluated: add dataset.eval or dataset.split\n");
}

static int check_run(struct cr_cli *cli)
{
    static const char *const run[] = { "dataset", "network", "loss",
                                       "optimizer" };
    struct cr_config *config = cr_cli_config(cli);
    struct cost cost = { 0 };
    struct cr_buf plugins = { .arena = cli->arena };
    bool whole = true, ok;

    if (config->load_failed)
        return cr_cli_errors(cli, NULL);
    if (cli->diag->strict && !cr_section(config, "cellrun")) {
        cr_warn(cli->diag, config->root->pos, CR_E_MISSING_KEY,
                "key 'cellrun' is missing: the version of the config language");
        cr_hint(cli->diag, "write 'cellrun: 1'");
    }
    if (cli->threads == 0)
        cli->threads = 1;
    for (size_t i = 0; i < CR_LEN(run); i++)
        whole = whole && cr_section(config, run[i]);
    ok = cr_plugin_each(
        config, cli->json ? check_plugin_json : check_plugin_line, &plugins);
    if (ok && cr_config_check(config) && config->unknown)
        ok = check_data(config);
    else if (ok)
        ok = whole ? check_run_needs(cli, config, &cost)
                   : check_parts(cli, config, &cost);
    if (!ok || cli->diag->errors > 0)
        return cr_cli_errors(cli, NULL);
    check_print(cli, &cost, cr_buf_text(&plugins), !config->unknown);
    return 0;
}

const struct cr_command cr_command_check = {
    .about = {
        .name = "check",
        .summary = "Find all errors of a config.",
        .detail =
            "Checks keys, types, references, shapes, the headers of the data "
            "and the weights of `load`, and estimates the cost of a run. "
            "Without data, loss or optimizer it checks the sections that are "
            "there. It does not open plug-ins: it prints the files that a "
            "run would open, and does not build a network with their cells.",
        .example = "cellrun check digits.yaml\n"
                   "cellrun check digits.yaml optimizer.learning_rate=0.1 "
                   "--data\n",
        .opts = check_opts,
        .size = sizeof(struct check),
    },
    .usage = "FILE... [key=value...] [--data]",
    .min_operands = 1,
    .max_operands = -1,
    .takes_config = true,
    .closed = true,
    .run = check_run,
};
