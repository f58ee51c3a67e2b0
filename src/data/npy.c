#include "data/npy.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked_math.h"

static const struct npy_type {
    const char *code;
    enum cr_type type;
} npy_types[] = {
    { "b1", CR_BOOL }, { "u1", CR_U8 },  { "i1", CR_I8 },  { "u2", CR_U16 },
    { "i2", CR_I16 },  { "u4", CR_U32 }, { "i4", CR_I32 }, { "u8", CR_U64 },
    { "i8", CR_I64 },  { "f2", CR_F16 }, { "f4", CR_F32 }, { "f8", CR_F64 },
};

/* ---- Reading: a Python dict literal with three keys */

struct npy_text {
    struct cr_arena *arena;
    const char *at, *end;
    bool old; /* version 1 or 2: integers may end with L */
};

static void npy_blanks(struct npy_text *t)
{
    while (t->at < t->end && strchr(" \t\n\r", *t->at) && *t->at)
        t->at++;
}

static bool npy_take(struct npy_text *t, char c)
{
    npy_blanks(t);
    if (t->at == t->end || *t->at != c)
        return false;
    t->at++;
    return true;
}

/* Reads 'text' or "text", without escapes; NULL if there is no string. */
static const char *npy_string(struct npy_text *t)
{
    const char *from, *end;
    char quote;

    npy_blanks(t);
    if (t->at == t->end || (*t->at != '\'' && *t->at != '"'))
        return NULL;
    quote = *t->at++;
    from = t->at;
    end = memchr(from, quote, (size_t)(t->end - from));
    if (!end || memchr(from, '\\', (size_t)(end - from)) ||
        memchr(from, '\0', (size_t)(end - from)))
        return NULL;
    t->at = end + 1;
    return cr_strndup(t->arena, from, (size_t)(end - from));
}

static bool npy_word(struct npy_text *t, const char *word)
{
    size_t n = strlen(word);

    npy_blanks(t);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
        return false;
    t->at += n;
    return true;
}

static bool npy_integer(struct npy_text *t, int64_t *to)
{
    const char *from;

    npy_blanks(t);
    from = t->at;
    for (*to = 0; t->at < t->end && *t->at >= '0' && *t->at <= '9'; t->at++)
        if (!cr_checked_mul(to, *to, 10) ||
            !cr_checked_add(to, *to, *t->at - '0'))
            return false;
    if (t->at == from)
        return false;
    if (t->old && t->at < t->end && *t->at == 'L')
        t->at++;
    return true;
}

/* (), (3,), (2, 3). With more than CR_RANK_MAX dimensions the rank becomes -1,
 * which is not an error. */
static bool npy_shape(struct npy_text *t, struct cr_npy *to)
{
    int rank = 0;

    if (!npy_take(t, '('))
        return false;
    while (!npy_take(t, ')')) {
        int64_t dim;

        if (!npy_integer(t, &dim))
            return false;
        if (rank < CR_RANK_MAX)
            to->spec.dim[rank] = dim;
        rank++;
        if (!npy_take(t, ',')) {
            if (rank == 1 || !npy_take(t, ')'))
                return false;
            break;
        }
    }
    to->spec.rank = rank <= CR_RANK_MAX ? rank : -1;
    return true;
}

static bool npy_descr(struct npy_text *t, struct cr_npy *to)
{
    const char *s = npy_string(t);

    if (!s)
        return false;
    to->descr = s;
    to->readable = false;
    for (size_t i = 0; *s && i < CR_LEN(npy_types); i++)
        if (strcmp(npy_types[i].code, s + 1) == 0) {
            to->spec.type = npy_types[i].type;
            to->readable = strchr("<>|=", *s) != NULL;
        }
    to->swap = *s == '>' && to->readable;
    return true;
}

