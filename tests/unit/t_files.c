/*
 * The formats of files: what the samples of tests/fuzz/corpus hold
 * (tests/golden/make_files.py made them), and that every truncation and every
 * changed byte is either read as something or refused with a message.
 */
#include "base/str.h"
#include "data/format.h"
#include "tap.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define CORPUS "tests/fuzz/corpus/"

static struct cr_arena mem;

struct content {
    struct cr_spec spec;
    double v[64];
    const char *why; /* the refusal; NULL: none */
};

static struct content content_of(const char *format, const char *path)
{
    const struct cr_format *f = cr_format_find(format);
    struct cr_diag diag = { .arena = &mem };
    struct content c = { 0 };
    struct cr_file *file = f->open(&mem, &diag, path, &c.spec);
    char data[1024];

    if (file) {
        int64_t rows = c.spec.rank > 0 ? c.spec.dim[0] : 1;

        if (cr_bytes(&c.spec) <= sizeof data &&
            f->read(file, &diag, 0, rows, data) &&
            cr_count(&c.spec) <= 64)
            cr_convert(c.spec.type, data, CR_F64, c.v, cr_count(&c.spec));
        f->close(file);
    }
    if (diag.errors > 0)
        c.why = diag.first->text;
    return c;
}

static struct content sample(const char *format, const char *name)
{
    return content_of(format,
                      cr_strf(&mem, CORPUS "%s/%s", format, name));
}

static void holds(const char *format, const char *name, const char *shape,
                  enum cr_type type, const double *v, int n)
{
    struct content c = sample(format, name);
    int i;

    test_begin("%s/%s is read", format, name);
    if (!ok(!c.why, "%s/%s is read", format, name)) {
        printf("# %s\n", c.why);
        return;
    }
    same(cr_diag_format(&mem, &c.spec), shape, name);
    ok(c.spec.type == type, "%s/%s is %s", format, name, cr_type_name(type));
    for (i = 0; i < n && c.v[i] == v[i]; i++)
        ;
    ok(i == n, "%s/%s: %d values", format, name, n);
    test_end();
}

static void refused(const char *format, const char *name, const char *why)
{
    struct content c = sample(format, name);

    ok(c.why && strstr(c.why, why), "%s/%s is refused: %s", format, name, why);
    if (!c.why || !strstr(c.why, why))
        printf("# got: %s\n", c.why ? c.why : "nothing");
}

static void idx(void)
{
    double count[24];
    int i;

    for (i = 0; i < 24; i++)
        count[i] = i;
    holds("idx", "u8", "(2, 3, 4)", CR_U8, count, 24);
    holds("idx", "u8.gz", "(2, 3, 4)", CR_U8, count, 24);
    holds("idx", "two_members.gz", "(2, 3, 4)", CR_U8, count, 24);
    holds("idx", "i16", "(3,)", CR_I16, (double[]){ 1, -2, 300 }, 3);
    holds("idx", "f32", "(2,)", CR_F32, (double[]){ 0.5, -1.25 }, 2);
    holds("idx", "labels", "(3,)", CR_U8, (double[]){ 5, 0, 4 }, 3);
    holds("idx", "empty_dim", "(0, 5)", CR_U8, NULL, 0);
    refused("idx", "huge", "too large");
    refused("idx", "huge.gz", "too few to decompress to the");
    refused("idx", "none_of_huge", "too large");
    refused("idx", "trailing", "41 bytes, but its header declares 40");
    refused("idx", "bad_type", "not an IDX file");
}

static void npy(void)
{
    static const double six[] = { 0, 1, 2, 3, 4, 5 };

    holds("npy", "f4", "(2, 3)", CR_F32, six, 6);
    holds("npy", "f4_fortran", "(2, 3)", CR_F32, six, 6);
    holds("npy", "f4_big", "(2, 3)", CR_F32, six, 6);
    holds("npy", "i8_v2", "(4,)", CR_I64, six, 4);
    holds("npy", "scalar", "()", CR_I32, (double[]){ 7 }, 1);
    holds("npy", "bool", "(2,)", CR_BOOL, (double[]){ 1, 0 }, 2);
    holds("npy", "bool_any", "(3,)", CR_BOOL, (double[]){ 1, 0, 1 }, 3);
    holds("npy", "v3", "(3,)", CR_U8, six, 3);
    holds("npy", "empty", "(0, 3)", CR_F32, NULL, 0);
    refused("npy", "complex", "are not supported");
    refused("npy", "structured", "");
    refused("npy", "text", "are not supported");
    refused("npy", "trailing", "bytes, but its header declares");
}

