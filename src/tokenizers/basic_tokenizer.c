/* BasicTokenizer: words and punctuation, as in BERT and MindSpore.
 *
 * With lower_case each character is folded first (data/unicode.h). Control
 * characters count as spaces. Each punctuation character, ASCII symbol and
 * ideograph is a token; so is each run of other characters. With
 * preserve_unused_token [CLS] [SEP] [UNK] [PAD] [MASK] and [unusedN] are tokens
 * and are not folded. (MindSpore 2.10 repeats the text before such a token if
 * lower_case is set too; cellrun does not.) */
#include "base/str.h"
#include "data/tokenizer.h"
#include "data/unicode.h"

#include <string.h>

struct basic_tokenizer {
    bool lower_case, keep_whitespace, preserve_unused_token;
};

static const struct cr_opt basic_tokenizer_opts[] = {
    CR_BOOL_DEFAULT(struct basic_tokenizer, lower_case, false,
                    "Fold to lower case and remove accents."),
    CR_BOOL_DEFAULT(struct basic_tokenizer, keep_whitespace, false,
                    "Make runs of white space tokens too."),
    CR_BOOL_DEFAULT(
        struct basic_tokenizer, preserve_unused_token, true,
        "Make each of [CLS], [SEP], [UNK], [PAD], [MASK] and [unused0] "
        "... one token."),
    { 0 },
};

/* The length of a special token at the start of the text; 0: none. */
static size_t basic_special(const char *text, size_t len)
{
    static const char *const words[] = { "[CLS]", "[SEP]", "[UNK]", "[PAD]",
                                         "[MASK]" };
    size_t i, n;

    for (i = 0; i < CR_LEN(words); i++) {
        n = strlen(words[i]);
        if (len >= n && memcmp(text, words[i], n) == 0)
            return n;
    }
    n = strlen("[unused");
    if (len <= n || memcmp(text, "[unused", n) != 0)
        return 0;
    for (i = n; i < len && text[i] >= '0' && text[i] <= '9'; i++)
        ;
    return i > n && i < len && text[i] == ']' ? i + 1 : 0;
}

enum basic_class { BASIC_WORD, BASIC_SPACE, BASIC_ALONE };

static enum basic_class basic_class(uint32_t c)
{
    if (c < 0x80) {
        if (c <= ' ' || c == 0x7f)
            return BASIC_SPACE;
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
                       (c >= 'A' && c <= 'Z')
                   ? BASIC_WORD
                   : BASIC_ALONE;
    }
    if (cr_is_ideograph(c))
        return BASIC_ALONE;
    if (cr_is_space(c) || cr_is_control(c))
        return BASIC_SPACE;
    return cr_is_punctuation(c) ? BASIC_ALONE : BASIC_WORD;
}

/* The token under construction: a word, or a run of spaces. */
struct basic_run {
    struct cr_buf text;
    bool space;
};

static void basic_end(struct basic_run *run, struct cr_tokens *to, bool keep)
{
    if (run->text.len > 0 && (!run->space || keep))
        cr_tokens_add(to, run->text.text, run->text.len);
    run->text.len = 0;
}

static void basic_character(const struct basic_tokenizer *o,
                            struct basic_run *run, uint32_t c,
                            struct cr_tokens *to)
{
    enum basic_class class = basic_class(c);
    char bytes[4];
    int n;

    if (cr_is_control(c))
        c = ' ';
    if (class == BASIC_ALONE || (class == BASIC_SPACE) != run->space)
        basic_end(run, to, o->keep_whitespace);
    run->space = class == BASIC_SPACE;
    n = cr_put_utf8(c, bytes);
    cr_buf_add(&run->text, bytes, (size_t)n);
    if (class == BASIC_ALONE)
        basic_end(run, to, true);
}

static bool basic_split(const void *opts, struct cr_diag *diag,
                        const char *text, size_t len, struct cr_tokens *to)
{
    const struct basic_tokenizer *o = opts;
    struct basic_run run = { .text = { .arena = to->mem } };
    uint32_t c, folded[CR_FOLD_MAX];
    size_t at = 0;

    while (at < len) {
        size_t special = o->preserve_unused_token && text[at] == '['
                             ? basic_special(text + at, len - at)
                             : 0;
        int used, n, i;

        if (special) {
            basic_end(&run, to, o->keep_whitespace);
            cr_tokens_add(to, text + at, special);
            at += special;
            continue;
        }
        used = cr_utf8(text + at, len - at, &c);
        if (used == 0)
            return cr_error(diag, CR_NOWHERE, CR_E_DATA_FORMAT,
                            "BasicTokenizer: the text is not UTF-8 from byte "
                            "%zu on",
                            at);
        at += (size_t)used;
        if (!o->lower_case) {
            basic_character(o, &run, c, to);
            continue;
        }
        n = cr_fold(c, folded);
        for (i = 0; i < n; i++)
            basic_character(o, &run, folded[i], to);
    }
    basic_end(&run, to, o->keep_whitespace);
    return true;
}

const struct cr_tokenizer cr_tokenizer_basic_tokenizer = {
    .about = {
        .name = "BasicTokenizer",
        .summary = "BERT's basic tokenizer: words and punctuation.",
        .detail = "Splits at white space; each punctuation character, ASCII "
                  "symbol and CJK ideograph is a token. The text must be "
                  "UTF-8.",
        .example = "datapipe:\n"
                   "  text: [{BasicTokenizer: {lower_case: true}}, {Lookup: "
                   "{vocab: text, unknown_token: \"<unk>\"}}]\n",
        .opts = basic_tokenizer_opts,
        .size = sizeof(struct basic_tokenizer),
    },
    .split = basic_split,
};
