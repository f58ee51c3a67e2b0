/* Reads choices.def. */
#include <pthread.h>
#include <stddef.h>

#include "base/compiler.h"
#include "kernels/conv.h"
#include "kernels/conv_simd.h"
#include "kernels/gemm.h"
#include "kernels/kernel.h"

/* What a condition may name. */
struct conv_sizes {
    int64_t ci, co, groups, height, width;
    int lanes;
};

static struct conv_sizes conv_sizes(const struct cr_conv *c)
{
    return (struct conv_sizes){ .ci = c->ci / c->group,
                                .co = c->co / c->group,
                                .groups = c->group,
                                .height = c->out[H],
                                .width = c->out[W],
                                .lanes = conv_lanes() };
}

/* A function for each line, named after it. */
#define JOIN(a, b) a##b
#define NAME(line) JOIN(where_, line)
#define CONV(processor, kernel, over, where, measured)              \
    static bool NAME(__LINE__)(const void *what)                    \
    {                                                               \
        struct conv_sizes s = conv_sizes(what);                     \
        const int64_t ci = s.ci, co = s.co, groups = s.groups,      \
                      height = s.height, width = s.width;           \
        const int lanes = s.lanes;                                  \
                                                                    \
        (void)ci, (void)co, (void)groups, (void)height;             \
        (void)width, (void)lanes;                                   \
        return where;                                               \
    }
#define GEMM(processor, kernel, over, where, measured) \
    static bool NAME(__LINE__)(const void *what)        \
    {                                                   \
        const bool amx = cr_gemm_bf16_has_amx();        \
                                                        \
        (void)what, (void)amx;                          \
        return where;                                   \
    }
#include "kernels/choices.def"
#undef CONV
#undef GEMM

struct choice {
    const char *processor;
    const struct cr_kernel *kernel, *over;
    bool (*where)(const void *what);
    bool here; /* holds for this processor */
};

static struct choice choices[] = {
#define CONV(processor, kernel, over, where, measured) \
    { processor, &cr_##kernel.head, &cr_##over.head, NAME(__LINE__), false },
#define GEMM CONV
#include "kernels/choices.def"
};

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_processor(void)
{
    char name[CR_CPU_NAME];
    size_t i;

    cr_cpu_name(name);
    for (i = 0; i < CR_LEN(choices); i++)
        choices[i].here = cr_cpu_matches(name, choices[i].processor);
}

int cr_kernel_compare(const struct cr_kernel *a, const struct cr_kernel *b,
                      const void *what)
{
    size_t i;

    if (!what) /* nothing that a choice depends on */
        return 0;
    pthread_once(&once, find_processor);
    for (i = 0; i < CR_LEN(choices); i++) {
        const struct choice *c = &choices[i];
        int sign = c->kernel == a && c->over == b   ? 1
                   : c->kernel == b && c->over == a ? -1
                                                    : 0;

        if (sign != 0 && c->here && c->where(what))
            return sign;
    }
    return 0;
}
