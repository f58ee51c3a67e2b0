/*
 * Reads many small files ahead.
 *
 * Where files come from a disk or a network, a program that opens one after
 * another waits for each. Threads open the files ahead of it, so that several
 * requests are under way at a time. They start only once opening turns out to
 * be slow: files in memory are read without them.
 */
#ifndef CR_BASE_PREFETCH_H
#define CR_BASE_PREFETCH_H

#include "base/arena.h"

/* The file `name` in each of n directories, in this order; `dir` must live
 * until cr_prefetch_end. */
struct cr_prefetch *cr_prefetch_start(struct cr_arena *arena,
                                      const char *const *dir, int n,
                                      const char *name);
/* To be called before the file of directory i is read. */
void cr_prefetch_reach(struct cr_prefetch *prefetch, int i);
/* Waits for the threads; returns how many there were. */
int cr_prefetch_end(struct cr_prefetch *prefetch);

#endif
