/*
 * Normalisation per channel, y = act((x - mean) scale + shift + more): what its
 * ops check and which epilogues they take. Input 0 is x (N, C, ...).
 */
#ifndef CR_FAMILIES_CHANNEL_NORM_H
#define CR_FAMILIES_CHANNEL_NORM_H

#include "graph/op.h"
#include "kernels/channel.h"

/* Reports inputs 1 and up that are not one value per channel; `more`, the
 * optional input after them, has the shape of x. */
bool cr_channel_norm_check(struct cr_op_plan *p, int more);

/* For .accepts: an addend, any activation, and their gradients. */
bool cr_channel_norm_accepts(const struct cr_op_ctx *s, unsigned of,
                             unsigned parts);

/* What the epilogue of the step makes of dy in backward. */
struct cr_channel_mask cr_channel_norm_mask(const struct cr_op_ctx *s,
                                            const cr_real *scale,
                                            const cr_real *shift);

#endif
