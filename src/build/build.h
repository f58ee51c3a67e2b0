/*
 * build/: from the sections `network`, `loss` and `watch` of a config to a
 * graph: cells and their members, results, losses (loss.h), hooks (hook.h),
 * metric blocks, modes, and the graph of a network in predict mode
 * (inference.h) for programs that write it in another form. cr_net_build is in
 * graph/net.h.
 *
 * Called by train/ and model/; calls the cells of the registry and construct/.
 * Reports each error once, with its position in the config.
 * Knows nothing of plans, of files of data and of the training loop.
 *
 * Includes: base conf construct families graph.
 */
