/*
 * Checkpoints: safetensors files with the profile of cellrun
 * (cellrun-checkpoint(5), at the head of checkpoint.c), and reading of other
 * safetensors, NPZ and MindSpore's .ckpt.
 */
#ifndef CR_CKPT_CHECKPOINT_H
#define CR_CKPT_CHECKPOINT_H

#include "base/diag.h"
#include "num/spec.h"

/* ---- Reading */

/* An open file of tensors. Its header is read and verified, its tensors are
 * not. */
struct cr_tensor_file;

struct cr_tensor_info {
    const char *name;
    struct cr_spec spec; /* rank -1: more than 8 dimensions */
    const char *dtype;   /* "F32", or NPZ's "<f4", MindSpore's "Float32" */
    bool readable;       /* cr_tensor_file_read supports its type and rank */
    int64_t offset;      /* of its first byte in the file */
    size_t bytes;        /* in the file */
    uint32_t crc;        /* cellrun checkpoints only */
};

struct cr_meta {
    const char *key, *value;
};

/* Opens FILE, a run directory (its best, else last) or a name without the
 * suffix. NULL after reporting with the codes E0301 to E0304. The file stays
 * open until cr_tensor_file_close; all else lives in the arena. */
struct cr_tensor_file *cr_tensor_file_open(struct cr_arena *arena,
                                           struct cr_diag *diag,
                                           const char *path);
void cr_tensor_file_close(struct cr_tensor_file *file);

/* The path of the file that cr_tensor_file_open would open for a name. NULL
 * after reporting. */
const char *cr_ckpt_resolve(struct cr_arena *arena, struct cr_diag *diag,
                            const char *name);

const char *cr_tensor_file_path(const struct cr_tensor_file *file);
int64_t cr_tensor_file_size(const struct cr_tensor_file *file);
/* "cellrun checkpoint", "safetensors", "NPZ", "MindSpore checkpoint". */
const char *cr_tensor_file_kind(const struct cr_tensor_file *file);
/* In the order of their bytes in the file. */
const struct cr_tensor_info *
cr_tensor_file_entries(const struct cr_tensor_file *file, int *n);
const struct cr_tensor_info *
cr_tensor_file_find(const struct cr_tensor_file *file, const char *name);
const struct cr_meta *cr_tensor_file_metas(const struct cr_tensor_file *file,
                                           int *n);
/* A metadata value, NULL if absent: "cellrun.config", "cellrun.state". */
const char *cr_tensor_file_meta(const struct cr_tensor_file *file,
                                const char *key);
bool cr_tensor_file_is_cellrun(const struct cr_tensor_file *file);
bool cr_tensor_file_has_checksums(const struct cr_tensor_file *file);
bool cr_tensor_file_is_train(const struct cr_tensor_file *file); /* resumable */

/* Reads a tensor, converted to `type`, verifying its checksum. `to` holds
 * cr_count(&entry->spec) elements of that type. */
bool cr_tensor_file_read(struct cr_tensor_file *file, struct cr_diag *diag,
                         const struct cr_tensor_info *entry, enum cr_type type,
                         void *to);
/* Whether the first bytes of a file are those of NPZ or of a PyTorch file,
 * regardless of its name; cr_tensor_file_open rejects the latter with a
 * reason. */
bool cr_tensor_file_is_weights(const char *path);
/* Verifies one tensor, or every byte of the file. */
bool cr_tensor_file_check(struct cr_tensor_file *file, struct cr_diag *diag,
                          const struct cr_tensor_info *entry);
bool cr_tensor_file_verify(struct cr_tensor_file *file, struct cr_diag *diag);

/* ---- Writing */

/* A cellrun checkpoint to be written atomically. */
struct cr_ckpt {
    const struct cr_tensor *tensors; /* in graph order; CR_REAL as F32 (F64) */
    int n;
    bool train;                 /* kind train: config and state are needed */
    const char *config;         /* YAML text */
    const char *state;          /* JSON text */
    const char *writer;         /* NULL: "cellrun VERSION" */
    const struct cr_meta *more; /* further metadata, keys like "cellrun.x" */
    int n_more;
};
bool cr_ckpt_write(struct cr_diag *diag, const char *path,
                   const struct cr_ckpt *ckpt);
/* A plain safetensors or, by its suffix, NPZ or MindSpore's file (trace). */
#define CR_TENSORS_ENDINGS ".safetensors .npz .ckpt"
bool cr_tensors_write(struct cr_diag *diag, const char *path,
                      const struct cr_tensor *tensors, int n);
/* The same with the suffix of another name. */
bool cr_tensors_write_as(struct cr_diag *diag, const char *path,
                         const char *name, const struct cr_tensor *tensors,
                         int n);

/* ---- The checkpoints of a run, all in one folder */

/* DIR/PREFIX-EPOCH_STEP.safetensors, epoch and step in epoch from 1. */
const char *cr_ckpt_name(struct cr_arena *arena, const char *dir,
                         const char *prefix, int64_t epoch, int64_t step);

struct cr_ckpt_file {
    const char *path, *prefix;
    int64_t epoch, step;
};
/* The checkpoints with this prefix (NULL: any) in the folder, newest first; *n
 * is 0 and the result NULL when the folder does not exist. *n is -1 after
 * reporting that the folder cannot be read. */
const struct cr_ckpt_file *cr_ckpt_list(struct cr_arena *arena,
                                        struct cr_diag *diag, const char *dir,
                                        const char *prefix, int *n);

/* Which checkpoints to link and keep after cr_ckpt_write: last.safetensors
 * becomes a link to the file just written, best.safetensors to `best`; then
 * the oldest files of its prefix beyond `keep` are deleted, but never the best
 * one, `resumed` or `good`. */
struct cr_retention {
    const char *path;    /* file just written */
    const char *best;    /* file to link as best; NULL: best stays as it is */
    int64_t keep;        /* keep_checkpoint_max; 0: keep all */
    const char *resumed; /* file the run was resumed from; NULL: none */
    const char *good;    /* file train.nan may fall back to; NULL: none */
};
bool cr_ckpt_retain(struct cr_diag *diag, const struct cr_retention *retention);

/* Whether both paths name the same file. */
bool cr_ckpt_same(const char *a, const char *b);

/* ---- Comparing */

/* Largest difference of two arrays, computed in double; NaN equals NaN. */
struct cr_tensor_diff {
    int64_t beyond;   /* elements with |a - b| > atol + rtol |b| */
    int64_t at;       /* flat index of the largest difference */
    double deviation; /* largest difference; inf if only one value is NaN or
                         infinite */
    double a, b;      /* the two values at that index */
};
void cr_tensor_diff(const struct cr_spec *spec, const void *a,
                    enum cr_type b_type, const void *b, double rtol,
                    double atol, struct cr_tensor_diff *to);
/* Element `at` as an index: "[0, 3]"; "" of a scalar. */
const char *cr_tensor_index_text(struct cr_arena *arena,
                                 const struct cr_spec *spec, int64_t at);

#endif
