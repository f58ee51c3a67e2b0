/* Writes the samples of tests/fuzz/corpus/jpeg, which tests/unit/t_files.c
 * and tests/cli/predict.bats read: images of one colour, whose pixels survive
 * the DCT.
 *
 * usage: cc make_jpeg.c -ljpeg && ./a.out   (in the project's root)
 */
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

static void write_jpeg(const char *path, J_COLOR_SPACE space, int channels,
                       const unsigned char *colour, int w, int h,
                       int progressive, int cut)
{
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr error;
    unsigned char *data = NULL, row[64];
    JSAMPROW rows = row;
    unsigned long size = 0;
    FILE *f = fopen(path, "wb");
    int i;

    for (i = 0; i < w * channels; i++)
        row[i] = colour[i % channels];
    c.err = jpeg_std_error(&error);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &data, &size);
    c.image_width = (JDIMENSION)w;
    c.image_height = (JDIMENSION)h;
    c.input_components = channels;
    c.in_color_space = space;
    jpeg_set_defaults(&c);
    jpeg_set_quality(&c, 100, TRUE);
    c.optimize_coding = TRUE;
    if (progressive)
        jpeg_simple_progression(&c);
    jpeg_start_compress(&c, TRUE);
    for (i = 0; i < h; i++)
        jpeg_write_scanlines(&c, &rows, 1);
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    fwrite(data, 1, size - (unsigned long)cut, f);
    if (fclose(f) != 0)
        exit(1);
    free(data);
}

#define TO(name) "tests/fuzz/corpus/jpeg/" name

int main(void)
{
    static const unsigned char gray[] = { 100 }, rgb[] = { 200, 100, 50 };
    static const unsigned char cmyk[] = { 10, 20, 30, 40 };

    write_jpeg(TO("gray"), JCS_GRAYSCALE, 1, gray, 5, 3, 0, 0);
    write_jpeg(TO("gray_6x5"), JCS_GRAYSCALE, 1, gray, 6, 5, 0, 0);
    write_jpeg(TO("rgb"), JCS_RGB, 3, rgb, 5, 3, 0, 0);
    write_jpeg(TO("progressive"), JCS_RGB, 3, rgb, 5, 3, 1, 0);
    write_jpeg(TO("cmyk"), JCS_CMYK, 4, cmyk, 5, 3, 0, 0);
    write_jpeg(TO("cut"), JCS_RGB, 3, rgb, 5, 3, 0, 3);
    return 0;
}
