/*
 * ---- begin cellrun-checkpoint(5)
 *
 * LAYOUT
 *
 * A checkpoint is a safetensors file that follows the cellrun profile,
 * version 1. Any program that reads safetensors reads it; parameters have
 * MindSpore's names and layouts. cellrun-formats(7) describes the container.
 *
 *   offset  size  meaning
 *   0       8     N, the length of the header in bytes (u64, little endian)
 *   8       N     the header: a JSON object in UTF-8, padded with spaces
 *   8+N     ...   the tensors, back to back, to the end of the file
 *
 * 8+N is a multiple of 64. There are no bytes before, between or after the
 * tensors, so the size of the file alone reveals that it was truncated or
 * extended.
 *
 * HEADER
 *
 * The header begins with a fixed text that identifies a checkpoint.
 *
 *   offset  size  meaning
 *   8       62    the fixed text
 *   70      8     CRC-32 of the header, 8 lower-case hexadecimal digits
 *   78      1     the closing quote
 *
 * The fixed text, without the blanks before it:
 *
 *   {"__metadata__":{"cellrun.format":"1","cellrun.header_crc32":"
 *
 * There is no white space before the padding. The metadata come first, then
 * one member per tensor, in the order of their bytes:
 *
 *   "NAME":{"dtype":"F32","shape":[512,784],"data_offsets":[BEGIN,END]}
 *
 * BEGIN and END count from 8+N; END is exclusive. In strings only the quote,
 * the backslash and control characters are escaped.
 *
 * METADATA
 *
 * Every value is a JSON string. The first three keys are stored in this order,
 * the others in ascending byte order.
 *
 *   key                      meaning
 *   cellrun.format           version of the profile, "1"
 *   cellrun.header_crc32     CRC-32 of bytes 0 to 8+N-1, computed with its
 *                            own 8 digits set to '0'
 *   cellrun.tensor_crc32     8 hexadecimal digits per tensor, joined, in the
 *                            order of the header: CRC-32 of its bytes
 *   cellrun.config           the resolved config, YAML (kind train; optional
 *                            in others)
 *   cellrun.kind             "train" (a run can be resumed from it) or
 *                            "weights"
 *   cellrun.requires         features that a reader must know, separated by
 *                            commas; empty in version 1
 *   cellrun.state            the state of the run, JSON (kind train; optional
 *                            in others)
 *   cellrun.vocab            the tokens of text columns, JSON (optional)
 *   cellrun.writer           "cellrun VERSION"
 *   crc_num                  MindSpore's checksum: CRC-32 in decimal, 10
 *                            digits, over the name and then the bytes of
 *                            every tensor in ascending order of names
 *   format                   "ms": parameters are named as in MindSpore
 *
 * cellrun-formats(7) defines CRC-32. It detects damage; it is not a
 * signature.
 *
 * TENSORS
 *
 * Elements are stored in C order. Parameters have their names in the network,
 * such as dense_relu_sequential.0.weight; slots of the optimizer have the name
 * of the slot before it, such as moments.dense_relu_sequential.0.weight. The
 * averages of train.ema are named cellrun.ema.PARAMETER; other names that
 * begin with "cellrun." are reserved.
 *
 *   optimizer                slots
 *   Adam                     moment1. moment2. (use_amsgrad: vhat.)
 *   AdaMax                   moment1. moment2.
 *   AdamW                    exp_avg. exp_avg_sq. (amsgrad: max_exp_avg_sq.)
 *   AdamWeightDecay          adam_m. adam_v.
 *   Adadelta                 accum. accum_update.
 *   Adagrad ProximalAdagrad  accum.
 *   ASGD                     ax_. eta_ mu_
 *   FTRL                     moments. linear.
 *   Lamb                     lamb_m. lamb_v.
 *   Momentum                 moments.
 *   RMSProp                  mean_square. moment. (centered: mean_grad.)
 *   Rprop                    prev. step_size.
 *   SGD                      (momentum: accum. stat.)
 *
 *   dtype                    element
 *   F64 F32 F16 BF16         IEEE 754 numbers, and bfloat16
 *   I64 I32 I16 I8           signed integers
 *   U64 U32 U16 U8           unsigned integers
 *   BOOL                     a byte, 0 or 1
 *
 * Parameters and slots are F32 (F64 in a build with REAL=double). A scalar
 * has shape [], an integer scalar [1].
 *
 * Tensors are ordered by alignment: the largest power of two, up to 64, that
 * divides the length of the tensor. Larger alignments come first; among equal
 * ones the order is that of the network. Every tensor therefore starts at a
 * multiple of its alignment, without padding.
 *
 * STATE
 *
 * cellrun.state is a JSON object. Integers are below 2^53, the seed is a
 * string of decimal digits. It contains no times, so equal runs write equal
 * files. Members that a reader does not know are kept.
 *
 *   member                   meaning
 *   epoch, step              epochs done, updates done
 *   step_in_epoch            updates done in the present epoch
 *   steps_per_epoch          batches of a whole epoch
 *   micro_batches            batches per update, if more than one
 *   samples                  samples seen
 *   seed                     the seed of the run
 *   rng                      the random number generator and its streams
 *   config_dir               folder that relative paths start from
 *   optimizer                its type and its number of updates, t
 *   lr                       step of the learning rate schedule
 *   data                     fingerprint (CRC-32 of the files' names and
 *                            sizes), contents (CRC-32 of what the files hold,
 *                            see cellrun-formats(7)), columns and classes of
 *                            the data set, and the position in it
 *   loss_scale               with a loss scale: scale; good_steps and
 *                            bad_steps, both consecutive; skipped: updates
 *                            skipped
 *   nan                      once train.nan has acted: updates skipped, in
 *                            all and in_a_row (consecutive); fallbacks; the
 *                            factor of the learning rates after them; and
 *                            good_step, the step to fall back to
 *   plateau                  of ReduceLROnPlateau: its rate and best, and the
 *                            number of evaluations of wait and cooldown
 *   names                    after a change of the batch size: epoch, and
 *                            more, which is added to the batches in the names
 *                            of checkpoints of that epoch, so that the names
 *                            keep rising
 *   older_records            number of records of metrics.jsonl that older
 *                            versions wrote, without `samples`
 *   fitted                   statistics that transforms fitted on the training
 *                            data: a list for each, "x.0" of the first
 *                            transform of column x; and "x.fields", the kinds
 *                            of the fields of a column of a table: "number
 *                            age", "category sex", "date ymd born", "time dmy
 *                            seen" (in seconds)
 *   plugins                  with plug-ins: name of each file -> SHA-256 of
 *                            its bytes, 64 digits
 *   eval                     result of the last evaluation
 *   best                     metric, mode, value, epoch and step of the best
 *   early_stop               wait: evaluations without improvement
 *   events                   last_step: the last step with a record in
 *                            metrics.jsonl
 *
 * Names that are not UTF-8 are written as cellrun-formats(7), JSON, describes.
 *
 * VOCABULARIES
 *
 * cellrun.vocab is a JSON object with a member for each column of text and
 * each category of a table ("x.sex", whose token 0 stands for unknown words),
 * in ascending order: {"tokens":{"joint":"","tokens":["a","b"]}} gives token 0
 * as a and token 1 as b, and joint as the text between two tokens. A column of
 * bytes has {"bytes":256} instead.
 *
 * READING
 *
 * A file with a metadata key that begins with "cellrun." is a cellrun
 * checkpoint: it must begin with the fixed text, every key above that is not
 * optional must be present (crc_num may be absent), and every checksum must
 * match. A later format, or an unknown word in cellrun.requires, is refused as
 * newer. Other unknown keys and tensors are ignored.
 *
 * WRITING
 *
 * Checkpoints are written atomically, as cellrun-formats(7) describes. In a
 * run directory best.safetensors and last.safetensors are hard links.
 *
 * EXAMPLES
 *
 * A file of 404 bytes, kind weights: fc.weight F32 [2,2] = 1 2 3 4, and
 * global_step I32 [1] = 7.
 *
 *   0000  7801 0000 0000 0000 7b22 5f5f 6d65 7461  x.......{"__meta
 *   0010  6461 7461 5f5f 223a 7b22 6365 6c6c 7275  data__":{"cellru
 *   0020  6e2e 666f 726d 6174 223a 2231 222c 2263  n.format":"1","c
 *   0030  656c 6c72 756e 2e68 6561 6465 725f 6372  ellrun.header_cr
 *   0040  6333 3222 3a22 3761 6365 6632 6139 222c  c32":"7acef2a9",
 *   0050  2263 656c 6c72 756e 2e74 656e 736f 725f  "cellrun.tensor_
 *   0060  6372 6333 3222 3a22 3862 6137 3134 3534  crc32":"8ba71454
 *   0070  6263 3933 6537 6135 222c 2263 656c 6c72  bc93e7a5","cellr
 *   0080  756e 2e6b 696e 6422 3a22 7765 6967 6874  un.kind":"weight
 *   0090  7322 2c22 6365 6c6c 7275 6e2e 7265 7175  s","cellrun.requ
 *   00a0  6972 6573 223a 2222 2c22 6365 6c6c 7275  ires":"","cellru
 *   00b0  6e2e 7772 6974 6572 223a 2263 656c 6c72  n.writer":"cellr
 *   00c0  756e 2030 2e31 2e30 222c 2263 7263 5f6e  un 0.1.0","crc_n
 *   00d0  756d 223a 2230 3934 3133 3130 3632 3622  um":"0941310626"
 *   00e0  2c22 666f 726d 6174 223a 226d 7322 7d2c  ,"format":"ms"},
 *   00f0  2266 632e 7765 6967 6874 223a 7b22 6474  "fc.weight":{"dt
 *   0100  7970 6522 3a22 4633 3222 2c22 7368 6170  ype":"F32","shap
 *   0110  6522 3a5b 322c 325d 2c22 6461 7461 5f6f  e":[2,2],"data_o
 *   0120  6666 7365 7473 223a 5b30 2c31 365d 7d2c  ffsets":[0,16]},
 *   0130  2267 6c6f 6261 6c5f 7374 6570 223a 7b22  "global_step":{"
 *   0140  6474 7970 6522 3a22 4933 3222 2c22 7368  dtype":"I32","sh
 *   0150  6170 6522 3a5b 315d 2c22 6461 7461 5f6f  ape":[1],"data_o
 *   0160  6666 7365 7473 223a 5b31 362c 3230 5d7d  ffsets":[16,20]}
 *   0170  7d20 2020 2020 2020 2020 2020 2020 2020  }
 *   0180  0000 803f 0000 0040 0000 4040 0000 8040  ...?...@..@@...@
 *   0190  0700 0000                                ....
 *
 * ---- end cellrun-checkpoint(5)
 */
