/*
 * NPZ: a zip of .npy members; cellrun-formats(7) has the layout.
 *
 * Written: stored members, every array's data at a multiple of 64 (an extra
 * field of 0x5a bytes pads the local header), fixed dates, zip64 records only
 * where a number needs them, names outside ASCII marked as UTF-8, bfloat16 as
 * float32.
 *
 * Read: only the central directory is used, and of a local header only its
 * length. Stored and deflated members, either byte order, C and Fortran order.
 */
#include "ckpt/tensor_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic_file.h"
#include "base/gz.h"
#include "data/npy.h"

#define NPZ_LOCAL 0x04034b50u
#define NPZ_CENTRAL 0x02014b50u
#define NPZ_END 0x06054b50u
#define NPZ_END64 0x06064b50u
#define NPZ_LOCATOR 0x07064b50u
#define NPZ_NONE 0xffffffffu /* the number is in a zip64 field */
#define NPZ_UTF8 0x800       /* flag 11: the name is UTF-8, not code page 437 */
#define NPZ_RATIO 1032       /* maximum expansion of a byte by deflate */
#define NPZ_MEMBER_MAX \
    (UINT64_C(8) << 30) /* maximum number of decompressed bytes */

struct npz_part {
    int64_t at;     /* of the payload */
    int64_t packed; /* bytes in the file */
    int64_t size;   /* decompressed bytes: npy header and data */
    uint32_t crc;
    bool deflated;
    struct cr_npy npy;
};

/* ---- Writing */

static void npz_put(struct cr_buf *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        cr_buf_char(to, (char)(value >> 8 * i & 0xff));
}

struct npz_out {
    struct cr_buf local; /* local header and npy header */
    int64_t at, size;
};

static bool npz_is_ascii(const char *name)
{
    while (*name && (unsigned char)*name < 0x80)
        name++;
    return !*name;
}

/* The fields that local and central headers share, from version to sizes. */
static void npz_common(struct cr_buf *to, const char *name, bool wide,
                       uint32_t crc, int64_t size)
{
    uint64_t shown = size >= NPZ_NONE ? NPZ_NONE : (uint64_t)size;

    npz_put(to, wide ? 45 : 20, 2);
    npz_put(to, npz_is_ascii(name) ? 0 : NPZ_UTF8, 2); /* flags */
    npz_put(to, 0, 2);                                 /* method: stored */
    npz_put(to, 0, 2);                                 /* time */
    npz_put(to, 0x0021, 2);                            /* date: 1980-01-01 */
    npz_put(to, crc, 4);
    npz_put(to, shown, 4);
    npz_put(to, shown, 4);
}

static void npz_local(struct cr_arena *arena, const struct cr_tensor *t,
                      struct cr_buf *central, int64_t at, struct npz_out *to)
{
    struct cr_buf npy = { .arena = arena };
    const char *name = cr_strf(arena, "%s.npy", t->name);
    size_t data = cr_st_size(t), len = strlen(name), pad;
    uint32_t crc;
    bool wide;

    cr_npy_header(&npy, &t->spec);
    crc = cr_crc32(0, npy.text, npy.len);
    crc = cr_crc32(crc, t->data, data);
    to->at = at;
    to->size = (int64_t)(npy.len + data);
    to->local = (struct cr_buf){ .arena = arena };
    wide = to->size >= NPZ_NONE;
    npz_put(&to->local, NPZ_LOCAL, 4);
    npz_common(&to->local, name, wide, crc, to->size);
    pad = ((size_t)at + 30 + len + (wide ? 20 : 0) + 4) % 64;
    pad = (64 - pad) % 64;
    npz_put(&to->local, len, 2);
    npz_put(&to->local, (wide ? 20u : 0u) + 4 + pad, 2);
    cr_buf_add(&to->local, name, len);
    if (wide) {
        npz_put(&to->local, 1, 2);
        npz_put(&to->local, 16, 2);
        npz_put(&to->local, (uint64_t)to->size, 8);
        npz_put(&to->local, (uint64_t)to->size, 8);
    }
    npz_put(&to->local, 0x4246, 2);
    npz_put(&to->local, pad, 2);
    for (size_t i = 0; i < pad; i++)
        cr_buf_char(&to->local, 0x5a);
    cr_buf_add(&to->local, npy.text, npy.len);

