/*
 * Every golden case (tests/golden) through the plans that users run: what the
 * reference has of output, loss, gradients of parameters, parameters and slots
 * must come from the fused plan of train, with gradients apart and without, or
 * from that of an evaluation and a prediction; and all of them must agree with
 * the plans that keep every value, over batches that follow each other.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "base/thread_pool.h"
#include "ckpt/load.h"
#include "conf/yaml.h"
#include "kernels/blas.h"
#include "model/single_batch.h"
#include "plans.h"
#include "tap.h"
#include "train/section.h"

struct golden {
    struct cr_arena arena;
    struct cr_diag diag;
    const char *dir;
    bool eval;
    bool predict; /* without the loss */
    int64_t step; /* 0: no update */
    double rtol, atol;
    struct cr_single_batch probe;
    struct cr_optim_use optim;
    struct plans plans;
    struct cr_tensor_file *ref;
    int compared;
    const char *wrong; /* NULL: nothing */
};

static struct {
    int cases;
    double largest, part;
    int64_t compared, equal;
    char at[256], part_at[256];
    char grown[256]; /* a case whose kernels took more than planned */
} all;

static const char *golden_file(struct golden *g, const char *name)
{
    const char *path = cr_strf(&g->arena, "%s/%s", g->dir, name);
    struct stat st;

    return stat(path, &st) == 0 ? path : NULL;
}

/* What the case asks of trace; unknown flags are an error. */
static bool golden_flags(struct golden *g)
{
    size_t len;
    char *text =
        cr_read_file(&g->arena, &g->diag, CR_NOWHERE, golden_file(g, "cmd"),
                     CR_E_SYSTEM, CR_TEXT_MAX, &len);
    const char *word = text ? strtok(text, " \n") : NULL;

    for (; word; word = strtok(NULL, " \n")) {
        if (strcmp(word, "--eval") == 0)
            g->eval = true;
        else if (strcmp(word, "--predict") == 0)
            g->predict = true;
        else if (strcmp(word, "--sens") == 0) /* a matter of trace alone */
            strtok(NULL, " \n");
        else if (cr_starts(word, "--step="))
            g->step = strtol(word + strlen("--step="), NULL, 10);
        else if (strcmp(word, "--rtol") == 0)
            g->rtol = strtod(strtok(NULL, " \n"), NULL);
        else if (strcmp(word, "--atol") == 0)
            g->atol = strtod(strtok(NULL, " \n"), NULL);
        else if (strcmp(word, "--grad") != 0)
            return false;
    }
    return text != NULL;
}

/* The case's config; without an optimizer one that moves by the gradient. */
static struct cr_config *golden_config(struct golden *g)
{
    const char *files[] = { golden_file(g, "config.yaml"), NULL };
    const char *sets[] = { "optimizer={SGD: {learning_rate: 0.5}}", NULL };
    struct cr_config_from from = { .files = files };
    struct cr_config *config = cr_config_load(&g->arena, &g->diag, &from);

    if (config && cr_section(config, "loss") &&
        !cr_section(config, "optimizer")) {
        from.sets = sets;
        config = cr_config_load(&g->arena, &g->diag, &from);
    }
    return g->diag.errors == 0 ? config : NULL;
}

/* NAME.npy holds the column NAME; sensN.npy is a gradient of a result. */
static int golden_is_feed(const struct dirent *e)
{
    return cr_ends(e->d_name, ".npy") && !cr_starts(e->d_name, "sens");
}

