/*
 * Tables as text: rows and fields, what is refused and where; numbers; and
 * the columns that a data set makes of them.
 */
#include "conf.h"
#include "data/csv.h"
#include "data/data_loader.h"
#include "tap.h"

#include <math.h>
#include <unistd.h>

static char folder[] = "/tmp/cellrun-t_csv-XXXXXX";

static const char *put_bytes(const char *name, const char *text, size_t len)
{
    const char *path = cr_strf(&conf_mem, "%s/%s", folder, name);
    struct cr_diag diag = { .arena = &conf_mem };

    if (!cr_write_file(&diag, path, text, len))
        ok(false, "%s is written", name);
    return path;
}

static const char *put(const char *name, const char *text)
{
    return put_bytes(name, text, strlen(text));
}

/* Messages without the folder. */
static const char *said(struct cr_diag *diag)
{
    const char *text = conf_first(diag), *at = strstr(text, folder);

    return at ? at + strlen(folder) + 1 : text;
}

/* ---- rows ---- */

/* "a|b/c|d": fields and rows, then the message if there is one. */
static const char *rows(const char *text, size_t len, char delimiter)
{
    struct cr_diag diag = { .arena = &conf_mem };
    struct cr_buf b = { .arena = &conf_mem };
    struct cr_csv csv;
    bool bad = false;

    if (!cr_csv_open(&csv, &diag, put_bytes("r.csv", text, len), delimiter))
        return said(&diag);
    while (cr_csv_next(&csv, &bad)) {
        for (int i = 0; i < csv.n; i++) {
            cr_buf_str(&b, i ? "|" : b.len ? "/" : "");
            cr_buf_add(&b, csv.field[i].text, csv.field[i].len);
        }
        if (csv.n == 1 && csv.field[0].len == 0)
            cr_buf_str(&b, "''");
    }
    cr_csv_close(&csv);
    ok(bad == (diag.errors > 0), "an error is reported");
    if (bad)
        cr_buf_f(&b, "%s%s", b.len ? " " : "", said(&diag));
    return cr_buf_text(&b);
}

static void expect(const char *text, const char *want)
{
    same(rows(text, strlen(text), ','), want,
         cr_quote(&conf_mem, text, strlen(text)));
}

static void parsing(void)
{
    expect("", "");
    expect("\n\r\n\r\r", "");
    expect("a,b\nc,d\n", "a|b/c|d");
    expect("a,b\r\nc,d", "a|b/c|d");
    expect("a,b\rc,d\r", "a|b/c|d");
    expect("a,b\n\n\nc,d\n\n", "a|b/c|d");
    expect("\xef\xbb\xbf"
           "a,b\n",
           "a|b");
    expect(",\n,,\n", "|/||");
    expect("a,\n,b\n", "a|/|b");
    expect("\"a,b\",\"c\nd\"\n", "a,b|c\nd");
    expect("\"a\"\"b\",\"\"\"\"\n", "a\"b|\"");
    expect("\"\"\nx\n", "''/x");
    expect("\"\",\"\"\n", "|");
    expect("\"a\"\r\n\"b\"\r\n", "a/b");
    expect("\"a\r\nb\"\n", "a\r\nb");
    expect(" a , b \n", " a | b ");
    expect("\"a\"", "a");
    expect("x,y\na\"b,c\n",
           "x|y r.csv:2:2: error: a quote inside an unquoted field [E0203]");
    expect("x\n\"a\"b\n",
           "x r.csv:2:4: error: text after a closing quote; write a quote "
           "within a field twice [E0203]");
    expect("x\n\n\"a\nb,\"\"\n",
           "x r.csv:3:1: error: unclosed quote: the file ends "
           "within it [E0203]");
    expect("x,\"a\r",
           "r.csv:1:3: error: unclosed quote: the file ends within it [E0203]");
    expect("\xc3\xa4\xc3\xb6,\"\xc3\xbc\n\",b\"\n",
           "r.csv:2:4: error: a quote inside an unquoted field [E0203]");
    same(rows("a;b,c\n", 6, ';'), "a|b,c", "another delimiter");
    same(rows("a\tb\n", 4, '\t'), "a|b", "a tab");
    same(rows("a\nb\0c\n", 6, ','),
         "a r.csv:2:2: error: found a NUL byte, expected text [E0203]",
         "a NUL");
    same(rows("\"a\n\0", 4, ','),
         "r.csv:2:1: error: found a NUL byte, expected text [E0203]",
         "a NUL in quotes");
}