    npz_put(central, NPZ_CENTRAL, 4);
    npz_put(central, at >= NPZ_NONE || wide ? 45 : 20, 2);
    npz_common(central, name, wide || at >= NPZ_NONE, crc, to->size);
    npz_put(central, len, 2);
    npz_put(central,
            (wide || at >= NPZ_NONE ? 4u : 0u) + (wide ? 16u : 0u) +
                (at >= NPZ_NONE ? 8u : 0u),
            2);
    npz_put(central, 0, 2); /* comment */
    npz_put(central, 0, 2); /* disk */
    npz_put(central, 0, 2); /* internal attributes */
    npz_put(central, 0x01800000, 4);
    npz_put(central, at >= NPZ_NONE ? NPZ_NONE : (uint64_t)at, 4);
    cr_buf_add(central, name, len);
    if (wide || at >= NPZ_NONE) {
        npz_put(central, 1, 2);
        npz_put(central, (wide ? 16u : 0u) + (at >= NPZ_NONE ? 8u : 0u), 2);
    }
    if (wide) {
        npz_put(central, (uint64_t)to->size, 8);
        npz_put(central, (uint64_t)to->size, 8);
    }
    if (at >= NPZ_NONE)
        npz_put(central, (uint64_t)at, 8);
}

static void npz_end(struct cr_buf *to, int64_t at, size_t n)
{
    uint64_t size = to->len, offset = (uint64_t)at;
    bool wide = n >= 0xffff || size >= NPZ_NONE || offset >= NPZ_NONE;

    if (wide) {
        npz_put(to, NPZ_END64, 4);
        npz_put(to, 44, 8);
        npz_put(to, 45, 2);
        npz_put(to, 45, 2);
        npz_put(to, 0, 8); /* disks */
        npz_put(to, n, 8);
        npz_put(to, n, 8);
        npz_put(to, size, 8);
        npz_put(to, offset, 8);
        npz_put(to, NPZ_LOCATOR, 4);
        npz_put(to, 0, 4);
        npz_put(to, offset + size, 8);
        npz_put(to, 1, 4);
    }
    npz_put(to, NPZ_END, 4);
    npz_put(to, 0, 4); /* disks */
    npz_put(to, wide ? 0xffff : n, 2);
    npz_put(to, wide ? 0xffff : n, 2);
    npz_put(to, wide ? NPZ_NONE : size, 4);
    npz_put(to, wide ? NPZ_NONE : offset, 4);
    npz_put(to, 0, 2); /* comment */
}

/* NumPy does not have bfloat16; float32 holds each bfloat16 value. */
static const struct cr_tensor *npz_types(struct cr_arena *arena,
                                         const struct cr_tensor *tensors, int n)
{
    struct cr_tensor *to = CR_NEWS(arena, struct cr_tensor, n);

    for (int i = 0; i < n; i++) {
        int64_t count = cr_count(&tensors[i].spec);
        float *data;

        to[i] = tensors[i];
        if (to[i].spec.type != CR_BF16)
            continue;
        data = CR_NEWS(arena, float, count);
        cr_convert(CR_BF16, tensors[i].data, CR_F32, data, count);
        to[i].spec.type = CR_F32;
        to[i].data = data;
    }
    return to;
}

