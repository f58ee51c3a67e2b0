/*
 * Checkpoints: the example of cellrun-checkpoint(5), every bit of it and every
 * length, what of foreign files is accepted, NPZ, and the folder of a run.
 * Damaged files live in memory: /proc/self/fd/N is their path.
 */
#include "tap.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/gz.h"
#include "ckpt/json.h"
#include "ckpt/tensor_file.h"
#include "data/npy.h"

static struct cr_arena arena;
static const char *folder;

static const float weight[] = { 1, 2, 3, 4 };
static const int32_t step[] = { 7 };

static const char golden_header[] =
    "{\"__metadata__\":{\"cellrun.format\":\"1\",\"cellrun.header_crc32\":"
    "\"7acef2a9\",\"cellrun.tensor_crc32\":\"8ba71454bc93e7a5\","
    "\"cellrun.kind\":\"weights\",\"cellrun.requires\":\"\","
    "\"cellrun.writer\":\"cellrun 0.1.0\",\"crc_num\":\"0941310626\","
    "\"format\":\"ms\"},\"fc.weight\":{\"dtype\":\"F32\",\"shape\":[2,2],"
    "\"data_offsets\":[0,16]},\"global_step\":{\"dtype\":\"I32\","
    "\"shape\":[1],\"data_offsets\":[16,20]}}               ";

static const char *in(const char *name)
{
    return cr_path_join(&arena, folder, name);
}

static unsigned char *slurp(const char *path, size_t *n)
{
    struct cr_diag diag = { .arena = &arena };

    return (unsigned char *)cr_read_file(&arena, &diag, CR_NOWHERE, path,
                                         CR_E_SYSTEM, 1 << 26, n);
}

/* A file in memory; its path stays good until the next call. */
static const char *memory(const void *data, size_t n)
{
    static char path[64];
    static int fd = -1;

    if (fd < 0)
        fd = memfd_create("t_ckpt", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 0) != 0 || pwrite(fd, data, n, 0) != (ssize_t)n)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

static bool is_ckpt_code(enum cr_code code)
{
    return code >= CR_E_CKPT_MISSING && code <= CR_E_CKPT_MISMATCH;
}

/* Opens and verifies; true if all is well. *code: the first complaint. */
static bool sound(const char *path, enum cr_code *code)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    struct cr_tensor_file *s = cr_tensor_file_open(&mem, &diag, path);
    bool good = s && cr_tensor_file_verify(s, &diag);

    cr_tensor_file_close(s);
    *code = diag.first ? diag.first->code : CR_E_COUNT;
    if (good != (diag.errors == 0))
        *code = CR_E_INTERNAL;
    cr_arena_free(&mem);
    return good;
}

static void golden(void)
{
    struct cr_diag diag = { .arena = &arena };
    struct cr_tensor t[] = {
        { "fc.weight", { CR_F32, CR_ROW_MAJOR, 2, { 2, 2 } }, (void *)weight },
        { "global_step", { CR_I32, CR_ROW_MAJOR, 0, { 0 } }, (void *)step },
    };
    struct cr_ckpt ckpt = { t, 2, .writer = "cellrun 0.1.0" };
    struct cr_tensor_file *s;
    const struct cr_tensor_info *e;
    unsigned char *p;
    double x[4] = { 0 };
    size_t n = 0;

    ok(cr_ckpt_write(&diag, in("golden.safetensors"), &ckpt), "written");
    p = slurp(in("golden.safetensors"), &n);
    ok(n == 404, "404 bytes");
    ok(n == 404 && memcmp(p, "\x78\1\0\0\0\0\0\0", 8) == 0 &&
           memcmp(p + 8, golden_header, 376) == 0 &&
           memcmp(p + 384, weight, 16) == 0 && memcmp(p + 400, step, 4) == 0,
       "the golden file, byte for byte");
    s = cr_tensor_file_open(&arena, &diag, in("golden"));
    ok(s && cr_tensor_file_is_cellrun(s) && !cr_tensor_file_is_train(s),
       "opened without its suffix");
    e = s ? cr_tensor_file_find(s, "fc.weight") : NULL;
    ok(e && e->spec.rank == 2 && e->spec.dim[0] == 2 && e->offset == 384 &&
           strcmp(e->dtype, "F32") == 0,
       "entry found");
    ok(e && cr_tensor_file_read(s, &diag, e, CR_F64, x) && x[0] == 1 &&
           x[3] == 4,
       "read as another type");
    ok(s && !cr_tensor_file_find(s, "fc.bias"), "no entry of another name");
    ok(s && cr_tensor_file_verify(s, &diag), "verified");
    same(s ? cr_tensor_file_meta(s, "crc_num") : "", "0941310626", "metadata");
    cr_tensor_file_close(s);
}

