/*
 * The command predict: reads samples from files, tables and streams, and
 * writes one row of results per sample.
 *
 *   run.c      opens the checkpoint, runs one of the sources, closes the output
 *   columns.c  the input columns of the network, and the columns of labels
 *   outputs.c  the outputs: values, classes, sequences of classes
 *   batch.c    collects samples into batches, computes and hands on the rows;
 *              handles samples with errors
 *   files.c    reads samples from images and arrays
 *   table.c    reads samples from rows of text: CSV, JSON lines (json_row.c)
 *   split.c    reads samples from the data set of the config
 *   stream.c   answers each line of standard input
 *   write.c    writes rows as text; arrays.c: as .npy and .npz; wrong.c: the
 *              misclassified samples, as rows or as a contact sheet
 *
 * A source writes one sample to the addresses of cr_predict_into, then calls
 * cr_predict_add, or cr_predict_bad if the sample cannot be read.
 *
 * Called by the command predict. Knows nothing of training.
 *
 * Includes: base ckpt conf console data graph model mpi run score train.
 */
#ifndef CR_PREDICT_PREDICT_H
#define CR_PREDICT_PREDICT_H

#include <stdio.h>

#include "base/atomic_file.h"
#include "base/str.h"
#include "console/work_progress.h"
#include "data/csv_dataset.h"
#include "data/data_loader.h"
#include "model/model.h"
#include "predict/predict_input.h"
#include "score/probability.h"

enum { CR_PREDICT_TSV, CR_PREDICT_CSV, CR_PREDICT_JSONL, CR_PREDICT_NPY,
       CR_PREDICT_NPZ, CR_PREDICT_BY_NAME };
enum { CR_PREDICT_SKIP, CR_PREDICT_STOP, CR_PREDICT_BLANK,
       CR_PREDICT_DEFAULT };
enum { CR_PREDICT_AUTO, CR_PREDICT_YES, CR_PREDICT_NO };
enum { CR_ROWS_AUTO, CR_ROWS_CSV, CR_ROWS_TSV, CR_ROWS_JSONL, CR_ROWS_NAMES };

/* The flags of the command. */
struct cr_predict_opts {
    const char *against;
    const char *ckpt, *config, *to, *data, *files_from, *at;
    struct cr_strs id;
    int format, on_error, rows, names;
    int64_t topk, batch, result, samples;
    double threshold;
    bool probs, header, wrong, embed, stream;
};

/* An input column of the network, or a column of labels. */
struct cr_predict_feed {
    const char *name;
    struct cr_spec head;        /* a sample as stored in the data set */
    struct cr_spec out;         /* a sample after the datapipe */
    bool paths;                 /* of a table: paths of images */
    int64_t fields;             /* of a table, in a row */
    struct cr_column_pipeline *pipeline; /* converts head to out */
    struct cr_input_adapter adapter; /* for images and arrays of other shapes */
    size_t size;                /* bytes of one sample after the datapipe */
    char *batch;                /* `cap` samples of that size */
    void *stored;               /* scratch: one sample as stored */
};

enum cr_predict_kind {
    CR_PREDICT_VALUES,          /* plain numbers */
    CR_PREDICT_CLASSES,         /* one of several classes */
    CR_PREDICT_BINARY,          /* one number: probability of class 1 of two */
    CR_PREDICT_LABELS,          /* any number of the classes (multi-label) */
    CR_PREDICT_SEQUENCE         /* a class at each position */
};

struct cr_predict_out {
    const char *name;
    int result;                 /* index among the results of the network;
                                   -1: the value of --at */
    struct cr_spec spec;        /* of one sample */
    int64_t count;              /* number of its elements */
    enum cr_predict_kind kind;
    enum cr_prob_map act;       /* maps the elements to probabilities */
    int64_t classes;            /* BINARY: 2 */
    int64_t positions, stride;  /* SEQUENCE: number of positions, distance
                                   from one class to the next */
    int axis;                   /* of spec, along which the classes are */
    const char **names;         /* names of the classes */
    bool named;                 /* a name is not just the index of its class */
    int truth;                  /* index of its labels in `truth`; -1: none */
    const cr_real *data;        /* results of the batch */
    cr_real *converted;         /* results converted from another type; NULL:
                                   not needed */
    double *p;                  /* probabilities of the current sample */
    int64_t *order;             /* its classes, most probable first */
};

struct cr_predict_row {
    const char *name;           /* name of the input; NULL: not written */
    const char *const *id;      /* values of the fields of --id */
    bool blank;                 /* the sample has an error: no results */
    const char *error;          /* that error; NULL: unknown */
    int64_t sample;             /* its index in the data set; -1: none */
    double loss;                /* with --wrong */
};