#include "ckpt/tensor_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/gz.h"
#include "base/version.h"
#include "base/atomic_file.h"

struct ckpt_named {
    const char *name;
    int index;
};

static int ckpt_by_name(const void *a, const void *b)
{
    const struct ckpt_named *x = a, *y = b;

    return strcmp(x->name, y->name);
}

/* MindSpore's whole-file CRC, from the tensors' own by combination. */
static uint32_t ckpt_crc_num(struct cr_arena *arena,
                             const struct cr_tensor *tensors, int n,
                             const uint32_t *crc)
{
    struct ckpt_named *sorted = CR_NEWS(arena, struct ckpt_named, n);
    uint32_t sum = 0;

    for (int i = 0; i < n; i++)
        sorted[i] = (struct ckpt_named){ tensors[i].name, i };
    qsort(sorted, (size_t)n, sizeof *sorted, ckpt_by_name);
    for (int i = 0; i < n; i++) {
        int at = sorted[i].index;

        sum = cr_crc32(sum, sorted[i].name, strlen(sorted[i].name));
        sum = cr_crc32_join(sum, crc[at], (int64_t)cr_st_size(&tensors[at]));
    }
    return sum;
}

static int ckpt_by_key(const void *a, const void *b)
{
    const struct cr_meta *x = a, *y = b;

    return strcmp(x->key, y->key);
}

