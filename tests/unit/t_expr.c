/* Variables, expressions, when and repeat. */
#include "conf.h"
#include "tap.h"

struct pair {
    const char *text, *want;
};

/* Values of v in {vars: ..., v: TEXT}, as flow style. */
static const char vars[] =
    "vars: {i: 7, r: 2.5, t: true, s: ab, l: [1, 2, $i], m: {k: $r, n: [x]},\n"
    "       same: $i, text: 'i=$i', act: ReLU, cost: 5$$}\nv: ";

static const struct pair computed[] = {
    /* arithmetic, as Python's */
    { "$(1 + 2 * 3)", "7" },
    { "$((1 + 2) * 3)", "9" },
    { "$(7 / 2)", "3.5" },
    { "$(6 / 2)", "3.0" },
    { "$(7 // 2)", "3" },
    { "$(-7 // 2)", "-4" },
    { "$(7 // -2)", "-4" },
    { "$(-7 % 3)", "2" },
    { "$(7 % -3)", "-2" },
    { "$(-7.5 // 2)", "-4.0" },
    { "$(-7.5 % 2)", "0.5" },
    { "$(2 ** 10)", "1024" },
    { "$(2 ** -1)", "0.5" },
    { "$(-2 ** 2)", "-4" },
    { "$(2 ** 3 ** 2)", "512" },
    { "$(4 ** 0.5)", "2.0" },
    { "$(1/255)", "0.00392156862745098" },
    { "$(0x10 + 0o10)", "24" },
    { "$(1e-3 * 10)", "0.01" },
    { "$(- - 3)", "3" },
    { "$(9223372036854775807 - 1)", "9223372036854775806" },
    { "$(-9223372036854775807 - 1)", "-9223372036854775808" },
    { "$((-9223372036854775807 - 1) % -1)", "0" },
    { "$(1.5 + 1)", "2.5" },
    { "$(1.5 - 1)", "0.5" },
    { "$(2**3*2)", "16" },
    { "$(2*3**2)", "18" },
    /* truth */
    { "$(2 >= 3)", "false" },
    { "$(true == t)", "true" },
    { "$('ab' == s)", "true" },
    { "$(null == 0)", "false" },
    { "$(1 < 2)", "true" },
    { "$(1 < 2 < 2)", "false" },
    { "$(1 < 2 <= 2 == 2)", "true" },
    { "$(1 == 1.0)", "true" },
    { "$('a' < 'b')", "true" },
    { "$('a' == 1)", "false" },
    { "$(null == null)", "true" },
    { "$(not true or 1 != 2 and true)", "true" },
    { "$(false and 1/0 > 1)", "false" },
    { "$(true or undefined)", "true" },
    { "$(1 if t else 1/0)", "1" },
    { "$(1/0 if not t else 'x' if i > 9 else 'y')", "y" },
    /* functions */
    { "$(min(3, 1.5, 2))", "1.5" },
    { "$(max(3, 1.5, 2))", "3" },
    { "$(max(l))", "7" },
    { "$(round(2.5))", "2" },
    { "$(round(3.5))", "4" },
    { "$(round(-0.4))", "0" },
    { "$(int(-2.9))", "-2" },
    { "$(ceil(2.1))", "3" },
    { "$(log2(8))", "3.0" },
    { "$(len(l))", "3" },
    { "$(len('\xc3\xa4\xc3\xb6'))", "2" },
    { "$(len(m))", "2" },
    { "$(env('CR_TEST_INT', 1) + 1)", "42" },
    { "$(env('CR_TEST_TEXT'))", "a b" },
    { "$(env('CR_TEST_NONE', 'x' + 'y'))", "xy" },
    { "$(round(3))", "3" },
    { "$config.dir", "." },
    /* names */
    { "$i", "7" },
    { "\"$i\"", "7" },
    { "$r", "2.5" },
    { "$t", "true" },
    { "$same", "7" },
    { "$text", "i=7" },
    { "$l", "[1, 2, 7]" },
    { "$m", "{k: 2.5, n: [x]}" },
    { "$m.k", "2.5" },
    { "$l.2", "7" },
    { "$m.n.0", "x" },
    { "$vars.i", "7" },
    { "$(vars.i * m.k)", "17.5" },
    { "$act", "ReLU" },
    { "[$act, {Foo: [$i, $(2*i)]}]", "[ReLU, {Foo: [7, 14]}]" },
    /* texts */
    { "$i epochs", "7 epochs" },
    { "a-$(i)b$s", "a-7bab" },
    { "$(i)$(i)", "\"77\"" },
    { "$$i", "$i" },
    { "$cost", "5$" },
    { "a$$b$$$i", "a$b$7" },
    { "x$", "x$" },
    { "'^a[.]b$|$/'", "\"^a[.]b$|$/\"" },
    { "$ 5", "$ 5" },
    { "$(\"(\" + ')')", "()" },
    { "$run.dir/$run.name", "runs/t" },
};

