/*
 * MindSpore's checkpoints, .ckpt (cellrun-formats(7)).
 *
 * A file is a sequence of protobuf messages (ms_message.c), one for each tensor
 * or slice of a tensor; together they form one message. It may end with
 * "crc_num" and the CRC-32 of all bytes before it, 10 bytes, big endian.
 *
 * protobuf-c parses messages in memory only, and contents may be larger than
 * the memory. So the reader skips the content of each tensor and passes the
 * other fields, name, type and shape, to protobuf-c as a small Value with empty
 * content. The writer passes each content on without a copy.
 */
#include "ckpt/tensor_file.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/checked_math.h"
#include "base/gz.h"
#include "ckpt/ms_message.h"
#include "data/unicode.h"

#define MS_HEAD_MAX 65536       /* bytes of a Value without its content */
#define MS_RANK_MAX 32          /* dimensions that are read */
#define MS_TYPE_MAX 32          /* length of a dtype */
#define MS_TEXT_MAX (1 << 20)   /* characters of a str */
#define MS_VALUES_MAX (1 << 20) /* messages of a file */
#define MS_SLICE (INT64_C(512) << 20)
#define MS_CRC "crc_num"
#define MS_CRC_LEN 17

/* A range of bytes in the file that belongs to a tensor. */
struct cr_ms_slice {
    int64_t at;     /* in the file */
    int64_t before; /* bytes of the tensor before this slice */
    int64_t n;
};

/* The slices of one entry of the tensor file. */
struct ms_tensor {
    struct cr_ms_slice *slice;
    int n;
};

/* The slices of all entries, in the order of the entries. */
static struct ms_tensor *ms_details(const struct cr_tensor_file *s)
{
    return s->detail;
}

static bool ms_bytes(struct cr_tensor_file *s, struct cr_diag *diag,
                     const struct cr_tensor_info *e, int64_t at, void *to,
                     size_t n);

static const struct {
    const char *name;
    enum cr_type type;
} ms_types[] = {
    { "Bool", CR_BOOL },     { "Int8", CR_I8 },     { "UInt8", CR_U8 },
    { "Int16", CR_I16 },     { "UInt16", CR_U16 },  { "Int32", CR_I32 },
    { "UInt32", CR_U32 },    { "Int64", CR_I64 },   { "UInt64", CR_U64 },
    { "Float16", CR_F16 },   { "Float32", CR_F32 }, { "Float64", CR_F64 },
    { "BFloat16", CR_BF16 },
};

/* wire types */
enum {
    MS_VARINT,
    MS_FIXED64,
    MS_BYTES,
    MS_FIXED32 = 5
};

/* ---- Recognising the format */

/* The cipher if the file begins like an encrypted file of MindSpore, else
 * NULL. */
static const char *ms_cipher(const unsigned char *head)
{
    static const char *const names[] = { "AES-GCM", "AES-CBC", "SM4-CBC" };
    int which = head[0] - 0xd8;

    return memcmp(head + 1, "\x5e\x3a\x7f", 3) == 0 && which >= 0 && which < 3
               ? names[which]
               : NULL;
}

static bool ms_magic(const unsigned char *head)
{
    static const unsigned char none[4] = { 0 };

    /* A safetensors header of 10 or 266 bytes begins with the same byte; but
     * bytes 4 to 7 of its length are 0, and here they belong to a name. */
    return ms_cipher(head) || (head[0] == (CR_MS_VALUE << 3 | MS_BYTES) &&
                               memcmp(head + 4, none, 4));
}

/* ---- Reading messages */

struct ms_walk {
    struct cr_tensor_file *s;
    struct cr_diag *diag;
    int64_t at;           /* position of the next byte */
    int64_t from;         /* position of the window in the file */
    size_t n;             /* bytes in it */
    struct cr_arena *mem; /* freed after each Value */
    struct cr_buf tag;    /* fields of the Value without its content, */
    struct cr_buf tensor; /* and of its TensorProto */
    bool has_tensor, has_content;
    int64_t content, content_n;
    unsigned char window[4096];
};

