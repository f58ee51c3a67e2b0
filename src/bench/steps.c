#include "bench/bench.h"

#include <stdlib.h>

#include "num/rng.h"
#include "train/gradient.h"
#include "train/step_plan.h"

/* ---- Data */

/* Random numbers; integers are 0 until a plan gives their range. */
void cr_bench_data(struct cr_bench_job *j, int64_t batch)
{
    struct cr_arena *arena = j->cli->arena;
    int64_t i, n;
    int c;

    j->data = CR_NEWS(arena, void *, j->model.n_columns + 1);
    for (c = 0; c < j->model.n_columns; c++) {
        const struct cr_spec *spec = &j->model.columns[c].spec;
        struct cr_rng rng =
            cr_rng(j->model.seed, CR_STREAM_TEST, (uint64_t)c, 0);

        n = batch * cr_count(spec);
        j->data[c] = cr_alloc(arena, (size_t)n + 1, cr_type_size(spec->type));
        for (i = 0; i < n; i++)
            if (spec->type == CR_REAL)
                ((cr_real *)j->data[c])[i] =
                    (cr_real)cr_rng_normal(&rng, (uint64_t)i);
            else if (spec->type == CR_U8)
                ((unsigned char *)j->data[c])[i] =
                    (unsigned char)cr_rng_u32(&rng, (uint64_t)i);
    }
}

/* Fills integers over the range that the plan accepts, so that look-ups are
 * spread as in a run. */
static void bench_integers(struct cr_bench_job *j, const struct cr_exec *e,
                           int64_t batch)
{
    int c;

    for (c = 0; c < j->model.n_columns; c++) {
        const struct cr_spec *spec = &j->model.columns[c].spec;
        struct cr_rng rng =
            cr_rng(j->model.seed, CR_STREAM_TEST, (uint64_t)c, 1);
        int64_t i, low, high, n = batch * cr_count(spec);
        int32_t *v = j->data[c];

        if (spec->type != CR_I32 || !cr_exec_range(e, c, &low, &high))
            continue;
        for (i = 0; i < n; i++)
            v[i] = (int32_t)(low + (int64_t)(cr_rng_u32(&rng, (uint64_t)i) %
                                             (uint64_t)(high - low)));
    }
}

/* ---- Steps */

/* Leaves the parameters unchanged. Not 0, because libraries return early for
 * it. */
#define RATE 1e-9

bool cr_bench_steps(struct cr_exec *e, const struct cr_bench_train *train,
                    int64_t n, struct cr_diag *diag)
{
    double norm;
    int64_t i;
    bool ok;

    for (i = 0; i < n; i++) {
        cr_exec_forward(e, 1);
        if (diag && !cr_exec_check_faults(e, diag))
            return false;
        ok = !train || cr_exec_backward(e, 1, RATE);
        if ((diag && !cr_exec_check_faults(e, diag)) || !ok)
            return false;
        if (train && train->separate)
            cr_gradient_apply(e, &train->section, 1, RATE, 0,
                              train->norm ? &norm : NULL);
    }
    return true;
}

/* A plan for training or prediction, fed; NULL after reporting. */
struct cr_exec *cr_bench_plan(struct cr_bench_job *j, bool train, bool shared,
                              int64_t batch, struct cr_bench_train *how)
{
    struct cr_exec_opts want = cr_plans_predict(batch, true);
    struct cr_log_section log = { 0 };
    struct cr_exec *e;
    int c;

    if (train && (!cr_plans_train_of(j->model.config, &j->model.optim,
                                     &how->section, &want) ||
                  !cr_section_read(j->model.config, "log", &log)))
        return NULL;
    how->separate = want.separate_update;
    how->norm = log.grad_norm;
    want.batch = batch;
    want.shared = shared;
    e = cr_net_exec(j->model.net, &want);
    if (!e)
        return NULL;
    bench_integers(j, e, batch);
    for (c = 0; c < j->model.n_columns; c++)
        cr_exec_feed(e, c, j->data[c]);
    return e;
}
