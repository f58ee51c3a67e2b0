/*
 * MindSpore's checkpoints: a golden file with every bit flipped and cut at
 * every length; the samples of the fuzzer, which tests/golden/make_ckpt.py
 * makes; writing.
 */
#include "tap.h"

#include <dirent.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ckpt/tensor_file.h"

#define CORPUS "tests/fuzz/corpus/ms_ckpt"

static struct cr_arena arena;

static unsigned char *slurp(const char *path, size_t *n)
{
    struct cr_diag diag = { .arena = &arena };

    return (unsigned char *)cr_read_file(&arena, &diag, CR_NOWHERE, path,
                                         CR_E_SYSTEM, 1 << 20, n);
}

/* A file in memory; its path stays good until the next call. */
static const char *memory(const void *data, size_t n)
{
    static char path[64];
    static int fd = -1;

    if (fd < 0)
        fd = memfd_create("t_ms_ckpt", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, n, 0) != (ssize_t)n)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

/* Whether the file opens and every byte of it can be read. */
static bool sound(const char *path)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    struct cr_tensor_file *s = cr_tensor_file_open(&mem, &diag, path);
    bool good = s && cr_tensor_file_verify(s, &diag);

    cr_tensor_file_close(s);
    cr_arena_free(&mem);
    return good;
}

static struct cr_tensor_file *sample(const char *name)
{
    struct cr_diag diag = { .arena = &arena };

    return cr_tensor_file_open(&arena, &diag,
                               cr_path_join(&arena, CORPUS, name));
}

static void golden(void)
{
    struct cr_diag diag = { .arena = &arena };
    struct cr_tensor_file *s = sample("golden");
    const struct cr_tensor_info *e;
    float w[6];
    int64_t step;
    int n;

    if (!ok(s != NULL, "the golden file opens"))
        return;
    e = cr_tensor_file_entries(s, &n);
    ok(n == 2, "two tensors");
    same(cr_tensor_file_kind(s), "MindSpore checkpoint", "its kind");
    ok(cr_tensor_file_has_checksums(s), "it has a checksum");
    same(cr_tensor_file_meta(s, "note"), "h\u00e9", "a text is metadata");
    same(e[0].name, "fc.weight", "a name");
    same(cr_diag_format(&arena, &e[0].spec), "(2, 3)", "a shape");
    ok(cr_tensor_file_read(s, &diag, &e[0], CR_F32, w) && w[0] == 0 &&
           w[5] == 5,
       "values");
    same(cr_diag_format(&arena, &e[1].spec), "()", "a scalar");
    ok(cr_tensor_file_read(s, &diag, &e[1], CR_I64, &step) && step == 300,
       "its 300");
    cr_tensor_file_close(s);
}