static bool golden_batch(struct golden *g, struct cr_config *config)
{
    struct dirent **entry;
    int n = scandir(g->dir, &entry, golden_is_feed, alphasort);
    const char **feed = CR_NEWS(&g->arena, const char *, n + 1);

    for (int i = 0; i < n; i++) {
        const char *name = entry[i]->d_name;

        feed[i] = cr_strf(&g->arena, "%.*s=%s/%s",
                          (int)(strlen(name) - strlen(".npy")), name, g->dir,
                          name);
        free(entry[i]);
    }
    free(entry);
    g->probe = (struct cr_single_batch){ .arena = &g->arena,
                                         .diag = &g->diag,
                                         .config = config,
                                         .feed = { .v = feed, .n = n },
                                         .seed = 1 };
    return n <= PLANS_COLUMNS && cr_seed_read(config, &g->probe.seed) &&
           cr_single_batch_open(&g->probe);
}

/* The batch of the case, then others: samples in another order, and real
 * numbers that are less. */
static void golden_data(struct golden *g)
{
    for (int c = 0; c < g->probe.n_columns; c++) {
        const struct cr_spec *spec = &g->probe.column[c].spec;
        size_t row = cr_bytes(spec), n = (size_t)g->probe.batch;

        for (int t = 0; t < PLANS_BATCHES; t++) {
            char *to = cr_alloc(&g->arena, n + 1, row + 1);

            for (size_t i = 0; i < n; i++)
                memcpy(to + i * row,
                       (const char *)g->probe.data[c] +
                           (i + (size_t)t) % n * row,
                       row);
            for (size_t i = 0; spec->type == CR_REAL && t > 0 &&
                               i < n * row / sizeof(cr_real);
                 i++)
                ((cr_real *)(void *)to)[i] *= (cr_real)(1 - 0.125 * t);
            g->plans.data[t][c] = to;
        }
    }
}

static bool golden_net(struct golden *g, struct cr_config *config)
{
    struct cr_net_opts want = { .columns = g->probe.column,
                                .n_columns = g->probe.n_columns,
                                .batch = g->probe.batch,
                                .seed = g->probe.seed,
                                .loss = !g->predict &&
                                        cr_section(config, "loss") != NULL };
    const char *weights = golden_file(g, "weights.safetensors");
    struct cr_load_report load;
    struct cr_tensor_file *store;
    struct cr_run_steps run = { 0 };
    bool ok;

    g->plans.net = cr_net_build(config, &want);
    g->plans.loss = want.loss;
    if (!g->plans.net)
        return false;
    if (want.loss) {
        g->plans.optim = &g->optim;
        if (!cr_optim_rule(config, g->plans.net, true, &g->optim) ||
            !cr_optim_bind(&g->diag, &g->optim, &run))
            return false;
    }
    if (!weights)
        return cr_load(config, g->plans.net, NULL, &load);
    store = cr_tensor_file_open(&g->arena, &g->diag, weights);
    ok = store && cr_load_weights(store, config, g->plans.net, true);
    cr_tensor_file_close(store);
    return ok;
}

static bool golden_open(struct golden *g)
{
    struct cr_config *config = golden_flags(g) ? golden_config(g) : NULL;

    if (!config || !golden_batch(g, config) || !golden_net(g, config))
        return false;
    g->plans.arena = &g->arena;
    g->plans.config = config;
    g->plans.n_columns = g->probe.n_columns;
    g->plans.batch = g->probe.batch;
    golden_data(g);
    g->ref = cr_tensor_file_open(&g->arena, &g->diag,
                                 golden_file(g, "ref.safetensors"));
    return g->ref != NULL;
}

/* ---- Against the reference */

