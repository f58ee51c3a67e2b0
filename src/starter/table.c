/* init --from-csv: the inferred kinds of the fields (data/infer.h) decide which
 * are inputs of the network, and how. */
#include "starter/starter.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data/csv.h"
#include "data/infer.h"

/* How the config uses a field. */
enum use { USE_TARGET, USE_NUMBER, USE_CATEGORY, USE_DATE, USE_EMBED, USE_DROP,
           USES };

/* A category with more values is embedded, as a separate column; their number
 * is limited. */
#define ONE_HOT_MOST 32
#define EMBED_MOST 8

struct table {
    struct cr_starter *s;
    const char *path;
    struct cr_table_facts facts;
    const struct cr_field_facts *target;
    struct cr_starter_facts of; /* properties of the target */
    enum use *use;
    int n[USES];                /* number of fields of each use */
    int64_t inputs;             /* number of inputs of the network */
    bool missing;               /* some number or date is missing */
};

/* ---- The target */

static const char *table_names(const struct table *t)
{
    struct cr_buf b = { .arena = t->s->arena };

    for (int i = 0; i < t->facts.n && i < 12; i++)
        cr_buf_f(&b, "%s%s", i ? ", " : "", t->facts.field[i].name);
    if (t->facts.n > 12)
        cr_buf_str(&b, ", ...");
    return cr_buf_text(&b);
}

/* Whether almost all values are numbers with one unit, such as 78.1 kg. */
static bool table_has_unit(const struct cr_field_facts *f)
{
    return f->unit && !f->numbers && !f->form && f->n_classes != 1 &&
           10 * f->units >= 9 * f->present;
}

/* Appends the option of sed that removes the unit; false if the unit has
 * characters that the shell or a regular expression would take for others. */
static bool table_sed(struct cr_buf *b, const struct cr_field_facts *f)
{
    if (strpbrk(f->unit, "\"'`\\.*?+^()[]{}|&"))
        return false;
    cr_buf_str(b, f->unit_first ? " -e 's/" : " -e 's/([0-9]) *");
    for (const char *p = f->unit; *p; p++) {
        if (*p == '$' || *p == '/')
            cr_buf_char(b, '\\');
        cr_buf_char(b, *p);
    }
    cr_buf_str(b, f->unit_first ? " *([0-9])/\\1/g'" : "/\\1/g'");
    return true;
}

/* Warns about numbers with a unit, which are read as texts. */
static void table_warn_units(const struct table *t)
{
    struct cr_diag *diag = t->s->diag;
    struct cr_buf sed = { .arena = diag->arena };
    bool some = false, plain = true;

    for (int i = 0; i < t->facts.n; i++) {
        const struct cr_field_facts *f = &t->facts.field[i];

        if (!table_has_unit(f))
            continue;
        cr_warn(diag, cr_at_file(t->s->arena, t->path), CR_E_DATA_FORMAT,
                "field '%s': found the unit '%s' in %" PRId64 " values, "
                "expected numbers; they are not used as numbers",
                cr_quote(diag->arena, f->name, strlen(f->name)),
                cr_quote(diag->arena, f->unit, strlen(f->unit)), f->units);
        some = true;
        plain = table_sed(&sed, f) && plain;
    }
    if (some && plain)
        cr_hint(diag, "remove the units: sed -E%s %s >new.csv",
                cr_buf_text(&sed), t->path);
    else if (some)
        cr_hint(diag, "remove the units, here and in the rows to predict");
}

/* Reports a file that is not UTF-8, as configs are; warns about numbers with a
 * decimal comma or a unit, which are read as texts. */
