/* version: the version, the options of the build, and the processor. */
#include "base/version.h"

#include <sched.h>
#include <stdio.h>

#include "base/cpu.h"
#include "base/str.h"
#include "conf/command_line.h"
#include "kernels/blas.h"
#include "num/real.h"

/* Processor features that cellrun's kernels and the libraries use, or else the
 * architecture. */
static const char *version_cpu(struct cr_arena *arena)
{
    struct cr_buf buf = { .arena = arena };

#ifdef __x86_64__
#define VERSION_HAS(feature)             \
    if (__builtin_cpu_supports(feature)) \
    cr_buf_f(&buf, "%s%s", buf.len ? " " : "", feature)
    VERSION_HAS("sse4.2");
    VERSION_HAS("avx");
    VERSION_HAS("avx2");
    VERSION_HAS("fma");
    VERSION_HAS("avx512f");
    VERSION_HAS("avx512bw");
    VERSION_HAS("avx512vl");
    VERSION_HAS("avx512vnni");
    VERSION_HAS("avx512bf16");
#undef VERSION_HAS
#else
    char name[CR_CPU_NAME];

    cr_cpu_name(name);
    cr_buf_f(&buf, "%s", name);
#endif
    return cr_buf_text(&buf);
}

static int version_cores(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

static int version_run(struct cr_cli *cli)
{
    const char *cpu = version_cpu(cli->arena);
    const char *real = sizeof(cr_real) == 8 ? "float64" : "float32";
    const char *products = cr_blas_name();
    struct cr_buf flags = { .arena = cli->arena };

    if (!cli->json) {
        printf("cellrun %s\ncompiler: %s\nflags: %s\nreal: %s\n"
               "products: %s\ncpu: %s\ncores: %d\n",
               CR_VERSION, __VERSION__, CR_FLAGS, real, products, cpu,
               version_cores());
        return 0;
    }
    cr_buf_json(&flags, CR_FLAGS);
    printf("{\"version\": \"%s\", \"compiler\": \"%s\", \"flags\": %s, "
           "\"real\": \"%s\", \"products\": \"%s\", \"cpu\": \"%s\", "
           "\"cores\": %d}\n",
           CR_VERSION, __VERSION__, cr_buf_text(&flags), real, products, cpu,
           version_cores());
    return 0;
}

const struct cr_command cr_command_version = {
    .about = {
        .name = "version",
        .summary = "Print the version, the build options and the processor.",
        .example = "cellrun version --json\n",
    },
    .usage = "",
    .run = version_run,
};