static bool npz_write(struct cr_diag *diag, const char *path,
                      const struct cr_tensor *given, int n)
{
    struct cr_arena mem = { 0 };
    const struct cr_tensor *tensors = npz_types(&mem, given, n);
    struct cr_buf central = { .arena = &mem };
    struct npz_out *out = CR_NEWS(&mem, struct npz_out, n);
    struct cr_atomic_file whole;
    int64_t at = 0;
    int *order;
    bool ok;

    /* checks the names; the given order is kept */
    ok = cr_st_place(&mem, diag, path, tensors, n, &order);
    if (!ok)
        goto done;
    for (int i = 0; i < n; i++) {
        npz_local(&mem, &tensors[i], &central, at, &out[i]);
        at += (int64_t)(out[i].local.len + cr_st_size(&tensors[i]));
    }
    npz_end(&central, at, (size_t)n);
    ok = cr_atomic_file_open(&whole, diag, path, at + (int64_t)central.len);
    if (!ok)
        goto done;
    for (int i = 0; i < n; i++) {
        cr_atomic_file_write(&whole, out[i].local.text, out[i].local.len);
        cr_atomic_file_write(&whole, tensors[i].data, cr_st_size(&tensors[i]));
    }
    cr_atomic_file_write(&whole, central.text, central.len);
    ok = cr_atomic_file_commit(&whole);
done:
    cr_arena_free(&mem);
    return ok;
}

/* ---- Reading */

static uint64_t npz_get(const unsigned char *p, int bytes)
{
    uint64_t v = 0;

    for (int i = 0; i < bytes; i++)
        v |= (uint64_t)p[i] << 8 * i;
    return v;
}

static bool npz_bad(struct cr_tensor_file *s, struct cr_diag *diag, int64_t at,
                    const char *what)
{
    return cr_error(diag, cr_at_byte(diag->arena, s->path, at),
                    CR_E_CKPT_FORMAT, "not an NPZ file: %s", what);
}

struct npz_dir {
    int64_t at, size, n;
    int64_t end; /* offset of the end records */
};

/* The end record is the one whose comment reaches exactly to the end. */
static bool npz_find_end(struct cr_tensor_file *s, struct cr_diag *diag,
                         struct npz_dir *dir)
{
    int64_t tail = s->size < 22 + 65535 ? s->size : 22 + 65535;
    int64_t base = s->size - tail, at = tail - 22;
    unsigned char *p = CR_NEWS(s->arena, unsigned char, tail);
    unsigned char wide[56];
    uint64_t where;

    if (!cr_tensor_file_pread(s, diag, base, p, (size_t)tail))
        return false;
    while (at >= 0 && (npz_get(p + at, 4) != NPZ_END ||
                       (int64_t)npz_get(p + at + 20, 2) != tail - at - 22))
        at--;
    if (at < 0)
        return npz_bad(s, diag, s->size, "end of the zip directory not found");
    dir->n = (int64_t)npz_get(p + at + 10, 2);
    dir->size = (int64_t)npz_get(p + at + 12, 4);
    dir->at = (int64_t)npz_get(p + at + 16, 4);
    dir->end = base + at;
    if (at < 20 || npz_get(p + at - 20, 4) != NPZ_LOCATOR)
        return true;
    where = npz_get(p + at - 20 + 8, 8);
    if (where > (uint64_t)dir->end || (uint64_t)dir->end - where < 76)
        return npz_bad(s, diag, dir->end - 20, "invalid zip64 locator");
    if (!cr_tensor_file_pread(s, diag, (int64_t)where, wide, sizeof wide))
        return false;
    if (npz_get(wide, 4) != NPZ_END64 || npz_get(wide + 32, 8) >> 62 ||
        npz_get(wide + 40, 8) >> 62 || npz_get(wide + 48, 8) >> 62)
        return npz_bad(s, diag, (int64_t)where, "invalid zip64 end record");
    dir->n = (int64_t)npz_get(wide + 32, 8);
    dir->size = (int64_t)npz_get(wide + 40, 8);
    dir->at = (int64_t)npz_get(wide + 48, 8);
    dir->end = (int64_t)where;
    return true;
}

