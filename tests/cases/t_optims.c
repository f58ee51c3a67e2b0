/*
 * Every optimizer of the registry against tests/cases/optims/NAME.yaml:
 *
 *   name: what it shows
 *   opts: {...}         the optimizer's options
 *   w: [...]            a parameter
 *   g: [[...], [...]]   its gradient at each update
 *   after: [[...], ...] the parameter after each update
 *   slots: {accum: [...]}  after the last one
 *   golden: TENSOR      of tests/golden/optims.safetensors: the parameter `w`
 *                       after 20 updates by `g`, and TENSOR.SLOT
 *   within: 1e-5        of the largest value, if not 2e-6 (2e-5 in doubles,
 *                       where 1 - beta is not that of a float32 beta)
 *   error: TEXT         the options must be refused with this in the message
 *
 * Each case runs in one piece and in two, as threads would share it.
 */
#include "case.h"
#include "ckpt/checkpoint.h"
#include "train/optim.h"

#define CR_OPTIM(x) extern const struct cr_optim cr_optim_##x;
#include "registry_pass.h"

#ifdef CR_DOUBLE
#define WITHIN 2e-5
#else
#define WITHIN 2e-6
#endif

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

/* One number for the whole parameter, or one for each of its elements. */
static int64_t slot_size(const struct cr_optim *optim, int slot, int64_t n)
{
    return optim->scalars & 1u << slot ? 1 : n;
}

/* As the engine does it (run/update.c), in `pieces`. */
static void update(const struct cr_optim *optim, struct cr_update u,
                   int64_t pieces)
{
    int64_t n = u.n;

    for (int pass = optim->reduce ? 0 : 1; pass < 2; pass++)
        for (int64_t k = 0; k < pieces; k++) {
            struct cr_update part = u;
            double sum[CR_SUMS_MAX] = { 0 };
            int64_t from = n * k / pieces;

            part.n = n * (k + 1) / pieces - from;
            part.w += from;
            part.g += from;
            for (int s = 0; s < CR_SLOTS_MAX; s++)
                if (part.slot[s] && slot_size(optim, s, n) == n)
                    part.slot[s] += from;
            if (pass == 1)
                optim->update(&part);
            else
                optim->reduce(&part, sum);
            for (int s = 0; s < CR_SUMS_MAX; s++)
                u.sum[s] += sum[s];
        }
    if (optim->finish)
        optim->finish(&u);
}

/* Whose slots they are. */
static const struct cr_optim *inner_of(const struct cr_optim *optim,
                                       const void *opts)
{
    return optim->inner ? (const struct cr_optim *)optim->inner(opts)->about
                        : optim;
}

static int slots_begin(const struct cr_optim *optim, const void *opts,
                       struct cr_update *u, struct cr_arena *mem)
{
    const struct cr_optim *own = inner_of(optim, opts);
    int slots = own->count ? own->count(opts) : own->slots;

    for (int s = 0; s < slots; s++) {
        double start = own->start ? own->start(opts, s) : own->slot_start[s];
        int64_t n = slot_size(own, s, u->n);

        u->slot[s] = CR_NEWS(mem, cr_real, n);
        for (int64_t i = 0; i < n; i++)
            u->slot[s][i] = (cr_real)start;
    }
    return slots;
}

static const struct cr_optim_common *common_of(const struct cr_optim *optim,
                                               const void *opts)
{
    return optim->inner ? optim->inner(opts)->opts : opts;
}

static void run_updates(const struct cr_optim *optim, const struct cr_node *c,
                        const void *opts, const struct cr_lr *lr,
                        int64_t pieces, struct cr_arena *mem)
{
    const struct cr_node *after = cr_node_get(c, "after")->child;
    const char *name = cr_strf(mem, "%s, %s, %lld piece(s)", optim->about.name,
                               case_name(c), (long long)pieces);
    struct cr_update u = { .opts = opts,
                           .scale = 1,
                           .n = cr_node_count(cr_node_get(c, "w")),
                           .w = numbers(mem, cr_node_get(c, "w")),
                           .weight_decay =
                               common_of(optim, opts)->weight_decay };
    int slots = slots_begin(optim, opts, &u, mem);
    const struct cr_optim *own = inner_of(optim, opts);

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
    for (int s = 0; s < slots; s++) {
        const struct cr_node *want =
            cr_node_get(cr_node_get(c, "slots"), own->slot_names[s]);

        if (want)
            ok(case_near(own->slot_names[s], u.slot[s], numbers(mem, want),
                         slot_size(own, s, u.n), CASE_TOLERANCE),
               "%s: %s", name, own->slot_names[s]);
        else
            ok(optim->plain && optim->plain(opts),
               "%s: only a plain rule needs no slots", name);
    }
}

