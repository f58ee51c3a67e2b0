/*
 * What the fields of a table hold, found by reading it; and dates. The
 * seconds of dates are those that GNU date prints for them.
 */
#include "conf.h"
#include "data/infer.h"
#include "tap.h"

#include <unistd.h>

static char folder[] = "/tmp/cellrun-t_infer-XXXXXX";

/* ---- dates ---- */

static void date_is(const char *text, enum cr_date_form form, double want)
{
    double got = -1;
    bool good = cr_date_read(text, strlen(text), form, &got);

    ok(good && got == want, "%s is %.0f: %.3f", text, want, got);
}

static void dates(void)
{
    static const char *const none[] = {
        "", "2024", "2024-13-01", "2023-02-29", "1900-02-29", "2024-3",
        "2024-03-05x", "2024-03/05", "2024-03-05T24:00", "12:60", "1:2",
        "2024-03-05 12:00 PM", "Mrz 5, 2024", "20240305", "5.3.24",
        "2024-03-05T12:00+25:00", "0-0-0", "-2024-03-05", NULL
    };
    bool clock = false;
    int i;

    test_begin("dates become seconds since 1970");
    date_is("1970-01-01", CR_DATE_YMD, 0);
    date_is("1969-12-31", CR_DATE_YMD, -86400);
    date_is("2000-02-29", CR_DATE_YMD, 951782400);
    date_is("1900-03-01", CR_DATE_YMD, -2203891200);
    date_is("0001-01-01", CR_DATE_YMD, -62135596800);
    date_is("9999/12/31", CR_DATE_YMD, 253402214400);
    date_is("5.3.2024", CR_DATE_DMY, 1709596800);
    date_is("3/5/2024", CR_DATE_MDY, 1709596800);
    date_is("Mar 5, 2024", CR_DATE_MDY, 1709596800);
    date_is("05-MARCH-2024", CR_DATE_DMY, 1709596800);
    date_is(" 5 mar 2024 ", CR_DATE_DMY, 1709596800);
    date_is("2024-03-05T14:30:05Z", CR_DATE_YMD, 1709649005);
    date_is("2024-03-05 14:30+01:00", CR_DATE_YMD, 1709645400);
    date_is("2024-03-05 14:30+0100", CR_DATE_YMD, 1709645400);
    date_is("2024-03-05T14:30:05.25", CR_DATE_YMD, 1709649005.25);
    date_is("14:30:05", CR_DATE_CLOCK, 52205);
    test_end();
    test_begin("other texts are no dates");
    for (i = 0; none[i]; i++)
        ok(cr_date_forms(none[i], strlen(none[i]), CR_DATE_ANY, &clock) == 0,
           "'%s'", none[i]);
    test_end();
    test_begin("the values of a column settle which number is the day");
    ok(cr_date_forms("3/5/2024", 8, CR_DATE_ANY, &clock) ==
           (CR_DATE_MDY | CR_DATE_DMY), "either");
    ok(cr_date_forms("13/5/2024", 9, CR_DATE_ANY, &clock) == CR_DATE_DMY,
       "day first");
    ok(cr_date_forms("3/25/2024", 9, CR_DATE_ANY, &clock) == CR_DATE_MDY,
       "month first");
    ok(!clock, "no time of day");
    ok(cr_date_forms("3:25", 4, CR_DATE_ANY, &clock) == CR_DATE_CLOCK && clock,
       "a time of day");
    test_end();
}

/* ---- tables ---- */

static const char *put(const char *name, const char *text)
{
    const char *path = cr_strf(&conf_mem, "%s/%s", folder, name);
    struct cr_diag diag = { .arena = &conf_mem };

    if (!cr_write_file(&diag, path, text, strlen(text)))
        ok(false, "%s is written", name);
    return path;
}

static void one(struct cr_buf *b, const struct cr_field_facts *f)
{
    int i;

    cr_buf_f(b, "%s: %s", f->name, cr_field_kind_name(f->kind));
    if (f->missing > 0)
        cr_buf_f(b, " -%d", (int)f->missing);
    if (f->kind == CR_FIELD_INTEGER || f->kind == CR_FIELD_REAL ||
        f->kind == CR_FIELD_DATE)
        cr_buf_f(b, " %g..%g mean %g", f->min, f->max, f->mean);
    if (f->kind == CR_FIELD_DATE)
        cr_buf_f(b, " form %d%s", f->form, f->clock ? " clock" : "");
    if (f->kind == CR_FIELD_CATEGORY)
        for (i = 0; i < f->n_classes; i++)
            cr_buf_f(b, " %s=%d", f->class_name[i], (int)f->class_count[i]);
    cr_buf_str(b, "; ");
}

