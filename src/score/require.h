/*
 * The conditions of --require: `eval.accuracy>=0.97`, several joined by `and`
 * or a comma. A side is a metric's name or a number.
 */
#ifndef CR_SCORE_REQUIRE_H
#define CR_SCORE_REQUIRE_H

#include "base/diag.h"

struct cr_require;

/* NULL after reporting wrong text (exit 2); `text` NULL: nothing required. */
struct cr_require *cr_require_read(struct cr_diag *diag, const char *text);

/* Whether all conditions hold. `value` looks up a name and returns false if it
 * is not found, which is reported as wrong usage; `names`, if not NULL, are the
 * names to suggest. With `only_names` nothing is compared. Reports E0402 with
 * the value found for each condition that does not hold. */
bool cr_require_check(struct cr_diag *diag, const struct cr_require *require,
                      bool only_names,
                      bool (*value)(void *ctx, const char *name, double *to),
                      void *ctx, const char *const *names);

#endif
