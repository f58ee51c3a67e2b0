/* Tiles of convolutions with channels last that the 16 registers of AVX2 hold.
 * Private to src/kernels. */
#ifndef CR_KERNELS_CONV_TILES_AVX2_H
#define CR_KERNELS_CONV_TILES_AVX2_H

#define MAX_PIXELS 1, 12, 6
#define TILES \
    T(1, 1)   \
    T(2, 1)   \
    T(3, 1)   \
    T(4, 1)   \
    T(5, 1)   \
    T(6, 1)   \
    T(7, 1)   \
    T(8, 1)   \
    T(9, 1)   \
    T(10, 1) T(11, 1) T(12, 1) T(1, 2) T(2, 2) T(3, 2) T(4, 2) T(5, 2) T(6, 2)
#define RUNS \
    T(1, 1)  \
    T(2, 1)  \
    T(3, 1)  \
    T(4, 1) T(5, 1) T(6, 1) T(7, 1) T(8, 1) T(9, 1) T(10, 1) T(11, 1) T(12, 1)
#define SUM_RUNS T(1, 1) T(2, 1) T(3, 1) T(4, 1)
#define SUM_RUN_CHANNELS 1, 4, 0
#define SUMS \
    T(1, 1)  \
    T(2, 1)  \
    T(3, 1)  \
    T(4, 1)  \
    T(5, 1) T(6, 1) T(7, 1) T(8, 1) T(1, 2) T(2, 2) T(3, 2) T(4, 2) \
        T(5, 2) T(6, 2)
#define SUM_CHANNELS 1, 8, 6

#endif
