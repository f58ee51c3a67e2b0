/* The table of methods, in the order of the choices of sweep.method. */
#include "sweep/sweep.h"

const struct cr_sweep_method *const cr_sweep_methods[] = {
    &cr_sweep_grid,
    &cr_sweep_random,
    &cr_sweep_list,
    &cr_sweep_halving,
    &cr_sweep_asha,
    &cr_sweep_tpe,
};
