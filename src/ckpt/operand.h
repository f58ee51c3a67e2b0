/*
 * What stands on the line of a verb that takes configs or a checkpoint.
 */
#ifndef CR_CKPT_OPERAND_H
#define CR_CKPT_OPERAND_H

#include "ckpt/checkpoint.h"
#include "conf/verb.h"

/* The config of the line: one operand that is a checkpoint or run directory
 * brings its own, with the assignments of the line over it, and *store is
 * open then (else NULL); otherwise the operands are config files. NULL after
 * reporting. */
struct cr_config *cr_operand_config(struct cr_cli *cli,
                                    struct cr_store **store);

#endif
