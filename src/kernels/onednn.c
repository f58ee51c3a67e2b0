#include "kernels/onednn.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "kernels/gemm_library.h"

static void *library;
static void (*omp_threads)(int n);
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void open_library(void)
{
    library = cr_gemm_library_open("libdnnl.so.2");
    if (!library)
        library = cr_gemm_library_open("libdnnl.so.3");
    if (library)
        (void)cr_gemm_library_find(library, "omp_set_num_threads",
                                   &omp_threads);
}

void *cr_onednn_open(void)
{
    pthread_once(&once, open_library);
    return library;
}

void cr_onednn_alone(void)
{
    static _Thread_local bool alone;

    if (!alone && omp_threads)
        omp_threads(1);
    alone = true;
}

#ifndef CR_DOUBLE

enum {
    CPU = 1,
    IN_ORDER = 1,
    USER_SCRATCHPAD = 1,
    QUERY_NAME = 8,
    QUERY_SCRATCHPAD = 136
};

typedef struct {
    int arg;
    void *memory;
} exec_arg;

static struct cr_onednn dnnl;

/* What only this file calls. */
static struct {
    int (*engine_create)(void **engine, int kind, size_t index);
    int (*stream_create)(void **stream, void *engine, unsigned flags);
    int (*attr_create)(void **attr);
    int (*attr_scratchpad)(void *attr, int mode);
    int (*desc_create)(void **desc, const dnn_desc *d, void *attr, void *engine,
                       const void *hint);
    int (*query)(const void *desc, int what, int index, void *result);
    int (*reorder_create)(void **desc, const dnn_md *from, void *from_engine,
                          const dnn_md *to, void *to_engine, void *attr);
    int (*primitive_create)(void **primitive, const void *desc);
    int (*execute)(const void *primitive, void *stream, int n,
                   const exec_arg *args);
    int (*memory_create)(void **memory, const dnn_md *md, void *engine,
                         void *data);
    int (*memory_destroy)(void *memory);
    int (*primitive_destroy)(void *primitive);
    int (*desc_destroy)(void *desc);
} own;

static void *engine, *stream, *attr;
static bool works;

static void find_functions(void)
{
    static const struct {
        const char *name;
        void *function;
    } functions[] = {
        { "dnnl_engine_create", &own.engine_create },
        { "dnnl_stream_create", &own.stream_create },
        { "dnnl_primitive_attr_create", &own.attr_create },
        { "dnnl_primitive_attr_set_scratchpad_mode", &own.attr_scratchpad },
        { "dnnl_primitive_desc_create", &own.desc_create },
        { "dnnl_primitive_desc_query", &own.query },
        { "dnnl_reorder_primitive_desc_create", &own.reorder_create },
        { "dnnl_primitive_create", &own.primitive_create },
        { "dnnl_primitive_execute", &own.execute },
        { "dnnl_memory_create", &own.memory_create },
        { "dnnl_memory_destroy", &own.memory_destroy },
        { "dnnl_primitive_destroy", &own.primitive_destroy },
        { "dnnl_primitive_desc_destroy", &own.desc_destroy },
        { "dnnl_memory_desc_init_by_strides", &dnnl.by_strides },
        { "dnnl_memory_desc_init_by_tag", &dnnl.by_tag },
        { "dnnl_memory_desc_get_size", &dnnl.size_of },
        { "dnnl_primitive_desc_query_md", &dnnl.query_md },
        { "dnnl_dilated_convolution_forward_desc_init", &dnnl.conv_forward },
        { "dnnl_dilated_convolution_backward_data_desc_init", &dnnl.conv_data },
        { "dnnl_dilated_convolution_backward_weights_desc_init",
          &dnnl.conv_weights },
        { "dnnl_pooling_forward_desc_init", &dnnl.pool_forward },
        { "dnnl_pooling_backward_desc_init", &dnnl.pool_backward },
        { "dnnl_batch_normalization_forward_desc_init",
          &dnnl.batch_norm_forward },
        { "dnnl_batch_normalization_backward_desc_init",
          &dnnl.batch_norm_backward },
        { "dnnl_layer_normalization_forward_desc_init",
          &dnnl.layer_norm_forward },
        { "dnnl_layer_normalization_backward_desc_init",
          &dnnl.layer_norm_backward },
        { "dnnl_softmax_forward_desc_init", &dnnl.softmax_forward },
    };
    size_t i;

    for (i = 0; i < CR_LEN(functions); i++)
        if (!cr_onednn_open() ||
            !cr_gemm_library_find(library, functions[i].name,
                                  functions[i].function))
            return;
    cr_onednn_alone();
    works = own.engine_create(&engine, CPU, 0) == 0 &&
            own.stream_create(&stream, engine, IN_ORDER) == 0 &&
            own.attr_create(&attr) == 0 &&
            own.attr_scratchpad(attr, USER_SCRATCHPAD) == 0;
}

