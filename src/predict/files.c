/*
 * The inputs that the command line names: images, arrays, tables, folders,
 * COLUMN=FILE, and lists of file names.
 */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/checkpoint.h"
#include "data/vocab.h"
#include "predict/predict.h"

/* ---- Images and arrays of one column */

static bool files_needs_one(struct cr_predict *j, const char *path)
{
    struct cr_buf all = { .arena = j->cli->arena };

    if (j->n_feeds == 1)
        return true;
    for (int i = 0; i < j->n_feeds; i++)
        cr_buf_f(&all, " %s=FILE", j->feed[i].name);
    cr_error(j->cli->diag, cr_at_file(j->cli->arena, path), CR_E_USAGE,
             "found a file of one column, but the network takes %d columns",
             j->n_feeds);
    cr_hint(j->cli->diag, "name a file for each:%s", cr_buf_text(&all));
    j->stopped = true;
    return false;
}

static bool files_needs_labels(const struct cr_predict *j)
{
    return j->o->wrong || j->o->against;
}

static bool files_no_labels(struct cr_predict *j, const char *path)
{
    cr_error(j->cli->diag, cr_at_file(j->cli->arena, path), CR_E_USAGE,
             "%s: the input has no labels",
             j->o->wrong ? "--wrong" : "--against labels");
    cr_hint(j->cli->diag, "use --data, or COLUMN=FILE for the input and for "
                          "the labels");
    j->stopped = true;
    return false;
}

/* Predicts all samples of an image or array. An error in one file does not
 * prevent the others; false: stop. */
static bool files_array(struct cr_predict *j, const char *path)
{
    struct cr_predict_feed *f = &j->feed[0];
    struct cr_diag *diag = cr_predict_about(j);
    struct cr_predict_row row = { .sample = -1 };
    struct cr_input input;
    bool ok = true, open;

    if (!files_needs_one(j, path))
        return false;
    if (files_needs_labels(j)) /* images and arrays have none */
        return files_no_labels(j, path);
    cr_predict_header(j);
    row.name = cr_strdup(&j->text, path);
    open = cr_input_open(&f->adapter, diag, path, &input);
    if (open && j->cli->verbose > 0 && cr_input_change(&input, &input.mem))
        fprintf(stderr, "%s: %s\n", path,
                cr_input_change(&input, &input.mem));
    if (!open && !input.format && access(path, R_OK) == 0 &&
        cr_vocab_kept(j->model.config, f->name))
        cr_hint(diag, "the network was trained on text: `cellrun sample "
                      "--ckpt %s` generates text, --prompt TEXT starts it",
                j->o->ckpt);
    if (open && input.count == 0)
        open = cr_error(diag, cr_at_file(diag->arena, path), CR_E_DATA_EMPTY,
                        "the file has no samples");
    if (!open)
        ok = cr_predict_bad(j, &row);
    for (int64_t i = 0; open && i < input.count && ok; i++) {
        row.name = input.many ? cr_strf(&j->text, "%s#%" PRId64, path, i)
                              : cr_strdup(&j->text, path);
        ok = cr_input_read(&input, diag, i, cr_predict_into(j, f))
                 ? cr_predict_add(j, &row)
             : input.many && cr_predict_unreadable(j)
                 ? false
                 : cr_predict_bad(j, &row);
    }
    cr_input_close(&input);
    return ok;
}

/* False after reporting that -o would overwrite the input `path`. Files are
 * compared by inode, so links and other spellings of the name count too. */
static bool files_check_output(struct cr_predict *j, const char *path)
{
    const char *to = j->o->to;
    struct stat in, out;
    bool standard = strcmp(path, "-") == 0;

    if (!to || strcmp(to, "-") == 0 || stat(to, &out) != 0 ||
        !S_ISREG(out.st_mode) ||
        (standard ? fstat(STDIN_FILENO, &in) : stat(path, &in)) != 0 ||
        in.st_dev != out.st_dev || in.st_ino != out.st_ino)
        return true;
    return cr_error(j->cli->diag, CR_NOWHERE, CR_E_USAGE,
                    "-o %s would overwrite the input '%s'",
                    cr_quote(j->cli->arena, to, strlen(to)),
                    standard ? "standard input"
                             : cr_quote(j->cli->arena, path, strlen(path)));
}

