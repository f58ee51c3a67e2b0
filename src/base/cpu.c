#include "base/cpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/compiler.h"

#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

static const char *const isa_names[] = { "generic", "avx2", "avx512" };

const char *cr_isa_name(enum cr_isa isa)
{
    return isa_names[isa];
}

#ifdef __x86_64__
/* clang 14 knows no such name for __builtin_cpu_supports. */
static bool has_f16c(void)
{
    unsigned a, b, c, d;

    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}
#endif

enum cr_isa cr_isa_best(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") ||
        !has_f16c())
        return CR_ISA_GENERIC;
    if (__builtin_cpu_supports("avx512f") &&
        __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq"))
        return CR_ISA_AVX512;
    return CR_ISA_AVX2;
#else
    return CR_ISA_GENERIC;
#endif
}

/* Kernels use this in every call, so the environment is read once. The
 * instruction cpuid takes 100 us in some virtual machines. */
static enum cr_isa allowed;
static size_t cache_bytes = 512 << 10;
static pthread_once_t isa_once = PTHREAD_ONCE_INIT;

static void isa_find(void)
{
    const char *want = getenv("CELLRUN_ISA");
    enum cr_isa i;

#ifdef _SC_LEVEL2_CACHE_SIZE
    long cache = sysconf(_SC_LEVEL2_CACHE_SIZE);

    if (cache > 0)
        cache_bytes = (size_t)cache;
#endif
    allowed = cr_isa_best();
    for (i = CR_ISA_GENERIC; want && i < allowed; i++)
        if (strcmp(want, isa_names[i]) == 0)
            allowed = i;
}

enum cr_isa cr_isa(void)
{
    pthread_once(&isa_once, isa_find);
    return allowed;
}

size_t cr_cpu_cache(void)
{
    pthread_once(&isa_once, isa_find);
    return cache_bytes;
}

#ifdef __x86_64__

void cr_cpu_name(char name[CR_CPU_NAME])
{
    unsigned a = 0, b = 0, c = 0, d = 0, family, model;
    char vendor[13] = "";

    if (__get_cpuid(0, &a, &b, &c, &d)) {
        memcpy(vendor, &b, 4);
        memcpy(vendor + 4, &d, 4);
        memcpy(vendor + 8, &c, 4);
    }
    if (!__get_cpuid(1, &a, &b, &c, &d))
        a = 0;
    family = a >> 8 & 15;
    model = a >> 4 & 15;
    if (family == 6 || family == 15)
        model += (a >> 16 & 15) << 4;
    if (family == 15)
        family += a >> 20 & 255;
    snprintf(name, CR_CPU_NAME, "%s %u.%u", vendor, family, model);
}

#else

void cr_cpu_name(char name[CR_CPU_NAME])
{
    struct utsname system;

    snprintf(name, CR_CPU_NAME, "%.31s",
             uname(&system) == 0 ? system.machine : "unknown");
}

#endif

bool cr_cpu_matches(const char *name, const char *pattern)
{
    size_t n = strlen(pattern);

    return strcmp(pattern, "any") == 0 ||
           (strncmp(name, pattern, n) == 0 &&
            (name[n] == '\0' || name[n] == ' ' || name[n] == '.'));
}

bool cr_isa_force(enum cr_isa isa)
{
    if (isa > cr_isa_best())
        return false;
    pthread_once(&isa_once, isa_find);
    allowed = isa;
    return true;
}

#ifdef __x86_64__

/* Twelve independent chains hide the latency of the instruction. */
enum {
    CHAINS = 12,
    TURNS = 100000
};

CR_TARGET("avx512f") static float peak_avx512(void)
{
    __m512 a[CHAINS], x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(0.001f);
    float sum = 0;
    int i, j;

#pragma GCC unroll 12
    for (j = 0; j < CHAINS; j++)
        a[j] = _mm512_set1_ps((float)j);
    for (i = 0; i < TURNS; i++) {
#pragma GCC unroll 12
        for (j = 0; j < CHAINS; j++)
            a[j] = _mm512_fmadd_ps(a[j], x, y);
    }
#pragma GCC unroll 12
    for (j = 0; j < CHAINS; j++)
        sum += _mm512_reduce_add_ps(a[j]);
    return sum;
}

CR_TARGET("avx2,fma") static float peak_avx2(void)
{
    __m256 a[CHAINS], x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(0.001f);
    float sum = 0;
    int i, j;

#pragma GCC unroll 12
    for (j = 0; j < CHAINS; j++)
        a[j] = _mm256_set1_ps((float)j);
    for (i = 0; i < TURNS; i++) {
#pragma GCC unroll 12
        for (j = 0; j < CHAINS; j++)
            a[j] = _mm256_fmadd_ps(a[j], x, y);
    }
#pragma GCC unroll 12
    for (j = 0; j < CHAINS; j++)
        sum += _mm256_cvtss_f32(a[j]);
    return sum;
}

double cr_cpu_peak(double seconds)
{
    enum cr_isa isa = cr_isa();
    double lanes = isa == CR_ISA_AVX512 ? 16 : 8, start, passed, turns = 0;
    volatile float keep; /* prevents the compiler from dropping the work */

    if (isa == CR_ISA_GENERIC)
        return 0;
    start = cr_now();
    do {
        keep = isa == CR_ISA_AVX512 ? peak_avx512() : peak_avx2();
        turns += TURNS;
        passed = cr_now() - start;
    } while (passed < seconds);
    (void)keep;
    return 2 * lanes * CHAINS * turns / passed;
}

#else

double cr_cpu_peak(double seconds)
{
    (void)seconds;
    return 0;
}

#endif
