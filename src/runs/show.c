/* runs show: the record of a run. */
#include <string.h>

#include "base/table.h"
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

static void show_node(struct cr_runs_job *job, const char *path,
                      const struct cr_node *node)
{
    if (node->kind != CR_NODE_MAP) {
        printf("%s: %s\n", cr_escape(job->arena, path),
               cr_escape(job->arena, node->kind == CR_NODE_STR
                                         ? node->text
                                         : cr_node_json(job->arena, node)));
        return;
    }
    for (CR_EACH(m, node))
        show_node(job,
                  *path ? cr_strf(job->arena, "%s.%s", path, m->key) : m->key,
                  m);
}

static void show_run(struct cr_runs_job *job)
{
    struct cr_run *run = cr_runs_operand(job, 1);
    struct cr_buf json = { .arena = job->arena };

    if (!run)
        return;
    if (job->cli->json) {
        cr_runs_json(job, run, &json);
        puts(cr_buf_text(&json));
        return;
    }
    printf("path: %s\n", cr_escape(job->arena, run->path));
    show_node(job, "", run->record);
}

const struct cr_runs_sub cr_runs_sub_show = {
    .name = "show",
    .min = 1,
    .max = 1,
    .run = show_run,
};
