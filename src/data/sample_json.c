#include "data/sample_json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "data/features.h"
#include "data/format.h"
#include "data/vocab.h"

/* A sample of one column. */
struct stored {
    struct cr_arena *mem;
    struct cr_diag *diag; /* of its own: a sample that fails is skipped */
    struct cr_dataset *set;
    int column;
    struct cr_spec spec;
    const void *x;
};

/* ---- Reading */

static bool sample_read(struct stored *s, int64_t i)
{
    struct cr_dataset *set = s->set;
    void *scratch;

    s->spec = set->column[s->column].spec;
    if (!cr_spec_fits(&s->spec))
        return false;
    if (set->type->at && !(set->varying_shapes >> s->column & 1)) {
        s->x = set->type->at(set, i, s->column);
        if (s->x)
            return true;
    }
    scratch = cr_alloc(s->mem, cr_bytes(&s->spec) + 1, 1);
    if (set->varying_shapes >> s->column & 1) {
        if (!set->type->fetch)
            return false;
        s->x = set->type->fetch(set, s->diag, s->mem, i, s->column, scratch,
                                &s->spec);
        return s->x != NULL;
    }
    s->x = scratch;
    return set->type->read &&
           set->type->read(set, s->diag, i, s->column, scratch);
}

static double sample_at(const struct stored *s, int64_t i)
{
    double v;

    cr_convert(s->spec.type,
               (const char *)s->x + (size_t)i * cr_type_size(s->spec.type),
               CR_F64, &v, 1);
    return v;
}

/* ---- Texts and numbers */

static void sample_text(struct cr_buf *to, const char *text, size_t n)
{
    size_t len = 0;

    while (len < n) {
        uint32_t code;
        int bytes = cr_utf8(text + len, n - len, &code);

        if (len + (size_t)(bytes ? bytes : 1) > CR_SAMPLE_TEXT)
            break;
        len += (size_t)(bytes ? bytes : 1);
    }
    if (len == n) {
        cr_buf_json_n(to, text, n);
        return;
    }
    cr_buf_json_n(to, text, len);
    to->len--; /* the closing quote */
    cr_buf_str(to, " \xe2\x80\xa6\"");
}

static void sample_number(struct cr_buf *to, double v)
{
    if (isfinite(v))
        cr_buf_f(to, "%.6g", v);
    else
        cr_buf_str(to, "null");
}

/* Tokens of a vocabulary as the text that they encode. */
static bool sample_tokens(struct cr_buf *to, struct cr_config *config,
                          const struct stored *s)
{
    const struct cr_vocab *vocab =
        cr_vocab_kept(config, s->set->column[s->column].name);
    struct cr_buf text = { .arena = s->mem };

    if (!vocab || !vocab->joint || s->spec.rank != 1)
        return false;
    for (int64_t i = 0; i < cr_count(&s->spec) && text.len <= CR_SAMPLE_TEXT;
         i++) {
        double v = sample_at(s, i);

        if (!(v >= 0 && v < (double)vocab->n))
            return false;
        cr_buf_str(&text, i ? vocab->joint : "");
        if (vocab->token)
            cr_buf_str(&text, vocab->token[(int64_t)v]);
        else
            cr_buf_char(&text, (char)v);
    }
    sample_text(to, cr_buf_text(&text), text.len);
    return true;
}

static void sample_feature(struct cr_buf *to, const struct cr_feature *f,
                           double v)
{
    cr_buf_json(to, f->name);
    cr_buf_char(to, ':');
    if (f->kind == CR_FEATURE_CATEGORY && f->category && v >= 0 &&
        v < (double)f->category->words.n)
        cr_buf_json(to, f->category->words.word[(int64_t)v]);
    else
        sample_number(to, v);
}

static void sample_numbers(struct cr_buf *to, struct cr_config *config,
                           const struct stored *s)
{
    const struct cr_features *names =
        cr_features_find(config, s->set->column[s->column].name);
    int64_t n = cr_count(&s->spec);
    int64_t shown = n < CR_SAMPLE_NUMBERS ? n : CR_SAMPLE_NUMBERS;
    bool named = names && names->n == n && s->spec.rank == 1;

    if (s->spec.rank == 0) {
        sample_number(to, sample_at(s, 0));
        return;
    }
    cr_buf_char(to, named ? '{' : '[');
    for (int64_t i = 0; i < shown; i++) {
        cr_buf_str(to, i ? "," : "");
        if (named)
            sample_feature(to, &names->v[i], sample_at(s, i));
        else
            sample_number(to, sample_at(s, i));
    }
    cr_buf_char(to, named ? '}' : ']');
}

/* ---- Pictures */

static bool sample_colours(int64_t channels)
{
    return channels == 1 || channels == 3;
}