const struct cr_onednn *cr_onednn(void)
{
    static pthread_once_t found = PTHREAD_ONCE_INIT;

    pthread_once(&found, find_functions);
    return works ? &dnnl : NULL;
}

/* ---- primitives ---- */

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
static struct cr_onednn_primitive *made_now; /* of the value that is made */

static void primitive_begin(struct cr_onednn_primitive *p)
{
    p->next = made_now;
    made_now = p;
}

static bool primitive_of(struct cr_onednn_primitive *p)
{
    if (own.primitive_create(&p->run, p->desc) != 0)
        return false;
    p->scratchpad = dnnl.query_md(p->desc, QUERY_SCRATCHPAD, 0);
    p->scratchpad_bytes = (dnnl.size_of(p->scratchpad) + 63) / 64 * 64;
    return true;
}

bool cr_onednn_make(struct cr_onednn_primitive *p, const dnn_desc *d,
                    const void *hint)
{
    const char *name = NULL;

    primitive_begin(p);
    return own.desc_create(&p->desc, d, attr, engine, hint) == 0 &&
           own.query(p->desc, QUERY_NAME, 0, &name) == 0 && name &&
           strncmp(name, "ref", 3) != 0 && primitive_of(p);
}

bool cr_onednn_reorder(struct cr_onednn_primitive *p, const dnn_md *from,
                       const dnn_md *to)
{
    primitive_begin(p);
    return own.reorder_create(&p->desc, from, engine, to, engine, attr) == 0 &&
           primitive_of(p);
}

void cr_onednn_run(const struct cr_onednn_primitive *p,
                   const struct cr_onednn_arg *args, int n, void *room)
{
    exec_arg of[CR_ONEDNN_ARGS];
    int i;

    cr_onednn_alone();
    for (i = 0; i <= n; i++) {
        struct cr_onednn_arg a = { DNN_SCRATCHPAD, p->scratchpad, room };

        if (i < n)
            a = args[i];
        of[i].arg = a.arg;
        if (own.memory_create(&of[i].memory, a.md, engine, (void *)a.data) != 0)
            abort(); /* out of memory */
    }
    if (own.execute(p->run, stream, n + 1, of) != 0)
        abort(); /* what was made cannot fail */
    for (i = 0; i <= n; i++)
        own.memory_destroy(of[i].memory);
}

/* ---- by shape ---- */

struct cr_onednn_made {
    struct cr_onednn_made *next;
    struct cr_onednn_primitive *primitives;
    bool usable;
    int64_t bytes[]; /* key, then value */
};

static size_t words(size_t bytes)
{
    return (bytes + sizeof(int64_t) - 1) / sizeof(int64_t);
}

static struct cr_onednn_cache *caches;

static size_t list_of(const struct cr_onednn_cache *c, const void *key)
{
    const unsigned char *at = key;
    uint32_t hash = 2166136261u; /* FNV-1a */
    size_t i;

    for (i = 0; i < c->key; i++)
        hash = (hash ^ at[i]) * 16777619u;
    return hash % CR_ONEDNN_LISTS;
}

