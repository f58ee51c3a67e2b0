/* Text helpers, paths, numbers as text, hashes, whole files. */
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/checked_math.h"
#include "base/str.h"
#include "conf.h"
#include "tap.h"

static void test_utf8(void)
{
    static const struct {
        const char *text;
        size_t n;
        int len;
        uint32_t code;
    } cases[] = {
        { "a", 1, 1, 'a' },
        { "", 0, 0, 0 },
        { "\xc3\xa4", 2, 2, 0xe4 },
        { "\xe2\x82\xac", 3, 3, 0x20ac },
        { "\xf0\x9f\x98\x80", 4, 4, 0x1f600 },
        { "\xf4\x8f\xbf\xbf", 4, 4, 0x10ffff },
        { "\xc3\xa4", 1, 0, 0 },         /* cut */
        { "\x80", 1, 0, 0 },             /* no first byte */
        { "\xc0\xaf", 2, 0, 0 },         /* overlong */
        { "\xe0\x80\xaf", 3, 0, 0 },     /* overlong */
        { "\xed\xa0\x80", 3, 0, 0 },     /* surrogate */
        { "\xf4\x90\x80\x80", 4, 0, 0 }, /* above U+10FFFF */
        { "\xff", 1, 0, 0 },
        { "\xe2\x82z", 3, 0, 0 },
    };

    test_begin("UTF-8, sound and not");
    for (size_t i = 0; i < CR_LEN(cases); i++) {
        uint32_t code = 0;
        int len = cr_utf8(cases[i].text, cases[i].n, &code);

        ok(len == cases[i].len && code == cases[i].code,
           "UTF-8, case %zu: %d bytes, U+%04X", i, len, (unsigned)code);
    }
    test_end();
    ok(cr_utf8_count("a\xc3\xa4\xff", 4) == 3, "characters are counted");
}

static void test_numbers(void)
{
    static const double values[] = {
        0,       -0.0,          1,     0.1,
        1.0 / 3, 1e-3,          1e15,  1000000000000001.0,
        1e16,    6.02e23,       1e300, 5e-324,
        1e22,    123456789.125, -1e-7
    };
    size_t bytes;
    int64_t n;

    test_begin("numbers are written so that they are read again");
    for (size_t i = 0; i < CR_LEN(values); i++) {
        const char *text = cr_real_text(&conf_mem, values[i]);

        ok(strtod(text, NULL) == values[i] &&
               signbit(strtod(text, NULL)) == signbit(values[i]) &&
               strpbrk(text, ".e"),
           "a real as text is the same again: %s", text);
    }
    test_end();
    same(cr_real_text(&conf_mem, 0.1), "0.1", "no more digits than needed");
    same(cr_real_text(&conf_mem, 1000), "1000.0", "a whole number");
    same(cr_real_text(&conf_mem, -INFINITY), "-inf", "infinite");
    same(cr_real_text(&conf_mem, NAN), "nan", "no number");
    ok(!cr_checked_mul(&bytes, SIZE_MAX / 2, (size_t)3),
       "too large for size_t");
    ok(cr_checked_mul(&bytes, (size_t)6, (size_t)7) && bytes == 42,
       "a product");
    ok(!cr_checked_add(&n, INT64_MAX, (int64_t)1), "too large for int64_t");
    ok(!cr_checked_mul(&bytes, (int64_t)-1, (int64_t)3),
       "below zero is no size");
}

static void test_paths(void)
{
    struct cr_arena *a = &conf_mem;

    same(cr_path_join(a, "d", "f"), "d/f", "join");
    same(cr_path_join(a, "d/", "f"), "d/f", "join with a slash");
    same(cr_path_join(a, "d", "/f"), "/f", "join with an absolute path");
    same(cr_path_join(a, ".", "f"), "f", "join with .");
    same(cr_path_join(a, NULL, "f"), "f", "join with nothing");
    same(cr_path_dir(a, "a/b/c.yaml"), "a/b", "dir");
    same(cr_path_dir(a, "c.yaml"), ".", "dir of a name");
    same(cr_path_dir(a, "/c"), "/", "dir at the root");
    same(cr_path_stem(a, "a.b/c.tar.gz"), "c.tar", "stem");
    same(cr_path_stem(a, "a.b/c"), "c", "stem without a suffix");
    same(cr_path_stem(a, ".c"), ".c", "stem of a hidden file");
}

