/* png: one image, through libpng.
 *
 * Pixels are returned as stored, without gamma or colour management. libpng's
 * simplified interface (png_image) would apply both, and composes alpha, so the
 * classic one is used. 16 bits keep their high byte, palettes give their
 * colours, alpha is dropped. The result is uint8 (height, width, 1 or 3). */
#include "base/str.h"
#include "data/array.h"

#include <png.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#define PNG_SIDE_MAX 16384
#define PNG_PIXELS_MAX ((int64_t)64 << 20)
#define PNG_BYTES_MAX ((size_t)256 << 20)

struct cr_file {
    struct cr_bytes *bytes;
    const unsigned char *data;
    size_t size;
    struct cr_spec spec;
    bool indices;           /* of the palette, or grey values as stored */
    unsigned char *pixels;
};

/* A file in memory, which libpng reads once from start to end. */
struct source {
    const unsigned char *data;
    size_t size, at;
    bool refused;           /* the file is valid, but not what is wanted */
    char why[120];
};

static bool png_magic(const unsigned char *head, size_t n)
{
    return n >= 8 && png_sig_cmp(head, 0, 8) == 0;
}

CR_NORETURN static void png_failed(png_structp png, png_const_charp message)
{
    struct source *s = png_get_error_ptr(png);

    snprintf(s->why, sizeof s->why, "%s", message);
    longjmp(png_jmpbuf(png), 1);
}

static void png_quiet(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void png_take(png_structp png, png_bytep to, size_t n)
{
    struct source *s = png_get_io_ptr(png);

    if (n > s->size - s->at)
        png_error(png, "truncated file");
    memcpy(to, s->data + s->at, n);
    s->at += n;
}

static void png_limits(png_structp png)
{
    png_set_user_limits(png, PNG_SIDE_MAX, PNG_SIDE_MAX);
    png_set_chunk_cache_max(png, 32);
    png_set_chunk_malloc_max(png, (png_alloc_size_t)8 << 20);
    png_set_crc_action(png, PNG_CRC_ERROR_QUIT, PNG_CRC_WARN_DISCARD);
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, 0);
}

