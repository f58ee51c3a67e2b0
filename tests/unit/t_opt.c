/* The reader of option tables: defaults, positions, units, and messages. */
#include "conf/opt.h"

#include <math.h>

#include "base/str.h"
#include "conf/yaml.h"
#include "tap.h"

struct inner {
    double norm;
    int64_t must;
};

struct all {
    int64_t units, maybe;
    double p, rate;
    bool bias;
    const char *name, *note;
    int mode;
    struct cr_ints sizes;
    struct cr_reals mean;
    struct cr_strs words;
    struct cr_quantity every, limit;
    struct inner clip;
    const struct cr_node *raw;
};

static const struct cr_opt inner_rows[] = {
    CR_REAL_DEFAULT(struct inner, norm, 2.5, 0, INFINITY, "Doc."),
    CR_INT(struct inner, must, 0, 9, "Doc."),
    { 0 },
};

static const struct cr_opt all_rows[] = {
    CR_INT(struct all, units, 1, 100, "Doc."),
    CR_REAL_DEFAULT(struct all, p, 0.5, 0, 1, "Doc."),
    CR_BOOL_DEFAULT(struct all, bias, true, "Doc."),
    CR_INT_OPTIONAL(struct all, maybe, -5, CR_DIM_MAX, "Doc."),
    CR_REAL_POS_DEFAULT(struct all, rate, 0.1, INFINITY, "Doc."),
    CR_STR_DEFAULT(struct all, name, "none", "Doc."),
    CR_STR_OPTIONAL(struct all, note, "Doc."),
    CR_ENUM_DEFAULT(struct all, mode, 1, "mean|sum|none", "Doc."),
    CR_INTS_OPTIONAL(struct all, sizes, 1, 64, "Doc."),
    CR_REALS_OPTIONAL(struct all, mean, -INFINITY, INFINITY, "Doc."),
    CR_STRS_OPTIONAL(struct all, words, "Doc."),
    CR_QUANTITY_DEFAULT(struct all, every, "100 steps", CR_STEPS, "Doc."),
    CR_QUANTITY_OPTIONAL(struct all, limit, CR_SECONDS, "Doc."),
    CR_SUB(struct all, clip, inner_rows, "Doc."),
    CR_NODE(struct all, raw, "Doc."),
    { 0 },
};

static const char *const renamed[] = { "width", "units", NULL };

static const struct cr_descriptor all_about = {
    .name = "All",
    .summary = "Every type of row.",
    .opts = all_rows,
    .size = sizeof(struct all),
    .renamed = renamed,
};

static const struct cr_descriptor named_about = {
    .name = "Named",
    .summary = "By name only.",
    .opts = all_rows,
    .size = sizeof(struct all),
    .keyword_only = true,
};

static const struct cr_opt one_rows[] = {
    CR_REALS_OPTIONAL(struct all, mean, -INFINITY, INFINITY, "Doc."),
    { 0 },
};

static const struct cr_descriptor one_about = {
    .name = "One",
    .summary = "One list.",
    .opts = one_rows,
    .size = sizeof(struct all),
};

static const struct cr_descriptor none_about = { .name = "None",
                                                 .summary = "-" };

static struct cr_arena mem;
static struct cr_diag diag;

static struct cr_node *parse(const char *text)
{
    struct cr_source *src = CR_NEW(&mem, struct cr_source);

    *src = (struct cr_source){ "t.yaml", text, strlen(text), 0 };
    return cr_yaml_read(&mem, &diag, src, 0, src->len);
}

static bool read_as(const struct cr_descriptor *about, const char *text,
                    struct all *to)
{
    memset(to, 0, sizeof *to);
    diag = (struct cr_diag){ .arena = &mem };
    return cr_opts_read(&mem, &diag, about, parse(text), CR_NOWHERE, to);
}

/* The one message that a text gives, with its place and hint. */
static void complains(const struct cr_descriptor *about, const char *text,
                      enum cr_code code, const char *place, const char *want,
                      const char *hint)
{
    struct all a;
    const struct cr_message *m;

    ok(!read_as(about, text, &a) && diag.errors == 1, "refused: %s", text);
    m = diag.first;
    if (!m) {
        ok(false, "a message");
        return;
    }
    same(m->text, want, "its words");
    same(cr_strf(&mem, "%d:%d", m->pos.line, m->pos.col), place, "its place");
    same(m->hint, hint, "its hint");
    ok(m->code == code, "its code is %s", cr_code_number(m->code));
}

