/* Globs and regular expressions over names, and those that match nothing. */
#include "conf.h"
#include "tap.h"

static const struct {
    const char *patterns, *name;
    bool match;
} cases[] = {
    { "a", "a", true },
    { "a", "ab", false },
    { "*", "", true },
    { "*", "a.b.c", true },
    { "*.bias", "a.0.bias", true },
    { "*.bias", "a.0.bias2", false },
    { "layer1.*", "layer1.0.weight", true },
    { "layer1.*", "layer10.weight", false },
    { "*a*b*c", "xaybzabc", true },
    { "*a*b*c", "xaybzab", false },
    { "a?c", "abc", true },
    { "a?c", "ac", false },
    { "layer[12].*", "layer2.x", true },
    { "layer[12].*", "layer3.x", false },
    { "layer[1-3].*", "layer3.x", true },
    { "layer[!1-3].*", "layer3.x", false },
    { "layer[!1-3].*", "layer4.x", true },
    { "[]a]", "]", true },
    { "[a-]", "-", true },
    { "a[", "a[", true },
    { "*.gamma *.beta", "bn.beta", true },
    { "  *.gamma   *.beta ", "bn.gamma", true },
    { "*.gamma *.beta", "bn.bias", false },
    { "['*.gamma', '*.beta *.bias']", "x.bias", true },
    { "/^conv[0-9]+[.]/", "conv12.weight", true },
    { "/^conv[0-9]+[.]/", "conv.weight", false },
    { "/weight/", "a.weight.b", true },
    { "/x|y/ a", "a", true },
    { "'/a b|c/ d'", "a b", true },
    { "/", "/", true },
    { "[]", "a", false },
};

static struct cr_patterns *read(struct cr_diag *diag, const char *patterns,
                                struct cr_config **config)
{
    bool list = patterns[0] == '{' || strcmp(patterns, "[{}]") == 0 ||
                (patterns[0] == '[' && strchr(patterns, '\''));
    const char *text =
        strcmp(patterns, "[]") == 0 || list || patterns[0] == '\''
            ? cr_strf(&conf_mem, "p: %s\n", patterns)
            : cr_strf(&conf_mem, "p: \"%s\"\n", patterns);

    *config = conf_load(diag, text, NULL);
    return cr_patterns_read(*config, cr_node_get((*config)->root, "p"));
}

static const struct {
    const char *patterns, *want;
} wrong[] = {
    { "layer1.wieght",
      "t:1:4: error: pattern 'layer1.wieght' matches no parameter "
      "[E0014]\n"
      "    1 | p: \"layer1.wieght\"\n"
      "      |    ^^^^^^^^^^^^^^^\n"
      "   closest: layer1.weight\n" },
    { "*.weight leyer*.bias /q$/",
      "t:1:14: error: pattern 'leyer*.bias' matches no parameter "
      "[E0014]\n"
      "    1 | p: \"*.weight leyer*.bias /q$/\"\n"
      "      |              ^^^^^^^^^^^\n"
      "   closest: layer1.bias layer2.bias\n"
      "t:1:26: error: pattern 'q$' matches no parameter [E0014]\n"
      "    1 | p: \"*.weight leyer*.bias /q$/\"\n"
      "      |                          ^^^^\n"
      "   existing names: layer1.weight layer1.bias layer2.bias ...\n" },
    { "/(/",
      "t:1:4: error: '(' is not a valid regular expression: Unmatched ( or \\( "
      "[E0009]\n"
      "    1 | p: \"/(/\"\n"
      "      |    ^^^^^\n" },
    { "/(a{1,200}){1,200}/", "t:1:4: error: the pattern is too long or has too "
                             "many repetitions [E0017]\n"
                             "    1 | p: \"/(a{1,200}){1,200}/\"\n"
                             "      |    ^^^^^^^^^^^^^^^^^^^^^\n" },
    { "//", "t:1:4: error: an empty pattern [E0009]\n"
            "    1 | p: \"//\"\n"
            "      |    ^^^^\n" },
    { "['a', {b: 1}]",
      "t:1:5: error: pattern 'a' matches no parameter [E0014]\n"
      "    1 | p: ['a', {b: 1}]\n"
      "      |     ^^^\n"
      "   closest: layer1.bias layer2.bias\n"
      "t:1:11: error: 'b' is not a key of a pattern: found 'b', expected "
      "`match` or `of` [E0004]\n"
      "    1 | p: ['a', {b: 1}]\n"
      "      |           ^\n" },
    { "{match: layer2.bias, of: Dense}",
      "t:1:12: error: pattern 'layer2.bias' of Dense matches no parameter "
      "[E0014]\n"
      "    1 | p: {match: layer2.bias, of: Dense}\n"
      "      |            ^^^^^^^^^^^\n"
      "   closest: layer1.bias\n" },
    { "{of: [ReLU, GroupNorm]}",
      "t:1:9: error: of: ReLU or GroupNorm matches no parameter [E0014]\n"
      "    1 | p: {of: [ReLU, GroupNorm]}\n"
      "      |         ^\n"
      "   existing types: Dense Conv2d\n" },
    { "{of: BatchNrom2d}",
      "t:1:9: error: of: found 'BatchNrom2d', expected the type of a cell "
      "[E0008]\n"
      "    1 | p: {of: BatchNrom2d}\n"
      "      |         ^^^^^^^^^^^ did you mean 'BatchNorm2d'?\n" },
    { "{of: []}",
      "t:1:9: error: of: found an empty list, expected types of cells "
      "[E0009]\n"
      "    1 | p: {of: []}\n"
      "      |         ^\n" },
    { "[{}]", "t:1:5: error: found a pattern without `match` and `of`, "
              "expected one of them [E0007]\n"
              "    1 | p: [{}]\n"
              "      |     ^\n" },
};

