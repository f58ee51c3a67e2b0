/* CharSequenceDataset: windows over one long text.
 *
 * The files, joined, are a text of n characters, of which `span` is used,
 * c(0) .. c(m-1). Sample i starts at s = i stride:
 *   tokens = c(s) .. c(s+T-1)    label = c(s+1) .. c(s+T)    T = seq_len
 * so there are (m - 1 - T) / stride + 1 samples. The vocabulary holds the
 * characters of the whole training text, whatever the span, in the order of
 * their code points. */
#include "base/checked_math.h"
#include "base/str.h"
#include "data/array.h"
#include "data/fingerprint.h"
#include "data/vocab.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { UNIT_CHAR, UNIT_BYTE };

struct char_sequence {
    struct cr_strs files;
    int64_t seq_len;
    const struct cr_node *span;
    int64_t stride;
    int unit;
    int64_t num_samples;
    const struct cr_node *shuffle;
};

static const struct cr_opt char_sequence_opts[] = {
    CR_STRS(struct char_sequence, files,
            "Text files, read as one text in this order; relative to the "
            "config, then to the folders of CELLRUN_DATA."),
    CR_INT(struct char_sequence, seq_len, 1, 1 << 24, "Characters per sample."),
    CR_NODE(struct char_sequence, span,
            "The range of the text to use, [from, before]: numbers of "
            "characters or percentages, such as [0%, 90%]. Default: all of "
            "it."),
    CR_INT_OPTIONAL(
        struct char_sequence, stride, 1, CR_DIM_MAX,
        "Characters from the start of a sample to the start of the "
        "next one. Default: seq_len, so that samples do not overlap."),
    CR_ENUM_DEFAULT(
        struct char_sequence, unit, UNIT_CHAR, "char|byte",
        "Unit of the sequence. char: characters of UTF-8 text, with a "
        "vocabulary of those that occur. byte: bytes of any file, 256 "
        "tokens."),
    CR_INT_OPTIONAL(
        struct char_sequence, num_samples, 1, CR_DIM_MAX,
        "Use only this many samples: the first ones or, if shuffled, "
        "a new random choice in each epoch."),
    CR_NODE(struct char_sequence, shuffle,
            "Shuffle anew in each epoch. Default: true for training data, "
            "else false."),
    { 0 },
};

struct piece {
    struct cr_bytes *bytes;
    const char *text;
    size_t len;
    size_t mark;            /* bytes before the text */
};

struct text {
    struct cr_config *config;
    const struct char_sequence *o;
    const struct cr_vocab *vocab;
    struct piece *piece;
    int n;                  /* pieces that are open */
    int64_t units;          /* of the whole text */
    int64_t from, to;       /* the span */
    int64_t stride;
    int width;              /* bytes of an entry of ids: 1, 2 or 4 */
    void *ids;              /* of the span; NULL before it is loaded */
};

/* ---- the text ---- */

static struct cr_pos text_place(const struct text *t, int k, size_t at)
{
    const struct piece *p = &t->piece[k];

    return cr_at_byte(t->config->arena, cr_bytes_path(p->bytes),
                      (int64_t)(p->mark + at));
}

static bool refuse_at(struct text *t, int k, size_t at, const char *what)
{
    struct cr_diag *diag = t->config->diag;

    cr_error(diag, text_place(t, k, at), CR_E_DATA_FORMAT, "%s", what);
    cr_hint(diag, "use unit: byte to read any file");
    return false;
}

/* Counts the characters of file k, checks that they are UTF-8 without NUL and,
 * if `seen` is not NULL, sets the bit of each code point in it. */
static bool count_chars(struct text *t, int k, unsigned char *seen,
                        int64_t *count)
{
    const struct piece *p = &t->piece[k];
    size_t at = 0;
    uint32_t code;
    int len;

    for (*count = 0; at < p->len; ++*count) {
        code = (unsigned char)p->text[at];
        len = 1;
        if (code >= 0x80)
            len = cr_utf8(p->text + at, p->len - at, &code);
        if (len == 0)
            return refuse_at(t, k, at, "the text is not UTF-8");
        if (code == 0)
            return refuse_at(t, k, at, "the text has a NUL byte");
        if (seen)
            seen[code / 8] |= (unsigned char)(1 << code % 8);
        at += (size_t)len;
    }
    return true;
}