/* Pixel (y, x) of the samples, channel c. */
static double pixel(int i, int channels)
{
    return (i / channels / 5 * 50 + i / channels % 5 * 10 +
            i % channels * 3) & 255;
}

static void png(void)
{
    double gray[15], rgb[45], bits[15];
    int i;

    for (i = 0; i < 15; i++) {
        gray[i] = pixel(i, 1);
        bits[i] = i / 5 == 0 ? 255 * (i % 2 == 0)
                  : i / 5 == 1 ? 255 * (i % 5 % 2 == 1)
                               : 255;
    }
    for (i = 0; i < 45; i++)
        rgb[i] = pixel(i, 3);
    holds("png", "gray", "(3, 5, 1)", CR_U8, gray, 15);
    holds("png", "gray16", "(3, 5, 1)", CR_U8, gray, 15);
    holds("png", "gray_alpha", "(3, 5, 1)", CR_U8, gray, 15);
    holds("png", "gray1", "(3, 5, 1)", CR_U8, bits, 15);
    holds("png", "rgb", "(3, 5, 3)", CR_U8, rgb, 45);
    holds("png", "rgb_gamma", "(3, 5, 3)", CR_U8, rgb, 45);
    holds("png", "rgba", "(3, 5, 3)", CR_U8, rgb, 45);
    holds("png", "palette", "(3, 5, 3)", CR_U8, rgb, 45);
    holds("png", "palette_clear", "(3, 5, 3)", CR_U8, rgb, 45);
    holds("png", "interlaced", "(3, 5, 3)", CR_U8, rgb, 45);
    refused("png", "cut", "truncated file");
    refused("png", "wide", "");
}

/* Images of one colour; of 200, 100, 50 the chroma's rounding leaves that. */
static void jpeg(void)
{
    static const double colour[] = { 200, 100, 50 };
    double gray[15], rgb[45];
    int i;

    for (i = 0; i < 15; i++)
        gray[i] = 100;
    for (i = 0; i < 45; i++)
        rgb[i] = colour[i % 3];
    holds("jpeg", "gray", "(3, 5, 1)", CR_U8, gray, 15);
    holds("jpeg", "rgb", "(3, 5, 3)", CR_U8, rgb, 45);
    holds("jpeg", "progressive", "(3, 5, 3)", CR_U8, rgb, 45);
    refused("jpeg", "cut", "Premature end");
    refused("jpeg", "cmyk", "found CMYK, expected grey or RGB");
}

/* Every prefix, and every byte turned around: no crash, and no silence. */
static void damage(const char *format, const char *name, bool cut_is_error)
{
    struct cr_diag diag = { .arena = &mem };
    const char *path = cr_strf(&mem, CORPUS "%s/%s", format, name);
    int fd = memfd_create("t", MFD_CLOEXEC), wrong = 0;
    size_t len, i;
    char *text;

    text = cr_read_file(&mem, &diag, CR_NOWHERE, path, CR_E_SYSTEM, 1 << 20,
                        &len);
    path = cr_strf(&mem, "/proc/self/fd/%d", fd);
    if (!ok(text && fd >= 0, "%s/%s is there", format, name))
        return;
    for (i = 0; i < len; i++) {
        if (ftruncate(fd, 0) != 0 || pwrite(fd, text, i, 0) != (ssize_t)i)
            abort();
        wrong += !content_of(format, path).why && cut_is_error;
    }
    for (i = 0; i < len; i++) {
        text[i] = (char)~text[i];
        if (ftruncate(fd, 0) != 0 || pwrite(fd, text, len, 0) != (ssize_t)len)
            abort();
        content_of(format, path);
        text[i] = (char)~text[i];
    }
    ok(wrong == 0, "%s/%s: %d of %zu truncations unseen", format, name,
       wrong, len);
    close(fd);
}

int main(void)
{
    idx();
    npy();
    png();
    jpeg();
    damage("idx", "u8", true);
    damage("idx", "u8.gz", true);
    damage("npy", "f4_big", true);
    damage("npy", "f4_fortran", true);
    damage("jpeg", "rgb", true);
    damage("jpeg", "progressive", true);
    damage("png", "rgb", true);
    damage("png", "interlaced", true);
    cr_arena_free(&mem);
    return done();
}
