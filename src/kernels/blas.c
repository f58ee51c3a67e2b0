/*
 * Who computes a product.
 *
 * Our own kernels do wherever the processor has AVX2 or AVX-512, and in
 * double. Both libraries are made for large matrices: they pack both operands
 * in every call, which for a batch of 64 rows costs a tenth of the product and
 * more, know neither bias, ReLU nor mask, and do not promise the same bytes
 * for another split. Our kernels read a weight where it lies, apply the rest
 * of the formula to what is still in registers, and give the same bytes for
 * any number of threads. Elsewhere (ISA generic, float) a library's kernels
 * are better than ours in vectors of 16 bytes: oneDNN if it is installed,
 * else OpenBLAS, else ours.
 *
 * Libraries are opened at first need. Linked, they would cost every run their
 * start (OpenBLAS: threads and 32 MiB per thread), and under a limit of the
 * address space OpenBLAS 0.3.21 hangs while it is loaded: so we look first.
 * It also misjudges processors newer than itself, and must be told what to
 * take before its constructor runs. The choice depends on the processor and
 * the installation, never on a timing, or the same run would not give the same
 * bytes. CELLRUN_BLAS=own, onednn, openblas or plain forces
 * one; plain is the loop that explains, and the oracle of the tests.
 */
#include "kernels/blas.h"

#include <assert.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/cpu.h"
#include "base/thread_pool.h"
#include "kernels/gemm.h"

/* Multiply-adds below which a second thread costs more than it brings. */
#define SERIAL_MACS 150000

/* Room that a library wants for itself and its working memory. */
#define LIBRARY_BYTES ((rlim_t)1 << 30)

void cr_gemm_range(int64_t n, int64_t step, int part, int parts, int64_t *from,
                   int64_t *to)
{
    int64_t steps = (n + step - 1) / step;

    *from = steps * part / parts * step;
    *to = steps * (part + 1) / parts * step;
    if (*from > n)
        *from = n;
    if (*to > n)
        *to = n;
}

/* ---- what follows the product, for those that know only products ---- */

static cr_real finished(const struct cr_gemm *g, int64_t i, int64_t j,
                        cr_real y)
{
    if (g->bias)
        y += g->bias[j];
    if (g->act == CR_ACT_RELU && y < 0)
        y = 0;
    if (g->mask && g->mask[i * g->n + j] <= 0)
        y = 0;
    return y;
}

/* ---- plain ---- */

static void plain_part(const struct cr_gemm *g, int task, int n_tasks)
{
    int64_t a_row = g->ta == CR_N ? g->k : 1, a_p = g->ta == CR_N ? 1 : g->m;
    int64_t b_p = g->tb == CR_N ? g->n : 1, b_col = g->tb == CR_N ? 1 : g->k;
    int64_t i, j, p, from, to;

    cr_gemm_range(g->n, 1, task, n_tasks, &from, &to);
    for (i = 0; i < g->m; i++)
        for (j = from; j < to; j++) {
            cr_real *c = &g->c[i * g->n + j], sum = 0;

            for (p = 0; p < g->k; p++)
                sum += g->a[i * a_row + p * a_p] * g->b[p * b_p + j * b_col];
            *c = finished(g, i, j, g->alpha * sum + (g->accumulate ? *c : 0));
        }
}

/* ---- libraries ---- */

#ifdef CR_DOUBLE
#define CBLAS_GEMM "cblas_dgemm"
#else
#define CBLAS_GEMM "cblas_sgemm"
#endif

enum {
    CBLAS_ROWS = 101,
    CBLAS_N = 111,
    CBLAS_T = 112
};

/* Filled in once, by choose. */
static struct {
    void (*cblas)(int order, int ta, int tb, int m, int n, int k, cr_real alpha,
                  const cr_real *a, int lda, const cr_real *b, int ldb,
                  cr_real beta, cr_real *c, int ldc);
    int (*onednn)(char ta, char tb, int64_t m, int64_t n, int64_t k,
                  float alpha, const float *a, int64_t lda, const float *b,
                  int64_t ldb, float beta, float *c, int64_t ldc);
    void (*omp_threads)(int n);
} library;

/* POSIX lets dlsym's result be a function; ISO C has no cast for it. */
static bool find(void *handle, const char *name, void *function)
{
    void *p = dlsym(handle, name);

    memcpy(function, &p, sizeof p);
    return p != NULL;
}

static bool have_room(void)
{
    struct rlimit as;

    return getrlimit(RLIMIT_AS, &as) != 0 || as.rlim_cur >= LIBRARY_BYTES;
}

static bool open_openblas(void)
{
    enum cr_isa isa = cr_isa();
    void *handle;

    if (!have_room())
        return false;
    if (isa != CR_ISA_GENERIC)
        setenv("OPENBLAS_CORETYPE",
               isa == CR_ISA_AVX512 ? "SkylakeX" : "Haswell", 0);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    handle = dlopen("libopenblas.so.0", RTLD_NOW | RTLD_LOCAL);
    return handle && find(handle, CBLAS_GEMM, &library.cblas);
}

