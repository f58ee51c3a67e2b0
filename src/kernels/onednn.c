#include "kernels/onednn.h"

#include <pthread.h>
#include <stddef.h>

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
