/*
 * num/: numbers. The type of computed values (real.h), types and shapes
 * (spec.h), rounding to float16 and bfloat16, random numbers keyed by what they
 * are for (rng.h), elementary functions on vectors of the compiler
 * (vec_math.h, vec_trig.h, vec_pow.h), numbers as text.
 *
 * Called by kernels and by every room that looks at values.
 * Allocates nothing, keeps no state: the same arguments give the same bits on
 * every processor.
 * Knows nothing of tensors in memory, threads and ops.
 *
 * Includes: base.
 */
