/*
 * oneDNN, opened at first need. Private to src/kernels.
 */
#ifndef CR_KERNELS_ONEDNN_H
#define CR_KERNELS_ONEDNN_H

#include <stdbool.h>

/* The library; NULL: it is not installed, or the address space is limited.
 * Every caller of its functions is set to compute without OpenMP's threads,
 * which would spin against the pool's, by cr_onednn_alone: OpenMP remembers it
 * per thread. */
void *cr_onednn_open(void);
void cr_onednn_alone(void);

#endif