static const struct cr_onednn_made *find(const struct cr_onednn_cache *c,
                                         const void *key)
{
    const struct cr_onednn_made *m = atomic_load(&c->made[list_of(c, key)]);

    while (m && memcmp(m->bytes, key, c->key) != 0)
        m = m->next;
    return m;
}

static const struct cr_onednn_made *make(struct cr_onednn_cache *c,
                                         const void *key)
{
    size_t list = list_of(c, key);
    struct cr_onednn_made *m;

    if (!c->listed) {
        c->next = caches;
        caches = c;
        c->listed = true;
    }
    m = calloc(1, sizeof *m + sizeof(int64_t) *
                                  (words(c->key) + words(c->value)));
    if (!m)
        abort(); /* out of memory */
    cr_onednn_alone();
    memcpy(m->bytes, key, c->key);
    made_now = NULL;
    m->usable = c->make(key, m->bytes + words(c->key));
    m->primitives = made_now;
    m->next = atomic_load(&c->made[list]);
    atomic_store(&c->made[list], m);
    return m;
}

const void *cr_onednn_cached(struct cr_onednn_cache *c, const void *key)
{
    const struct cr_onednn_made *m;

    if (!cr_onednn())
        return NULL;
    m = find(c, key);
    if (!m) {
        pthread_mutex_lock(&making);
        m = find(c, key);
        if (!m)
            m = make(c, key);
        pthread_mutex_unlock(&making);
    }
    return m && m->usable ? m->bytes + words(c->key) : NULL;
}

static void made_free(struct cr_onednn_made *m)
{
    struct cr_onednn_primitive *p;

    for (p = m->primitives; p; p = p->next) {
        if (p->run)
            own.primitive_destroy(p->run);
        if (p->desc)
            own.desc_destroy(p->desc);
    }
    free(m);
}

void cr_onednn_forget(void)
{
    struct cr_onednn_made *m, *next;
    size_t i;

    for (; caches; caches = caches->next) {
        caches->listed = false;
        for (i = 0; i < CR_ONEDNN_LISTS; i++) {
            m = atomic_load(&caches->made[i]);
            atomic_store(&caches->made[i], NULL);
            for (; m; m = next) {
                next = m->next;
                made_free(m);
            }
        }
    }
}

/* ---- tensors ---- */

int64_t cr_onednn_images(int64_t n)
{
    int64_t images = 1;

    while (images < 8 && n % (2 * images) == 0 && n / (2 * images) >= 8)
        images *= 2;
    return images;
}

bool cr_onednn_tensor(int axes, int64_t images, int64_t channels,
                      const int64_t *space, bool last, dnn_md *md)
{
    dnn_dims d = { images, channels }, strides = { 0, 1 };
    int64_t step = last ? channels : 1;
    int i;

    for (i = axes - 1; i >= 0; i--) {
        d[2 + i] = space[i];
        strides[2 + i] = step;
        step *= d[2 + i];
    }
    if (!last) {
        strides[1] = step;
        step *= channels;
    }
    strides[0] = step;
    return dnnl.by_strides(md, 2 + axes, d, DNN_F32, strides) == 0;
}

bool cr_onednn_plain(int64_t a, int64_t b, dnn_md *md)
{
    dnn_dims d = { a, b }, strides = { b > 0 ? b : 1, 1 };

    return dnnl.by_strides(md, b > 0 ? 2 : 1, d, DNN_F32, strides) == 0;
}

CR_CLONES static int infinite(int64_t n, const cr_real *x)
{
    int64_t i;
    int found = 0;

    _Pragma("omp simd reduction(| : found)")
    for (i = 0; i < n; i++) {
        uint32_t bits;

        memcpy(&bits, x + i, sizeof bits);
        found |= (bits & 0x7f800000) == 0x7f800000;
    }
    return found;
}

bool cr_onednn_finite(int64_t n, const cr_real *x)
{
    return !infinite(n, x);
}

#endif
