/*
 * Kernels against plain loops, with random settings, on every implementation
 * that this processor and this installation have.
 *
 * A test draws a setting, makes its operands with numbers_new, and runs each
 * implementation on it. All operands are in fenced memory: one end touches a
 * page that must not be read or written, the other is followed by marked bytes,
 * so that a step beyond ends the test (which prints the setting) or is found
 * by fences_whole.
 *
 * KERNELS_SEED (1) chooses the settings, KERNELS_N (each test has its own
 * number) how many.
 */
#ifndef CR_TESTS_KERNELS_H
#define CR_TESTS_KERNELS_H

#include "base/compiler.h"
#include "base/cpu.h"
#include "base/thread_pool.h"
#include "kernels/blas.h"
#include "kernels/onednn.h"
#include "tap.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define EPS ((double)CR_REAL_EPS)

#ifdef __SANITIZE_ADDRESS__
/* The tracer of LeakSanitizer itself can crash on threads of a library that
 * was opened at run time, so leaks are not looked for here. */
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return 1;
}
#endif

/* ---- what computes ---- */

struct implementation {
    const char *name;
    enum cr_isa isa;
    const char *blas;
};

enum {
    CLONES = -1,
    OWN = 3,
    ONEDNN = 5
};

static const struct implementation implementations[] = {
    { "portable", CR_ISA_GENERIC, "own" },
    { "AVX2", CR_ISA_AVX2, "own" },
    { "AVX-512", CR_ISA_AVX512, "own" },
    { "plain", CR_ISA_GENERIC, "plain" },
    { "OpenBLAS", CR_ISA_GENERIC, "openblas" },
    [ONEDNN] = { "oneDNN", CR_ISA_GENERIC, "onednn" },
};


enum {
    ALL = (int)CR_LEN(implementations)
};

/* False where it is not available. */
static bool implementation_take(int i)
{
    return cr_isa_force(implementations[i].isa) &&
           cr_blas_force(implementations[i].blas);
}

/* ---- settings ---- */

