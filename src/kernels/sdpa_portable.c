/* Attention in vectors of 16 bytes; float and double. */
#include "kernels/sdpa.h"

#include "kernels/simd_portable.h"

#define KERNEL_CODE cr_sdpa_portable
#define KERNEL_HEAD             \
    {                           \
        .name = "sdpa_portable" \
    }
#define WIDE 2
#define MAX_ROWS 1, 6, 4
#define TILES \
    T(1, 1)   \
    T(2, 1) T(3, 1) T(4, 1) T(5, 1) T(6, 1) T(1, 2) T(2, 2) T(3, 2) T(4, 2)
#define V_SUB(x, y) ((x) - (y))
#define V_DIV(x, y) ((x) / (y))
#define V_MAX(x, y) sdpa_max(x, y)
#define V_SUM(x) sdpa_sum(x)
#define V_LARGEST(x) sdpa_largest(x)
#define V_EXP(x) sdpa_exp(x)
#define V_BELOW(x, n) sdpa_below(x, n)
#define V_HIDE(p) sdpa_hide(p)
#define V_KEEP(x, p) sdpa_keep(x, p)

CR_INLINE vec sdpa_max(vec x, vec y)
{
    int i;

    for (i = 0; i < LANES; i++)
        x[i] = x[i] > y[i] ? x[i] : y[i];
    return x;
}

CR_INLINE cr_real sdpa_sum(vec x)
{
    cr_real sum = x[0];
    int i;

    for (i = 1; i < LANES; i++)
        sum += x[i];
    return sum;
}

CR_INLINE cr_real sdpa_largest(vec x)
{
    cr_real most = x[0];
    int i;

    for (i = 1; i < LANES; i++)
        most = x[i] > most ? x[i] : most;
    return most;
}

CR_INLINE vec sdpa_exp(vec x)
{
    int i;

    for (i = 0; i < LANES; i++)
        x[i] = cr_exp(x[i]);
    return x;
}

/* The first n lanes, -inf after. */
CR_INLINE vec sdpa_below(vec x, int n)
{
    int i;

    for (i = n; i < LANES; i++)
        x[i] = -(cr_real)INFINITY;
    return x;
}

/* -inf where a byte is not 0, else 0 */
CR_INLINE vec sdpa_hide(const unsigned char *p)
{
    vec x = { 0 };
    int i;

    for (i = 0; i < LANES; i++)
        x[i] = p[i] ? -(cr_real)INFINITY : 0;
    return x;
}

CR_INLINE vec sdpa_keep(vec x, const unsigned char *p)
{
    int i;

    for (i = 0; i < LANES; i++)
        x[i] = p[i] ? x[i] : 0;
    return x;
}

#include "kernels/sdpa.inc"
