/* runs rm: deletes runs. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/table.h"
#include "rundir/run_names.h"
#include "rundir/run_remove.h"
#include "rundir/run_status.h"
#include "runs/runs.h"

/* A run to delete. */
struct rm_run {
    const char *path, *status;
    struct cr_run_contents contents;
};

struct rm_list {
    struct cr_runs_job *job;
    struct rm_run *run;
    int n, n_running;
    bool others; /* some run has other entries */
    int64_t bytes;
};

/* ---- Which runs */

static bool rm_refuse(struct cr_runs_job *job, const char *path,
                      const char *why)
{
    return cr_error(job->cli->diag, cr_at_file(job->arena, path), CR_E_RUN_DIR,
                    "%s", why);
}

/* Whether the path, followed through symbolic links, is in the folder of
 * runs. */
static bool rm_is_inside(const char *folder, const char *path)
{
    char *top = realpath(folder, NULL), *real = realpath(path, NULL);
    size_t n = top ? strlen(top) : 0;
    bool inside = top && real && strncmp(real, top, n) == 0 &&
                  (real[n] == '/' || real[n] == '\0' || n == 1);

    free(top);
    free(real);
    return inside;
}

/* Adds a run of its record; `named` by an operand, else found by --where, and
 * then skipped if it is running or is reached through a symbolic link. */
static void rm_add(struct rm_list *list, const struct cr_run *run, bool named)
{
    struct rm_run *to = &list->run[list->n];
    struct cr_runs_job *job = list->job;
    struct stat st;

    *to = (struct rm_run){ run->path, cr_run_status(run), { 0 } };
    if (cr_run_is_running(run)) {
        list->n_running++;
        if (named)
            rm_refuse(job, run->path,
                      "the run is still running: a process holds its "
                      "lock");
        return;
    }
    if (lstat(run->path, &st) != 0 || !S_ISDIR(st.st_mode)) {
        if (named)
            rm_refuse(job, run->path,
                      "found a symbolic link, expected a run directory");
        return;
    }
    if (!named && !rm_is_inside(job->dir, run->path))
        return;
    if (!*cr_json_str(run->record, "id", "")) {
        if (named)
            rm_refuse(job, run->path,
                      "found a folder without a readable "
                      "record.json, expected a run directory");
        return;
    }
    if (!cr_run_contents(job->arena, run->path, &to->contents)) {
        cr_error(job->cli->diag, cr_at_file(job->arena, run->path), CR_E_SYSTEM,
                 "cannot read the folder: %s", strerror(errno));
        return;
    }
    list->others |= to->contents.n_others > 0;
    list->bytes += to->contents.bytes;
    list->n++;
}

static bool rm_find(struct rm_list *list)
{
    struct cr_runs_job *job = list->job;
    struct cr_runs named = { .arena = job->arena, .diag = job->cli->diag };
    int n = job->cli->n_operands;
    bool ok = true;

    if ((n > 1) == (job->o->where != NULL))
        return cr_error(job->cli->diag, CR_NOWHERE, CR_E_USAGE,
                        "runs rm: found %s, expected the names of runs or "
                        "--where",
                        n > 1 ? "both" : "neither");
    if (!cr_runs_may_delete(job))
        return false;
    for (int i = 1; i < n; i++)
        ok = cr_runs_add_one(&named, job->dir, job->cli->operands[i],
                             job->cli->operand_pos[i]) &&
             ok;
    list->run = CR_NEWS(job->arena, struct rm_run,
                        (n > 1 ? named.n : job->found.n) + 1);
    for (int i = 0; i < named.n; i++)
        rm_add(list, &named.run[i], true);
    for (int i = 0; n <= 1 && i < job->found.n; i++)
        rm_add(list, &job->found.run[i], false);
    return ok && job->cli->diag->errors == 0;
}

/* ---- What is printed */

static const char *rm_others(struct cr_arena *arena,
                             const struct cr_run_contents *c)
{
    struct cr_buf to = { .arena = arena };

    for (int i = 0; i < c->n_others && i < 3; i++)
        cr_buf_f(&to, "%s%s", i > 0 ? ", " : "", c->other[i]);
    if (c->n_others > 3)
        cr_buf_f(&to, " and %d more", c->n_others - 3);
    return cr_buf_text(&to);
}

static void rm_table(const struct rm_list *list)
{
    struct cr_arena *arena = list->job->arena;
    struct cr_table table = { .arena = arena,
                              .align = list->others ? "llrrl" : "llrr" };

    cr_table_add(&table, "run");
    cr_table_add(&table, "status");
    cr_table_add(&table, "files");
    cr_table_add(&table, "size");
    if (list->others)
        cr_table_add(&table, "stays");
    for (int i = 0; i < list->n; i++) {
        const struct rm_run *run = &list->run[i];

        cr_table_add(&table, run->path);
        cr_table_add(&table, run->status);
        cr_table_f(&table, "%d", run->contents.files);
        if (list->job->o->tsv)
            cr_table_f(&table, "%" PRId64, run->contents.bytes);
        else
            cr_table_add(&table, cr_runs_size(arena, run->contents.bytes));
        if (list->others)
            cr_table_add(&table, rm_others(arena, &run->contents));
    }
    cr_table_print(&table, stdout, list->job->o->tsv);
}

static void rm_json(const struct rm_list *list)
{
    struct cr_buf to = { .arena = list->job->arena };

    for (int i = 0; i < list->n; i++) {
        const struct cr_run_contents *c = &list->run[i].contents;

        cr_buf_str(&to, i > 0 ? ", {\"path\": " : "{\"path\": ");
        cr_buf_json(&to, list->run[i].path);
        cr_buf_str(&to, ", \"status\": ");
        cr_buf_json(&to, list->run[i].status);
        cr_buf_f(&to, ", \"files\": %d, \"bytes\": %" PRId64 ", \"stays\": [",
                 c->files, c->bytes);
        for (int k = 0; k < c->n_others; k++) {
            cr_buf_str(&to, k > 0 ? ", " : "");
            cr_buf_json(&to, c->other[k]);
        }
        cr_buf_str(&to, "]}");
    }
    printf("[%s]\n", cr_buf_text(&to));
}

static void rm_run(struct cr_runs_job *job)
{
    struct rm_list list = { .job = job };
    const char *what;
    int gone = 0;

    if (!rm_find(&list))
        return;
    if (job->cli->json)
        rm_json(&list);
    else if (list.n > 0)
        rm_table(&list);
    if (list.n_running > 0 && !job->cli->quiet)
        fprintf(stderr, "%d run%s skipped: still running\n", list.n_running,
                list.n_running == 1 ? "" : "s");
    if (list.n == 0 && !job->cli->quiet)
        fputs("no run to delete\n", stderr);
    if (list.n == 0 || job->o->dry_run)
        return;
    what = cr_strf(job->arena, "%d run%s, %s", list.n, list.n == 1 ? "" : "s",
                   cr_runs_size(job->arena, list.bytes));
    if (!cr_runs_confirm(job, cr_strf(job->arena, "Delete %s?", what)))
        return;
    for (int i = 0; i < list.n; i++)
        gone +=
            cr_run_remove(job->arena, job->cli->diag, list.run[i].path, false);
    if (gone == list.n && !job->cli->quiet)
        fprintf(stderr, "deleted %s\n", what);
    else if (!job->cli->quiet)
        fprintf(stderr, "deleted %d of %d runs\n", gone, list.n);
}

const struct cr_runs_sub cr_runs_sub_rm = {
    .name = "rm",
    .max = -1,
    .searches = true,
    .run = rm_run,
};