static int ckpt_metas(struct cr_arena *arena, const struct cr_ckpt *ckpt,
                      const int *order, struct cr_meta **to)
{
    struct cr_meta *m = CR_NEWS(arena, struct cr_meta, 10 + ckpt->n_more);
    uint32_t *crc = CR_NEWS(arena, uint32_t, ckpt->n);
    struct cr_buf crcs = { .arena = arena };
    int n = 0;

    for (int i = 0; i < ckpt->n; i++) {
        const struct cr_tensor *t = &ckpt->tensors[order[i]];

        crc[order[i]] = cr_crc32(0, t->data, cr_st_size(t));
        cr_buf_f(&crcs, "%08" PRIx32, crc[order[i]]);
    }
    m[n++] = (struct cr_meta){ "cellrun.format", "1" };
    m[n++] = (struct cr_meta){ "cellrun.header_crc32", "00000000" };
    m[n++] = (struct cr_meta){ "cellrun.tensor_crc32", cr_buf_text(&crcs) };
    if (ckpt->config)
        m[n++] = (struct cr_meta){ "cellrun.config", ckpt->config };
    if (ckpt->train)
        m[n++] = (struct cr_meta){ "cellrun.state", ckpt->state };
    m[n++] =
        (struct cr_meta){ "cellrun.kind", ckpt->train ? "train" : "weights" };
    m[n++] = (struct cr_meta){ "cellrun.requires", "" };
    m[n++] =
        (struct cr_meta){ "cellrun.writer",
                          ckpt->writer ? ckpt->writer : "cellrun " CR_VERSION };
    m[n++] = (struct cr_meta){
        "crc_num", cr_strf(arena, "%010" PRIu32,
                           ckpt_crc_num(arena, ckpt->tensors, ckpt->n, crc))
    };
    m[n++] = (struct cr_meta){ "format", "ms" };
    for (int i = 0; i < ckpt->n_more; i++)
        m[n++] = ckpt->more[i];
    qsort(m + 3, (size_t)n - 3, sizeof *m, ckpt_by_key);
    *to = m;
    return n;
}