static bool ms_bad(const struct ms_walk *w, int64_t at, const char *what)
{
    return cr_error(w->diag, cr_at_byte(w->diag->arena, w->s->path, at),
                    CR_E_CKPT_FORMAT, "not a MindSpore checkpoint: %s", what);
}

static bool ms_cut(const struct ms_walk *w, int64_t at, uint64_t n,
                   int64_t left)
{
    return cr_error(
        w->diag, cr_at_byte(w->diag->arena, w->s->path, at), CR_E_CKPT_DAMAGED,
        "truncated or damaged: expected %" PRIu64 " more bytes, found %" PRId64,
        n, left);
}

static bool ms_byte(struct ms_walk *w, int64_t end, unsigned char *to)
{
    if (w->at >= end)
        return ms_cut(w, w->at, 1, 0);
    if (w->at < w->from || w->at >= w->from + (int64_t)w->n) {
        int64_t left = w->s->size - w->at;

        w->n =
            left < (int64_t)sizeof w->window ? (size_t)left : sizeof w->window;
        w->from = w->at;
        if (!cr_tensor_file_pread(w->s, w->diag, w->at, w->window, w->n))
            return false;
    }
    *to = w->window[w->at++ - w->from];
    return true;
}

/* Reads a varint: 7 bits per byte, low bits first; the tenth byte has one
 * bit. */
static bool ms_varint(struct ms_walk *w, int64_t end, uint64_t *to)
{
    int64_t at = w->at;
    unsigned char byte = 0;

    *to = 0;
    for (int i = 0; i < 10; i++) {
        if (!ms_byte(w, end, &byte))
            return false;
        *to |= (uint64_t)(byte & 0x7f) << 7 * i;
        if (byte < 0x80)
            return i < 9 || byte <= 1 ||
                   ms_bad(w, at, "a number of more than 64 bits");
    }
    return ms_bad(w, at, "a number of more than 64 bits");
}

/* Reads a length and sets *to to the end of the bytes after it. */
static bool ms_length(struct ms_walk *w, int64_t end, int64_t *to)
{
    int64_t at = w->at;
    uint64_t n;

    if (!ms_varint(w, end, &n))
        return false;
    if (n > (uint64_t)(end - w->at))
        return ms_cut(w, at, n, end - w->at);
    *to = w->at + (int64_t)n;
    return true;
}

static bool ms_key(struct ms_walk *w, int64_t end, uint64_t *field, int *wire)
{
    int64_t at = w->at;
    uint64_t key;

    if (!ms_varint(w, end, &key))
        return false;
    *field = key >> 3;
    *wire = (int)(key & 7);
    return (*field > 0 && *field < UINT64_C(1) << 29 &&
            (*wire <= MS_BYTES || *wire == MS_FIXED32)) ||
           ms_bad(w, at, "a field of unknown wire type");
}

static bool ms_skip(struct ms_walk *w, int64_t end, int wire)
{
    uint64_t number;
    int64_t next = w->at + (wire == MS_FIXED32 ? 4 : 8);

    if (wire == MS_VARINT)
        return ms_varint(w, end, &number);
    if (wire == MS_BYTES && !ms_length(w, end, &next))
        return false;
    if (next > end)
        return ms_cut(w, w->at, (uint64_t)(next - w->at), end - w->at);
    w->at = next;
    return true;
}

/* Skips a field that begins at `from` and copies its bytes to `to`. */
static bool ms_keep(struct ms_walk *w, int64_t from, int64_t end, int wire,
                    struct cr_buf *to)
{
    unsigned char byte;

    if (!ms_skip(w, end, wire))
        return false;
    end = w->at;
    if (end - from > MS_HEAD_MAX ||
        to->len + (size_t)(end - from) > MS_HEAD_MAX)
        return ms_bad(w, from, "more than 64 KiB of name and shape");
    w->at = from;
    while (w->at < end) {
        if (!ms_byte(w, end, &byte))
            return false;
        cr_buf_char(to, (char)byte);
    }
    return true;
}