static const struct pair wrong[] = {
    { "$x", "t:3:4: error: undefined variable '$x' [E0010]" },
    { "abc $x", "t:3:8: error: undefined variable '$x' [E0010]" },
    { "\"\xc3\xa4 $x\"", "t:3:7: error: undefined variable '$x' [E0010]" },
    { "$m.q", "t:3:4: error: undefined variable '$m.q' [E0010]" },
    { "$l.3", "t:3:4: error: undefined variable '$l.3' [E0010]" },
    { "$i.txt", "t:3:4: error: undefined variable '$i.txt' [E0010]" },
    { "$(1 + x)", "t:3:10: error: undefined variable '$x' [E0010]" },
    { "${i}", "t:3:4: error: '${' does not begin a variable [E0011]" },
    { "a $l", "t:3:6: error: a list cannot be part of a longer text "
              "[E0011]" },
    { "$(1 +)", "t:3:9: error: a value is missing in '1 +' [E0011]" },
    { "$()", "t:3:6: error: a value is missing in '' [E0011]" },
    { "$(1 2)", "t:3:8: error: expected an operator in '1 2' [E0011]" },
    { "$((1)", "t:3:4: error: unclosed '$(' [E0001]" },
    { "'$(1'", "t:3:5: error: unclosed '$(' [E0011]" },
    { "$(1a)", "t:3:6: error: '1a' is not a number in '1a' [E0011]" },
    { "'$(\"a)'", "t:3:5: error: unclosed '$(' [E0011]" },
    { "$(1 if true)", "t:3:15: error: expected 'else' in '1 if true' "
                      "[E0011]" },
    { "$($i)",
      "t:3:6: error: names inside $(...) are written without '$' in '$i' "
      "[E0011]" },
    { "$(1 / 0)", "t:3:6: error: division by zero [E0011]" },
    { "$(1 % 0.0)", "t:3:6: error: division by zero [E0011]" },
    { "$(9223372036854775807 + 1)", "t:3:6: error: the result is too large "
                                    "for an integer of 64 bits [E0011]" },
    { "$(3 ** 99)", "t:3:6: error: the result is too large for an integer of "
                    "64 bits [E0011]" },
    { "$(10.0 ** 999)", "t:3:6: error: the result is too large [E0011]" },
    { "$((-8) ** 0.5)", "t:3:6: error: the result is not a number [E0011]" },
    { "$(int(1e30))", "t:3:6: error: the result is too large for an integer "
                      "of 64 bits [E0011]" },
    { "$(1 + 'a')", "t:3:10: error: found 'a', expected a number [E0011]" },
    { "$(t + 1)", "t:3:6: error: found the truth value true, expected a "
                  "number [E0011]" },
    { "$(1 and true)", "t:3:6: error: found the number 1, expected true or "
                       "false [E0011]" },
    { "$(1 < 'a')", "t:3:10: error: cannot compare the number 1 with 'a' "
                    "[E0011]" },
    { "$(log2(0))", "t:3:6: error: log2: expected a number above 0 [E0011]" },
    { "$(lenn(l))", "t:3:6: error: unknown function 'lenn' [E0011]" },
    { "$(len())", "t:3:6: error: len: expected 1 argument, found 0 [E0011]" },
    { "$(env('CR_TEST_NONE'))",
      "t:3:6: error: environment variable "
      "'CR_TEST_NONE' is not set, and there is no default "
      "[E0011]" },
    { "$(len(3))", "t:3:10: error: found the number 3, expected a list, a map "
                   "or a string [E0011]" },
    { "$(env(3))", "t:3:10: error: found the number 3, expected the name of a "
                   "variable [E0011]" },
    { "$(env('a', 'b', 'c'))", "t:3:6: error: env: expected 1 or 2 "
                               "arguments, found 3 [E0011]" },
    { "$(max(s))", "t:3:10: error: found 'ab', expected several numbers or a "
                   "list [E0011]" },
    { "$(max(m.n))", "t:3:10: error: found 'x', expected numbers in the list "
                     "[E0011]" },
    { "$(max(l, 1))", "t:3:10: error: found a list, expected a number "
                      "[E0011]" },
    { "$(-s)", "t:3:7: error: found 'ab', expected a number [E0011]" },
    { "$('a' + 1)", "t:3:6: error: found 'a', expected a number [E0011]" },
    { "$(-(-9223372036854775807 - 1))",
      "t:3:6: error: the result is too large for an integer of 64 bits "
      "[E0011]" },
    { "$(min(1 2))", "t:3:12: error: expected ',' or ')' in 'min(1 2)' "
                     "[E0011]" },
    { "$((1, 2))", "t:3:8: error: expected ')' in '(1, 2)' [E0011]" },
    { "$(1 if t else)", "t:3:17: error: a value is missing in '1 if t else' "
                        "[E0011]" },
    { "$data.classes", "t:3:4: error: '$data.classes' needs a data set "
                       "[E0010]" },
    { "$vocab.text.size", "t:3:4: error: no vocabulary found for "
                          "column 'text' [E0010]" },
    { "$vocab.size", "t:3:4: error: undefined variable '$vocab.size' "
                     "[E0010]" },
};