static void defaults(void)
{
    struct all a;

    ok(read_as(&all_about, "{units: 3}", &a), "the required row is enough");
    ok(a.units == 3 && a.maybe == CR_INT_NONE && a.p == 0.5 && a.rate == 0.1,
       "numbers have their defaults");
    ok(a.bias && a.mode == 1, "so have truth values and choices");
    same(a.name, "none", "text too");
    ok(!a.note && a.sizes.n == 0 && a.words.n == 0 && !a.raw,
       "what may be absent is");
    ok(a.every.unit == CR_STEPS && a.every.value == 100, "a quantity");
    ok(a.limit.unit == CR_UNIT_NONE, "no quantity");
    ok(a.clip.norm == 2.5 && a.clip.must == 0,
       "an absent sub-map has defaults, and asks for nothing");
    ok(read_as(&all_about, "{units: 3, p: null}", &a) && a.p == 0.5,
       "null is the default");
}

static void values(void)
{
    struct all a;

    ok(read_as(&all_about,
               "{units: 1e2, p: 1, bias: false, maybe: -5, rate: .5,\n"
               " name: 12, note: abc, mode: none, sizes: [1, 2], mean: 3,\n"
               " words: [x, 2], every: 2 epochs, limit: 1.5 h,\n"
               " clip: {norm: 0, must: 9}, raw: {a: 1}}", &a),
       "everything given");
    ok(a.units == 100, "1e2 is an integer");
    ok(a.p == 1 && !a.bias && a.maybe == -5 && a.rate == 0.5, "numbers");
    same(a.name, "12", "a number serves as a name");
    ok(a.mode == 2, "a choice");
    ok(a.sizes.n == 2 && a.sizes.v[1] == 2, "a list of integers");
    ok(a.mean.n == 1 && a.mean.v[0] == 3, "a lone value is a list of one");
    ok(a.words.n == 2 && strcmp(a.words.v[1], "2") == 0, "texts");
    ok(a.every.unit == CR_EPOCHS && a.every.value == 2, "2 epochs");
    ok(a.limit.unit == CR_SECONDS && a.limit.value == 5400, "1.5 h");
    ok(a.clip.norm == 0 && a.clip.must == 9, "a map in a map");
    ok(a.raw && cr_node_get(a.raw, "a"), "a raw node");
    ok(read_as(&all_about, "[7, 0.25, false]", &a) && a.units == 7 &&
       a.p == 0.25 && !a.bias && a.rate == 0.1, "positions");
    ok(read_as(&all_about, "7", &a) && a.units == 7, "the first row alone");
    ok(read_as(&one_about, "[1, 2, 3]", &a) && a.mean.n == 3,
       "a list for the only row there is");
    ok(read_as(&none_about, "", &a), "no rows, no arguments");
}

static void messages(void)
{
    complains(&all_about, "{unit: 3, units: 3}", CR_E_UNKNOWN_ARGUMENT, "1:2",
              "unknown argument 'unit' for All", "did you mean 'units'?");
    same(diag.first->notes,
         "All takes: units p bias maybe rate name note mode sizes mean words "
         "every limit clip raw      (cellrun help All)", "what it takes");
    complains(&all_about, "{width: 3, units: 3}", CR_E_UNKNOWN_ARGUMENT, "1:2",
              "'width' of All was renamed to 'units'", "write 'units'");
    complains(&all_about, "{p: 1}", CR_E_MISSING_KEY, "0:0",
              "argument 'units' of All is missing", NULL);
    complains(&all_about, "{units: 0}", CR_E_OUT_OF_RANGE, "1:9",
              "'units' of All: found the number 0, expected an integer from "
              "1 to 100", NULL);
    complains(&all_about, "{units: 1.5}", CR_E_WRONG_TYPE, "1:9",
              "'units' of All: found the number 1.5, expected an integer "
              "from 1 to 100", NULL);
    complains(&all_about, "{units: 1, p: nan}", CR_E_OUT_OF_RANGE, "1:15",
              "'p' of All: found the number nan, expected a number from 0 to "
              "1", NULL);
    complains(&all_about, "{units: 1, rate: 0}", CR_E_OUT_OF_RANGE, "1:18",
              "'rate' of All: found the number 0, expected a number above 0",
              NULL);
    complains(&all_about, "{units: 1, bias: no}", CR_E_WRONG_TYPE, "1:18",
              "'bias' of All: found 'no', expected true or false",
              "write false");
    complains(&all_about, "{units: 1, mode: summ}", CR_E_OUT_OF_RANGE, "1:18",
              "'mode' of All: found 'summ', expected mean, sum or none",
              "did you mean 'sum'?");
    complains(&all_about, "{units: 1, name: []}", CR_E_WRONG_TYPE, "1:18",
              "'name' of All: found an empty list, expected text", NULL);
    complains(&all_about, "{units: 1, sizes: [1, 65]}", CR_E_OUT_OF_RANGE,
              "1:23", "'sizes' of All: found the number 65, expected "
              "integers from 1 to 64", NULL);
    complains(&all_about, "{units: 1, every: 5 epocs}", CR_E_UNIT, "1:19",
              "found '5 epocs', expected a number with a unit: steps, "
              "epochs, samples, s, min, h or %", "did you mean 'epochs'?");
    complains(&all_about, "{units: 1, clip: {norm: 1}}", CR_E_MISSING_KEY,
              "1:18", "argument 'must' of All clip is missing", NULL);
    complains(&all_about, "{units: 1, clip: 3}", CR_E_WRONG_TYPE, "1:18",
              "'clip' of All: found the number 3, expected a map of keys",
              "write {norm: 3}");
    complains(
        &named_about, "[3]", CR_E_UNKNOWN_ARGUMENT, "1:1",
        "Named: found an argument without a name, expected arguments by name",
        "write {Named: {units: 3}} or {Named: {p: ...}}");
    complains(&none_about, "3", CR_E_UNKNOWN_ARGUMENT, "1:1",
              "None takes no arguments", NULL);
    complains(&none_about, "{a: 3}", CR_E_UNKNOWN_ARGUMENT, "1:2",
              "unknown argument 'a': None takes none", NULL);
    complains(&one_about, "{mean: x}", CR_E_WRONG_TYPE, "1:8",
              "'mean' of One: found 'x', expected numbers", NULL);
}

