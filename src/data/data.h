/*
 * data/: from files to batches. Data sets (dataset.h), file formats, transforms
 * (transform.h) planned as pipelines of columns, samplers, splits, vocabularies
 * and categories, and the loader (data_loader.h), whose workers fill batches
 * ahead of their reader.
 *
 * Called by train/, score/, model/ and predict/ for batches, by text/ for
 * vocabularies. Sample i of epoch e is a function of the config and the seed:
 * of no thread and no earlier sample. Damaged files are reported and never
 * crash. Knows nothing of networks and runs.
 *
 * Includes: base conf kernels mpi num.
 */
