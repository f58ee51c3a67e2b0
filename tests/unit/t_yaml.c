/* YAML text to nodes: scalars, keys, anchors, limits, positions, and errors. */
#include "conf.h"
#include "tap.h"

struct pair {
    const char *text, *want;
};

static const struct pair values[] = {
    /* what a plain word is */
    { "[true, false, null, ]", "[true, false, null]" },
    { "[yes, no, on, off, ~, True, NULL]",
      "[yes, no, on, off, ~, True, NULL]" },
    { "[12, +12, -12, 0x1F, 0o17, 010, 1_000]",
      "[12, 12, -12, 31, 15, 10, 1_000]" },
    { "[1e-3, 1E-3, .5, 5., +.5e1, 1e3, 6.02e23]",
      "[0.001, 0.001, 0.5, 5.0, 5.0, 1000.0, 6.02e+23]" },
    { "[inf, -inf, +inf, .inf, nan, .nan, .NaN]",
      "[inf, -inf, inf, inf, nan, nan, nan]" },
    { "[., -, 1e, 0x, 0o8, 1.2.3, e5, -.e1]",
      "[., \"-\", 1e, 0x, 0o8, 1.2.3, e5, \"-.e1\"]" },
    { "[9223372036854775807, -9223372036854775808]",
      "[9223372036854775807, -9223372036854775808]" },
    { "[9223372036854775808]", "[9.223372036854776e+18]" },
    { "['12', \"true\", 'ReLU', '', ' a']",
      "[\"12\", \"true\", ReLU, \"\", \" a\"]" },
    { "{\n\t\"a\":1,\n\t\"b\": {\"ReLU\":null},\n\t\"c\\/d\": \"\\u00e9\"}\n",
      "{a: 1, b: {ReLU: null}, c/d: \xc3\xa9}" },
    { "[!!str 12, !!float 3, ! 4]", "[\"12\", 3.0, \"4\"]" },
    { "\"\\u00e9\\n\\x41\"", "\"\xc3\xa9\\nA\"" },
    { "a: |\n  x\n   y\n\n  z\nb: >-\n  f\n  g\n",
      "{a: \"x\\n y\\n\\nz\\n\", b: f g}" },
    /* keys are strings */
    { "{1: a, true: b, null: c, 'x y': d}",
      "{1: a, true: b, null: c, x y: d}" },
    /* anchors, aliases, << */
    { "{a: &x [1], b: *x}", "{a: [1], b: [1]}" },
    { "{a: &x 1, b: &x 2, c: *x}", "{a: 1, b: 2, c: 2}" },
    { "{a: &x {p: 1, q: 2}, b: {<<: *x, q: 3}}",
      "{a: {p: 1, q: 2}, b: {p: 1, q: 3}}" },
    { "{a: &x {p: 1, q: 2}, b: {q: 3, <<: *x}}",
      "{a: {p: 1, q: 2}, b: {q: 3, p: 1}}" },
    { "{a: &x {p: 1}, b: &y {p: 2, q: 2}, c: {<<: [*x, *y], r: 3}}",
      "{a: {p: 1}, b: {p: 2, q: 2}, c: {p: 1, q: 2, r: 3}}" },
    /* the frame */
    { "", "null" },
    { "# nothing\n", "null" },
    { "---\na: 1\n...\n", "{a: 1}" },
    { "\xef\xbb\xbf"
      "a: 1\r\nb: 2\r\n",
      "{a: 1, b: 2}" },
    { "a: |\nb: |", "{a: \"\", b: \"\"}" },
    { "[x$$(, $(1) $$(, $$$$(]", "[x$$(, $(1) $$(, $$$$(]" },
    { "a:\n- 1\n- - 2\n  - 3\n", "{a: [1, [2, 3]]}" },
};

