/*
 * Checkpoints: safetensors files with cellrun's profile (the head of
 * checkpoint.c has the format), and the reading of anybody's safetensors, NPZ
 * and MindSpore's .ckpt.
 */
#ifndef CR_CKPT_CHECKPOINT_H
#define CR_CKPT_CHECKPOINT_H

#include "base/diag.h"
#include "math/spec.h"

/* ---- Reading */

/* An open file: its head is read and verified, its tensors are not. */
struct cr_tensor_file;

struct cr_tensor_info {
    const char *name;
    struct cr_spec spec; /* rank -1: more than 8 dimensions */
    const char *dtype;   /* "F32", or NPZ's "<f4", MindSpore's "Float32" */
    bool readable;       /* of a type and rank that cr_tensor_file_read takes */
    int64_t offset;      /* of its first byte in the file */
    size_t bytes;        /* in the file */
    uint32_t crc;        /* ours only */
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

/* The file that a name means: see cr_tensor_file_open. NULL after reporting. */
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
bool cr_tensor_file_has_checksums(
    const struct cr_tensor_file *file); /* has checksums */
bool cr_tensor_file_is_train(const struct cr_tensor_file *file); /* resumable */

/* Reads a tensor, converted to `type`, verifying its checksum. `to` holds
 * cr_count(&entry->spec) elements of that type. */
bool cr_tensor_file_read(struct cr_tensor_file *file, struct cr_diag *diag,
                         const struct cr_tensor_info *entry, enum cr_type type,
                         void *to);
/* Whether a file begins as weights do that no name tells: NPZ, and what
 * PyTorch writes, which cr_tensor_file_open refuses with a reason. */
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

/* ---- The checkpoints of a run, all in one folder */

/* DIR/PREFIX-EPOCH_STEP.safetensors, epoch and step in epoch from 1. */
const char *cr_ckpt_name(struct cr_arena *arena, const char *dir,
                         const char *prefix, int64_t epoch, int64_t step);

struct cr_ckpt_file {
    const char *path, *prefix;
    int64_t epoch, step;
};
/* Those of that prefix (NULL: of any) in the folder, newest first; none and
 * NULL when there is no such folder. *n is -1 after reporting that the folder
 * cannot be read. */
const struct cr_ckpt_file *cr_ckpt_list(struct cr_arena *arena,
                                        struct cr_diag *diag, const char *dir,
                                        const char *prefix, int *n);

/* After cr_ckpt_write: makes last.safetensors (and best.safetensors) the file
 * just written, then deletes the oldest beyond `keep` of its prefix, but
 * never the best one and never `resumed` or `good`. */
struct cr_retention {
    const char *path;    /* what was written */
    const char *best;    /* the one to be linked as best; NULL: it stays */
    int64_t keep;        /* keep_checkpoint_max; 0: keep all */
    const char *resumed; /* the file this run went on from; NULL: none */
    const char *good;    /* the one it may go back to; NULL: none */
};
bool cr_ckpt_retain(struct cr_diag *diag, const struct cr_retention *retention);

/* Whether both are names of one file. */
bool cr_ckpt_same(const char *a, const char *b);

/* ---- Comparing */

/* The elements farthest apart in two arrays, in double; NaN equals NaN. */
struct cr_tensor_diff {
    int64_t beyond;   /* elements with |a - b| > atol + rtol |b| */
    int64_t at;       /* index of the largest deviation */
    double deviation; /* inf where only one is NaN, or infinite */
    double a, b;      /* the two values there */
};
void cr_tensor_diff(const struct cr_spec *spec, const void *a,
                    enum cr_type b_type, const void *b, double rtol,
                    double atol, struct cr_tensor_diff *to);
/* Element `at` as an index: "[0, 3]"; "" of a scalar. */
const char *cr_tensor_index_text(struct cr_arena *arena,
                                 const struct cr_spec *spec, int64_t at);

#endif
