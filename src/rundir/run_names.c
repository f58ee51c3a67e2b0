#include "rundir/run_names.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ckpt/checkpoint.h"
#include "rundir/run_status.h"

const char *cr_runs_folder(void)
{
    const char *env = getenv("CELLRUN_RUNS");

    return env && *env ? env : "runs";
}

static void names_add(struct cr_runs *runs, const struct cr_run *run)
{
    for (int i = 0; i < runs->n; i++)
        if (strcmp(runs->run[i].path, run->path) == 0)
            return;
    if (runs->n == runs->cap) {
        runs->cap = 2 * runs->cap + 64;
        runs->run = cr_grow(runs->arena, runs->run, (size_t)runs->n,
                            (size_t)runs->cap, sizeof *runs->run);
    }
    runs->run[runs->n++] = *run;
    cr_run_settle_status(runs, &runs->run[runs->n - 1]);
}

/* Adds a run directory, or all in a folder; false: there is none. */
static bool names_directory(struct cr_runs *runs, const char *path)
{
    struct cr_runs found = { .arena = runs->arena, .diag = runs->diag };
    const char *metrics = cr_path_join(runs->arena, path, "metrics.jsonl");
    struct cr_run bare = { .path = path };
    struct stat st;

    if (!cr_runs_add(&found, path) && stat(metrics, &st) != 0)
        cr_runs_search(&found, path);
    else if (found.n == 0) {
        bare.record = CR_NEW(runs->arena, struct cr_node);
        bare.record->kind = CR_NODE_MAP;
        bare.started = "";
        names_add(runs, &bare);
        return true;
    }
    for (int i = 0; i < found.n; i++)
        names_add(runs, &found.run[i]);
    return found.n > 0;
}

/* "runs/a" of "./runs//a/": so that a run has one path. */
static const char *names_clean(struct cr_arena *arena, const char *path)
{
    struct cr_buf to = { .arena = arena };

    while (cr_starts(path, "./"))
        path += 2 + strspn(path + 2, "/");
    for (; *path; path++)
        if (*path != '/' || (path[1] && path[1] != '/'))
            cr_buf_char(&to, *path);
    return to.len > 0 ? cr_buf_text(&to) : *path ? path : ".";
}

bool cr_runs_add_named(struct cr_runs *runs, const char *dir, const char *name,
                       struct cr_pos pos)
{
    struct cr_arena *arena = runs->arena;
    struct cr_runs all = { .arena = arena, .diag = runs->diag };
    const char *quoted = cr_quote(arena, name, strlen(name));
    const char *path = strcmp(name, "/") == 0 ? name
                                              : names_clean(arena, name);
    const struct cr_run *found = NULL;
    struct stat st;
    int n = 0;

    if (*name && (names_directory(runs, path) ||
                  names_directory(runs, cr_path_join(arena, dir, path))))
        return true;
    cr_runs_search(&all, dir);
    for (int i = 0; i < all.n && *name; i++)
        if (cr_starts(cr_json_str(all.run[i].record, "id", ""), name)) {
            /* a symbolic link to a run is no second one */
            if (found && cr_ckpt_same(found->path, all.run[i].path)) {
                found = lstat(found->path, &st) == 0 && S_ISLNK(st.st_mode)
                            ? &all.run[i]
                            : found;
                continue;
            }
            found = &all.run[i];
            n++;
        }
    if (n == 1) {
        names_add(runs, found);
        return true;
    }
    if (n > 1)
        return cr_error(runs->diag, pos, CR_E_RUN_DIR,
                        "'%s' is the beginning of several ids below '%s'",
                        quoted, dir);
    if (stat(path, &st) == 0)
        return cr_error(runs->diag, pos, CR_E_RUN_DIR,
                        "'%s' is neither a run directory nor a folder with "
                        "runs", quoted);
    cr_error(runs->diag, pos, CR_E_RUN_DIR,
             "'%s' is not a run directory, and no run below '%s' has such an "
             "id", quoted, dir);
    if (all.n > 0)
        cr_hint(runs->diag, "cellrun runs lists the runs, such as %s",
                cr_quote(arena, all.run[all.n - 1].path,
                         strlen(all.run[all.n - 1].path)));
    return false;
}

bool cr_runs_add_one(struct cr_runs *runs, const char *dir, const char *name,
                     struct cr_pos pos)
{
    struct cr_runs found = { .arena = runs->arena, .diag = runs->diag };

    if (!cr_runs_add_named(&found, dir, name, pos))
        return false;
    if (found.n > 1)
        return cr_error(runs->diag, pos, CR_E_RUN_DIR,
                        "'%s' is a folder of %d runs, expected one run",
                        cr_quote(runs->arena, name, strlen(name)), found.n);
    names_add(runs, found.run);
    return true;
}

const char *const *cr_runs_labels(const struct cr_runs *runs)
{
    const char **label = CR_NEWS(runs->arena, const char *, runs->n + 1);
    size_t common = 0;

    for (size_t k = 0; runs->n > 1 && runs->run[0].path[k]; k++) {
        for (int i = 1; i < runs->n; i++)
            if (runs->run[i].path[k] != runs->run[0].path[k])
                goto found;
        if (runs->run[0].path[k] == '/')
            common = k + 1;
    }
found:
    for (int i = 0; i < runs->n; i++)
        label[i] = runs->run[i].path + common;
    return label;
}
