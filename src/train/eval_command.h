/*
 * run.exec_on_eval: a command after each evaluation.
 */
#ifndef CR_TRAIN_EVAL_COMMAND_H
#define CR_TRAIN_EVAL_COMMAND_H


struct cr_train;

/* Runs the command, if set, after an evaluation. */
void cr_train_eval_command(struct cr_train *train);

#endif
