/* Messages: their text, order, colour and JSON, exit statuses, guesses. */
#include <stdlib.h>

#include "base/str.h"
#include "conf.h"
#include "tap.h"

static struct cr_diag fresh(void)
{
    return (struct cr_diag){ .arena = &conf_mem };
}

static struct cr_pos at(const struct cr_source *src, int line, int col, int len)
{
    return (struct cr_pos){ .src = src, .line = line, .col = col, .len = len };
}

static const char *shown(struct cr_diag *diag, struct cr_diag_format how)
{
    char *text = NULL;
    const char *kept;
    size_t len = 0;
    FILE *f = open_memstream(&text, &len);

    if (!f)
        abort();
    cr_diag_print(diag, f, how);
    fclose(f);
    kept = cr_strndup(&conf_mem, text, len);
    free(text);
    return kept;
}

static struct cr_source source(const char *name, const char *text)
{
    return (
        struct cr_source){ .name = name, .text = text, .len = strlen(text) };
}

static void test_text(void)
{
    struct cr_source file = source("m.yaml", "a: 1\nopt: {SGD: 2}\n");
    struct cr_source line = source("command line", "train.epoch=5");
    struct cr_diag d = fresh();

    line.argument = 3;
    cr_error(&d, at(&file, 2, 7, 3), CR_E_UNKNOWN_ARGUMENT, "wrong %s",
             "thing");
    cr_hint(&d, "did you mean '%s'?", "X");
    cr_note(&d, "one");
    cr_note(&d, "two");
    cr_error(&d, at(&line, 1, 7, 5), CR_E_UNKNOWN_KEY, "no key");
    cr_error(&d, cr_at_file(&conf_mem, "dir/f"), CR_E_SYSTEM, "cannot");
    cr_hint(&d, "try");
    cr_error(&d, cr_at_byte(&conf_mem, "f.bin", 16), CR_E_CKPT_FORMAT, "bad");
    cr_warn(&d, CR_NOWHERE, CR_E_CONFLICT, "odd");
    same(shown(&d, (struct cr_diag_format){ 0 }),
         "m.yaml:2:7: error: wrong thing [E0012]\n"
         "    2 | opt: {SGD: 2}\n"
         "      |       ^^^ did you mean 'X'?\n"
         "   one\n"
         "   two\n"
         "command line, argument 3: error: no key [E0004]\n"
         "   train.epoch=5\n"
         "         ^^^^^\n"
         "dir/f: error: cannot [E0602]\n"
         "   try\n"
         "f.bin: byte 16: error: bad [E0302]\n"
         "cellrun: warning: odd [E0016]\n",
         "the form of messages");
    ok(d.errors == 4 && d.warnings == 1, "they are counted");
    same(shown(&d, (struct cr_diag_format){ 0 }), "", "each is printed once");
    cr_error(&d, CR_NOWHERE, CR_E_USAGE, "more");
    same(shown(&d, (struct cr_diag_format){ 0 }),
         "cellrun: error: more [E0501]\n", "later ones later");
}

static void test_color(void)
{
    struct cr_source file = source("m", "ab\n");
    struct cr_diag d = fresh();

    cr_error(&d, at(&file, 1, 2, 1), CR_E_SYNTAX, "x");
    same(shown(&d, (struct cr_diag_format){ .color = true }),
         "\033[1mm:1:2:\033[0m \033[1;31merror:\033[0m x [E0001]\n"
         "    1 | ab\n"
         "      |  \033[32m^\033[0m\n",
         "colour");
}

static void test_json(void)
{
    struct cr_source file = source("m\"\n", "ab\n");
    struct cr_diag d = fresh();

    cr_error(&d, at(&file, 1, 2, 1), CR_E_SYNTAX, "a \"b\"\x01\xff\\");
    cr_hint(&d, "h");
    cr_path(&d, "train.epochs");
    cr_warn(&d, cr_at_byte(&conf_mem, "f", 0), CR_E_CONFLICT, "w");
    same(shown(&d, (struct cr_diag_format){ .json = true }),
         "{\"severity\": \"error\", \"file\": \"m\\\"\\n\", \"line\": 1, "
         "\"col\": 2, \"path\": \"train.epochs\", \"code\": \"E0001\", "
         "\"message\": \"a \\\"b\\\"\\u0001\xef\xbf\xbd\\\\\", "
         "\"hint\": \"h\"}\n"
         "{\"severity\": \"warning\", \"file\": \"f\", \"byte\": 0, "
         "\"code\": \"E0016\", \"message\": \"w\"}\n",
         "JSON");
}