/* A small training checkpoint, of which nothing can change unseen. */
static unsigned char *training(size_t *n)
{
    struct cr_diag diag = { .arena = &arena };
    static const cr_real bias[] = { 0.5f, -1 };
    static const unsigned char flag[] = { 1, 0, 1 };
    struct cr_tensor t[] = {
        { "fc.bias", CR_SPEC(2), (void *)bias },
        { "mask", { CR_BOOL, CR_ROW_MAJOR, 1, { 3 } }, (void *)flag },
        { "none", { CR_F32, CR_ROW_MAJOR, 2, { 0, 5 } }, NULL },
        { "fc.weight", { CR_F32, CR_ROW_MAJOR, 2, { 2, 2 } }, (void *)weight },
    };
    struct cr_ckpt ckpt = { t, 4, true, .config = "seed: 1\n\"q\"\t\x01\n",
                            .state = "{\"epoch\":1}" };

    ok(cr_ckpt_write(&diag, in("train.safetensors"), &ckpt),
       "training checkpoint written");
    return slurp(in("train.safetensors"), n);
}

static void damage(const char *what, unsigned char *p, size_t n)
{
    enum cr_code code;
    size_t missed = 0, odd = 0;

    for (size_t i = 0; i < 8 * n; i++) {
        p[i / 8] ^= (unsigned char)(1u << i % 8);
        if (sound(memory(p, n), &code)) {
            printf("# bit %zu of byte %zu\n", i % 8, i / 8);
            missed++;
        } else if (!is_ckpt_code(code)) {
            odd++;
        }
        p[i / 8] ^= (unsigned char)(1u << i % 8);
    }
    ok(missed == 0, "%s: each of %zu single bits is noticed", what, 8 * n);
    ok(odd == 0, "%s: and by a message of its kind", what);
    missed = odd = 0;
    for (size_t i = 0; i < n; i++) {
        if (sound(memory(p, i), &code))
            missed++;
        else if (!is_ckpt_code(code))
            odd++;
    }
    ok(missed == 0 && odd == 0, "%s: each shorter length is noticed", what);
    p = memcpy(CR_NEWS(&arena, unsigned char, n + 1), p, n);
    ok(!sound(memory(p, n + 1), &code) && code == CR_E_CKPT_DAMAGED,
       "%s: a byte too many is noticed", what);
    ok(sound(memory(p, n), &code), "%s: whole again", what);
}

/* A file of that header and of `data` zero bytes. */
static const char *foreign(const char *header, size_t data)
{
    size_t len = strlen(header), n = 8 + len + data;
    unsigned char *p = CR_NEWS(&arena, unsigned char, n);

    for (int i = 0; i < 8; i++)
        p[i] = (unsigned char)(len >> 8 * i);
    memcpy(p + 8, header, len);
    return memory(p, n);
}

static const char deep[] =
    "{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["
    "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}";