static bool ms_walk_tensor(struct ms_walk *w, int64_t end)
{
    w->has_tensor = true;
    while (w->at < end) {
        int64_t from = w->at, next;
        uint64_t field;
        bool ok;
        int wire;

        if (!ms_key(w, end, &field, &wire))
            return false;
        if (field == CR_MS_CONTENT && wire == MS_BYTES) {
            ok = ms_length(w, end, &next);
            if (ok) {
                w->has_content = true;
                w->content = w->at;
                w->content_n = next - w->at;
                w->at = next;
            }
        } else if (field <= CR_MS_CONTENT) {
            ok = ms_keep(w, from, end, wire, &w->tensor);
        } else {
            ok = ms_skip(w, end, wire);
        }
        if (!ok)
            return false;
    }
    return true;
}

static bool ms_walk_value(struct ms_walk *w, int64_t end)
{
    while (w->at < end) {
        int64_t from = w->at, next;
        uint64_t field;
        bool ok;
        int wire;

        if (!ms_key(w, end, &field, &wire))
            return false;
        if (field == CR_MS_TENSOR && wire == MS_BYTES)
            ok = ms_length(w, end, &next) && ms_walk_tensor(w, next);
        else if (field == CR_MS_MAP && wire == MS_BYTES) {
            ok = ms_skip(w, end, wire);
            cr_buf_add(&w->tag, "\x1a", 2); /* an empty maptensor */
        } else if (field <= CR_MS_MAP)
            ok = ms_keep(w, from, end, wire, &w->tag);
        else
            ok = ms_skip(w, end, wire);
        if (!ok)
            return false;
    }
    return true;
}

static void ms_put_length(struct cr_buf *to, int field, size_t n)
{
    cr_buf_char(to, (char)(field << 3 | MS_BYTES));
    for (; n >= 0x80; n >>= 7)
        cr_buf_char(to, (char)((n & 0x7f) | 0x80));
    cr_buf_char(to, (char)n);
}

/* Reads the Value up to `end`, except its content. */
static bool ms_value(struct ms_walk *w, int64_t end, struct cr_ms_value *to)
{
    int64_t at = w->at;

    w->tag = w->tensor = (struct cr_buf){ .arena = w->mem };
    w->has_tensor = w->has_content = false;
    w->content = at;
    w->content_n = 0;
    if (!ms_walk_value(w, end))
        return false;
    if (w->has_content)
        ms_put_length(&w->tensor, CR_MS_CONTENT, 0);
    if (w->has_tensor) {
        ms_put_length(&w->tag, CR_MS_TENSOR, w->tensor.len);
        cr_buf_add(&w->tag, cr_buf_text(&w->tensor), w->tensor.len);
    }
    return cr_ms_unpack(w->mem, cr_buf_text(&w->tag), w->tag.len, to) ||
           ms_bad(w, at, "a value without name, type or content");
}

/* ---- Entries */

static bool ms_name_ok(struct cr_ms_bytes name)
{
    const char *p = name.at;
    size_t n = name.n;
    uint32_t code;
    int len;

    if (n < 1 || n > CR_ST_NAME_MAX || memchr(p, 0, n))
        return false;
    for (; n > 0; p += len, n -= (size_t)len) {
        len = cr_utf8(p, n, &code);
        if (len == 0)
            return false;
    }
    return true;
}

static bool ms_type_ok(struct cr_ms_bytes type)
{
    for (size_t i = 0; i < type.n; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                    "0123456789_[]",
                    type.at[i]) ||
            type.at[i] == 0)
            return false;
    return type.n > 0 && type.n <= MS_TYPE_MAX;
}

static bool ms_spec(struct ms_walk *w, int64_t at, const struct cr_ms_value *v,
                    struct cr_tensor_info *e)
{
    size_t rank = v->n_dims;
    int64_t count = 1;

    if (rank > MS_RANK_MAX)
        return ms_bad(w, at, "a tensor of more than 32 dimensions");
    for (size_t k = 0; k < rank; k++)
        if (v->dims[k] < 0 || !cr_checked_mul(&count, count, v->dims[k]))
            return ms_bad(w, at, "a shape of an impossible size");
    e->spec.type = CR_U8;
    e->spec.rank = rank <= CR_RANK_MAX ? (int)rank : -1;
    for (size_t k = 0; k < rank && rank <= CR_RANK_MAX; k++)
        e->spec.dim[k] = v->dims[k];
    for (size_t i = 0; i < CR_LEN(ms_types); i++)
        if (strcmp(ms_types[i].name, e->dtype) == 0) {
            e->spec.type = ms_types[i].type;
            e->readable = rank <= CR_RANK_MAX;
        }
    return true;
}

