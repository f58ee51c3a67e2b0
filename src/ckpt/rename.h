/*
 * Rules that rename tensors: POSIX extended regular expressions, applied in
 * order to the name of each tensor; the first match in a name is replaced.
 */
#ifndef CR_CKPT_RENAME_H
#define CR_CKPT_RENAME_H

#include <regex.h>

#include "base/diag.h"

struct cr_rename_rule {
    regex_t regex;
    const char *with; /* replacement; \0 to \9 are groups, \\ a backslash */
    int used;         /* number of names in which it has replaced a match */
};

/* Fills in a rule; both texts must live as long as it. False after reporting
 * at their positions; then nothing needs to be released. */
bool cr_rename_rule_read(struct cr_diag *diag, struct cr_rename_rule *to,
                         const char *pattern, struct cr_pos pattern_at,
                         const char *with, struct cr_pos with_at);
/* Reads "PATTERN=REPLACEMENT", in whose pattern \= stands for an equals sign.
 * The same result. */
bool cr_rename_rule_parse(struct cr_arena *arena, struct cr_diag *diag,
                          struct cr_rename_rule *to, const char *text);
void cr_rename_rule_free(struct cr_rename_rule *rule);

/* The name after all rules: the same pointer if none matches, else a text in
 * the arena. */
const char *cr_rename(struct cr_arena *arena, struct cr_rename_rule *rules,
                      int n, const char *name);

#endif