/* Devices and links are no files to be replaced. */
static void devices(void)
{
    struct cr_diag diag = { .arena = &arena };
    struct cr_tensor t = { "a", CR_SPEC(1), (void *)weight };
    struct stat st;
    size_t n = 0;
    int reader;

    mkdir(in("dev"), 0777);
    mkfifo(in("dev/pipe"), 0600);
    reader = open(in("dev/pipe"), O_RDWR);
    ok(cr_tensors_write(&diag, in("dev/pipe"), &t, 1) &&
           stat(in("dev/pipe"), &st) == 0 && S_ISFIFO(st.st_mode),
       "a pipe is written to and stays");
    close(reader);
    ok(symlink("file", in("dev/link")) == 0 &&
           cr_write_file(&diag, in("dev/file"), "x", 1) &&
           cr_write_file(&diag, in("dev/link"), "yy", 2) &&
           lstat(in("dev/link"), &st) == 0 && S_ISLNK(st.st_mode),
       "a link stays");
    slurp(in("dev/file"), &n);
    ok(n == 2, "and what it names is written");
    ok(!cr_write_file(&diag, "/dev/full", "x", 1) &&
           stat("/dev/full", &st) == 0 && S_ISCHR(st.st_mode),
       "a full device is reported and stays");
    ok(!cr_write_file(&diag, in("dev"), "x", 1), "a folder is no file");
}

static void others(void)
{
#define T(shape, offsets)                                                     \
    "{\"a\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":" offsets \
    "}}"
    static const struct {
        const char *what, *header;
        size_t data;
        enum cr_code code; /* CR_E_COUNT: accepted */
    } file[] = {
        { "the smallest file", "{}", 0, CR_E_COUNT },
        { "white space after it", "{} \r\n\t", 0, CR_E_COUNT },
        { "white space before", " {}", 0, CR_E_COUNT },
        { "an empty tensor", T("[2,0]", "[0,0]"), 0, CR_E_COUNT },
        { "a scalar", T("[]", "[0,4]"), 4, CR_E_COUNT },
        { "null metadata", "{\"__metadata__\":null}", 0, CR_E_COUNT },
        { "an unknown key in a tensor",
          "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],"
          "\"x\":{}}}",
          1, CR_E_COUNT },
        { "8-bit floats, to be listed",
          "{\"a\":{\"dtype\":\"F8_E4M3\",\"shape\":[3],"
          "\"data_offsets\":[0,3]}}",
          3, CR_E_COUNT },
        { "4-bit floats of whole bytes",
          "{\"a\":{\"dtype\":\"F4\",\"shape\":[4],\"data_offsets\":[0,2]}}", 2,
          CR_E_COUNT },
        { "nine dimensions, to be listed", T("[1,1,1,1,1,1,1,1,1]", "[0,4]"), 4,
          CR_E_COUNT },
        { "4-bit floats of half a byte",
          "{\"a\":{\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,1]}}", 1,
          CR_E_CKPT_FORMAT },
        { "a byte less", T("[2]", "[0,8]"), 7, CR_E_CKPT_DAMAGED },
        { "a byte more", T("[2]", "[0,8]"), 9, CR_E_CKPT_DAMAGED },
        { "data without tensors", "{}", 1, CR_E_CKPT_DAMAGED },
        { "a gap at the start", T("[1]", "[4,8]"), 8, CR_E_CKPT_FORMAT },
        { "an overlap",
          "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},"
          "\"b\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[2,6]}}",
          6, CR_E_CKPT_FORMAT },
        { "an end before its begin", T("[1]", "[4,0]"), 4, CR_E_CKPT_FORMAT },
        { "a size beyond 64 bits", T("[2,18446744073709551614]", "[0,8]"), 8,
          CR_E_CKPT_FORMAT },
        { "a product beyond 64 bits", T("[4611686018427387904,4]", "[0,0]"), 0,
          CR_E_CKPT_FORMAT },
        { "a product beyond 64 bits, then 0",
          T("[4611686018427387904,4,0]", "[0,0]"), 0, CR_E_CKPT_FORMAT },
        { "a negative size", T("[-1]", "[0,4]"), 4, CR_E_CKPT_FORMAT },
        { "a size with a point", T("[1.0]", "[0,4]"), 4, CR_E_CKPT_FORMAT },
        { "33 dimensions",
          T("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,"
            "1,1]",
            "[0,4]"),
          4, CR_E_CKPT_FORMAT },
        { "no dtype", "{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
          CR_E_CKPT_FORMAT },
        { "an unknown dtype",
          "{\"a\":{\"dtype\":\"F33\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
          CR_E_CKPT_FORMAT },
        { "three offsets", T("[1]", "[0,4,4]"), 4, CR_E_CKPT_FORMAT },
        { "a tensor that is a number", "{\"a\":1}", 0, CR_E_CKPT_FORMAT },
        { "metadata of numbers", "{\"__metadata__\":{\"a\":1}}", 0,
          CR_E_CKPT_FORMAT },
        { "metadata that are a list", "{\"__metadata__\":[]}", 0,
          CR_E_CKPT_FORMAT },
        { "a name twice",
          "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},"
          "\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}",
          2, CR_E_CKPT_FORMAT },
        { "an empty name",
          "{\"\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 1,
          CR_E_CKPT_FORMAT },
        { "a byte that is no UTF-8",
          "{\"\xff\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
          1, CR_E_CKPT_FORMAT },
        { "half a surrogate pair", "{\"__metadata__\":{\"a\":\"\\ud83d\"}}", 0,
          CR_E_CKPT_FORMAT },
        { "a raw control character", "{\"__metadata__\":{\"a\":\"\n\"}}", 0,
          CR_E_CKPT_FORMAT },
        { "a list", "[]", 0, CR_E_CKPT_FORMAT },
        { "no JSON", "hello, world", 0, CR_E_CKPT_FORMAT },
        { "two objects", "{}{}", 0, CR_E_CKPT_FORMAT },
        { "66 levels", deep, 0, CR_E_CKPT_FORMAT },
        { "our metadata without our beginning",
          "{\"__metadata__\":{\"cellrun.kind\":\"weights\"}}", 0,
          CR_E_CKPT_DAMAGED },
        { "a format to come, written by others",
          "{\"__metadata__\":{\"format\":\"ms\",\"cellrun.format\":\"12\"}}", 0,
          CR_E_CKPT_NEWER },
    };
