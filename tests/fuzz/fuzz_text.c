/*
 * Any bytes as text: sequences of characters and of bytes with their
 * vocabulary; the words of a table's column, counted, numbered, cut and
 * padded; a file of tokens; and each tokenizer alone. Whatever is not
 * refused gives numbers below the vocabulary's size.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/str.h"
#include "data/data_loader.h"
#include "data/tokenizer.h"
#include "data/vocab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char *const sequences[] = {
    "seq_len: 3",
    "seq_len: 1, stride: 2, num_samples: 5",
    "seq_len: 2, span: [10%, 90%]",
    "seq_len: 3, unit: byte",
};

#define TABLE                                                               \
    "dataset: {train: {CSVDataset: {dataset_files: %s, header: false, "     \
    "field_delim: \"\\x01\", columns: {text: {fields: 0, type: string}}}}}\n"

/* %s: the file; where it appears twice, also that of the tokens. */
static const char *const words[] = {
    TABLE "vocab: {text: {tokenizer: BasicTokenizer, lower_case: true, "
          "vocab_size: 9, special_tokens: [\"<pad>\", \"<unk>\"]}}\n"
          "datapipe: {text: [{BasicTokenizer: {lower_case: true}}, "
          "{Truncate: {max_seq_len: 4}}, {Lookup: {vocab: text, "
          "unknown_token: \"<unk>\"}}, {PadEnd: {pad_shape: [4], pad_value: "
          "0}}], batch: {batch_size: 3}, workers: 0}\n",
    TABLE "vocab: {text: {tokenizer: {BasicTokenizer: {keep_whitespace: "
          "true}}, special_tokens: [\"<pad>\"]}}\n"
          "datapipe: {text: [{BasicTokenizer: {keep_whitespace: true}}, "
          "{Lookup: {vocab: text}}, {PadEnd: {pad_shape: [64], pad_value: "
          "0}}], batch: {batch_size: 3}, workers: 0}\n",
    TABLE "vocab: {text: {file: %s, special_tokens: [\"<unk>\"]}}\n"
          "datapipe: {text: [{BasicTokenizer: {preserve_unused_token: "
          "false}}, {Truncate: {max_seq_len: 5}}, {Lookup: {vocab: text, "
          "unknown_token: \"<unk>\"}}, {PadEnd: {pad_shape: [5], pad_value: "
          "0}}], batch: {batch_size: 3}, workers: 0}\n",
};

static const char *const tokenizers[] = {
    "{}", "{lower_case: true}", "{keep_whitespace: true}",
    "{lower_case: true, keep_whitespace: true, preserve_unused_token: false}",
};

/* Every number of every batch; `next`: the label is the tokens a place on. */
static void run(struct cr_arena *mem, const char *text, const char *column,
                bool next)
{
    struct cr_diag diag = { .arena = mem };
    struct cr_config_from from = { .text = text, .text_name = "t",
                                   .text_dir = "/" };
    struct cr_config *config = cr_config_load(mem, &diag, &from);
    struct cr_data_loader_opts want = { .split = "train", .batch_size = 3 };
    struct cr_data_loader *loader =
        diag.errors == 0 ? cr_data_loader_open(config, &want) : NULL;
    const struct cr_vocab *vocab =
        loader ? cr_vocab_of(config, column, CR_NOWHERE) : NULL;
    const struct cr_batch *b;

    /* refused without a word, or the other way round */
    if (!vocab != (diag.errors > 0))
        abort();
    while (vocab && (b = cr_data_loader_next(loader, &diag))) {
        int n;
        int64_t each = cr_count(&cr_data_loader_columns(loader, &n)[0].spec);
        const int32_t *x = b->data[0], *y = next ? b->data[1] : NULL;

        for (int64_t i = 0; i < b->n * each; i++) {
            if (x[i] < 0 || x[i] >= vocab->n)
                abort();
            if (y && i % each < each - 1 && y[i] != x[i + 1])
                abort();
        }
    }
    for (int64_t i = 0; vocab && vocab->token && i < vocab->n; i++)
        if (cr_vocab_find(vocab, vocab->token[i], strlen(vocab->token[i])) != i)
            abort();
    cr_data_loader_close(loader);
}

/* No word is empty or longer than the text. */
static void split(struct cr_arena *mem, const uint8_t *data, size_t size,
                  const char *args)
{
    const struct cr_descriptor *about =
        cr_registry_find(CR_KIND_TOKENIZER, "BasicTokenizer");
    const struct cr_tokenizer *tokenizer = (const struct cr_tokenizer *)about;
    struct cr_diag diag = { .arena = mem };
    struct cr_config_from from = { .text_name = "t" };
    struct cr_tokens tokens = { .mem = mem };
    struct cr_config *config;
    struct cr_obj obj;
    bool ok;

    from.text = cr_strf(mem, "x: {BasicTokenizer: %s}", args);
    config = cr_config_load(mem, &diag, &from);
    if (!cr_obj_read(mem, &diag, CR_KIND_TOKENIZER,
                     cr_node_get(config->root, "x"), &obj))
        abort();
    diag = (struct cr_diag){ .arena = mem };
    ok = tokenizer->split(obj.opts, &diag, (const char *)data, size, &tokens);
    if (ok != (diag.errors == 0))
        abort();
    for (int64_t i = 0; ok && i < tokens.n; i++)
        if (tokens.v[i].n < 1)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cr_arena mem = { 0 };
    const char *path;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    path = cr_strf(&mem, "/proc/self/fd/%d", fd);
    for (size_t i = 0; i < CR_LEN(sequences); i++)
        run(&mem,
            cr_strf(&mem, "dataset: {train: {CharSequenceDataset: {files: %s, "
                          "%s}}}\ndatapipe: {workers: 0}\n",
                    path, sequences[i]),
            "tokens", true);
    for (size_t i = 0; i < CR_LEN(words); i++) {
        struct cr_buf text = { .arena = &mem };

        for (const char *p = words[i]; *p; p++)
            if (p[0] == '%' && p[1] == 's') {
                cr_buf_str(&text, path);
                p++;
            } else {
                cr_buf_char(&text, *p);
            }
        run(&mem, cr_buf_text(&text), "text", false);
    }
    for (size_t i = 0; i < CR_LEN(tokenizers); i++)
        split(&mem, data, size, tokenizers[i]);
    close(fd);
    cr_arena_free(&mem);
    return 0;
}
