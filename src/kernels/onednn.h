/*
 * oneDNN 2, opened at first need: its interface, and what the kernels over its
 * primitives share. Private to src/kernels.
 *
 * A primitive computes a block whose shape follows from the shape of the whole
 * alone; threads of the pool share the blocks, and each runs the library
 * without threads of its own. So bytes do not depend on the number of threads.
 * Primitives are made at the first plan that needs them, and kept.
 */
#ifndef CR_KERNELS_ONEDNN_H
#define CR_KERNELS_ONEDNN_H

#include "num/real.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The library; NULL: it is not installed, or the address space is limited.
 * Every caller of its functions is set to compute without OpenMP's threads,
 * which would spin against the pool's, by cr_onednn_alone: OpenMP remembers it
 * per thread. */
void *cr_onednn_open(void);
void cr_onednn_alone(void);

#ifndef CR_DOUBLE

/* ---- its interface ---- */

typedef int64_t dnn_dims[12];
/* Structs of the library's, larger than they are. */
typedef union {
    int64_t align;
    char bytes[1024];
} dnn_md;
typedef union {
    int64_t align;
    char bytes[8192];
} dnn_desc;

enum {
    DNN_F32 = 3,
    DNN_U8 = 6,
    DNN_TAG_ANY = 1,
    DNN_FORWARD = 64,
    DNN_INFERENCE = 96,
    DNN_BACKWARD = 128,
    DNN_GLOBAL_STATS = 1, /* flags of normalisation */
    DNN_SCALE_SHIFT = 8 + 16,
    DNN_CONV_DIRECT = 1,
    DNN_POOL_MAX = 0x1ff,
    DNN_POOL_MEAN_PAD = 0x2ff,
    DNN_POOL_MEAN = 0x3ff
};

/* Arguments of a primitive. */
enum {
    DNN_SRC = 1,
    DNN_DST = 17,
    DNN_WEIGHTS = 33,
    DNN_MEAN = 49,
    DNN_VARIANCE = 50,
    DNN_SCALE = 51,
    DNN_SHIFT = 52,
    DNN_WORKSPACE = 64,
    DNN_SCRATCHPAD = 80,
    DNN_DIFF_SRC = 129,
    DNN_DIFF_DST = 145,
    DNN_DIFF_WEIGHTS = 161,
    DNN_DIFF_SCALE = 255,
    DNN_DIFF_SHIFT = 256
};

/* What a query asks for. */
enum {
    DNN_QUERY_WEIGHTS = 131,
    DNN_QUERY_DIFF_WEIGHTS = 132,
    DNN_QUERY_WORKSPACE = 135
};

/* The functions that are called by kernels; 0 is success. */
struct cr_onednn {
    int (*by_strides)(dnn_md *md, int n, const dnn_dims d, int type,
                      const dnn_dims strides);
    int (*by_tag)(dnn_md *md, int n, const dnn_dims d, int type, int tag);
    size_t (*size_of)(const dnn_md *md);
    const dnn_md *(*query_md)(const void *desc, int what, int index);
    int (*conv_forward)(dnn_desc *d, int prop, int alg, const dnn_md *src,
                        const dnn_md *weights, const dnn_md *bias,
                        const dnn_md *dst, const dnn_dims strides,
                        const dnn_dims dilates, const dnn_dims before,
                        const dnn_dims after);
    int (*conv_data)(dnn_desc *d, int alg, const dnn_md *diff_src,
                     const dnn_md *weights, const dnn_md *diff_dst,
                     const dnn_dims strides, const dnn_dims dilates,
                     const dnn_dims before, const dnn_dims after);
    int (*conv_weights)(dnn_desc *d, int alg, const dnn_md *src,
                        const dnn_md *diff_weights, const dnn_md *diff_bias,
                        const dnn_md *diff_dst, const dnn_dims strides,
                        const dnn_dims dilates, const dnn_dims before,
                        const dnn_dims after);
    int (*pool_forward)(dnn_desc *d, int prop, int alg, const dnn_md *src,
                        const dnn_md *dst, const dnn_dims strides,
                        const dnn_dims kernel, const dnn_dims before,
                        const dnn_dims after);
    int (*pool_backward)(dnn_desc *d, int alg, const dnn_md *diff_src,
                         const dnn_md *diff_dst, const dnn_dims strides,
                         const dnn_dims kernel, const dnn_dims before,
                         const dnn_dims after);
    int (*batch_norm_forward)(dnn_desc *d, int prop, const dnn_md *x, float eps,
                              unsigned flags);
    int (*batch_norm_backward)(dnn_desc *d, int prop, const dnn_md *dx,
                               const dnn_md *x, float eps, unsigned flags);
    int (*layer_norm_forward)(dnn_desc *d, int prop, const dnn_md *x,
                              const dnn_md *stats, float eps, unsigned flags);
    int (*layer_norm_backward)(dnn_desc *d, int prop, const dnn_md *dx,
                               const dnn_md *x, const dnn_md *stats, float eps,
                               unsigned flags);
    int (*softmax_forward)(dnn_desc *d, int prop, const dnn_md *x, int axis);
};