/* ---- Twenty updates of a reference */

static const char golden_file[] = "tests/golden/optims.safetensors";

static cr_real *golden_read(struct cr_tensor_file *store, struct cr_diag *diag,
                            const char *name, int64_t n, struct cr_arena *mem)
{
    const struct cr_tensor_info *e = cr_tensor_file_find(store, name);
    cr_real *to = CR_NEWS(mem, cr_real, n + 1);

    if (!ok(e && cr_count(&e->spec) == n &&
                cr_tensor_file_read(store, diag, e, CR_REAL, to),
            "%s has %s", golden_file, name))
        return NULL;
    return to;
}

/* The largest deviation, as a part of the largest value. */
static double golden_off(const cr_real *got, const cr_real *want, int64_t n)
{
    double most = 0, size = 1e-30;

    for (int64_t i = 0; i < n; i++) {
        most = fmax(most, fabs((double)got[i] - (double)want[i]));
        size = fmax(size, fabs((double)want[i]));
        if (!isfinite((double)got[i]))
            return INFINITY;
    }
    return most / size;
}

static void run_golden(const struct cr_optim *optim, const struct cr_node *c,
                       const void *opts, const struct cr_lr *lr,
                       struct cr_diag *diag, struct cr_arena *mem)
{
    const char *name = cr_node_get(c, "golden")->text;
    struct cr_tensor_file *store = cr_tensor_file_open(mem, diag, golden_file);
    const struct cr_optim *own = inner_of(optim, opts);
    struct cr_update u = { .opts = opts,
                           .scale = 1,
                           .n = 85,
                           .weight_decay =
                               common_of(optim, opts)->weight_decay };
    const cr_real *g, *want;
    int slots = slots_begin(optim, opts, &u, mem);
    double most;

    if (!ok(store, "there is %s", golden_file))
        return;
    u.w = golden_read(store, diag, "w", u.n, mem);
    g = golden_read(store, diag, "g", 20 * u.n, mem);
    want = golden_read(store, diag, name, u.n, mem);
    if (u.w && g && want) {
        for (int i = 0; i < 20; i++) {
            u.g = g + i * u.n;
            u.lr = cr_lr_at(lr, u.t++);
            update(optim, u, 3);
        }
        most = golden_off(u.w, want, u.n);
        ok(most < case_number(c, "within", WITHIN),
           "%s, %s: after 20 updates off by %.2g", optim->about.name,
           case_name(c), most);
    }
    for (int s = 0; s < slots; s++) {
        int64_t n = slot_size(own, s, u.n);
        const char *slot = cr_strf(mem, "%s.%s", name, own->slot_names[s]);

        want = golden_read(store, diag, slot, n, mem);
        if (want)
            ok(golden_off(u.slot[s], want, n) <
                   case_number(c, "within", WITHIN),
               "%s, %s: %s off by %.2g", optim->about.name, case_name(c), slot,
               golden_off(u.slot[s], want, n));
    }
    cr_tensor_file_close(store);
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
    bool good =
        cr_opts_read(&mem, &diag, &optim->about, cr_node_get(c, "opts"), c->pos,
                     opts) &&
        (!optim->check || optim->check(&diag, c->pos, opts)) &&
        cr_lr_read(&config, &common_of(optim, opts)->learning_rate, &lr);

    if (error) {
        ok(!good, "%s, %s: refused", optim->about.name, case_name(c));
        same(diag.first ? diag.first->text : NULL, error->text, "the message");
    } else if (ok(good, "%s, %s: read", optim->about.name, case_name(c))) {
        if (cr_node_get(c, "golden"))
            run_golden(optim, c, opts, &lr, &diag, &mem);
        for (int pieces = 1; pieces <= 2 && cr_node_get(c, "w"); pieces++)
            run_updates(optim, c, opts, &lr, pieces, &mem);
    }
    cr_arena_free(&mem);
}

int main(void)
{
    for (size_t i = 0; i < CR_LEN(optims); i++) {
        struct case_file f;

        if (case_open(&f, "optims", optims[i].leaf))
            for (CR_EACH(c, f.root)) {
                case_begin(optims[i].optim->about.name, c);
                run_case(optims[i].optim, c);
            }
        case_close(&f);
    }
    return done();
}
