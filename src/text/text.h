/*
 * Text generation with a language model: a network whose output for each of T
 * input characters is the logits of the next character.
 *
 * A text fills a window of T characters from the left. While it is shorter,
 * the characters after it have no influence: the network must be causal, which
 * is tested once. When the window is full, its first character is dropped for
 * each new one.
 *
 * The text is a function of prompt, settings and seed alone.
 *
 * Called by train/ for the section `sample` and by the command sample. Knows
 * nothing of runs.
 *
 * Includes: base data graph num score.
 */
#ifndef CR_TEXT_TEXT_H
#define CR_TEXT_TEXT_H

#include "data/vocab.h"
#include "graph/net.h"

struct cr_train;
struct cr_generate;

/* Settings of text generation: the section `sample`, and flags of `cellrun
 * sample`. */
struct cr_sampling_opts {
    struct cr_quantity every; /* while training */
    const char *prompt;       /* NULL: the beginning of a line */
    int64_t length;           /* number of characters to generate */
    double temperature; /* divides the logits; 0: always the most likely */
    int64_t top_k;      /* consider only the k most likely; CR_INT_NONE: all */
    double top_p;       /* consider only the most likely that add up to p */
};

/* Whether these are the columns of a network that was trained on characters,
 * before it is built. False after reporting. */
bool cr_generate_can(struct cr_config *config,
                     const struct cr_column *columns, int n_columns);
/* Opens a generator for a network built for these columns. It uses the
 * parameters at the time of each text; `fixed`: they will not change. The
 * config must have a vocabulary for the input column. NULL after reporting. */
struct cr_generate *cr_generate_open(struct cr_config *config,
                                     struct cr_net *net,
                                     const struct cr_column *columns,
                                     int n_columns, bool fixed);
void cr_generate_close(struct cr_generate *generate);

/* Whether all characters of the prompt are in the vocabulary. False after
 * reporting at `pos`, where `what` names the prompt. */
bool cr_generate_takes(struct cr_generate *generate, const char *prompt,
                       struct cr_pos pos, const char *what);

/* Passes the prompt to `put`, then each character as it is generated, until
 * put returns false. If the output is not finite it stops and sets *finite to
 * false, without reporting. False after reporting. */
bool cr_generate_text(struct cr_generate *generate,
                      const struct cr_sampling_opts *how, uint64_t seed,
                      uint64_t key,
                      bool (*put)(void *ctx, const char *text, size_t len),
                      void *ctx, bool *finite);

/* ---- text_samples.c: texts generated during training (section `sample`) */

struct cr_text_samples;

/* *to is NULL without the section. False after reporting. */
bool cr_text_samples_read(struct cr_train *train, struct cr_text_samples **to);
/* Generates a text if one is due after the step just done. False after
 * reporting. */
bool cr_text_samples_step(struct cr_text_samples *text_samples);
void cr_text_samples_close(struct cr_text_samples *text_samples);

#endif