static bool ckpt_put(struct cr_diag *diag, const char *path,
                     const struct cr_buf *header,
                     const struct cr_tensor *tensors, const int *order, int n)
{
    struct cr_atomic_file file;
    int64_t size = (int64_t)header->len;

    if (header->len > 8 + CR_ST_HEADER_MAX)
        return cr_error(diag, cr_at_file(diag->arena, path), CR_E_SYSTEM,
                        "cannot write: a header of %zu bytes is too large",
                        header->len);
    for (int i = 0; i < n; i++)
        size += (int64_t)cr_st_size(&tensors[i]);
    if (!cr_atomic_file_open(&file, diag, path, size))
        return false;
    cr_atomic_file_write(&file, header->text, header->len);
    for (int i = 0; i < n; i++)
        cr_atomic_file_write(&file, tensors[order[i]].data,
                     cr_st_size(&tensors[order[i]]));
    return cr_atomic_file_commit(&file);
}

bool cr_ckpt_write(struct cr_diag *diag, const char *path,
                   const struct cr_ckpt *ckpt)
{
    struct cr_arena mem = { 0 };
    struct cr_buf header = { .arena = &mem };
    struct cr_meta *meta;
    char digits[9];
    int *order, n_meta;
    bool ok = false;

    if (!cr_st_place(&mem, diag, path, ckpt->tensors, ckpt->n, &order))
        goto done;
    n_meta = ckpt_metas(&mem, ckpt, order, &meta);
    cr_st_header(&header, meta, n_meta, ckpt->tensors, order, ckpt->n);
    snprintf(digits, sizeof digits, "%08" PRIx32,
             cr_crc32(0, header.text, header.len));
    memcpy(header.text + CR_ST_CRC_AT, digits, 8);
    ok = ckpt_put(diag, path, &header, ckpt->tensors, order, ckpt->n);
done:
    cr_arena_free(&mem);
    return ok;
}

bool cr_tensors_write(struct cr_diag *diag, const char *path,
                      const struct cr_tensor *tensors, int n)
{
    return cr_tensors_write_as(diag, path, path, tensors, n);
}

bool cr_tensors_write_as(struct cr_diag *diag, const char *path,
                         const char *name, const struct cr_tensor *tensors,
                         int n)
{
    static const struct cr_meta meta = { "format", "ms" };
    struct cr_arena mem = { 0 };
    struct cr_buf header = { .arena = &mem };
    int *order;
    bool ok;

    if (cr_tensor_format_of(name))
        return cr_tensor_format_of(name)->write(diag, path, tensors, n);
    ok = cr_st_place(&mem, diag, path, tensors, n, &order);
    if (ok) {
        cr_st_header(&header, &meta, 1, tensors, order, n);
        ok = ckpt_put(diag, path, &header, tensors, order, n);
    }
    cr_arena_free(&mem);
    return ok;
}