/* Sets an entry from a Value; false after reporting. */
static bool ms_entry(struct ms_walk *w, int64_t at, const struct cr_ms_value *v,
                     struct cr_tensor_info *e)
{
    struct cr_arena *arena = w->s->arena;

    *e = (struct cr_tensor_info){ .offset = w->content };
    if (!ms_name_ok(v->tag))
        return ms_bad(w, at, "a name that is not 1 to 1024 bytes of UTF-8");
    if (!v->has_tensor && !v->has_map)
        return ms_bad(w, at, "a name without a tensor");
    e->name = cr_strndup(arena, v->tag.at, v->tag.n);
    e->dtype = "MapTensor"; /* a hash table; listed, never read */
    if (!v->has_tensor)
        return true;
    if (!ms_type_ok(v->type))
        return ms_bad(w, at, "a type name with invalid characters");
    e->dtype = cr_strndup(arena, v->type.at, v->type.n);
    return ms_spec(w, at, v, e);
}

/* Checks that the number of bytes of a complete tensor matches its shape. */
static bool ms_finish(struct ms_walk *w, struct cr_tensor_info *e)
{
    int64_t bytes = (int64_t)cr_type_size(e->spec.type);
    int64_t one = bytes;

    if (!e->readable)
        return true;
    if (e->spec.rank == 1 && e->spec.dim[0] == 0 && (int64_t)e->bytes == one)
        e->spec.rank = 0; /* scalar as old files store it */
    for (int k = 0; k < e->spec.rank; k++)
        if (!cr_checked_mul(&bytes, bytes, e->spec.dim[k]))
            return ms_bad(w, e->offset, "a shape of an impossible size");
    if ((uint64_t)bytes == e->bytes)
        return true;
    return cr_error(w->diag, cr_at_byte(w->diag->arena, w->s->path, e->offset),
                    CR_E_CKPT_DAMAGED,
                    "tensor '%s' %s of %s: found %zu bytes, expected %" PRId64,
                    cr_quote(w->diag->arena, e->name, strlen(e->name)),
                    cr_diag_format(w->diag->arena, &e->spec), e->dtype,
                    e->bytes, bytes);
}

static void ms_slice(struct ms_walk *w, struct ms_tensor *t,
                     struct cr_tensor_info *e)
{
    if ((t->n & (t->n - 1)) == 0)
        t->slice = cr_grow(w->s->arena, t->slice, (size_t)t->n,
                           t->n ? 2 * (size_t)t->n : 1, sizeof *t->slice);
    t->slice[t->n++] = (struct cr_ms_slice){ .at = w->content,
                                             .before = (int64_t)e->bytes,
                                             .n = w->content_n };
    e->bytes += (size_t)w->content_n;
}

/* Reads one Value: a further slice of the last tensor, or the first slice of a
 * new one. */
static bool ms_take(struct ms_walk *w, int64_t end, int *values)
{
    struct cr_tensor_file *s = w->s;
    struct cr_tensor_info *last = s->n > 0 ? &s->entry[s->n - 1] : NULL, e;
    struct cr_ms_value v;
    int64_t at = w->at;

    if (++*values > MS_VALUES_MAX)
        return ms_bad(w, at, "more than a million values");
    if (!ms_value(w, end, &v) || !ms_entry(w, at, &v, &e))
        return false;
    if (last && strcmp(last->name, e.name) == 0) {
        if (strcmp(last->dtype, e.dtype) != 0 ||
            last->spec.rank != e.spec.rank ||
            !cr_spec_same(&last->spec, &e.spec))
            return cr_error(
                w->diag, cr_at_byte(w->diag->arena, s->path, at),
                CR_E_CKPT_FORMAT,
                "the slices of tensor '%s' have different shapes or types",
                cr_quote(w->diag->arena, e.name, strlen(e.name)));
        ms_slice(w, ms_details(s) + s->n - 1, last);
        return true;
    }
    if (last && !ms_finish(w, last))
        return false;
    if ((s->n & (s->n - 1)) == 0) {
        size_t cap = s->n ? 2 * (size_t)s->n : 1;

        s->entry =
            cr_grow(s->arena, s->entry, (size_t)s->n, cap, sizeof *s->entry);
        s->detail = cr_grow(s->arena, s->detail, (size_t)s->n, cap,
                            sizeof *ms_details(s));
    }
    s->entry[s->n] = e;
    ms_details(s)[s->n] = (struct ms_tensor){ 0 };
    ms_slice(w, ms_details(s) + s->n, &s->entry[s->n]);
    s->n++;
    return true;
}