/* Rows that are longer than the window, at every place of its border. */
static void windows(void)
{
    size_t n = ((size_t)1 << 18) + 40, from;
    char *text = cr_alloc(&conf_mem, 1, n + 1);
    bool good = true;

    for (from = n - 80; from < n - 4; from++) {
        struct cr_diag diag = { .arena = &conf_mem };
        struct cr_csv csv;
        bool bad;

        memset(text, 'x', n);
        text[0] = '"';
        memcpy(text + from - 12, "\"\"\",\"\r\n\"\"\"\r\ny,z\n", 16);
        good =
            good &&
            cr_csv_open(&csv, &diag, put_bytes("w.csv", text, from + 4), ',') &&
            cr_csv_next(&csv, &bad) && csv.n == 2 &&
            csv.field[0].len == from - 12 &&
            csv.field[0].text[csv.field[0].len - 1] == '"' &&
            csv.field[1].len == 3 &&
            memcmp(csv.field[1].text, "\r\n\"", 3) == 0 && csv.line == 1 &&
            cr_csv_next(&csv, &bad) && csv.n == 2 && csv.line == 3 &&
            *csv.field[1].text == 'z' && csv.field[1].at == (int64_t)from + 2 &&
            !cr_csv_next(&csv, &bad) && !bad;
        cr_csv_close(&csv);
        cr_arena_free(&conf_mem);
        text = cr_alloc(&conf_mem, 1, n + 1);
    }
    ok(good, "a row's end anywhere at the window's border");
}

/* ---- numbers ---- */

static void real(const char *text, double want)
{
    double got = -1;

    ok(cr_csv_real(text, strlen(text), &got) && got == want, "%s is %.17g",
       text, want);
}

static void no_real(const char *text)
{
    double got;

    ok(!cr_csv_real(text, strlen(text), &got), "'%s' is no number", text);
}

static void whole(const char *text, bool good, int64_t want)
{
    int64_t got = 0;

    ok(cr_csv_int(text, strlen(text), &got) == good && got == want, "'%s' %s",
       text, good ? "is a whole number" : "is none");
}

static void numbers(void)
{
    char text[64];
    uint64_t seed = 7;
    bool good = true;
    int i;

    test_begin("texts that are numbers, and that are none");
    real("0", 0);
    real("-1.5", -1.5);
    real("+.5", .5);
    real(" 5.\t", 5);
    real("1e3", 1000);
    real("1E-3", 1e-3);
    real("0.1", 0.1);
    real("123456789012345678901234567890", 123456789012345678901234567890.);
    real("9007199254740993", 9007199254740992.);
    real("1.7976931348623157e308", 1.7976931348623157e308);
    real("5e-324", 5e-324);
    real("1e-400", 0);
    real("0e999999999", 0);
    real("0.000000000000000000000000000000012345", 1.2345e-32);
    no_real("");
    no_real(" ");
    no_real("-");
    no_real(".");
    no_real("1e");
    no_real("1e+");
    no_real("1.2.3");
    no_real("0x10");
    no_real("nan");
    no_real("inf");
    no_real("1e999");
    no_real("1 2");
    no_real("1,5");
    test_end();
    for (i = 0; i < 20000; i++) {
        double x, y;

        seed = seed * 6364136223846793005u + 1442695040888963407u;
        memcpy(&x, &seed, sizeof x);
        if (!isfinite(x))
            continue;
        snprintf(text, sizeof text, i % 3 ? "%.17g" : "%.6g", x);
        y = strtod(text, NULL);
        if (!isfinite(y))
            continue;
        good = good && cr_csv_real(text, strlen(text), &x) && x == y;
        snprintf(text, sizeof text, "%.*f", i % 9,
                 (double)(int64_t)(seed >> 40) / 1000);
        good = good && cr_csv_real(text, strlen(text), &x) &&
               x == strtod(text, NULL);
    }
    ok(good, "40000 numbers as strtod has them");
    whole("12", true, 12);
    whole(" -7 ", true, -7);
    whole("9223372036854775807", true, INT64_MAX);
    whole("-9223372036854775808", true, INT64_MIN);
    whole("9223372036854775808", false, 0);
    whole("1.0", false, 0);
    whole("", false, 0);
    whole("+", false, 0);
}