#undef T
    static const unsigned char huge[] = { 1, 0xe1, 0xf5, 5,   0,   0,
                                          0, 0,    '{',  '}', ' ', ' ' };
    enum cr_code code;

    test_begin("headers of other programs, and their errors");
    for (size_t i = 0; i < CR_LEN(file); i++) {
        bool good = sound(foreign(file[i].header, file[i].data), &code);

        ok(good == (file[i].code == CR_E_COUNT) && code == file[i].code,
           "%s: %s", file[i].what,
           file[i].code == CR_E_COUNT ? "accepted"
                                      : cr_code_title(file[i].code));
    }
    test_end();
    ok(!sound(memory(huge, sizeof huge), &code) && code == CR_E_CKPT_FORMAT,
       "a header of 100,000,001 bytes");
    ok(!sound(memory("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16), &code) &&
           code == CR_E_CKPT_FORMAT,
       "a picture is no checkpoint");
    ok(!sound(folder, &code) && code == CR_E_CKPT_MISSING,
       "a folder without checkpoints");
    ok(!sound("/dev/null", &code) && code == CR_E_CKPT_FORMAT, "a device");
    ok(!sound(in("nothing"), &code) && code == CR_E_CKPT_MISSING,
       "nothing there");
    mkfifo(in("fifo"), 0600);
    ok(!sound(in("fifo"), &code) && code == CR_E_CKPT_FORMAT,
       "a fifo is refused at once");
}

/* Our header with another text put in, its checksum right again. */
static const char *rewritten(const unsigned char *p, size_t n, const char *old,
                             const char *new)
{
    unsigned char *q = memcpy(CR_NEWS(&arena, unsigned char, n), p, n);
    size_t len = strlen(old), head = 8 + (size_t)q[0] + 256u * q[1];
    char digits[9];

    for (size_t i = 8; i + len <= head; i++)
        if (memcmp(q + i, old, len) == 0) {
            memcpy(q + i, new, len);
            break;
        }
    memset(q + CR_ST_CRC_AT, '0', 8);
    snprintf(digits, sizeof digits, "%08x", cr_crc32(0, q, head));
    memcpy(q + CR_ST_CRC_AT, digits, 8);
    return memory(q, n);
}

static void profile(const unsigned char *p, size_t n)
{
    enum cr_code code;

    ok(sound(rewritten(p, n, "cellrun.writer", "cellrun.writer"), &code),
       "a right checksum is right");
    ok(!sound(rewritten(p, n, "format\":\"1", "format\":\"2"), &code) &&
           code == CR_E_CKPT_NEWER,
       "a newer format is named so");
    ok(!sound(rewritten(p, n, "requires\":\"\",\"cellrun.writer\":\"c",
                        "requires\":\"x\",\"cellrun.writer\":\""),
              &code) &&
           code == CR_E_CKPT_NEWER,
       "an unknown requirement is named so");
    ok(!sound(rewritten(p, n, "cellrun.writer", "cellrun.wroter"), &code) &&
           code == CR_E_CKPT_FORMAT,
       "a key that must be there");
    ok(!sound(rewritten(p, n, "\"weights\"", "\"veights\""), &code) &&
           code == CR_E_CKPT_FORMAT,
       "an unknown kind");
    ok(!sound(rewritten(p, n, "tensor_crc32\":\"8b", "tensor_crc32\":\"8B"),
              &code) &&
           code == CR_E_CKPT_FORMAT,
       "digits in capitals");
    ok(!sound(rewritten(p, n, "tensor_crc32\":\"8b", "tensor_crc32\":\"8c"),
              &code) &&
           code == CR_E_CKPT_DAMAGED,
       "a tensor's checksum that does not fit");
}

static void refused(void)
{
    struct cr_diag diag = { .arena = &arena };
    struct cr_tensor t[] = {
        { "a", CR_SPEC(1), (void *)weight },
        { "a", CR_SPEC(1), (void *)weight },
    };
    struct cr_ckpt two = { .tensors = t, .n = 2 };
    struct cr_ckpt one = { .tensors = t, .n = 1 };
    struct rlimit old, small = { 100, RLIM_INFINITY };
    size_t n, m;
    unsigned char *p, *q;
    bool good;

    ok(!cr_ckpt_write(&diag, in("x.safetensors"), &two), "a name twice");
    t[0].name = "format";
    ok(!cr_ckpt_write(&diag, in("x.safetensors"), &one), "a name of cellrun's");
    t[0].name = "\xc3";
    ok(!cr_ckpt_write(&diag, in("x.safetensors"), &one), "no UTF-8");
    ok(access(in("x.safetensors"), F_OK) != 0, "nothing was written");
    t[0].name = "a";
    ok(!cr_ckpt_write(&diag, in("nowhere/x.safetensors"), &one) &&
           diag.last->code == CR_E_SYSTEM,
       "a folder that is not there");
    p = slurp(in("golden.safetensors"), &n);
    getrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &small);
    good = cr_ckpt_write(&diag, in("golden.safetensors"), &one);
    ok(!good && diag.last->code == CR_E_SYSTEM, "no room: %s", diag.last->text);
    setrlimit(RLIMIT_FSIZE, &old);
    q = slurp(in("golden.safetensors"), &m);
    ok(m == n && memcmp(p, q, n) == 0, "the file of that name stays");
    ok(access(cr_strf(&arena, "%s/.golden.safetensors.tmp.%d", folder,
                      (int)getpid()),
              F_OK) != 0,
       "and no other file is left");
}

