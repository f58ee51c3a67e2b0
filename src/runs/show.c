/* runs show: the record of a run. */
#include <string.h>

#include "base/table.h"
#include "base/terminal.h"
#include "ckpt/checkpoint.h"
#include "rundir/run_remove.h"
#include "runs/runs.h"

void cr_runs_json(struct cr_runs_job *job, const struct cr_run *run,
                  struct cr_buf *to)
{
    const char *text = cr_node_json(job->arena, run->record);

    cr_buf_str(to, "{\"path\": ");
    cr_buf_json(to, run->path);
    cr_buf_str(to, run->record->child ? ", " : "");
    cr_buf_str(to, text + 1);
}

static void show_node(struct cr_runs_job *job, struct cr_buf *to,
                      const char *path, const struct cr_node *node)
{
    if (node->kind != CR_NODE_MAP) {
        cr_buf_f(to, "%s: %s\n", cr_escape(job->arena, path),
                 cr_escape(job->arena, node->kind == CR_NODE_STR
                                           ? node->text
                                           : cr_node_json(job->arena, node)));
        return;
    }
    for (CR_EACH(m, node))
        show_node(job, to,
                  *path ? cr_strf(job->arena, "%s.%s", path, m->key) : m->key,
                  m);
}

/* The first line of a file of the run; NULL: none. */
static const char *show_line(struct cr_arena *arena, const struct cr_run *run,
                             const char *name)
{
    size_t len;
    char *text =
        cr_run_file(arena, cr_path_join(arena, run->path, name), 1 << 20, &len);

    if (text)
        text[strcspn(text, "\n")] = '\0';
    return text && *text ? text : NULL;
}

/* The names of the checkpoints, oldest first, with best and last marked. */
static const char *show_ckpts(struct cr_runs_job *job, const struct cr_run *run)
{
    struct cr_arena *arena = job->arena;
    const char *dir = cr_path_join(arena, run->path, "ckpt");
    const char *best = cr_path_join(arena, dir, "best.safetensors");
    const char *last = cr_path_join(arena, dir, "last.safetensors");
    struct cr_diag quiet = { .arena = arena };
    struct cr_buf to = { .arena = arena };
    const struct cr_ckpt_file *file;
    int n;

    file = cr_ckpt_list(arena, &quiet, dir, NULL, &n);
    for (int i = n - 1; i >= 0; i--)
        cr_buf_f(&to, "%s%s%s%s", to.len > 0 ? " " : "",
                 cr_path_base(file[i].path),
                 cr_ckpt_same(file[i].path, best) ? " (best)" : "",
                 cr_ckpt_same(file[i].path, last) ? " (last)" : "");
    return cr_buf_text(&to);
}

static void show_files(struct cr_runs_job *job, const struct cr_run *run,
                       struct cr_buf *to)
{
    const char *command = show_line(job->arena, run, "command");
    const char *ckpts = show_ckpts(job, run);
    struct cr_run_contents c;

    if (*ckpts)
        cr_buf_f(to, "checkpoints: %s\n", cr_escape(job->arena, ckpts));
    if (cr_run_contents(job->arena, run->path, &c))
        cr_buf_f(to, "files: %d, %s\n", c.files,
                 cr_runs_size(job->arena, c.bytes));
    if (command)
        cr_buf_f(to, "command: %s\n", cr_escape(job->arena, command));
}

static void show_run(struct cr_runs_job *job)
{
    struct cr_run *run = cr_runs_operand(job, 1);
    struct cr_buf to = { .arena = job->arena };

    if (!run)
        return;
    if (job->cli->json) {
        cr_runs_json(job, run, &to);
        puts(cr_buf_text(&to));
        return;
    }
    cr_buf_f(&to, "path: %s\n", cr_escape(job->arena, run->path));
    show_node(job, &to, "", run->record);
    show_files(job, run, &to);
    cr_terminal_text(cr_buf_text(&to));
}

const struct cr_runs_sub cr_runs_sub_show = {
    .name = "show",
    .min = 1,
    .max = 1,
    .run = show_run,
};