/* ---- Checksum and strings */

static bool ms_sum(struct cr_tensor_file *s, struct cr_diag *diag, int64_t *end)
{
    unsigned char tail[MS_CRC_LEN], chunk[65536];
    uint32_t want = 0, crc = 0;

    *end = s->size;
    if (s->size < MS_CRC_LEN)
        return true;
    if (!cr_tensor_file_pread(s, diag, s->size - MS_CRC_LEN, tail, sizeof tail))
        return false;
    if (memcmp(tail, MS_CRC, strlen(MS_CRC)) != 0)
        return true;
    *end = s->size - MS_CRC_LEN;
    s->has_checksums = true;
    for (int64_t at = 0; at < *end; at += (int64_t)sizeof chunk) {
        int64_t left = *end - at;
        size_t n = left < (int64_t)sizeof chunk ? (size_t)left : sizeof chunk;

        if (!cr_tensor_file_pread(s, diag, at, chunk, n))
            return false;
        crc = cr_crc32(crc, chunk, n);
    }
    for (size_t i = strlen(MS_CRC); i < MS_CRC_LEN; i++) {
        if (want >> 24)
            return cr_error(diag, cr_at_byte(diag->arena, s->path, *end),
                            CR_E_CKPT_DAMAGED,
                            "damaged file: its checksum does not fit 32 bits");
        want = want << 8 | tail[i];
    }
    if (want == crc)
        return true;
    return cr_error(diag, cr_at_byte(diag->arena, s->path, *end),
                    CR_E_CKPT_DAMAGED,
                    "damaged file: its checksum is %08" PRIx32
                    ", but %08" PRIx32 " is stored",
                    crc, want);
}

/* Converts a str from UTF-32 to UTF-8; NULL after reporting. */
static const char *ms_text(struct cr_tensor_file *s, struct cr_diag *diag,
                           const struct cr_tensor_info *e)
{
    struct cr_buf to = { .arena = s->arena };
    struct cr_arena mem = { 0 };
    unsigned char *p;
    bool ok;

    if (e->bytes > 4 * (size_t)MS_TEXT_MAX) {
        cr_error(diag, cr_at_byte(diag->arena, s->path, e->offset),
                 CR_E_CKPT_FORMAT,
                 "a string of more than a million characters");
        return NULL;
    }
    p = CR_NEWS(&mem, unsigned char, e->bytes + 1);
    ok = ms_bytes(s, diag, e, 0, p, e->bytes);
    for (size_t i = 0; ok && i + 4 <= e->bytes; i += 4) {
        uint32_t c = p[i] | (uint32_t)p[i + 1] << 8 | (uint32_t)p[i + 2] << 16 |
                     (uint32_t)p[i + 3] << 24;
        char utf8[4];

        if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
            ok = cr_error(
                diag, cr_at_byte(diag->arena, s->path, e->offset + (int64_t)i),
                CR_E_CKPT_FORMAT, "string '%s' has an invalid character",
                cr_quote(diag->arena, e->name, strlen(e->name)));
        else
            cr_buf_add(&to, utf8, (size_t)cr_put_utf8(c, utf8));
    }
    cr_arena_free(&mem);
    return ok ? cr_buf_text(&to) : NULL;
}

/* Makes metadata of each str; drops the state of a random number generator that
 * old files contain. */
