/*
 * Symptoms of a run that did not learn.
 */
#ifndef CR_TRAIN_DIAGNOSE_H
#define CR_TRAIN_DIAGNOSE_H


struct cr_train;

/* Warns about each symptom, at the end of a run. */
void cr_train_diagnose(struct cr_train *train);

#endif
