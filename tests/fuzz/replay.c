/*
 * An ordinary main for a fuzz target: gives it every file of its corpus,
 * tests/fuzz/corpus/NAME for fuzz_NAME, or the files and folders named. Each
 * is also cut at every length (of long files only some), because truncation
 * is what disks do. Surviving is passing; sanitizers and assertions decide: a
 * line is printed when all inputs of a folder have run, and before each of
 * them its name, for when it does not come back.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/str.h"
#include "tap.h"

enum { CUTS = 256 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void replay_file(const char *path)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    size_t len = 0;
    char *data;

    printf("# %s\n", path);
    fflush(stdout);
    data = cr_read_file(&mem, &diag, CR_NOWHERE, path, CR_E_SYSTEM,
                        (size_t)64 << 20, &len);
    if (ok(data != NULL, "%s is read", path)) {
        size_t step = len / CUTS + 1;

        for (size_t n = 0; n <= len; n += step) {
            /* a block of its own, so that reading past it is noticed */
            uint8_t *copy = malloc(n ? n : 1);

            memcpy(copy, data, n);
            LLVMFuzzerTestOneInput(copy, n);
            free(copy);
        }
        LLVMFuzzerTestOneInput((const uint8_t *)data, len);
    }
    cr_arena_free(&mem);
}

static int replay_seen(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static void replay(const char *path)
{
    struct dirent **entries;
    struct stat st;
    int n;

    if (stat(path, &st) == 0 && S_ISREG(st.st_mode)) {
        test_begin("%s, whole and cut at any length", path);
        replay_file(path);
        test_end();
        return;
    }
    n = scandir(path, &entries, replay_seen, alphasort);
    test_begin("every input of %s, whole and cut at any length", path);
    for (int i = 0; i < n; i++) {
        char *name = malloc(strlen(path) + strlen(entries[i]->d_name) + 2);

        sprintf(name, "%s/%s", path, entries[i]->d_name);
        replay_file(name);
        free(name);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    test_end();
}

int main(int argc, char **argv)
{
    const char *name = strstr(cr_path_base(argv[0]), "fuzz_");
    char path[4096];

    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    if (argc == 1) {
        snprintf(path, sizeof path, "tests/fuzz/corpus/%s",
                 name ? name + strlen("fuzz_") : "");
        replay(path);
    }
    return done();
}
