#include "ckpt/runs.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/str.h"

#define RUNS_DEPTH 2
#define RUNS_RECORD_MAX ((size_t)16 << 20)
#define RUNS_METRICS_MAX ((size_t)1 << 30)

/* The numbers of the last evaluation in metrics.jsonl, as `last`. */
static void runs_last(struct cr_runs *runs, struct cr_run *run)
{
    struct cr_diag quiet = { .arena = runs->arena };
    const char *path = cr_path_join(runs->arena, run->path, "metrics.jsonl");
    struct cr_node *last, **link = &run->record->child, *found = NULL;
    size_t len, at;
    const char *why;
    char *text = cr_read_file(runs->arena, &quiet, CR_NOWHERE, path,
                              CR_E_SYSTEM, RUNS_METRICS_MAX, &len);

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
    last = CR_NEW(runs->arena, struct cr_node);
    last->kind = CR_NODE_MAP;
    last->key = "last";
    while (*link)
        link = &(*link)->next;
    *link = last;
    link = &last->child;
    for (struct cr_node *m = found->child, *next; m; m = next) {
        next = m->next;
        if (strcmp(m->key, "t") == 0 || strcmp(m->key, "step") == 0 ||
            strcmp(m->key, "epoch") == 0 || strcmp(m->key, "split") == 0)
            continue;
        *link = m;
        m->next = NULL;
        link = &m->next;
    }
}

bool cr_runs_add(struct cr_runs *runs, const char *path)
{
    const char *file = cr_path_join(runs->arena, path, "record.json"), *why;
    struct cr_pos pos = cr_at_file(runs->arena, file);
    struct cr_diag quiet = { .arena = runs->arena };
    struct stat st;
    struct cr_run run = { .path = path };
    size_t len, at;
    char *text;

    if (stat(file, &st) != 0 || !S_ISREG(st.st_mode))
        return false;
    text = cr_read_file(runs->arena, &quiet, pos, file, CR_E_RUN_DIR,
                        RUNS_RECORD_MAX, &len);
    if (!text) {
        cr_warn(runs->diag, pos, CR_E_RUN_DIR, "%s", quiet.last->text);
        return true;
    }
    run.record = cr_json_read(runs->arena, text, len, &why, &at);
    if (!run.record || run.record->kind != CR_NODE_MAP) {
        cr_warn(runs->diag, pos, CR_E_RUN_DIR, "not a record: %s",
                run.record ? "no JSON object" : why);
        return true;
    }
    if (!cr_node_get(run.record, "last"))
        runs_last(runs, &run);
    if (runs->n == runs->cap) {
        runs->cap = 2 * runs->cap + 64;
        runs->run = cr_grow(runs->arena, runs->run, (size_t)runs->n,
                            (size_t)runs->cap, sizeof *runs->run);
    }
    runs->run[runs->n++] = run;
    return true;
}

static void runs_search(struct cr_runs *runs, const char *path, int depth)
{
    DIR *d;
    struct dirent *e;

    if (cr_runs_add(runs, path) || depth == 0)
        return;
    d = opendir(path);
    while (d && (e = readdir(d)) != NULL)
        if (e->d_name[0] != '.')
            runs_search(runs, cr_path_join(runs->arena, path, e->d_name),
                        depth - 1);
    if (d)
        closedir(d);
}

int cr_runs_oldest(const void *a, const void *b)
{
    const struct cr_run *x = a, *y = b;
    int order = strcmp(cr_json_str(x->record, "started", ""),
                       cr_json_str(y->record, "started", ""));

    return order ? order : strcmp(x->path, y->path);
}

const char *cr_run_bare(const char *name)
{
    return cr_starts(name, "eval.") ? name + 5 : name;
}

static bool runs_is_scalar(const struct cr_node *node)
{
    return node && node->kind != CR_NODE_MAP && node->kind != CR_NODE_LIST;
}

/* What a column's name means in a run: a metric of the last evaluation, a
 * setting (by its whole key or the last part), a key of the record, with
 * dots into its maps. NULL: nothing. */
const struct cr_node *cr_run_value(const struct cr_run *run, const char *name)
{
    const struct cr_node *params = cr_node_get(run->record, "params");
    const struct cr_node *best = cr_node_get(run->record, "best"), *found;

    if (cr_starts(name, "best.") &&
        strcmp(cr_json_str(best, "metric", ""), name + 5) == 0)
        return cr_node_get(best, "value");
    found = cr_node_get(cr_node_get(run->record, "last"), cr_run_bare(name));
    if (runs_is_scalar(found) || cr_starts(name, "eval."))
        return found;
    found = cr_node_get(params, name);
    if (found)
        return found;
    found = cr_node_get(run->record, name);
    for (const char *dot = name; !found && (dot = strchr(dot, '.')); dot++) {
        char *head = strndup(name, (size_t)(dot - name));

        found = cr_node_get(cr_node_get(run->record, head), dot + 1);
        free(head);
    }
    if (found)
        return found;
    for (CR_EACH(m, params)) {
        const char *dot = strrchr(m->key, '.');

        if (dot && strcmp(dot + 1, name) == 0)
            return m;
    }
    return NULL;
}

void cr_runs_search(struct cr_runs *runs, const char *dir)
{
    runs_search(runs, dir, RUNS_DEPTH);
    if (runs->n > 0)
        qsort(runs->run, (size_t)runs->n, sizeof *runs->run, cr_runs_oldest);
}