bool cr_predict_keeps_data(struct cr_predict *j)
{
    const struct cr_node *set = cr_section(j->model.config, "dataset");
    const char *path = j->o->data && j->o->to
                           ? cr_model_data_file(j->model.config, set, j->o->to)
                           : NULL;

    return !j->o->data ||
           (files_check_output(j, j->o->ckpt) &&
            files_check_output(j, j->o->data) &&
            (!path || files_check_output(j, path)));
}

/* ---- COLUMN=FILE: a file for each column */

struct column {
    struct cr_predict_feed *feed;
    const char *path;
    struct cr_input input;      /* an array, if neither of these is set: */
    struct cr_predict_rows *rows; /* a table */
    void *values;               /* a member of an NPZ file */
    int64_t count;              /* number of samples; -1: unknown */
    bool truth;
};

static bool column_open(struct cr_predict *j, struct column *c)
{
    struct cr_diag *diag = j->cli->diag;

    c->count = -1;
    if (cr_predict_is_table(j, c->path,
                            c->feed->paths || cr_predict_images(j)) &&
        !cr_ends(c->path, ".npy")) {
        c->rows = cr_predict_rows_open(j, c->path, c->feed);
        return c->rows != NULL;
    }
    if (c->truth && !cr_input_adapter_open(
                        &c->feed->adapter, j->model.config,
                        &(struct cr_column){ c->feed->name, c->feed->head }))
        return false;
    if (!cr_input_open(&c->feed->adapter, diag, c->path, &c->input))
        return false;
    c->count = c->input.count;
    return true;
}

/* Reads sample i; returns what cr_predict_rows_next returns. */
static int column_read(struct cr_predict *j, struct column *c, int64_t i)
{
    if (c->rows)
        return cr_predict_rows_next(c->rows, i);
    if (i >= c->count)
        return 0;
    if (c->values)
        return cr_predict_stored(j, c->feed,
                                 (char *)c->values +
                                     (size_t)i * cr_bytes(&c->feed->head),
                                 i)
                   ? 1
                   : -1;
    return cr_input_read(&c->input, cr_predict_about(j), i,
                         cr_predict_into(j, c->feed))
               ? 1
               : -1;
}

static void column_close(struct column *c)
{
    if (c->rows)
        cr_predict_rows_close(c->rows);
    else if (c->input.format)
        cr_input_close(&c->input);
}

/* Predicts all rows; the columns must be of equal length. */
static bool columns_read(struct cr_predict *j, struct column *c, int n,
                         const char *name)
{
    bool ok = true;

    cr_predict_header(j);
    for (int64_t i = 0; ok; i++) {
        struct cr_predict_row row = {
            .name = cr_strf(&j->text, "%s#%" PRId64, name, i), .sample = -1
        };
        int got = 1, ends = -1, lasts = -1;

        for (int k = 0; k < n; k++) {
            int one = column_read(j, &c[k], i);

            got = one < got ? one : got;
            *(one == 0 ? &ends : &lasts) = k;
        }
        if (ends >= 0 && lasts >= 0)
            return cr_error(j->cli->diag, CR_NOWHERE, CR_E_DATA_FORMAT,
                            "%s has %" PRId64 " samples, %s has more",
                            c[ends].path, i, c[lasts].path);
        if (ends >= 0)
            return i > 0 || cr_error(j->cli->diag,
                                     cr_at_file(j->cli->arena, c[0].path),
                                     CR_E_DATA_EMPTY,
                                     "the file has no samples");
        ok = got > 0                    ? cr_predict_add(j, &row)
             : cr_predict_unreadable(j) ? false
                                        : cr_predict_bad(j, &row);
        if (got == -2)
            break;
    }
    return ok;
}

/* The FILE of an operand COLUMN=FILE; NULL: it does not name a column. */
static const char *files_of_column(struct cr_predict *j, const char *operand,
                                   struct cr_predict_feed **feed)
{
    const char *eq = strchr(operand, '=');

