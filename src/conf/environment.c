#include "conf/environment.h"

#include "base/cpu.h"
#include "base/str.h"
#include "base/thread_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define YEAR_10000 253402300800 /* seconds since 1970 */

const struct cr_env cr_env_list[] = {
    { .name = "CELLRUN_SET",
      .text = "Assignments (key=value, ~key), one per line, between the files "
              "and those of the command line." },
    { .name = "CELLRUN_RUNS",
      .text = "Folder of the run directories. Default: runs." },
    { .name = "CELLRUN_DATA",
      .text = "Folders, separated by colons, that are searched for data sets "
              "after the folder of the config." },
    { .name = "CELLRUN_PATH",
      .text = "Folders, separated by colons, that are searched for base files "
              "after the folder of the config." },
    { .name = "CELLRUN_THREADS",
      .text = "Number of threads, if --threads is not set.",
      .what = "a number of threads",
      .min = 1,
      .max = CR_THREADS_MAX },
    { .name = "SLURM_CPUS_PER_TASK",
      .text = "The same, if CELLRUN_THREADS is not set.",
      .what = "a number of threads",
      .min = 1,
      .max = CR_THREADS_MAX,
      .foreign = true },
    { .name = "CELLRUN_LOG",
      .text = "Verbosity without -q and -v. quiet: as -q. normal: the default. "
              "verbose: as -v.",
      .choices = "quiet|normal|verbose" },
    { .name = "CELLRUN_ISA",
      .text =
          "Instruction set of the built-in kernels: generic, avx2 or avx512. "
          "Default: the best one of the processor.",
      .choices = "generic|avx2|avx512" },
    { .name = "CELLRUN_UNFUSED",
      .text = "If 1, transforms are run one at a time, without fusion: slower, "
              "for debugging.",
      .choices = "0|1" },
    { .name = "CELLRUN_MPI",
      .text = "off: processes that mpirun has started work alone. messages: "
              "those on one machine send messages instead of sharing memory, "
              "for debugging.",
      .choices = "off|messages" },
    { .name = "CELLRUN_MPI_TIMEOUT",
      .text = "Seconds for which a process of mpirun waits for another one "
              "before it ends all of them; 0: no limit. Default: 600.",
      .what = "a number of seconds",
      .max = 1000000000 },
    { .name = "CELLRUN_PASSES",
      .text = "Passes that plans skip, for debugging: -NAME,-NAME, of "
              "constants, fold, fuse, prepare, fuse_kept, "
              "recompute, two_bytes." },
    { .name = "CELLRUN_VERIFY",
      .text = "If 1, every plan is checked after each pass, for debugging.",
      .choices = "0|1" },
    { .name = "CELLRUN_BLAS",
      .text = "Library for matrix products, with onednn for convolutions too: "
              "own, onednn, openblas or plain. Default: the fastest one of the "
              "build and the processor.",
      .choices = "own|onednn|openblas|plain" },
    { .name = "NO_COLOR", .text = "If not empty, messages are not coloured." },
    { .name = "CLICOLOR_FORCE",
      .text = "If not empty and not 0, messages are coloured even when "
              "standard error is not a terminal." },
    { .name = "COLUMNS",
      .text = "Width of the terminal, for the progress bar, tables and plots.",
      .what = "a number of columns",
      .min = 0,
      .max = 1000000,
      .foreign = true },
    { .name = "TMPDIR",
      .text = "Folder of the temporary files of selftest. Default: /tmp." },
    { .name = "PAGER",
      .text = "Command for long output on a terminal. Default: less -FRX. "
              "Empty or cat: none." },
    { .name = "TERM",
      .text = "If it is dumb, messages are not coloured, and "
              "there is no pager." },
    { .name = "SOURCE_DATE_EPOCH",
      .text =
          "Time stamp of the files of a run, in seconds since 1970, in place "
          "of the current time.",
      .what = "seconds since 1970",
      .min = 0,
      .max = YEAR_10000 - 1 },
    { .name = "SLURM_JOB_END_TIME",
      .text = "End of the job, in seconds since 1970, for --time-limit "
              "auto.",
      .what = "seconds since 1970",
      .min = 0,
      .max = YEAR_10000 - 1,
      .foreign = true },
    { 0 },
};

static const char *value_of(const struct cr_env *v)
{
    const char *value = getenv(v->name);

    return value && *value ? value : NULL;
}

static bool is_choice(const char *choices, const char *value)
{
    size_t len = strlen(value), n;

    for (;; choices += n + 1) {
        n = strcspn(choices, "|");
        if (n == len && memcmp(choices, value, n) == 0)
            return true;
        if (!choices[n])
            return false;
    }
}

/* Digits alone: no blanks, signs or units. */
static bool is_number(const struct cr_env *v, const char *value, int64_t *to)
{
    char *end;

    errno = 0;
    *to = strtoll(value, &end, 10);
    return strspn(value, "0123456789") == strlen(value) && errno == 0 &&
           *to >= v->min && *to <= v->max;
}

static const char *expected(struct cr_arena *arena, const struct cr_env *v)
{
    struct cr_buf b = { .arena = arena };
    const char *s;

    if (!v->choices)
        return cr_strf(arena, "%s from %lld to %lld", v->what,
                       (long long)v->min, (long long)v->max);
    for (s = v->choices; *s; s++)
        if (*s != '|')
            cr_buf_char(&b, *s);
        else
            cr_buf_str(&b, strchr(s + 1, '|') ? ", " : " or ");
    return cr_buf_text(&b);
}

static bool env_wrong(struct cr_diag *diag, const struct cr_env *v,
                      const char *value)
{
    const char *found = cr_quote(diag->arena, value, strlen(value));

    if (v->foreign)
        return cr_warn(diag, CR_NOWHERE, CR_E_USAGE,
                       "%s has no effect: found '%s', expected %s", v->name,
                       found, expected(diag->arena, v));
    return cr_error(diag, CR_NOWHERE, CR_E_USAGE,
                    "%s: found '%s', expected %s", v->name, found,
                    expected(diag->arena, v));
}

/* An instruction set that the processor lacks is not an error, so that one job
 * script works on several machines. */
static void check_isa(struct cr_diag *diag)
{
    const char *want = getenv("CELLRUN_ISA");
    const char *best = cr_isa_name(cr_isa_best());

    if (want && *want && strcmp(want, cr_isa_name(cr_isa())) != 0)
        cr_warn(diag, CR_NOWHERE, CR_E_USAGE,
                "CELLRUN_ISA has no effect: found '%s', but this processor "
                "has %s",
                want, best);
}

bool cr_env_check(struct cr_diag *diag)
{
    const struct cr_env *v;
    int64_t number;
    bool ok = true;

    for (v = cr_env_list; v->name; v++) {
        const char *value = value_of(v);

        if (!value || (v->choices ? is_choice(v->choices, value)
                                  : !v->what || is_number(v, value, &number)))
            continue;
        ok = (env_wrong(diag, v, value) || v->foreign) && ok;
    }
    if (ok)
        check_isa(diag);
    return ok;
}

bool cr_env_number(const char *name, int64_t *to)
{
    const struct cr_env *v = cr_env_list;
    const char *value;

    while (strcmp(v->name, name) != 0)
        v++;
    value = value_of(v);
    return value && is_number(v, value, to);
}