/* Parses an entry of the directory; p has `left` bytes, at least 46. Returns
 * its length, 0 after reporting. */
static size_t npz_central(struct cr_tensor_file *s, struct cr_diag *diag,
                          int64_t where, const unsigned char *p, size_t left,
                          struct npz_part *to, const char **name)
{
    size_t nlen = npz_get(p + 28, 2), elen = npz_get(p + 30, 2);
    size_t clen = npz_get(p + 32, 2), len = 46 + nlen + elen + clen;
    uint64_t flags = npz_get(p + 8, 2), method = npz_get(p + 10, 2);
    uint64_t part[3] = { npz_get(p + 24, 4), npz_get(p + 20, 4),
                         npz_get(p + 42, 4) };
    const unsigned char *x;

    if (npz_get(p, 4) != NPZ_CENTRAL || len > left) {
        npz_bad(s, diag, where, "invalid directory entry");
        return 0;
    }
    if (flags & ~UINT64_C(0x80e) || (method != 0 && method != 8)) {
        npz_bad(s, diag, where,
                "a member is encrypted, or compressed by another method than "
                "deflate");
        return 0;
    }
    *name = cr_strndup(s->arena, (const char *)p + 46, nlen);
    x = p + 46 + nlen;
    while (elen >= 4) {
        size_t id = npz_get(x, 2), n = npz_get(x + 2, 2), used = 4;

        if (n > elen - 4)
            break;
        for (int i = 0; id == 1 && i < 3; i++)
            if (part[i] == NPZ_NONE && used + 8 <= n + 4) {
                part[i] = npz_get(x + used, 8);
                used += 8;
            }
        x += 4 + n;
        elen -= 4 + n;
    }
    *to = (struct npz_part){ .crc = (uint32_t)npz_get(p + 16, 4),
                             .deflated = method == 8 };
    if (part[0] >> 62 || part[1] >> 62 || part[2] >> 62 ||
        part[1] > (uint64_t)s->size || part[2] > (uint64_t)s->size ||
        (method == 0
             ? part[0] != part[1]
             : part[0] > NPZ_MEMBER_MAX || part[0] / NPZ_RATIO > part[1] + 1)) {
        npz_bad(s, diag, where, "a member has an impossible size");
        return 0;
    }
    to->size = (int64_t)part[0];
    to->packed = (int64_t)part[1];
    to->at = (int64_t)part[2];
    return len;
}

/* The first `size` decompressed bytes of a member; NULL after reporting. */
static unsigned char *npz_bytes(struct cr_tensor_file *s, struct cr_diag *diag,
                                struct cr_arena *mem, const struct npz_part *m,
                                size_t size)
{
    unsigned char *to = CR_NEWS(mem, unsigned char, size), *from;

    if (!m->deflated)
        return cr_tensor_file_pread(s, diag, m->at, to, size) ? to : NULL;
    from = CR_NEWS(mem, unsigned char, m->packed);
    if (!cr_tensor_file_pread(s, diag, m->at, from, (size_t)m->packed))
        return NULL;
    if (!cr_inflate(from, (size_t)m->packed, to, size,
                    size == (size_t)m->size)) {
        cr_error(diag, cr_at_byte(diag->arena, s->path, m->at),
                 CR_E_CKPT_DAMAGED,
                 "a compressed member cannot be decompressed");
        return NULL;
    }
    return to;
}

/* Finds the payload after the local header and reads the npy header. */
static bool npz_member(struct cr_tensor_file *s, struct cr_diag *diag,
                       int64_t limit, struct npz_part *m,
                       struct cr_tensor_info *to)
{
    struct cr_arena mem = { 0 };
    unsigned char local[30], *head;
    size_t some = m->size < CR_NPY_MAX ? (size_t)m->size : CR_NPY_MAX;
    const char *why;
    bool ok = false;

