/*
 * Gradients between backward and update: clipped as MindSpore clips them
 * (tests/golden/make_clip.py), and with noise.
 */
#include "base/thread_pool.h"
#include "ckpt/checkpoint.h"
#include "run/run.h"
#include "nets.h"

static const struct shape vector = { .x = { .rank = 1, .dim = { 6 } },
                                     .classes = 3 };
static const char text[] =
    "network:\n  a: {Dense: [6, 5]}\n  r: ReLU\n  b: {Dense: [5, 3]}\n"
    "loss: CrossEntropyLoss\n"
    "optimizer: {SGD: {learning_rate: 1.0}}\n";

/* A network of which backward has been run. */
struct ready {
    struct made m;
    struct cr_exec *e;
    struct cr_tensor_file *file;
};

static void begin(struct ready *r)
{
    static const struct cr_exec_opts want = { .training = true,
                                              .update = true,
                                              .separate_update = true };

    made_ok(&r->m, text, vector, 4);
    r->e = made_exec(&r->m, want);
    cr_exec_forward(r->e, 1);
    cr_exec_backward(r->e, 1, 0);
    r->file = cr_tensor_file_open(&r->m.arena, &r->m.diag,
                                  "tests/golden/clip.safetensors");
}

static void end(struct ready *r)
{
    cr_tensor_file_close(r->file);
    cr_exec_free(r->e);
    made_free(&r->m);
}

/* The gradient of update k, and its parameter; NULL after the last. */
static cr_real *gradient(struct ready *r, int k, const struct cr_param **p)
{
    const struct cr_exec_step *s;

    if (r->e->n_backward + k >= r->e->n_steps)
        return NULL;
    s = r->e->steps[r->e->n_backward + k];
    *p = &r->m.net->params[s->param];
    return (cr_real *)(uintptr_t)s->run->dy[0];
}

static const cr_real *golden(struct ready *r, const char *kind,
                             const struct cr_param *p)
{
    const struct cr_tensor_info *e = cr_tensor_file_find(
        r->file, cr_strf(&r->m.arena, "%s.%s", kind, p->name));
    cr_real *v = CR_NEWS(&r->m.arena, cr_real, cr_count(&p->spec));

    if (!e || cr_count(&e->spec) != cr_count(&p->spec) ||
        !cr_tensor_file_read(r->file, &r->m.diag, e, CR_REAL, v))
        return NULL;
    return v;
}

static void put(struct ready *r)
{
    const struct cr_param *p;
    cr_real *g;

    for (int k = 0; (g = gradient(r, k, &p)) != NULL; k++)
        memcpy(g, golden(r, "grad", p), cr_bytes(&p->spec));
}

/* The largest deviation of the gradients times `scale`, relative to their
 * bounds; infinite when there are none. */
static double apart(struct ready *r, const char *kind, double scale)
{
    const struct cr_param *p;
    double most = 0;
    cr_real *g;
    int k;

    for (k = 0; (g = gradient(r, k, &p)) != NULL; k++) {
        const cr_real *want = golden(r, kind, p);

        for (int64_t i = 0; i < cr_count(&p->spec); i++)
            most = fmax(most, fabs((double)g[i] * scale - (double)want[i]));
    }
    return k == 4 ? most : INFINITY;
}

static void clips(void)
{
    struct ready r;
    double norm;

    begin(&r);
    put(&r);
    ok(apart(&r, "each", 1) > 1, "they are longer before");
    cr_exec_clip_per_param(r.e, 0.7);
    ok(apart(&r, "each", 1) < 2e-7, "each by itself: %g from MindSpore's",
       apart(&r, "each", 1));
    put(&r);
    norm = cr_exec_norm(r.e);
    ok(norm > 7 && apart(&r, "global", 0.7 / norm) < 2e-7,
       "all together: %g from MindSpore's", apart(&r, "global", 0.7 / norm));
    put(&r);
    cr_exec_clip_value(r.e, -0.25, 0.25);
    ok(apart(&r, "value", 1) == 0, "by value");
    end(&r);
}

/* g scale + N(0, deviation^2), and nothing else. */
static void noise(void)
{
    struct ready r, s;
    const struct cr_param *p;
    double mean = 0, square = 0, across = 0;
    cr_real *g, *h;
    int64_t n = 0;
    bool same = true, other = false;

    begin(&r);
    put(&r);
    cr_exec_noise(r.e, 0.5, 0, 3);
    for (int k = 0; (g = gradient(&r, k, &p)) != NULL; k++) {
        const cr_real *want = golden(&r, "grad", p);

        for (int64_t i = 0; i < cr_count(&p->spec); i++)
            same = same && g[i] == (cr_real)(0.5 * (double)want[i]);
    }
    ok(same, "no deviation: the gradient times the scale");
    /* a different update each time: 2000 draws of 53 numbers */
    for (int64_t t = 0; t < 2000; t++) {
        double before = 0;

        for (int k = 0; (g = gradient(&r, k, &p)) != NULL; k++)
            memset(g, 0, cr_bytes(&p->spec));
        cr_exec_noise(r.e, 1, 0.1, t);
        for (int k = 0; (g = gradient(&r, k, &p)) != NULL; k++)
            for (int64_t i = 0; i < cr_count(&p->spec); i++, n++) {
                mean += (double)g[i];
                square += (double)g[i] * (double)g[i];
                across += (double)g[i] * before;
                before = (double)g[i];
            }
    }
    ok(n == 2000 * 53 && fabs(mean / (double)n) < 0.1 * 0.02 &&
           fabs(sqrt(square / (double)n) - 0.1) < 0.1 * 0.01 &&
           fabs(across / (double)n) < 0.01 * 0.02,
       "mean %.4f, deviation %.4f, neighbours %.5f", mean / (double)n,
       sqrt(square / (double)n), across / (double)n);
    cr_thread_pool_start(3);
    begin(&s);
    put(&s);
    cr_exec_noise(s.e, 1, 0.1, 7);
    cr_thread_pool_stop();
    put(&r);
    cr_exec_noise(r.e, 1, 0.1, 7);
    same = true;
    for (int k = 0; (g = gradient(&r, k, &p)) != NULL; k++) {
        h = gradient(&s, k, &p);
        same = same && memcmp(g, h, cr_bytes(&p->spec)) == 0;
    }
    ok(same, "the same for an update, whatever the number of threads");
    put(&s);
    cr_exec_noise(s.e, 1, 0.1, 8);
    for (int k = 0; (g = gradient(&r, k, &p)) != NULL; k++) {
        h = gradient(&s, k, &p);
        other = other || memcmp(g, h, cr_bytes(&p->spec)) != 0;
    }
    ok(other, "another one for the next");
    end(&s);
    end(&r);
}

int main(void)
{
    clips();
    noise();
    return done();
}