/* Chooses the conversions to 8-bit indices, once the header is read. */
static void png_stored(png_structp png, png_infop info, struct source *s)
{
    int colour = png_get_color_type(png, info);

    s->refused = true;
    if (colour & PNG_COLOR_MASK_COLOR && colour != PNG_COLOR_TYPE_PALETTE)
        png_error(png, "found colours, expected grey values or indices of a "
                       "palette: one number for each pixel");
    if (png_get_bit_depth(png, info) == 16)
        png_error(png, "found 16 bits, expected at most 8");
    s->refused = false;
    png_set_packing(png);
    if (colour & PNG_COLOR_MASK_ALPHA)
        png_set_strip_alpha(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
}

/* Chooses the conversions to 8-bit grey or RGB. */
static void png_transforms(png_structp png, png_infop info)
{
    int colour = png_get_color_type(png, info);

    if (colour == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(png);
    if (colour == PNG_COLOR_TYPE_GRAY && png_get_bit_depth(png, info) < 8)
        png_set_expand_gray_1_2_4_to_8(png);
    if (png_get_bit_depth(png, info) == 16)
        png_set_strip_16(png);
    /* a palette may have transparent colours too */
    if (colour & PNG_COLOR_MASK_ALPHA || colour == PNG_COLOR_TYPE_PALETTE)
        png_set_strip_alpha(png);
    png_set_interlace_handling(png);
    png_read_update_info(png, info);
}

/* Decodes to f->pixels if that is set, else reads only the header, to f->spec.
 * No local variable that is needed after an error changes after setjmp. */
static bool png_decode(struct cr_file *f, struct source *s)
{
    png_structp png = png_create_read_struct(PNG_LIBPNG_VER_STRING, s,
                                             png_failed, png_quiet);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    png_uint_32 height, width, i;
    size_t line;
    int channels;

    if (!info)
        cr_out_of_memory(1 << 16);
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_read_struct(&png, &info, NULL);
        return false;
    }
    png_set_read_fn(png, s, png_take);
    png_limits(png);
    png_read_info(png, info);
    if (f->indices)
        png_stored(png, info, s);
    else
        png_transforms(png, info);
    height = png_get_image_height(png, info);
    width = png_get_image_width(png, info);
    channels = png_get_channels(png, info);
    line = png_get_rowbytes(png, info);
    if ((int64_t)height * width > PNG_PIXELS_MAX)
        png_error(png, "the image has more than 64 Mi pixels");
    if (line != (size_t)width * (size_t)channels ||
        (channels != 1 && channels != 3))
        png_error(png, "unknown pixel format");
    f->spec = (struct cr_spec){ .type = CR_U8,
                                .rank = 3,
                                .dim = { height, width, channels } };
    if (f->pixels) {
        int pass, passes = png_set_interlace_handling(png);

        for (pass = 0; pass < passes; pass++)
            for (i = 0; i < height; i++)
                png_read_row(png, f->pixels + i * line, NULL);
        png_read_end(png, NULL);
    }
    png_destroy_read_struct(&png, &info, NULL);
    return true;
}

static bool png_run(struct cr_file *f, struct cr_diag *diag)
{
    struct source s = { .data = f->data, .size = f->size };

    if (png_decode(f, &s))
        return true;
    if (s.refused)
        return cr_error(diag,
                        cr_at_file(diag->arena, cr_bytes_path(f->bytes)),
                        CR_E_DATA_FORMAT, "mask: %s", s.why);
    return cr_error(diag,
                    cr_at_byte(diag->arena, cr_bytes_path(f->bytes),
                               (int64_t)s.at),
                    CR_E_DATA_FORMAT, "the image is damaged: %s", s.why);
}

static struct cr_file *png_open(struct cr_arena *arena, struct cr_diag *diag,
                                const char *path, struct cr_spec *spec)
{
    struct cr_file *f = CR_NEW(arena, struct cr_file);
    unsigned char head[8];
    size_t got = 0;

    f->bytes = cr_bytes_open(arena, diag, path, head, sizeof head, &got);
    if (!f->bytes)
        return NULL;
    f->size = cr_bytes_length(f->bytes);
    if (f->size > PNG_BYTES_MAX)
        cr_error(diag, cr_at_file(diag->arena, path), CR_E_DATA_FORMAT,
                 "the file has more than 256 MiB");
    else
        f->data = cr_bytes_copy(f->bytes, diag, f->size);
    if (f->data && png_run(f, diag)) {
        *spec = f->spec;
        return f;
    }
    cr_bytes_close(f->bytes);
    return NULL;
}

static bool png_read(struct cr_file *f, struct cr_diag *diag, int64_t from,
                     int64_t rows, void *to)
{
    (void)from;
    (void)rows; /* always the whole image */
    f->pixels = to;
    return png_run(f, diag);
}

static bool png_indices(struct cr_file *f, struct cr_diag *diag,
                        struct cr_spec *spec)
{
    f->indices = true;
    if (!png_run(f, diag))
        return false;
    *spec = f->spec;
    return true;
}

static void png_close(struct cr_file *f)
{
    cr_bytes_close(f->bytes);
}

/* ---- writing ---- */

struct sink {
    struct cr_buf *to;
    char why[120];
};

CR_NORETURN static void png_stuck(png_structp png, png_const_charp message)
{
    struct sink *s = png_get_error_ptr(png);

    snprintf(s->why, sizeof s->why, "%s", message);
    longjmp(png_jmpbuf(png), 1);
}

static void png_give(png_structp png, png_bytep data, size_t n)
{
    struct sink *s = png_get_io_ptr(png);

    cr_buf_add(s->to, (const char *)data, n);
}

static void png_flush(png_structp png)
{
    (void)png;
}

/* Level 3 of zlib: sheets are written once and looked at, so speed counts. */
static bool png_encode(struct cr_diag *diag, const struct cr_spec *spec,
                       const void *pixels, struct cr_buf *to)
{
    struct sink s = { .to = to };
    int64_t channels = spec->rank == 3 ? spec->dim[2] : 1, i;
    const unsigned char *row = pixels;
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &s,
                                              png_stuck, png_quiet);
    png_infop info = png ? png_create_info_struct(png) : NULL;

    if (!info)
        cr_out_of_memory(1 << 16);
    if (setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return cr_error(diag, CR_NOWHERE, CR_E_SYSTEM,
                        "cannot write the image: %s", s.why);
    }
    png_set_write_fn(png, &s, png_give, png_flush);
    png_set_compression_level(png, 3);
    png_set_IHDR(png, info, (png_uint_32)spec->dim[1],
                 (png_uint_32)spec->dim[0], 8,
                 channels == 1 ? PNG_COLOR_TYPE_GRAY : PNG_COLOR_TYPE_RGB,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (i = 0; i < spec->dim[0]; i++)
        png_write_row(png, row + i * spec->dim[1] * channels);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return true;
}

const struct cr_format cr_format_png = {
    .about = {
        .name = "png",
        .summary = "PNG images.",
        .detail = "1 to 16 bits, grey, RGB or palette, with or without alpha, "
                  "interlaced or not; read as uint8 (height, width, 1 or 3).",
    },
    .suffixes = ".png",
    .magic = png_magic,
    .open = png_open,
    .read = png_read,
    .close = png_close,
    .indices = png_indices,
    .encode = png_encode,
};
