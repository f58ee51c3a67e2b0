/*
 * Arithmetic on amounts that come from a config or a file: each macro stores
 * the result and returns true, or returns false when it does not fit. Works
 * on size_t, int64_t and every other integer type of *to.
 */
#ifndef CR_BASE_CHECKED_MATH_H
#define CR_BASE_CHECKED_MATH_H

#include <stdbool.h>

#define cr_checked_add(to, a, b) (!__builtin_add_overflow((a), (b), (to)))
#define cr_checked_sub(to, a, b) (!__builtin_sub_overflow((a), (b), (to)))
#define cr_checked_mul(to, a, b) (!__builtin_mul_overflow((a), (b), (to)))

#endif