static const struct pair wrong_texts[] = {
    { "a:\n\tb: 1\n", "t:2:1: error: found a tab in the indentation, "
                      "expected spaces [E0001]" },
    { "a: {b: 1,\n \tc: 2}\n", "t:2:2: error: found a tab in the "
                               "indentation, expected spaces [E0001]" },
    { "a: x\n\ty\n", "t:2:1: error: found a tab in the indentation, "
                     "expected spaces [E0001]" },
    { "a: 1\nb:2\nc: 3\n", "t:2:2: error: no space after ':' [E0001]" },
    { "lr:2\nc: 3\n", "t:1:3: error: no space after ':' [E0001]" },
    { "{a:1}\n", "t:1:2: error: no space after ':' in 'a:1' [E0001]" },
    { "a: 'it\nb: 1\n", "t:1:4: error: unclosed quote [E0001]" },
    { "a: \"it\n", "t:1:4: error: unclosed quote [E0001]" },
    { "a: 'it's'\n", "t:1:8: error: unexpected text after the end of a value "
                     "[E0001]" },
    { "a: \"\\d\"\n", "t:1:5: error: unknown escape in \"...\" [E0001]" },
    { "a: [1, 2\nb: 3\n", "t:1:4: error: unclosed '[' [E0001]" },
    { "a: {b: [1, 2}\n", "t:1:13: error: expected ',' or ']' [E0001]" },
    { "a: {b: 1,\n", "t:1:4: error: unclosed '{' [E0001]" },
    { "a: [1, [2],", "t:1:4: error: unclosed '[' [E0001]" },
    { "a: {b: ${x}}\n", "t:1:8: error: '${' does not begin a variable "
                        "[E0001]" },
    { "a: 1\n  b: 2\n", "t:2:3: error: wrong indentation [E0001]" },
    { "a:\n    b: 1\n  c: 2\n", "t:3:3: error: wrong indentation [E0001]" },
    { "  a: 1\nb: 2\n",
      "t:2:1: error: unexpected text after the end of the config "
      "[E0001]" },
    { "a: b: c\n", "t:1:5: error: a second key on one line [E0001]" },
    { "a: 1\nword\nb: 2\n", "t:2:1: error: a key without ':' [E0001]" },
    { "a: - 1\n",
      "t:1:4: error: '- ' is not allowed after a key on the same line "
      "[E0001]" },
    { "a:\n  - 1\n - 2\n", "t:3:2: error: found '- ', expected a key "
                           "[E0001]" },
    { "a:\n  - 1\n  b: 2\n", "t:3:3: error: expected '- ' here, or less "
                             "indentation [E0001]" },
    { "a: *.weight\n", "t:1:4: error: '*.weight' begins like an alias "
                       "[E0001]" },
    { "a: [*.b, *.c]\n", "t:1:5: error: '*.b' begins like an alias [E0001]" },
    { "a: *bias\n", "t:1:4: error: alias '*bias' without an anchor '&bias' "
                    "before it [E0001]" },
    { "{a:b: *x}\n",
      "t:1:7: error: alias '*x' without an anchor '&x' before it [E0001]" },
    { "a: &x [*x]\n",
      "t:1:8: error: alias '*x' without an anchor '&x' before it "
      "[E0001]" },
    { "a: {b: $(max(1, 2))}\n", "t:1:8: error: unclosed '$(' [E0001]" },
    { "a: $$$(1\n", "t:1:4: error: unclosed '$(' [E0001]" },
    { "a: $(1) $(')'\n", "t:1:4: error: unclosed '$(' [E0001]" },
    { "a: $(1 + 2\n", "t:1:4: error: unclosed '$(' [E0001]" },
    { "a:\n  b\n]\n", "t:3:1: error: unmatched ']' [E0001]" },
    { "%YAML 3.0\n---\na: 1\n", "t:1:1: error: found incompatible YAML "
                                "document [E0001]" },
    { "*x : 1\n", "t:1:1: error: a key must be a scalar [E0001]" },
    { "a: {<<: [1]}\n",
      "t:1:10: error: '<<': found the number 1, expected a map or a "
      "list of maps [E0009]" },
    { "a: @x\n", "t:1:4: error: a word cannot begin with '@' [E0001]" },
    { "a: 1\nb: 2\na: 3\n", "t:3:1: error: duplicate key 'a' [E0003]" },
    { "? [a]\n: 1\n", "t:1:3: error: a key must be a scalar [E0001]" },
    { "{'': 1}\n", "t:1:2: error: an empty key [E0001]" },
    { "{: 1}\n", "t:1:2: error: a value is missing [E0001]" },
    { "a: !keep {}\n", "t:1:4: error: unknown tag '!keep' [E0001]" },
    { "a: !!int x\n", "t:1:4: error: tag '!!int' does not match 'x' [E0005]" },
    { "a: !delete 3\n",
      "t:1:4: error: !delete is not allowed before the number 3: "
      "it takes no value [E0009]" },
    { "a: 1\n---\nb: 2\n",
      "t:2:1: error: found a second document, expected one "
      "per file [E0001]" },
    { "a: 1e999\n", "t:1:4: error: number 1e999 is too large [E0006]" },
    { "{a: {<<: 3}}\n",
      "t:1:10: error: '<<': found the number 3, expected a map or a "
      "list of maps [E0009]" },
    { "a: \xff\n", "t:1:4: error: byte 0xff is not valid UTF-8 [E0002]" },
    { "a: \xed\xa0\x80\n", "t:1:4: error: byte 0xed is not valid UTF-8 "
                           "[E0002]" },
    { "a: \x01\n", "t:1:4: error: control character U+0001 in the text "
                   "[E0002]" },
    { "a: \"\\0\"\n", "t:1:4: error: a NUL in the text [E0002]" },
    { "\xff\xfe"
      "a",
      "t:1:1: error: found UTF-16, expected UTF-8 [E0002]" },
};

