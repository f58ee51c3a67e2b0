/*
 * eval.npz of a run directory: what the evaluation found for each sample
 * (cellrun-formats(7)). The file may be anybody's: sizes and classes are
 * checked.
 */
#ifndef CR_RUNDIR_OUTCOMES_H
#define CR_RUNDIR_OUTCOMES_H

#include "base/diag.h"

struct cr_run_outcomes {
    int64_t n; /* samples stored; 0: there is no such file */
    int64_t step, epoch, seen;
    int64_t classes;     /* 0: truth and output are numbers */
    int64_t width;       /* numbers of a sample */
    const double *loss;  /* of each sample; NAN: none */
    const double *probability;          /* of `predicted`, from 0 to 1 */
    const int64_t *sample;              /* index in the data set */
    const int64_t *label, *predicted;   /* label -1: none of the classes */
    const double *truth, *output;       /* [n][width] */
    /* Several positions of each sample with a class, such as tokens: `right` is
     * not NULL. Losses of positions are counted in intervals of 0.25; the last
     * one has no end. */
    const double *right;                /* fraction; NAN: no position counts */
    int64_t n_bins, n_classes;
    const int64_t *bins;
    const int64_t *class_positions;     /* [n_classes] */
    const double *class_loss;           /* their sum */
    /* Several labels of each sample, true or false, as bits: labels > 0. */
    int64_t labels;
    const int64_t *true_labels, *found_labels;
};

/* Reads the file of a run directory; n is 0 if there is none. False after
 * reporting that it is damaged or inconsistent. */
bool cr_run_outcomes_read(struct cr_arena *arena, struct cr_diag *diag,
                          const char *dir, struct cr_run_outcomes *to);

#endif