/* The fields of a text, or the message. */
static const char *facts(const char *text, const struct cr_infer_opts *o)
{
    struct cr_infer_opts any = { .header = -1 };
    struct cr_diag diag = { .arena = &conf_mem };
    struct cr_buf b = { .arena = &conf_mem };
    const char *path = put("t.csv", text);
    struct cr_table_facts t;

    if (!cr_infer(&conf_mem, &diag, &path, 1, o ? o : &any, &t)) {
        const char *first = conf_first(&diag), *at = strstr(first, folder);

        return at ? at + strlen(folder) + 1 : first;
    }
    cr_buf_f(&b, "'%c'%s %d rows; ", t.delimiter, t.header ? " header" : "",
             (int)t.rows);
    for (int i = 0; i < t.n; i++)
        one(&b, &t.field[i]);
    return cr_buf_text(&b);
}

/* Rows 0 .. n - 1 of a format that has one %d. */
static const char *rows(const char *header, const char *format, int n)
{
    struct cr_buf b = { .arena = &conf_mem };

    cr_buf_str(&b, header);
    for (int i = 0; i < n; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        cr_buf_f(&b, format, i);
#pragma GCC diagnostic pop
    }
    return cr_buf_text(&b);
}

static void kinds(void)
{
    same(facts("age,fare,sex,when,one\n30,7.5,male,2024-03-05,x\n"
               "NA,-,female,2024-03-07,x\n20,8.5,male,?,x\n", NULL),
         "',' header 3 rows; age: integer -1 20..30 mean 25; "
         "fare: real -1 7.5..8.5 mean 8; "
         "sex: category female=1 male=2; "
         "when: date -1 19787..19789 mean 19788 form 1; "
         "one: constant; ",
         "numbers, categories, dates and constants, with missing values");
    same(facts("a;b\nn/a;NaN\n;NULL\nnone;\n", NULL),
         "';' header 3 rows; a: empty -3; b: empty -3; ", "nothing at all");
    same(facts("d\n3/5/2024 1:30\n13/5/2024 1:31\n", NULL),
         "',' header 2 rows; d: date 1.7147e+09..1.71556e+09 mean "
         "1.71513e+09 form 4 clock; ", "days first, with the time of day");
    same(facts("c\n1\n2\n10\nx\n2\n", NULL),
         "',' header 5 rows; c: category 1=1 10=1 2=2 x=1; ",
         "one word among numbers makes categories");
    same(facts(rows("id,k,t,w\n", "%d,5,a text no. %1$d,w%1$d\n", 50), NULL),
         "',' header 50 rows; id: id; k: constant; t: text; w: id; ",
         "ids and texts");
    same(facts(rows("key,n\n", "%d,%1$d0\n", 50), NULL),
         "',' header 50 rows; key: id; n: integer 0..490 mean 245; ",
         "numbers that count the rows are ids, others that differ are not");
    same(facts(rows("user_id\n", "%d7\n", 9), NULL),
         "',' header 9 rows; user_id: id; ", "ids by their name");
    same(cr_strndup(&conf_mem,
                    facts(rows("w\n", "w%d a\n", 1001), NULL), 33),
         "',' header 1001 rows; w: text; ", "too many to be categories");
}

static void forms(void)
{
    static const char *const names[] = { "p", "q" };
    const struct cr_infer_opts given = {
        .delimiter = ',', .header = 0, .n_names = 2, .names = names
    };

    same(facts("a\tb\n1,5\t2\n2,5\t3\n", NULL),
         "'\t' header 2 rows; a: category 1,5=1 2,5=1; "
         "b: integer 2..3 mean 2.5; ", "tabs, with commas in the fields");
    same(facts("a|b\n\"x|y\"|2\nz|3\n", NULL),
         "'|' header 2 rows; a: category x|y=1 z=1; "
         "b: integer 2..3 mean 2.5; ", "bars, with one in quotes");
    same(facts("5.1,setosa\n4.9,virginica\n", NULL),
         "',' 2 rows; column_0: real 4.9..5.1 mean 5; "
         "column_1: category setosa=1 virginica=1; ",
         "a first row with a number is no header");
    same(facts("red,big\nblue,big\nred,small\n", NULL),
         "',' 3 rows; column_0: category blue=1 red=2; "
         "column_1: category big=2 small=1; ",
         "a first row whose words come again is no header");
    same(facts("colour,size\nblue,big\nred,small\n", NULL),
         "',' header 2 rows; colour: category blue=1 red=1; "
         "size: category big=1 small=1; ", "one whose words do not, is one");
    same(facts("a,b\n1,2\n", &given),
         "',' 2 rows; p: category 1=1 a=1; q: category 2=1 b=1; ",
         "given names and header: false hold");
    same(facts("a,b\n1\n", NULL),
         "t.csv:2: error: the row has 1 field, expected 2 as in the first "
         "line [E0203]", "rows of several lengths");
    same(facts("a,b\n", NULL), "t.csv: error: the file has no rows [E0205]",
         "a header alone");
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    dates();
    kinds();
    forms();
    unlink(cr_strf(&conf_mem, "%s/t.csv", folder));
    rmdir(folder);
    cr_arena_free(&conf_mem);
    return done();
}
