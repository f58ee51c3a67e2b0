/*
 * Arithmetic with overflow checks, for numbers from a config or a file: each
 * macro stores the result in *to and returns true, or returns false on
 * overflow. *to is of any integer type.
 */
#ifndef CR_BASE_CHECKED_MATH_H
#define CR_BASE_CHECKED_MATH_H

#include <stdbool.h>

#define cr_checked_add(to, a, b) (!__builtin_add_overflow((a), (b), (to)))
#define cr_checked_sub(to, a, b) (!__builtin_sub_overflow((a), (b), (to)))
#define cr_checked_mul(to, a, b) (!__builtin_mul_overflow((a), (b), (to)))

#endif