static uint64_t draw_state = 1;
static char setting[600]; /* the present one, as text */
static long settings_wanted;

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t draw_word(void)
{
    uint64_t z = draw_state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Both ends included. */
static int64_t draw(int64_t low, int64_t high)
{
    return low + (int64_t)(draw_word() % (uint64_t)(high - low + 1));
}

static bool draw_one_in(int64_t n)
{
    return draw(1, n) == 1;
}

/* Sizes as networks have them: mostly small, seldom large, often next to a
 * multiple of the vectors' length. */
CR_UNUSED static int64_t draw_size(int64_t low, int64_t high)
{
    int64_t n = draw_one_in(4) ? draw(low, high) : draw(low, high / 4 + 1);

    if (draw_one_in(3))
        n = n / 8 * 8 + draw(-1, 1);
    return n < low ? low : n > high ? high : n;
}

/* In (-1, 1). */
static cr_real draw_real(void)
{
    return (cr_real)((double)(draw_word() >> 40) / (1 << 23) - 1);
}

CR_PRINTF(1, 2) static void setting_is(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(setting, sizeof setting, format, args);
    va_end(args);
}

/* ---- fenced memory ---- */

struct fence {
    char *map, *at;
    size_t mapped, bytes, page;
    bool front; /* the page that must not be touched is before */
};

static struct fence fences[64];
static int fences_open;

enum {
    FENCE_MARK = 0xa5
};

static void *fence_new(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t inside = (bytes + 64 + page - 1) / page * page;
    struct fence *f = &fences[fences_open++];

    *f = (struct fence){ .mapped = inside + page,
                         .bytes = bytes,
                         .page = page,
                         .front = draw_one_in(3) };
    f->map = mmap(NULL, f->mapped, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fences_open == (int)CR_LEN(fences) || f->map == MAP_FAILED)
        abort();
    memset(f->map, FENCE_MARK, f->mapped);
    f->at = f->front ? f->map + page : f->map + inside - bytes;
    mprotect(f->front ? f->map : f->map + inside, page, PROT_NONE);
    return f->at;
}

/* Whether all marked bytes are as they were. */
static bool fences_whole(void)
{
    int i;

    for (i = 0; i < fences_open; i++) {
        const struct fence *f = &fences[i];
        const char *p = f->front ? f->at + f->bytes : f->map;
        const char *end = f->front ? f->map + f->mapped : f->at;

        for (; p < end; p++)
            if (*p != (char)FENCE_MARK) {
                printf("# byte %td of operand %d is overwritten\n# in %s\n",
                       p - f->at, i, setting);
                return false;
            }
    }
    return true;
}

static void fences_free(void)
{
    while (fences_open > 0) {
        struct fence *f = &fences[--fences_open];

        munmap(f->map, f->mapped);
    }
}

/* n random numbers in fenced memory. */
CR_UNUSED static cr_real *numbers_new(int64_t n)
{
    cr_real *x = fence_new((size_t)n * sizeof *x);
    int64_t i;

    for (i = 0; i < n; i++)
        x[i] = draw_real();
    return x;
}

/* NaN wherever nothing may be read before it is written. */
CR_UNUSED static cr_real *numbers_undefined(int64_t n)
{
    cr_real *x = fence_new((size_t)n * sizeof *x);

    memset(x, 0xff, (size_t)n * sizeof *x);
    return x;
}

CR_UNUSED static cr_real *numbers_copy(const cr_real *from, int64_t n)
{
    cr_real *x = fence_new((size_t)n * sizeof *x);

    memcpy(x, from, (size_t)n * sizeof *x);
    return x;
}

/* ---- comparing ---- */

/* got within `room` of want; NaN where want is NaN. Prints the place if not. */
CR_UNUSED static bool number_near(const char *what, int64_t at, double got,
                                  double want, double room)
{
    bool good = isnan(want)   ? isnan(got)
                : isinf(want) ? got == want
                              : fabs(got - want) <= room;

    if (!good)
        printf("# %s[%lld] is %.9g, expected %.9g within %.3g\n# in %s\n", what,
               (long long)at, got, want, room, setting);
    return good;
}

CR_UNUSED static bool bytes_same(const char *what, const void *got,
                                 const void *want, size_t bytes)
{
    bool good = memcmp(got, want, bytes) == 0;

    if (!good)
        printf("# %s has other bytes\n# in %s\n", what, setting);
    return good;
}

static void fault(int signal)
{
    static const char head[] = "# a step beyond an operand, in ";
    ssize_t wrote = write(1, head, sizeof head - 1);

    wrote += write(1, setting, strlen(setting));
    wrote += write(1, "\n", 1);
    _exit(wrote < 0 ? 2 : 128 + signal);
}

/* Reads the environment. */
static void kernels_begin(long wanted)
{
    const char *seed = getenv("KERNELS_SEED"), *n = getenv("KERNELS_N");

    draw_state = seed ? strtoull(seed, NULL, 10) : 1;
    settings_wanted = n ? strtol(n, NULL, 10) : wanted;
    signal(SIGSEGV, fault);
    signal(SIGBUS, fault);
}

/* Draws settings for one implementation of one kernel, the same ones for each
 * implementation, and prints one line. CLONES: loops that the compiler has made
 * vectors of, of which the loader has chosen. A kernel may decline a setting
 * that it is not made for; one that takes none has failed. */
enum verdict {
    DECLINED,
    RIGHT,
    WRONG
};

static void kernel_compare(const char *kernel, int implementation,
                           enum verdict (*one)(void))
{
    const char *name =
        implementation < 0 ? "clones" : implementations[implementation].name;
    uint64_t begun = draw_state;
    long i, taken = 0, wrong = 0;

    if (implementation >= 0 && !implementation_take(implementation)) {
        ok(true, "%s, %s # SKIP not on this machine", kernel, name);
        return;
    }
    for (i = 0; i < settings_wanted && wrong < 5; i++) {
        enum verdict v;

        draw_state = begun + (uint64_t)i * 0xd1342543de82ef95u;
        v = one();
        if (!fences_whole())
            v = WRONG;
        fences_free();
#ifndef CR_DOUBLE
        cr_onednn_forget(); /* a few shapes are kept, not all of these */
#endif
        taken += v != DECLINED;
        wrong += v == WRONG;
    }
    ok(taken > 0 && wrong == 0, "%s, %s", kernel, name);
    printf("# %ld settings\n", taken);
    draw_state = begun;
    implementation_take(0);
}

#endif
