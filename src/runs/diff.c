/* runs diff: what differs between two runs. */
#include <string.h>

#include "base/table.h"
#include "runs/runs.h"

static const char *diff_flow(struct cr_arena *arena, const struct cr_node *node)
{
    return !node                       ? "-"
           : node->kind == CR_NODE_STR ? node->text
                                       : cr_node_flow(arena, node);
}

/* Reports the leaves in which two trees differ; maps are compared member by
 * member. `plain`: paths omit the types, as --set may. */
struct diff_walk {
    struct cr_arena *arena;
    bool plain;
    void (*differ)(void *ctx, const char *path, const char *a, const char *b);
    void *ctx;
};

static void diff_walk(const struct diff_walk *w, const char *path,
                      const struct cr_node *a, const struct cr_node *b);

static void diff_walk_member(const struct diff_walk *w, const char *path,
                             const char *key, const struct cr_node *a,
                             const struct cr_node *b)
{
    if (!*path)
        path = key;
    else if (!w->plain || key[0] < 'A' || key[0] > 'Z')
        path = cr_strf(w->arena, "%s.%s", path, key);
    diff_walk(w, path, a, b);
}

static void diff_walk(const struct diff_walk *w, const char *path,
                      const struct cr_node *a, const struct cr_node *b)
{
    const char *x, *y;

    if (a && b && a->kind == CR_NODE_MAP && b->kind == CR_NODE_MAP) {
        for (CR_EACH(m, a))
            diff_walk_member(w, path, m->key, m, cr_node_get(b, m->key));
        for (CR_EACH(m, b))
            if (!cr_node_get(a, m->key))
                diff_walk_member(w, path, m->key, NULL, m);
        return;
    }
    x = diff_flow(w->arena, a);
    y = diff_flow(w->arena, b);
    if (strcmp(x, y) != 0)
        w->differ(w->ctx, path, x, y);
}

static void diff_row(void *ctx, const char *path, const char *a, const char *b)
{
    cr_table_add(ctx, path);
    cr_table_add(ctx, a);
    cr_table_add(ctx, b);
}

static void diff_json(struct cr_runs_job *job, const struct cr_table *table)
{
    struct cr_buf to = { .arena = job->arena };

    for (int i = 3; i < table->cells; i += 3) {
        cr_buf_str(&to, i > 3 ? ", " : "");
        cr_buf_json(&to, table->cell[i]);
        cr_buf_str(&to, ": [");
        cr_buf_json(&to, table->cell[i + 1]);
        cr_buf_str(&to, ", ");
        cr_buf_json(&to, table->cell[i + 2]);
        cr_buf_char(&to, ']');
    }
    printf("{%s}\n", cr_buf_text(&to));
}

static void diff_run(struct cr_runs_job *job)
{
    static const char *const keys[] = { "status", "epochs", "steps",
                                        "eval",   "best",   "seconds" };
    struct cr_table table = { .arena = job->arena, .align = "lll" };
    struct diff_walk walk = { job->arena, false, diff_row, &table };
    struct cr_run *a = cr_runs_operand(job, 1), *b = cr_runs_operand(job, 2);

    if (!a || !b)
        return;
    cr_table_add(&table, "");
    cr_table_add(&table, a->path);
    cr_table_add(&table, b->path);
    diff_walk(&walk, "", cr_run_config(&job->found, a),
              cr_run_config(&job->found, b));
    for (size_t i = 0; i < CR_LEN(keys); i++)
        diff_walk(&walk, keys[i], cr_node_get(a->record, keys[i]),
                  cr_node_get(b->record, keys[i]));
    if (job->cli->json)
        diff_json(job, &table);
    else
        cr_table_print(&table, stdout, job->o->tsv);
}

const struct cr_runs_sub cr_runs_sub_diff = {
    .name = "diff",
    .min = 2,
    .max = 2,
    .run = diff_run,
};
