/*
 * The command init: config templates, and configs written for given data.
 *
 * A config for given data trains without edits. Properties of the data (types,
 * classes, sizes) are plain values with comments, so the file can be read,
 * edited and run without inspecting the data again.
 *
 * Called by the command init. Knows nothing of networks.
 *
 * Includes: base conf data.
 */
#ifndef CR_STARTER_STARTER_H
#define CR_STARTER_STARTER_H

#include "base/str.h"

struct cr_template {
    const char *name;
    const char *text;
    size_t len;
};

/* Simplest first; ends with a NULL name. The first line of each text is its
 * summary. */
extern const struct cr_template cr_templates[];
/* NULL: not found. */
const struct cr_template *cr_template_find(const char *name);
/* The summary of a template, such as "A character language model". */
const char *cr_template_summary(struct cr_arena *arena,
                                const struct cr_template *t);

enum cr_starter_task { CR_TASK_AUTO, CR_TASK_CLASSIFY, CR_TASK_REGRESS };

struct cr_starter {
    struct cr_arena *arena;
    struct cr_diag *diag;
    struct cr_buf out;          /* the config */
    const char *command;        /* the command line, for the first comment */
    const char *folder;         /* folder of the config; NULL: the current */
    int task;                   /* enum cr_starter_task: --task */
    const char *unused;         /* fields that are not inputs; NULL: none */
    const char *unused_json;    /* the same, as members of a list */
};

/* Append a config for the data to `out`. False after reporting. */
bool cr_starter_csv(struct cr_starter *s, const char *path,
                    const char *target);
bool cr_starter_folder(struct cr_starter *s, const char *dir);
bool cr_starter_npy(struct cr_starter *s, const char *x, const char *y);

/* ---- common.c: parts of all configs, appended to `out` */

/* Properties of the data. */
struct cr_starter_facts {
    bool classifies;
    int64_t rows, classes;
    int64_t fewest, most;       /* rows of the rarest, most frequent class */
    double mean;                /* mean of a numeric target */
    double spread;              /* its standard deviation */
    bool images;
    bool flat;                  /* the numeric target is (n,) instead of
                                   (n, 1) */
};

/* A string as a value or key in a YAML flow map; `$` is escaped. */
void cr_starter_text(struct cr_starter *s, const char *text);
/* A path, absolute if the config is written to another folder. */
void cr_starter_path(struct cr_starter *s, const char *path);
/* The comment at the top: the command, and the commands to use next. */
void cr_starter_head(struct cr_starter *s);
/* The key dataset.split, with a comment. */
void cr_starter_split(struct cr_starter *s,
                      const struct cr_starter_facts *f);
/* The batch size for a data set. */
int64_t cr_starter_batch(const struct cr_starter_facts *f);
/* The sections loss, optimizer, metrics, train and checkpoint. */
void cr_starter_training(struct cr_starter *s,
                         const struct cr_starter_facts *f);
/* The section vars of a numeric target: its mean and standard deviation. */
void cr_starter_vars(struct cr_starter *s, const struct cr_starter_facts *f);
/* The cells of a multi-layer perceptron for `inputs` numbers, and the last line
 * of `construct`, which applies them to `input`. */
void cr_starter_dense(struct cr_starter *s, const struct cr_starter_facts *f,
                      int64_t inputs);
void cr_starter_output(struct cr_starter *s,
                       const struct cr_starter_facts *f, const char *input);
/* The sections blocks and network: a convolutional network for images of the
 * column `input`, whose shorter side has `side` pixels; the expression `value`
 * converts a batch to (n, channels, height, width). */
void cr_starter_convnet(struct cr_starter *s,
                        const struct cr_starter_facts *f, const char *input,
                        const char *value, int64_t side);
/* Sets mean, standard deviation and classes of n numeric targets, and whether
 * they are classes 0, 1, ... False after reporting a target that fits
 * neither classification nor regression. */
bool cr_starter_numbers(struct cr_starter *s, const double *y, int64_t n,
                        struct cr_starter_facts *f);

#endif