static void test_order(void)
{
    struct cr_source a = source("a", "1\n2\n3\n"), b = source("b", "1\n2\n");
    struct cr_diag d = fresh();

    cr_error(&d, at(&a, 3, 1, 0), CR_E_SYNTAX, "a3");
    cr_error(&d, at(&b, 2, 1, 0), CR_E_SYNTAX, "b2");
    cr_error(&d, at(&a, 1, 2, 0), CR_E_SYNTAX, "a1b");
    cr_error(&d, CR_NOWHERE, CR_E_SYNTAX, "none");
    cr_error(&d, at(&b, 1, 1, 0), CR_E_SYNTAX, "b1");
    cr_error(&d, at(&a, 1, 1, 0), CR_E_SYNTAX, "a1a");
    cr_error(&d, at(&a, 1, 1, 0), CR_E_SYNTAX, "a1a");
    cr_hint(&d, "belongs to the message that was dropped");
    cr_error(&d, (struct cr_pos){ .src = &a, .line = 1, .offset = -1 },
             CR_E_SYNTAX, "silent");
    same(shown(&d, (struct cr_diag_format){ 0 }),
         "a:1:1: error: a1a [E0001]\n    1 | 1\n      | ^\n"
         "a:1:2: error: a1b [E0001]\n    1 | 1\n      |  ^\n"
         "a:3:1: error: a3 [E0001]\n    3 | 3\n      | ^\n"
         "b:1:1: error: b1 [E0001]\n    1 | 1\n      | ^\n"
         "b:2:1: error: b2 [E0001]\n    2 | 2\n      | ^\n"
         "cellrun: error: none [E0001]\n",
         "by file and line; equal ones once");
    ok(d.errors == 6, "what is dropped is not counted");
}

static void test_excerpt(void)
{
    struct cr_source file =
        source("m", "k: \xc3\xa4\xc3\xb6\t\x1b[1m\xff x\r\nlast");
    struct cr_buf buf = { .arena = &conf_mem };
    struct cr_source wide;
    struct cr_diag d = fresh();
    const char *text;

    cr_error(&d, at(&file, 1, 7, 4), CR_E_SYNTAX, "x");
    cr_error(&d, at(&file, 2, 1, 4), CR_E_SYNTAX, "\x1b[1m\xe2\x80\xae");
    cr_error(&d, at(&file, 9, 1, 4), CR_E_SYNTAX, "y");
    same(shown(&d, (struct cr_diag_format){ 0 }),
         "m:1:7: error: x [E0001]\n"
         "    1 | k: \xc3\xa4\xc3\xb6 \\x1b[1m\\xff x\n"
         "      |       ^^^^^^^\n"
         "m:2:1: error: \\x1b[1m\\u{202e} [E0001]\n"
         "    2 | last\n"
         "      | ^^^^\n"
         "m:9:1: error: y [E0001]\n",
         "what could move the cursor is escaped, carets stay below");
    file = source("m", "\xe6\x95\xb0\xe6\x8d\xae: \xe7\xbd\x91 e\xcc\x81 x");
    d = fresh();
    cr_error(&d, at(&file, 1, 5, 1), CR_E_SYNTAX, "x");
    cr_error(&d, at(&file, 1, 10, 1), CR_E_SYNTAX, "y");
    same(shown(&d, (struct cr_diag_format){ 0 }),
         "m:1:5: error: x [E0001]\n"
         "    1 | \xe6\x95\xb0\xe6\x8d\xae: \xe7\xbd\x91 e\xcc\x81 x\n"
         "      |       ^^\n"
         "m:1:10: error: y [E0001]\n"
         "    1 | \xe6\x95\xb0\xe6\x8d\xae: \xe7\xbd\x91 e\xcc\x81 x\n"
         "      |            ^\n",
         "wide characters take two columns, combining ones none");
    for (int i = 0; i < 1000; i++)
        cr_buf_f(&buf, "%d", i % 10);
    wide = source("w", buf.text);
    d = fresh();
    cr_error(&d, at(&wide, 1, 501, 3), CR_E_SYNTAX, "x");
    text = shown(&d, (struct cr_diag_format){ 0 });
    ok(strlen(text) < 300 && strstr(text, "| ...") && strstr(text, "...\n"),
       "a long line is cut on both sides");
    text = strchr(text, '\n') + 1;
    ok(strchr(text, '\n')[1 + (int)(strchr(strchr(text, '\n'), '^') -
                                    strchr(text, '\n') - 1)] == '^' &&
           text[strchr(strchr(text, '\n'), '^') - strchr(text, '\n') - 1] ==
               '0',
       "the caret is below character 501");
}

