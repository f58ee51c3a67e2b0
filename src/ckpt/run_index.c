#include "ckpt/run_index.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/prefetch.h"
#include "base/str.h"
#include "conf/yaml.h"

#define RUNS_DEPTH 2
#define RUNS_RECORD_MAX ((size_t)16 << 20)
#define RUNS_METRICS_MAX ((size_t)1 << 30)

char *cr_run_file(struct cr_arena *arena, const char *path, size_t max,
                  size_t *len)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    char *text = NULL;
    struct stat st;
    ssize_t n = 0;

    *len = 0;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        (uintmax_t)st.st_size <= max) {
        text = cr_alloc(arena, (size_t)st.st_size + 1, 1);
        while (*len < (size_t)st.st_size &&
               (n = read(fd, text + *len, (size_t)st.st_size - *len)) > 0)
            *len += (size_t)n;
    }
    if (fd >= 0)
        close(fd);
    return n < 0 ? NULL : text;
}

/* Whether a member of an evaluation's record is no metric. */
static bool runs_no_metric(const char *key)
{
    static const char *const names[] = { "t",     "step",    "epoch",
                                         "split", "samples", "train_loss" };

    for (size_t i = 0; i < CR_LEN(names); i++)
        if (strcmp(names[i], key) == 0)
            return true;
    return false;
}

static void runs_set(struct cr_runs *runs, struct cr_run *run, const char *key,
                     int64_t value)
{
    struct cr_node *node = cr_node_get(run->record, key);

    if (!node || node->kind != CR_NODE_INT)
        return;
    node->integer = value;
    node->real = (double)value;
    node->text = cr_strf(runs->arena, "%" PRId64, value);
}

/* Replaces the numbers of epochs and steps, which are those of the start. An
 * epoch of fewer than all samples counts when the next one begins. */
static void runs_length(struct cr_runs *runs, struct cr_run *run,
                        const struct cr_node *eval)
{
    const struct cr_node *data = cr_node_get(run->record, "data");
    int64_t n = cr_json_int(cr_node_get(data, "train"), "samples", 0);
    bool whole = n > 0 && cr_json_int(eval, "samples", 1) % n == 0;

    runs_set(runs, run, "steps", cr_json_int(eval, "step", 0));
    runs_set(runs, run, "epochs", cr_json_int(eval, "epoch", 0) + whole);
}

/* Makes the last evaluation of metrics.jsonl the member `eval` of the
 * record. */
static void runs_last(struct cr_runs *runs, struct cr_run *run)
{
    const char *path = cr_path_join(runs->arena, run->path, "metrics.jsonl");
    struct cr_node *eval, **link = &run->record->child, *found = NULL;
    size_t len, at;
    const char *why;
    char *text = cr_run_file(runs->arena, path, RUNS_METRICS_MAX, &len);

    for (char *line = text, *end; line && *line; line = end + 1) {
        struct cr_node *node;

        end = strchr(line, '\n');
        if (!end) /* a line that is still being written */
            break;
        *end = '\0';
        if (!strstr(line, "\"eval\""))
            continue;
        node = cr_json_read(runs->arena, line, strlen(line), &why, &at);
        if (node && strcmp(cr_json_str(node, "split", ""), "eval") == 0)
            found = node;
    }
    if (!found)
        return;
    runs_length(runs, run, found);
    eval = CR_NEW(runs->arena, struct cr_node);
    eval->kind = CR_NODE_MAP;
    eval->key = "eval";
    while (*link && strcmp((*link)->key, "eval") != 0)
        link = &(*link)->next;
    eval->next = *link ? (*link)->next : NULL;
    *link = eval;
    link = &eval->child;
    for (struct cr_node *m = found->child, *next; m; m = next) {
        next = m->next;
        if (runs_no_metric(m->key))
            continue;
        *link = m;
        m->next = NULL;
        link = &m->next;
    }
}

/* Removes what must be an object and is not: the file may be anybody's, and
 * elements of a list have no keys. */
static void runs_objects(struct cr_node *record)
{
    static const char *const objects[] = { "data", "vars", "phases", "eval",
                                           "best" };

    for (struct cr_node **link = &record->child; *link;) {
        bool remove = false;

        for (size_t i = 0; i < CR_LEN(objects); i++)
            remove |= (*link)->kind != CR_NODE_MAP &&
                      strcmp((*link)->key, objects[i]) == 0;
        if (remove)
            *link = (*link)->next;
        else
            link = &(*link)->next;
    }
}

bool cr_runs_add(struct cr_runs *runs, const char *path)
{
    const char *file = cr_path_join(runs->arena, path, "record.json"), *why;
    struct cr_diag quiet = { .arena = runs->arena };
    struct stat st;
    struct cr_run run = { .path = path };
    size_t len, at;
    char *text = cr_run_file(runs->arena, file, RUNS_RECORD_MAX, &len);
    struct cr_pos pos = { 0 };

    if (!text && (stat(file, &st) != 0 || !S_ISREG(st.st_mode)))
        return false;
    if (!text) {
        pos = cr_at_file(runs->arena, file);
        cr_read_file(runs->arena, &quiet, pos, file, CR_E_RUN_DIR,
                     RUNS_RECORD_MAX, &len);
        cr_warn(runs->diag, pos, CR_E_RUN_DIR, "%s",
                quiet.last ? quiet.last->text : "cannot be read");
        return true;
    }
    run.record = cr_json_read(runs->arena, text, len, &why, &at);
    if (!run.record || run.record->kind != CR_NODE_MAP) {
        cr_warn(runs->diag, cr_at_file(runs->arena, file), CR_E_RUN_DIR,
                "not a run record: %s", run.record ? "not a JSON object" : why);
        return true;
    }
    runs_objects(run.record);
    run.started = cr_json_str(run.record, "started", "");
    run.eval = cr_node_get(run.record, "eval");
    if (!run.eval ||
        strcmp(cr_json_str(run.record, "status", ""), "running") == 0) {
        runs_last(runs, &run);
        run.eval = cr_node_get(run.record, "eval");
    }
    if (runs->n == runs->cap) {
        runs->cap = 2 * runs->cap + 64;
        runs->run = cr_grow(runs->arena, runs->run, (size_t)runs->n,
                            (size_t)runs->cap, sizeof *runs->run);
    }
    runs->run[runs->n++] = run;
    return true;
}

