#include "runs/runs.h"

const struct cr_runs_sub *const cr_runs_subs[] = {
    &cr_runs_sub_ls, &cr_runs_sub_show, &cr_runs_sub_best,   &cr_runs_sub_diff,
    &cr_runs_sub_rm, &cr_runs_sub_gc,   &cr_runs_sub_export, NULL
};
