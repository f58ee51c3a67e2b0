/*
 * Predicting: samples from files, tables and streams in, rows of results out.
 *
 *   columns.c  what the network takes, and the truth where there is one
 *   outputs.c  what it gives: values, classes, sequences of classes
 *   batch.c    samples gathered, computed, handed to a writer; bad samples
 *   files.c    samples from images and arrays
 *   table.c    samples from rows of text (CSV, JSON lines), rows.h
 *   split.c    samples of the config's data
 *   stream.c   one line in, one line out
 *   write.c    rows as text; arrays.c: as .npy and .npz; wrong.c: the samples
 *              judged wrong, as rows or as a sheet of pictures
 *
 * A source fills one sample into the feeds (cr_predict_into) and says so with
 * cr_predict_add, or says with cr_predict_bad that there is none.
 */
#ifndef CR_PREDICT_PREDICT_H
#define CR_PREDICT_PREDICT_H

#include <stdio.h>

#include "base/atomic_file.h"
#include "base/str.h"
#include "data/data_loader.h"
#include "model/model.h"
#include "train/predict_input.h"
#include "train/probability.h"

enum { CR_PREDICT_TSV, CR_PREDICT_CSV, CR_PREDICT_JSONL, CR_PREDICT_NPY,
       CR_PREDICT_NPZ, CR_PREDICT_BY_NAME };
enum { CR_PREDICT_SKIP, CR_PREDICT_STOP, CR_PREDICT_BLANK,
       CR_PREDICT_DEFAULT };
enum { CR_PREDICT_AUTO, CR_PREDICT_YES, CR_PREDICT_NO };
enum { CR_ROWS_AUTO, CR_ROWS_CSV, CR_ROWS_TSV, CR_ROWS_JSONL, CR_ROWS_NAMES };

/* The flags of the command. */
struct cr_predict_opts {
    const char *against;
    const char *ckpt, *to, *data, *files_from, *at;
    struct cr_strs id;
    int format, on_error, rows, names;
    int64_t topk, batch, result;
    double threshold;
    bool probs, header, wrong, embed, stream;
};

/* A column: what the network takes, or the truth. */
struct cr_predict_feed {
    const char *name;
    struct cr_spec head;        /* a sample as the data set holds it */
    struct cr_spec out;         /* and behind the datapipe */
    struct cr_column_pipeline *pipeline; /* between them */
    struct cr_input_adapter adapter; /* for images and arrays of other shapes */
    size_t size;                /* of one sample behind the datapipe */
    char *batch;
    void *stored;               /* room for one sample as in the data set */
};

enum cr_predict_kind {
    CR_PREDICT_VALUES,          /* numbers */
    CR_PREDICT_CLASSES,         /* one of several classes */
    CR_PREDICT_BINARY,          /* one number: the second of two classes */
    CR_PREDICT_LABELS,          /* each class by itself: any number of them */
    CR_PREDICT_SEQUENCE         /* a class at each position */
};

struct cr_predict_out {
    const char *name;
    int result;                 /* of the network; -1: the value of --at */
    struct cr_spec spec;        /* of one sample */
    int64_t count;              /* its numbers */
    enum cr_predict_kind kind;
    enum cr_prob_map act;    /* makes probabilities of them */
    int64_t classes;            /* BINARY: 2 */
    int64_t positions, stride;  /* SEQUENCE: how many, and from one class to
                                   the next */
    const char **names;         /* of the classes */
    bool named;                 /* which are words, not only numbers */
    int truth;                  /* feed of its truth; -1: none */
    const cr_real *data;        /* of the batch */
    cr_real *room;              /* where the result is of another type */
    double *p;                  /* probabilities of the present sample */
    int64_t *order;             /* and its classes from the likeliest */
};

struct cr_predict_row {
    const char *name;           /* of the input; NULL: not shown */
    const char *const *id;      /* texts of the fields of --id */
    bool blank;                 /* there is no sample: shown without results */
    const char *error;          /* and why; NULL: not known */
    int64_t sample;             /* its number in the data set; -1 */
    double loss;                /* with --wrong */
};

struct cr_predict {
    struct cr_cli *cli;
    const struct cr_predict_opts *o;
    struct cr_model model;
    struct cr_obj data;         /* what it was trained on; about NULL: not
                                   known */
    int n_feeds, n_truths;
    struct cr_predict_feed feed[CR_COLUMNS_MAX], truth[CR_COLUMNS_MAX];
    bool has_truth;             /* the sources give it */
    bool titled;                /* the header is out */
    int n_outs;
    struct cr_predict_out *out;
    double threshold;           /* of two classes and of labels; NaN: 0.5 */
    struct cr_exec *exec, *last, *one; /* for a batch, for n_last, for one */
    int64_t n_last, before; /* samples that were computed already */
    int64_t cap, n;             /* rows of a batch; gathered */
    struct cr_predict_row *row;
    struct cr_arena text;       /* names of a batch */
    struct cr_buf line;         /* rows to be written, in `lines` */
    struct cr_arena lines;
    int on_error;
    int64_t done, bad;          /* samples computed; that could not be */
    bool stopped;
    struct cr_arena room;       /* of a sample, and messages about it */
    struct cr_diag about;
    struct cr_atomic_file *file; /* NULL: standard output */
    struct cr_predict_arrays *arrays; /* with npy and npz */
    struct cr_predict_wrong *judged;  /* with --wrong */
    struct cr_data_loader *loader;    /* with --data */
};

