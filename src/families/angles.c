#include "families/angles.h"

CR_CLONES bool cr_angles_far(int64_t n, const cr_real *x, int64_t inc)
{
    int64_t i;
    int far = 0;

    n = inc ? n : 1;
    _Pragma("omp simd reduction(| : far)") for (i = 0; i < n; i++) far |=
        cr_abs(x[i]) > CR_VEC_ANGLE_MAX;
    return far;
}