/* ---- columns ---- */

/* "x float32 (2,), label int32 (): 1 2 0; 3 4 1": columns and samples; or
 * the first line of what is said. */
static const char *table(const char *args, const char *loader)
{
    struct cr_diag diag = { .arena = &conf_mem };
    struct cr_data_loader_opts want = { .split = "eval" };
    const struct cr_batch *batch;
    struct cr_buf b = { .arena = &conf_mem };
    const struct cr_column *c;
    struct cr_config *config;
    struct cr_data_loader *p;
    int n, k;

    config =
        conf_load(&diag,
                  cr_strf(&conf_mem,
                          "dataset: {eval: {CSVDataset: "
                          "{dataset_files: %s/t.csv, %s}}}\ndatapipe: {%s}\n",
                          folder, args, loader),
                  NULL);
    if (diag.errors > 0)
        return said(&diag);
    p = cr_data_loader_open(config, &want);
    if (!p)
        return said(&diag);
    c = cr_data_loader_columns(p, &n);
    for (k = 0; k < n; k++)
        cr_buf_f(&b, "%s%s %s %s", k ? ", " : "", c[k].name,
                 cr_type_name(c[k].spec.type),
                 cr_diag_format(&conf_mem, &c[k].spec));
    for (int64_t i = 0; i < cr_data_loader_dataset(p)->classes; i++)
        cr_buf_f(&b, "%s%s", i ? "," : " ",
                 cr_data_loader_dataset(p)->class_names[i]);
    batch = cr_data_loader_next(p, &diag);
    for (int64_t i = 0; batch && i < batch->n; i++)
        for (k = 0; k < n; k++)
            for (int64_t q = 0; q < cr_count(&c[k].spec); q++) {
                double x;
                size_t size = cr_type_size(c[k].spec.type);

                cr_convert(c[k].spec.type,
                           (const char *)batch->data[k] +
                               (size_t)(i * cr_count(&c[k].spec) + q) * size,
                           CR_F64, &x, 1);
                cr_buf_f(&b, "%s%g", q || k ? " " : i ? "; " : ": ", x);
            }
    cr_data_loader_close(p);
    return batch ? cr_buf_text(&b) : said(&diag);
}

/* What real columns are, in either build. */
#ifdef CR_DOUBLE
#define REALS "float64"
#else
#define REALS "float32"
#endif