static bool open_file(struct text *t, const char *name, struct cr_pos pos,
                      struct cr_dataset *to)
{
    struct cr_config *config = t->config;
    const char *path = cr_config_path(config, CR_READ_DATA, name);
    struct piece *p = &t->piece[t->n];
    unsigned char head[2];
    size_t got;

    if (!cr_config_may_path(config, CR_READ_DATA, name))
        return false;
    if (!path)
        return cr_config_path_missing(config, pos, "file", name);
    p->bytes = cr_bytes_open(config->arena, config->diag, path, head,
                             sizeof head, &got);
    if (!p->bytes)
        return false;
    t->n++;
    p->len = cr_bytes_length(p->bytes);
    if (got == 2 && head[0] == 0x1f && head[1] == 0x8b)
        return cr_error(config->diag, cr_at_file(config->arena, path),
                        CR_E_DATA_FORMAT,
                        "found a gzip file, expected text; decompress it");
    p->text = (const char *)cr_bytes_all(p->bytes, config->diag, p->len);
    to->fingerprint = cr_fingerprint_name(to->fingerprint, path, p->len);
    if (p->text && t->o->unit == UNIT_CHAR) {
        p->mark = cr_bom(p->text, p->len);
        p->text += p->mark;
        p->len -= p->mark;
    }
    return p->text != NULL &&
           cr_fingerprint_contents(config->diag, &to->contents, path);
}

/* Opens all files; with unit char, reads and checks them once. */
static bool text_open(struct text *t, struct cr_config *config,
                      const struct char_sequence *o, struct cr_pos pos,
                      unsigned char *seen, struct cr_dataset *to)
{
    bool ok = true;
    int64_t count;
    int k;

    t->config = config;
    t->o = o;
    t->piece = CR_NEWS(config->arena, struct piece, o->files.n + 1);
    for (k = 0; k < o->files.n; k++)
        ok = open_file(t, o->files.v[k], pos, to) && ok;
    for (k = 0; k < t->n && ok; k++) {
        count = (int64_t)t->piece[k].len;
        if (o->unit == UNIT_CHAR)
            ok = count_chars(t, k, seen, &count);
        t->units += count;
    }
    return ok;
}

static void text_close(struct text *t)
{
    int k;

    for (k = 0; k < t->n; k++)
        cr_bytes_close(t->piece[k].bytes);
    t->n = 0;
    free(t->ids);
    t->ids = NULL;
}

/* ---- the vocabulary ---- */

#define CODES 0x110000

static const char *utf8_of(struct cr_arena *arena, uint32_t c)
{
    char s[5] = { 0 };

    if (c < 0x80) {
        s[0] = (char)c;
    } else if (c < 0x800) {
        s[0] = (char)(0xc0 | c >> 6);
        s[1] = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        s[0] = (char)(0xe0 | c >> 12);
        s[1] = (char)(0x80 | (c >> 6 & 0x3f));
        s[2] = (char)(0x80 | (c & 0x3f));
    } else {
        s[0] = (char)(0xf0 | c >> 18);
        s[1] = (char)(0x80 | (c >> 12 & 0x3f));
        s[2] = (char)(0x80 | (c >> 6 & 0x3f));
        s[3] = (char)(0x80 | (c & 0x3f));
    }
    return cr_strdup(arena, s);
}

