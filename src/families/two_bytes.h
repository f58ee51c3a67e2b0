/*
 * Values of low precision in memory of two bytes each: steps that a plan adds
 * (plan/two_bytes.c). No cell emits them; both are exact.
 */
#ifndef CR_FAMILIES_TWO_BYTES_H
#define CR_FAMILIES_TWO_BYTES_H

#include "graph/op.h"

/* Of CR_REAL values that are numbers of the output's type, its bits. Their
 * attribute is a bool: check that they are such numbers, or abort. */
extern const struct cr_op cr_two_bytes_narrow;
/* Of such bits, the CR_REAL values. */
extern const struct cr_op cr_two_bytes_widen;

#endif