/* NULL: not installed, or of another version. */
const struct cr_onednn *cr_onednn(void);

/* ---- primitives ---- */

struct cr_onednn_primitive {
    struct cr_onednn_primitive *next; /* of the same value of a cache */
    void *desc, *run;
    const dnn_md *scratchpad;
    size_t scratchpad_bytes; /* a multiple of 64 */
};

/* Makes one, in the value of a cache; hint: .desc of the forward primitive, or
 * NULL. False where the library has none, or only plain loops to compare others
 * with. */
bool cr_onednn_make(struct cr_onednn_primitive *p, const dnn_desc *d,
                    const void *hint);
bool cr_onednn_reorder(struct cr_onednn_primitive *p, const dnn_md *from,
                       const dnn_md *to);

struct cr_onednn_arg {
    int arg;
    const dnn_md *md;
    const void *data;
};

#define CR_ONEDNN_ARGS 12 /* at most */

/* Runs one with these arguments and `room`, its scratchpad, in the calling
 * thread. */
void cr_onednn_run(const struct cr_onednn_primitive *p,
                   const struct cr_onednn_arg *args, int n, void *room);

#define CR_ONEDNN_LISTS 64 /* of a hash table */

/* A kernel's primitives by the shape that they were made for. */
struct cr_onednn_cache {
    size_t key, value; /* bytes of each */
    /* Fills the value, which is zeros; false: the library cannot. */
    bool (*make)(const void *key, void *value);
    struct cr_onednn_made *_Atomic made[CR_ONEDNN_LISTS];
    bool listed; /* among those that hold something */
    struct cr_onednn_cache *next;
};

/* The value of a key, which is made at first need; all of its bytes count,
 * padding too. NULL: the library cannot, or is not installed. No key is ever
 * dropped or refused for want of room: what computes a shape would depend on
 * the shapes before it. */
const void *cr_onednn_cached(struct cr_onednn_cache *cache, const void *key);
/* Frees all primitives, for tests of many shapes; not while anything computes,
 * and plans must be made again. */
void cr_onednn_forget(void);

/* Images of a block of a tensor of n: few enough that there are enough blocks
 * for threads, and many enough that a call costs little. */
int64_t cr_onednn_images(int64_t n);
/* (images, channels, space) of `axes` axes, row-major or channels last. */
bool cr_onednn_tensor(int axes, int64_t images, int64_t channels,
                      const int64_t *space, bool last, dnn_md *md);
/* (a, b), row-major, or (a) if b is 0. */
bool cr_onednn_plain(int64_t a, int64_t b, dnn_md *md);
/* Whether no number is infinite or NaN: the library's maxima pass over NaN. */
bool cr_onednn_finite(int64_t n, const cr_real *x);

#endif

#endif