    *feed = eq && eq > operand
                ? cr_predict_feed(j, cr_strndup(j->cli->arena, operand,
                                                (size_t)(eq - operand)))
                : NULL;
    return *feed ? eq + 1 : NULL;
}

static bool files_is_label(const struct cr_predict *j,
                           const struct cr_predict_feed *f)
{
    return f >= j->truth && f < j->truth + CR_COLUMNS_MAX;
}

/* Whether an operand looks like COLUMN=FILE and is not the name of a file. */
static bool files_no_file(const char *operand)
{
    const char *eq = strchr(operand, '=');

    return eq && eq > operand &&
           !memchr(operand, '/', (size_t)(eq - operand)) &&
           access(operand, F_OK) != 0;
}

/* Reports that operand i, COLUMN=FILE, names an unknown column. */
static bool files_no_column(struct cr_predict *j, int i)
{
    const char *operand = j->cli->operands[i];
    const char *names[2 * CR_COLUMNS_MAX + 1] = { NULL }, *near, *column;
    struct cr_arena *arena = j->cli->arena;
    struct cr_buf all = { .arena = arena };
    int n = 0;

    column = cr_strndup(arena, operand, strcspn(operand, "="));
    for (int k = 0; k < j->n_feeds; k++) {
        cr_buf_f(&all, " %s", j->feed[k].name);
        names[n++] = j->feed[k].name;
    }
    for (int k = 0; k < j->n_truths; k++)
        names[n++] = j->truth[k].name;
    cr_error(j->cli->diag, j->cli->operand_pos[i], CR_E_USAGE,
             "unknown column '%s'", cr_quote(arena, column, strlen(column)));
    near = cr_closest_name(column, names);
    if (near)
        cr_hint(j->cli->diag, "did you mean '%s'?", near);
    else
        cr_hint(j->cli->diag, "the network takes:%s", cr_buf_text(&all));
    if (strchr(column, '.'))
        cr_note(j->cli->diag, "--set %s changes a key of the config", operand);
    return false;
}

/* Predicts the table that consists of all operands COLUMN=FILE. */
static bool files_columns(struct cr_predict *j)
{
    struct column *c = CR_NEWS(j->cli->arena, struct column,
                               j->cli->n_operands);
    struct cr_diag *diag = j->cli->diag;
    int n = 0, truths = 0;
    bool ok = true;

    for (int i = 0; i < j->cli->n_operands; i++) {
        struct column *to = &c[n];

        to->path = files_of_column(j, j->cli->operands[i], &to->feed);
        if (!to->path && files_no_file(j->cli->operands[i]))
            return files_no_column(j, i);
        if (!to->path)
            return cr_error(diag, j->cli->operand_pos[i], CR_E_USAGE,
                            "'%s' is not allowed next to COLUMN=FILE",
                            j->cli->operands[i]);
        to->truth = files_is_label(j, to->feed);
        truths += to->truth;
        for (int k = 0; k < n; k++)
            if (c[k].feed == to->feed)
                return cr_error(diag, j->cli->operand_pos[i], CR_E_USAGE,
                                "column '%s' has two files", to->feed->name);
        n++;
    }
    for (int i = 0; i < j->n_feeds; i++) {
        int k = 0;

        while (k < n && c[k].feed != &j->feed[i])
            k++;
        if (k == n)
            ok = cr_error(diag, CR_NOWHERE, CR_E_USAGE,
                          "column '%s' has no file: write %s=FILE",
                          j->feed[i].name, j->feed[i].name);
    }
    j->has_truth = truths > 0 && truths == j->n_truths;
    if (ok && !j->has_truth && files_needs_labels(j))
        return files_no_labels(j, c[0].path);
    for (int i = 0; i < n && ok; i++)
        ok = column_open(j, &c[i]);
    ok = ok && columns_read(j, c, n, c[0].path);
    for (int i = 0; i < n; i++)
        column_close(&c[i]);
    return ok;
}

/* ---- NPZ files: a member for each column */

