/*
 * Resize with LINEAR, over random sizes and channels, rows of more than one
 * block among them: each number against the formula for it alone, as it stands
 * at the head of data/resize.c. (Against MindSpore: the golden cases.)
 */
#include "base/arena.h"
#include "data/resize.h"
#include "tap.h"

#include <math.h>
#include <stdlib.h>

static struct cr_arena mem;

static int64_t between(int64_t low, int64_t high)
{
    return low + rand() % (high - low + 1);
}

/* A position between two neighbours along an axis. */
struct at {
    int64_t low, high;
    float way;
};

/* Columns outside of the image have the fraction 0, rows have not. */
static struct at at_of(int64_t i, int64_t in, int64_t out, bool columns)
{
    double at = ((double)i + 0.5) * (1 / ((double)out / (double)in)) - 0.5;
    int64_t low = (int64_t)floor(at);
    bool outside = low < 0 || low >= in - 1;

    return (struct at){
        low < 0 ? 0 : low >= in ? in - 1 : low,
        low + 1 < 0 ? 0 : low + 1 >= in ? in - 1 : low + 1,
        outside && columns ? 0 : (float)at - (float)low
    };
}

static int32_t fixed(float w)
{
    return (int32_t)lrintf(2048 * w);
}

/* `low` and `high`: where the row below and the one above have the number. */
static int32_t byte_of(const unsigned char *low, const unsigned char *high,
                       struct at y, struct at x, int64_t n)
{
    int32_t p = fixed(1 - x.way), q = fixed(x.way);
    int32_t t0 = p * low[x.low * n] + q * low[x.high * n];
    int32_t t1 = p * high[x.low * n] + q * high[x.high * n];

    return (((fixed(1 - y.way) * (t0 >> 4)) >> 16) +
            ((fixed(y.way) * (t1 >> 4)) >> 16) + 2) >> 2;
}

static float float_of(const float *low, const float *high, struct at y,
                      struct at x, int64_t n)
{
    float t0 = low[x.low * n] * (1 - x.way) + low[x.high * n] * x.way;
    float t1 = high[x.low * n] * (1 - x.way) + high[x.high * n] * x.way;

    return t0 * (1 - y.way) + t1 * y.way;
}

/* How many numbers of an image of these sizes differ from the formula. */
static int64_t differing(const struct cr_resize_size *size, bool bytes)
{
    int64_t n = size->channels, row = size->in_w * n, differ = 0, i, j, c;
    int64_t in = size->in_h * row, out = size->out_h * size->out_w * n;
    unsigned char *x = cr_alloc(&mem, (size_t)in, 1);
    unsigned char *y = cr_alloc(&mem, (size_t)out, 1);
    float *fx = cr_alloc(&mem, (size_t)in, sizeof *fx);
    float *fy = cr_alloc(&mem, (size_t)out, sizeof *fy);
    const struct cr_resize *r = cr_resize_make(
        cr_alloc(&mem, 1, cr_resize_bytes(size, CR_LINEAR)), size,
        CR_LINEAR);

    for (i = 0; i < in; i++)
        fx[i] = (float)(x[i] = (unsigned char)rand()) / 3 - 40;
    if (bytes)
        cr_resize_run(r, CR_U8, x, y);
    else
        cr_resize_run(r, CR_F32, fx, fy);
    for (i = 0; i < size->out_h; i++)
        for (j = 0; j < size->out_w; j++)
            for (c = 0; c < n; c++) {
                struct at v = at_of(i, size->in_h, size->out_h, false);
                struct at h = at_of(j, size->in_w, size->out_w, true);
                int64_t at = (i * size->out_w + j) * n + c;
                int64_t low = v.low * row + c, high = v.high * row + c;

                differ += bytes ? y[at] != byte_of(x + low, x + high, v, h, n)
                                : fy[at] != float_of(fx + low, fx + high, v, h,
                                                     n);
            }
    return differ;
}

int main(void)
{
    static const int64_t channels[] = { 1, 1, 3, 3, 4, 7, 600 };
    int k;

    srand(20261127);
    test_begin("LINEAR is the formula at random sizes");
    for (k = 0; k < 400; k++) {
        int64_t n = channels[rand() % 7], most = n == 600 ? 6 : 40;
        struct cr_resize_size size = {
            between(1, most), between(1, most), between(1, most),
            between(1, k % 8 == 0 && n < 600 ? 700 : most), n
        };
        bool bytes = k % 2 == 0;

        /* floats whose sides are both halved: the mean of four pixels */
        if (size.in_h == 2 * size.out_h && size.in_w == 2 * size.out_w)
            continue;
        ok(differing(&size, bytes) == 0, "%d x %d to %d x %d, %d channels, %s",
           (int)size.in_h, (int)size.in_w, (int)size.out_h, (int)size.out_w,
           (int)n, bytes ? "uint8" : "float32");
        cr_arena_free(&mem);
    }
    test_end();
    return done();
}
