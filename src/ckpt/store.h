/*
 * What the readers and writers of this folder share: the open file, and the
 * tables and rules of the safetensors format (formats.md 2).
 */
#ifndef CR_CKPT_STORE_H
#define CR_CKPT_STORE_H

#include "base/str.h"
#include "ckpt/checkpoint.h"

#define CR_ST_HEADER_MAX 100000000
#define CR_ST_NAME_MAX 1024

/* Bytes 8 to 69 of every file of ours, and then the digits of its CRC. */
#define CR_ST_PREFIX \
    "{\"__metadata__\":{\"cellrun.format\":\"1\",\"cellrun.header_crc32\":\""
#define CR_ST_PREFIX_LEN 62
#define CR_ST_VERSION_AT 35 /* of the 1 in the prefix */
#define CR_ST_CRC_AT 70     /* in the file */

struct cr_npz_member;
struct cr_ms_tensor;

struct cr_store {
    struct cr_arena *arena;
    const char *path;
    int fd;
    int64_t size;
    bool ours, train;
    bool summed; /* there are checksums in it */
    int n, n_meta;
    struct cr_entry *entry;
    const struct cr_entry **sorted; /* by name */
    struct cr_meta *meta;
    /* one per entry in NPZ, in MindSpore's; both NULL: safetensors */
    struct cr_npz_member *npz;
    struct cr_ms_tensor *ms;
};

/* n bytes from `at`; false after reporting. */
bool cr_store_pread(struct cr_store *store, struct cr_diag *diag, int64_t at,
                    void *to, size_t n);

/* Makes the index by name, once all entries stand in their place. */
void cr_store_sort(struct cr_store *store);

/* dtypes of safetensors: bits of an element, 0 if there is no such; *type is
 * CR_TYPES where we have none. */
int cr_st_bits(const char *dtype, enum cr_type *type);
/* "F32"; CR_REAL by its stored type. */
const char *cr_st_dtype(enum cr_type type);

/* Fills entries and metadata from a header of len bytes, checking all rules
 * of formats.md 2.3. The data begin at 8 + len. */
bool cr_st_parse(struct cr_store *store, struct cr_diag *diag,
                 const char *header, size_t len);

/* Checks names and types, and puts the tensors into the order of the file
 * (formats.md 9.5): order[i] is the index of the tensor that stands i-th. */
bool cr_st_place(struct cr_arena *arena, struct cr_diag *diag, const char *path,
                 const struct cr_tensor *tensors, int n, int **order);
/* A header as it stands in the file: length, JSON, spaces, to a multiple of
 * 64 bytes. `meta` in the order given. */
void cr_st_header(struct cr_buf *to, const struct cr_meta *meta, int n_meta,
                  const struct cr_tensor *tensors, const int *order, int n);
size_t cr_st_size(const struct cr_tensor *tensor);

bool cr_npz_open(struct cr_store *store, struct cr_diag *diag);
/* `to` may be NULL: then the member is only verified. */
bool cr_npz_read(struct cr_store *store, struct cr_diag *diag,
                 const struct cr_entry *entry, enum cr_type type, void *to);
bool cr_npz_write(struct cr_diag *diag, const char *path,
                  const struct cr_tensor *tensors, int n);

/* Whether a file that begins so, of 9 bytes at least, is MindSpore's. */
bool cr_ms_claims(const unsigned char *head);
bool cr_ms_open(struct cr_store *store, struct cr_diag *diag);
/* n bytes of an entry from its byte `at`, wherever its slices lie. */
bool cr_ms_pread(struct cr_store *store, struct cr_diag *diag,
                 const struct cr_entry *entry, int64_t at, void *to, size_t n);
bool cr_ms_write(struct cr_diag *diag, const char *path,
                 const struct cr_tensor *tensors, int n);

#endif
