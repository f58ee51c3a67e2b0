/*
 * Tensors as text, as NumPy's str() writes arrays: elements in columns of one
 * width, as few digits as tell a number from its neighbours (8 behind the
 * point at most), and `...` in the middle of more than 1000 elements.
 */
#ifndef CR_MATH_ARRAY_TEXT_H
#define CR_MATH_ARRAY_TEXT_H

#include "base/str.h"
#include "math/spec.h"

/* The elements, without a newline behind the last. `type` is the type of the
 * numbers, where CR_REAL holds those of another (CR_F16, CR_BF16); else the
 * spec's own. The layout is plain. */
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