static bool npy_dict(struct npy_text *t, struct cr_npy *to)
{
    unsigned seen = 0;

    if (!npy_take(t, '{'))
        return false;
    while (!npy_take(t, '}')) {
        const char *key = npy_string(t);
        unsigned bit;
        bool ok;

        if (!key || !npy_take(t, ':'))
            return false;
        if (strcmp(key, "descr") == 0) {
            bit = 1;
            ok = npy_descr(t, to);
        } else if (strcmp(key, "fortran_order") == 0) {
            bit = 2;
            to->fortran = npy_word(t, "True");
            ok = to->fortran || npy_word(t, "False");
        } else if (strcmp(key, "shape") == 0) {
            bit = 4;
            ok = npy_shape(t, to);
        } else {
            return false;
        }
        if (!ok || seen & bit)
            return false;
        seen |= bit;
        if (!npy_take(t, ',')) {
            if (!npy_take(t, '}'))
                return false;
            break;
        }
    }
    npy_blanks(t);
    to->readable = to->readable && to->spec.rank >= 0;
    return seen == 7 && t->at == t->end;
}

/* Whether the size of all elements fits into int64. */
static bool npy_fits(const struct cr_spec *spec)
{
    int64_t n = (int64_t)cr_type_size(spec->type);

    for (int k = 0; k < spec->rank; k++)
        if (!cr_checked_mul(&n, n, spec->dim[k]))
            return false;
    return true;
}

bool cr_npy_read(struct cr_arena *arena, const char *head, size_t n,
                 struct cr_npy *to, const char **why)
{
    const unsigned char *p = (const unsigned char *)head;
    struct npy_text text = { .arena = arena };
    size_t len, at;

    *to = (struct cr_npy){ 0 };
    *why = "not a .npy header";
    if (n < 12 || memcmp(head, "\x93NUMPY", 6) != 0)
        return false;
    if (p[6] < 1 || p[6] > 3 || p[7] != 0) {
        *why = "unknown version of the .npy header";
        return false;
    }
    at = p[6] == 1 ? 10 : 12;
    len = (size_t)p[8] | (size_t)p[9] << 8;
    if (p[6] > 1)
        len |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    if (len > n - at) {
        *why = "truncated .npy header";
        return false;
    }
    text.at = head + at;
    text.end = text.at + len;
    text.old = p[6] < 3;
    *why = "the .npy header is not {'descr': ..., 'fortran_order': ..., "
           "'shape': ...}";
    if (len == 0 || text.end[-1] != '\n' || !npy_dict(&text, to))
        return false;
    if (to->readable && !npy_fits(&to->spec)) {
        *why = "the .npy header declares a shape of impossible size";
        return false;
    }
    to->data = at + len;
    return true;
}

/* ---- Writing */

void cr_npy_header(struct cr_buf *to, const struct cr_spec *spec)
{
    enum cr_type type = cr_type_stored(spec->type);
    const char *code = "V2"; /* how ml_dtypes stores bfloat16 */
    struct cr_buf text = { .arena = to->arena };
    size_t all;

    for (size_t i = 0; i < CR_LEN(npy_types); i++)
        if (npy_types[i].type == type)
            code = npy_types[i].code;
    cr_buf_f(&text, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
             cr_type_size(type) == 1 ? '|' : '<', code);
    for (int k = 0; k < spec->rank; k++)
        cr_buf_f(&text, "%s%" PRId64, k > 0 ? ", " : "", spec->dim[k]);
    cr_buf_str(&text, spec->rank == 1 ? ",), }" : "), }");
    all = 10 + text.len + 1;
    all = all <= 128 ? 128 : (all + 63) / 64 * 64;
    cr_buf_add(to, "\x93NUMPY\1\0", 8);
    cr_buf_char(to, (char)((all - 10) & 0xff));
    cr_buf_char(to, (char)((all - 10) >> 8));
    cr_buf_add(to, text.text, text.len);
    for (size_t i = 10 + text.len + 1; i < all; i++)
        cr_buf_char(to, ' ');
    cr_buf_char(to, '\n');
}