static bool npz_member(struct cr_predict *j, struct cr_tensor_file *file,
                       struct column *c)
{
    struct cr_diag *diag = j->cli->diag;
    struct cr_pos at = cr_at_file(j->cli->arena, c->path);
    const struct cr_tensor_info *e = cr_tensor_file_find(file, c->feed->name);
    int64_t each = cr_count(&c->feed->head);

    if (!e)
        return cr_error(diag, at, CR_E_DATA_FORMAT,
                        "the file has no member '%s'", c->feed->name);
    if (!e->readable || e->spec.rank < 1 ||
        cr_count(&e->spec) != e->spec.dim[0] * each)
        return cr_error(diag, at, CR_E_DATA_FORMAT,
                        "member '%s': found %s %s, expected rows of %s %s",
                        c->feed->name, e->dtype,
                        cr_diag_format(diag->arena, &e->spec),
                        cr_type_name(c->feed->head.type),
                        cr_diag_format(diag->arena, &c->feed->head));
    c->count = e->spec.dim[0];
    c->values = cr_alloc(j->cli->arena, (size_t)c->count,
                         cr_bytes(&c->feed->head) + 1);
    return cr_tensor_file_read(file, diag, e, c->feed->head.type, c->values);
}

static bool files_npz(struct cr_predict *j, const char *path)
{
    struct cr_tensor_file *file =
        cr_tensor_file_open(j->cli->arena, j->cli->diag, path);
    struct column c[2 * CR_COLUMNS_MAX] = { 0 };
    bool ok = file != NULL;
    int n = 0;

    for (int i = 0; i < j->n_feeds && ok; i++) {
        c[n] = (struct column){ .feed = &j->feed[i], .path = path };
        ok = npz_member(j, file, &c[n++]);
    }
    for (int i = 0; i < j->n_truths && ok && j->has_truth; i++) {
        c[n] = (struct column){ .feed = &j->truth[i], .path = path };
        ok = npz_member(j, file, &c[n++]);
    }
    if (file)
        cr_tensor_file_close(file);
    return ok && columns_read(j, c, n, path);
}

/* ---- File names */

static bool files_one(struct cr_predict *j, const char *path);

static int files_by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool files_is_image(const char *name)
{
    const char *dot = strrchr(name, '.');

    return dot && (strcasecmp(dot, ".png") == 0 ||
                   strcasecmp(dot, ".jpg") == 0 ||
                   strcasecmp(dot, ".jpeg") == 0);
}

#define FOLDER_DEPTH 32

/* Predicts the images of a folder and its subfolders, sorted by name; counts
 * them in *found. */
static bool files_folder(struct cr_predict *j, const char *path, int depth,
                         int64_t *found)
{
    struct cr_arena mem = { 0 };
    const char **names = NULL;
    struct dirent *entry;
    size_t n = 0, cap = 0;
    DIR *dir = opendir(path);
    bool ok = true;

    if (!dir)
        return cr_error(j->cli->diag, cr_at_file(j->cli->arena, path),
                        CR_E_DATA_READ, "cannot read the folder: %s",
                        strerror(errno));
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        if (n == cap) {
            names = cr_grow(&mem, names, n, 2 * cap + 64, sizeof *names);
            cap = 2 * cap + 64;
        }
        names[n++] = cr_path_join(&mem, path, entry->d_name);
    }
    closedir(dir);
    if (n > 0)
        qsort(names, n, sizeof *names, files_by_name);
    if (depth == 0 && j->cli->n_operands == 1 && j->work.of == 0)
        j->work.of = (int64_t)n; /* subfolders count as one */
    for (size_t i = 0; i < n && ok; i++) {
        struct stat st;

        if (files_is_image(names[i])) {
            ok = files_array(j, names[i]);
            ++*found;
        } else if (depth < FOLDER_DEPTH && stat(names[i], &st) == 0 &&
                   S_ISDIR(st.st_mode)) {
            ok = files_folder(j, names[i], depth + 1, found);
        }
    }
    cr_arena_free(&mem);
    return ok;
}

