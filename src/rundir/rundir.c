#include "rundir/rundir.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/signals.h"
#include "ckpt/checkpoint.h"
#include "ckpt/json.h"
#include "rundir/run_files.h"
#include "tensorboard/tensorboard.h"

static const char *const rundir_links[] = { "ckpt/best.safetensors",
                                            "ckpt/last.safetensors", NULL };

static bool rundir_failed(struct cr_rundir *dir, const char *path,
                          const char *what)
{
    return cr_error(dir->diag, cr_at_file(dir->arena, path), CR_E_SYSTEM,
                    "cannot %s: %s", what, strerror(errno));
}

const char *cr_rundir_file(const struct cr_rundir *dir, const char *name)
{
    return cr_path_join(dir->arena, dir->path, name);
}

const char *cr_rundir_of(struct cr_arena *arena, const char *ckpt)
{
    const char *folder = cr_path_dir(arena, ckpt), *parent;

    if (strcmp(cr_path_base(folder), "ckpt") != 0)
        return NULL;
    parent = cr_path_dir(arena, folder);
    if (access(cr_path_join(arena, parent, "record.json"), F_OK) != 0)
        return NULL;
    return parent;
}

/* ---- The directory */

static bool rundir_make(struct cr_rundir *dir, const char *path)
{
    char *part = cr_strdup(dir->arena, path);

    for (char *p = part + 1; *p; p++)
        if (*p == '/') {
            *p = '\0';
            if (mkdir(part, 0777) != 0 && errno != EEXIST)
                return rundir_failed(dir, part, "create the folder");
            *p = '/';
        }
    if (mkdir(part, 0777) != 0 && errno != EEXIST)
        return rundir_failed(dir, part, "create the folder");
    return true;
}

/* Whether the folder has entries other than the ones accepted by `ours`. */
static bool rundir_has_others(const char *path, bool (*ours)(const char *name))
{
    DIR *d = opendir(path);
    struct dirent *e;
    bool found = false;

    while (d && (e = readdir(d)) != NULL)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 &&
            !(ours && ours(e->d_name)))
            found = true;
    if (d)
        closedir(d);
    return found;
}

static bool rundir_is_own(const char *name)
{
    return strcmp(name, "ckpt") == 0 || strcmp(name, "lock") == 0 ||
           cr_starts(name, "lock.tmp.");
}

/* Whether the folder holds more than locks and an empty `ckpt`, which a run
 * leaves that ends during preparation. */
static bool rundir_used(const struct cr_rundir *dir)
{
    return rundir_has_others(dir->path, rundir_is_own) ||
           rundir_has_others(dir->ckpt, NULL);
}

/* Reports a FIFO, a device or a folder in the place of a file of the run:
 * opening it could wait for ever. */
static bool rundir_is_file(const struct cr_rundir *dir, const char *path)
{
    struct stat st;

    return stat(path, &st) != 0 || S_ISREG(st.st_mode) ||
           cr_error(dir->diag, cr_at_file(dir->arena, path), CR_E_SYSTEM,
                    "not a regular file");
}

bool cr_rundir_record(const struct cr_rundir *dir, const struct cr_node **to)
{
    const char *path = cr_rundir_file(dir, "record.json"), *why, *text;
    const struct cr_node *node;
    size_t len, at;

    *to = NULL;
    if (access(path, F_OK) != 0)
        return true;
    if (!rundir_is_file(dir, path))
        return false;
    text = cr_read_file(dir->arena, dir->diag, CR_NOWHERE, path, CR_E_SYSTEM,
                        1 << 20, &len);
    if (!text)
        return false;
    node = cr_json_read(dir->arena, text, len, &why, &at);
    if (*cr_json_str(node, "cellrun", "") && *cr_json_str(node, "id", ""))
        *to = node;
    return true;
}

/* The source of the config whose file has this name; NULL: none. */
static const char *rundir_source(const struct cr_rundir *dir, const char *path)
{
    for (const struct cr_source_dir *o = dir->sources; o; o = o->next)
        if (o->src && o->src->name && cr_ckpt_same(path, o->src->name))
            return o->src->name;
    return NULL;
}

static bool rundir_stranger(struct cr_rundir *dir, const char *path)
{
    cr_error(dir->diag, cr_at_file(dir->arena, path), CR_E_RUN_DIR,
             "found a file that was not written by a run (record.json is "
             "missing or damaged), expected a run directory");
    cr_note(dir->diag, "use another run directory, or move the file away");
    return false;
}

bool cr_rundir_is_free(struct cr_rundir *dir)
{
    const struct cr_ckpt_file *file;
    struct stat st;
    int n;

    for (int i = 0; cr_run_files[i]; i++)
        if (access(cr_rundir_file(dir, cr_run_files[i]), F_OK) == 0)
            return rundir_stranger(dir, cr_rundir_file(dir, cr_run_files[i]));
    file = cr_ckpt_list(dir->arena, dir->diag, dir->ckpt, NULL, &n);
    for (int i = 0; i < n; i++)
        if (stat(file[i].path, &st) == 0 && S_ISREG(st.st_mode))
            return rundir_stranger(dir, file[i].path);
    return n >= 0;
}

