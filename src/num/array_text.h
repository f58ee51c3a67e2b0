/*
 * Tensors as text, in the format of NumPy's str(): elements in columns of one
 * width, the shortest digits that identify a number (at most 8 after the
 * point), and `...` in the middle of more than 1000 elements.
 */
#ifndef CR_NUM_ARRAY_TEXT_H
#define CR_NUM_ARRAY_TEXT_H

#include "base/str.h"
#include "num/spec.h"

/* The elements, without a final newline; in the arena. `type` is the type whose
 * numbers a CR_REAL tensor contains (CR_F16, CR_BF16), else the type of the
 * spec. The layout is row-major. */
const char *cr_array_text(struct cr_arena *arena, const struct cr_spec *spec,
                          enum cr_type type, const void *data);
/* The same as MindSpore prints a tensor:
 * "Tensor(shape=[2], dtype=Float32, value=\n[1. 2.])". */
const char *cr_tensor_text(struct cr_arena *arena, const struct cr_spec *spec,
                           enum cr_type type, const void *data);
/* Appends the elements as nested JSON lists; a number that is not finite is
 * null. */
void cr_array_json(struct cr_buf *to, const struct cr_spec *spec,
                   const double *data);
/* "Float32", "Int32" ...: MindSpore's name where it prints a type. */
const char *cr_type_title(enum cr_type type);

#endif
