/*
 * The pages of the command help as text for a terminal: wrapped paragraphs,
 * lists, option rows, and the lists that have no descriptors.
 */
#ifndef CR_CONF_HELP_TEXT_H
#define CR_CONF_HELP_TEXT_H

#include "base/str.h"
#include "conf/opt.h"

/* Appends the text wrapped and indented; its first line starts at column
 * `at`. */
void cr_help_wrap(struct cr_buf *buf, const char *text, int indent, int at);
/* Appends the lines of a text as they are, indented by two. */
void cr_help_lines(struct cr_buf *buf, const char *text);
/* Appends an entry of a list: a name and, from `column` on, its summary. */
void cr_help_item(struct cr_buf *buf, const char *name, const char *text,
                  int column);
/* Appends rows as flags of a command, or as keys or arguments, whose names
 * begin with `above`. */
void cr_help_rows(struct cr_buf *buf, const struct cr_opt *rows, bool flags,
                  const char *above);

/* Appends the list of that name: codes, environment, exit, terms or keywords.
 * False if there is none. */
bool cr_help_list(struct cr_buf *buf, const char *name);
/* Appends an environment variable and its present value. False if the program
 * does not read it. */
bool cr_help_variable(struct cr_buf *buf, const char *name);

#endif