static bool table_check(const struct table *t)
{
    struct cr_diag *diag = t->s->diag;

    if (t->facts.not_utf8.src) {
        cr_error(diag, t->facts.not_utf8, CR_E_DATA_FORMAT,
                 "found the byte 0x%02X, expected text in UTF-8",
                 t->facts.byte);
        cr_hint(diag, "if the file is in Latin-1, convert it: iconv -f latin1 "
                "-t utf-8 %s >new.csv", t->path);
        return false;
    }
    for (int i = 0; i < t->facts.n; i++) {
        const struct cr_field_facts *f = &t->facts.field[i];

        if (f->commas == 0 || 10 * f->commas < f->present)
            continue;
        cr_warn(diag, cr_at_file(t->s->arena, t->path), CR_E_DATA_FORMAT,
                "field '%s': found a decimal comma in %" PRId64 " value%s, "
                "expected a decimal point; they are not used as numbers",
                cr_quote(diag->arena, f->name, strlen(f->name)), f->commas,
                f->commas == 1 ? "" : "s");
        if (t->facts.delimiter != ',')
            cr_hint(diag, "replace the commas: sed -E "
                    "'s/([0-9]),([0-9])/\\1.\\2/g' %s >new.csv", t->path);
        else
            cr_hint(diag, "replace the commas by points, or remove them if "
                    "they separate thousands");
    }
    table_warn_units(t);
    return true;
}

static bool table_target(struct table *t, const char *name)
{
    struct cr_diag *diag = t->s->diag;
    const char **names = CR_NEWS(t->s->arena, const char *, t->facts.n + 1);

    for (int i = 0; i < t->facts.n; i++) {
        names[i] = t->facts.field[i].name;
        if (name && strcmp(names[i], name) == 0)
            t->target = &t->facts.field[i];
    }
    if (t->target)
        return true;
    if (!name)
        return cr_error(diag, CR_NOWHERE, CR_E_USAGE,
                        "--target is not set; expected the field to predict: "
                        "%s", table_names(t));
    cr_error(diag, CR_NOWHERE, CR_E_USAGE,
             "--target: found '%s', expected a field of %s: %s",
             cr_quote(diag->arena, name, strlen(name)), t->path,
             table_names(t));
    if (cr_closest_name(name, names))
        cr_hint(diag, "did you mean '%s'?", cr_closest_name(name, names));
    else if (t->facts.twice)
        cr_hint(diag,
                "the first line is no header, since '%s' occurs twice in it: "
                "add one with a name for each field",
                cr_quote(diag->arena, t->facts.twice,
                         strlen(t->facts.twice)));
    else if (!t->facts.header)
        cr_hint(diag, "the file seems to have no header line: add one with "
                "the names of the fields");
    return false;
}

/* Reads all values of a field; false after reporting the first that is no
 * finite number. */
static bool table_values(const struct table *t, int field, double *to)
{
    struct cr_csv csv;
    bool bad = false, ok = true;
    int64_t row = -(int64_t)t->facts.header;

    if (!cr_csv_open(&csv, t->s->diag, t->path, t->facts.delimiter))
        return false;
    for (; ok && row < t->facts.rows && cr_csv_next(&csv, &bad); row++) {
        const struct cr_csv_field *f = &csv.field[field];

        if (row >= 0)
            ok = cr_csv_real(f->text, f->len, &to[row]) ||
                 cr_error(t->s->diag, cr_csv_at(&csv, f),
                          CR_E_DATA_FORMAT,
                          "the target '%s': found '%s', expected a finite "
                          "number",
                          t->facts.field[field].name,
                          cr_quote(t->s->arena, f->text, f->len));
    }
    cr_csv_close(&csv);
    return ok && !bad;
}

static void table_classes(struct table *t)
{
    const struct cr_field_facts *f = t->target;

    t->of.classifies = true;
    t->of.classes = f->n_classes;
    t->of.fewest = t->facts.rows;
    for (int i = 0; i < f->n_classes; i++) {
        int64_t n = f->class_count[i];

        t->of.fewest = n < t->of.fewest ? n : t->of.fewest;
        t->of.most = n > t->of.most ? n : t->of.most;
    }
}

