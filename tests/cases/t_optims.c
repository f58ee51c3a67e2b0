/*
 * Every optimizer of the registry against tests/cases/optims/NAME.yaml:
 *
 *   name: what it shows
 *   opts: {...}         the optimizer's options
 *   w: [...]            a parameter
 *   g: [[...], [...]]   its gradient at each update
 *   after: [[...], ...] the parameter after each update
 *   slots: {accum: [...]}  after the last one
 *   error: TEXT         the options must be refused with this in the message
 *
 * Each case runs in one piece and in two, as threads would share it.
 */
#include "case.h"
#include "train/optim.h"

#define CR_OPTIM(x) extern const struct cr_optim cr_optim_##x;
#include "registry_pass.h"

static const struct {
    const char *leaf;
    const struct cr_optim *optim;
} optims[] = {
#define CR_OPTIM(x) { #x, &cr_optim_##x },
#include "registry_pass.h"
};

static cr_real *numbers(struct cr_arena *mem, const struct cr_node *list)
{
    cr_real *v = CR_NEWS(mem, cr_real, cr_node_count(list) + 1);
    int i = 0;

    for (CR_EACH(m, list))
        v[i++] = (cr_real)m->real;
    return v;
}

static void update(const struct cr_optim *optim, struct cr_update u,
                   int64_t pieces)
{
    int64_t n = u.n;

    for (int64_t k = 0; k < pieces; k++) {
        struct cr_update part = u;
        int64_t from = n * k / pieces;

        part.n = n * (k + 1) / pieces - from;
        part.w += from;
        part.g += from;
        for (int s = 0; s < optim->slots; s++)
            part.slot[s] += from;
        optim->update(&part);
    }
}

static void run_updates(const struct cr_optim *optim,
                        const struct cr_node *c, const void *opts,
                        const struct cr_lr *lr, int64_t pieces,
                        struct cr_arena *mem)
{
    const struct cr_optim_common *common = opts;
    const struct cr_node *after = cr_node_get(c, "after")->child;
    const char *name = cr_strf(mem, "%s, %s, %lld piece(s)",
                               optim->about.name, case_name(c),
                               (long long)pieces);
    struct cr_update u = { .opts = opts, .scale = 1,
                           .n = cr_node_count(cr_node_get(c, "w")),
                           .w = numbers(mem, cr_node_get(c, "w")),
                           .weight_decay = common->weight_decay };

    for (int s = 0; s < optim->slots; s++) {
        u.slot[s] = CR_NEWS(mem, cr_real, u.n);
        for (int64_t i = 0; i < u.n; i++)
            u.slot[s][i] = (cr_real)optim->slot_start[s];
    }
    for (CR_EACH(g, cr_node_get(c, "g"))) {
        u.g = numbers(mem, g);
        u.lr = cr_lr_at(lr, u.t++);
        update(optim, u, pieces);
        if (!ok(after && cr_node_count(after) == u.n &&
                    case_near("w", u.w, numbers(mem, after), u.n,
                              CASE_TOLERANCE),
                "%s: after update %lld", name, (long long)u.t))
            return;
        after = after->next;
    }
    for (int s = 0; s < optim->slots; s++) {
        const struct cr_node *want = cr_node_get(
            cr_node_get(c, "slots"), optim->slot_names[s]);

        if (want)
            ok(case_near(optim->slot_names[s], u.slot[s], numbers(mem, want),
                         u.n, CASE_TOLERANCE), "%s: %s", name,
               optim->slot_names[s]);
        else
            ok(optim->plain && optim->plain(opts),
               "%s: only a plain rule needs no slots", name);
    }
}

static void run_case(const struct cr_optim *optim, const struct cr_node *c)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    struct cr_node root = { .kind = CR_NODE_MAP };
    struct cr_config config = { .arena = &mem, .diag = &diag, .root = &root };
    const struct cr_node *error = cr_node_get(c, "error");
    struct cr_optim_common *opts = cr_alloc(&mem, 1, optim->about.size);
    struct cr_lr lr;
    bool good = cr_opts_read(&mem, &diag, &optim->about,
                             cr_node_get(c, "opts"), c->pos, opts) &&
                cr_lr_read(&config, &opts->learning_rate, &lr) &&
                (!optim->check || optim->check(&diag, c->pos, opts));

    if (error) {
        ok(!good, "%s, %s: refused", optim->about.name, case_name(c));
        same(diag.first ? diag.first->text : NULL, error->text,
             "the message");
    } else if (ok(good, "%s, %s: read", optim->about.name, case_name(c))) {
        run_updates(optim, c, opts, &lr, 1, &mem);
        run_updates(optim, c, opts, &lr, 2, &mem);
    }
    cr_arena_free(&mem);
}

int main(void)
{
    for (size_t i = 0; i < CR_LEN(optims); i++) {
        struct case_file f;

        if (case_open(&f, "optims", optims[i].leaf))
            for (CR_EACH(c, f.root))
                run_case(optims[i].optim, c);
        case_close(&f);
    }
    return done();
}