/* columns.c: finds the columns and builds the network. */
bool cr_predict_columns(struct cr_predict *j);
/* Whether the network takes one column of images, whose files have names. */
bool cr_predict_images(const struct cr_predict *j);
/* The feed of that name, the truth among them; NULL: none. */
struct cr_predict_feed *cr_predict_feed(struct cr_predict *j, const char *name);

/* The type that a field of text is read as. */
const char *cr_predict_field_type(const struct cr_spec *head);

/* outputs.c */
bool cr_predict_outputs(struct cr_predict *j);
/* Sets data of all outputs from the plan that has computed n samples. */
void cr_predict_results(struct cr_predict *j, struct cr_exec *exec, int64_t n);
/* The numbers of row i. */
const cr_real *cr_predict_values(const struct cr_predict_out *out, int64_t i);
/* The class of row i, and, where `all`, probabilities and the order. */
int64_t cr_predict_class(const struct cr_predict *j,
                         struct cr_predict_out *out, int64_t i, bool all);
/* The class at position k of row i of a sequence. */
int64_t cr_predict_class_at(const struct cr_predict_out *out, int64_t i,
                            int64_t k);
/* Whether class k is among those of row i (LABELS). */
bool cr_predict_has(const struct cr_predict *j,
                    const struct cr_predict_out *out, int64_t i, int64_t k);
/* Whether row i is judged wrong, and its loss over all outputs of classes. */
bool cr_predict_judge(struct cr_predict *j, int64_t i, double *loss);

/* batch.c */
bool cr_predict_open(struct cr_predict *j); /* memory and plans */
bool cr_predict_flush(struct cr_predict *j);
/* Where the present sample goes. */
void *cr_predict_into(const struct cr_predict *j,
                      const struct cr_predict_feed *feed);
/* Messages about the present sample go here; cleared by add and bad. */
struct cr_diag *cr_predict_about(struct cr_predict *j);
/* The sample is there, or is not: false ends the work. `row` is copied, its
 * texts are not. */
bool cr_predict_add(struct cr_predict *j, const struct cr_predict_row *row);
bool cr_predict_bad(struct cr_predict *j, const struct cr_predict_row *row);
/* Whether the messages say that a file of samples cannot be read, which is no
 * fault of one sample; reports them then. */
bool cr_predict_unreadable(struct cr_predict *j);
/* Sends a sample as the data set holds it through the datapipe. */
bool cr_predict_stored(struct cr_predict *j, struct cr_predict_feed *feed,
                       const void *x, int64_t index);
void cr_predict_free(struct cr_predict *j);
/* How many samples were bad, said at the end. */
void cr_predict_told(struct cr_predict *j);

/* files.c: everything that the command line names. */
bool cr_predict_operands(struct cr_predict *j);
/* False after reporting that -o is a file which --data reads. */
bool cr_predict_keeps_data(struct cr_predict *j);

/* table.c */
bool cr_predict_is_table(const struct cr_predict *j, const char *path);
/* "-": standard input. */
bool cr_predict_table(struct cr_predict *j, const char *path);
/* A table that gives one column only. */
struct cr_predict_rows;
struct cr_predict_rows *cr_predict_rows_open(struct cr_predict *j,
                                             const char *path,
                                             struct cr_predict_feed *only);
/* 1: a sample is in the feeds; 0: the end; -1: it is bad, which
 * cr_predict_about says; -2: and so is all that follows. */
int cr_predict_rows_next(struct cr_predict_rows *rows, int64_t index);
const char *const *cr_predict_rows_id(const struct cr_predict_rows *rows);
void cr_predict_rows_close(struct cr_predict_rows *rows);

/* split.c: --data */
bool cr_predict_split(struct cr_predict *j);

/* stream.c */
bool cr_predict_stream(struct cr_predict *j, int *status);
/* table.c, for it: the parser of single lines, and one line. */
struct cr_predict_rows *cr_predict_lines(struct cr_predict *j);
int cr_predict_line(struct cr_predict_rows *rows, char *line, size_t len,
                    int64_t number);

/* write.c: how the names of files of each format end, and of a sheet. */
enum { CR_PREDICT_ENDINGS = 6 };
extern const char *const cr_predict_endings[CR_PREDICT_ENDINGS];
bool cr_predict_write_open(struct cr_predict *j);
void cr_predict_header(struct cr_predict *j);
void cr_predict_row(struct cr_predict *j, struct cr_buf *to, int64_t i,
                    const struct cr_predict_row *row);
/* Hands j->line on. */
bool cr_predict_put(struct cr_predict *j);
bool cr_predict_write_close(struct cr_predict *j, bool ok);
/* Numbers that go out: shortest text of the type that the network computes
 * in. */
void cr_buf_value(struct cr_buf *to, double value, bool json);
/* The truth of row i as text; for JSON with its quotes. */
void cr_predict_truth(struct cr_predict *j, struct cr_buf *to, int t,
                      int64_t i, bool json);

/* arrays.c */
void cr_predict_arrays_open(struct cr_predict *j);
void cr_predict_arrays_add(struct cr_predict *j, int64_t i,
                           const struct cr_predict_row *row);
bool cr_predict_arrays_write(struct cr_predict *j);

/* wrong.c */
bool cr_predict_wrong_open(struct cr_predict *j);
void cr_predict_wrong_add(struct cr_predict *j, int64_t i,
                          const struct cr_predict_row *row);
bool cr_predict_wrong_write(struct cr_predict *j);
void cr_predict_wrong_free(struct cr_predict *j);

#endif
