/*
 * A data set: named columns of samples, in a fixed order, any of which can be
 * read at any time by any thread.
 */
#ifndef CR_DATA_DATASET_H
#define CR_DATA_DATASET_H

#include "conf/config.h"
#include "math/spec.h"

#define CR_COLUMNS_MAX 16

struct cr_vocab;

/* A sample of no fixed size: a text of n bytes, or n elements of a list. In a
 * column such as these, and between the ops of its datapipe, it stands in
 * the sample's place; what it points at lives until the sample is done. */
struct cr_ragged {
    const void *v;
    int64_t n;
};

/* An open data set; `open` fills it, `self` is the data set's own. */
struct cr_dataset {
    const struct cr_dataset_type *type;
    void *self;
    int columns;
    struct cr_column column[CR_COLUMNS_MAX];
    int64_t count;          /* samples */
    int64_t classes;        /* of column `label`; 0: not known */
    const char *const *class_names; /* NULL: none */
    uint32_t fingerprint;   /* of the names and sizes of its files, and */
    uint32_t contents;      /* of what they hold (data/fingerprint.h) */
    uint64_t cache_key;     /* hash of what its files hold, as far as names,
                         sizes and times tell; 0: it decodes nothing */
    unsigned varying_shapes; /* bit k: the samples of column k may have other
                        dimensions than its spec (images of several
                        sizes), and come by `fetch` */
};

struct cr_csv;
struct cr_csv_field;
typedef bool (*cr_dataset_each)(void *ctx, int64_t i, const struct cr_csv *csv,
                                const struct cr_csv_field *field);

struct cr_dataset_type {
    struct cr_descriptor about;
    /* Opens files, checks them against their headers. `config` resolves
     * paths (cr_config_path with CR_READ_DATA, after cr_config_may_path). */
    bool (*open)(struct cr_config *config, const void *opts,
                 struct cr_pos pos, struct cr_dataset *to);
    /* Optional: what opening put off (unpacking); called once, before the
     * first sample is read. */
    bool (*load)(struct cr_dataset *set, struct cr_diag *diag);
    /* Bytes of sample i, column c, each exactly the column's size. Thread
     * safe. A pointer into memory may be returned by `at` instead, where the
     * whole set is in memory: then no copy is made. */
    bool (*read)(struct cr_dataset *set, struct cr_diag *diag, int64_t i,
                 int column, void *to);
    const void *(*at)(struct cr_dataset *set, int64_t i, int column);
    /* Where `varies` is set: the sample, and its spec, of the column's rank
     * and type. It stands in `room`, where it is no larger than the column's,
     * else in `mem`. NULL after reporting. Thread safe. */
    const void *(*fetch)(struct cr_dataset *set, struct cr_diag *diag,
                         struct cr_arena *mem, int64_t i, int column,
                         void *room, struct cr_spec *spec);
    /* Optional: the file of sample i, for messages. */
    const char *(*file)(const struct cr_dataset *set, int64_t i);
    void (*close)(struct cr_dataset *set);
    /* Optional: the vocabulary of a column of integers, from all of the data
     * (data/vocab.h). NULL after reporting; or, with nothing reported, where
     * the column has none. */
    struct cr_vocab *(*vocab)(struct cr_config *config, const void *opts,
                              struct cr_pos pos, const char *column);
    bool copy_only; /* reading is no more than copying: threads of the
                   data loader's own would not pay, nor would a cache */
    /* Instead of read, of a column of texts (CR_STRING): in `mem`. */
    bool (*text)(struct cr_dataset *set, struct cr_diag *diag, int64_t i,
                 int column, struct cr_arena *mem, struct cr_ragged *to);
    /* Optional: calls `each` for every sample with the text of a field of its
     * row, which may belong to no column. False where `each` gives that, or
     * after reporting, at `pos` where rows have no such field. */
    bool (*field)(struct cr_dataset *set, struct cr_diag *diag,
                  struct cr_pos pos, const char *name, cr_dataset_each each,
                  void *ctx);
    /* Optional: where sample i stands in the files, for messages. */
    struct cr_pos (*where)(struct cr_dataset *set, struct cr_arena *arena,
                           int64_t i, int column);
    /* Optional: the data of another file as the same data set has them, of
     * one column only (predict). */
    bool (*other)(struct cr_config *config, const void *opts,
                  struct cr_pos pos, const char *path, const char *column,
                  struct cr_dataset *to);
};

#endif
