/*
 * Data sets: named columns of samples in a fixed order. Any thread can read any
 * sample at any time.
 */
#ifndef CR_DATA_DATASET_H
#define CR_DATA_DATASET_H

#include "conf/config.h"
#include "num/spec.h"

#define CR_COLUMNS_MAX 16

struct cr_vocab;

/* A sample of varying size: a text of n bytes, or a list of n elements. Columns
 * and transforms pass it by value; what it points at lives until the sample is
 * processed. */
struct cr_ragged {
    const void *v;
    int64_t n;
};

/* An open data set, filled in by `open`; `self` is the state of its type. */
struct cr_dataset {
    const struct cr_dataset_type *type;
    void *self;
    int columns;
    struct cr_column column[CR_COLUMNS_MAX];
    int64_t count;          /* samples */
    const char *path;       /* its first file, for messages; NULL: none */
    int64_t classes;        /* of column `label`; 0: not known */
    const char *const *class_names; /* NULL: none */
    uint32_t fingerprint;    /* CRC-32 of the names and sizes of its files */
    uint32_t contents;       /* CRC-32 of their contents (data/fingerprint.h) */
    uint64_t cache_key;      /* hash of the names, sizes and times of its files;
                                0: it decodes nothing */
    unsigned varying_shapes; /* bit k: samples of column k may differ in shape
                               from its spec, and are read by `fetch` */
};

struct cr_csv;
struct cr_csv_field;
typedef bool (*cr_dataset_each)(void *ctx, int64_t i, const struct cr_csv *csv,
                                const struct cr_csv_field *field);

struct cr_dataset_type {
    struct cr_descriptor about;
    /* Opens the files and checks their headers. `config` resolves paths
     * (cr_config_path with CR_READ_DATA, after cr_config_may_path). False after
     * reporting. */
    bool (*open)(struct cr_config *config, const void *opts,
                 struct cr_pos pos, struct cr_dataset *to);
    /* Optional: work that `open` has deferred, such as decompression; called
     * once, before the first sample is read. False after reporting. */
    bool (*load)(struct cr_dataset *set, struct cr_diag *diag);
    /* Copies sample i of a column, which has the size of the column's spec, to
     * `to`. False after reporting. If the data are in memory, `at` may return a
     * pointer to it instead (or NULL). Thread safe. */
    bool (*read)(struct cr_dataset *set, struct cr_diag *diag, int64_t i,
                 int column, void *to);
    const void *(*at)(struct cr_dataset *set, int64_t i, int column);
    /* For columns of varying_shapes: returns the sample and sets its spec, of
     * the rank and type of the column. It is stored in `scratch` if it is not
     * larger than the column's spec, else in `mem`. NULL after reporting.
     * Thread safe. */
    const void *(*fetch)(struct cr_dataset *set, struct cr_diag *diag,
                         struct cr_arena *mem, int64_t i, int column,
                         void *scratch, struct cr_spec *spec);
    /* Optional: the file of sample i of a column (-1: of its first column with
     * files), for messages; NULL: none of its own. Sets with a cache_key have
     * them. */
    const char *(*file)(const struct cr_dataset *set, int64_t i, int column);
    void (*close)(struct cr_dataset *set);
    /* Optional: the vocabulary of a column of integers, from all of the data
     * (data/vocab.h). NULL after reporting, or without a report if the column
     * has none. */
    struct cr_vocab *(*vocab)(struct cr_config *config, const void *opts,
                              struct cr_pos pos, const char *column);
    bool copy_only; /* reading only copies, so that neither worker threads nor
                       a cache would pay */
    /* In place of `read`, for columns of texts (CR_STRING): stores the text in
     * `mem`. False after reporting. */
    bool (*text)(struct cr_dataset *set, struct cr_diag *diag, int64_t i,
                 int column, struct cr_arena *mem, struct cr_ragged *to);
    /* Optional: calls `each` for every sample with the text of a field of its
     * row, which need not belong to a column. False if `each` returns false, or
     * after reporting, at `pos` if rows do not have the field. */
    bool (*field)(struct cr_dataset *set, struct cr_diag *diag,
                  struct cr_pos pos, const char *name, cr_dataset_each each,
                  void *ctx);
    /* Optional: the position of sample i in the files, for messages. */
    struct cr_pos (*where)(struct cr_dataset *set, struct cr_arena *arena,
                           int64_t i, int column);
    /* Optional: opens another file like this data set, one column only, for
     * predict. False after reporting. */
    bool (*other)(struct cr_config *config, const void *opts,
                  struct cr_pos pos, const char *path, const char *column,
                  struct cr_dataset *to);
    /* Optional: sets options that read this file in place of theirs, and all of
     * it, for eval --data. `suffixes`: of such files, separated by spaces.
     * False after reporting, at `pos`. */
    bool (*replace)(struct cr_config *config, void *opts, struct cr_pos pos,
                    const char *path);
    const char *suffixes;
};

/* The file of sample i of a column, as `file`; NULL: none of its own. */
static inline const char *cr_sample_file(const struct cr_dataset *set,
                                         int64_t i, int column)
{
    return set->type->file ? set->type->file(set, i, column) : NULL;
}

#endif