/* The entries of a folder, as paths; *n is their number. A folder of other
 * users is skipped, what else cannot be read is a warning. */
static const char **runs_entries(struct cr_runs *runs, const char *path, int *n)
{
    struct cr_arena *arena = runs->arena;
    const char **entry = NULL;
    DIR *d = opendir(path);
    struct dirent *e;
    int cap = 0;

    *n = 0;
    if (!d && errno != ENOENT && errno != ENOTDIR && errno != EACCES)
        cr_warn(runs->diag, cr_at_file(arena, path), CR_E_SYSTEM,
                "cannot read the folder: %s", strerror(errno));
    while (d && (e = readdir(d)) != NULL) {
        if (e->d_name[0] == '.')
            continue;
        if (*n == cap) {
            cap = 2 * cap + 64;
            entry = cr_grow(arena, entry, (size_t)*n, (size_t)cap,
                            sizeof *entry);
        }
        entry[(*n)++] = cr_path_join(arena, path, e->d_name);
    }
    if (d)
        closedir(d);
    return entry;
}

static void runs_search(struct cr_runs *runs, const char *path, int depth)
{
    struct cr_prefetch *prefetch;
    const char **entry;
    int n;

    if (cr_runs_add(runs, path) || depth == 0)
        return;
    entry = runs_entries(runs, path, &n);
    prefetch = cr_prefetch_start(runs->arena, entry, n, "record.json");
    for (int i = 0; i < n; i++) {
        cr_prefetch_reach(prefetch, i);
        runs_search(runs, entry[i], depth - 1);
    }
    (void)cr_prefetch_end(prefetch);
}

int cr_runs_oldest(const void *a, const void *b)
{
    const struct cr_run *x = a, *y = b;
    int order = strcmp(x->started, y->started);

    return order ? order : strcmp(x->path, y->path);
}

const char *cr_run_bare(const char *name)
{
    return cr_starts(name, "eval.") ? name + 5 : name;
}

static void runs_settings(struct cr_runs *runs, struct cr_run *run)
{
    const char *path, *text;
    size_t len;

    if (run->settings_read)
        return;
    run->settings_read = true;
    path = cr_path_join(runs->arena, run->path, "resolved.yaml");
    text = cr_run_file(runs->arena, path, CR_TEXT_MAX, &len);
    if (text)
        cr_run_settings_read(runs->arena, &runs->sheets, text, len,
                             &run->settings);
}

void cr_runs_read_settings(struct cr_runs *runs)
{
    const char **dir = CR_NEWS(runs->arena, const char *, runs->n + 1);
    struct cr_prefetch *prefetch;

    for (int i = 0; i < runs->n; i++)
        dir[i] = runs->run[i].path;
    prefetch = cr_prefetch_start(runs->arena, dir, runs->n, "resolved.yaml");
    for (int i = 0; i < runs->n; i++) {
        cr_prefetch_reach(prefetch, i);
        runs_settings(runs, &runs->run[i]);
    }
    (void)cr_prefetch_end(prefetch);
}

const struct cr_node *cr_run_config(struct cr_runs *runs, struct cr_run *run)
{
    runs_settings(runs, run);
    return cr_run_settings_root(runs->arena, &run->settings);
}

const struct cr_node *cr_run_setting(struct cr_runs *runs, struct cr_run *run,
                                     const char *path)
{
    runs_settings(runs, run);
    return cr_run_settings_find(runs->arena, &run->settings, path);
}

static bool runs_is_scalar(const struct cr_node *node)
{
    return node && node->kind != CR_NODE_MAP && node->kind != CR_NODE_LIST;
}

/* A key of the record, with dots into its maps. */
static const struct cr_node *
runs_within(struct cr_arena *arena, const struct cr_node *map, const char *name)
{
    const struct cr_node *found = cr_node_get(map, name);
    const char *dot = strchr(name, '.');

    if (found || !dot)
        return found;
    found = cr_node_get(map, cr_strndup(arena, name, (size_t)(dot - name)));
    return found ? runs_within(arena, found, dot + 1) : NULL;
}

const struct cr_node *cr_run_value(struct cr_runs *runs, struct cr_run *run,
                                   const char *name)
{
    const struct cr_node *best = NULL, *found;

    if (cr_starts(name, "best."))
        best = cr_node_get(run->record, "best");
    if (best && strcmp(cr_json_str(best, "metric", ""), name + 5) == 0)
        return cr_node_get(best, "value");
    found = cr_node_get(run->eval, cr_run_bare(name));
    if (runs_is_scalar(found) || cr_starts(name, "eval."))
        return found;
    found = runs_within(runs->arena, run->record, name);
    return found ? found : cr_run_setting(runs, run, name);
}

void cr_runs_search(struct cr_runs *runs, const char *dir)
{
    runs_search(runs, dir, RUNS_DEPTH);
    if (runs->n > 0)
        qsort(runs->run, (size_t)runs->n, sizeof *runs->run, cr_runs_oldest);
}
