/*
 * Any bytes as a table: read row by row, then as a data set with a column of
 * numbers, one of words and one of texts, all samples of which are read.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/str.h"
#include "data/csv.h"
#include "data/data_loader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void rows(struct cr_arena *mem, const char *path, char delimiter)
{
    struct cr_diag diag = { .arena = mem };
    struct cr_csv csv;
    bool bad = false;

    if (!cr_csv_open(&csv, &diag, path, delimiter))
        abort();
    while (cr_csv_next(&csv, &bad)) {
        size_t n = 0;

        for (int i = 0; i < csv.n; i++) {
            double real;
            int64_t integer;

            n += csv.field[i].len;
            cr_csv_real(csv.field[i].text, csv.field[i].len, &real);
            cr_csv_int(csv.field[i].text, csv.field[i].len, &integer);
            cr_csv_at(&csv, &csv.field[i]);
            if ((int64_t)csv.field[i].len > csv.field[i].raw)
                abort();
        }
        if (csv.n < 1 || (csv.n == 1 && csv.field[0].raw == 0) ||
            n > csv.cap)
            abort();
    }
    cr_csv_close(&csv);
    if (bad != (diag.errors > 0))
        abort(); /* refused without a word, or the other way round */
}

static void set(struct cr_arena *mem, struct cr_diag *diag, const char *args)
{
    const struct cr_descriptor *about =
        cr_registry_find(CR_KIND_DATASET, "CSVDataset");
    const struct cr_dataset_type *type =
        (const struct cr_dataset_type *)about;
    struct cr_dataset to = { .type = type };
    struct cr_config *config = cr_config_load(
        mem, diag, &(struct cr_config_from){ .text = args,
                                             .text_name = "t" });
    struct cr_obj obj;

    if (!cr_obj_read(config->arena, config->diag, CR_KIND_DATASET,
                     cr_node_get(config->root, "x"), &obj))
        abort();
    if (!type->open(config, obj.opts, CR_NOWHERE, &to))
        return;
    for (int64_t i = 0; i < to.count; i++)
        for (int k = 0; k < to.columns; k++) {
            struct cr_ragged text;

            if (to.column[k].spec.type == CR_STRING) {
                if (!type->text(&to, config->diag, i, k, config->arena,
                                &text) ||
                    memchr(text.v, '\0', (size_t)text.n))
                    abort();
            } else if (!type->at(&to, i, k)) {
                abort();
            }
        }
    for (int k = 0; k < to.columns && to.count > 0; k++)
        if (!type->where(&to, config->arena, to.count - 1, k).src)
            abort();
    type->close(&to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const columns[] = {
        "columns: {a: {fields: \"0:\", type: float32}}",
        "columns: {a: {fields: 0, type: string}, label: 1}",
        "header: false, columns: {label: 0, a: {fields: 0, type: int32, "
        "default: 3}}",
        "column_names: [a, b, c]",
        "field_delim: ;, columns: {a: {fields: [\"*\"], type: int64}}",
    };
    struct cr_arena mem = { 0 };
    struct cr_diag diag = { .arena = &mem };
    const char *path;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);

    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    path = cr_strf(&mem, "/proc/self/fd/%d", fd);
    rows(&mem, path, ',');
    rows(&mem, path, '\t');
    for (size_t i = 0; i < CR_LEN(columns); i++)
        set(&mem, &diag, cr_strf(&mem, "x: {CSVDataset: {dataset_files: %s, "
                                 "%s}}", path, columns[i]));
    close(fd);
    cr_arena_free(&mem);
    return 0;
}
