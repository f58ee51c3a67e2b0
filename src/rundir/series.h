/*
 * metrics.jsonl of a run directory as curves.
 *
 * Records of the same kind (the member `split`: train, eval ...) form one
 * series; records of `watch` form one series for each cell and quantity, such
 * as "watch.fc1.grad". A series has a column for each member that is a number
 * in some record. Texts and lists, such as a confusion matrix, are skipped.
 */
#ifndef CR_RUNDIR_SERIES_H
#define CR_RUNDIR_SERIES_H

#include "base/diag.h"

struct cr_series_column {
    const char *name; /* "loss" */
    double *value;    /* of each record; NAN: null or absent */
};

struct cr_series {
    const char *name; /* "train" */
    int64_t n, cap;   /* records, in the order of the file */
    int64_t *line;    /* of the file, from 1 */
    double *step;     /* updates done; NAN where a record has none */
    double *epoch;    /* epochs done, with fractions */
    double *number;   /* of the epoch under way, from 0 */
    double *time;     /* seconds since the first record of the file, pauses
                         of an interrupted run included */
    double *t;        /* seconds since 1970 */
    double *samples;  /* samples seen */
    int n_columns, cap_columns;
    struct cr_series_column *column; /* in the order of their appearance */
};

struct cr_run_series {
    struct cr_arena *arena; /* must be set */
    int n, cap;
    struct cr_series *series; /* in the order of their appearance */
    int64_t invalid;       /* complete lines that are not records, or have more
                              columns than files of this length can fill */
    int64_t first_invalid; /* number of the first of them, from 1 */
    size_t n_values, max_values; /* of the columns, in values; private */
};

/* Adds the records of a text. A last line without its line feed is ignored.
 * A record that goes back to an earlier step, as after the fallback of
 * train.nan, replaces the later records of its series. epoch_samples is the
 * number of samples of an epoch, from which the fractions of epochs follow; if
 * it is 0, it is estimated from the records. */
void cr_run_series_parse(struct cr_run_series *run, const char *text,
                         size_t len, double epoch_samples);

/* Reads metrics.jsonl of a run directory, and the number of samples of an
 * epoch from its record.json. A run without metrics.jsonl has no series. False
 * after reporting that the file cannot be read. */
bool cr_run_series_read(struct cr_run_series *run, struct cr_diag *diag,
                        const char *dir);

/* The series of this name; NULL if there is none. */
const struct cr_series *cr_series_find(const struct cr_run_series *run,
                                       const char *name);
/* The column of this name; NULL if there is none, or series is NULL. */
const struct cr_series_column *cr_series_column(const struct cr_series *series,
                                                const char *name);

#endif