static void columns(void)
{
    put("t.csv", "a,b,c,d\n1,2,x,3\n4,5.5,y,6\n");
    same(table("columns: {x: {fields: \"0:2\", type: float32}}", ""),
         "x " REALS " (2,): 1 2; 4 5.5", "a slice");
    same(table("columns: {x: {fields: b, type: float64}, y: {fields: 3, type: "
               "int64}}",
               ""),
         "x " REALS " (), y int64 (): 2 3; 5.5 6", "a name and a position");
    same(table("columns: {x: {fields: [d, \"[ab]\"], type: float32}}", ""),
         "x " REALS " (3,): 3 1 2; 6 4 5.5", "a list with a glob");
    same(table("columns: {x: {fields: \"3:\", type: int32}}", ""),
         "x int32 (1,): 3; 6", "a slice to the end");
    same(table("columns: {label: c}", ""), "label int32 () x,y: 0; 1",
         "words of label");
    same(table("columns: {label: {fields: c, classes: [z, y, x]}}", ""),
         "label int32 () z,y,x: 2; 1", "classes");
    same(table("columns: {label: a}", ""), "label int32 (): 1; 4",
         "whole numbers of label");
    same(table("columns: {label: b}", ""), "label " REALS " (): 2; 5.5",
         "numbers of label");
    same(table("column_defaults: [0, 0.0, 0.0, 0]", ""),
         "t.csv:2:5: error: column 'c': found 'x', expected a number [E0203]",
         "types by defaults");
    put("t.csv", "1;;2\n3;4;\n");
    same(table("header: false, field_delim: ;, columns: {x: {fields: \"0:3\", "
               "type: float32, default: -1}}",
               ""),
         "x " REALS " (3,): 1 -1 2; 3 4 -1", "a default");
    same(table("header: false, field_delim: ;, columns: {x: {fields: \"0:3\", "
               "type: float32}}",
               ""),
         "t.csv:1:3: error: column 'x', field 'column_1': found nothing, "
         "expected a number [E0203]",
         "nothing");
    same(table("field_delim: ;, column_names: [a, b, label], columns: {label: "
               "label}",
               ""),
         "t.csv:2:5: error: column 'label': found nothing, expected a class "
         "[E0203]",
         "no label");
    put("t.csv", "a\n1\n2,3\n");
    same(table("columns: {x: {fields: a, type: int32}}", ""),
         "t.csv:3: error: the row has 2 fields, expected 1 as in the first "
         "line [E0203]",
         "a row too long");
    put("t.csv", "a\n1\n2147483648\n");
    same(table("columns: {x: {fields: a, type: int32}}", ""),
         "t.csv:3:1: error: column 'x', field 'a': found '2147483648', "
         "expected a 32-bit integer [E0203]",
         "too large");
    put("t.csv", "a,a\n1,2\n");
    same(table("columns: {x: a}", ""),
         "t.csv:1:3: error: duplicate name 'a' in the first line "
         "[E0203]",
         "a name twice");
    put("t.csv", "");
    same(table("columns: {x: a}", ""),
         "t.csv: error: the file has no rows [E0205]", "an empty file");
}

/* Two thousand words are classes; twenty thousand numbers are not. */
static void labels(void)
{
    struct cr_buf b = { .arena = &conf_mem };
    int i;

    cr_buf_str(&b, "label\n");
    for (i = 0; i < 20000; i++)
        cr_buf_f(&b, "%d\n", i * 3);
    put("t.csv", b.text);
    same(cr_strndup(&conf_mem, table("columns: {label: label}", ""), 30),
         "label int32 (): 0; 3; 6; 9; 12", "many numbers");
    cr_buf_str(&b, "0.5\n");
    put("t.csv", b.text);
    same(cr_strndup(&conf_mem, table("columns: {label: label}", ""), 30),
         "label " REALS " (): 0; 3; 6; 9; ", "then one that is not whole");
    cr_buf_str(&b, "-\n");
    put("t.csv", b.text);
    same(table("columns: {label: label}", ""),
         "t.csv:20003:1: error: column 'label': found '-', expected a number "
         "[E0203]",
         "then one that is no number");
    b.len = 0;
    for (i = 0; i < 10002; i++)
        cr_buf_f(&b, "w%d\n", i);
    put("t.csv", b.text);
    same(table("columns: {label: 0}", ""),
         "t.csv:10002:1: error: column 'label' has more than 10000 distinct "
         "strings [E0204]",
         "too many words");
}

int main(void)
{
    if (!mkdtemp(folder))
        return 1;
    test_begin("fields, quotes and ends of rows");
    parsing();
    test_end();
    windows();
    numbers();
    columns();
    labels();
    unlink(cr_strf(&conf_mem, "%s/r.csv", folder));
    unlink(cr_strf(&conf_mem, "%s/w.csv", folder));
    unlink(cr_strf(&conf_mem, "%s/t.csv", folder));
    rmdir(folder);
    cr_arena_free(&conf_mem);
    return done();
}