static struct cr_vocab *char_sequence_vocab(struct cr_config *config,
                                            const void *opts,
                                            struct cr_pos pos,
                                            const char *column)
{
    const struct char_sequence *o = opts;
    struct text t = { 0 };
    unsigned char *seen;
    const char **token;
    struct cr_vocab *loaded;
    struct cr_dataset none = { 0 };
    uint32_t c;
    int64_t n = 0;
    bool ok;

    if (strcmp(column, "tokens") != 0)
        return NULL;
    if (o->unit == UNIT_BYTE)
        return cr_vocab_make(config->arena, "tokens", 256, NULL, "");
    if (!cr_vocab_loaded(config, "tokens", &loaded))
        return NULL;
    if (loaded)
        return loaded;
    seen = CR_NEWS(config->arena, unsigned char, CODES / 8);
    ok = text_open(&t, config, o, pos, seen, &none);
    text_close(&t);
    if (!ok)
        return NULL;
    for (c = 0; c < CODES; c++)
        n += seen[c / 8] >> c % 8 & 1;
    if (n == 0) {
        cr_error(config->diag, pos, CR_E_DATA_EMPTY, "the text is empty");
        return NULL;
    }
    token = CR_NEWS(config->arena, const char *, n);
    for (c = 0, n = 0; c < CODES; c++)
        if (seen[c / 8] >> c % 8 & 1)
            token[n++] = utf8_of(config->arena, c);
    return cr_vocab_make(config->arena, "tokens", n, token, "");
}

/* ---- the data set ---- */

/* One end of the span, in characters. */
static bool span_end(struct text *t, const struct cr_node *node, int64_t *to)
{
    struct cr_diag *diag = t->config->diag;
    struct cr_quantity a;

    if (!cr_quantity_read(diag, node, CR_SAMPLES, &a))
        return false;
    if (a.unit != CR_PERCENT && (a.unit != CR_SAMPLES ||
                                 node->kind != CR_NODE_INT))
        return cr_error(diag, node->pos, CR_E_UNIT,
                        "span: found %s, expected a number of characters or "
                        "a percentage",
                        cr_node_what(t->config->arena, node));
    if (a.value < 0 || (a.unit == CR_PERCENT && a.value > 100))
        return cr_error(diag, node->pos, CR_E_OUT_OF_RANGE,
                        "span: found %s, expected 0%% to 100%%",
                        cr_node_what(t->config->arena, node));
    /* slightly more, since 29% of 100 gives 28.999999999999996 */
    *to = a.unit == CR_PERCENT
              ? (int64_t)floor(a.value / 100 * (double)t->units * (1 + 1e-15) +
                               1e-9)
              : (int64_t)fmin(a.value, 9e18);
    return true;
}

static bool span_read(struct text *t)
{
    const struct cr_node *node = t->o->span;
    struct cr_diag *diag = t->config->diag;

    t->to = t->units;
    if (!node || node->kind == CR_NODE_NULL)
        return true;
    if (node->kind != CR_NODE_LIST || cr_node_count(node) != 2)
        return cr_error(diag, node->pos, CR_E_WRONG_TYPE,
                        "span: found %s, expected a list [from, before]",
                        cr_node_what(t->config->arena, node));
    if (!span_end(t, node->child, &t->from) ||
        !span_end(t, node->child->next, &t->to))
        return false;
    if (t->from > t->to)
        return cr_error(diag, node->pos, CR_E_OUT_OF_RANGE,
                        "span: the end is before the start");
    if (t->to > t->units)
        return cr_error(diag, node->pos, CR_E_OUT_OF_RANGE,
                        "span ends at character %lld, but the text has only "
                        "%lld",
                        (long long)t->to, (long long)t->units);
    return true;
}

static bool char_sequence_open(struct cr_config *config, const void *opts,
                               struct cr_pos pos, struct cr_dataset *to)
{
    struct text *t = CR_NEW(config->arena, struct text);
    const struct char_sequence *o = opts;
    int64_t length;
    int c;

