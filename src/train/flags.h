/*
 * Flags of train and resume that are also config keys: each becomes an
 * assignment that follows those of the command line.
 */
#ifndef CR_TRAIN_FLAGS_H
#define CR_TRAIN_FLAGS_H

#include "conf/command_line.h"

/* Adds `key=value` to the assignments of the command line. `flag` ("--epochs")
 * is used to find the argument for messages. */
void cr_flag_set(struct cr_cli *cli, const char *flag, const char *key,
                 const char *value);
/* The same unless value is NULL; quoted, so that any text is a string. */
void cr_flag_text(struct cr_cli *cli, const char *flag, const char *key,
                  const char *value);
/* The same unless value is CR_INT_NONE. */
void cr_flag_int(struct cr_cli *cli, const char *flag, const char *key,
                 int64_t value);

#endif