static void golden_is(struct golden *g, const char *where,
                      const struct cr_tensor *x)
{
    const struct cr_tensor_info *e = cr_tensor_file_find(g->ref, x->name);
    struct cr_spec spec = x->spec;
    struct cr_tensor_diff apart;
    double part;
    void *y;

    if (!e)
        return;
    g->compared++;
    spec.type = e->spec.type;
    if (!e->readable || !cr_spec_same(&spec, &e->spec)) {
        g->wrong =
            cr_strf(&g->arena, "%s: %s has another shape", where, x->name);
        return;
    }
    y = cr_alloc(&g->arena, cr_bytes(&spec) + 1, 1);
    if (!cr_tensor_file_read(g->ref, &g->diag, e, spec.type, y)) {
        g->wrong = "the reference cannot be read";
        return;
    }
    cr_tensor_diff(&x->spec, x->data, spec.type, y, g->rtol, g->atol, &apart);
    part = apart.deviation / fmax(1, fabs(apart.b));
    if (part > all.largest && apart.beyond == 0 && !strstr(g->dir, "amp")) {
        all.largest = part;
        snprintf(all.at, sizeof all.at, "%s: %s: %s", g->dir, where, x->name);
    }
    if (apart.beyond > 0 && !g->wrong)
        g->wrong =
            cr_strf(&g->arena, "%s: %s is %.9g at %s, the reference has %.9g",
                    where, x->name, apart.a,
                    cr_tensor_index_text(&g->arena, &spec, apart.at), apart.b);
}

/* Whether this is the gradient of a column, which only trace computes. */
static bool golden_is_column(const struct golden *g, const char *name)
{
    for (int c = 0; c < g->probe.n_columns; c++)
        if (cr_starts(name, "grad.") &&
            strcmp(name + strlen("grad."), g->probe.column[c].name) == 0)
            return true;
    return false;
}

/* Names that the reference has and a plan of that kind must give. */
static void golden_has(struct golden *g, const char *where,
                       const struct cr_tensor *kept, int n, bool loss,
                       bool grads)
{
    int n_ref;
    const struct cr_tensor_info *e = cr_tensor_file_entries(g->ref, &n_ref);

    for (int i = 0; i < n_ref; i++) {
        const char *name = e[i].name;
        bool wanted =
            (strcmp(name, "output") == 0 || cr_starts(name, "output#") ||
             (loss && strcmp(name, "loss") == 0) ||
             (grads && plans_is_grad(name) && !golden_is_column(g, name)));

        if (wanted && !plans_find(kept, n, name))
            g->wrong = cr_strf(&g->arena, "%s: %s is missing", where, name);
    }
}

static void golden_kept(struct golden *g, const char *where, struct cr_exec *e,
                        bool loss, bool grads)
{
    int n;
    const struct cr_tensor *kept = cr_exec_kept(e, &n);

    golden_has(g, where, kept, n, loss, grads);
    for (int i = 0; i < n; i++)
        golden_is(g, where, &kept[i]);
}

/* Steps on the case's batch, as `trace --step` has it; without them only
 * what a step computes before its update counts. */
static void golden_train(struct golden *g, bool apart)
{
    const char *where = apart ? "training, separate gradients" :
                               "training";
    struct cr_exec_opts want = cr_plans_train(apart, false);
    struct plans *p = &g->plans;
    struct cr_exec *e;

    want.batch = p->batch;
    if (!plans_make(p, &e, &want))
        return;
    plans_save(p);
    for (int64_t t = 1; t <= (g->step > 0 ? g->step : 1) && !g->wrong; t++)
        if (!plans_step(p, e, &want, 0, t))
            g->wrong = cr_strf(&g->arena, "%s: not finite", where);
    golden_kept(g, where, e, true, apart);
    for (int i = 0; i < p->n_state && g->step > 0; i++) {
        struct cr_tensor now = p->state[i];

        now.data = plans_place(p, i);
        golden_is(g, where, &now);
    }
    plans_restore(p, p->state);
    cr_exec_free(e);
}

static void golden_run(struct golden *g, const char *where,
                       struct cr_exec_opts want)
{
    struct cr_exec *e;

    want.batch = g->plans.batch;
    if (!plans_make(&g->plans, &e, &want))
        return;
    plans_forward(&g->plans, e, 0, 0);
    golden_kept(g, where, e, want.loss, false);
    cr_exec_free(e);
}