struct cr_predict {
    struct cr_cli *cli;
    const struct cr_predict_opts *o;
    struct cr_model model;
    struct cr_obj data;         /* data set of the training; about NULL:
                                   unknown */
    int n_feeds, n_truths;
    struct cr_predict_feed feed[CR_COLUMNS_MAX], truth[CR_COLUMNS_MAX];
    bool has_truth;             /* the sources contain the labels */
    bool titled;                /* the header has been written */
    int n_outs;
    struct cr_predict_out *out;
    double threshold;           /* for two classes and multi-label; NaN: 0.5 */
    struct cr_exec *exec, *last, *one; /* plans for cap, n_last, 1 samples */
    int64_t n_last;
    bool apart;                 /* processes have read different numbers */
    int64_t before;             /* samples computed in earlier batches */
    int64_t cap, n;             /* capacity of the batch, samples in it */
    struct cr_predict_row *row;
    struct cr_arena text;       /* texts of the rows of the batch */
    struct cr_buf line;         /* rows to write, allocated in `lines` */
    struct cr_arena lines;
    int on_error;
    int64_t done, bad;          /* samples computed, samples with errors */
    int64_t unknown;            /* categories that no training sample has */
    const char *unknown_text;   /* the first of them, for the message */
    bool stopped, full;         /* by an error; by -n */
    int64_t added;              /* samples that cr_predict_add was given */
    struct cr_work_progress work;
    int64_t part;               /* files done of those that work.of counts; -1:
                                   work.of counts samples */
    struct cr_arena scratch;    /* of a sample and its messages */
    struct cr_diag about;
    struct cr_atomic_file *file; /* NULL: standard output */
    struct cr_predict_arrays *arrays; /* with npy and npz */
    struct cr_predict_wrong *wrong;    /* with --wrong */
    struct cr_data_loader *loader;    /* with --data */
};

/* ---- run.c */

/* Chooses the format by the suffix of `to` if `format` is not set. */
void cr_predict_format(const struct cr_cli *cli, struct cr_predict_opts *o);
/* Predicts according to the options, with the config of the checkpoint or of
 * `files` (NULL: none), and writes the rows. Returns the exit status. */
int cr_predict_run(struct cr_cli *cli, const struct cr_predict_opts *o,
                   const char *const *files);

/* ---- columns.c */

/* Finds the columns and builds the network. False after reporting. */
bool cr_predict_columns(struct cr_predict *j);
/* Whether the only input column holds images: standard input is then a list
 * of file names. */
bool cr_predict_images(const struct cr_predict *j);
/* The input or label column of that name; NULL: not found. */
struct cr_predict_feed *cr_predict_feed(struct cr_predict *j, const char *name);

/* The name of the type that a text field is parsed as, such as "int32". */
const char *cr_predict_field_type(const struct cr_spec *head);

/* ---- outputs.c */

/* Finds the outputs, their kinds and names, and checks the flags that depend on
 * them. Needs the plan of cr_predict_open. False after reporting. */
bool cr_predict_outputs(struct cr_predict *j);
/* Points `data` of all outputs to the results of a plan for n samples. */
void cr_predict_results(struct cr_predict *j, struct cr_exec *exec, int64_t n);
/* The elements of row i. */
const cr_real *cr_predict_values(const struct cr_predict_out *out, int64_t i);
/* The predicted class of row i; with `all` also sets out->p and out->order. */
int64_t cr_predict_class(const struct cr_predict *j,
                         struct cr_predict_out *out, int64_t i, bool all);
/* The class at position k of row i of a sequence. */
int64_t cr_predict_class_at(const struct cr_predict_out *out, int64_t i,
                            int64_t k);
/* Writes the probabilities at position k to where the outputs of row i have
 * their classes, and to out->p. */
void cr_predict_probs_at(struct cr_predict_out *out, int64_t i, int64_t k,
                         cr_real *to);
/* Whether row i has class k (LABELS). */
bool cr_predict_has(const struct cr_predict *j,
                    const struct cr_predict_out *out, int64_t i, int64_t k);
/* Whether some output of row i differs from its label; *loss: the sum of -ln p
 * of the labels over all outputs with classes. */
bool cr_predict_compare(struct cr_predict *j, int64_t i, double *loss);

/* ---- batch.c */

/* Allocates the batch and plans the network. False after reporting. */
bool cr_predict_open(struct cr_predict *j);
/* Computes and writes the samples of a batch that is not full. */
bool cr_predict_flush(struct cr_predict *j);
/* Address of the current sample in the batch. */
void *cr_predict_into(const struct cr_predict *j,
                      const struct cr_predict_feed *feed);
/* Collects the messages about the current sample; cleared by cr_predict_add and
 * cr_predict_bad. */
struct cr_diag *cr_predict_about(struct cr_predict *j);
/* The current sample is complete, or has an error that cr_predict_about holds.
 * False: stop. `row` is copied; its texts must live until the batch is
 * written. */