static void test_places(void)
{
    static const char text[] = "\xef\xbb\xbf"
                               "\xc3\xa4\xc3\xb6: {key: [1, 'zwei']}\r\n"
                               "text: |2\n"
                               "\n"
                               "     two\n"
                               "last: x\n";
    struct cr_source src = { .name = "t",
                             .text = text,
                             .len = sizeof text - 1 };
    struct cr_diag diag = { .arena = &conf_mem };
    const struct cr_node *root =
        cr_yaml_read(&conf_mem, &diag, &src, 0, src.len);
    const struct cr_node *list = cr_node_find(root, "\xc3\xa4\xc3\xb6.key");
    const struct cr_node *two = cr_node_at(list, 1);
    const struct cr_node *block = cr_node_get(root, "text");
    const struct cr_node *last = cr_node_get(root, "last");

    ok(list && list->key_pos.line == 1 && list->key_pos.col == 6 &&
           list->key_pos.len == 3,
       "columns are characters, the byte order mark is none");
    ok(two && two->pos.col == 15 && two->pos.len == 6,
       "the place of a quoted scalar includes its quotes");
    ok(block && block->pos.line == 3 && block->pos.col == 6,
       "a block scalar's place is its first line and its indentation");
    ok(last && last->pos.line == 5 && last->pos.col == 7,
       "lines continue after a block scalar");
    ok(diag.errors == 0, "no errors");
}

static void test_part(void)
{
    static const char text[] = "a.b=[1, x";
    struct cr_source src = { .name = "command line",
                             .text = text,
                             .len = sizeof text - 1,
                             .argument = 3 };
    struct cr_diag diag = { .arena = &conf_mem };

    ok(!cr_yaml_read(&conf_mem, &diag, &src, 4, src.len),
       "a part of a text that is wrong");
    same(conf_messages(&diag),
         "command line, argument 3: error: unclosed '[' [E0001]\n"
         "   a.b=[1, x\n"
         "       ^ ']' is missing\n",
         "places count from the start of the argument");
}

static const char *repeated(const char *head, const char *one, int n,
                            const char *tail)
{
    struct cr_buf buf = { .arena = &conf_mem };

    cr_buf_str(&buf, head);
    for (int i = 0; i < n; i++)
        cr_buf_str(&buf, one);
    cr_buf_str(&buf, tail);
    return cr_buf_text(&buf);
}

