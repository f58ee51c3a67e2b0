/*
 * Opening, claiming and verifying files.
 *
 * A file is ours if it begins with our prefix, or if any of its metadata keys
 * begins with "cellrun.": then every checksum must hold. Otherwise damage to
 * the key of a checksum would switch checking off.
 */
#include "ckpt/store.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/gz.h"

#define STORE_CHUNK 65536

static_assert(sizeof CR_ST_PREFIX - 1 == CR_ST_PREFIX_LEN, "fixed text");

static const struct cr_store_type *const store_types[] = {
    &cr_store_ms,
    &cr_store_npz,
};

const struct cr_store_type *cr_store_type_of(const char *path)
{
    for (size_t i = 0; i < CR_LEN(store_types); i++)
        if (cr_ends(path, store_types[i]->suffix))
            return store_types[i];
    return NULL;
}

static bool store_bad(struct cr_store *s, struct cr_diag *diag,
                      enum cr_code code, const char *text)
{
    return cr_error(diag, cr_at_file(diag->arena, s->path), code, "%s", text);
}

/* Unpickling can run any code, so PyTorch itself converts its files. */
bool cr_store_pytorch(struct cr_store *s, struct cr_diag *diag)
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
static bool store_is_pickle(const unsigned char *head)
{
    return head[0] == 0x80 && head[1] >= 2 && head[1] <= 5 && head[8] != '{';
}

bool cr_store_pread(struct cr_store *s, struct cr_diag *diag, int64_t at,
                    void *to, size_t n)
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

static bool store_is(const char *path, mode_t kind)
{
    struct stat st;

    return stat(path, &st) == 0 && (st.st_mode & S_IFMT) == kind;
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
            if (store_is(path, S_IFREG))
                return path;
        }
        cr_error(diag, at, CR_E_CKPT_MISSING,
                 "no checkpoint in this folder: neither ckpt/best.safetensors "
                 "nor ckpt/last.safetensors");
        return NULL;
    }
    if (found)
        return cr_strdup(arena, name);
    path = cr_strf(arena, "%s.safetensors", name);
    if (store_is(path, S_IFREG))
        return path;
    cr_error(diag, at, CR_E_CKPT_MISSING, "checkpoint not found: %s",
             strerror(errno));
    return NULL;
}

/* ---- The head */

