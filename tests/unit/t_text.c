/*
 * Text as data: sequences of characters, their vocabulary, and the sizes that
 * the data tell the config. The test writes its own files.
 */
#include "conf.h"
#include "data/data_loader.h"
#include "data/vocab.h"
#include "tap.h"

#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/cellrun-t_text-XXXXXX";
static struct cr_diag diag;

static void put(const char *name, const char *text, size_t len)
{
    struct cr_diag d = { .arena = &conf_mem };

    if (!cr_write_file(&d, cr_strf(&conf_mem, "%s/%s", folder, name), text,
                       len))
        ok(false, "%s is written", name);
}

/* A config in the folder. */
static struct cr_config *config_of(const char *text)
{
    diag = (struct cr_diag){ .arena = &conf_mem };
    return cr_config_load(&conf_mem, &diag,
                          &(struct cr_config_from){ .text = text,
                                                    .text_name = "t",
                                                    .text_dir = folder });
}

static struct cr_config *char_config(const char *args)
{
    return config_of(
        cr_strf(&conf_mem, "dataset: {train: {CharSequenceDataset: {%s}}}\n"
                           "n: $vocab.tokens.size\n",
                args));
}

/* The sequences as text, "ab>bc ": tokens, then the label; or messages. */
static const char *samples_of(struct cr_config *config, const char *split)
{
    struct cr_data_loader_opts want = { .split = split, .batch_size = 1000 };
    struct cr_data_loader *loader =
        diag.errors > 0 ? NULL : cr_data_loader_open(config, &want);
    struct cr_buf text = { .arena = &conf_mem };
    const struct cr_vocab *v;
    const struct cr_batch *b;
    int n, c;

    if (!loader)
        return conf_messages(&diag);
    v = cr_vocab_of(config, "tokens", CR_NOWHERE);
    while (v && (b = cr_data_loader_next(loader, &diag)))
        for (int64_t i = 0; i < b->n; i++)
            for (c = 0; c < 2; c++) {
                int64_t len = cr_data_loader_columns(loader, &n)[c].spec.dim[0];
                const int32_t *x = (const int32_t *)b->data[c] + i * len;

                for (int64_t k = 0; k < len; k++)
                    if (v->token)
                        cr_buf_str(&text, v->token[x[k]]);
                    else
                        cr_buf_f(&text, "%02x", (unsigned)x[k]);
                cr_buf_str(&text, c ? " " : ">");
            }
    cr_data_loader_close(loader);
    return diag.errors > 0 ? conf_messages(&diag) : cr_buf_text(&text);
}

static void gives(const char *args, const char *want)
{
    same(samples_of(char_config(args), "train"), want, args);
}

static void says(const char *args, const char *what)
{
    const char *got = samples_of(char_config(args), "train");

    if (!ok(strstr(got, what), "%s: %s", args, what))
        printf("# got: %s\n", got);
}

static void windows(void)
{
    put("a", "abcdefg", 7);
    put("b", "hi", 2);
    gives("files: a, seq_len: 2", "ab>bc cd>de ef>fg ");
    gives("files: a, seq_len: 3", "abc>bcd def>efg ");
    gives("files: a, seq_len: 6", "abcdef>bcdefg ");
    gives("files: a, seq_len: 3, stride: 1",
          "abc>bcd bcd>cde cde>def def>efg ");
    gives("files: a, seq_len: 2, stride: 4", "ab>bc ef>fg ");
    gives("files: [a, b], seq_len: 4", "abcd>bcde efgh>fghi ");
    gives("files: [b, a], seq_len: 4", "hiab>iabc cdef>defg ");
    gives("files: a, seq_len: 1, num_samples: 2", "a>b b>c ");
    gives("files: a, seq_len: 2, span: [0%, 50%]", "ab>bc ");
    gives("files: a, seq_len: 2, span: [50%, 100%]", "de>ef ");
    gives("files: a, seq_len: 2, span: [2, 6]", "cd>de ");
    gives("files: a, seq_len: 2, span: [2, 100%]", "cd>de ef>fg ");
}

static void errors(void)
{
    says("files: gone, seq_len: 2", "file 'gone' not found");
    says("files: gone, seq_len: 2", "[E0201]");
    says("files: a, seq_len: 7",
         "the text has 7 characters here, but seq_len 7 needs at least 8 "
         "[E0205]");
    says("files: a, seq_len: 2, span: [4, 6]", "has 2 characters here");
    says("files: a, seq_len: 2, span: [6, 4]",
         "span: the end is before the start");
    says("files: a, seq_len: 2, span: [0, 8]",
         "span ends at character 8, but the text has only 7 [E0006]");
    says("files: a, seq_len: 2, span: [0%, 101%]", "expected 0% to 100%");
    says("files: a, seq_len: 2, span: 90%", "expected a list [from, before]");
    says("files: a, seq_len: 2, span: [0, 2 epochs]", "or a percentage");
    says("files: a, seq_len: 2, span: [0, 1.5]", "or a percentage");
    says("files: a, seq_len: 0", "1 to 16777216");
    put("empty", "", 0);
    says("files: empty, seq_len: 2", "the text is empty [E0205]");
    says("files: empty, seq_len: 2, unit: byte", "has 0 characters here");
    put("bad", "ab\xffgh", 5);
    says("files: bad, seq_len: 2", "bad: byte 2: error: the text is not "
                                   "UTF-8 [E0203]");
    put("nul", "ab\0gh", 5);
    says("files: nul, seq_len: 2", "the text has a NUL byte");
    put("packed", "\x1f\x8b\x08\0", 4);
    says("files: packed, seq_len: 2, unit: byte", "found a gzip file");
    mkdir(cr_strf(&conf_mem, "%s/d", folder), 0700);
    says("files: d, seq_len: 2", "not a regular file");
}

