/*
 * score/: evaluation of a network (eval.h): metrics (metric.h), probabilities
 * of classes, the outcome of each sample, requirements (require.h). This
 * header: the results, values of metrics by name, as text and JSON. Text has 4
 * decimals, JSON all digits, and `null` for values that are not finite.
 *
 * Called by train/ between steps, by model/ and the commands eval and predict.
 * Results depend on samples and parameters, not on the size of batches.
 * Knows nothing of updates, checkpoints and run directories.
 *
 * Includes: base conf data graph kernels mpi num run.
 */
#ifndef CR_SCORE_SCORE_H
#define CR_SCORE_SCORE_H

#include "base/str.h"
#include "conf/node.h"

struct cr_score {
    const char *name;
    bool single;            /* the metric has a value; otherwise only a table */
    double value;
    int64_t rows, columns;  /* of the table: a row for each class, or point of
                               a curve; no columns: none */
    const double *table;
    const double *actual;   /* number of labels of each class; NULL: not a
                               metric of single classes */
};

struct cr_scores {
    int n;
    struct cr_score *v;
    int64_t samples;        /* samples evaluated */
    int64_t classes;        /* rows of tables of classes */
};

/* Finds a score by name, with or without the prefix `eval.`; NULL: not
 * found. */
const struct cr_score *cr_score_find(const struct cr_scores *scores,
                                     const char *name);
/* The name without the prefix `eval.`. */
const char *cr_score_bare(const char *name);

/* `"accuracy":0.9193,"loss":0.281` (tables as lists of rows if `tables`). */
void cr_buf_scores(struct cr_buf *buf, const struct cr_scores *scores,
                   bool tables);
/* Lines `accuracy: 0.9193`, each after the prefix. */
void cr_buf_score_lines(struct cr_buf *buf, const struct cr_scores *scores,
                        const char *prefix);
/* A field of CSV (RFC 4180), quoted where it must be. */
void cr_buf_csv(struct cr_buf *buf, const char *text);
/* A table as [[1, 2], [3, 4]], or [1, 2] when it has one column. */
void cr_buf_table(struct cr_buf *buf, const struct cr_score *score);

/* The members of a JSON object that are numbers or null, as scores. */
void cr_scores_read(struct cr_arena *arena, const struct cr_node *map,
                    struct cr_scores *to);

#endif