/* Reports an error if the run would replace a base file of its config. */
static bool rundir_keeps_bases(struct cr_rundir *dir)
{
    for (int i = 0; cr_run_files[i]; i++) {
        const char *path = cr_rundir_file(dir, cr_run_files[i]);
        const char *source = rundir_source(dir, path);

        if (!source ||
            (dir->config_file && cr_ckpt_same(path, dir->config_file)))
            continue;
        cr_error(
            dir->diag, cr_at_file(dir->arena, path), CR_E_RUN_DIR,
            "the run would replace this file, which is part of its config");
        cr_note(dir->diag, "use another run directory");
        return false;
    }
    return true;
}

static bool rundir_remove(struct cr_rundir *dir, const char *path)
{
    return unlink(path) == 0 || errno == ENOENT ||
           rundir_failed(dir, path, "remove");
}

/* Removes the event files. */
static bool rundir_clear_events(struct cr_rundir *dir)
{
    DIR *d = opendir(dir->path);
    struct dirent *e;
    bool ok = true;

    while (ok && d && (e = readdir(d)) != NULL)
        if (cr_starts(e->d_name, CR_EVENT_FILE))
            ok = rundir_remove(dir, cr_rundir_file(dir, e->d_name));
    if (d)
        closedir(d);
    return ok;
}

bool cr_rundir_clear(struct cr_rundir *dir)
{
    const struct cr_ckpt_file *file;
    const struct cr_node *record;
    int n;

    if (!rundir_keeps_bases(dir) || !cr_rundir_record(dir, &record))
        return false;
    if (!record)
        return cr_rundir_is_free(dir);
    file = cr_ckpt_list(dir->arena, dir->diag, dir->ckpt, NULL, &n);
    for (int i = 0; i < n; i++)
        if (!rundir_remove(dir, file[i].path))
            return false;
    for (int i = 0; n >= 0 && rundir_links[i]; i++)
        if (!rundir_remove(dir, cr_rundir_file(dir, rundir_links[i])))
            return false;
    if (!rundir_clear_events(dir))
        return false;
    for (int i = 0; n >= 0 && cr_run_files[i]; i++) {
        const char *path = cr_rundir_file(dir, cr_run_files[i]);

        if (!rundir_source(dir, path) && !rundir_remove(dir, path))
            return false;
    }
    return n >= 0;
}

bool cr_rundir_open(struct cr_rundir *dir, const char *path,
                    enum cr_run_mode mode)
{
    dir->path = path;
    dir->ckpt = cr_path_join(dir->arena, path, "ckpt");
    dir->lock.on_change = cr_signals_lock;
    if (!rundir_make(dir, path) ||
        !cr_run_lock_take(dir->arena, dir->diag, &dir->lock, path))
        return false;
    if (mode == CR_RUN_NEW && rundir_used(dir)) {
        cr_error(dir->diag, cr_at_file(dir->arena, path), CR_E_RUN_DIR,
                 "the run directory is not empty");
        cr_note(dir->diag, "use --force to start over, or --resume auto to "
                           "continue the run in it");
        cr_rundir_close(dir);
        return false;
    }
    for (int i = 0; cr_run_files[i]; i++)
        cr_atomic_file_sweep(path, cr_run_files[i]);
    cr_atomic_file_sweep(dir->ckpt, NULL);
    if (mode == CR_RUN_FORCE && !cr_rundir_clear(dir)) {
        cr_rundir_close(dir);
        return false;
    }
    if (mkdir(dir->ckpt, 0777) != 0 && errno != EEXIST) {
        rundir_failed(dir, dir->ckpt, "create the folder");
        cr_rundir_close(dir);
        return false;
    }
    return true;
}

void cr_rundir_close(struct cr_rundir *dir)
{
    cr_append_file_close(&dir->metrics, dir->diag);
    cr_run_lock_release(&dir->lock);
}

bool cr_rundir_put(struct cr_rundir *dir, const char *name, const char *text)
{
    const char *path = cr_rundir_file(dir, name);

    return rundir_is_file(dir, path) &&
           cr_write_file(dir->diag, path, text, strlen(text));
}

/* Copies the lines to keep. If all are kept the old file stays. */
static bool rundir_filter(struct cr_rundir *dir, const char *path, FILE *old,
                          bool (*keep)(void *ctx, const char *line), void *ctx)
{
    struct cr_atomic_file new;
    bool changed = false;
    char *line = NULL;
    size_t cap = 0;
    ssize_t len;

    if (!cr_atomic_file_open(&new, dir->diag, path, 0))
        return false;
    while ((len = getline(&line, &cap, old)) > 0)
        /* an incomplete last line was cut off by a kill */
        if (line[len - 1] == '\n' && keep(ctx, line))
            cr_atomic_file_write(&new, line, (size_t)len);
        else
            changed = true;
    free(line);
    if (!feof(old)) {
        rundir_failed(dir, path, "read");
        cr_atomic_file_discard(&new);
        return false;
    }
    if (changed)
        return cr_atomic_file_commit(&new);
    cr_atomic_file_discard(&new);
    return true;
}

bool cr_rundir_metrics(struct cr_rundir *dir,
                       bool (*keep)(void *ctx, const char *line), void *ctx)
{
    const char *path = cr_rundir_file(dir, "metrics.jsonl");
    bool ok = rundir_is_file(dir, path);
    FILE *old = ok ? fopen(path, "re") : NULL;

    if (!ok)
        return false;
    if (!old && errno != ENOENT)
        return rundir_failed(dir, path, "read");
    if (old) {
        ok = rundir_filter(dir, path, old, keep, ctx);
        fclose(old);
    }
    return ok && cr_append_file_open(&dir->metrics, dir->diag, path);
}