/* ---- NPZ */

static const char npy_golden[] =
    "\x93NUMPY\1\0\x76\0{'descr': '<f4', 'fortran_order': False, 'shape': "
    "(2, 3), }";

static void npy(void)
{
    static const char *const bad[] = {
        "{'descr': '<f4', 'fortran_order': False}\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }\n",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2, 3), }\n",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': "
        "()}\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3), }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,), }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': "
        "(9223372036854775807, 2), }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': "
        "(99223372036854775807,), }\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } x\n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
        "\n",
    };
    struct cr_buf text = { .arena = &arena };
    struct cr_npy to;
    const char *why;
    const char *odd = "{\"shape\":(7L,)  ,\"descr\":'>i2',"
                      "'fortran_order':True}   \n";
    size_t len = strlen(odd);
    bool good;
    struct cr_spec spec = { CR_F32, CR_ROW_MAJOR, 2, { 2, 3 } };

    cr_npy_header(&text, &spec);
    ok(text.len == 128 &&
           memcmp(text.text, npy_golden, sizeof npy_golden - 1) == 0 &&
           text.text[127] == '\n' && text.text[126] == ' ',
       "the golden .npy header");
    ok(cr_npy_read(&arena, text.text, text.len, &to, &why) && to.readable &&
           cr_spec_same(&to.spec, &spec) && to.data == 128 && !to.fortran,
       "and read again");
    good = cr_npy_read(&arena, text.text, 127, &to, &why);
    ok(!good, "cut: %s", why);
    text.len = 0;
    cr_buf_add(&text, "\x93NUMPY\3\0", 8);
    cr_buf_char(&text, (char)len);
    cr_buf_add(&text, "\0\0", 3);
    cr_buf_add(&text, odd, len);
    ok(!cr_npy_read(&arena, text.text, text.len, &to, &why),
       "no L in version 3");
    text.text[6] = 2;
    ok(cr_npy_read(&arena, text.text, text.len, &to, &why) && to.swap &&
           to.fortran && to.readable && to.spec.type == CR_I16 &&
           to.spec.rank == 1 && to.spec.dim[0] == 7 && to.data == 12 + len,
       "keys in any order, quotes of both kinds, L, big endian, Fortran");
    test_begin("headers of .npy that are refused");
    for (size_t i = 0; i < CR_LEN(bad); i++) {
        len = strlen(bad[i]);
        text.len = 0;
        cr_buf_add(&text, "\x93NUMPY\1\0", 8);
        cr_buf_char(&text, (char)len);
        cr_buf_char(&text, 0);
        cr_buf_add(&text, bad[i], len);
        ok(!cr_npy_read(&arena, text.text, text.len, &to, &why), "refused: %s",
           cr_quote(&arena, bad[i], len));
    }
    test_end();
}