static const struct pair trees[] = {
    { "network: [{ReLU: , repeat: 3}]",
      "{network: [{ReLU: null}, {ReLU: null}, {ReLU: null}]}" },
    { "network: [{ReLU: , repeat: 0}, Tanh]", "{network: [Tanh]}" },
    { "vars: {n: 2}\nnetwork: {a: [{Tanh: , repeat: $n}, ReLU]}",
      "{network: {a: [{Tanh: null}, {Tanh: null}, ReLU]}}" },
    { "vars: {d: false}\nnetwork: [ReLU, {Dropout: {p: 0.1}, when: $d}]",
      "{network: [ReLU, Identity]}" },
    { "vars: {d: true}\nnetwork: [ReLU, {Dropout: {p: 0.1}, when: $d}]",
      "{network: [ReLU, {Dropout: {p: 0.1}}]}" },
    { "network: {a: {when: false, b: ReLU}, c: ReLU}",
      "{network: {a: Identity, c: ReLU}}" },
    { "datapipe: {x: [{HWC2CHW: , when: false}, HWC2CHW]}",
      "{datapipe: {x: [HWC2CHW]}}" },
    /* control words in a variable wait for the place of its use */
    { "vars: {c: [{ReLU: , when: false}]}\nnetwork: $c\ndatapipe: {x: $c}",
      "{network: [Identity], datapipe: {x: []}}" },
    { "vars: {c: {ReLU: , repeat: 2}}\nnetwork: [$c]",
      "{network: [{ReLU: null}, {ReLU: null}]}" },
    /* what a variable holds is not replaced twice */
    { "vars: {a: [$$b], b: 3}\nseed: $a", "{seed: [$b]}" },
    { "{x: $run.name, run: {name: a$$b, dir: $run.name/c}, y: $run.dir}",
      "{x: a$b, run: {name: a$b, dir: a$b/c}, y: a$b/c}" },
    { "network: [{ReLU: , repeat: -1}]",
      "t:1:28: error: 'repeat': found the number -1, expected an integer of "
      "at least 0 [E0005]" },
    { "network: {a: {ReLU: , repeat: 2}}",
      "t:1:23: error: 'repeat' is allowed in members of a list only [E0009]" },
    { "network: [{ReLU: , when: 1}]",
      "t:1:26: error: 'when': found the number 1, expected true or false "
      "[E0005]" },
    { "network: [{ReLU: , repeat: 1000001}]",
      "t:1:28: error: variables, repeats and blocks make more than 1000000 "
      "values [E0017]" },
    { "network: [{ReLU: , repeat: 9223372036854775807}]",
      "t:1:28: error: variables, repeats and blocks make more than 1000000 "
      "values [E0017]" },
    { "vars: [$x]\na: 1",
      "t:1:7: error: 'vars': found a list, expected a map of names and values "
      "[E0005]" },
    { "vars: [1]\n", "t:1:7: error: 'vars': found a list, expected a "
                     "map of names and values [E0005]" },
};

static void test_circle(void)
{
    struct cr_diag diag;

    conf_load(&diag, "vars: {a: $b, b: 'x$(c)', c: $a}\nseed: $a\n", NULL);
    same(conf_messages(&diag),
         "t:1:30: error: variable '$a' refers to itself [E0010]\n"
         "    1 | vars: {a: $b, b: 'x$(c)', c: $a}\n"
         "      |                              ^^\n"
         "   a: $b      (t:1)\n"
         "   b: x$(c)      (t:1)\n"
         "   c: $a      (t:1)\n",
         "a circle of variables is shown once, with its members");
    ok(strstr(conf_tree("vars: {a: 1}\nrun: {name: $run.name}", NULL),
              "refers to itself"),
       "a built-in name must not need itself");
}

