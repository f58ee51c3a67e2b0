/* The only place for compiler attributes. */
#ifndef CR_BASE_COMPILER_H
#define CR_BASE_COMPILER_H

#include <limits.h> /* __GLIBC__ */

#define CR_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
/* Before a function with vectorisable loops: compiles it for AVX2 too; the
 * loader chooses. Without contraction of products and sums
 * (-ffp-contract=off) both return the same bytes. */
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CR_CLONES __attribute__((target_clones("avx2", "default")))
/* The same for loops with much arithmetic per element, also for AVX-512. */
#define CR_CLONES_WIDE \
    __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define CR_CLONES
#define CR_CLONES_WIDE
#endif
#define CR_NORETURN __attribute__((noreturn))
#define CR_UNUSED __attribute__((unused))
#define CR_LIKELY(x) __builtin_expect(!!(x), 1)
#define CR_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define CR_TARGET(isa) __attribute__((target(isa)))
#define CR_VECTOR(bytes) __attribute__((vector_size(bytes)))
#define CR_INLINE static inline __attribute__((always_inline))
/* Before a loop with independent iterations: vectorises it. */
#define CR_SIMD _Pragma("omp simd")
/* Compiles the rest of the file at -O3, regardless of CFLAGS. */
#if defined(__GNUC__) && !defined(__clang__)
#define CR_O3 _Pragma("GCC optimize(\"O3\")")
#else
#define CR_O3
#endif
#define CR_LEN(array) (sizeof(array) / sizeof((array)[0]))

#endif