static bool ms_texts(struct cr_tensor_file *s, struct cr_diag *diag)
{
    int n = 0;

    s->meta = CR_NEWS(s->arena, struct cr_meta, s->n + 1);
    for (int i = 0; i < s->n; i++) {
        const struct cr_tensor_info *e = &s->entry[i];

        if (strcmp(e->dtype, "str") == 0) {
            const char *text = ms_text(s, diag, e);

            if (!text)
                return false;
            s->meta[s->n_meta++] = (struct cr_meta){ e->name, text };
        } else if (strcmp(e->dtype, "random_op") != 0) {
            s->entry[n] = *e;
            ms_details(s)[n++] = ms_details(s)[i];
        }
    }
    s->n = n;
    return true;
}

static int ms_by_name(const void *a, const void *b)
{
    const struct cr_tensor_info *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);

    return order != 0 ? order : *x < *y ? -1 : *x > *y;
}

/* Keeps the last tensor of each name, with a warning. */
static void ms_drop_duplicates(struct cr_tensor_file *s, struct cr_diag *diag)
{
    const struct cr_tensor_info **by =
        CR_NEWS(s->arena, const struct cr_tensor_info *, s->n + 1);
    bool *gone = CR_NEWS(s->arena, bool, s->n + 1);
    int n = 0;

    for (int i = 0; i < s->n; i++)
        by[i] = &s->entry[i];
    qsort(by, (size_t)s->n, sizeof *by, ms_by_name);
    for (int i = 1; i < s->n; i++)
        if (strcmp(by[i - 1]->name, by[i]->name) == 0) {
            gone[by[i - 1] - s->entry] = true;
            cr_warn(diag, cr_at_byte(diag->arena, s->path, by[i]->offset),
                    CR_E_CKPT_FORMAT,
                    "duplicate tensor '%s'; the last one is used",
                    cr_quote(diag->arena, by[i]->name, strlen(by[i]->name)));
        }
    for (int i = 0; i < s->n; i++)
        if (!gone[i]) {
            s->entry[n] = s->entry[i];
            ms_details(s)[n++] = ms_details(s)[i];
        }
    s->n = n;
}

static bool ms_open(struct cr_tensor_file *s, struct cr_diag *diag)
{
    struct cr_arena mem = { 0 };
    struct ms_walk *w = CR_NEW(s->arena, struct ms_walk);
    const char *cipher;
    unsigned char head[4];
    int64_t end;
    int values = 0;
    bool ok;

    w->s = s;
    w->diag = diag;
    w->mem = &mem;
    if (!cr_tensor_file_pread(s, diag, 0, head, sizeof head))
        return false;
    cipher = ms_cipher(head);
    if (cipher) {
        cr_error(diag, cr_at_file(diag->arena, s->path), CR_E_CKPT_FORMAT,
                 "encrypted MindSpore checkpoint (%s): cellrun cannot read it",
                 cipher);
        cr_note(
            diag,
            "load it in MindSpore with its key and save it without enc_key");
        return false;
    }
    s->detail = CR_NEWS(s->arena, struct ms_tensor, 1);
    ok = ms_sum(s, diag, &end);
    while (ok && w->at < end) {
        int64_t at = w->at, next;
        uint64_t field;
        int wire;

        ok = ms_key(w, end, &field, &wire);
        if (ok && (field != CR_MS_VALUE || wire != MS_BYTES))
            ok = ms_bad(w, at, "found something other than a value");
        ok = ok && ms_length(w, end, &next) && ms_take(w, next, &values);
        cr_arena_free(&mem);
    }
    cr_arena_free(&mem);
    ok = ok && (s->n == 0 || ms_finish(w, &s->entry[s->n - 1])) &&
         ms_texts(s, diag);
    if (!ok)
        return false;
    ms_drop_duplicates(s, diag);
    cr_tensor_file_sort(s);
    return true;
}

/* ---- Values */

