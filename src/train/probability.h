/*
 * How outputs of a network become probabilities of classes: for predict, and
 * for metrics that need probabilities.
 */
#ifndef CR_TRAIN_PROBABILITY_H
#define CR_TRAIN_PROBABILITY_H

#include "conf/config.h"
#include "net/net.h"

enum cr_prob_map { CR_PROB_IDENTITY, CR_PROB_SOFTMAX, CR_PROB_EXP,
                   CR_PROB_SIGMOID };

/* A built-in loss of classes: the map that it applies to its input. */
struct cr_prob_loss {
    const char *name;
    enum cr_prob_map map;
    bool binary;                /* each number is of a class by itself */
};

/* The entry of the config's loss; NULL: another loss, one written in the
 * config, or none. */
const struct cr_prob_loss *cr_prob_loss(const struct cr_config *config);
/* The map for result i of a network of another loss, by the op that computes
 * the result: Softmax and Sigmoid give probabilities already, LogSoftmax their
 * logarithms, and anything else is taken as logits. */
enum cr_prob_map cr_prob_of_result(const struct cr_net *net, int i);
/* Whether result i has probabilities already. */
bool cr_prob_given(const struct cr_config *config, const struct cr_net *net,
                   int i);

/* The number of classes of result i; 0: its elements are plain numbers. The
 * first axis of `result` is the samples. `truth` is a sample of the column of
 * its labels (NULL: not known), `classes` the number of classes of the data
 * set (0: not known). */
int64_t cr_prob_classes(const struct cr_config *config, int i,
                        const struct cr_spec *result,
                        const struct cr_spec *truth, int64_t classes);
/* Checks predict.labels, one name per class, against the classes of all
 * results; those of 0 classes are passed over. False after reporting. */
bool cr_prob_labels(const struct cr_config *config, const int64_t *classes,
                    int n);

#endif