static bool files_one(struct cr_predict *j, const char *path)
{
    struct stat st;
    int64_t found = 0;

    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode)) {
        if (!files_needs_one(j, path) || !files_folder(j, path, 0, &found))
            return false;
        return found > 0 || cr_error(j->cli->diag,
                                     cr_at_file(j->cli->arena, path),
                                     CR_E_DATA_EMPTY,
                                     "the folder has no images (.png, .jpg, "
                                     ".jpeg)");
    }
    if (cr_ends(path, ".npz"))
        return files_npz(j, path);
    return cr_predict_is_table(j, path, cr_predict_images(j))
               ? cr_predict_table(j, path)
               : files_array(j, path);
}

/* Predicts the files whose names `path` lists, one per line; "-": standard
 * input. */
static bool files_list(struct cr_predict *j, const char *path)
{
    bool standard = strcmp(path, "-") == 0;
    const char *what = standard ? "standard input" : path;
    FILE *from = standard ? stdin : fopen(path, "re");
    struct cr_diag *diag = j->cli->diag;
    char *line = NULL;
    size_t cap = 0, mark;
    ssize_t len;
    bool ok = true, first = true;

    if (!from)
        return cr_error(diag, cr_at_file(j->cli->arena, path), CR_E_DATA_READ,
                        "cannot read: %s", strerror(errno));
    while (ok && (len = getline(&line, &cap, from)) > 0) {
        if (line[len - 1] == '\n')
            line[--len] = '\0';
        /* of the output of `find -print0` only the first name would be read */
        if (memchr(line, '\0', (size_t)len))
            ok = cr_error(diag, CR_NOWHERE, CR_E_USAGE,
                          "%s: found a NUL byte, expected one file name per "
                          "line", what);
        mark = first ? cr_bom(line, (size_t)len) : 0;
        if (len > 0 && line[len - 1] == '\r' && access(line + mark, F_OK) != 0)
            line[len - 1] = '\0';
        if (ok && line[mark])
            ok = files_check_output(j, line + mark) &&
                 files_one(j, line + mark);
        first = false;
        if (ok && j->o->stream)
            ok = cr_predict_flush(j) && fflush(stdout) == 0;
    }
    if (ok && ferror(from))
        ok = cr_error(diag, CR_NOWHERE, CR_E_DATA_READ, "%s: cannot read: %s",
                      what, strerror(errno));
    if (!standard)
        fclose(from);
    free(line);
    return ok;
}

bool cr_predict_operands(struct cr_predict *j)
{
    struct cr_predict_feed *feed;
    bool ok = files_check_output(j, j->o->ckpt) &&
              (!j->o->files_from || files_check_output(j, j->o->files_from));

    for (int i = 0; i < j->cli->n_operands && ok; i++) {
        const char *path =
            files_of_column(j, j->cli->operands[i], &feed);

        ok = files_check_output(j, path ? path : j->cli->operands[i]);
    }
    if (!ok)
        return false;
    for (int i = 0; i < j->cli->n_operands; i++)
        if (files_of_column(j, j->cli->operands[i], &feed))
            return files_columns(j);
    for (int i = 0; i < j->cli->n_operands; i++)
        if (files_no_file(j->cli->operands[i]))
            return files_no_column(j, i);
    if (j->cli->n_operands > 1 && j->work.of == 0) {
        j->work.of = j->cli->n_operands;
        j->part = 0;
    }
    if (j->o->files_from)
        ok = files_list(j, j->o->files_from);
    else if (j->o->stream && j->cli->n_operands == 0)
        ok = files_list(j, "-");
    for (int i = 0; i < j->cli->n_operands && ok; i++) {
        const char *path = j->cli->operands[i];
        bool names = j->o->rows == CR_ROWS_NAMES ||
                     (j->o->rows == CR_ROWS_AUTO && cr_predict_images(j));

        ok = strcmp(path, "-") != 0 ? files_one(j, path)
             : names                ? files_list(j, path)
                                    : cr_predict_table(j, path);
        if (j->part >= 0)
            j->part++;
    }
    return ok;
}
