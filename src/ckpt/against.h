/*
 * Compares tensors with the tensors of a file: trace --against.
 */
#ifndef CR_CKPT_AGAINST_H
#define CR_CKPT_AGAINST_H

#include "ckpt/checkpoint.h"

struct cr_against {
    struct cr_arena *arena;
    struct cr_diag *diag;
    const char *path; /* path of the reference */
    struct cr_tensor *tensor;
    int n;
    double rtol, atol;
    bool json, quiet;
};

/* Prints how many names were compared and how many differ, and reports the
 * first one that differs, or is in the reference alone, as E_DIFFERS. */
void cr_against(struct cr_against *against);

#endif