/* Which of the three names match. */
static const struct {
    const char *patterns, *want, *text;
} of[] = {
    { "{of: Dense}", "110", "of Dense" },
    { "{of: [GroupNorm, Conv2d]}", "001", "of GroupNorm|Conv2d" },
    { "{of: SequentialCell}", "110", "of SequentialCell" },
    { "{match: '*.bias', of: Dense}", "010", "*.bias of Dense" },
    { "{match: ['*.weight', '/^layer2/'], of: [Dense, Conv2d]}", "101",
      "*.weight of Dense|Conv2d /^layer2/ of Dense|Conv2d" },
    { "['layer1.weight', {of: Conv2d}]", "101", "layer1.weight of Conv2d" },
    { "{match: '*.bias'}", "011", "*.bias" },
};

int main(void)
{
    static const char *const dense[] = { "Dense", "SequentialCell", NULL };
    static const char *const conv[] = { "Conv2d", NULL };
    static const struct cr_subject names[] = { { "layer1.weight", dense },
                                               { "layer1.bias", dense },
                                               { "layer2.bias", conv } };
    struct cr_config *config;
    struct cr_diag diag;

    for (size_t i = 0; i < CR_LEN(cases); i++) {
        const struct cr_patterns *p = read(&diag, cases[i].patterns, &config);

        ok(diag.errors == 0 &&
               cr_patterns_match(p, &(struct cr_subject){
                                        .name = cases[i].name }) ==
                   cases[i].match,
           "%s %s %s", cases[i].patterns,
           cases[i].match ? "matches" : "does not match", cases[i].name);
    }
    for (size_t i = 0; i < CR_LEN(wrong); i++) {
        const struct cr_patterns *p = read(&diag, wrong[i].patterns, &config);

        cr_patterns_used(config, p, names, CR_LEN(names), "parameter");
        same(conf_messages(&diag), wrong[i].want, wrong[i].patterns);
    }
    for (size_t i = 0; i < CR_LEN(of); i++) {
        const struct cr_patterns *p = read(&diag, of[i].patterns, &config);
        char hits[CR_LEN(names) + 1] = "";

        for (size_t k = 0; k < CR_LEN(names); k++)
            hits[k] = cr_patterns_match(p, &names[k]) ? '1' : '0';
        same(hits, of[i].want, of[i].patterns);
        same(cr_patterns_text(p), of[i].text, of[i].patterns);
    }
    /* the product of lengths at worst, whatever the pattern */
    {
        char *name = CR_NEWS(&conf_mem, char, 2001);
        const struct cr_patterns *p =
            read(&diag, "*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", &config);

        memset(name, 'a', 2000);
        ok(!cr_patterns_match(p, &(struct cr_subject){ .name = name }),
           "many stars do not take for ever");
    }
    {
        char *names_500 = CR_NEWS(&conf_mem, char, 2001);

        for (int i = 0; i < 1000; i++)
            memcpy(names_500 + 2 * i, "a ", 3);
        read(&diag, names_500, &config);
        ok(diag.errors == 1 && strstr(conf_messages(&diag), "500 patterns"),
           "patterns are counted");
    }
    cr_arena_free(&conf_mem);
    return done();
}
