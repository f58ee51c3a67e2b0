/* Instruction sets of the processor, and its speed. */
#ifndef CR_BASE_CPU_H
#define CR_BASE_CPU_H

#include <stdbool.h>
#include <stddef.h>

/* Instruction sets for which kernels exist, in rising order. */
enum cr_isa {
    CR_ISA_GENERIC,
    CR_ISA_AVX2, /* with FMA and F16C */
    CR_ISA_AVX512
};

/* The highest one that both the processor and CELLRUN_ISA allow (generic,
 * avx2 or avx512; anything else is ignored). */
enum cr_isa cr_isa(void);
const char *cr_isa_name(enum cr_isa isa);

/* The highest one that the processor has, regardless of CELLRUN_ISA. */
enum cr_isa cr_isa_best(void);
/* Overrides cr_isa, for comparisons in one process; returns false and does
 * nothing if the processor lacks the set. Not while another thread computes.
 * Matrix products are switched by cr_blas_force. */
bool cr_isa_force(enum cr_isa isa);

/* Vendor, family and model, "AuthenticAMD 25.1", or else the architecture,
 * "aarch64": what measurements are noted for. */
#define CR_CPU_NAME 32
void cr_cpu_name(char name[CR_CPU_NAME]);
/* Whether a processor of that name is meant by `pattern`: "any", its vendor,
 * vendor and family, or the whole name. */
bool cr_cpu_matches(const char *name, const char *pattern);

/* Bytes of a core's level-2 cache; 512 KiB where the system does not say. */
size_t cr_cpu_cache(void);

/* Measures the fused multiply-adds of float that the calling thread's core
 * executes with cr_isa(), in FLOP per second, as the mean over about `seconds`:
 * an upper bound for matrix products. 0 where no kernel exists for the
 * processor. */
double cr_cpu_peak(double seconds);

#endif
