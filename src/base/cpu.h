/* What the processor can do, and how fast it multiplies and adds. */
#ifndef CR_BASE_CPU_H
#define CR_BASE_CPU_H

#include <stdbool.h>

/* Instruction sets that some code here is written for, in rising order. */
enum cr_isa {
    CR_ISA_GENERIC,
    CR_ISA_AVX2,
    CR_ISA_AVX512
};

/* The highest one that both the processor and CELLRUN_ISA allow (generic,
 * avx2 or avx512; anything else is ignored). */
enum cr_isa cr_isa(void);
const char *cr_isa_name(enum cr_isa isa);

/* The highest one that the processor has, whatever CELLRUN_ISA says. */
enum cr_isa cr_isa_best(void);
/* Replaces the choice from here on, for comparisons in one process; false, and
 * nothing done, where the processor does not have it. Not while another thread
 * computes. Products follow with cr_blas_force. */
bool cr_isa_force(enum cr_isa isa);

/* Measures what the calling thread's core does in fused multiply-adds of
 * float with cr_isa(), in FLOP per second, over about `seconds` (the mean, not
 * the best moment): the bound for products in that time. 0 where no kernel is
 * written for the processor. */
double cr_cpu_peak(double seconds);

#endif
