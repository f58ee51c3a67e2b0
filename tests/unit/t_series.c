/*
 * metrics.jsonl as series: columns, gaps, axes, lines that are cut off.
 */
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "ckpt/json.h"
#include "rundir/series.h"
#include "tap.h"

static struct cr_arena mem;

static struct cr_run_series parse(const char *text, double epoch_samples)
{
    struct cr_run_series run = { .arena = &mem };

    cr_run_series_parse(&run, text, strlen(text), epoch_samples);
    return run;
}

static double at(const struct cr_run_series *run, const char *series,
                 const char *column, int64_t i)
{
    const struct cr_series *s = cr_series_find(run, series);
    const struct cr_series_column *c = cr_series_column(s, column);

    return c && i < s->n ? c->value[i] : -1e9;
}

static void test_columns(void)
{
    struct cr_run_series run = parse(
        "{\"t\":100.5,\"step\":1,\"epoch\":0,\"samples\":10,"
        "\"split\":\"train\",\"loss\":2.25,\"lr\":0.1}\n"
        "{\"t\":102,\"step\":10,\"epoch\":0,\"samples\":100,"
        "\"split\":\"eval\",\"accuracy\":0.5,\"loss\":null,"
        "\"confusion_matrix\":[[1,2],[3,{\"a\":\"]\"}]]}\n"
        "{\"t\":101,\"step\":5,\"epoch\":0,\"samples\":50,"
        "\"split\":\"train\",\"loss\":null,\"grad_norm\":1e-3}\n",
        100);
    const struct cr_series *train = cr_series_find(&run, "train");

    test_begin("each split is a series, each number a column");
    ok(run.n == 2 && train && train->n == 2, "train and eval");
    ok(train->n_columns == 3 && !cr_series_find(&run, "test"), "columns");
    ok(at(&run, "train", "loss", 0) == 2.25, "loss");
    ok(at(&run, "eval", "accuracy", 0) == 0.5, "accuracy");
    ok(!cr_series_column(cr_series_find(&run, "eval"), "confusion_matrix"),
       "a list is skipped");
    test_end();
    test_begin("null and absent members are gaps");
    ok(isnan(at(&run, "train", "loss", 1)), "null");
    ok(isnan(at(&run, "train", "lr", 1)), "absent later");
    ok(isnan(at(&run, "train", "grad_norm", 0)), "absent before");
    ok(at(&run, "train", "grad_norm", 1) == 1e-3, "present");
    test_end();
    test_begin("step, epoch and time of each record");
    ok(train->step[1] == 5 && train->time[1] == 0.5, "step and time");
    ok(train->epoch[0] == 0.1 && train->epoch[1] == 0.5, "epoch");
    ok(train->t[0] == 100.5 && train->samples[1] == 50, "t and samples");
    ok(train->line[0] == 1 && train->line[1] == 3, "line");
    test_end();
}

static void test_epochs(void)
{
    struct cr_run_series run = parse(
        "{\"t\":1,\"step\":1,\"epoch\":0,\"samples\":5,\"split\":\"train\"}\n"
        "{\"t\":1,\"step\":4,\"epoch\":0,\"samples\":20,\"split\":\"eval\"}\n"
        "{\"t\":1,\"step\":7,\"epoch\":1,\"samples\":35,\"split\":\"train\"}\n",
        0);

    ok(run.series[0].epoch[0] == 0.25 && run.series[0].epoch[1] == 1.75 &&
           run.series[1].epoch[0] == 1,
       "the length of an epoch follows from an evaluation at its end");
    run = parse("{\"t\":1,\"step\":4,\"epoch\":1,\"samples\":5,"
                "\"split\":\"train\"}\n", 10);
    ok(run.series[0].epoch[0] == 1, "an epoch is not before its number");
}

static void test_lines(void)
{
    struct cr_run_series run = parse(
        "{\"step\":1,\"split\":\"train\",\"loss\":1}\n"
        "no record\n"
        "{\"step\":2,\"split\":\"train\",\"loss\":2} \r\n"
        "{\"step\":3,\"split\":\"train\",\"loss\":3",
        0);

    ok(run.n == 1 && run.series[0].n == 2,
       "a last line without its line feed is ignored");
    ok(run.invalid == 1 && run.first_invalid == 2,
       "a line that is not a record is counted");
    run = parse("{\"step\":1,\"split\":\"train\",\"loss\":1}\n"
                "{\"step\":9,\"split\":\"train\",\"loss\":9}\n"
                "{\"step\":12,\"split\":\"eval\",\"loss\":9}\n"
                "{\"step\":5,\"split\":\"train\",\"loss\":5}\n", 0);
    ok(run.series[0].n == 2 && run.series[0].step[1] == 5 &&
           at(&run, "train", "loss", 1) == 5 && run.series[1].n == 1,
       "a record of an earlier step replaces the later ones");
    run = parse("{\"step\":1,\"split\":\"watch\",\"at\":\"fc.1\","
                "\"what\":\"grad\",\"mean\":1}\n"
                "{\"step\":1,\"split\":\"watch\",\"at\":\"f\\u0063.1\","
                "\"what\":\"output\",\"mean\":2}\n", 0);
    ok(at(&run, "watch.fc.1.grad", "mean", 0) == 1 &&
           at(&run, "watch.fc.1.output", "mean", 0) == 2,
       "each cell and quantity that is watched is a series");
}

