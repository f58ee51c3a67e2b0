/* grid: all combinations of the values; the last parameter varies fastest. */
#include "base/str.h"
#include "sweep/sweep.h"

bool cr_sweep_grid_check(struct cr_sweep *sweep)
{
    int64_t n = 1;

    for (int a = 0; a < sweep->n_axes; a++) {
        if (sweep->axis[a].n > CR_SWEEP_POINTS_MAX / n)
            return cr_error(sweep->diag, CR_NOWHERE, CR_E_OUT_OF_RANGE,
                            "found more than %d combinations of values; use "
                            "fewer values, or the method random",
                            CR_SWEEP_POINTS_MAX);
        n *= sweep->axis[a].n;
    }
    return true;
}

static bool grid_check(struct cr_sweep *sweep)
{
    bool ok = true;

    for (int a = 0; a < sweep->n_axes; a++)
        if (sweep->axis[a].distribution != CR_DIST_NONE) {
            ok = cr_error(sweep->diag, CR_NOWHERE, CR_E_CONFLICT,
                          "'%s': found a distribution, expected values: the "
                          "method grid combines lists of values",
                          sweep->column[sweep->axis[a].column]);
            cr_hint(sweep->diag, "set sweep.method to random or tpe");
        }
    return ok && cr_sweep_grid_check(sweep);
}

static bool grid_candidate(struct cr_sweep *sweep, int64_t k,
                           const char **value)
{
    for (int a = sweep->n_axes - 1; a >= 0; a--) {
        const struct cr_sweep_axis *axis = &sweep->axis[a];
        const char **choice = axis->choice + k % axis->n * axis->n_columns;

        for (int c = 0; c < axis->n_columns; c++)
            value[axis->column + c] = choice[c];
        k /= axis->n;
    }
    return k == 0;
}

const struct cr_sweep_method cr_sweep_grid = {
    .name = "grid",
    .check = grid_check,
    .candidate = grid_candidate,
};
