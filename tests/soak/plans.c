/*
 * Random networks through the plans that users run and through plans that keep
 * every value (tests/plans.h), many in one process. tests/soak/random.pl makes
 * them; each comes on standard input as a line and the text of its config:
 *
 *   NUMBER BATCH x KIND DIMS... label KIND DIMS... text BYTES
 *
 * with the dimensions of one sample, and KIND `real`, `sign` (-1 or 1), `part`
 * (0 to 1), or a number: integers below it. With a folder as argument the
 * config of a network that differs is written there.
 */
#include <inttypes.h>

#include "base/thread_pool.h"
#include "plans.h"
#include "train/section.h"

static struct {
    int64_t networks, refused, odd, kinks, differ, compared, equal;
    double largest;
    char at[512];
} all;

struct random_column {
    struct cr_column column;
    char kind[16];
};

struct random_net {
    struct cr_arena arena;
    struct cr_diag diag;
    long long number, batch;
    struct random_column x, label;
    size_t bytes;
    char *text;
    struct cr_optim_use optim;
    struct plans plans;
};

/* ---- Reading */

static bool random_column(struct random_column *c, const char *name,
                          const char *stop)
{
    char word[32];

    if (scanf("%15s", c->kind) != 1)
        return false;
    c->column = (struct cr_column){ .name = name };
    c->column.spec.type =
        strspn(c->kind, "0123456789") == strlen(c->kind) ? CR_I32 : CR_REAL;
    while (scanf("%31s", word) == 1 && strcmp(word, stop) != 0)
        c->column.spec.dim[c->column.spec.rank++] = strtol(word, NULL, 10);
    return strcmp(word, stop) == 0;
}

static bool random_read(struct random_net *r)
{
    if (scanf("%lld %lld x", &r->number, &r->batch) != 2)
        return false;
    if (!random_column(&r->x, "x", "label") ||
        !random_column(&r->label, "label", "text") ||
        scanf("%zu", &r->bytes) != 1 || getchar() != '\n')
        return false;
    r->text = cr_alloc(&r->arena, r->bytes + 1, 1);
    return fread(r->text, 1, r->bytes, stdin) == r->bytes;
}

static void *random_data(struct random_net *r, const struct random_column *c,
                         uint64_t key)
{
    struct cr_rng rng = cr_rng((uint64_t)r->number, 0, key, 0);
    int64_t n = r->batch * cr_count(&c->column.spec);
    void *to = cr_alloc(&r->arena, (size_t)n + 1, sizeof(double));

    for (int64_t i = 0; i < n; i++) {
        uint32_t v = cr_rng_u32(&rng, (uint64_t)i);
        double part = v / 4294967296.0;

        if (c->column.spec.type == CR_I32)
            ((int32_t *)to)[i] = (int32_t)(v % strtoul(c->kind, NULL, 10));
        else
            ((cr_real *)to)[i] =
                (cr_real)(strcmp(c->kind, "part") == 0   ? part
                          : strcmp(c->kind, "sign") == 0 ? (v & 1 ? 1 : -1)
                                                         : 2 * part - 1);
    }
    return to;
}

/* ---- A network */

static bool random_open(struct random_net *r)
{
    const struct cr_config_from from = { .text = r->text,
                                         .text_name = "random",
                                         .text_dir = "." };
    struct cr_config *config;
    struct cr_column columns[] = { r->x.column, r->label.column };
    struct cr_net_opts want = { .columns = columns,
                                .n_columns = 2,
                                .batch = r->batch,
                                .seed = (uint64_t)r->number,
                                .loss = true,
                                .metrics = true };
    struct cr_train_section train;
    struct cr_run_steps run = { .per_epoch = 10, .total = 100 };
    struct plans *p = &r->plans;

    config = cr_config_load(&r->arena, &r->diag, &from);
    if (!config || !cr_config_check(config) || r->diag.errors > 0)
        return false;
    want.classes = r->label.column.spec.type == CR_I32
                       ? strtol(r->label.kind, NULL, 10)
                       : 0;
    p->net = cr_net_build(config, &want);
    if (!p->net || !cr_optim_rule(config, p->net, false, &r->optim) ||
        !cr_optim_bind(&r->diag, &r->optim, &run) ||
        !cr_section_read(config, "train", &train))
        return false;
    p->micro = (int)train.grad_accumulation;
    cr_net_grad_accum(p->net, p->micro);
    p->arena = &r->arena;
    p->config = config;
    p->optim = &r->optim;
    p->n_columns = 2;
    p->batch = r->batch;
    p->loss = p->metrics = p->finite = true;
    for (int t = 0; t < PLANS_BATCHES; t++) {
        p->data[t][0] = random_data(r, &r->x, (uint64_t)t);
        p->data[t][1] = random_data(r, &r->label, (uint64_t)t + 100);
    }
    return true;
}