static void test_exit(void)
{
    struct cr_diag d = fresh(), joined;

    ok(cr_diag_exit(&d) == 0, "no error: 0");
    cr_warn(&d, CR_NOWHERE, CR_E_SYNTAX, "w");
    ok(cr_diag_exit(&d) == 0, "a warning is none");
    cr_error(&d, CR_NOWHERE, CR_E_SYSTEM, "s");
    ok(cr_diag_exit(&d) == 1, "the system: 1");
    cr_error(&d, CR_NOWHERE, CR_E_CKPT_DAMAGED, "c");
    ok(cr_diag_exit(&d) == 4, "checkpoints before the rest");
    cr_error(&d, CR_NOWHERE, CR_E_DATA_READ, "d");
    ok(cr_diag_exit(&d) == 3, "data before checkpoints");
    cr_error(&d, CR_NOWHERE, CR_E_SYNTAX, "y");
    ok(cr_diag_exit(&d) == 2, "configs before data");
    d = fresh();
    d.strict = true;
    cr_warn(&d, CR_NOWHERE, CR_E_SYNTAX, "w");
    ok(d.errors == 1 && d.warnings == 0 && cr_diag_exit(&d) == 2,
       "strict: warnings are errors");
    for (int i = 0; i < 100000; i++)
        cr_error(&d, CR_NOWHERE, CR_E_SYNTAX, "error %d", i);
    ok(d.errors == 100001 && d.hidden == 100001 - 200,
       "errors beyond 200 are counted");
    ok(strstr(shown(&d, (struct cr_diag_format){ 0 }),
              "\n100001 errors, the first 200 are shown\n") != NULL,
       "a text says how many errors there are");
    same(shown(&d, (struct cr_diag_format){ 0 }), "", "it is printed once");
    cr_error(&d, CR_NOWHERE, CR_E_SYNTAX, "one more");
    same(shown(&d, (struct cr_diag_format){ .json = true }),
         "{\"severity\": \"error\", \"code\": \"E0017\", \"message\": "
         "\"100002 errors, the first 200 are shown\"}\n",
         "so does the JSON form");
    joined = fresh();
    cr_diag_append(&joined, &d);
    ok(joined.errors == d.errors && joined.hidden == d.hidden,
       "errors that are only counted stay so where messages are joined");
    ok(strcmp(cr_code_number(CR_E_SYNTAX), "E0001") == 0 &&
           cr_code_exit(CR_E_DIVERGED) == 5,
       "codes");
}

static void test_nearest(void)
{
    static const char *const words[] = {
        "learning_rate", "momentum", "p", "ReLU", "epochs", "size", NULL
    };
    static const struct {
        const char *word, *want;
    } cases[] = {
        { "learing_rate", "learning_rate" },
        { "learning-rate", "learning_rate" },
        { "lerning_raet", "learning_rate" },
        { "momemtum", "momentum" },
        { "relu", "ReLU" },
        { "Relu", "ReLU" },
        { "epoch", "epochs" },
        { "epohcs", "epochs" },
        { "sise", "size" },
        { "banana", NULL },
        { "x", NULL },
        { "", NULL },
    };

    for (size_t i = 0; i < CR_LEN(cases); i++)
        same(cr_closest_name(cases[i].word, words), cases[i].want,
             cases[i].word);
}

static void test_quote(void)
{
    const char *text;

    same(cr_quote(&conf_mem, "a\n\t\x7f\xc2\x85\xff", 7),
         "a\\n\\t\\x7f\\u{85}\\xff", "escapes");
    text = cr_quote(&conf_mem,
                    "0123456789012345678901234567890123456789"
                    "01234567890123456789x",
                    61);
    ok(strlen(text) == 63 && cr_ends(text, "9..."), "60 characters");
}

int main(void)
{
    test_text();
    test_color();
    test_json();
    test_order();
    test_excerpt();
    test_exit();
    test_nearest();
    test_quote();
    cr_arena_free(&conf_mem);
    return done();
}