/* Reads n bytes of an entry from its byte `at`, across its slices. */
static bool ms_bytes(struct cr_tensor_file *s, struct cr_diag *diag,
                     const struct cr_tensor_info *e, int64_t at, void *to,
                     size_t n)
{
    const struct ms_tensor *t = ms_details(s) + (e - s->entry);
    int low = 0, high = t->n;
    char *p = to;

    /* find the last slice with before <= at */
    while (high - low > 1) {
        int mid = low + (high - low) / 2;

        if (t->slice[mid].before <= at)
            low = mid;
        else
            high = mid;
    }
    for (; n > 0; low++) {
        const struct cr_ms_slice *slice = &t->slice[low];
        int64_t skip = at - slice->before;
        size_t some =
            (size_t)(slice->n - skip) < n ? (size_t)(slice->n - skip) : n;

        if (!cr_tensor_file_pread(s, diag, slice->at + skip, p, some))
            return false;
        p += some;
        at += (int64_t)some;
        n -= some;
    }
    return true;
}

/* ---- Writing */

struct ms_out {
    struct cr_atomic_file whole;
    uint32_t crc;
};

static void ms_put(void *to, const void *bytes, size_t n)
{
    struct ms_out *out = to;

    out->crc = cr_crc32(out->crc, bytes, n);
    cr_atomic_file_write(&out->whole, bytes, n);
}

static const char *ms_type_name(enum cr_type type)
{
    type = cr_type_stored(type);
    for (size_t i = 0; i < CR_LEN(ms_types); i++)
        if (ms_types[i].type == type)
            return ms_types[i].name;
    return "";
}

/* Makes slice `i` of a tensor; false if the tensor has fewer slices. */
static bool ms_cut_slice(const struct cr_tensor *t, int64_t i,
                         struct cr_ms_value *to)
{
    int64_t from = i * MS_SLICE, left = (int64_t)cr_st_size(t) - from;
    const char *type = ms_type_name(t->spec.type);

    *to = (struct cr_ms_value){
        .tag = { t->name, strlen(t->name) },
        .type = { type, strlen(type) },
        .n_dims = (size_t)t->spec.rank,
        .dims = t->spec.dim,
        .content = { (const char *)t->data + from,
                     (size_t)(left < MS_SLICE ? left : MS_SLICE) },
    };
    return left > 0;
}

static bool ms_write(struct cr_diag *diag, const char *path,
                     const struct cr_tensor *tensors, int n)
{
    unsigned char tail[MS_CRC_LEN] = MS_CRC;
    struct cr_arena mem = { 0 };
    struct ms_out out = { .crc = 0 };
    struct cr_ms_value v;
    int64_t size = MS_CRC_LEN;
    int *order;
    bool ok;

    /* checks the names; the given order is kept */
    ok = cr_st_place(&mem, diag, path, tensors, n, &order);
    for (int i = 0; ok && i < n; i++) {
        const char *name = tensors[i].name;

        if (!ms_cut_slice(&tensors[i], 0, &v))
            ok = cr_error(diag, cr_at_file(diag->arena, path), CR_E_NETWORK,
                          "tensor '%s' %s is empty: a MindSpore checkpoint "
                          "cannot store it",
                          cr_quote(diag->arena, name, strlen(name)),
                          cr_diag_format(diag->arena, &tensors[i].spec));
        for (int64_t k = 0; ms_cut_slice(&tensors[i], k, &v); k++)
            size += (int64_t)cr_ms_packed(&v);
    }
    ok = ok && cr_atomic_file_open(&out.whole, diag, path, size);
    if (!ok)
        goto done;
    for (int i = 0; i < n; i++)
        for (int64_t k = 0; ms_cut_slice(&tensors[i], k, &v); k++)
            cr_ms_pack(&v, ms_put, &out);
    for (int i = 0; i < 4; i++)
        tail[MS_CRC_LEN - 1 - i] = (unsigned char)(out.crc >> 8 * i);
    cr_atomic_file_write(&out.whole, tail, sizeof tail);
    ok = cr_atomic_file_commit(&out.whole);
done:
    cr_arena_free(&mem);
    return ok;
}

const struct cr_tensor_format cr_tensor_format_ms = {
    .kind = "MindSpore checkpoint",
    .suffix = ".ckpt",
    .magic = ms_magic,
    .open = ms_open,
    .bytes = ms_bytes,
    .write = ms_write,
};
