/*
 * Opening, identifying and verifying tensor files.
 *
 * A file is a cellrun checkpoint if it begins with CR_ST_PREFIX or if any of
 * its metadata keys begins with "cellrun."; then every checksum must match.
 * Otherwise damage to the key of a checksum would disable the check.
 */
#include "ckpt/tensor_file.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gz.h"
#include "ckpt/run_index.h"

#define STORE_CHUNK 65536

static_assert(sizeof CR_ST_PREFIX - 1 == CR_ST_PREFIX_LEN, "fixed text");

static const struct cr_tensor_format *const tensor_formats[] = {
    &cr_tensor_format_ms,
    &cr_tensor_format_npz,
};

const struct cr_tensor_format *cr_tensor_format_of(const char *path)
{
    for (size_t i = 0; i < CR_LEN(tensor_formats); i++)
        if (cr_ends(path, tensor_formats[i]->suffix))
            return tensor_formats[i];
    return NULL;
}

static bool file_bad(struct cr_tensor_file *s, struct cr_diag *diag,
                     enum cr_code code, const char *text)
{
    return cr_error(diag, cr_at_file(diag->arena, s->path), code, "%s", text);
}

/* Unpickling can run any code, so the note shows how to convert the file with
 * PyTorch. */
bool cr_tensor_file_pytorch(struct cr_tensor_file *s, struct cr_diag *diag)
{
    cr_error(diag, cr_at_file(diag->arena, s->path), CR_E_CKPT_FORMAT,
             "found a PyTorch file, expected safetensors, NPZ or MindSpore's "
             ".ckpt");
    cr_note(diag, "   convert a state_dict with: python3 -c 'import sys, "
                  "numpy, torch; numpy.savez(sys.argv[2], **{k: "
                  "v.float().numpy() for k, v in torch.load(sys.argv[1], "
                  "map_location=\"cpu\", weights_only=True).items()})' "
                  "FILE.pt FILE.npz");
    return false;
}

/* A pickle of protocol 2 to 5; PyTorch before 1.6 wrote several. The head of
 * a safetensors file may have such a length: then its JSON follows. */
static bool file_is_pickle(const unsigned char *head)
{
    return head[0] == 0x80 && head[1] >= 2 && head[1] <= 5 && head[8] != '{';
}