    to->self = t;
    if (!text_open(t, config, o, pos, NULL, to) ||
        !span_read(t))
        return false;
    t->vocab = cr_vocab_of(config, "tokens", pos);
    if (!t->vocab)
        return false;
    if ((t->vocab->token == NULL) != (o->unit == UNIT_BYTE))
        return cr_error(config->diag, pos, CR_E_CONFLICT,
                        "unit is %s, but the vocabulary of %s holds %s",
                        o->unit == UNIT_BYTE ? "byte" : "char",
                        t->vocab->file ? t->vocab->file : "'tokens'",
                        o->unit == UNIT_BYTE ? "characters" : "bytes");
    t->stride = o->stride == CR_INT_NONE ? o->seq_len : o->stride;
    t->width = t->vocab->n <= 256 ? 1 : t->vocab->n <= 65536 ? 2 : 4;
    length = t->to - t->from;
    if (length <= o->seq_len)
        return cr_error(config->diag, pos, CR_E_DATA_EMPTY,
                        "the text has %lld characters here, but seq_len %lld "
                        "needs at least %lld",
                        (long long)length, (long long)o->seq_len,
                        (long long)o->seq_len + 1);
    to->count = (length - 1 - o->seq_len) / t->stride + 1;
    to->classes = t->vocab->n;
    to->columns = 2;
    to->column[0].name = "tokens";
    to->column[1].name = "label";
    for (c = 0; c < 2; c++)
        to->column[c].spec = (struct cr_spec){
            .type = CR_I32, .rank = 1, .dim = { o->seq_len }
        };
    return true;
}

static void id_put(struct text *t, int64_t i, int64_t id)
{
    if (t->width == 1)
        ((uint8_t *)t->ids)[i] = (uint8_t)id;
    else if (t->width == 2)
        ((uint16_t *)t->ids)[i] = (uint16_t)id;
    else
        ((int32_t *)t->ids)[i] = (int32_t)id;
}

/* The characters of the text that are not in the vocabulary. */
struct lacking {
    struct cr_pos first;    /* the first of them in the text */
    unsigned char *code;    /* bit of each code point; NULL: none */
};

static void lacking_add(struct text *t, struct lacking *l, int k, size_t at,
                        uint32_t code)
{
    struct cr_arena *arena = t->config->arena;

    if (!l->code) {
        l->code = CR_NEWS(arena, unsigned char, CODES / 8);
        l->first = text_place(t, k, at);
    }
    l->code[code / 8] |= (unsigned char)(1 << code % 8);
}

#define LACKING_SHOWN 50

/* Reports them all; true if there are none. */
static bool lacking_report(const struct text *t, struct cr_diag *diag,
                           const struct lacking *l)
{
    struct cr_arena *arena = diag->arena;
    struct cr_buf list = { .arena = arena };
    const char *of = t->vocab->file;
    int n = 0;

    if (!l->code)
        return true;
    for (uint32_t c = 0; c < CODES; c++) {
        const char *s;

        if (!(l->code[c / 8] >> c % 8 & 1) || n++ >= LACKING_SHOWN)
            continue;
        s = utf8_of(arena, c);
        cr_buf_f(&list, "%s'%s'", n > 1 ? " " : "",
                 cr_quote(arena, s, strlen(s)));
    }
    if (n > LACKING_SHOWN)
        cr_buf_f(&list, " and %d more", n - LACKING_SHOWN);
    cr_error(diag, l->first, CR_E_DATA_RANGE,
             "the character%s %s %s not in the vocabulary of %s",
             n > 1 ? "s" : "", cr_buf_text(&list), n > 1 ? "are" : "is",
             of ? of : "the training data");
    if (of)
        cr_hint(diag, "replace or remove them in the text, or build a new "
                      "vocabulary with load: {ckpt: ..., vocab: false, skip: "
                      "[...]}, where skip lists the weights of tokens");
    return false;
}

/* Stores the indices of the characters of file k that are in the span; *at is
 * the position of its first character in the text, and then of its end. */
