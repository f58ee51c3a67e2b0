/*
 * Full-text search of the documentation: help texts, options, codes, terms, and
 * the sentences of the manual pages.
 */
#ifndef CR_CONF_SEARCH_H
#define CR_CONF_SEARCH_H

#include "base/str.h"

/* Appends a line "NAME: sentence" for each sentence that, with its name, has
 * all of the words, in any case. Returns their number. */
int cr_search(struct cr_buf *buf, const char *words);

#endif
