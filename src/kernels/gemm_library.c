/*
 * What all libraries of products need here: they are opened at first need and
 * compute a rectangle of c; what follows the product comes after it.
 *
 * Linked, they would cost every run their start (OpenBLAS: threads and 32 MiB
 * per thread), and under a limit of the address space OpenBLAS 0.3.21 hangs
 * while it is loaded: so we look first.
 */
#include "kernels/gemm_library.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/resource.h>

/* Room that a library wants for itself and its working memory. */
#define LIBRARY_BYTES ((rlim_t)1 << 30)

void *cr_gemm_library_open(const char *name)
{
    struct rlimit as;

    return getrlimit(RLIMIT_AS, &as) != 0 || as.rlim_cur >= LIBRARY_BYTES
               ? dlopen(name, RTLD_NOW | RTLD_LOCAL)
               : NULL;
}

/* POSIX lets dlsym's result be a function; ISO C has no cast for it. */
bool cr_gemm_library_find(void *handle, const char *name, void *function)
{
    void *p = dlsym(handle, name);

    memcpy(function, &p, sizeof p);
    return p != NULL;
}

cr_real cr_gemm_finished(const struct cr_gemm *g, int64_t i, int64_t j,
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

struct cr_gemm_piece cr_gemm_piece(const struct cr_gemm *g, int task,
                                   int n_tasks)
{
    struct cr_gemm_piece s = { .m = g->m, .n = g->n };
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

void cr_gemm_finish(const struct cr_gemm *g, const struct cr_gemm_piece *s)
{
    int64_t i, j;

    if (g->bias || g->act != CR_ACT_NONE || g->mask)
        for (i = 0; i < s->m; i++)
            for (j = 0; j < s->n; j++)
                s->c[i * g->n + j] = cr_gemm_finished(g, s->i + i, s->j + j,
                                                      s->c[i * g->n + j]);
    cr_gemm_post_ops(g, s->i, s->i + s->m, s->j, s->j + s->n);
}
