/*
 * The safetensors container: 8 bytes length N (u64, little endian), N bytes
 * JSON header, data to the end of the file. The rules are those of the
 * reference implementation with two additions: names are unique, and a header
 * has at most 64 levels.
 */
#include "ckpt/tensor_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked_math.h"
#include "ckpt/json.h"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "tensors are read and written as they are in memory: swap them first"
#endif

#define ST_RANK_MAX 32

static const struct st_dtype {
    const char *name;
    int bits;
    enum cr_type type;
} st_dtypes[] = {
    { "F4", 4, CR_TYPES },
    { "F6_E2M3", 6, CR_TYPES },
    { "F6_E3M2", 6, CR_TYPES },
    { "BOOL", 8, CR_BOOL },
    { "U8", 8, CR_U8 },
    { "I8", 8, CR_I8 },
    { "F8_E5M2", 8, CR_TYPES },
    { "F8_E4M3", 8, CR_TYPES },
    { "F8_E8M0", 8, CR_TYPES },
    { "F8_E4M3FNUZ", 8, CR_TYPES },
    { "F8_E5M2FNUZ", 8, CR_TYPES },
    { "I16", 16, CR_I16 },
    { "U16", 16, CR_U16 },
    { "F16", 16, CR_F16 },
    { "BF16", 16, CR_BF16 },
    { "I32", 32, CR_I32 },
    { "U32", 32, CR_U32 },
    { "F32", 32, CR_F32 },
    { "C64", 64, CR_TYPES },
    { "F64", 64, CR_F64 },
    { "I64", 64, CR_I64 },
    { "U64", 64, CR_U64 },
};

int cr_st_bits(const char *dtype, enum cr_type *type)
{
    for (size_t i = 0; i < CR_LEN(st_dtypes); i++)
        if (strcmp(st_dtypes[i].name, dtype) == 0) {
            *type = st_dtypes[i].type;
            return st_dtypes[i].bits;
        }
    return 0;
}

const char *cr_st_dtype(enum cr_type type)
{
    type = cr_type_stored(type);
    for (size_t i = 0; i < CR_LEN(st_dtypes); i++)
        if (st_dtypes[i].type == type)
            return st_dtypes[i].name;
    return NULL;
}

/* ---- Reading */

struct st_parse {
    struct cr_tensor_file *file;
    struct cr_diag *diag;
    enum cr_code code; /* code of a violated rule */
};

static bool st_bad(struct st_parse *p, const char *name, const char *what)
{
    struct cr_arena *arena = p->diag->arena;

    return cr_error(p->diag, cr_at_file(arena, p->file->path), p->code,
                    "tensor '%s' %s", cr_quote(arena, name, strlen(name)),
                    what);
}

static bool st_meta(struct st_parse *p, const struct cr_node *node)
{
    struct cr_tensor_file *s = p->file;

    if (node->kind == CR_NODE_NULL)
        return true;
    if (node->kind != CR_NODE_MAP)
        return cr_error(p->diag, cr_at_file(p->diag->arena, s->path), p->code,
                        "__metadata__ is not an object of strings");
    s->n_meta = cr_node_count(node);
    s->meta = CR_NEWS(s->arena, struct cr_meta, s->n_meta);
    s->n_meta = 0;
    for (CR_EACH(m, node)) {
        if (m->kind != CR_NODE_STR)
            return cr_error(p->diag, cr_at_file(p->diag->arena, s->path),
                            p->code, "metadata '%s' is not a string",
                            cr_quote(p->diag->arena, m->key, strlen(m->key)));
        s->meta[s->n_meta++] = (struct cr_meta){ m->key, m->text };
    }
    return true;
}

/* The number of bytes of a tensor by its dtype and shape; false if it
 * overflows 63 bits. */
static bool st_bytes(const struct cr_node *shape, int bits, int64_t *bytes)
{
    int64_t n = 1;

    for (CR_EACH(d, shape))
        if (!cr_checked_mul(&n, n, d->integer))
            return false;
    if (!cr_checked_mul(&n, n, bits) || n % 8 != 0)
        return false;
    *bytes = n / 8;
    return true;
}

static bool st_is_sizes(const struct cr_node *node)
{
    if (!node || node->kind != CR_NODE_LIST)
        return false;
    for (CR_EACH(m, node))
        if (m->kind != CR_NODE_INT || m->integer < 0)
            return false;
    return true;
}

/* entry->offset is set from the start of the data. */
static bool st_entry(struct st_parse *p, const struct cr_node *node,
                     struct cr_tensor_info *to)
{
    const struct cr_node *shape = cr_node_get(node, "shape");
    const struct cr_node *offsets = cr_node_get(node, "data_offsets");
    const char *dtype = cr_json_str(node, "dtype", NULL);
    size_t len = strlen(node->key);
    enum cr_type type;
    int64_t from, end, bytes;
    int bits, rank = 0;

