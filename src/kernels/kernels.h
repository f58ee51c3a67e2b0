/*
 * kernels/: how values are computed: products (blas.h, gemm.h), convolutions
 * (conv.h), pooling, softmax, sums over rows and channels, attention (sdpa.h),
 * recurrences (rnn.h), loops over tensors (tensor_iter.h). One file per family
 * and instruction set or library; a family has an ordered list of them
 * (kernel.h).
 *
 * Called by families/ and by the leaves in ops/, through plain arrays.
 * What a kernel computes depends on its arguments, the processor and the number
 * of threads, never on a clock. The only room that opens BLAS and oneDNN.
 * Knows nothing of graphs, cells, names and configs.
 *
 * Includes: base num.
 */