    if (limit - m->at < 30)
        return npz_bad(s, diag, m->at, "a member extends into the directory");
    if (!cr_tensor_file_pread(s, diag, m->at, local, sizeof local))
        return false;
    if (npz_get(local, 4) != NPZ_LOCAL)
        return npz_bad(s, diag, m->at,
                       "no member at the offset that the directory declares");
    m->at += 30 + (int64_t)(npz_get(local + 26, 2) + npz_get(local + 28, 2));
    if (m->at > limit || m->packed > limit - m->at)
        return npz_bad(s, diag, m->at, "a member extends into the directory");
    head = npz_bytes(s, diag, &mem, m, some);
    if (!head)
        goto done;
    if (!cr_npy_read(&mem, (const char *)head, some, &m->npy, &why)) {
        npz_bad(s, diag, m->at, cr_strdup(diag->arena, why));
        goto done;
    }
    to->spec = m->npy.spec;
    to->dtype = cr_strdup(s->arena, m->npy.descr);
    m->npy.descr = to->dtype;
    to->readable = m->npy.readable;
    to->offset = m->at + (int64_t)m->npy.data;
    to->bytes = (size_t)m->size - m->npy.data;
    ok = true;
    if (to->readable && cr_bytes(&to->spec) != to->bytes)
        ok = npz_bad(s, diag, m->at,
                     "the length of an array does not match its shape");
done:
    cr_arena_free(&mem);
    return ok;
}

static int npz_by_place(const void *a, const void *b)
{
    const struct npz_part *const *x = a, *const *y = b;

    return (*x)->at < (*y)->at ? -1 : (*x)->at > (*y)->at;
}

/* Checks that members do not overlap and have different names. */
static bool npz_check_overlap(struct cr_tensor_file *s, struct cr_diag *diag)
{
    const struct npz_part **m =
        CR_NEWS(s->arena, const struct npz_part *, s->n);

    for (int i = 0; i < s->n; i++)
        m[i] = (struct npz_part *)s->detail + i;
    qsort(m, (size_t)s->n, sizeof *m, npz_by_place);
    for (int i = 1; i < s->n; i++)
        if (m[i - 1]->at + m[i - 1]->packed > m[i]->at)
            return npz_bad(s, diag, m[i]->at, "members overlap");
    cr_tensor_file_sort(s);
    for (int i = 1; i < s->n; i++)
        if (strcmp(s->sorted[i - 1]->name, s->sorted[i]->name) == 0)
            return npz_bad(s, diag, 0, "duplicate member name");
    return true;
}

static bool npz_open(struct cr_tensor_file *s, struct cr_diag *diag)
{
    struct npz_dir dir = { 0 };
    struct npz_part *parts;
    unsigned char *p;
    size_t at = 0;

    if (s->size < 22)
        return npz_bad(s, diag, s->size, "truncated file");
    if (!npz_find_end(s, diag, &dir))
        return false;
    if (dir.at > dir.end || dir.size > dir.end - dir.at ||
        dir.n > dir.size / 46)
        return npz_bad(s, diag, dir.end, "invalid end of the zip directory");
    p = CR_NEWS(s->arena, unsigned char, dir.size);
    if (!cr_tensor_file_pread(s, diag, dir.at, p, (size_t)dir.size))
        return false;
    parts = s->detail = CR_NEWS(s->arena, struct npz_part, dir.n);
    s->entry = CR_NEWS(s->arena, struct cr_tensor_info, dir.n);
    for (int64_t i = 0; i < dir.n; i++) {
        struct npz_part *m = &parts[s->n];
        const char *name;
        size_t len;

        if ((size_t)dir.size - at < 46)
            return npz_bad(s, diag, dir.at, "truncated directory");
        len = npz_central(s, diag, dir.at + (int64_t)at, p + at,
                          (size_t)dir.size - at, m, &name);
        if (len == 0)
            return false;
        at += len;
        if (cr_ends(name, "/data.pkl") || strcmp(name, "data.pkl") == 0)
            return cr_tensor_file_pytorch(s, diag);
        if (!cr_ends(name, ".npy"))
            continue;
        s->entry[s->n].name =
            cr_strndup(s->arena, name, strlen(name) - strlen(".npy"));
        if (!npz_member(s, diag, dir.at, m, &s->entry[s->n]))
            return false;
        s->n++;
    }
    if (dir.n > 0 && s->n == 0)
        return npz_bad(s, diag, dir.at,
                       "it has no member whose name ends in .npy");
    return npz_check_overlap(s, diag);
}