static void random_keep(const struct random_net *r, const char *folder)
{
    char path[512];
    FILE *f;

    snprintf(path, sizeof path, "%s/failed-%lld.yaml", folder, r->number);
    f = fopen(path, "w");
    if (!f)
        return;
    fwrite(r->text, 1, r->bytes, f);
    fclose(f);
}

/* What freeze.schedule lets go; and a batch that is short. */
static void random_other(struct plans *p)
{
    int n;

    cr_net_unfreeze_rules(p->net, &n);
    for (int i = 0; i < n; i++)
        cr_net_unfreeze(p->net, i);
    if (n > 0 && !p->odd)
        plans_compare(p);
    p->batch = (p->batch + 1) / 2;
    if (!p->odd)
        plans_compare(p);
}

static void random_compare(struct random_net *r, const char *folder)
{
    struct plans *p = &r->plans;

    /* what folding moves by a rounding may be rounded to another half */
    bool low = strstr(r->text, "to_float") || strstr(r->text, "\namp:");

    p->tolerance = low ? 8e-3 : 1e-4;
#ifdef CR_DOUBLE
    p->tolerance = 1e-9;
    p->eager = true; /* but for rounding, which low precision enlarges */
#endif
    plans_compare(p);
    random_other(p);
    all.networks++;
    all.compared += p->compared;
    all.equal += p->equal;
    all.odd += p->odd;
    if (p->largest > all.largest && p->apart < 2) {
        all.largest = p->largest;
        snprintf(all.at, sizeof all.at, "%lld: %s", r->number, p->largest_at);
    }
    if (!p->first)
        return;
    if (p->apart == 1) {
        all.kinks++;
        printf("%lld: one batch differs: %s\n", r->number, p->first);
        return;
    }
    all.differ++;
    printf("%lld: %d batches differ: %s\n", r->number, p->apart, p->first);
    if (folder)
        random_keep(r, folder);
}

int main(int argc, char **argv)
{
    struct random_net *r = calloc(1, sizeof *r);

    setvbuf(stdout, NULL, _IOLBF, 0);
    while (random_read(r)) {
        r->diag.arena = &r->arena;
        if (random_open(r)) {
            random_compare(r, argc > 1 ? argv[1] : NULL);
        } else {
            all.refused++;
            if (argc > 2)
                cr_diag_print(&r->diag, stdout, (struct cr_diag_format){ 0 });
        }
        cr_arena_free(&r->arena);
        *r = (struct random_net){ 0 };
        if (all.networks % 1000 == 0 && all.networks > 0)
            fprintf(stderr, "%" PRId64 " networks, %" PRId64 " differ\n",
                    all.networks, all.differ);
    }
    free(r);
    printf("planned: %" PRId64 " networks, %" PRId64 " differ; %" PRId64
           " differ in one batch, %" PRId64 " are not finite, %" PRId64
           " were refused\n",
           all.networks, all.differ, all.kinks, all.odd, all.refused);
    printf("planned: %" PRId64 " tensors, %" PRId64
           " of the same bytes; the largest deviation is %.3g of the "
           "tolerance (%s)\n",
           all.compared, all.equal, all.largest, all.at);
    return all.differ > 0 || all.networks == 0;
}