bool cr_predict_add(struct cr_predict *j, const struct cr_predict_row *row);
bool cr_predict_bad(struct cr_predict *j, const struct cr_predict_row *row);
/* Whether the messages are about a file that cannot be read, not about one
 * sample; if so, reports them. */
bool cr_predict_unreadable(struct cr_predict *j);
/* Applies the datapipe to a sample as stored in the data set. False after
 * reporting to cr_predict_about. */
bool cr_predict_stored(struct cr_predict *j, struct cr_predict_feed *feed,
                       const void *x, int64_t index);
/* The same for an image that a row of a table names, relative to its folder. */
bool cr_predict_image(struct cr_predict *j, struct cr_predict_feed *feed,
                      const char *table, const struct cr_ragged *name,
                      int64_t index);
void cr_predict_free(struct cr_predict *j);
/* Warns about the number of samples with errors. */
void cr_predict_warn_bad(struct cr_predict *j);
/* Counts the categories of the current row of csv, read into rows, that no
 * training sample has. */
void cr_predict_count_unknown(struct cr_predict *j,
                              const struct cr_field_rows *rows,
                              const struct cr_csv *csv, const char *path);
/* Warns if tables had categories that no training sample has. */
void cr_predict_warn_unknown(struct cr_predict *j);

/* ---- files.c */

/* Predicts every file that the command line names. False after reporting. */
bool cr_predict_operands(struct cr_predict *j);
/* False after reporting that -o would overwrite a file which --data reads. */
bool cr_predict_keeps_data(struct cr_predict *j);

/* ---- table.c */

/* Whether the file is a table, by its name; `images`: whether it may be an
 * image. */
bool cr_predict_is_table(const struct cr_predict *j, const char *path,
                         bool images);
/* Predicts the rows of a table; "-": standard input. False after reporting. */
bool cr_predict_table(struct cr_predict *j, const char *path);
/* A table for one column; NULL after reporting. */
struct cr_predict_rows;
struct cr_predict_rows *cr_predict_rows_open(struct cr_predict *j,
                                             const char *path,
                                             struct cr_predict_feed *only);
/* Reads the next row. 1: the sample is in the batch; 0: end of the table; -1:
 * the row has an error, reported to cr_predict_about; -2: likewise, and the
 * table cannot be read further. */
int cr_predict_rows_next(struct cr_predict_rows *rows, int64_t index);
const char *const *cr_predict_rows_id(const struct cr_predict_rows *rows);
void cr_predict_rows_close(struct cr_predict_rows *rows);

/* ---- split.c */

/* Predicts the samples of --data. False after reporting. */
bool cr_predict_split(struct cr_predict *j);

/* ---- stream.c */

/* Answers the lines of standard input; sets *status if the exit status is not
 * that of the messages. */
bool cr_predict_stream(struct cr_predict *j, int *status);
/* In table.c: a parser of single lines, and reading one line with it, as
 * cr_predict_rows_next (0: the line has the names of the fields). */
struct cr_predict_rows *cr_predict_lines(struct cr_predict *j);
int cr_predict_line(struct cr_predict_rows *rows, char *line, size_t len,
                    int64_t number);

/* ---- write.c */

/* The suffix of each format, and of a contact sheet. */
enum { CR_PREDICT_ENDINGS = 6 };
extern const char *const cr_predict_endings[CR_PREDICT_ENDINGS];
bool cr_predict_write_open(struct cr_predict *j);
void cr_predict_header(struct cr_predict *j);
void cr_predict_row(struct cr_predict *j, struct cr_buf *to, int64_t i,
                    const struct cr_predict_row *row);
/* Writes and empties j->line. */
bool cr_predict_put(struct cr_predict *j);
bool cr_predict_write_close(struct cr_predict *j, bool ok);
/* Appends the shortest decimal text that reads back as the same number, in the
 * type that the network computes in. `json`: null if it is not finite. */
void cr_buf_value(struct cr_buf *to, double value, bool json);
/* Appends label t of row i as text; for JSON with quotes. */
void cr_predict_truth(struct cr_predict *j, struct cr_buf *to, int t,
                      int64_t i, bool json);

/* ---- arrays.c: --format npy and npz */

void cr_predict_arrays_open(struct cr_predict *j);
void cr_predict_arrays_add(struct cr_predict *j, int64_t i,
                           const struct cr_predict_row *row);
bool cr_predict_arrays_write(struct cr_predict *j);

/* ---- wrong.c: --wrong */

bool cr_predict_wrong_open(struct cr_predict *j);
void cr_predict_wrong_add(struct cr_predict *j, int64_t i,
                          const struct cr_predict_row *row);
bool cr_predict_wrong_write(struct cr_predict *j);
void cr_predict_wrong_free(struct cr_predict *j);

#endif