/* Copies elements in Fortran order to C order. */
static void npz_from_fortran(const struct cr_spec *spec, size_t width,
                             const unsigned char *x, unsigned char *y)
{
    int64_t index[CR_RANK_MAX] = { 0 }, stride[CR_RANK_MAX];
    int64_t n = cr_count(spec), at = 0;

    for (int k = 0; k < spec->rank; k++)
        stride[k] = k == 0 ? 1 : stride[k - 1] * spec->dim[k - 1];
    for (int64_t i = 0; i < n; i++) {
        memcpy(y + (size_t)i * width, x + (size_t)at * width, width);
        for (int k = spec->rank - 1; k >= 0; k--) {
            at += stride[k];
            if (++index[k] < spec->dim[k])
                break;
            at -= stride[k] * spec->dim[k];
            index[k] = 0;
        }
    }
}

static void npz_swap(unsigned char *x, size_t width, int64_t n)
{
    for (int64_t i = 0; i < n; i++, x += width)
        for (size_t k = 0; k < width / 2; k++) {
            unsigned char byte = x[k];

            x[k] = x[width - 1 - k];
            x[width - 1 - k] = byte;
        }
}

static bool npz_read(struct cr_tensor_file *s, struct cr_diag *diag,
                     const struct cr_tensor_info *e, enum cr_type type,
                     void *to)
{
    const struct npz_part *m = (struct npz_part *)s->detail + (e - s->entry);
    struct cr_arena mem = { 0 };
    size_t width = cr_type_size(e->spec.type);
    unsigned char *x = npz_bytes(s, diag, &mem, m, (size_t)m->size), *y;
    uint32_t crc;
    bool ok = false;

    if (!x)
        goto done;
    crc = cr_crc32(0, x, (size_t)m->size);
    if (crc != m->crc) {
        cr_error(diag, cr_at_byte(diag->arena, s->path, m->at),
                 CR_E_CKPT_DAMAGED,
                 "damaged array '%s': its checksum is %08" PRIx32
                 ", but %08" PRIx32 " is stored",
                 cr_quote(diag->arena, e->name, strlen(e->name)), crc, m->crc);
        goto done;
    }
    ok = true;
    if (!to)
        goto done;
    x += m->npy.data;
    if (m->npy.swap)
        npz_swap(x, width, cr_count(&e->spec));
    if (m->npy.fortran) {
        y = CR_NEWS(&mem, unsigned char, e->bytes);
        npz_from_fortran(&e->spec, width, x, y);
        x = y;
    }
    for (size_t i = 0; e->spec.type == CR_BOOL && i < e->bytes; i++)
        x[i] = x[i] != 0;
    /* the array after the header may be unaligned, but cr_convert needs
     * alignment */
    y = CR_NEWS(&mem, unsigned char, e->bytes);
    memcpy(y, x, e->bytes);
    cr_convert(e->spec.type, y, type, to, cr_count(&e->spec));
done:
    cr_arena_free(&mem);
    return ok;
}

static bool npz_magic(const unsigned char *head)
{
    return memcmp(head, "PK\3\4", 4) == 0 || memcmp(head, "PK\5\6", 4) == 0;
}

const struct cr_tensor_format cr_tensor_format_npz = {
    .kind = "NPZ",
    .suffix = ".npz",
    .has_checksums = true,
    .magic = npz_magic,
    .open = npz_open,
    .read = npz_read,
    .write = npz_write,
};
