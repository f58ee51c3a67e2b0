/*
 * Any bytes as metrics.jsonl: lines in order, steps that never fall, columns
 * with different names.
 */
#include <stdlib.h>
#include <string.h>

#include "rundir/series.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cr_arena mem = { 0 };
    struct cr_run_series run = { .arena = &mem };
    int64_t lines = 0;

    cr_run_series_parse(&run, (const char *)data, size, 0);
    for (size_t i = 0; i < size; i++)
        lines += data[i] == '\n';
    if (run.invalid > lines || (run.invalid > 0) != (run.first_invalid > 0))
        abort();
    for (int i = 0; i < run.n; i++) {
        const struct cr_series *s = &run.series[i];

        if (!s->name || s->n < 1 || s->n > lines)
            abort();
        for (int64_t k = 0; k < s->n; k++)
            if (s->line[k] < 1 || s->line[k] > lines ||
                (k > 0 && s->line[k] <= s->line[k - 1]) ||
                (k > 0 && s->step[k] < s->step[k - 1]))
                abort();
        for (int k = 0; k < s->n_columns; k++)
            if (!s->column[k].name ||
                cr_series_column(s, s->column[k].name) != &s->column[k])
                abort();
    }
    cr_arena_free(&mem);
    return 0;
}