static void npz(void)
{
    struct cr_diag diag = { .arena = &arena };
    static const cr_real x[] = { 1, 2, 3, 4, 5, 6 };
    struct cr_tensor t[] = {
        { "output", CR_SPEC(2, 3), (void *)x },
        { "output.fc", CR_SPEC(6), (void *)x },
        { "loss", CR_SCALAR, (void *)x },
        { "label", { CR_I32, CR_ROW_MAJOR, 1, { 1 } }, (void *)step },
    };
    const struct cr_tensor_info *e;
    struct cr_tensor_file *s;
    double y[6] = { 0 };
    size_t n, noticed = 0;
    enum cr_code code;
    unsigned char *p;
    int count = 0;

    ok(cr_tensors_write(&diag, in("t.npz"), t, 4), "NPZ written");
    s = cr_tensor_file_open(&arena, &diag, in("t.npz"));
    e = s ? cr_tensor_file_entries(s, &count) : NULL;
    ok(count == 4 && strcmp(e[2].name, "loss") == 0 && e[2].spec.rank == 0,
       "read in the order written");
    test_begin("data of an NPZ begin at multiples of 64");
    for (int i = 0; i < count; i++)
        ok(e[i].offset % 64 == 0, "%s", e[i].name);
    test_end();
    e = s ? cr_tensor_file_find(s, "output") : NULL;
    ok(e && cr_tensor_file_read(s, &diag, e, CR_F64, y) && y[5] == 6, "values");
    cr_tensor_file_close(s);
    p = slurp(in("t.npz"), &n);
    for (size_t i = 0; i < 8 * n; i++) {
        p[i / 8] ^= (unsigned char)(1u << i % 8);
        noticed += !sound(memory(p, n), &code);
        p[i / 8] ^= (unsigned char)(1u << i % 8);
    }
    /* dates, attributes and padding mean nothing */
    ok(noticed > 4 * n, "%zu of %zu bits noticed, no crash", noticed, 8 * n);
    noticed = 0;
    for (size_t i = 0; i < n; i++)
        noticed += !sound(memory(p, i), &code);
    ok(noticed == n, "every shorter length noticed");
}

