/*
 * The open tensor file and the tables and rules of the safetensors format
 * (cellrun-formats(7)), shared by the readers and writers of src/ckpt.
 */
#ifndef CR_CKPT_TENSOR_FILE_H
#define CR_CKPT_TENSOR_FILE_H

#include "base/str.h"
#include "ckpt/checkpoint.h"

#define CR_ST_HEADER_MAX 100000000
#define CR_ST_NAME_MAX 1024
#define CR_MAGIC 9 /* bytes that identify a format */

/* Bytes 8 to 69 of every cellrun checkpoint; the digits of the header's CRC-32
 * follow. */
#define CR_ST_PREFIX \
    "{\"__metadata__\":{\"cellrun.format\":\"1\",\"cellrun.header_crc32\":\""
#define CR_ST_PREFIX_LEN 62
#define CR_ST_VERSION_AT 35 /* of the 1 in the prefix */
#define CR_ST_CRC_AT 70     /* in the file */

struct cr_tensor_file {
    struct cr_arena *arena;
    const char *path;
    int fd;
    int64_t size;
    bool is_cellrun, train;
    bool has_checksums; /* the file contains checksums */
    int n, n_meta;
    struct cr_tensor_info *entry;
    const struct cr_tensor_info **sorted; /* by name */
    struct cr_meta *meta;
    const struct cr_tensor_format *format; /* NULL: safetensors */
    void *detail; /* data of the format, one per entry; or NULL */
};

/* n bytes from `at`; false after reporting. */
bool cr_tensor_file_pread(struct cr_tensor_file *file, struct cr_diag *diag,
                          int64_t at, void *to, size_t n);

/* Reports a PyTorch file and how to convert it; returns false. */
bool cr_tensor_file_pytorch(struct cr_tensor_file *file, struct cr_diag *diag);

/* Makes the index by name; call it after all entries are filled in. */
void cr_tensor_file_sort(struct cr_tensor_file *file);

/* Bits per element of a dtype of safetensors, 0 if it is unknown; *type is
 * CR_TYPES for dtypes that cellrun does not support. */
int cr_st_bits(const char *dtype, enum cr_type *type);
/* "F32"; CR_REAL by its stored type. */
const char *cr_st_dtype(enum cr_type type);

/* Fills entries and metadata from a header of len bytes, checking all rules
 * of cellrun-formats(7). The data begin at 8 + len. */
bool cr_st_parse(struct cr_tensor_file *file, struct cr_diag *diag,
                 const char *header, size_t len);

/* Checks names and types, and puts the tensors into the order of the file
 * (cellrun-checkpoint(5), TENSORS): order[i] is the index of tensor i of the
 * file. */
bool cr_st_place(struct cr_arena *arena, struct cr_diag *diag, const char *path,
                 const struct cr_tensor *tensors, int n, int **order);
/* Appends a header as stored in the file: length, JSON, and spaces up to a
 * multiple of 64 bytes. `meta` in the order given. */
void cr_st_header(struct cr_buf *to, const struct cr_meta *meta, int n_meta,
                  const struct cr_tensor *tensors, const int *order, int n);
size_t cr_st_size(const struct cr_tensor *tensor);

/*
 * A file format other than safetensors: one source file with this table, and
 * one line in tensor_file.c. The first format whose magic matches is used.
 */
struct cr_tensor_format {
    const char *kind;   /* "NPZ": name shown to users */
    const char *suffix; /* ".npz": suffix that selects the format for writing */
    bool has_checksums; /* every file has checksums */
    /* Whether a file that begins with these CR_MAGIC bytes is one. */
    bool (*magic)(const unsigned char *head);
    /* Fills entries and metadata; false after reporting. */
    bool (*open)(struct cr_tensor_file *file, struct cr_diag *diag);
    /* Reads n bytes of an entry from its byte `at`. NULL for formats that can
     * read only whole tensors; these have `read`, which converts to `type`
     * into `to`, or only verifies if `to` is NULL. */
    bool (*bytes)(struct cr_tensor_file *file, struct cr_diag *diag,
                  const struct cr_tensor_info *entry, int64_t at, void *to,
                  size_t n);
    bool (*read)(struct cr_tensor_file *file, struct cr_diag *diag,
                 const struct cr_tensor_info *entry, enum cr_type type,
                 void *to);
    bool (*write)(struct cr_diag *diag, const char *path,
                  const struct cr_tensor *tensors, int n);
};

extern const struct cr_tensor_format cr_tensor_format_ms, cr_tensor_format_npz;

/* The format whose suffix the name has; NULL: safetensors. */
const struct cr_tensor_format *cr_tensor_format_of(const char *path);

#endif
