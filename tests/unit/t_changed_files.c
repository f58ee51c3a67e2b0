/*
 * Files of data that change while they are in use: replaced between the
 * header and the pixels, cut under a mapping.
 */
#include "conf.h"
#include "data/format.h"
#include "tap.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes after the buffer that must stay; AddressSanitizer guards them. */
#ifdef __SANITIZE_ADDRESS__
#define GUARD 0
#else
#define GUARD 200000
#endif

static char folder[] = "/tmp/cellrun-t_changed-XXXXXX";
static struct cr_diag diag;

static const char *in_folder(const char *name)
{
    return cr_path_join(&conf_mem, folder, name);
}

/* Writes over the file in place, as `cp` does. */
static void put(const char *name, const char *data, size_t len)
{
    int fd = open(in_folder(name), O_WRONLY | O_CREAT, 0666);

    if (fd < 0 || write(fd, data, len) != (ssize_t)len || close(fd) != 0)
        ok(false, "%s is written", name);
}

/* The bytes of a PNG image, and what they are padded to. */
static struct cr_buf png_of(int64_t side, size_t len)
{
    struct cr_spec spec = { CR_U8, CR_ROW_MAJOR, 3, { side, side, 3 } };
    struct cr_buf file = { .arena = &conf_mem };
    unsigned char *x = cr_alloc(&conf_mem, 1, cr_bytes(&spec));
    int64_t i;

    for (i = 0; i < cr_count(&spec); i++)
        x[i] = (unsigned char)(i * i + i / 5);
    if (!cr_format_find("png")->encode(&diag, &spec, x, &file))
        ok(false, "an image is encoded");
    while (file.len < len)
        cr_buf_char(&file, '\0');
    return file;
}

/* A JPEG image of the corpus, or the same with another height in its header:
 * so many rows as its only block has. */
static struct cr_buf jpeg_of(int height)
{
    struct cr_buf file = { .arena = &conf_mem };
    size_t len, i;
    char *text = cr_read_file(&conf_mem, &diag, CR_NOWHERE,
                              "tests/fuzz/corpus/jpeg/rgb", CR_E_SYSTEM,
                              1 << 20, &len);

    for (i = 0; text && height > 0 && i + 8 < len; i++)
        if (memcmp(text + i, "\xff\xc0", 2) == 0) {
            text[i + 6] = (char)height;
            break;
        }
    if (text)
        cr_buf_add(&file, text, len);
    return file;
}

/* Opens the first, writes the second over it, reads: only the bytes that the
 * header promised may be written. */
static void replaced(const char *format, struct cr_buf first,
                     struct cr_buf second)
{
    const struct cr_format *f = cr_format_find(format);
    struct cr_arena mem = { 0 };
    struct cr_spec spec = { 0 };
    struct cr_file *file;
    unsigned char *to;
    bool intact = true;
    size_t size, i;

    remove(in_folder("image"));
    put("image", first.text, first.len);
    diag = (struct cr_diag){ .arena = &conf_mem };
    file = f->open(&mem, &diag, in_folder("image"), &spec);
    if (!ok(file != NULL, "%s: the first file opens", format))
        return;
    size = cr_bytes(&spec);
    to = malloc(size + GUARD);
    memset(to, 0xa5, size + GUARD);
    put("image", second.text, second.len);
    f->read(file, &diag, 0, spec.dim[0], to);
    for (i = size; i < size + GUARD; i++)
        intact = intact && to[i] == 0xa5;
    ok(intact, "%s: a file replaced between header and pixels writes no byte "
               "after the buffer",
       format);
    f->close(file);
    free(to);
    cr_arena_free(&mem);
}

int main(void)
{
    struct cr_buf large;

    diag = (struct cr_diag){ .arena = &conf_mem };
    if (!mkdtemp(folder))
        return 1;
    large = png_of(200, 0);
    replaced("png", png_of(8, large.len), large);
    replaced("jpeg", jpeg_of(0), jpeg_of(8));
    remove(in_folder("image"));
    rmdir(folder);
    cr_arena_free(&conf_mem);
    return done();
}