/* Whether the target is treated as classes: --task, else few values. */
static bool table_few(const struct table *t)
{
    const struct cr_field_facts *f = t->target;

    if (t->s->task != CR_TASK_AUTO)
        return t->s->task == CR_TASK_CLASSIFY;
    return !f->numbers || (f->whole && f->n_classes >= 2 &&
                           f->n_classes <= 20 &&
                           5 * f->n_classes <= f->present);
}

static bool table_task(struct table *t)
{
    const struct cr_field_facts *f = t->target;
    struct cr_diag *diag = t->s->diag;
    struct cr_pos pos = cr_at_file(diag->arena, t->path);
    double *y;

    t->of.rows = t->facts.rows;
    if (f->missing > 0) {
        cr_error(diag, pos, CR_E_DATA_FORMAT,
                 "the target '%s': found no value in %" PRId64 " row%s, "
                 "expected one in every row", f->name, f->missing,
                 f->missing == 1 ? "" : "s");
        cr_hint(diag, "remove these rows");
        return false;
    }
    if (f->n_classes == 0 || f->n_classes == 1)
        return cr_error(diag, pos, CR_E_DATA_RANGE,
                        "the target '%s': found one value in all rows, "
                        "expected two or more", f->name);
    if (table_few(t)) {
        if (f->n_classes < 0 || 2 * f->n_classes > f->present)
            return cr_error(diag, pos, CR_E_DATA_RANGE,
                            "the target '%s': found %s in %" PRId64 " rows, "
                            "expected classes of several rows each", f->name,
                            f->n_classes < 0
                                ? "more than 1000 distinct values"
                                : cr_strf(diag->arena, "%d distinct values",
                                          f->n_classes), f->present);
        table_classes(t);
        return true;
    }
    y = CR_NEWS(t->s->arena, double, t->facts.rows + 1);
    t->s->task = CR_TASK_REGRESS;
    return table_values(t, (int)(f - t->facts.field), y) &&
           cr_starter_numbers(t->s, y, t->facts.rows, &t->of);
}

/* ---- The inputs */

static enum use table_use(struct table *t, const struct cr_field_facts *f)
{
    if (f == t->target)
        return USE_TARGET;
    if (table_has_unit(f))
        return f->kind == CR_FIELD_CATEGORY && f->n_classes <= 8 ? USE_CATEGORY
                                                                 : USE_DROP;
    switch (f->kind) {
    case CR_FIELD_INTEGER:
    case CR_FIELD_REAL:
        return USE_NUMBER;
    case CR_FIELD_DATE:
        return USE_DATE;
    case CR_FIELD_CATEGORY:
        if (f->n_classes >= 0 && f->n_classes <= ONE_HOT_MOST)
            return USE_CATEGORY;
        return t->n[USE_EMBED] < EMBED_MOST ? USE_EMBED : USE_DROP;
    default:
        return USE_DROP;
    }
}

/* The embedding size of a category. */
static int table_embedding(const struct cr_field_facts *f)
{
    return f->n_classes > 64 ? 16 : 8;
}

static void table_uses(struct table *t)
{
    t->use = CR_NEWS(t->s->arena, enum use, t->facts.n + 1);
    for (int i = 0; i < t->facts.n; i++) {
        const struct cr_field_facts *f = &t->facts.field[i];
        enum use use = t->use[i] = table_use(t, f);

        t->n[use]++;
        if (use == USE_NUMBER || use == USE_DATE) {
            t->inputs++;
            t->missing = t->missing || f->missing > 0;
        } else if (use == USE_CATEGORY) {
            t->inputs += f->n_classes + 1;
        } else if (use == USE_EMBED) {
            t->inputs += table_embedding(f);
        }
    }
}

static const char *table_why(const struct table *t,
                             const struct cr_field_facts *f)
{
    if (table_has_unit(f))
        return cr_strf(t->s->arena, "numbers with the unit '%s': remove it to "
                       "use them",
                       cr_quote(t->s->arena, f->unit, strlen(f->unit)));
    switch (f->kind) {
    case CR_FIELD_EMPTY:
        return "no row has a value";
    case CR_FIELD_CONSTANT:
        return "all rows have the same value";
    case CR_FIELD_ID:
        return "an id: all values differ";
    case CR_FIELD_TEXT:
        return "text; see `cellrun init textcls`";
    case CR_FIELD_CATEGORY:
        return "a category of many values; only the first 8 are used";
    default:
        return cr_field_kind_name(f->kind);
    }
}

