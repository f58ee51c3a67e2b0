/*
 * runs gc: deletes what no command needs, in runs that no process holds:
 *
 * - of complete runs (completed, early_stopped) the checkpoints
 *   NAME-EPOCH_BATCH.safetensors, except those that best.safetensors and
 *   last.safetensors are links to; without last.safetensors the newest one
 *   stays;
 * - temporary files and locks of processes that were killed;
 * - folders of runs that never began: with nothing but an empty `ckpt`, locks
 *   and temporary files;
 * - what a killed `runs rm` left.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic_file.h"
#include "base/table.h"
#include "ckpt/checkpoint.h"
#include "rundir/run_files.h"
#include "rundir/run_lock.h"
#include "rundir/run_remove.h"
#include "rundir/run_status.h"
#include "runs/runs.h"

#define GC_DEPTH 2 /* as cr_runs_search */

enum gc_kind {
    GC_CKPT,
    GC_TEMPORARY,
    GC_EMPTY,
    GC_REMOVED
};

static const char *const gc_kinds[] = { "checkpoints", "temporary files",
                                        "a run that never began",
                                        "a deleted run" };

struct gc_item {
    const char *path; /* of the directory */
    enum gc_kind kind;
    int files;
    int64_t bytes;
    const char **file; /* paths of checkpoints */
};

struct gc_list {
    struct cr_runs_job *job;
    struct cr_arena *arena;
    int n, cap;
    struct gc_item *item;
};

static void gc_add(struct gc_list *list, struct gc_item item)
{
    if (item.files == 0 && item.kind < GC_EMPTY)
        return;
    if (list->n == list->cap) {
        list->cap = 2 * list->cap + 16;
        list->item = cr_grow(list->arena, list->item, (size_t)list->n,
                             (size_t)list->cap, sizeof *list->item);
    }
    list->item[list->n++] = item;
}

