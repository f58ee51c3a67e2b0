/*
 * Frequent errors in arguments, for which messages show the correct form.
 */
#ifndef CR_CONF_OPT_HINT_H
#define CR_CONF_OPT_HINT_H

#include "conf/opt.h"

/* Whether the text is a number with a decimal comma, such as 0,05. */
bool cr_has_decimal_comma(const char *text);
/* Whether the text is a percentage, such as 10%. */
bool cr_is_percentage(const char *text);
/* Whether the entry of a flow map and the one before it (or NULL) are a number
 * with a decimal comma: `key: 0,05` is read as the keys `key` and `05`. */
bool cr_is_split_number(const struct cr_node *before,
                        const struct cr_node *node);

/* The last of several positional arguments, if it is a map of further arguments
 * by name, which is an error; else NULL. */
const struct cr_node *cr_opt_mixed_map(const struct cr_opt *rows,
                                       const struct cr_node *list);
/* Reports such a list; the hint has all arguments by name. Returns false. */
bool cr_opt_mixed(struct cr_diag *diag, const char *type,
                  const struct cr_opt *rows, const struct cr_node *list);

#endif
