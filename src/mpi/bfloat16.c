#include "mpi/bfloat16.h"

#include "base/compiler.h"
#include "num/low_precision.h"

#define BLOCK 2048 /* elements that stay in the first cache */

CR_CLONES static void add(cr_real *to, const cr_real *x, int64_t n)
{
    CR_SIMD
    for (int64_t i = 0; i < n; i++)
        to[i] += x[i];
}

void cr_bf16_sum(cr_real *sum, int64_t n, const void *first, size_t stride,
                 int parts)
{
    cr_real one[BLOCK];
    int64_t i, now;
    int r;

    for (i = 0; i < n; i += now) {
        now = n - i < BLOCK ? n - i : BLOCK;
        for (r = 0; r < parts; r++) {
            const char *part = (const char *)first + (size_t)r * stride;
            const uint16_t *x = (const uint16_t *)(const void *)part + i;

            cr_widen(CR_BF16, now, x, r == 0 ? sum + i : one);
            if (r > 0)
                add(sum + i, one, now);
        }
        cr_round_to_type(CR_BF16, now, sum + i, sum + i);
    }
}
