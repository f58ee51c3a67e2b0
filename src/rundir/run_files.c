#include "rundir/run_files.h"

#include <stddef.h>
#include <string.h>

#include "base/compiler.h"
#include "base/str.h"

const char *const cr_run_files[] = {
    "config.yaml", "resolved.yaml",   "command",     "metrics.jsonl",
    "metrics.csv", "log.txt",         "eval.npz",    "samples.json",
    "report.html", "provenance.json", "record.json", NULL
};

/* The position of the digits that end at `end` and follow the character
 * `before`; NULL: there are none. */
static const char *files_number(const char *name, const char *end, char before)
{
    const char *p = end;

    while (p > name && p[-1] >= '0' && p[-1] <= '9')
        p--;
    return p < end && p > name && p[-1] == before ? p : NULL;
}

bool cr_run_is_temporary(const char *name)
{
    const char *number = files_number(name, name + strlen(name), '.');

    if (cr_starts(name, "lock.tmp."))
        return true;
    /* .NAME.tmp.PID of base/atomic_file.c */
    return name[0] == '.' && number && number - name > 6 &&
           strncmp(number - 5, ".tmp.", 5) == 0;
}

/* NAME-STEP.npz: tensors that entries of `watch` save. */
static bool files_is_watched(const char *name)
{
    static const char *const endings[] = { ".npz", ".safetensors" };

    for (size_t i = 0; i < CR_LEN(endings); i++)
        if (cr_ends(name, endings[i]) &&
            files_number(name, name + strlen(name) - strlen(endings[i]), '-'))
            return true;
    return false;
}

bool cr_run_is_file(const char *name)
{
    for (int i = 0; cr_run_files[i]; i++)
        if (strcmp(name, cr_run_files[i]) == 0)
            return true;
    return strcmp(name, "lock") == 0 || cr_run_is_temporary(name) ||
           cr_starts(name, "events.out.tfevents.") || files_is_watched(name);
}

bool cr_run_is_ckpt(const char *name)
{
    return cr_run_is_temporary(name) ||
           (name[0] != '.' && cr_ends(name, ".safetensors"));
}
