/*
 * Text from a language model: a network that gives, for each of the T
 * characters that go in, how likely which character is to follow.
 *
 * A text grows from the left in a window of T characters. While it is
 * shorter, what is behind it does not matter: the network must not look ahead
 * (which is tried out once). When the window is full its first character
 * falls out for each that is drawn.
 *
 * What is drawn is a function of prompt, settings and seed alone.
 */
#ifndef CR_TRAIN_GENERATE_H
#define CR_TRAIN_GENERATE_H

#include "data/vocab.h"
#include "net/net.h"

struct cr_train;
struct cr_generate;

/* How a text is drawn: the section `sample`, and flags of that command. */
struct cr_sampling_opts {
    struct cr_quantity every; /* while training */
    const char *prompt;     /* NULL: as at the beginning of a text */
    int64_t length;         /* characters to draw */
    double temperature;     /* divides the logits; 0: always the likeliest */
    int64_t top_k;          /* among so many; CR_INT_NONE: all */
    double top_p;           /* and among those that make up so much */
};

/* Whether these are the columns of a network that was trained on characters,
 * before it is built. False after reporting. */
bool cr_generate_can(struct cr_config *config,
                     const struct cr_column *columns, int n_columns);
/* For a network that was built for these columns. Its parameters are those at
 * the time of drawing; `fixed`: they will not change. The config must keep a
 * vocabulary for the column that goes in. NULL after reporting. */
struct cr_generate *cr_generate_open(struct cr_config *config,
                                     struct cr_net *net,
                                     const struct cr_column *columns,
                                     int n_columns, bool fixed);
void cr_generate_close(struct cr_generate *generate);

/* Whether all of the prompt is in the vocabulary. False after reporting, at
 * `pos` as of `what`. */
bool cr_generate_takes(struct cr_generate *generate, const char *prompt,
                       struct cr_pos pos, const char *what);

/* Gives the prompt to `put` and then each character when it is drawn; put
 * returns false to end it. It ends as well, with *finite false and no word,
 * where the output is not finite. False after reporting. */
bool cr_generate_text(struct cr_generate *generate,
                      const struct cr_sampling_opts *how, uint64_t seed,
                      uint64_t key,
                      bool (*put)(void *ctx, const char *text, size_t len),
                      void *ctx, bool *finite);

/* ---- text_samples.c: texts while training, as the section `sample` says */

struct cr_text_samples;

/* *to is NULL where there is no such section. False after reporting. */
bool cr_text_samples_read(struct cr_train *train, struct cr_text_samples **to);
/* A text, if one is due after the step just done. False after reporting. */
bool cr_text_samples_step(struct cr_text_samples *text_samples);
void cr_text_samples_close(struct cr_text_samples *text_samples);

#endif
