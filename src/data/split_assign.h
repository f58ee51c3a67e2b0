/*
 * Assigns n samples to the splits train, eval and test, as a function of the
 * arguments alone. eval and test are fractions of n; train gets the rest.
 * split[i] is set to the split of sample i. Private to src/data.
 */
#ifndef CR_DATA_SPLIT_ASSIGN_H
#define CR_DATA_SPLIT_ASSIGN_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { CR_SPLIT_TRAIN, CR_SPLIT_EVAL, CR_SPLIT_TEST };

/* Random assignment with exact sizes: eval has round(eval n) samples, eval and
 * test together round((eval + test) n). With labels (n of them, or NULL) the
 * splits are stratified: each class has these fractions within one sample. */
void cr_split_random(struct cr_arena *arena, int64_t n, double eval,
                     double test, const int64_t *labels, uint64_t seed,
                     unsigned char *split);

/* In order of `time`, samples of equal time by index: the latest are test, the
 * samples before them eval. Sizes as above. */
void cr_split_by_time(struct cr_arena *arena, int64_t n, double eval,
                      double test, const double *time, unsigned char *split);

/* Assigns whole groups, in random order: test gets each group that brings its
 * size closer to its fraction, then eval. False if train, or a split with a
 * fraction above 0, gets no group. */
bool cr_split_by_group(struct cr_arena *arena, int64_t n, double eval,
                       double test, const int64_t *groups, uint64_t seed,
                       unsigned char *split);

/* k-fold cross-validation: `folds` random folds, of which number k is test and
 * the others are train. Sizes differ by at most one; with labels, also the
 * sizes of every class. With groups, each group, the largest first, is assigned
 * to the fold with the fewest samples; false if a fold gets none. */
bool cr_split_kfold(struct cr_arena *arena, int64_t n, int64_t folds, int64_t k,
                    const int64_t *labels, const int64_t *groups, uint64_t seed,
                    unsigned char *split);

#endif
