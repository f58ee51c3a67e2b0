#include "kernels/kernel.h"

#include <string.h>

#include "base/compiler.h"
#include "kernels/blas.h"

static const struct cr_kernels *const families[] = {
    &cr_kernels_conv,      &cr_kernels_gemm,      &cr_kernels_gemm_low,
    &cr_kernels_row,       &cr_kernels_softmax,   &cr_kernels_gelu,
    &cr_kernels_exp,       &cr_kernels_sdpa,      &cr_kernels_rnn,
    &cr_kernels_max_pool,  &cr_kernels_mean_pool, &cr_kernels_channel,
    &cr_kernels_transpose,
};

static const char *preferred;

static bool is_available(const struct cr_kernel *k)
{
    return k->isa <= cr_isa() && (!k->blas || strcmp(k->blas, cr_blas()) == 0);
}

bool cr_kernel_is_preferred(const struct cr_kernel *k)
{
    return preferred && strcmp(k->name, preferred) == 0;
}

const struct cr_kernel *cr_kernel_choose(const struct cr_kernels *family,
                                         const void *what)
{
    const struct cr_kernel *const *row, *best = NULL;

    for (row = family->rows; *row; row++) {
        if (!is_available(*row) || ((*row)->accepts && !(*row)->accepts(what)))
            continue;
        if (cr_kernel_is_preferred(*row))
            return *row;
        if (!best || cr_kernel_compare(*row, best, what) > 0)
            best = *row;
    }
    return best;
}

bool cr_kernel_prefers(const struct cr_kernels *family)
{
    int i;

    for (i = 0; family->rows[i]; i++)
        if (cr_kernel_is_preferred(family->rows[i]))
            return true;
    return false;
}

const struct cr_kernel *cr_kernel_at(int i)
{
    size_t f;
    int k;

    for (f = 0; f < CR_LEN(families); f++)
        for (k = 0; families[f]->rows[k]; k++)
            if (i-- == 0)
                return families[f]->rows[k];
    return NULL;
}

bool cr_kernel_prefer(const char *name)
{
    const struct cr_kernel *k;
    int i;

    preferred = NULL;
    for (i = 0; name && (k = cr_kernel_at(i)); i++)
        if (strcmp(k->name, name) == 0 && k->isa <= cr_isa() &&
            (!k->blas || cr_blas_force(k->name) || cr_blas_force(k->blas))) {
            preferred = k->name;
            return true;
        }
    return !name;
}
