/* Tiles of convolutions with channels last that the 32 registers of AVX-512
 * hold. Private to src/kernels. */
#ifndef CR_KERNELS_CONV_TILES_AVX512_H
#define CR_KERNELS_CONV_TILES_AVX512_H

#define MAX_PIXELS 1, 24, 14
#define ONES \
    T(1, 1)  \
    T(2, 1)  \
    T(3, 1)  \
    T(4, 1)  \
    T(5, 1)  \
    T(6, 1)  \
    T(7, 1)  \
    T(8, 1)  \
    T(9, 1) T(10, 1) T(11, 1) T(12, 1) T(13, 1) T(14, 1) T(15, 1) T(16, 1)
#define TWOS \
    T(1, 2)  \
    T(2, 2) T(3, 2) T(4, 2) T(5, 2) T(6, 2) T(7, 2) T(8, 2)
#define TILES                                                                \
    ONES TWOS T(17, 1) T(18, 1) T(19, 1) T(20, 1) T(21, 1) T(22, 1) T(23, 1) \
        T(24, 1) T(9, 2) T(10, 2) T(11, 2) T(12, 2) T(13, 2) T(14, 2)
#define RUNS \
    ONES T(17, 1) T(18, 1) T(19, 1) T(20, 1) T(21, 1) T(22, 1) T(23, 1) T(24, 1)
#define SUM_RUNS \
    T(1, 1)      \
    T(2, 1)      \
    T(3, 1)      \
    T(4, 1) T(5, 1) T(6, 1) T(7, 1) T(8, 1) T(1, 2) T(2, 2) T(3, 2) T(4, 2)
#define SUM_RUN_CHANNELS 1, 8, 4
#define SUMS ONES TWOS
#define SUM_CHANNELS 1, 16, 8

#endif