static bool gc_is_folder(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool gc_is_file(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* ---- Looking */

/* Warns about a folder that cannot be read, by errno. */
static void gc_warn(struct gc_list *list, const char *path)
{
    if (errno != ENOENT)
        cr_warn(list->job->cli->diag, cr_at_file(list->arena, path),
                CR_E_SYSTEM, "cannot read the folder: %s", strerror(errno));
}

/* NULL after a warning. */
static DIR *gc_open(struct gc_list *list, const char *path)
{
    DIR *d = opendir(path);

    if (!d)
        gc_warn(list, path);
    return d;
}

/* Sets *is: whether a folder has nothing but what a run makes before it
 * begins. False after a warning. */
static bool gc_is_empty(struct gc_list *list, const char *path, bool *is)
{
    struct cr_arena *arena = list->arena;
    DIR *d = gc_open(list, path);
    struct dirent *e;
    int n = 0;
    bool empty = d != NULL;

    while (d && empty && (e = readdir(d)) != NULL) {
        const char *name = e->d_name, *inner = cr_path_join(arena, path, name);

        if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
            continue;
        n++;
        if (strcmp(name, "ckpt") == 0) {
            struct cr_run_contents c;

            empty = cr_run_contents(arena, inner, &c);
            if (!empty)
                gc_warn(list, inner);
            empty = empty && c.files == 0 && c.n_others == 0;
        } else {
            empty = gc_is_file(inner) &&
                    (strcmp(name, "lock") == 0 || cr_run_is_temporary(name));
        }
    }
    if (d)
        closedir(d);
    *is = empty && n > 0;
    return d != NULL;
}

static void gc_temporary(struct gc_list *list, struct gc_item *item,
                         const char *folder)
{
    struct cr_arena *arena = list->arena;
    DIR *d = gc_is_folder(folder) ? gc_open(list, folder) : NULL;
    struct dirent *e;
    struct stat st;

    while (d && (e = readdir(d)) != NULL) {
        const char *path = cr_path_join(arena, folder, e->d_name);

        if ((e->d_name[0] == '.' && cr_run_is_temporary(e->d_name)) ||
            (strcmp(e->d_name, "lock") == 0 && folder == item->path))
            if (lstat(path, &st) == 0 && S_ISREG(st.st_mode)) {
                item->files++;
                item->bytes += st.st_size;
            }
    }
    if (d)
        closedir(d);
}

static bool gc_is_complete(const struct cr_run *run)
{
    return strcmp(cr_run_status(run), "completed") == 0 ||
           strcmp(cr_run_status(run), "early_stopped") == 0;
}

/* The checkpoints of a complete run that are neither its best nor its last. */
static struct gc_item gc_ckpts(struct gc_list *list, const char *run)
{
    struct cr_arena *arena = list->arena;
    const char *dir = cr_path_join(arena, run, "ckpt");
    const char *best = cr_path_join(arena, dir, "best.safetensors");
    const char *last = cr_path_join(arena, dir, "last.safetensors");
    struct gc_item item = { .path = run, .kind = GC_CKPT };
    const struct cr_ckpt_file *file;
    struct stat st;
    int n = 0;

    if (!gc_is_folder(dir))
        return item;
    file = cr_ckpt_list(arena, list->job->cli->diag, dir, NULL, &n);
    item.file = CR_NEWS(arena, const char *, n > 0 ? n : 1);
    for (int i = 0; i < n; i++)
        if (!(i == 0 && access(last, F_OK) != 0) &&
            !cr_ckpt_same(file[i].path, best) &&
            !cr_ckpt_same(file[i].path, last) &&
            lstat(file[i].path, &st) == 0 && S_ISREG(st.st_mode)) {
            item.file[item.files++] = file[i].path;
            item.bytes += st.st_size;
        }
    return item;
}

/* Adds what can be deleted of a run. */
static void gc_run(struct gc_list *list, struct cr_runs *runs)
{
    struct gc_item item = { .path = runs->run[0].path, .kind = GC_TEMPORARY };

    cr_runs_settle_status(runs);
    if (cr_run_lock_is_live(list->arena, item.path) ||
        !*cr_json_str(runs->run[0].record, "id", ""))
        return;
    if (gc_is_complete(&runs->run[0]))
        gc_add(list, gc_ckpts(list, item.path));
    gc_temporary(list, &item, item.path);
    gc_temporary(list, &item,
                 cr_path_join(list->arena, item.path, "ckpt"));
    gc_add(list, item);
}

static void gc_folder(struct gc_list *list, const char *path, int depth)
{
    struct cr_diag quiet = { .arena = list->arena };
    struct cr_runs runs = { .arena = list->arena, .diag = &quiet };
    struct cr_run_contents c;
    struct dirent *e;
    bool removed, empty;
    DIR *d;

    if (!gc_is_folder(path) && depth < GC_DEPTH)
        return;
    removed = cr_run_is_removed(cr_path_base(path));
    if (!removed && cr_runs_add(&runs, path)) {
        if (runs.n > 0)
            gc_run(list, &runs);
        return;
    }
    if (!removed && !gc_is_empty(list, path, &empty))
        return;
    if (removed || empty) {
        if ((removed || !cr_run_lock_is_live(list->arena, path)) &&
            cr_run_contents(list->arena, path, &c))
            gc_add(list,
                   (struct gc_item){ .path = path,
                                     .kind = removed ? GC_REMOVED : GC_EMPTY,
                                     .files = c.files,
                                     .bytes = c.bytes });
        return;
    }
    d = depth > 0 ? gc_open(list, path) : NULL;
    while (d && (e = readdir(d)) != NULL)
        if (e->d_name[0] != '.' || cr_run_is_removed(e->d_name))
            gc_folder(list, cr_path_join(list->arena, path, e->d_name),
                      depth - 1);
    if (d)
        closedir(d);
}

/* ---- Deleting */

static bool gc_was_listed(const struct gc_item *item, const char *file)
{
    for (int i = 0; i < item->files; i++)
        if (strcmp(item->file[i], file) == 0)
            return true;
    return false;
}

/* Deletes the checkpoints of the list that may still be deleted. */
static bool gc_delete_ckpts(struct gc_list *list, const struct gc_item *item)
{
    struct cr_diag *diag = list->job->cli->diag,
                   quiet = { .arena = list->arena };
    struct cr_runs runs = { .arena = list->arena, .diag = &quiet };
    const char *dir = cr_path_join(list->arena, item->path, "ckpt");
    struct gc_item now = { 0 };
    bool ok = true;
    int fd;

    if (cr_runs_add(&runs, item->path) && runs.n > 0 &&
        gc_is_complete(&runs.run[0]))
        now = gc_ckpts(list, item->path);
    fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    for (int i = 0; fd >= 0 && i < now.files; i++)
        if (gc_was_listed(item, now.file[i]) &&
            unlinkat(fd, cr_path_base(now.file[i]), 0) != 0 && errno != ENOENT)
            ok = cr_error(diag, cr_at_file(list->arena, now.file[i]),
                          CR_E_SYSTEM, "cannot delete: %s", strerror(errno));
    if (fd >= 0)
        close(fd);
    return ok;
}

static void gc_delete_temporary(struct gc_list *list, const char *path)
{
    const char *ckpt = cr_path_join(list->arena, path, "ckpt");

    cr_atomic_file_sweep(path, NULL);
    if (gc_is_folder(ckpt))
        cr_atomic_file_sweep(ckpt, NULL);
}

static bool gc_delete(struct gc_list *list, const struct gc_item *item)
{
    struct cr_diag *diag = list->job->cli->diag;
    struct cr_run_lock lock = { 0 };
    bool ok = true;

    if (item->kind == GC_REMOVED)
        return cr_run_remove_rest(list->arena, diag, item->path);
    if (item->kind == GC_EMPTY)
        return cr_run_remove(list->arena, diag, item->path, true);
    if (!cr_run_lock_take(list->arena, diag, &lock, item->path))
        return false;
    if (item->kind == GC_CKPT)
        ok = gc_delete_ckpts(list, item);
    else
        gc_delete_temporary(list, item->path);
    cr_run_lock_release(&lock);
    return ok;
}

/* ---- What is printed */

static void gc_table(const struct gc_list *list)
{
    struct cr_table table = { .arena = list->arena, .align = "llrr" };

    cr_table_add(&table, "run");
    cr_table_add(&table, "what");
    cr_table_add(&table, "files");
    cr_table_add(&table, "size");
    for (int i = 0; i < list->n; i++) {
        const struct gc_item *item = &list->item[i];

        cr_table_add(&table, item->path);
        cr_table_add(&table, gc_kinds[item->kind]);
        cr_table_f(&table, "%d", item->files);
        if (list->job->o->tsv)
            cr_table_f(&table, "%" PRId64, item->bytes);
        else
            cr_table_add(&table, cr_runs_size(list->arena, item->bytes));
    }
    cr_table_print(&table, stdout, list->job->o->tsv);
}

static void gc_json(const struct gc_list *list)
{
    struct cr_buf to = { .arena = list->arena };

    for (int i = 0; i < list->n; i++) {
        const struct gc_item *item = &list->item[i];

        cr_buf_str(&to, i > 0 ? ", {\"path\": " : "{\"path\": ");
        cr_buf_json(&to, item->path);
        cr_buf_f(&to, ", \"what\": \"%s\", \"files\": %d, \"bytes\": %" PRId64,
                 gc_kinds[item->kind], item->files, item->bytes);
        cr_buf_char(&to, '}');
    }
    printf("[%s]\n", cr_buf_text(&to));
}

static int gc_by_path(const void *a, const void *b)
{
    const struct gc_item *x = a, *y = b;
    int order = strcmp(x->path, y->path);

    return order ? order : (int)x->kind - (int)y->kind;
}

static void gc_main(struct cr_runs_job *job)
{
    struct gc_list list = { .job = job, .arena = job->arena };
    int files = 0, gone = 0;
    int64_t bytes = 0;
    const char *what;

    if (!cr_runs_may_delete(job))
        return;
    gc_folder(&list, job->dir, GC_DEPTH);
    if (list.n > 0)
        qsort(list.item, (size_t)list.n, sizeof *list.item, gc_by_path);
    for (int i = 0; i < list.n; i++) {
        files += list.item[i].files;
        bytes += list.item[i].bytes;
    }
    if (job->cli->json)
        gc_json(&list);
    else if (list.n > 0)
        gc_table(&list);
    if (list.n == 0 && !job->cli->quiet)
        fputs("nothing to delete\n", stderr);
    if (list.n == 0 || job->o->dry_run)
        return;
    what = cr_strf(job->arena, "%d file%s, %s", files, files == 1 ? "" : "s",
                   cr_runs_size(job->arena, bytes));
    if (!cr_runs_confirm(job, cr_strf(job->arena, "Delete %s?", what)))
        return;
    for (int i = 0; i < list.n; i++)
        gone += gc_delete(&list, &list.item[i]);
    if (gone == list.n && !job->cli->quiet)
        fprintf(stderr, "deleted %s\n", what);
}

const struct cr_runs_sub cr_runs_sub_gc = {
    .name = "gc",
    .run = gc_main,
};