static void bytes(void)
{
    put("bytes", "\0\xff\x1f\x80", 4);
    gives("files: bytes, seq_len: 3, unit: byte", "00ff1f>ff1f80 ");
    same(conf_messages(&diag), "", "any bytes");
    ok(char_config("files: bytes, seq_len: 3, unit: byte") &&
           diag.errors == 0, "and a size of 256");
}

/* Characters of one to four bytes; more than 256 of them. */
static void characters(void)
{
    struct cr_buf many = { .arena = &conf_mem };
    struct cr_config *c;
    const struct cr_vocab *v;
    const char *got;
    uint32_t i;

    put("u", "z\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80" "az", 12);
    gives("files: u, seq_len: 2",
          "z\xc3\xa9>\xc3\xa9\xe2\x82\xac "
          "\xe2\x82\xac\xf0\x9f\x98\x80>\xf0\x9f\x98\x80" "a ");
    c = char_config("files: u, seq_len: 2");
    v = cr_vocab_kept(c, "tokens");
    if (ok(v && v->n == 5, "five characters")) {
        same(v->token[0], "a", "in the order of code points");
        same(v->token[4], "\xf0\x9f\x98\x80", "of which the last");
        ok(cr_vocab_find(v, "\xe2\x82\xac", 3) == 3 &&
               cr_vocab_find(v, "\xe2\x82", 2) == -1 &&
               cr_vocab_find(v, "b", 1) == -1, "found by their text");
    }
    for (i = 0; i < 600; i++)
        cr_buf_f(&many, "%c%c", 0xc4 + (int)(i % 300 / 64),
                 0x80 + (int)(i % 300 % 64));
    put("many", many.text, many.len);
    got = samples_of(char_config("files: many, seq_len: 599"), "train");
    ok(strlen(got) == 2 * 2 * 599 + 2 && memcmp(got, many.text, 1198) == 0 &&
           memcmp(got + 1199, many.text + 2, 1198) == 0,
       "300 different characters");
}

/* The vocabulary is the training data's, whatever the span. */
static void splits(void)
{
    static const char two[] =
        "dataset:\n"
        "  train: {CharSequenceDataset: {files: a, seq_len: 2, span: [0, 3]}}"
        "\n  eval: {CharSequenceDataset: {files: %s, seq_len: 1}}\n";
    struct cr_config *c =
        config_of(cr_strf(&conf_mem, two, "a"));

    same(samples_of(c, "eval"), "a>b b>c c>d d>e e>f f>g ",
         "characters outside of the span");
    ok(cr_vocab_kept(c, "tokens")->n == 7, "are in the vocabulary");
    c = config_of(cr_strf(&conf_mem, two, "b"));
    same(samples_of(c, "train"), "ab>bc ", "training data");
    if (!ok(strstr(samples_of(c, "eval"),
                   "b: byte 0: error: the characters 'h' 'i' are "
                   "not in the vocabulary of the training data [E0204]"),
            "other characters in the evaluation"))
        printf("# got: %s\n", conf_messages(&diag));
    c = config_of("dataset: {train: {CharSequenceDataset: {files: a, seq_len: "
                  "2}}, test: {CharSequenceDataset: {files: a, seq_len: 2, "
                  "unit: byte}}}");
    ok(strstr(samples_of(c, "test"), "unit is byte, but the vocabulary of "
                                     "'tokens' holds characters"),
       "two units");
}

static void sizes(void)
{
    struct cr_config *c;

    c = config_of("vars: {n: '$(2 * vocab.tokens.size)', f: a}\n"
                  "network: {a: $n, b: $vocab.tokens.size}\n"
                  "dataset: {train: {CharSequenceDataset: {files: $f, "
                  "seq_len: 2}}}\n");
    same(conf_messages(&diag), "", "sizes in variables");
    same(cr_node_flow(&conf_mem, cr_section(c, "network")), "{a: 14, b: 7}",
         "before the section of the data");
    config_of("dataset: {train: {CharSequenceDataset: {files: a, seq_len: "
              "$vocab.tokens.size}}}\n");
    same(conf_first(&diag),
         "t:1:60: error: '$vocab.tokens.size' comes from the data and "
         "cannot be used here [E0010]",
         "the data set itself");
    config_of("vars: {n: $vocab.tokens.size}\ndataset: {train: "
              "{CharSequenceDataset: {files: a, seq_len: $n}}}\n");
    same(conf_first(&diag),
         "t:2:60: error: variable '$n' refers to itself [E0010]",
         "in a circle");
    config_of("dataset: {train: {CharSequenceDataset: {files: a, seq_len: 2}}}"
              "\nn: $vocab.text.size\n");
    same(conf_first(&diag), "t:2:4: error: no vocabulary found for "
                            "column 'text' [E0010]", "another column");
    config_of("dataset: {train: {CharSequenceDataset: {files: a, seq_len: 2}}}"
              "\nn: $data.classes\n");
    same(conf_messages(&diag), "", "classes");
    config_of("dataset: {train: {NumpySlicesDataset: {data: [a], "
              "column_names: [a]}}}\nn: $data.classes\n");
    ok(diag.errors == 1 && strstr(conf_first(&diag), "[E0203]"),
       "data that are damaged");
}

int main(void)
{
    static const char *const names[] = { "a", "b", "empty", "bad", "nul",
                                         "packed", "bytes", "u", "many",
                                         "d" };

    if (!mkdtemp(folder))
        return 1;
    windows();
    errors();
    bytes();
    characters();
    splits();
    sizes();
    for (size_t i = 0; i < CR_LEN(names); i++)
        remove(cr_strf(&conf_mem, "%s/%s", folder, names[i]));
    ok(rmdir(folder) == 0, "no file is left");
    return done();
}
