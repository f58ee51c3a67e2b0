/*
 * The type in which a file holds tensors of floating point, on request.
 */
#ifndef CR_CKPT_DTYPE_H
#define CR_CKPT_DTYPE_H

#include "base/arena.h"
#include "num/spec.h"

/* Choices of a flag or field. auto: as they are. */
#define CR_SAVED_DTYPES "auto|float32|float16|bfloat16"
/* The type of a choice; CR_TYPES: auto. */
enum cr_type cr_dtype_of(int choice);

/* Converts a tensor of floating point, in the arena; CR_TYPES and tensors of
 * other types change nothing. False, and nothing is changed: a finite value
 * would become infinite. */
bool cr_dtype_convert(struct cr_arena *arena, struct cr_tensor *tensor,
                      enum cr_type type);
/* What to report then: the tensor's name, its type, the type wanted. */
#define CR_DTYPE_BEYOND "'%s' stays %s: a value is beyond the range of %s"

#endif
