/*
 * construct/: the texts of a config that compute: `construct`, `bprop`, loss
 * and metric blocks. Parsed once (script.h), walked once for each call of the
 * cell (script_interp.h), each call of an op becoming a node of the graph;
 * functions that are lines of others (functions.def); grad(y, x) as nodes
 * (gradient.h).
 *
 * Called by build/, which walks over the cells.
 * A text runs while the graph is built and never afterwards.
 * Knows nothing of plans, of data and of training.
 *
 * Includes: base conf families graph num.
 */