    if (len < 1 || len > CR_ST_NAME_MAX)
        return st_bad(p, node->key, "has a name of invalid length");
    bits = dtype ? cr_st_bits(dtype, &type) : 0;
    if (bits == 0)
        return st_bad(p, node->key, "has an unknown dtype");
    if (!st_is_sizes(shape))
        return st_bad(
            p, node->key,
            "has an invalid shape: expected a list of integers of at least 0");
    if (!st_is_sizes(offsets) || cr_node_count(offsets) != 2)
        return st_bad(p, node->key,
                      "has invalid data_offsets: expected a pair of integers");
    rank = cr_node_count(shape);
    if (rank > ST_RANK_MAX)
        return st_bad(p, node->key, "has more than 32 dimensions");
    from = offsets->child->integer;
    end = offsets->child->next->integer;
    if (!st_bytes(shape, bits, &bytes))
        return st_bad(p, node->key, "has a shape of impossible size");
    if (end < from || end - from != bytes)
        return st_bad(p, node->key,
                      "has a length that does not match its shape and dtype");
    *to = (struct cr_tensor_info){ .name = node->key,
                                   .dtype = dtype,
                                   .offset = from,
                                   .bytes = (size_t)bytes,
                                   .readable = type != CR_TYPES &&
                                               rank <= CR_RANK_MAX };
    to->spec.type = type == CR_TYPES ? CR_U8 : type;
    to->spec.rank = rank <= CR_RANK_MAX ? rank : -1;
    rank = 0;
    for (CR_EACH(d, shape))
        if (to->spec.rank >= 0)
            to->spec.dim[rank++] = d->integer;
    return true;
}

/* Orders by offset; empty tensors keep the order of the header. */
static int st_by_offset(const void *a, const void *b)
{
    const struct cr_tensor_info *x = a, *y = b;
    int64_t x_end = x->offset + (int64_t)x->bytes;
    int64_t y_end = y->offset + (int64_t)y->bytes;

    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    if (x_end != y_end)
        return x_end < y_end ? -1 : 1;
    /* crc holds the position in the header until it is known */
    return x->crc < y->crc ? -1 : x->crc > y->crc;
}

bool cr_st_parse(struct cr_tensor_file *s, struct cr_diag *diag,
                 const char *header, size_t len)
{
    struct st_parse p = { s, diag,
                          s->is_cellrun ? CR_E_CKPT_DAMAGED
                                        : CR_E_CKPT_FORMAT };
    struct cr_arena *mem = diag->arena;
    int64_t data = 8 + (int64_t)len, end = 0;
    const struct cr_node *root;
    const char *why;
    size_t at;

    root = cr_json_read(s->arena, header, len, &why, &at);
    if (!root)
        return cr_error(diag, cr_at_byte(mem, s->path, 8 + (int64_t)at), p.code,
                        "the header is not JSON: %s", why);
    if (root->kind != CR_NODE_MAP)
        return cr_error(diag, cr_at_byte(mem, s->path, 8), p.code,
                        "the header is not a JSON object");
    s->entry = CR_NEWS(s->arena, struct cr_tensor_info, cr_node_count(root));
    for (CR_EACH(m, root)) {
        if (strcmp(m->key, "__metadata__") == 0) {
            if (!st_meta(&p, m))
                return false;
        } else if (!st_entry(&p, m, &s->entry[s->n])) {
            return false;
        } else {
            s->entry[s->n].crc = (uint32_t)s->n;
            s->n++;
        }
    }
    qsort(s->entry, (size_t)s->n, sizeof *s->entry, st_by_offset);
    for (int i = 0; i < s->n; i++) {
        struct cr_tensor_info *e = &s->entry[i];

        if (e->offset != end)
            return st_bad(&p, e->name,
                          e->offset < end ? "overlaps the previous one"
                                          : "leaves a gap before it");
        if (s->is_cellrun && e->crc != (uint32_t)i)
            return st_bad(&p, e->name, "is out of order in the header");
        end += (int64_t)e->bytes;
        if (end > s->size - data)
            break;
        e->offset += data;
    }
    if (end > s->size - data)
        return cr_error(diag, cr_at_byte(mem, s->path, s->size),
                        CR_E_CKPT_DAMAGED,
                        "truncated: the tensors need at least %" PRId64
                        " bytes, but the file has only %" PRId64,
                        end, s->size - data);
    if (end < s->size - data)
        return cr_error(
            diag, cr_at_byte(mem, s->path, data + end), CR_E_CKPT_DAMAGED,
            "found %" PRId64 " unexpected bytes after the last tensor",
            s->size - data - end);
    cr_tensor_file_sort(s);
    return true;
}