/* Whether the config can refer to the field by name: a name that looks like an
 * index, slice or glob would be read as one. */
static bool table_plain(const char *name)
{
    return *name && !strpbrk(name, "*?[]:") &&
           strspn(name, "0123456789") < strlen(name);
}

static void table_field(struct table *t, int i)
{
    if (t->facts.header && table_plain(t->facts.field[i].name))
        cr_starter_text(t->s, t->facts.field[i].name);
    else
        cr_buf_f(&t->s->out, "%d", i);
}

/* Lists the fields of a use: by name, or as slices if there are many. */
static void table_fields(struct table *t, enum use use)
{
    struct cr_buf *b = &t->s->out;
    bool some = false, slices = t->n[use] > 8;

    cr_buf_char(b, '[');
    for (int i = 0, k; i < t->facts.n; i = k) {
        k = i + 1;
        if (t->use[i] != use)
            continue;
        while (slices && k < t->facts.n && t->use[k] == use)
            k++;
        cr_buf_str(b, some ? ", " : "");
        some = true;
        if (k - i > 2)
            cr_buf_f(b, "\"%d:%d\"", i, k);
        else
            table_field(t, i), k = i + 1;
    }
    cr_buf_char(b, ']');
}

/* ---- The config */

static void table_counted(struct table *t, enum use use, const char *one,
                          const char *many, bool *some)
{
    if (t->n[use] == 0)
        return;
    cr_buf_f(&t->s->out, "%s%d %s", *some ? ", " : " ", t->n[use],
             t->n[use] == 1 ? one : many);
    *some = true;
}

static void table_head(struct table *t)
{
    struct cr_buf *b = &t->s->out, unused = { .arena = t->s->arena };
    struct cr_buf json = unused;
    bool some = false;

    cr_starter_head(t->s);
    cr_buf_f(b, "#\n# The table has %" PRId64 " rows. Inputs:",
             t->facts.rows);
    table_counted(t, USE_NUMBER, "number", "numbers", &some);
    table_counted(t, USE_DATE, "date", "dates", &some);
    table_counted(t, USE_CATEGORY, "category", "categories", &some);
    table_counted(t, USE_EMBED, "category of many values",
                  "categories of many values", &some);
    cr_buf_str(b, t->n[USE_DROP] ? ".\n# Not used:\n" : ".\n");
    for (int i = 0; i < t->facts.n; i++)
        if (t->use[i] == USE_DROP) {
            const char *name = cr_quote(b->arena, t->facts.field[i].name,
                                        strlen(t->facts.field[i].name));

            cr_buf_f(&unused, "%s%s", unused.len ? ", " : "", name);
            cr_buf_str(&json, json.len ? ", " : "");
            cr_buf_json(&json, t->facts.field[i].name);
            cr_buf_f(b, "#   %s: %s\n", name,
                     table_why(t, &t->facts.field[i]));
        }
    if (!unused.len)
        return;
    t->s->unused = cr_buf_text(&unused);
    t->s->unused_json = cr_buf_text(&json);
}