static void test_limits(void)
{
    struct cr_buf buf = { .arena = &conf_mem };
    const char *text = repeated("", "[", 64, repeated("", "]", 64, ""));

    same(conf_yaml(text, strlen(text)), text, "64 levels are read");
    text = repeated("", "[", 65, "");
    same(conf_yaml(text, strlen(text)),
         "t:1:65: error: lists and maps are nested more than 64 deep [E0017]",
         "65 are not");
    text = repeated("", "[", 100000, "");
    ok(strstr(conf_yaml(text, strlen(text)), "[E0017]") != NULL,
       "a hundred thousand brackets are refused too");
    text = repeated("[", "1,", 1000001, "]");
    ok(strstr(conf_yaml(text, strlen(text)), "more than 1000000 values"),
       "values are counted");
    cr_buf_str(&buf, "a: &a0 [x]\n");
    for (int i = 1; i < 12; i++)
        cr_buf_f(&buf, "b%d: &a%d [%s*a%d]\n", i, i,
                 repeated("", cr_strf(&conf_mem, "*a%d,", i - 1), 9, ""),
                 i - 1);
    ok(strstr(conf_yaml(buf.text, buf.len), "makes the file too large"),
       "aliases of aliases do not grow without end");
    buf = (struct cr_buf){ .arena = &conf_mem };
    for (int i = 0; i < 1001; i++)
        cr_buf_f(&buf, "k%d: &a%d x\n", i, i);
    ok(strstr(conf_yaml(buf.text, buf.len), "more than 1000 anchors"),
       "anchors are counted");
    buf = (struct cr_buf){ .arena = &conf_mem };
    cr_buf_str(&buf, "a: &a0 [[[[[[[[[[[[[[[[[[[[x]]]]]]]]]]]]]]]]]]]]\n");
    for (int i = 1; i < 5; i++)
        cr_buf_f(&buf, "b%d: &a%d [[[[[[[[[[[[[[[*a%d]]]]]]]]]]]]]]]\n", i, i,
                 i - 1);
    ok(strstr(conf_yaml(buf.text, buf.len), "deep; at most 1000000 and 64"),
       "nor do they nest deeper than brackets may");
}

static void test_write(void)
{
    /* each text, quoted or not, reads as itself */
    static const char *const texts[] = {
        "",     "a",          "12",
        "1e3",  "true",       "null",
        "- a",  "-",          "-5",
        "a: b", "a:b",        "a #b",
        "#",    "*x",         "&x",
        "!t",   "%",          "@",
        "`",    "'",          "\"",
        "\\",   "a\nb",       "\t",
        " a",   "a ",         "{",
        "[1]",  "a, b",       "---",
        "\x7f", "x\xc2\x85y", "\xe2\x80\xa8",
        "ReLU", "\xc3\xa4",   "?",
        "? a",  "...",        "a:",
        ":a",   "=",
    };

    for (size_t i = 0; i < CR_LEN(texts); i++)
        for (int flow = 0; flow < 2; flow++) {
            struct cr_node node = { .kind = CR_NODE_STR,
                                    .text = texts[i],
                                    .quoted = true };
            struct cr_diag diag = { .arena = &conf_mem };
            const struct cr_node *m;
            struct cr_source src = { .name = "t" };
            const char *word = cr_node_flow(&conf_mem, &node);

            src.text = cr_strf(&conf_mem, flow ? "[{%s: %s}]\n" : "- %s: %s\n",
                               word, word);
            src.len = strlen(src.text);
            m = cr_yaml_read(&conf_mem, &diag, &src, 0, src.len);
            m = cr_node_at(m, 0);
            m = m ? m->child : NULL;
            ok(m && m->kind == CR_NODE_STR && strcmp(m->text, texts[i]) == 0 &&
                   strcmp(m->key, texts[i]) == 0,
               "a string is written so that it is read again: %s", word);
        }
}

int main(void)
{
    test_begin("values");
    for (size_t i = 0; i < CR_LEN(values); i++)
        same(conf_yaml(values[i].text, strlen(values[i].text)), values[i].want,
             values[i].text);
    test_begin("errors are reported with their position");
    for (size_t i = 0; i < CR_LEN(wrong_texts); i++)
        same(conf_yaml(wrong_texts[i].text, strlen(wrong_texts[i].text)),
             wrong_texts[i].want, wrong_texts[i].text);
    same(conf_yaml("a: 1\0b", 6),
         "t:1:5: error: a NUL byte in the text "
         "[E0002]",
         "NUL");
    test_end();
    test_places();
    test_part();
    test_limits();
    test_begin("a string is written so that it is read again");
    test_write();
    cr_arena_free(&conf_mem);
    return done();
}