/* ---- Writing */

/* Integer scalars are stored as [1]: MindSpore's CRC of 0-d ones is wrong. */
static struct cr_spec st_spec(const struct cr_tensor *t)
{
    struct cr_spec spec = t->spec;

    spec.type = cr_type_stored(spec.type);
    if (spec.rank == 0 && spec.type != CR_F32 && spec.type != CR_F64 &&
        spec.type != CR_F16 && spec.type != CR_BF16) {
        spec.rank = 1;
        spec.dim[0] = 1;
    }
    return spec;
}

size_t cr_st_size(const struct cr_tensor *tensor)
{
    return cr_bytes(&tensor->spec);
}

/* The largest power of two up to 64 that divides the length. */
static int st_alignment(const struct cr_tensor *t)
{
    size_t bytes = cr_st_size(t);
    int align = 1;

    while (align < 64 && bytes % (size_t)(2 * align) == 0)
        align *= 2;
    return align;
}

struct st_slot {
    int index, align;
    const char *name;
};

static int st_by_alignment(const void *a, const void *b)
{
    const struct st_slot *x = a, *y = b;

    return x->align != y->align ? y->align - x->align : x->index - y->index;
}

static int st_slot_by_name(const void *a, const void *b)
{
    const struct st_slot *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static bool st_name_ok(const char *name)
{
    size_t n = strlen(name);
    uint32_t code;
    int len;

    /* metadata keys must not be tensor names: MindSpore reads them as dtypes */
    if (n < 1 || n > CR_ST_NAME_MAX || strcmp(name, "format") == 0 ||
        strcmp(name, "crc_num") == 0 || strcmp(name, "__metadata__") == 0)
        return false;
    for (; n > 0; name += len, n -= (size_t)len) {
        len = cr_utf8(name, n, &code);
        if (len == 0)
            return false;
    }
    return true;
}

bool cr_st_place(struct cr_arena *arena, struct cr_diag *diag, const char *path,
                 const struct cr_tensor *tensors, int n, int **order)
{
    struct st_slot *slot = CR_NEWS(arena, struct st_slot, n);
    struct cr_pos at = cr_at_file(diag->arena, path);

    for (int i = 0; i < n; i++) {
        const char *name = tensors[i].name;

        if (!st_name_ok(name) || !cr_st_dtype(tensors[i].spec.type))
            return cr_error(diag, at, CR_E_NETWORK,
                            "a tensor named '%s' cannot be stored",
                            cr_quote(diag->arena, name, strlen(name)));
        slot[i] = (struct st_slot){ i, st_alignment(&tensors[i]), name };
    }
    qsort(slot, (size_t)n, sizeof *slot, st_slot_by_name);
    for (int i = 1; i < n; i++)
        if (strcmp(slot[i].name, slot[i - 1].name) == 0)
            return cr_error(
                diag, at, CR_E_NETWORK, "duplicate tensor name '%s'",
                cr_quote(diag->arena, slot[i].name, strlen(slot[i].name)));
    qsort(slot, (size_t)n, sizeof *slot, st_by_alignment);
    *order = CR_NEWS(arena, int, n);
    for (int i = 0; i < n; i++)
        (*order)[i] = slot[i].index;
    return true;
}

void cr_st_header(struct cr_buf *to, const struct cr_meta *meta, int n_meta,
                  const struct cr_tensor *tensors, const int *order, int n)
{
    uint64_t at = 0, len;

    cr_buf_add(to, "\0\0\0\0\0\0\0\0", 8);
    cr_buf_str(to, "{\"__metadata__\":{");
    for (int i = 0; i < n_meta; i++) {
        if (i > 0)
            cr_buf_char(to, ',');
        cr_buf_json(to, meta[i].key);
        cr_buf_char(to, ':');
        cr_buf_json(to, meta[i].value);
    }
    cr_buf_char(to, '}');
    for (int i = 0; i < n; i++) {
        const struct cr_tensor *t = &tensors[order[i]];
        struct cr_spec spec = st_spec(t);
        uint64_t end = at + cr_st_size(t);

        cr_buf_char(to, ',');
        cr_buf_json(to, t->name);
        cr_buf_f(to, ":{\"dtype\":\"%s\",\"shape\":[", cr_st_dtype(spec.type));
        for (int k = 0; k < spec.rank; k++)
            cr_buf_f(to, "%s%" PRId64, k > 0 ? "," : "", spec.dim[k]);
        cr_buf_f(to, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", at, end);
        at = end;
    }
    cr_buf_char(to, '}');
    while (to->len % 64 != 0)
        cr_buf_char(to, ' ');
    len = to->len - 8;
    for (int i = 0; i < 8; i++)
        to->text[i] = (char)(len >> 8 * i & 0xff);
}