/* The name of the column of an embedded field. */
static const char *table_column(const struct table *t, int i)
{
    struct cr_buf b = { .arena = t->s->arena };

    cr_buf_str(&b, "cat_");
    for (const char *p = t->facts.field[i].name; *p && b.len < 40; p++)
        if ((*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9'))
            cr_buf_char(&b, *p);
        else if (*p >= 'A' && *p <= 'Z')
            cr_buf_char(&b, (char)(*p - 'A' + 'a'));
    cr_buf_f(&b, "_%d", i);
    return cr_buf_text(&b);
}

/* The column x and the columns of embedded categories. */
static void table_inputs(struct table *t)
{
    static const struct {
        enum use use;
        const char *key;
    } part[] = { { USE_NUMBER, "numbers" },
                 { USE_CATEGORY, "categories" },
                 { USE_DATE, "dates" } };
    struct cr_buf *b = &t->s->out;
    bool some = false;

    for (size_t k = 0; k < CR_LEN(part); k++) {
        if (t->n[part[k].use] == 0)
            continue;
        cr_buf_f(b, "%s%s: ", some ? ", " : "        x: {", part[k].key);
        table_fields(t, part[k].use);
        some = true;
    }
    cr_buf_str(b, some ? "}\n" : "");
    for (int i = 0; i < t->facts.n; i++) {
        if (t->use[i] != USE_EMBED)
            continue;
        cr_buf_f(b, "        %s: {fields: ", table_column(t, i));
        table_field(t, i);
        cr_buf_str(b, ", type: category}\n");
    }
}

static void table_label(struct table *t)
{
    struct cr_buf *b = &t->s->out;
    const struct cr_field_facts *f = t->target;
    int i = (int)(f - t->facts.field);

    if (!t->of.classifies) {
        cr_buf_f(b, "        # The target: numbers from %s to %s.\n"
                    "        label: {fields: [",
                 cr_real_text(b->arena, f->min),
                 cr_real_text(b->arena, f->max));
        table_field(t, i);
        cr_buf_str(b, "], type: float32}\n");
        return;
    }
    cr_buf_f(b, "        # The target: %d classes of %" PRId64, f->n_classes,
             t->of.fewest);
    if (t->of.most > t->of.fewest)
        cr_buf_f(b, " to %" PRId64, t->of.most);
    cr_buf_str(b, " rows.\n        label: {fields: ");
    table_field(t, i);
    cr_buf_str(b, ", classes: [");
    for (int k = 0; k < f->n_classes; k++) {
        cr_buf_str(b, k ? ", " : "");
        cr_starter_text(t->s, f->class_name[k]);
    }
    cr_buf_str(b, "]}\n");
}

static void table_dataset(struct table *t)
{
    struct cr_buf *b = &t->s->out;

    cr_buf_str(b, "\ndataset:\n  train:\n    CSVDataset:\n"
                  "      dataset_files: ");
    cr_starter_path(t->s, t->path);
    cr_buf_char(b, '\n');
    if (t->facts.delimiter != ',') {
        cr_buf_str(b, "      field_delim: ");
        cr_buf_json(b, (char[]){ t->facts.delimiter, '\0' });
        cr_buf_char(b, '\n');
    }
    if (!t->facts.header)
        cr_buf_str(b, "      # The file has no header line: fields are "
                      "numbered from 0.\n"
                      "      header: false\n");
    cr_buf_str(b, "      columns:\n");
    table_inputs(t);
    table_label(t);
    cr_starter_split(t->s, &t->of);
}

static bool table_has_x(const struct table *t)
{
    return t->n[USE_NUMBER] + t->n[USE_CATEGORY] + t->n[USE_DATE] > 0;
}

static void table_pipe(struct table *t)
{
    struct cr_buf *b = &t->s->out;

    cr_buf_str(b, "\ndatapipe:\n"
                  "  # Means, medians and categories are those of the training "
                  "split;\n  # checkpoints contain them.\n");
    if (table_has_x(t))
        cr_buf_str(b, "  x:\n");
    if (t->n[USE_NUMBER] + t->n[USE_DATE] > 0)
        cr_buf_str(b, t->missing
                          ? "    # Missing values become the median; a column "
                            "of 0 and 1 marks them.\n"
                            "    - FillMissing: {strategy: median, "
                            "indicator: true}\n"
                            "    - Standardize           # mean 0, standard "
                            "deviation 1\n"
                          : "    - FillMissing           # for new rows; here "
                            "no value is missing\n"
                            "    - Standardize           # mean 0, standard "
                            "deviation 1\n");
    if (t->n[USE_CATEGORY] > 0)
        cr_buf_str(b, "    - OneHot                # a column per value, and "
                      "one for unknown values\n");
    for (int i = 0; i < t->facts.n; i++)
        if (t->use[i] == USE_EMBED)
            cr_buf_f(b, "  %s: [CategoryIndex]\n", table_column(t, i));
    cr_buf_f(b, "  batch: {batch_size: %" PRId64 "}\n",
             cr_starter_batch(&t->of));
}

static void table_network(struct table *t)
{
    struct cr_buf *b = &t->s->out;
    bool x = table_has_x(t), one;

    cr_buf_str(b, x ? "\nnetwork:\n  inputs: [x" : "\nnetwork:\n  inputs: [");
    for (int i = 0, some = x; i < t->facts.n; i++)
        if (t->use[i] == USE_EMBED) {
            cr_buf_f(b, "%s%s", some ? ", " : "", table_column(t, i));
            some = 1;
        }
    cr_buf_str(b, "]\n  cells:\n");
    for (int i = 0; i < t->facts.n; i++)
        if (t->use[i] == USE_EMBED)
            cr_buf_f(b, "    of_%s: {Embedding: {vocab_size: $vocab.%s.size, "
                        "embedding_size: %d}}\n", table_column(t, i),
                     table_column(t, i),
                     table_embedding(&t->facts.field[i]));
    cr_starter_dense(t->s, &t->of, t->inputs);
    cr_buf_str(b, "  construct: |\n");
    if (t->n[USE_EMBED] == 0) {
        cr_starter_output(t->s, &t->of, "x");
        return;
    }
    one = !x && t->n[USE_EMBED] == 1;
    cr_buf_str(b, one ? "    h = "
                  : x ? "    h = concat((x"
                      : "    h = concat((");
    for (int i = 0, some = x; i < t->facts.n; i++)
        if (t->use[i] == USE_EMBED) {
            cr_buf_f(b, "%sof_%s(%s)", some ? ", " : "", table_column(t, i),
                     table_column(t, i));
            some = 1;
        }
    cr_buf_str(b, one ? "\n" : "), 1)\n");
    cr_starter_output(t->s, &t->of, "h");
}

static bool table_empty(const struct table *t)
{
    cr_error(t->s->diag, cr_at_file(t->s->arena, t->path), CR_E_DATA_FORMAT,
             "found no numbers, dates or categories other than the target, "
             "expected at least one");
    for (int i = 0; i < t->facts.n; i++)
        if (&t->facts.field[i] != t->target &&
            t->facts.field[i].kind == CR_FIELD_TEXT) {
            cr_hint(t->s->diag,
                    "'%s' holds texts: `cellrun init textcls -o FILE` writes a "
                    "config that classifies texts; enter your file, its fields "
                    "and its classes in it", t->facts.field[i].name);
            break;
        }
    return false;
}

bool cr_starter_csv(struct cr_starter *s, const char *path,
                    const char *target)
{
    struct table t = { .s = s, .path = path };
    struct cr_infer_opts opts = { .header = -1 };
    struct cr_buf *b = &s->out;
    struct stat st;

    /* Standard input is refused: the config needs its path, and it is read
     * more than once. */
    if (strcmp(path, "-") == 0 ||
        (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)))
        return cr_error(s->diag, cr_at_file(s->arena, path), CR_E_DATA_READ,
                        "found standard input or a pipe, expected a file that "
                        "the config can name");
    if (!cr_infer(s->arena, s->diag, &path, 1, &opts, &t.facts) ||
        !table_check(&t) || !table_target(&t, target) || !table_task(&t))
        return false;
    table_uses(&t);
    if (t.inputs == 0)
        return table_empty(&t);
    table_head(&t);
    cr_buf_str(b, "cellrun: 1\nseed: 1\n");
    if (!t.of.classifies)
        cr_starter_vars(s, &t.of);
    table_dataset(&t);
    table_pipe(&t);
    table_network(&t);
    cr_starter_training(s, &t.of);
    return true;
}