/* Whether a column is a picture; *first: whether its channels come first. */
static bool sample_picture(const struct cr_spec *s, bool *first)
{
    *first = false;
    if (s->type != CR_U8 && s->type != CR_REAL && s->type != CR_F32)
        return false;
    if (s->rank == 2)
        return s->dim[0] > 3 && s->dim[1] > 3;
    if (s->rank != 3)
        return false;
    *first = sample_colours(s->dim[0]) &&
             !(s->type == CR_U8 && sample_colours(s->dim[2]));
    return *first ? s->dim[1] > 3 && s->dim[2] > 3
                  : sample_colours(s->dim[2]) && s->dim[0] > 3 &&
                        s->dim[1] > 3;
}

/* The bytes in base64 (RFC 4648). */
static void sample_base64(struct cr_buf *to, const char *bytes, size_t n)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrst"
                                "uvwxyz0123456789+/";
    const unsigned char *p = (const unsigned char *)bytes;

    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)p[i] << 16;
        char four[4];

        v |= i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0;
        v |= i + 2 < n ? (uint32_t)p[i + 2] : 0;
        for (int k = 0; k < 4; k++)
            four[k] = digit[v >> (18 - 6 * k) & 63];
        for (size_t k = n - i + 1; k < 4; k++)
            four[k] = '=';
        cr_buf_add(to, four, 4);
    }
}

/* A picture, reduced by an integer factor: a pixel is the mean of a square of
 * pixels. Values that are not bytes are scaled, their minimum to 0, their
 * maximum to 255. */
static void sample_png(struct cr_buf *to, const struct stored *s, bool first)
{
    int64_t h = s->spec.dim[first], w = s->spec.dim[first + 1];
    int64_t channels = s->spec.rank == 2 ? 1 : s->spec.dim[first ? 0 : 2];
    int64_t side = h > w ? h : w;
    int64_t by = (side + CR_SAMPLE_PIXELS - 1) / CR_SAMPLE_PIXELS;
    struct cr_spec out = { CR_U8, CR_ROW_MAJOR, 3,
                           { (h + by - 1) / by, (w + by - 1) / by, channels } };
    unsigned char *pixel = cr_alloc(s->mem, (size_t)cr_count(&out), 1);
    struct cr_buf png = { .arena = s->mem };
    double low = 0, high = 255;

    if (s->spec.type != CR_U8) {
        low = INFINITY;
        high = -INFINITY;
        for (int64_t i = 0; i < cr_count(&s->spec); i++) {
            double v = sample_at(s, i);

            low = v < low ? v : low;
            high = v > high ? v : high;
        }
    }
    for (int64_t i = 0; i < cr_count(&out); i++) {
        int64_t c = i % channels, x = i / channels % out.dim[1] * by;
        int64_t y = i / channels / out.dim[1] * by, n = 0;
        double sum = 0;

        for (int64_t a = y; a < y + by && a < h; a++)
            for (int64_t b = x; b < x + by && b < w; b++, n++)
                sum += sample_at(s, first ? (c * h + a) * w + b
                                          : (a * w + b) * channels + c);
        sum = high > low ? (sum / (double)n - low) / (high - low) * 255 : 0;
        pixel[i] = (unsigned char)(sum >= 255 ? 255 : sum > 0 ? sum + 0.5 : 0);
    }
    if (!cr_format_find("png")->encode(s->diag, &out, pixel, &png)) {
        cr_buf_str(to, "null");
        return;
    }
    cr_buf_f(to, "{\"height\":%" PRId64 ",\"width\":%" PRId64 ",\"png\":\"",
             out.dim[0], out.dim[1]);
    sample_base64(to, png.text, png.len);
    cr_buf_str(to, "\"}");
}

/* ---- A sample */

static bool sample_column(struct cr_buf *to, struct cr_config *config,
                          struct stored *s, int64_t i)
{
    const char *name = s->set->column[s->column].name;
    size_t before = to->len;
    struct cr_ragged text;
    bool first;

    cr_buf_str(to, before && to->text[before - 1] != '{' ? "," : "");
    cr_buf_json(to, name);
    cr_buf_char(to, ':');
    if (s->set->column[s->column].spec.type == CR_STRING) {
        if (s->set->type->text &&
            s->set->type->text(s->set, s->diag, i, s->column, s->mem, &text)) {
            sample_text(to, text.v, (size_t)text.n);
            return true;
        }
    } else if (sample_read(s, i)) {
        if (sample_picture(&s->spec, &first))
            sample_png(to, s, first);
        else if (!sample_tokens(to, config, s))
            sample_numbers(to, config, s);
        return true;
    }
    to->len = before;
    to->text[before] = '\0';
    return false;
}

void cr_sample_json(struct cr_buf *to, struct cr_config *config,
                    const struct cr_data_loader *loader, int64_t sample,
                    const char *label)
{
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    struct stored s = { .mem = &mem, .diag = &diag };

    /* data sets are opened for reading by the loader that owns them */
    s.set = (struct cr_dataset *)(uintptr_t)cr_data_loader_dataset(loader);
    cr_buf_char(to, '{');
    if (sample >= 0 && sample < s.set->count)
        for (s.column = 0; s.column < s.set->columns; s.column++)
            if (!label || strcmp(s.set->column[s.column].name, label) != 0)
                sample_column(to, config, &s, sample);
    cr_buf_char(to, '}');
    cr_arena_free(&mem);
}