/* More members than 16 bits count: zip64 records. */
static void npz_many(void)
{
    struct cr_diag diag = { .arena = &arena };
    struct cr_tensor *t = CR_NEWS(&arena, struct cr_tensor, 70000);
    struct cr_tensor_file *s;
    int n = 0;

    for (int i = 0; i < 70000; i++) {
        t[i].name = cr_strf(&arena, "a%d", i);
        t[i].spec = (struct cr_spec){ CR_F32, CR_ROW_MAJOR, 1, { 0 } };
    }
    ok(cr_tensors_write(&diag, in("many.npz"), t, 70000), "70,000 arrays");
    s = cr_tensor_file_open(&arena, &diag, in("many.npz"));
    if (s)
        cr_tensor_file_entries(s, &n);
    ok(n == 70000 && cr_tensor_file_find(s, "a69999"), "and read");
    cr_tensor_file_close(s);
}

/* Made with numpy: savez_compressed of a Fortran array of >f8, and of bytes. */
static void npz_foreign(void)
{
    struct cr_diag diag = { .arena = &arena };
    struct cr_tensor_file *s =
        cr_tensor_file_open(&arena, &diag, "tests/golden/packed.npz");
    const struct cr_tensor_info *e = s ? cr_tensor_file_find(s, "f") : NULL;
    double y[6] = { 0 };

    ok(s && cr_tensor_file_verify(s, &diag), "NPZ of numpy's verified");
    ok(e && cr_tensor_file_read(s, &diag, e, CR_F64, y) && y[0] == 0 &&
           y[1] == 1 && y[3] == 3 && y[5] == 5,
       "deflated, big endian, Fortran order");
    e = s ? cr_tensor_file_find(s, "u") : NULL;
    ok(e && e->spec.type == CR_U8 &&
           cr_tensor_file_read(s, &diag, e, CR_F64, y) && y[2] == 255,
       "bytes");
    e = s ? cr_tensor_file_find(s, "s") : NULL;
    ok(e && !e->readable && !cr_tensor_file_read(s, &diag, e, CR_F64, y),
       "text is listed and not read");
    cr_tensor_file_close(s);
}

/* ---- The folder of a run */

static bool there(const char *name)
{
    return access(in(name), F_OK) == 0;
}

static void folders(void)
{
    struct cr_diag diag = { .arena = &arena };
    struct cr_tensor t = { "a", CR_SPEC(1), (void *)weight };
    struct cr_ckpt ckpt = { .tensors = &t, .n = 1 };
    const struct cr_ckpt_file *file;
    const char *path = "", *base;
    int n;

    mkdir(in("run"), 0777);
    mkdir(in("run/ckpt"), 0777);
    base = in("run/ckpt");
    for (int i = 1; i <= 12; i++) {
        path = cr_ckpt_name(&arena, base, "net-a_1", i, 100);
        ok(cr_ckpt_write(&diag, path, &ckpt) &&
               cr_ckpt_retain(&diag,
                              &(struct cr_retention){
                                  path, i == 3 ? path : NULL, 2,
                                  in("run/ckpt/net-a_1-1_100.safetensors"),
                                  in("run/ckpt/net-a_1-5_100.safetensors") }),
           "epoch %d published", i);
    }
    same(path, in("run/ckpt/net-a_1-12_100.safetensors"), "its name");
    {
        struct cr_diag own = { .arena = &arena }, too = own;
        const char *gone = cr_ckpt_name(&arena, base, "net-a_1", 99, 1);

        ok(!cr_ckpt_retain(&own, &(struct cr_retention){ .path = gone }) &&
               own.errors == 1 && strstr(own.first->text, "cannot read"),
           "a checkpoint that is gone when it is published is an error");
        ok(!cr_ckpt_retain(
               &too, &(struct cr_retention){ .path = path, .best = gone }) &&
               too.errors == 1 &&
               cr_ckpt_same(path, in("run/ckpt/last.safetensors")),
           "best that cannot be published does not keep last old");
    }
    file = cr_ckpt_list(&arena, &diag, base, "net-a_1", &n);
    ok(n == 5 && file[0].epoch == 12 && file[1].epoch == 11 &&
           file[2].epoch == 5 && file[3].epoch == 3 && file[4].epoch == 1,
       "two newest, the best, the one resumed from and the one to go back to "
       "are left");
    file = cr_ckpt_list(&arena, &diag, base, "other", &n);
    ok(n == 0, "none of another prefix");
    ok(there("run/ckpt/best.safetensors") && there("run/ckpt/last.safetensors"),
       "best and last");
    same(cr_ckpt_resolve(&arena, &diag, in("run")),
         in("run/ckpt/best.safetensors"), "a run means its best");
    unlink(in("run/ckpt/best.safetensors"));
    same(cr_ckpt_resolve(&arena, &diag, in("run")),
         in("run/ckpt/last.safetensors"), "or its last");
    ok(cr_ckpt_list(&arena, &diag, in("nowhere"), NULL, &n) == NULL && n == 0,
       "no folder, no checkpoints");
}

