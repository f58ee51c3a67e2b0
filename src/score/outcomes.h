/*
 * What an evaluation found for each sample: truth, prediction, confidence,
 * loss. The files eval.npz and samples.json of run directories are made of it
 * (cellrun-formats(7)).
 */
#ifndef CR_SCORE_OUTCOMES_H
#define CR_SCORE_OUTCOMES_H

#include "graph/net.h"
#include "score/metric.h"

#define CR_OUTCOMES_MAX 100000 /* samples kept; later ones are skipped */
#define CR_OUTCOMES_WIDTH 16   /* numbers of an output that are kept */
#define CR_OUTCOMES_LABELS 63  /* labels of a sample, as bits of an integer */
#define CR_OUTCOMES_BINS 64    /* intervals of the losses of positions, each
                                  CR_OUTCOMES_BIN wide; the last one has no
                                  end */
#define CR_OUTCOMES_BIN 0.25

enum cr_outcome_kind {
    CR_OUTCOMES_NONE,    /* outputs of another kind */
    CR_OUTCOMES_CLASSES, /* one class of each sample */
    CR_OUTCOMES_NUMBERS, /* a number, or several, for each sample */
    CR_OUTCOMES_POSITIONS, /* classes of several positions of each sample, such
                              as the tokens of a text or the pixels of a map */
    CR_OUTCOMES_MULTILABEL, /* each of several labels is true or false */
};

/* The outcomes of one evaluation; arrays have n elements. */
struct cr_outcomes {
    struct cr_arena mem;
    enum cr_outcome_kind kind;
    int64_t step, epoch; /* after which it was made */
    int64_t n, cap;
    int64_t seen;        /* samples of the evaluation, with the skipped ones */
    int64_t classes;     /* CLASSES, POSITIONS: at least 2 */
    int64_t width;       /* NUMBERS: of a sample; 0: more than
                            CR_OUTCOMES_WIDTH, only the loss is kept.
                            POSITIONS, MULTILABEL: their number */
    int64_t *sample;     /* indices in the data set */
    /* CLASSES: -ln of the probability of the true class; NUMBERS: mean squared
     * error of the sample; POSITIONS, MULTILABEL: mean of -ln p. */
    float *loss;
    int32_t *label, *predicted; /* CLASSES; label -1: none of the classes */
    float *probability;         /* CLASSES: of the predicted class */
    float *truth, *output;      /* NUMBERS: (n, width) */
    /* POSITIONS. Positions without a class count nowhere. */
    float *right;          /* fraction of a sample's positions predicted right;
                              NAN: no position has a class */
    float *position_loss;  /* (width) of each of the first n_detailed samples;
                              NAN: no class */
    int64_t n_detailed, cap_detailed;
    int64_t bins[CR_OUTCOMES_BINS]; /* positions by their loss */
    int64_t *class_n, cap_classes;  /* positions of each class */
    double *class_loss;             /* their sum */
    int64_t *true_labels, *found_labels; /* MULTILABEL: bits */
};

/* Begins an evaluation; old outcomes are dropped, their memory is reused. */
void cr_outcomes_begin(struct cr_outcomes *to);
/* Adds a batch; `samples` are the indices of its samples. */
void cr_outcomes_add(struct cr_outcomes *to, const struct cr_config *config,
                     const struct cr_net *net,
                     const struct cr_metric_batch *batch,
                     const int64_t *samples);
/* The n samples with the largest loss, the largest first, as indices of the
 * arrays; fewer if there are fewer. Returns their number. */
int64_t cr_outcomes_worst(const struct cr_outcomes *outcomes, int64_t n,
                          int64_t *to);

#endif