static void several(void)
{
    struct all a;

    ok(!read_as(&all_about, "{p: 2, bias: 3, mod: 1}", &a) &&
       diag.errors == 4, "all that is wrong is reported: %d", diag.errors);
    ok(!read_as(&all_about, "[1, 0, true, 1, 1, a, b, sum, 1, 1, c, 1, 1, "
                            "{must: 1}, r, s]", &a) &&
       diag.errors == 1, "too many positions");
    same(diag.first->text, "All takes at most 15 arguments, found 16",
         "and how many");
}

static void quantities(void)
{
    static const struct {
        const char *text;
        enum cr_unit unit;
        double value;
    } good[] = {
        { "500", CR_STEPS, 500 },        { "2 epochs", CR_EPOCHS, 2 },
        { "1 epoch", CR_EPOCHS, 1 },     { "10 min", CR_SECONDS, 600 },
        { "10s", CR_SECONDS, 10 },       { "2h", CR_SECONDS, 7200 },
        { "2M samples", CR_SAMPLES, 2e6 }, { "5%", CR_PERCENT, 5 },
        { "1.5k steps", CR_STEPS, 1500 }, { "1e3 steps", CR_STEPS, 1000 },
        { "0.5 epochs", CR_EPOCHS, 0.5 }, { "1 d", CR_SECONDS, 86400 },
    };
    static const char *const bad[] = { "", "steps", "-1", "5 apples", "5 5",
                                       "1e999 steps", "inf", "nan", "5%%",
                                       "5 steps " };
    struct cr_quantity a;

    test_begin("quantities are read");
    for (size_t i = 0; i < CR_LEN(good); i++)
        ok(cr_quantity_parse(good[i].text, CR_STEPS, &a) &&
               a.unit == good[i].unit && a.value == good[i].value,
           "a quantity: %s", good[i].text);
    test_begin("what is not a quantity is refused");
    for (size_t i = 0; i < CR_LEN(bad); i++)
        ok(!cr_quantity_parse(bad[i], CR_STEPS, &a), "none: '%s'", bad[i]);
    test_end();
    ok(!cr_quantity_parse("5", CR_UNIT_NONE, &a), "a unit may be demanded");
}

static void words(void)
{
    same(cr_opt_default(&mem, &all_rows[0]), NULL, "required: no default");
    same(cr_opt_default(&mem, &all_rows[1]), "0.5", "a number's default");
    same(cr_opt_default(&mem, &all_rows[2]), "true", "a truth value's");
    same(cr_opt_default(&mem, &all_rows[7]), "sum", "a choice's");
    same(cr_opt_default(&mem, &all_rows[11]), "100 steps", "a quantity's");
    same(cr_opt_expects(&mem, &all_rows[3]), "an integer of at least -5",
         "CR_DIM_MAX is no bound worth words");
}

int main(void)
{
    defaults();
    values();
    messages();
    several();
    quantities();
    words();
    cr_arena_free(&mem);
    return done();
}