static void golden_reference(struct golden *g)
{
    if (g->eval || g->predict) {
        struct cr_exec_opts eval = cr_plans_eval(g->plans.config, false, false);

        if (!g->predict)
            golden_run(g, "evaluation", eval);
        golden_run(g, "prediction", cr_plans_predict(0, true));
    } else if (g->plans.loss) {
        golden_train(g, false);
        golden_train(g, true);
    } else {
        golden_run(g, "training", (struct cr_exec_opts){ .training = true });
    }
    if (g->compared == 0 && !g->wrong)
        g->wrong = "nothing was compared";
}

/* ---- A case */

static void golden_case(const char *dir)
{
    struct golden *g = calloc(1, sizeof *g);
    struct plans *p = &g->plans;

    cr_thread_pool_start(1); /* with no room for kernels yet */
    g->dir = dir;
    g->diag.arena = &g->arena;
    g->rtol = 1e-4;
    g->atol = 1e-5;
    if (!golden_open(g)) {
        g->wrong = "cannot be opened";
    } else {
        p->eager = true;
        /* A library's sums differ by layout in the last bit, and then another
         * one of two equal numbers may be the maximum. Sums over an image of
         * what a normalisation passes back cancel: to 1.6e-5 of the largest in
         * block_excite_eval. */
        p->tolerance = !strstr(dir, "/amp_") ? 3e-5
                       : cr_blas_own()       ? 4e-3
                                             : 1e-1;
        golden_reference(g);
        if (!g->wrong && !p->first)
            plans_compare(p);
        if (cr_thread_scratch_size() / 64 > (p->room + 63) / 64)
            snprintf(all.grown, sizeof all.grown, "%s", dir);
        all.compared += p->compared;
        all.equal += p->equal;
        if (p->largest > all.part) {
            all.part = p->largest;
            snprintf(all.part_at, sizeof all.part_at, "%s: %s", dir,
                     p->largest_at);
        }
    }
    ok(!g->wrong && !p->first && !p->odd, "%s", dir + strlen("tests/golden/"));
    if (g->wrong)
        printf("# %s\n", g->wrong);
    if (p->first)
        printf("# %s, as the plan that keeps all\n", p->first);
    if (p->odd)
        printf("# a loss or gradient is not finite\n");
    cr_diag_print(&g->diag, stdout, (struct cr_diag_format){ 0 });
    all.cases++;
    cr_tensor_file_close(g->ref);
    cr_arena_free(&g->arena);
    free(g);
}

static void golden_folder(const char *folder, const char *only)
{
    struct dirent **entry;
    int n = scandir(folder, &entry, NULL, alphasort);
    char dir[512];
    struct stat st;

    for (int i = 0; i < n; i++) {
        snprintf(dir, sizeof dir, "%s/%s/cmd", folder, entry[i]->d_name);
        if (stat(dir, &st) == 0 && (!only || strstr(dir, only))) {
            dir[strlen(dir) - strlen("/cmd")] = '\0';
            golden_case(dir);
        }
        free(entry[i]);
    }
    free(entry);
}

/* With a word: the cases that have it in their name. */
int main(int argc, char **argv)
{
    golden_folder("tests/golden/ms", argc > 1 ? argv[1] : NULL);
    golden_folder("tests/golden/pt", argc > 1 ? argv[1] : NULL);
    printf("# %d cases; largest deviation from a reference in float32, in "
           "parts of the value or of 1: %.3g "
           "(%s)\n",
           all.cases, all.largest, all.at);
    printf("# %lld tensors as plans that keep all have them, %lld of the same "
           "bytes; largest part of the tolerance of the rest: %.3g (%s)\n",
           (long long)all.compared, (long long)all.equal, all.part,
           all.part_at);
    ok(argc > 1 || all.cases >= 621, "all cases were run: %d", all.cases);
    if (!ok(all.grown[0] == 0, "no step takes more room than planned"))
        printf("# more in %s\n", all.grown);
    return done();
}