static void apart(void)
{
    static const float a[] = { 1, 2, NAN, INFINITY, 5 };
    static const float b[] = { 1, 2.5f, NAN, INFINITY, 5 };
    static const double c[] = { 1, 2, 3, INFINITY, 5 };
    struct cr_spec spec = { CR_F32, CR_ROW_MAJOR, 1, { 5 } };
    struct cr_spec grid = { CR_F32, CR_ROW_MAJOR, 2, { 2, 3 } };
    struct cr_tensor_diff d;

    cr_tensor_diff(&spec, a, CR_F32, a, 0, 0, &d);
    ok(d.beyond == 0 && d.deviation == 0, "equal to itself, NaN and all");
    cr_tensor_diff(&spec, a, CR_F32, b, 0, 0, &d);
    ok(d.beyond == 1 && d.deviation == 0.5 && d.at == 1, "one differs");
    cr_tensor_diff(&spec, a, CR_F32, b, 0.2, 0, &d);
    ok(d.beyond == 0 && d.deviation == 0.5, "within a tolerance");
    cr_tensor_diff(&spec, a, CR_F64, c, 1, 1, &d);
    ok(d.beyond == 1 && isinf(d.deviation) && d.at == 2, "NaN and a number");
    same(cr_tensor_index_text(&arena, &grid, 5), "[1, 2]", "index");
}

static void json(void)
{
    static const char text[] = "{\"a\": [1, -2.5, \"\\ud83d\\ude00\", null, "
                               "true], \"b\": {\"c\": 9007199254740993}}";
    const char *why;
    size_t at;
    struct cr_node *n = cr_json_read(&arena, text, strlen(text), &why, &at);

    ok(n && n->kind == CR_NODE_MAP, "JSON read");
    same(cr_node_json(&arena, n),
         "{\"a\": [1, -2.5, \"\xf0\x9f\x98\x80\", null, true], \"b\": "
         "{\"c\": 9007199254740993}}",
         "and all of it kept");
    n = cr_json_read(&arena, "{\"a\": 01}", 9, &why, &at);
    ok(!n && at > 0, "refused at byte %zu: %s", at, why);
}

int main(void)
{
    char name[] = "/tmp/t_ckpt.XXXXXX";
    unsigned char *p;
    size_t n;

    folder = mkdtemp(name);
    if (!folder)
        return 1;
    json();
    golden();
    p = slurp(in("golden.safetensors"), &n);
    damage("golden file", p, n);
    profile(p, n);
    p = training(&n);
    damage("training checkpoint", p, n);
    others();
    devices();
    refused();
    npy();
    npz();
    npz_many();
    npz_foreign();
    folders();
    apart();
    if (system(cr_strf(&arena, "rm -rf '%s'", folder)) != 0)
        return 1;
    cr_arena_free(&arena);
    return done();
}
