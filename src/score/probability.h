/*
 * Maps from the outputs of a network to probabilities of classes, for predict
 * and for metrics that need probabilities.
 */
#ifndef CR_SCORE_PROBABILITY_H
#define CR_SCORE_PROBABILITY_H

#include "conf/config.h"
#include "graph/net.h"

enum cr_prob_map { CR_PROB_IDENTITY, CR_PROB_SOFTMAX, CR_PROB_EXP,
                   CR_PROB_SIGMOID };

/* The map that a built-in classification loss applies to its input. */
struct cr_prob_loss {
    const char *name;
    enum cr_prob_map map;
    bool binary;                /* each element is a class by itself */
};

/* The entry of the config's loss; NULL: not a classification loss, a loss
 * block, or none. */
const struct cr_prob_loss *cr_prob_loss(const struct cr_config *config);
/* The map for result i if the loss has no entry, from the op that computes the
 * result: identity for Softmax and Sigmoid, exp for LogSoftmax, softmax for
 * all others, whose results are taken as logits. */
enum cr_prob_map cr_prob_of_result(const struct cr_net *net, int i);
/* Whether result i already consists of probabilities. */
bool cr_prob_given(const struct cr_config *config, const struct cr_net *net,
                   int i);

/* Number of classes of result i; 0: its elements are plain numbers. The first
 * axis of `result` is the batch. `truth` is the spec of one label (NULL:
 * unknown), `classes` the number of classes of the data set (0: unknown). */
int64_t cr_prob_classes(const struct cr_config *config, int i,
                        const struct cr_spec *result,
                        const struct cr_spec *truth, int64_t classes);
/* Checks that predict.labels has one name per class of each result; results
 * without classes are ignored. False after reporting an error. */
bool cr_prob_labels(const struct cr_config *config, const int64_t *classes,
                    int n);

#endif
