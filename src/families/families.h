/*
 * families/: what the ops of one family share: their options, their shapes,
 * their loops, their gradients. broadcast.h (elementwise with broadcasting),
 * pointwise.h, reduction.h, data_movement.h, conv_ops.h, pool.h, softmax.h,
 * sort.h, rnn.h (recurrences), attention.h.
 *
 * Called by the leaves in ops/, cells/ and losses/, which add what is theirs;
 * computes by kernels/ on the threads of the pool.
 * Knows nothing of the network that an op belongs to, of plans and of training.
 *
 * Includes: base conf graph kernels num.
 */
