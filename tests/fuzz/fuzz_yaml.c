/* A config from any bytes: read, merged, assigned to, expanded, checked and
 * printed. Lines after a line `~~~` are assignments. What loads without an
 * error must print so that it loads as the same again.
 *
 * The config is in a folder of its own, next to files that it may name as
 * `base`. Files elsewhere are not part of the input: a text that could name
 * one is read while nothing can be opened. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/str.h"
#include "conf/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
    SETS = 15
};

/* What an input may have as base: one, one with a base, circles, damage. */
static const struct {
    const char *name, *text;
} fuzz_bases[] = {
    { "b.yaml", "a: {b: 1, c: [1, {d: 2}]}\nnetwork: [{Dense: [4, 3]}, ReLU]\n"
                "vars: {n: 3}\ntrain: {epochs: $n}\n" },
    { "c.yaml", "base: b.yaml\na: {c: !append [3]}\ntrain: {epochs: 4}\n" },
    { "d.yaml", "base: [b.yaml, c.yaml]\noptimizer: {SGD: 0.1}\n" },
    { "l.yaml", "base: m.yaml\n" },
    { "m.yaml", "base: l.yaml\na: 1\n" },
    { "x.yaml", "a: [1\n" },
};

static char fuzz_folder[] = "/tmp/fuzz_yaml.XXXXXX", fuzz_input[64];
static int fuzz_fd; /* of the input, a file in memory: t.yaml links to it */
static FILE *fuzz_null;

static void fuzz_write(const char *name, const void *data, size_t size)
{
    char path[80];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", fuzz_folder, name);
    f = fopen(path, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
        abort();
}

static void fuzz_remove(void)
{
    char path[80];

    for (size_t i = 0; i < CR_LEN(fuzz_bases); i++) {
        snprintf(path, sizeof path, "%s/%s", fuzz_folder, fuzz_bases[i].name);
        unlink(path);
    }
    unlink(fuzz_input);
    rmdir(fuzz_folder);
}

static void fuzz_start(void)
{
    char link[64];

    if (fuzz_null)
        return;
    fuzz_null = fopen("/dev/null", "w");
    if (!fuzz_null || !mkdtemp(fuzz_folder))
        abort();
    atexit(fuzz_remove);
    unsetenv("CELLRUN_PATH");
    snprintf(fuzz_input, sizeof fuzz_input, "%s/t.yaml", fuzz_folder);
    fuzz_fd = memfd_create("fuzz", MFD_CLOEXEC);
    snprintf(link, sizeof link, "/proc/self/fd/%d", fuzz_fd);
    if (fuzz_fd < 0 || symlink(link, fuzz_input) != 0)
        abort();
    for (size_t i = 0; i < CR_LEN(fuzz_bases); i++)
        fuzz_write(fuzz_bases[i].name, fuzz_bases[i].text,
                   strlen(fuzz_bases[i].text));
}

/* Allows files to be opened, or forbids it. */
static void fuzz_files(bool allowed)
{
    static struct rlimit limit;
    struct rlimit none;

    if (limit.rlim_max == 0 && getrlimit(RLIMIT_NOFILE, &limit) != 0)
        abort();
    none = limit;
    none.rlim_cur = 0;
    if (setrlimit(RLIMIT_NOFILE, allowed ? &limit : &none) != 0)
        abort();
}

/* Splits off the assignments; returns the length of the text. */
static size_t fuzz_split(struct cr_arena *mem, const char *text, size_t size,
                         const char **sets)
{
    const char *mark = strstr(text, "\n~~~\n");
    int n = 0;

    if (!mark)
        return size;
    for (const char *s = mark + 5; *s && n < SETS;) {
        size_t len = strcspn(s, "\n");

        sets[n++] = cr_strndup(mem, s, len);
        s += len + (s[len] == '\n');
    }
    return (size_t)(mark - text) + 1;
}

static void fuzz_same(bool good)
{
    if (!good)
        abort();
}

/* Every text of the tree as patterns; some may be. */
static void fuzz_patterns(struct cr_config *config, const struct cr_node *node)
{
    static const char *const types[] = { "Dense", NULL };
    static const struct cr_subject subjects[] = { { "layer1.0.weight", NULL },
                                                  { "fc.bias", types } };

    if (node->kind == CR_NODE_STR || node->kind == CR_NODE_MAP) {
        const struct cr_patterns *p = cr_patterns_read(config, node);

        cr_patterns_match(p, &subjects[0]);
        cr_patterns_used(config, p, subjects, 2, "parameters");
    }
    for (CR_EACH(m, node))
        fuzz_patterns(config, m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem }, again = { .arena = &mem };
    const char *sets[SETS + 1] = { NULL };
    const char *text = cr_strndup(&mem, (const char *)data, size), *printed;
    const char *files[] = { fuzz_input, NULL };
    struct cr_config_from from = { .text_name = "t", .sets = sets };
    bool elsewhere = strlen(text) != size || strpbrk(text, "/\\");
    struct cr_config *config, *second;

    fuzz_start();
    size = fuzz_split(&mem, text, size, sets);
    if (elsewhere) {
        from.text = cr_strndup(&mem, text, size);
        fuzz_files(false);
    } else {
        fuzz_same(ftruncate(fuzz_fd, 0) == 0 &&
                  pwrite(fuzz_fd, text, size, 0) == (ssize_t)size);
        from.files = files;
    }
    config = cr_config_load(&mem, &diag, &from);
    printed = cr_config_yaml(config, false, false);
    if (diag.errors == 0) {
        second = cr_config_load(
            &mem, &again,
            &(struct cr_config_from){ .text = printed,
                                      .text_name = "t",
                                      .text_dir = config->dir });
        fuzz_same(again.errors == 0);
        fuzz_same(strcmp(cr_config_yaml(second, false, false), printed) == 0);
        fuzz_same(strcmp(cr_config_id(second), cr_config_id(config)) == 0);
        fuzz_patterns(config, config->root);
    }
    cr_config_yaml(config, true, true);
    cr_config_check(config);
    cr_diag_print(&diag, fuzz_null, (struct cr_diag_format){ .color = true });
    diag.printed = NULL;
    cr_diag_print(&diag, fuzz_null, (struct cr_diag_format){ .json = true });
    fuzz_files(true);
    cr_arena_free(&mem);
    return 0;
}
