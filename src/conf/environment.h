/*
 * The environment variables that the program reads, and their values. A wrong
 * value of a variable of cellrun is an error at the start; a wrong value of a
 * variable that a batch system or a terminal sets is ignored with a warning,
 * because users may not be able to change it.
 */
#ifndef CR_CONF_ENVIRONMENT_H
#define CR_CONF_ENVIRONMENT_H

#include "base/diag.h"

struct cr_env {
    const char *name, *text;
    const char *choices;    /* "quiet|normal"; NULL: a number or any text */
    const char *what;       /* of a number: its meaning; NULL: any text */
    int64_t min, max;       /* of a number */
    bool foreign;           /* set by other programs */
};
extern const struct cr_env cr_env_list[]; /* ends with a NULL name */

/* False after reporting wrong values of variables that are not foreign, and
 * with warnings for those that are. Empty ones count as not set. */
bool cr_env_check(struct cr_diag *diag);

/* The number in a variable of the list; false if it is not set or wrong. */
bool cr_env_number(const char *name, int64_t *to);

#endif