static void test_limits(void)
{
    struct cr_buf lists = { .arena = &conf_mem };
    struct cr_buf texts = { .arena = &conf_mem };
    struct cr_buf deep = { .arena = &conf_mem };
    struct cr_buf chain = { .arena = &conf_mem };
    struct cr_buf sum = { .arena = &conf_mem };
    struct cr_buf nest = { .arena = &conf_mem };
    struct cr_buf nots = { .arena = &conf_mem };
    struct cr_buf ands = { .arena = &conf_mem };
    struct cr_buf ifs = { .arena = &conf_mem };

    cr_buf_str(&lists, "vars:\n  v0: [1, 1, 1, 1, 1, 1, 1, 1]\n");
    cr_buf_str(&texts, "vars:\n  v0: xxxxxxxxxxxxxxxx\n");
    cr_buf_str(&deep, "vars:\n  v0: [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]\n");
    cr_buf_str(&chain, "vars:\n  v0: 1\n");
    for (int i = 1; i < 40; i++) {
        cr_buf_f(&lists, "  v%d: [$v%d, $v%d, $v%d]\n", i, i - 1, i - 1, i - 1);
        cr_buf_f(&texts, "  v%d: $v%d$v%d$v%d\n", i, i - 1, i - 1, i - 1);
        cr_buf_f(&deep, "  v%d: [[[[[[[[[[$v%d]]]]]]]]]]\n", i, i - 1);
    }
    for (int i = 1000; i > 0; i--)
        cr_buf_f(&chain, "  v%d: $(v%d + 1)\n", i, i - 1);
    cr_buf_str(&nots, "v: $(");
    cr_buf_str(&ands, "v: $(true");
    cr_buf_str(&ifs, "v: $(1");
    for (int i = 0; i < 300; i++) {
        cr_buf_str(&nots, "not ");
        cr_buf_str(&ands, i % 2 ? " and true" : " or true");
        cr_buf_str(&ifs, i < 200 ? " if true else 1" : "");
    }
    cr_buf_str(&nots, "true)");
    cr_buf_str(&ands, ")");
    cr_buf_str(&ifs, ")");
    ok(strstr(conf_tree(nots.text, NULL), "nested too deeply"),
       "hundreds of not are refused");
    ok(strstr(conf_tree(ands.text, NULL), "too many operators"),
       "hundreds of and and or too");
    ok(strstr(conf_tree(ifs.text, NULL), "nested too deeply"),
       "and hundreds of if");
    for (int i = 0; i < 2000; i++) {
        cr_buf_str(&sum, i ? "+1" : "v: $(1");
        cr_buf_str(&nest, i ? "(" : "v: $(");
    }
    for (int i = 0; i < 2000; i++)
        cr_buf_str(&nest, i ? ")" : "1)");
    cr_buf_str(&sum, ")");
    ok(strstr(conf_tree(lists.text, NULL), "[E0017]"),
       "lists of lists of lists do not grow without end");
    ok(strstr(conf_tree(texts.text, NULL), "[E0017]"), "nor do texts");
    ok(strstr(conf_tree(deep.text, NULL), "[E0017]"), "nor does depth");
    ok(strstr(conf_tree(chain.text, NULL), "[E0017]"),
       "a long chain of variables is refused");
    ok(strstr(conf_tree(sum.text, NULL), "too many operators"),
       "a sum of thousands is refused");
    ok(strstr(conf_tree(nest.text, NULL), "nested too deeply"),
       "so are thousands of parentheses");
}

int main(void)
{
    setenv("CR_TEST_INT", "41", 1);
    setenv("CR_TEST_TEXT", "a b", 1);
    unsetenv("CR_TEST_NONE");
    unsetenv("CELLRUN_RUNS");
    unsetenv("CELLRUN_SET");
    test_begin("expressions");
    for (size_t i = 0; i < CR_LEN(computed); i++) {
        const char *text = cr_strf(&conf_mem, "%s%s\n", vars, computed[i].text);

        same(conf_tree(text, NULL),
             cr_strf(&conf_mem, "{v: %s}", computed[i].want), computed[i].text);
    }
    test_begin("wrong expressions are reported");
    for (size_t i = 0; i < CR_LEN(wrong); i++) {
        const char *text = cr_strf(&conf_mem, "%s%s\n", vars, wrong[i].text);

        same(conf_tree(text, NULL), wrong[i].want, wrong[i].text);
    }
    test_begin("expressions in a config");
    for (size_t i = 0; i < CR_LEN(trees); i++)
        same(conf_tree(trees[i].text, NULL), trees[i].want, trees[i].text);
    test_end();
    test_circle();
    test_limits();
    cr_arena_free(&conf_mem);
    return done();
}