static void load_piece(struct text *t, int k, const int64_t *ascii,
                       int64_t *at, struct lacking *lacking)
{
    const struct piece *p = &t->piece[k];
    bool bytes = t->o->unit == UNIT_BYTE;
    size_t i = 0;

    for (; i < p->len && *at < t->to; ++*at) {
        unsigned char first = (unsigned char)p->text[i];
        uint32_t code = first;
        int len = 1;
        int64_t id;

        if (!bytes && first >= 0x80)
            len = cr_utf8(p->text + i, p->len - i, &code);
        if (*at >= t->from) {
            id = bytes ? first
                 : first < 0x80
                     ? ascii[first]
                     : cr_vocab_find(t->vocab, p->text + i, (size_t)len);
            if (id < 0)
                lacking_add(t, lacking, k, i, code);
            id_put(t, *at - t->from, id);
        }
        i += (size_t)(len > 0 ? len : 1);
    }
}

static bool char_sequence_load(struct cr_dataset *set, struct cr_diag *diag)
{
    struct text *t = set->self;
    int64_t ascii[0x80], at = 0, size;
    struct lacking lacking = { 0 };
    char c;
    int k;

    if (t->ids)
        return true;
    if (!cr_checked_mul(&size, t->to - t->from, t->width) ||
        !(t->ids = malloc((size_t)size)))
        cr_out_of_memory((size_t)(t->to - t->from) * (size_t)t->width);
    for (k = 0; k < 0x80; k++) {
        c = (char)k;
        ascii[k] = cr_vocab_find(t->vocab, &c, 1);
    }
    for (k = 0; k < t->n; k++)
        load_piece(t, k, ascii, &at, &lacking);
    return lacking_report(t, diag, &lacking);
}

static bool char_sequence_read(struct cr_dataset *set, struct cr_diag *diag,
                               int64_t i, int column, void *to)
{
    const struct text *t = set->self;
    int64_t from = i * t->stride + column, k, n = t->o->seq_len;
    int32_t *y = to;

    (void)diag;
    if (t->width == 1)
        for (k = 0; k < n; k++)
            y[k] = ((const uint8_t *)t->ids)[from + k];
    else if (t->width == 2)
        for (k = 0; k < n; k++)
            y[k] = ((const uint16_t *)t->ids)[from + k];
    else
        memcpy(y, (const int32_t *)t->ids + from, (size_t)n * sizeof *y);
    return true;
}

static void char_sequence_close(struct cr_dataset *set)
{
    text_close(set->self);
}

static bool char_sequence_replace(struct cr_config *config, void *opts,
                                  struct cr_pos pos, const char *path)
{
    struct char_sequence *o = opts;
    const char **file = CR_NEW(config->arena, const char *);

    (void)pos;
    *file = path;
    o->files = (struct cr_strs){ .n = 1, .v = file };
    o->span = NULL; /* of the other text */
    return true;
}

const struct cr_dataset_type cr_dataset_char_sequence = {
    .about = {
        .name = "CharSequenceDataset",
        .summary = "Sequences of characters from text files.",
        .detail = "Columns: tokens, int32 (seq_len), and label, tokens "
                  "shifted by one character; a byte order mark at the "
                  "beginning of a file is none. "
                  "$vocab.tokens.size is the number "
                  "of distinct characters in the whole training text, "
                  "whatever the span. With `load`, characters are those of "
                  "its checkpoint, so that training continues on another text "
                  "with the same indices; characters that it lacks are "
                  "errors. The tokens of unit: byte are the same for all "
                  "texts.",
        .example = "dataset:\n"
                   "  train: {CharSequenceDataset: {files: "
                   "tinyshakespeare.txt, seq_len: 128, span: [0%, 90%]}}\n"
                   "  eval: {CharSequenceDataset: {files: "
                   "tinyshakespeare.txt, seq_len: 128, span: [90%, 100%]}}\n",
        .opts = char_sequence_opts,
        .size = sizeof(struct char_sequence),
    },
    .open = char_sequence_open,
    .load = char_sequence_load,
    .read = char_sequence_read,
    .close = char_sequence_close,
    .vocab = char_sequence_vocab,
    .replace = char_sequence_replace,
    .suffixes = ".txt",
    .copy_only = true,
};