static void test_hash(void)
{
    /* Fowler, Noll, Vo: test vectors of FNV-1a, 64 bit */
    ok(cr_hash(CR_HASH, "", 0) == UINT64_C(0xcbf29ce484222325), "FNV of ''");
    ok(cr_hash(CR_HASH, "a", 1) == UINT64_C(0xaf63dc4c8601ec8c), "of 'a'");
    ok(cr_hash(CR_HASH, "foobar", 6) == UINT64_C(0x85944171f73967e8),
       "of 'foobar'");
    ok(cr_hash(cr_hash(CR_HASH, "foo", 3), "bar", 3) ==
           UINT64_C(0x85944171f73967e8),
       "in two parts");
}

static void test_buf(void)
{
    struct cr_buf buf = { .arena = &conf_mem };
    char *many = CR_NEWS(&conf_mem, char, 1001);

    same(cr_buf_text(&buf), "", "nothing yet");
    memset(many, 'x', 1000);
    cr_buf_f(&buf, "%s|%d", many, 7);
    ok(buf.len == 1002 && strcmp(buf.text + 1000, "|7") == 0,
       "more than its first room");
    buf = (struct cr_buf){ .arena = &conf_mem };
    cr_buf_json(&buf, "a\"\\\n\t\x01\xc3\xa4\xff");
    same(buf.text, "\"a\\\"\\\\\\n\\t\\u0001\xc3\xa4\xef\xbf\xbd\"", "JSON");
}

static void test_files(void)
{
    char folder[] = "/tmp/t_str.XXXXXX";
    struct cr_diag diag = { .arena = &conf_mem };
    const char *path, *text;
    size_t len = 0;

    if (!mkdtemp(folder))
        abort();
    path = cr_path_join(&conf_mem, folder, "f");
    ok(cr_write_file(&diag, path, "one", 3) &&
           cr_write_file(&diag, path, "a\0b", 3),
       "a file is written, and written again");
    text =
        cr_read_file(&conf_mem, &diag, CR_NOWHERE, path, CR_E_INCLUDE, 3, &len);
    ok(text && len == 3 && memcmp(text, "a\0b", 4) == 0, "and read");
    ok(!cr_read_file(&conf_mem, &diag, CR_NOWHERE, path, CR_E_INCLUDE, 2,
                     &len) &&
           strstr(conf_first(&diag), "is larger than 2 bytes"),
       "not if it is too large");
    ok(!cr_read_file(&conf_mem, &diag, CR_NOWHERE, folder, CR_E_INCLUDE, 9,
                     &len) &&
           strstr(conf_first(&diag), "it is a folder"),
       "a folder is no file");
    ok(!cr_read_file(&conf_mem, &diag, CR_NOWHERE, "/nonexistent", CR_E_INCLUDE,
                     9, &len) &&
           strstr(conf_first(&diag), "No such file"),
       "what is not there cannot be read");
    ok(!cr_write_file(&diag, folder, "x", 1) &&
           strstr(conf_first(&diag), "cannot write: Is a directory"),
       "a folder is not written over");
    ok(!cr_write_file(&diag, "/nonexistent/f", "x", 1) &&
           strstr(conf_first(&diag), "/nonexistent/f: error: cannot write"),
       "a file that cannot be written is reported with its path");
    same(cr_strf(&conf_mem, "%d",
                 system(cr_strf(&conf_mem, "test \"$(ls -a %s | wc -l)\" = 3",
                                folder))),
         "0", "nothing but the file is left");
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    test_utf8();
    test_numbers();
    test_paths();
    test_hash();
    test_buf();
    test_files();
    cr_arena_free(&conf_mem);
    return done();
}