#ifdef CR_DOUBLE

static bool open_onednn(void)
{
    return false;
}

static void onednn_part(const struct cr_gemm *g, int task, int n_tasks)
{
    plain_part(g, task, n_tasks);
}

#else

static bool open_onednn(void)
{
    void *handle;

    if (!have_room())
        return false;
    handle = dlopen("libdnnl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        handle = dlopen("libdnnl.so.3", RTLD_NOW | RTLD_LOCAL);
    if (!handle || !find(handle, "dnnl_sgemm", &library.onednn))
        return false;
    find(handle, "omp_set_num_threads", &library.omp_threads);
    return true;
}

#endif

/* The rectangle of c that a part computes, and where its operands begin. */
struct piece {
    int64_t i, j, m, n;
    const cr_real *a, *b;
    cr_real *c;
};

static struct piece piece(const struct cr_gemm *g, int task, int n_tasks)
{
    struct piece s = { .m = g->m, .n = g->n };
    int64_t end;

    if (g->n >= g->m) {
        cr_gemm_range(g->n, 16, task, n_tasks, &s.j, &end);
        s.n = end - s.j;
    } else {
        cr_gemm_range(g->m, 16, task, n_tasks, &s.i, &end);
        s.m = end - s.i;
    }
    s.a = g->a + (g->ta == CR_N ? s.i * g->k : s.i);
    s.b = g->b + (g->tb == CR_N ? s.j : s.j * g->k);
    s.c = g->c + s.i * g->n + s.j;
    return s;
}

static void finish(const struct cr_gemm *g, const struct piece *s)
{
    int64_t i, j;

    if (!g->bias && g->act == CR_ACT_NONE && !g->mask)
        return;
    for (i = 0; i < s->m; i++)
        for (j = 0; j < s->n; j++)
            s->c[i * g->n + j] =
                finished(g, s->i + i, s->j + j, s->c[i * g->n + j]);
}

static void openblas_part(const struct cr_gemm *g, int task, int n_tasks)
{
    struct piece s = piece(g, task, n_tasks);

    if (g->m > INT_MAX || g->n > INT_MAX || g->k > INT_MAX || g->k == 0) {
        cr_gemm_portable(g, task, n_tasks);
        return;
    }
    if (s.m == 0 || s.n == 0)
        return;
    library.cblas(CBLAS_ROWS, g->ta == CR_N ? CBLAS_N : CBLAS_T,
                  g->tb == CR_N ? CBLAS_N : CBLAS_T, (int)s.m, (int)s.n,
                  (int)g->k, g->alpha, s.a, (int)(g->ta == CR_N ? g->k : g->m),
                  s.b, (int)(g->tb == CR_N ? g->n : g->k),
                  g->accumulate ? 1 : 0, s.c, (int)g->n);
    finish(g, &s);
}

#ifndef CR_DOUBLE

/* OpenMP's threads would spin against the pool's: each caller is set to stay
 * alone, which OpenMP remembers per thread. */
static void onednn_part(const struct cr_gemm *g, int task, int n_tasks)
{
    static _Thread_local bool alone;
    struct piece s = piece(g, task, n_tasks);

    if (!alone && library.omp_threads)
        library.omp_threads(1);
    alone = true;
    if (g->k == 0) {
        cr_gemm_portable(g, task, n_tasks);
        return;
    }
    if (s.m == 0 || s.n == 0)
        return;
    library.onednn(g->ta == CR_N ? 'N' : 'T', g->tb == CR_N ? 'N' : 'T', s.m,
                   s.n, g->k, g->alpha, s.a, g->ta == CR_N ? g->k : g->m, s.b,
                   g->tb == CR_N ? g->n : g->k, g->accumulate ? 1 : 0, s.c,
                   g->n);
    finish(g, &s);
}

#endif

/* ---- the choice ---- */

static struct {
    cr_gemm_part *part;
    cr_sum_part *sum;
    const char *name;
    size_t room;
    bool low; /* products of bfloat16 have a kernel */
} chosen;
static pthread_once_t choosing = PTHREAD_ONCE_INIT;

static void take(cr_gemm_part *part, cr_sum_part *sum, const char *name)
{
    chosen.part = part;
    chosen.sum = sum;
    chosen.name = name;
    chosen.room =
        cr_gemm_thread_scratch_portable; /* libraries leave k = 0 to it */
    chosen.low = false;
}

static void take_own(void)
{
#if defined(__x86_64__) && !defined(CR_DOUBLE)
    switch (cr_isa()) {
    case CR_ISA_AVX512:
        take(cr_gemm_avx512, cr_sum_avx512, "own avx512");
        chosen.room = cr_gemm_thread_scratch_avx512;
        chosen.low = cr_gemm_has_bf16();
        if (chosen.low && chosen.room < cr_gemm_thread_scratch_bf16)
            chosen.room = cr_gemm_thread_scratch_bf16;
        return;
    case CR_ISA_AVX2:
        take(cr_gemm_avx2, cr_sum_avx2, "own avx2");
        chosen.room = cr_gemm_thread_scratch_avx2;
        return;
    case CR_ISA_GENERIC:
        break;
    }
#endif
    take(cr_gemm_portable, cr_sum_portable, "own generic");
}

static bool take_named(const char *want)
{
    if (strcmp(want, "own") == 0)
        take_own();
    else if (strcmp(want, "plain") == 0)
        take(plain_part, cr_sum_portable, "plain");
    else if (strcmp(want, "onednn") == 0 && open_onednn())
        take(onednn_part, cr_sum_portable, "oneDNN");
    else if (strcmp(want, "openblas") == 0 && open_openblas())
        take(openblas_part, cr_sum_portable, "OpenBLAS");
    else
        return false;
    return true;
}

static void choose(void)
{
    const char *want = getenv("CELLRUN_BLAS");

    if (want && *want) {
        if (take_named(want))
            return;
        fprintf(stderr,
                "cellrun: CELLRUN_BLAS=%s is not available; use own or plain, "
                "or onednn or openblas where installed (they need an unlimited "
                "address space)\n",
                want);
        exit(1);
    }
    if (sizeof(cr_real) != sizeof(float) || cr_isa() != CR_ISA_GENERIC)
        take_own();
    else if (open_onednn())
        take(onednn_part, cr_sum_portable, "oneDNN");
    else if (open_openblas())
        take(openblas_part, cr_sum_portable, "OpenBLAS");
    else
        take_own();
}

const char *cr_blas_name(void)
{
    pthread_once(&choosing, choose);
    return chosen.name;
}

const char *cr_gemm_kernel_name(void)
{
    const char *name = cr_blas_name();

    return strcmp(name, "oneDNN") == 0     ? "gemm_onednn"
           : strcmp(name, "OpenBLAS") == 0 ? "gemm_openblas"
           : strcmp(name, "plain") == 0    ? "gemm_plain"
                                           : "gemm";
}

bool cr_blas_own(void)
{
    return strncmp(cr_blas_name(), "own", 3) == 0;
}

bool cr_blas_force(const char *name)
{
    pthread_once(&choosing, choose);
    return take_named(name);
}

size_t cr_gemm_thread_scratch(void)
{
    pthread_once(&choosing, choose);
    return chosen.room;
}

bool cr_gemm_low(void)
{
    pthread_once(&choosing, choose);
    return chosen.low;
}

/* ---- products and sums ---- */

struct job {
    const struct cr_gemm *g;
    int count;
};

static void gemms_part(void *ctx, int task, int n_tasks)
{
    const struct job *job = ctx;
    int i;

    for (i = 0; i < job->count; i++)
        if (job->g[i].m > 0 && job->g[i].n > 0)
            (job->g[i].bf16 ? cr_gemm_bf16 : chosen.part)(&job->g[i], task,
                                                          n_tasks);
}

void cr_gemms(const struct cr_gemm *g, int count)
{
    struct job job = { g, count };
    double macs = 0;
    int i;

    pthread_once(&choosing, choose);
    for (i = 0; i < count; i++) {
        assert(g[i].m >= 0 && g[i].n >= 0 && g[i].k >= 0);
        assert(chosen.low || !g[i].bf16);
        assert(g[i].bf16 || !g[i].round);
        macs += (double)g[i].m * (double)g[i].n * (double)g[i].k;
    }
    cr_parallel_run(gemms_part, &job,
                    macs < SERIAL_MACS ? 1 : cr_thread_count());
}

struct cr_gemm cr_product(enum cr_trans ta, enum cr_trans tb, int64_t m,
                          int64_t n, int64_t k, const cr_real *a,
                          const cr_real *b, bool add, cr_real *c)
{
    return (struct cr_gemm){ .ta = ta,
                             .tb = tb,
                             .m = m,
                             .n = n,
                             .k = k,
                             .a = a,
                             .b = b,
                             .alpha = 1,
                             .accumulate = add,
                             .c = c };
}

void cr_gemm(enum cr_trans ta, enum cr_trans tb, int64_t m, int64_t n,
             int64_t k, const cr_real *a, const cr_real *b, bool add,
             cr_real *c)
{
    struct cr_gemm g = cr_product(ta, tb, m, n, k, a, b, add, c);

    cr_gemms(&g, 1);
}

void cr_sum_rows(int64_t n, int64_t cols, const cr_real *x, cr_real alpha,
                 bool add, cr_real *to)
{
    pthread_once(&choosing, choose);
    chosen.sum(n, cols, x, alpha, add, to);
}
