/* The only place for compiler attributes. */
#ifndef CR_BASE_ATTR_H
#define CR_BASE_ATTR_H

#define CR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define CR_NORETURN __attribute__((noreturn))
#define CR_UNUSED __attribute__((unused))
#define CR_LIKELY(x) __builtin_expect(!!(x), 1)
#define CR_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define CR_TARGET(isa) __attribute__((target(isa)))
#define CR_VECTOR(bytes) __attribute__((vector_size(bytes)))
#define CR_INLINE static inline __attribute__((always_inline))
/* Before a loop whose rounds do not depend on each other: in vectors. */
#define CR_SIMD _Pragma("omp simd")
#define CR_LEN(array) (sizeof(array) / sizeof((array)[0]))

#endif
