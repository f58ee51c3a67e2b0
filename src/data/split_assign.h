/*
 * Which of n samples are trained on, evaluated on and tested on: a function
 * of the arguments alone. eval and test are fractions of n; what they leave
 * is trained on. Private to src/data.
 */
#ifndef CR_DATA_SPLIT_ASSIGN_H
#define CR_DATA_SPLIT_ASSIGN_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { CR_SPLIT_TRAIN, CR_SPLIT_EVAL, CR_SPLIT_TEST };

/* At random, in exact sizes: eval has round(eval n) samples, eval and test
 * together round((eval + test) n). With labels (n of them, or NULL) each class
 * gives its share to each split. */
void cr_split_random(struct cr_arena *arena, int64_t n, double eval,
                     double test, const int64_t *labels, uint64_t seed,
                     unsigned char *split);

/* In order of `time`, samples of one time in their own order: the latest are
 * test, those before them eval. Sizes as above. */
void cr_split_by_time(struct cr_arena *arena, int64_t n, double eval,
                      double test, const double *time, unsigned char *split);

/* Groups at random, each of which goes to one split: test gets each whose
 * samples bring its size nearer to its share, then eval. False where a split
 * that has a share, or the one to train on, gets none. */
bool cr_split_by_group(struct cr_arena *arena, int64_t n, double eval,
                       double test, const int64_t *groups, uint64_t seed,
                       unsigned char *split);

/* Cross-validation: at random in `folds` parts, of which number k is test and
 * the others are trained on. Sizes differ by one at most, and with labels
 * those of every class. With groups, the largest first, each goes to the fold
 * that has the fewest samples; false where that leaves a fold without any. */
bool cr_split_kfold(struct cr_arena *arena, int64_t n, int64_t folds, int64_t k,
                    const int64_t *labels, const int64_t *groups, uint64_t seed,
                    unsigned char *split);

#endif
