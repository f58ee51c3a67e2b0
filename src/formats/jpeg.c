/* jpeg: one image, through libjpeg-turbo.
 *
 * Baseline or progressive, 8 bits, grey or colour; exact integer DCT and smooth
 * upsampling, the defaults of libjpeg. libjpeg reports damage as a warning and
 * fills in grey pixels, so here a warning is an error. The result is uint8
 * (height, width, 1 or 3). */
#include "data/array.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

#define JPEG_SIDE_MAX 16384
#define JPEG_PIXELS_MAX ((int64_t)64 << 20)
#define JPEG_BYTES_MAX ((size_t)256 << 20)
#define JPEG_MEMORY_MAX (512L << 20) /* coefficients of progressive images */
#define JPEG_SCANS_MAX 100

struct cr_file {
    struct cr_bytes *bytes;
    const unsigned char *data;
    size_t size;
    struct cr_spec spec;
    unsigned char *pixels;
};

/* A decoder and its error message. libjpeg passes pointers to `error` and `d`
 * back; `error` must be first, since it is cast to the whole. */
struct decoder {
    struct jpeg_error_mgr error;
    struct jpeg_progress_mgr progress;
    struct jpeg_decompress_struct d;
    jmp_buf failed;
    char why[JMSG_LENGTH_MAX];
    size_t at;
};

CR_NORETURN static void jpeg_stop(struct decoder *s)
{
    if (s->d.src && s->d.src->bytes_in_buffer < s->at)
        s->at -= s->d.src->bytes_in_buffer;
    longjmp(s->failed, 1);
}

CR_NORETURN static void jpeg_refuse(struct decoder *s, const char *why)
{
    snprintf(s->why, sizeof s->why, "%s", why);
    jpeg_stop(s);
}

CR_NORETURN static void jpeg_failed(j_common_ptr common)
{
    struct decoder *s = (struct decoder *)(void *)common->err;

    common->err->format_message(common, s->why);
    jpeg_stop(s);
}

static void jpeg_warned(j_common_ptr common, int level)
{
    if (level < 0)
        jpeg_failed(common);
}

static void jpeg_quiet(j_common_ptr common)
{
    (void)common;
}

/* A progressive file of a few bytes can declare millions of scans. */
static void jpeg_scans(j_common_ptr common)
{
    struct decoder *s = (struct decoder *)(void *)common->err;

    if (s->d.input_scan_number > JPEG_SCANS_MAX)
        jpeg_refuse(s, "the image has more than 100 scans");
}

static void jpeg_header(struct decoder *s, struct cr_spec *spec)
{
    struct jpeg_decompress_struct *d = &s->d;

    jpeg_read_header(d, TRUE);
    if (d->num_components == 4)
        jpeg_refuse(s, "found CMYK, expected grey or RGB");
    if (d->num_components != 1 && d->num_components != 3)
        jpeg_refuse(s, "unknown pixel format");
    if (d->image_width > JPEG_SIDE_MAX || d->image_height > JPEG_SIDE_MAX)
        jpeg_refuse(s, "the image is wider or higher than 16384 pixels");
    if ((int64_t)d->image_width * d->image_height > JPEG_PIXELS_MAX)
        jpeg_refuse(s, "the image has more than 64 Mi pixels");
    *spec = (struct cr_spec){ .type = CR_U8,
                              .rank = 3,
                              .dim = { d->image_height, d->image_width,
                                       d->num_components } };
}

static void jpeg_pixels(struct decoder *s, unsigned char *to)
{
    struct jpeg_decompress_struct *d = &s->d;
    size_t line = (size_t)d->image_width * (size_t)d->num_components;

    d->out_color_space = d->num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
    d->dct_method = JDCT_ISLOW;
    d->do_fancy_upsampling = TRUE;
    jpeg_start_decompress(d);
    while (d->output_scanline < d->output_height) {
        JSAMPROW row = to + d->output_scanline * line;

        jpeg_read_scanlines(d, &row, 1);
    }
    jpeg_finish_decompress(d);
}

/* Decodes to f->pixels if that is set, else reads only the header, to f->spec.
 * No local variable that is needed after an error changes after setjmp. */
static bool jpeg_decode(struct cr_file *f, struct decoder *s)
{
    s->d.err = jpeg_std_error(&s->error);
    s->error.error_exit = jpeg_failed;
    s->error.emit_message = jpeg_warned;
    s->error.output_message = jpeg_quiet;
    s->progress.progress_monitor = jpeg_scans;
    s->at = f->size;
    if (setjmp(s->failed)) {
        jpeg_destroy_decompress(&s->d);
        return false;
    }
    jpeg_create_decompress(&s->d);
    s->d.progress = &s->progress;
    s->d.mem->max_memory_to_use = JPEG_MEMORY_MAX;
    jpeg_mem_src(&s->d, f->data, f->size);
    jpeg_header(s, &f->spec);
    if (f->pixels)
        jpeg_pixels(s, f->pixels);
    jpeg_destroy_decompress(&s->d);
    return true;
}

static bool jpeg_run(struct cr_file *f, struct cr_diag *diag)
{
    struct decoder s = { 0 };

    if (jpeg_decode(f, &s))
        return true;
    return cr_error(diag,
                    cr_at_byte(diag->arena, cr_bytes_path(f->bytes),
                               (int64_t)s.at),
                    CR_E_DATA_FORMAT, "the JPEG image cannot be read: %s",
                    s.why);
}

static bool jpeg_magic(const unsigned char *head, size_t n)
{
    return n >= 3 && head[0] == 0xff && head[1] == 0xd8 && head[2] == 0xff;
}

static struct cr_file *jpeg_open(struct cr_arena *arena, struct cr_diag *diag,
                                 const char *path, struct cr_spec *spec)
{
    struct cr_file *f = CR_NEW(arena, struct cr_file);
    unsigned char head[4];
    size_t got = 0;

    f->bytes = cr_bytes_open(arena, diag, path, head, sizeof head, &got);
    if (!f->bytes)
        return NULL;
    f->size = cr_bytes_length(f->bytes);
    if (!jpeg_magic(head, got))
        cr_error(diag, cr_at_file(diag->arena, path), CR_E_DATA_FORMAT,
                 "not a JPEG image");
    else if (f->size > JPEG_BYTES_MAX)
        cr_error(diag, cr_at_file(diag->arena, path), CR_E_DATA_FORMAT,
                 "the file has more than 256 MiB");
    else
        f->data = cr_bytes_copy(f->bytes, diag, f->size);
    if (f->data && jpeg_run(f, diag)) {
        *spec = f->spec;
        return f;
    }
    cr_bytes_close(f->bytes);
    return NULL;
}

static bool jpeg_read(struct cr_file *f, struct cr_diag *diag, int64_t from,
                      int64_t rows, void *to)
{
    (void)from;
    (void)rows; /* always the whole image */
    f->pixels = to;
    return jpeg_run(f, diag);
}

static void jpeg_close(struct cr_file *f)
{
    cr_bytes_close(f->bytes);
}

const struct cr_format cr_format_jpeg = {
    .about = {
        .name = "jpeg",
        .summary = "JPEG images.",
        .detail = "8 bits, grey or colour, baseline or progressive; read as "
                  "uint8 (height, width, 1 or 3).",
    },
    .suffixes = ".jpg .jpeg",
    .magic = jpeg_magic,
    .open = jpeg_open,
    .read = jpeg_read,
    .close = jpeg_close,
};