static uint64_t store_u64(const unsigned char *p)
{
    uint64_t v = 0;

    for (int i = 0; i < 8; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

/* Our prefix, whatever the digit of its version. */
static bool store_kin(const char *header, size_t len)
{
    const int v = CR_ST_VERSION_AT;

    return len > CR_ST_PREFIX_LEN + 8 &&
           memcmp(header, CR_ST_PREFIX, (size_t)v) == 0 &&
           memcmp(header + v + 1, &CR_ST_PREFIX[v + 1],
                  (size_t)(CR_ST_PREFIX_LEN - v - 1)) == 0;
}

static bool store_header_crc(struct cr_store *s, struct cr_diag *diag,
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
                    "the header is damaged: its checksum is %s, '%s' stands "
                    "in it",
                    digits, cr_quote(diag->arena, (const char *)head + at, 8));
}

/* Reads the head into *head, n bytes in all, and says whose it is. */
static bool store_head(struct cr_store *s, struct cr_diag *diag,
                       unsigned char **head, size_t *n)
{
    unsigned char first[8 + CR_ST_PREFIX_LEN + 16];
    size_t some = sizeof first;
    uint64_t len;
    bool kin, known;

    if (s->size < 10)
        return cr_error(
            diag, cr_at_byte(diag->arena, s->path, s->size), CR_E_CKPT_DAMAGED,
            "truncated: a file of %" PRId64 " bytes is no checkpoint", s->size);
    if ((uint64_t)s->size < some)
        some = (size_t)s->size;
    if (!cr_store_pread(s, diag, 0, first, some))
        return false;
    len = store_u64(first);
    kin = store_kin((const char *)first + 8, some - 8);
    known = kin || first[8] == '{';
    if (len > CR_ST_HEADER_MAX || (!known && len > (uint64_t)s->size - 8)) {
        if (kin)
            return store_bad(s, diag, CR_E_CKPT_DAMAGED,
                             "the header is damaged: its length is beyond "
                             "all measure");
        return store_bad(s, diag, CR_E_CKPT_FORMAT,
                         "not a checkpoint: neither safetensors nor NPZ nor "
                         "MindSpore's .ckpt");
    }
    if (len > (uint64_t)s->size - 8)
        return cr_error(
            diag, cr_at_byte(diag->arena, s->path, s->size), CR_E_CKPT_DAMAGED,
            "truncated within the header of %" PRIu64 " bytes", len);
    *n = 8 + (size_t)len;
    *head = CR_NEWS(s->arena, unsigned char, *n);
    if (!cr_store_pread(s, diag, 0, *head, *n))
        return false;
    /* what was read first and last must be the same file */
    kin = store_u64(*head) == len && store_kin((const char *)*head + 8, *n - 8);
    if (!kin)
        return true;
    if (!store_header_crc(s, diag, *head, *n))
        return false;
    if ((*head)[8 + CR_ST_VERSION_AT] != '1')
        return store_bad(s, diag, CR_E_CKPT_NEWER,
                         "written by a newer cellrun: format 1 is the newest "
                         "that this one reads");
    s->ours = true;
    return true;
}

/* ---- Our profile */

static bool store_hex(const char *text, size_t n, uint32_t *to)
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

static bool store_profile(struct cr_store *s, struct cr_diag *diag)
{
    static const char *const always[] = { "cellrun.requires", "cellrun.kind",
                                          "cellrun.writer", "format" };
    const char *crcs = cr_store_meta(s, "cellrun.tensor_crc32");
    const char *kind, *requires;

    for (size_t i = 0; i < CR_LEN(always); i++)
        if (!cr_store_meta(s, always[i]))
            return cr_error(diag, cr_at_file(diag->arena, s->path),
                            CR_E_CKPT_FORMAT,
                            "the metadata lack '%s', which every checkpoint "
                            "of cellrun has",
                            always[i]);
    requires = cr_store_meta(s, "cellrun.requires");
    if (*requires)
        return cr_error(diag, cr_at_file(diag->arena, s->path), CR_E_CKPT_NEWER,
                        "it needs '%s', which this cellrun does not know",
                        cr_quote(diag->arena, requires, strlen(requires)));
    if (!crcs || s->n_meta < 3 || s->meta[2].value != crcs ||
        strlen(crcs) != 8 * (size_t)s->n)
        return store_bad(s, diag, CR_E_CKPT_FORMAT,
                         "'cellrun.tensor_crc32' is not third in the "
                         "metadata with 8 digits per tensor");
    for (int i = 0; i < s->n; i++)
        if (!store_hex(crcs + 8 * (size_t)i, 8, &s->entry[i].crc))
            return store_bad(s, diag, CR_E_CKPT_FORMAT,
                             "'cellrun.tensor_crc32' has a digit that is "
                             "none of 0-9, a-f");
    kind = cr_store_meta(s, "cellrun.kind");
    s->train = strcmp(kind, "train") == 0;
    if (!s->train && strcmp(kind, "weights") != 0)
        return cr_error(diag, cr_at_file(diag->arena, s->path),
                        CR_E_CKPT_FORMAT, "a checkpoint of unknown kind '%s'",
                        cr_quote(diag->arena, kind, strlen(kind)));
    if (s->train && (!cr_store_meta(s, "cellrun.config") ||
                     !cr_store_meta(s, "cellrun.state")))
        return store_bad(s, diag, CR_E_CKPT_FORMAT,
                         "a training checkpoint without config or state");
    return true;
}

/* No prefix, but our keys: a damaged file of ours, or one that another
 * program has written anew. */
static bool store_foreign(struct cr_store *s, struct cr_diag *diag)
{
    const char *format = cr_store_meta(s, "cellrun.format");

    for (int i = 0; i < s->n_meta; i++) {
        if (!cr_starts(s->meta[i].key, "cellrun."))
            continue;
        if (format && strspn(format, "0123456789") == strlen(format) &&
            strtod(format, NULL) > 1)
            return store_bad(s, diag, CR_E_CKPT_NEWER,
                             "written by a newer cellrun: format 1 is the "
                             "newest that this one reads");
        store_bad(s, diag, CR_E_CKPT_DAMAGED,
                  "the header is damaged: it has metadata of cellrun, but "
                  "does not begin as cellrun writes it");
        cr_note(diag, "a program that writes checkpoints anew must drop "
                      "'cellrun.*' from the metadata");
        return false;
    }
    return true;
}

struct cr_store *cr_store_open(struct cr_arena *arena, struct cr_diag *diag,
                               const char *path)
{
    struct cr_store *s;
    struct stat st;
    unsigned char *head = NULL;
    unsigned char magic[CR_MAGIC] = "";
    size_t n = 0;
    bool ok;

    path = cr_ckpt_resolve(arena, diag, path);
    if (!path)
        return NULL;
    s = CR_NEW(arena, struct cr_store);
    *s = (struct cr_store){ .arena = arena, .path = path };
    /* a fifo must not hold us up before it is refused */
    s->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (s->fd < 0 || fstat(s->fd, &st) != 0) {
        cr_error(diag, cr_at_file(diag->arena, path), CR_E_CKPT_MISSING,
                 "cannot open: %s", strerror(errno));
        cr_store_close(s);
        return NULL;
    }
    s->size = st.st_size;
    if (!S_ISREG(st.st_mode)) {
        store_bad(s, diag, CR_E_CKPT_FORMAT, "not a regular file");
        cr_store_close(s);
        return NULL;
    }
    if (pread(s->fd, magic, sizeof magic, 0) == sizeof magic)
        for (size_t i = 0; i < CR_LEN(store_types) && !s->type; i++)
            if (store_types[i]->magic(magic))
                s->type = store_types[i];
    if (s->type)
        ok = s->type->open(s, diag);
    else if (store_is_pickle(magic))
        ok = cr_store_pytorch(s, diag);
    else
        ok = store_head(s, diag, &head, &n) &&
             cr_st_parse(s, diag, (const char *)head + 8, n - 8) &&
             (s->ours ? store_profile(s, diag) : store_foreign(s, diag));
    if (!ok) {
        cr_store_close(s);
        return NULL;
    }
    return s;
}

bool cr_store_is_weights(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    unsigned char magic[CR_MAGIC] = "";
    bool found = fd >= 0 && pread(fd, magic, sizeof magic, 0) == sizeof magic &&
                 (cr_store_npz.magic(magic) || store_is_pickle(magic));

    if (fd >= 0)
        close(fd);
    return found;
}

void cr_store_close(struct cr_store *s)
{
    if (s && s->fd >= 0)
        close(s->fd);
    if (s)
        s->fd = -1;
}

const char *cr_store_path(const struct cr_store *s)
{
    return s->path;
}

int64_t cr_store_size(const struct cr_store *s)
{
    return s->size;
}

const char *cr_store_kind(const struct cr_store *s)
{
    return s->type   ? s->type->kind
           : s->ours ? "cellrun checkpoint"
                     : "safetensors";
}

const struct cr_entry *cr_store_entries(const struct cr_store *s, int *n)
{
    *n = s->n;
    return s->entry;
}

static int store_by_name(const void *a, const void *b)
{
    const struct cr_entry *const *x = a, *const *y = b;

    return strcmp((*x)->name, (*y)->name);
}

void cr_store_sort(struct cr_store *s)
{
    s->sorted = CR_NEWS(s->arena, const struct cr_entry *, s->n);
    for (int i = 0; i < s->n; i++)
        s->sorted[i] = &s->entry[i];
    qsort(s->sorted, (size_t)s->n, sizeof *s->sorted, store_by_name);
}

const struct cr_entry *cr_store_find(const struct cr_store *s, const char *name)
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

const struct cr_meta *cr_store_metas(const struct cr_store *s, int *n)
{
    *n = s->n_meta;
    return s->meta;
}

const char *cr_store_meta(const struct cr_store *s, const char *key)
{
    for (int i = 0; i < s->n_meta; i++)
        if (strcmp(s->meta[i].key, key) == 0)
            return s->meta[i].value;
    return NULL;
}

bool cr_store_is_ours(const struct cr_store *s)
{
    return s->ours;
}

bool cr_store_is_summed(const struct cr_store *s)
{
    return s->ours || s->summed || (s->type && s->type->summed);
}

bool cr_store_is_train(const struct cr_store *s)
{
    return s->train;
}

/* ---- Tensors */

static bool store_sum(struct cr_store *s, struct cr_diag *diag,
                      const struct cr_entry *e, uint32_t crc)
{
    if (!s->ours || crc == e->crc)
        return true;
    return cr_error(
        diag, cr_at_byte(diag->arena, s->path, e->offset), CR_E_CKPT_DAMAGED,
        "tensor '%s' is damaged: its checksum is %08" PRIx32 ", %08" PRIx32
        " was written",
        cr_quote(diag->arena, e->name, strlen(e->name)), crc, e->crc);
}

/* Truth is any byte but 0. */
static void store_truth(unsigned char *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = x[i] != 0;
}

/* n bytes of an entry from its byte `at`. */
static bool store_bytes(struct cr_store *s, struct cr_diag *diag,
                        const struct cr_entry *e, size_t at, void *to, size_t n)
{
    return s->type ? s->type->bytes(s, diag, e, (int64_t)at, to, n)
                   : cr_store_pread(s, diag, e->offset + (int64_t)at, to, n);
}

bool cr_store_read(struct cr_store *s, struct cr_diag *diag,
                   const struct cr_entry *e, enum cr_type type, void *to)
{
    enum cr_type from = e->spec.type;
    size_t width = cr_type_size(from), out = cr_type_size(type);
    _Alignas(64) unsigned char chunk[STORE_CHUNK];
    bool direct = cr_type_stored(type) == from;
    uint32_t crc = 0;

    if (!e->readable)
        return cr_error(diag, cr_at_byte(diag->arena, s->path, e->offset),
                        CR_E_CKPT_MISMATCH,
                        "tensor '%s' is of a type or rank that cellrun does "
                        "not read: %s",
                        cr_quote(diag->arena, e->name, strlen(e->name)),
                        cr_quote(diag->arena, e->dtype, strlen(e->dtype)));
    if (s->type && s->type->read)
        return s->type->read(s, diag, e, type, to);
    for (size_t at = 0; at < e->bytes; at += STORE_CHUNK) {
        size_t n = e->bytes - at < STORE_CHUNK ? e->bytes - at : STORE_CHUNK;
        unsigned char *x = direct ? (unsigned char *)to + at : chunk;

        if (!store_bytes(s, diag, e, at, x, n))
            return false;
        crc = cr_crc32(crc, x, n);
        if (from == CR_BOOL)
            store_truth(x, n);
        if (!direct)
            cr_convert(from, x, type, (char *)to + at / width * out,
                       (int64_t)(n / width));
    }
    return store_sum(s, diag, e, crc);
}

bool cr_store_check(struct cr_store *s, struct cr_diag *diag,
                    const struct cr_entry *e)
{
    unsigned char chunk[STORE_CHUNK];
    uint32_t crc = 0;

    if (s->type && s->type->read)
        return s->type->read(s, diag, e, e->spec.type, NULL);
    for (size_t at = 0; at < e->bytes; at += STORE_CHUNK) {
        size_t n = e->bytes - at < STORE_CHUNK ? e->bytes - at : STORE_CHUNK;

        if (!store_bytes(s, diag, e, at, chunk, n))
            return false;
        crc = cr_crc32(crc, chunk, n);
    }
    return store_sum(s, diag, e, crc);
}

bool cr_store_verify(struct cr_store *s, struct cr_diag *diag)
{
    bool ok = true;

    for (int i = 0; i < s->n; i++)
        ok &= cr_store_check(s, diag, &s->entry[i]);
    return ok;
}