/* jansson's strtod is the oracle. */
static void test_numbers(void)
{
    static const char *const texts[] = {
        "0", "-0.0", "1", "-17", "0.1", "2.3087575435638428", "1e-5",
        "9007199254740993", "1795403694.952", "123456789012345678901234",
        "0.000000000000000000000001", "1.7976931348623157e308", "5e-324",
        "18446744073709551617.5", "1E+2", "0.10094822605606169",
    };
    static const char *const bad[] = { "-", "1e", ".", "+1", "1.2.3", "0x1",
                                       "nan", "1-2", "" };

    test_begin("numbers are read to the last bit");
    for (size_t i = 0; i < CR_LEN(texts); i++) {
        struct cr_run_series run = parse(
            cr_strf(&mem, "{\"split\":\"s\",\"v\":%s}\n", texts[i]), 0);
        double want = strtod(texts[i], NULL), got = at(&run, "s", "v", 0);

        ok(memcmp(&got, &want, sizeof got) == 0, "%s", texts[i]);
    }
    test_end();
    test_begin("what is not a number is refused");
    for (size_t i = 0; i < CR_LEN(bad); i++) {
        struct cr_run_series run = parse(
            cr_strf(&mem, "{\"split\":\"s\",\"v\":%s}\n", bad[i]), 0);

        ok(run.n == 0 && run.invalid == 1, "'%s'", bad[i]);
    }
    test_end();
}

static void test_files(void)
{
    struct cr_diag diag = { .arena = &mem };
    struct cr_run_series run = { .arena = &mem };
    char dir[] = "/tmp/t_series.XXXXXX";
    const char *metrics, *record;
    FILE *file;

    if (!ok(mkdtemp(dir) != NULL, "a folder is made"))
        return;
    metrics = cr_path_join(&mem, dir, "metrics.jsonl");
    record = cr_path_join(&mem, dir, "record.json");
    ok(cr_run_series_read(&run, &diag, dir) && run.n == 0 && diag.errors == 0,
       "a run without metrics.jsonl has no series");
    file = fopen(metrics, "w");
    fputs("{\"t\":7,\"step\":1,\"epoch\":0,\"samples\":10,\"split\":\"train\","
          "\"loss\":1}\n", file);
    fclose(file);
    file = fopen(record, "w");
    fputs("{\"data\":{\"train\":{\"samples\":40}}}", file);
    fclose(file);
    ok(cr_run_series_read(&run, &diag, dir) && run.n == 1 &&
           run.series[0].epoch[0] == 0.25,
       "record.json gives the samples of an epoch");
    unlink(metrics);
    mkdir(metrics, 0700);
    ok(!cr_run_series_read(&run, &diag, dir) && diag.errors == 1,
       "a file that cannot be read is an error");
    rmdir(metrics);
    unlink(record);
    rmdir(dir);
}

/* Records of 4096 different members, then many with none: a column has a value
 * for each record, present or not. */
static void test_room(void)
{
    struct cr_arena own = { 0 };
    struct cr_run_series run = { .arena = &own };
    struct cr_buf text = { .arena = &own };
    const struct cr_series *s;

    for (int i = 0; i < 4096; i++)
        cr_buf_f(&text, "%s\"k%d\":1%s", i % 256 ? "," : "{\"split\":\"a\",",
                 i, i % 256 == 255 ? "}\n" : "");
    for (int i = 0; i < 100000; i++)
        cr_buf_str(&text, "{\"split\":\"a\"}\n");
    cr_run_series_parse(&run, cr_buf_text(&text), text.len, 0);
    s = cr_series_find(&run, "a");
    ok(s && s->n_columns == 4096 && run.invalid > 0 &&
           (size_t)(s->cap * s->n_columns) <= text.len + (1 << 20),
       "the memory of columns is bounded by the length of the file");
    cr_arena_free(&own);
}

int main(void)
{
    test_columns();
    test_epochs();
    test_lines();
    test_numbers();
    test_files();
    test_room();
    cr_arena_free(&mem);
    return done();
}
