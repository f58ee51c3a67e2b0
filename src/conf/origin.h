/*
 * Where relative paths of a config start: in the folder of the file they
 * stand in; on the command line, in the current one.
 */
#ifndef CR_CONF_ORIGIN_H
#define CR_CONF_ORIGIN_H

#include "base/diag.h"

struct cr_origin {
    const struct cr_source *src;
    const char *dir;
    struct cr_origin *next;
};

#endif