static void damage(void)
{
    size_t n, cut, bit, let = 0;
    unsigned char *p = slurp(CORPUS "/golden", &n);

    if (!ok(p && n == 129, "129 bytes"))
        return;
    for (bit = 0; bit < 8 * n; bit++) {
        p[bit / 8] ^= (unsigned char)(1u << bit % 8);
        let += sound(memory(p, n));
        p[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    ok(let == 0, "every flipped bit is noticed");
    for (cut = 0, let = 0; cut < n; cut++)
        let += sound(memory(p, cut));
    /* between values a file without a checksum may end: 54, 85 and 112 */
    ok(let == 3, "so is every cut within a value");
}

static void values(const char *name, const char *shape, const char *dtype,
                   float first, float last)
{
    struct cr_diag diag = { .arena = &arena };
    struct cr_tensor_file *s = sample(name);
    const struct cr_tensor_info *e = s ? cr_tensor_file_find(s, "w") : NULL;
    float *w;

    test_begin("%s.ckpt is read", name);
    if (!ok(e != NULL, "%s holds w", name))
        return;
    same(cr_diag_format(&arena, &e->spec), shape,
         cr_strf(&arena, "%s: its shape", name));
    same(e->dtype, dtype, cr_strf(&arena, "%s: its type", name));
    w = CR_NEWS(&arena, float, cr_count(&e->spec) + 1);
    ok(cr_tensor_file_read(s, &diag, e, CR_F32, w), "%s is read", name);
    ok(w[0] == first &&
           w[cr_count(&e->spec) - (cr_count(&e->spec) > 0)] == last,
       "%s: its values", name);
    cr_tensor_file_close(s);
}

static void accepted(void)
{
    struct cr_diag diag = { .arena = &arena };
    struct cr_tensor_file *s;
    const struct cr_tensor_info *e;
    int n;

    values("packed", "(2, 3)", "Float32", 0, 5);
    values("mixed", "(2, 3)", "Float32", 0, 5);
    values("slices", "(3,)", "Float32", 0, 2);
    values("old-scalar", "()", "Float32", 1, 1);
    values("none", "(0,)", "Float32", 0, 0);
    values("again", "()", "Int8", 5, 5);
    values("backwards", "(6,)", "Float32", 0, 5);
    values("unknown", "(2,)", "Float32", 0, 1);
    values("merged", "(2,)", "Float32", 0, 1);
    values("map", "(2, 3)", "Float32", 0, 5);
    test_end();
    s = sample("skipped");
    e = cr_tensor_file_entries(s, &n);
    ok(n == 3, "random_op is omitted");
    ok(!e[1].readable && !e[2].readable, "Int4 and Complex64 are listed only");
    ok(!cr_tensor_file_read(s, &diag, &e[1], CR_F32, &n) && diag.errors == 1,
       "and refused");
    cr_tensor_file_close(s);
    s = sample("flat");
    e = cr_tensor_file_entries(s, &n);
    ok(n == 1 && !e->readable && e->spec.rank == -1,
       "more than 8 dimensions are listed only");
    cr_tensor_file_close(s);
    s = sample("map");
    e = cr_tensor_file_find(s, "table");
    ok(e && !e->readable, "so is a table of hashes");
    cr_tensor_file_close(s);
}

static void refused(void)
{
    DIR *dir = opendir(CORPUS);
    struct dirent *entry;
    int bad = 0;

    test_begin("of the corpus, what is bad is refused and the rest is sound");
    while (dir && (entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        if (cr_starts(entry->d_name, "bad-")) {
            ok(!sound(cr_path_join(&arena, CORPUS, entry->d_name)),
               "%s is refused", entry->d_name);
            bad++;
        } else {
            ok(sound(cr_path_join(&arena, CORPUS, entry->d_name)),
               "%s is sound", entry->d_name);
        }
    }
    if (dir)
        closedir(dir);
    ok(bad > 20, "many are");
    test_end();
}

/* The golden file without its text, which is no tensor. */
static void written(void)
{
    float w[] = { 0, 1, 2, 3, 4, 5 };
    int64_t step = 300;
    struct cr_tensor tensors[] = {
        { "fc.weight", { .type = CR_F32, .rank = 2, .dim = { 2, 3 } }, w },
        { "step_num", { .type = CR_I64 }, &step },
        { "empty", { .type = CR_F32, .rank = 2, .dim = { 0, 3 } }, w },
    };
    struct cr_diag diag = { .arena = &arena };
    char path[] = "/tmp/t_ms_ckpt.XXXXXX";
    unsigned char *p, *q;
    size_t n, m;
    int fd = mkstemp(path);

    if (fd < 0)
        abort();
    close(fd);
    ok(cr_tensor_format_ms.write(&diag, path, tensors, 2), "a file is written");
    p = slurp(CORPUS "/golden", &n);
    q = slurp(path, &m);
    ok(p && q && m == 85 + 17 && memcmp(p, q, 85) == 0,
       "byte by byte as MindSpore writes it");
    ok(sound(path), "its checksum holds");
    ok(!cr_tensor_format_ms.write(&diag, path, tensors, 3),
       "without values there is none");
    q = slurp(path, &n);
    ok(q && n == m, "what was there is still there");
    unlink(path);
}

int main(void)
{
    golden();
    damage();
    accepted();
    refused();
    written();
    cr_arena_free(&arena);
    return done();
}