bool cr_tensor_file_pread(struct cr_tensor_file *s, struct cr_diag *diag,
                          int64_t at, void *to, size_t n)
{
    char *p = to;

    while (n > 0) {
        ssize_t got = pread(s->fd, p, n < (1u << 30) ? n : 1u << 30, at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return cr_error(diag, cr_at_byte(diag->arena, s->path, at),
                            CR_E_CKPT_DAMAGED, "cannot read: %s",
                            strerror(errno));
        if (got == 0)
            return cr_error(diag, cr_at_byte(diag->arena, s->path, at),
                            CR_E_CKPT_DAMAGED,
                            "truncated: %zu bytes are missing here", n);
        p += got;
        at += got;
        n -= (size_t)got;
    }
    return true;
}

/* ---- Names */

/* If not, errno says why: ENOENT for another kind of file, too. */
static bool file_is(const char *path, mode_t kind)
{
    struct stat st;

    if (stat(path, &st) != 0)
        return false;
    errno = ENOENT;
    return (st.st_mode & S_IFMT) == kind;
}

/* Names the newest run below a folder that is not a run directory. */
static void hint_run(struct cr_arena *arena, struct cr_diag *diag,
                     const char *dir)
{
    struct cr_diag quiet = { .arena = arena };
    struct cr_runs runs = { .arena = arena, .diag = &quiet };

    cr_runs_search(&runs, dir);
    if (runs.n == 1 && strcmp(runs.run[0].path, dir) == 0)
        return; /* a run that wrote no checkpoint */
    if (runs.n == 1)
        cr_hint(diag, "did you mean '%s'?", runs.run[0].path);
    else if (runs.n > 1)
        cr_hint(diag,
                "%d runs are below it, the newest is '%s'; "
                "`cellrun runs --dir %s` lists them",
                runs.n, runs.run[runs.n - 1].path, dir);
}

const char *cr_ckpt_resolve(struct cr_arena *arena, struct cr_diag *diag,
                            const char *name)
{
    static const char *const within[] = { "ckpt/best.safetensors",
                                          "ckpt/last.safetensors",
                                          "best.safetensors",
                                          "last.safetensors" };
    struct cr_pos at = cr_at_file(diag->arena, name);
    const char *path;
    struct stat st;
    bool found = stat(name, &st) == 0;

    if (!found && errno != ENOENT && errno != ENOTDIR) {
        cr_error(diag, at, CR_E_CKPT_MISSING, "cannot open: %s",
                 strerror(errno));
        return NULL;
    }
    if (found && S_ISDIR(st.st_mode)) {
        for (size_t i = 0; i < CR_LEN(within); i++) {
            path = cr_path_join(arena, name, within[i]);
            if (file_is(path, S_IFREG))
                return path;
            if (errno != ENOENT && errno != ENOTDIR) {
                cr_error(diag, cr_at_file(diag->arena, path),
                         CR_E_CKPT_MISSING, "cannot open: %s",
                         strerror(errno));
                return NULL;
            }
        }
        cr_error(diag, at, CR_E_CKPT_MISSING,
                 "no checkpoint found in this folder: neither "
                 "ckpt/best.safetensors nor ckpt/last.safetensors");
        hint_run(arena, diag, name);
        return NULL;
    }
    if (found)
        return cr_strdup(arena, name);
    path = cr_strf(arena, "%s.safetensors", name);
    if (file_is(path, S_IFREG))
        return path;
    cr_error(diag, at, CR_E_CKPT_MISSING, "checkpoint not found: %s",
             strerror(errno));
    return NULL;
}

/* ---- The head */

static uint64_t read_u64(const unsigned char *p)
{
    uint64_t v = 0;

    for (int i = 0; i < 8; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

/* Whether the bytes are CR_ST_PREFIX, with any digit as the version. */
static bool file_has_prefix(const char *header, size_t len)
{
    const int v = CR_ST_VERSION_AT;

    return len > CR_ST_PREFIX_LEN + 8 &&
           memcmp(header, CR_ST_PREFIX, (size_t)v) == 0 &&
           memcmp(header + v + 1, &CR_ST_PREFIX[v + 1],
                  (size_t)(CR_ST_PREFIX_LEN - v - 1)) == 0;
}

static bool file_header_crc(struct cr_tensor_file *s, struct cr_diag *diag,
                            const unsigned char *head, size_t n)
{
    const size_t at = CR_ST_CRC_AT, after = at + 8;
    char digits[9];
    uint32_t crc;

    crc = cr_crc32(0, head, at);
    crc = cr_crc32(crc, "00000000", 8);
    crc = cr_crc32(crc, head + after, n - after);
    snprintf(digits, sizeof digits, "%08" PRIx32, crc);
    if (memcmp(digits, head + at, 8) == 0)
        return true;
    return cr_error(diag, cr_at_byte(diag->arena, s->path, (int64_t)at),
                    CR_E_CKPT_DAMAGED,
                    "damaged header: its checksum is %s, but '%s' is stored",
                    digits, cr_quote(diag->arena, (const char *)head + at, 8));
}

/* Reads the head into *head, *n bytes, and sets is_cellrun. */
static bool file_head(struct cr_tensor_file *s, struct cr_diag *diag,
                      unsigned char **head, size_t *n)
{
    unsigned char first[8 + CR_ST_PREFIX_LEN + 16];
    size_t some = sizeof first;
    uint64_t len;
    bool kin, known;

    if (s->size < 10)
        return cr_error(
            diag, cr_at_byte(diag->arena, s->path, s->size), CR_E_CKPT_DAMAGED,
            "truncated: a file of %" PRId64 " bytes is not a checkpoint",
            s->size);
    if ((uint64_t)s->size < some)
        some = (size_t)s->size;
    if (!cr_tensor_file_pread(s, diag, 0, first, some))
        return false;
    len = read_u64(first);
    kin = file_has_prefix((const char *)first + 8, some - 8);
    known = kin || first[8] == '{';
    if (len > CR_ST_HEADER_MAX || (!known && len > (uint64_t)s->size - 8)) {
        if (kin)
            return file_bad(s, diag, CR_E_CKPT_DAMAGED,
                            "damaged header: its length is impossible");
        return file_bad(s, diag, CR_E_CKPT_FORMAT,
                        "not a checkpoint: neither safetensors nor NPZ nor "
                        "MindSpore's .ckpt");
    }
    if (len > (uint64_t)s->size - 8)
        return cr_error(
            diag, cr_at_byte(diag->arena, s->path, s->size), CR_E_CKPT_DAMAGED,
            "truncated within the header of %" PRIu64 " bytes", len);
    *n = 8 + (size_t)len;
    *head = CR_NEWS(s->arena, unsigned char, *n);
    if (!cr_tensor_file_pread(s, diag, 0, *head, *n))
        return false;
    /* the file must not have changed between the first and the last read */
    kin = read_u64(*head) == len &&
          file_has_prefix((const char *)*head + 8, *n - 8);
    if (!kin)
        return true;
    if (!file_header_crc(s, diag, *head, *n))
        return false;
    if ((*head)[8 + CR_ST_VERSION_AT] != '1')
        return file_bad(
            s, diag, CR_E_CKPT_NEWER,
            "written by a newer cellrun: this version reads formats up to 1");
    s->is_cellrun = true;
    return true;
}

/* ---- The profile of cellrun */

static bool file_hex(const char *text, size_t n, uint32_t *to)
{
    uint32_t v = 0;

    for (size_t i = 0; i < n; i++) {
        const char *digits = "0123456789abcdef";
        const char *d = text[i] ? strchr(digits, text[i]) : NULL;

        if (!d)
            return false;
        v = v << 4 | (uint32_t)(d - digits);
    }
    *to = v;
    return true;
}

static bool file_profile(struct cr_tensor_file *s, struct cr_diag *diag)
{
    static const char *const always[] = { "cellrun.requires", "cellrun.kind",
                                          "cellrun.writer", "format" };
    const char *crcs = cr_tensor_file_meta(s, "cellrun.tensor_crc32");
    const char *kind, *requires;

    for (size_t i = 0; i < CR_LEN(always); i++)
        if (!cr_tensor_file_meta(s, always[i]))
            return cr_error(
                diag, cr_at_file(diag->arena, s->path), CR_E_CKPT_FORMAT,
                "the metadata has no '%s', which every cellrun checkpoint has",
                always[i]);
    requires = cr_tensor_file_meta(s, "cellrun.requires");
    if (*requires)
        return cr_error(
            diag, cr_at_file(diag->arena, s->path), CR_E_CKPT_NEWER,
            "requires '%s', which this version of cellrun does not support",
            cr_quote(diag->arena, requires, strlen(requires)));
    if (!crcs || s->n_meta < 3 || s->meta[2].value != crcs ||
        strlen(crcs) != 8 * (size_t)s->n)
        return file_bad(s, diag, CR_E_CKPT_FORMAT,
                        "'cellrun.tensor_crc32': expected it third in the "
                        "metadata, with 8 digits per tensor");
    for (int i = 0; i < s->n; i++)
        if (!file_hex(crcs + 8 * (size_t)i, 8, &s->entry[i].crc))
            return file_bad(
                s, diag, CR_E_CKPT_FORMAT,
                "'cellrun.tensor_crc32' has a digit other than 0-9, a-f");
    kind = cr_tensor_file_meta(s, "cellrun.kind");
    s->train = strcmp(kind, "train") == 0;
    if (!s->train && strcmp(kind, "weights") != 0)
        return cr_error(diag, cr_at_file(diag->arena, s->path),
                        CR_E_CKPT_FORMAT, "checkpoint of unknown kind '%s'",
                        cr_quote(diag->arena, kind, strlen(kind)));
    if (s->train && (!cr_tensor_file_meta(s, "cellrun.config") ||
                     !cr_tensor_file_meta(s, "cellrun.state")))
        return file_bad(s, diag, CR_E_CKPT_FORMAT,
                        "training checkpoint without config or state");
    return true;
}

/* Reports a file with metadata of cellrun but without CR_ST_PREFIX: a damaged
 * cellrun checkpoint, or one rewritten by another program. */
static bool file_foreign(struct cr_tensor_file *s, struct cr_diag *diag)
{
    const char *format = cr_tensor_file_meta(s, "cellrun.format");

    for (int i = 0; i < s->n_meta; i++) {
        if (!cr_starts(s->meta[i].key, "cellrun."))
            continue;
        if (format && strspn(format, "0123456789") == strlen(format) &&
            strtod(format, NULL) > 1)
            return file_bad(s, diag, CR_E_CKPT_NEWER,
                            "written by a newer cellrun: this version reads "
                            "formats up to 1");
        file_bad(s, diag, CR_E_CKPT_DAMAGED,
                 "damaged header: it has metadata of cellrun, but does not "
                 "begin as cellrun writes it");
        cr_note(diag, "a program that rewrites checkpoints must remove "
                      "'cellrun.*' from the metadata");
        return false;
    }
    return true;
}

struct cr_tensor_file *cr_tensor_file_open(struct cr_arena *arena,
                                           struct cr_diag *diag,
                                           const char *path)
{
    struct cr_tensor_file *s;
    struct stat st;
    unsigned char *head = NULL;
    unsigned char magic[CR_MAGIC] = "";
    size_t n = 0;
    bool ok;

    path = cr_ckpt_resolve(arena, diag, path);
    if (!path)
        return NULL;
    s = CR_NEW(arena, struct cr_tensor_file);
    *s = (struct cr_tensor_file){ .arena = arena, .path = path };
    /* opening a FIFO must not block before it is rejected */
    s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (s->fd < 0 || fstat(s->fd, &st) != 0) {
        cr_error(diag, cr_at_file(diag->arena, path), CR_E_CKPT_MISSING,
                 "cannot open: %s", strerror(errno));
        cr_tensor_file_close(s);
        return NULL;
    }
    s->size = st.st_size;
    if (!S_ISREG(st.st_mode)) {
        file_bad(s, diag, CR_E_CKPT_FORMAT, "not a regular file");
        cr_tensor_file_close(s);
        return NULL;
    }
    if (pread(s->fd, magic, sizeof magic, 0) == sizeof magic)
        for (size_t i = 0; i < CR_LEN(tensor_formats) && !s->format; i++)
            if (tensor_formats[i]->magic(magic))
                s->format = tensor_formats[i];
    if (s->format)
        ok = s->format->open(s, diag);
    else if (file_is_pickle(magic))
        ok = cr_tensor_file_pytorch(s, diag);
    else
        ok = file_head(s, diag, &head, &n) &&
             cr_st_parse(s, diag, (const char *)head + 8, n - 8) &&
             (s->is_cellrun ? file_profile(s, diag) : file_foreign(s, diag));
    if (!ok) {
        cr_tensor_file_close(s);
        return NULL;
    }
    return s;
}

bool cr_tensor_file_is_weights(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    unsigned char magic[CR_MAGIC] = "";
    bool found = fd >= 0 && pread(fd, magic, sizeof magic, 0) == sizeof magic &&
                 (cr_tensor_format_npz.magic(magic) || file_is_pickle(magic));

    if (fd >= 0)
        close(fd);
    return found;
}

void cr_tensor_file_close(struct cr_tensor_file *s)
{
    if (s && s->fd >= 0)
        close(s->fd);
    if (s)
        s->fd = -1;
}

const char *cr_tensor_file_path(const struct cr_tensor_file *s)
{
    return s->path;
}

int64_t cr_tensor_file_size(const struct cr_tensor_file *s)
{
    return s->size;
}

const char *cr_tensor_file_kind(const struct cr_tensor_file *s)
{
    return s->format       ? s->format->kind
           : s->is_cellrun ? "cellrun checkpoint"
                           : "safetensors";
}

const struct cr_tensor_info *
cr_tensor_file_entries(const struct cr_tensor_file *s, int *n)
{
    *n = s->n;
    return s->entry;
}

static int file_by_name(const void *a, const void *b)
{
    const struct cr_tensor_info *const *x = a, *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

void cr_tensor_file_sort(struct cr_tensor_file *s)
{
    s->sorted = CR_NEWS(s->arena, const struct cr_tensor_info *, s->n);
    for (int i = 0; i < s->n; i++)
        s->sorted[i] = &s->entry[i];
    qsort(s->sorted, (size_t)s->n, sizeof *s->sorted, file_by_name);
}

const struct cr_tensor_info *cr_tensor_file_find(const struct cr_tensor_file *s,
                                                 const char *name)
{
    int low = 0, high = s->n;

    while (low < high) {
        int mid = low + (high - low) / 2;
        int order = strcmp(name, s->sorted[mid]->name);

        if (order == 0)
            return s->sorted[mid];
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}

const struct cr_meta *cr_tensor_file_metas(const struct cr_tensor_file *s,
                                           int *n)
{
    *n = s->n_meta;
    return s->meta;
}

const char *cr_tensor_file_meta(const struct cr_tensor_file *s, const char *key)
{
    for (int i = 0; i < s->n_meta; i++)
        if (strcmp(s->meta[i].key, key) == 0)
            return s->meta[i].value;
    return NULL;
}

bool cr_tensor_file_is_cellrun(const struct cr_tensor_file *s)
{
    return s->is_cellrun;
}

bool cr_tensor_file_has_checksums(const struct cr_tensor_file *s)
{
    return s->is_cellrun || s->has_checksums ||
           (s->format && s->format->has_checksums);
}

bool cr_tensor_file_is_train(const struct cr_tensor_file *s)
{
    return s->train;
}

/* ---- Tensors */

static bool file_sum(struct cr_tensor_file *s, struct cr_diag *diag,
                     const struct cr_tensor_info *e, uint32_t crc)
{
    if (!s->is_cellrun || crc == e->crc)
        return true;
    return cr_error(
        diag, cr_at_byte(diag->arena, s->path, e->offset), CR_E_CKPT_DAMAGED,
        "damaged tensor '%s': its checksum is %08" PRIx32 ", but %08" PRIx32
        " is stored",
        cr_quote(diag->arena, e->name, strlen(e->name)), crc, e->crc);
}

/* A stored bool is true if its byte is not 0. */
static void file_normalise_bools(unsigned char *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = x[i] != 0;
}

/* Reads n bytes of an entry, starting at its byte `at`. */
static bool file_bytes(struct cr_tensor_file *s, struct cr_diag *diag,
                       const struct cr_tensor_info *e, size_t at, void *to,
                       size_t n)
{
    return s->format
               ? s->format->bytes(s, diag, e, (int64_t)at, to, n)
               : cr_tensor_file_pread(s, diag, e->offset + (int64_t)at, to, n);
}

bool cr_tensor_file_read(struct cr_tensor_file *s, struct cr_diag *diag,
                         const struct cr_tensor_info *e, enum cr_type type,
                         void *to)
{
    enum cr_type from = e->spec.type;
    size_t width = cr_type_size(from), out = cr_type_size(type);
    _Alignas(64) unsigned char chunk[STORE_CHUNK];
    bool direct = cr_type_stored(type) == from;
    uint32_t crc = 0;

    if (!e->readable)
        return cr_error(
            diag, cr_at_byte(diag->arena, s->path, e->offset),
            CR_E_CKPT_MISMATCH,
            "tensor '%s' has a type or rank that cellrun cannot read: %s",
            cr_quote(diag->arena, e->name, strlen(e->name)),
            cr_quote(diag->arena, e->dtype, strlen(e->dtype)));
    if (s->format && s->format->read)
        return s->format->read(s, diag, e, type, to);
    for (size_t at = 0; at < e->bytes; at += STORE_CHUNK) {
        size_t n = e->bytes - at < STORE_CHUNK ? e->bytes - at : STORE_CHUNK;
        unsigned char *x = direct ? (unsigned char *)to + at : chunk;

        if (!file_bytes(s, diag, e, at, x, n))
            return false;
        crc = cr_crc32(crc, x, n);
        if (from == CR_BOOL)
            file_normalise_bools(x, n);
        if (!direct)
            cr_convert(from, x, type, (char *)to + at / width * out,
                       (int64_t)(n / width));
    }
    return file_sum(s, diag, e, crc);
}

bool cr_tensor_file_check(struct cr_tensor_file *s, struct cr_diag *diag,
                          const struct cr_tensor_info *e)
{
    unsigned char chunk[STORE_CHUNK];
    uint32_t crc = 0;

    if (s->format && s->format->read)
        return s->format->read(s, diag, e, e->spec.type, NULL);
    for (size_t at = 0; at < e->bytes; at += STORE_CHUNK) {
        size_t n = e->bytes - at < STORE_CHUNK ? e->bytes - at : STORE_CHUNK;

        if (!file_bytes(s, diag, e, at, chunk, n))
            return false;
        crc = cr_crc32(crc, chunk, n);
    }
    return file_sum(s, diag, e, crc);
}

bool cr_tensor_file_verify(struct cr_tensor_file *s, struct cr_diag *diag)
{
    bool ok = true;

    for (int i = 0; i < s->n; i++)
        ok &= cr_tensor_file_check(s, diag, &s->entry[i]);
    return ok;
}
