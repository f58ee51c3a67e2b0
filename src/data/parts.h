/*
 * Which of n samples are trained on, evaluated on and tested on: a function
 * of the arguments alone. eval and test are fractions of n; what they leave
 * is trained on. Private to src/data.
 */
#ifndef CR_DATA_PARTS_H
#define CR_DATA_PARTS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>

enum { CR_PART_TRAIN, CR_PART_EVAL, CR_PART_TEST };

/* At random, in exact sizes: eval has round(eval n) samples, eval and test
 * together round((eval + test) n). With labels (n of them, or NULL) each class
 * gives its share to each part. */
void cr_parts_random(struct cr_arena *arena, int64_t n, double eval,
                     double test, const int64_t *labels, uint64_t seed,
                     unsigned char *part);

/* In order of `time`, samples of one time in their own order: the latest are
 * test, those before them eval. Sizes as above. */
void cr_parts_time(struct cr_arena *arena, int64_t n, double eval,
                   double test, const double *time, unsigned char *part);

/* Groups at random, each of which goes to one part: test gets each whose
 * samples bring its size nearer to its share, then eval. False where a part
 * that has a share, or the one to train on, gets none. */
bool cr_parts_groups(struct cr_arena *arena, int64_t n, double eval,
                     double test, const int64_t *groups, uint64_t seed,
                     unsigned char *part);

/* Cross-validation: at random in `folds` parts, of which number k is test and
 * the others are trained on. Sizes differ by one at most, and with labels
 * those of every class. With groups, the largest first, each goes to the fold
 * that has the fewest samples; false where that leaves a fold without any. */
bool cr_parts_fold(struct cr_arena *arena, int64_t n, int64_t folds,
                   int64_t k, const int64_t *labels, const int64_t *groups,
                   uint64_t seed, unsigned char *part);

#endif
