/* Products in vectors of 16 bytes, which compilers know on every processor;
 * float and double. */
#include "math/gemm.h"

#include "base/attr.h"

#include <string.h>

#define KERNEL
#define KERNEL_NAME cr_gemm_portable
#define KERNEL_SUM cr_sum_portable
#define LANES ((int)(16 / sizeof(cr_real)))
#define WIDE 3
#define MAX_ROWS 1, 8, 4, 3
#define TILES                                                               \
    T(1, 1)                                                                 \
    T(2, 1) T(3, 1) T(4, 1) T(5, 1) T(6, 1) T(7, 1) T(8, 1) T(1, 2) T(2, 2) \
        T(3, 2) T(4, 2) T(1, 3) T(2, 3) T(3, 3)
#define V_ZERO() gemm_set(0)
#define V_SET(x) gemm_set(x)
#define V_LOAD(p) gemm_load(p)
#define V_STORE(p, x) gemm_store(p, LANES, x)
#define V_LOAD_N(p, n) gemm_load_n(p, n)
#define V_STORE_N(p, n, x) gemm_store(p, n, x)
#define V_ADD(x, y) ((x) + (y))
#define V_MUL(x, y) ((x) * (y))
#define V_FMA(x, y, z) ((x) * (y) + (z))
#define V_RELU(x) gemm_relu(x)
#define V_MASK(x, y) gemm_mask(x, y)

typedef cr_real vec CR_VECTOR(16);

CR_INLINE vec gemm_set(cr_real x)
{
    vec zero = { 0 };

    return zero + x;
}

CR_INLINE vec gemm_load(const cr_real *p)
{
    vec x;

    memcpy(&x, p, sizeof x);
    return x;
}

CR_INLINE vec gemm_load_n(const cr_real *p, int n)
{
    vec x = { 0 };
    int i;

    if (n == LANES)
        return gemm_load(p);
    for (i = 0; i < n; i++)
        x[i] = p[i];
    return x;
}

CR_INLINE void gemm_store(cr_real *p, int n, vec x)
{
    memcpy(p, &x, (size_t)n * sizeof *p);
}

CR_INLINE vec gemm_relu(vec x)
{
    int i;

    for (i = 0; i < LANES; i++)
        x[i] = x[i] < 0 ? 0 : x[i];
    return x;
}

CR_INLINE vec gemm_mask(vec x, vec y)
{
    int i;

    for (i = 0; i < LANES; i++)
        x[i] = y[i] <= 0 ? 0 : x[i];
    return x;
}

CR_INLINE void gemm_block(const cr_real *from, int64_t from_row, int rows,
                          int cols, cr_real *to, int64_t ld)
{
    int i, j;

    for (j = 0; j < cols; j++)
        for (i = 0; i < LANES; i++)
            to[j * ld + i] = i < rows ? from[i * from_row + j] : 0;
}

#include "math/gemm.inc"
