/*
 * Configs to start from: templates, and configs written for data at hand.
 *
 * A config that is written for data trains at once: what the data tell (types,
 * classes, sizes) stands in it as plain values with comments, so that the file
 * can be read, edited and run without the program that wrote it.
 */
#ifndef CR_STARTER_STARTER_H
#define CR_STARTER_STARTER_H

#include "base/str.h"

struct cr_template {
    const char *name;
    const char *text;
    size_t len;
};

/* From the simplest on; ends with a NULL name. The first line of a text says
 * what the template is. */
extern const struct cr_template cr_templates[];
const struct cr_template *cr_template_find(const char *name);
/* "A language model of characters", from the text's first line. */
const char *cr_template_summary(struct cr_arena *arena,
                                const struct cr_template *t);

enum cr_starter_task { CR_TASK_AUTO, CR_TASK_CLASSIFY, CR_TASK_REGRESS };

struct cr_starter {
    struct cr_arena *arena;
    struct cr_diag *diag;
    struct cr_buf out;          /* the config */
    const char *command;        /* the line that writes it, for the comment */
    const char *folder;         /* where the config will stand; NULL: here */
    int task;                   /* enum cr_starter_task, as asked for */
};

/* Append a config for the data to `out`. False after reporting. */
bool cr_starter_csv(struct cr_starter *s, const char *path,
                    const char *target);
bool cr_starter_folder(struct cr_starter *s, const char *dir);
bool cr_starter_npy(struct cr_starter *s, const char *x, const char *y);

/* ---- What these share (common.c) */

/* What the data tell of the task. */
struct cr_starter_facts {
    bool classifies;
    int64_t rows, classes;
    int64_t fewest, most;       /* rows of the rarest, the commonest class */
    double mean, spread;        /* of a target of numbers, roughly */
    bool images;
    bool flat;                  /* a target of numbers has no axis of its own:
                                   (n,) instead of (n, 1) */
};

/* A value or key of YAML in braces; `$` is written so that it is no
 * variable. */
void cr_starter_text(struct cr_starter *s, const char *text);
/* The path as the config, in its folder, names it. */
void cr_starter_path(struct cr_starter *s, const char *path);
/* The comment on top: the command and how to go on. */
void cr_starter_head(struct cr_starter *s);
/* The key `split` of `dataset`, with what it is for. */
void cr_starter_split(struct cr_starter *s,
                      const struct cr_starter_facts *f);
/* Samples in a batch. */
int64_t cr_starter_batch(const struct cr_starter_facts *f);
/* From `loss` to the end: loss, optimizer, metrics, length, best. */
void cr_starter_training(struct cr_starter *s,
                         const struct cr_starter_facts *f);
/* A number of about the size of x: three digits. */
const char *cr_starter_round(struct cr_arena *arena, double x);
/* Cells of a perceptron for a table of `inputs` numbers, as a list, and the
 * line of `construct` that gives their result from h. */
void cr_starter_dense(struct cr_starter *s, const struct cr_starter_facts *f,
                      int64_t inputs);
void cr_starter_output(struct cr_starter *s,
                       const struct cr_starter_facts *f, const char *input);
/* Blocks and network: convolutions for images of so many pixels a side, which
 * the column `input` holds and `value` makes (n, channels, height, width). */
void cr_starter_convnet(struct cr_starter *s,
                        const struct cr_starter_facts *f, const char *input,
                        const char *value, int64_t side);
/* Mean and deviation, and whether labels count as classes 0, 1, ...; reports
 * a target that no task has. */
bool cr_starter_numbers(struct cr_starter *s, const double *y, int64_t n,
                        struct cr_starter_facts *f);

#endif
