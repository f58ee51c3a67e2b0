#include "tensorboard/summary.h"

#include <string.h>
#include <time.h>

#include "ckpt/json.h"
#include "conf/environment.h"

double cr_tb_time(const struct cr_tensorboard *tb)
{
    struct timespec now;

    if (tb->fixed)
        return tb->time;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct cr_tb_shape *cr_tb_shape_of(struct cr_arena *arena, int rank,
                                   const int64_t *dim)
{
    struct cr_tb_shape *shape = CR_NEW(arena, struct cr_tb_shape);

    *shape = (struct cr_tb_shape)CR_TB(shape);
    shape->n_dims = (size_t)rank;
    shape->dims = CR_NEWS(arena, struct cr_tb_dim *, rank + 1);
    for (int i = 0; i < rank; i++) {
        shape->dims[i] = CR_NEW(arena, struct cr_tb_dim);
        *shape->dims[i] = (struct cr_tb_dim)CR_TB(dim);
        shape->dims[i]->size = dim[i];
    }
    return shape;
}

void cr_tb_put(struct cr_tensorboard *tb, const struct cr_tb_record *at,
               const char *tag, const struct cr_tb_metadata *metadata,
               const struct cr_tb_tensor *tensor)
{
    struct cr_tb_metadata is = *metadata;
    struct cr_tb_tensor of = *tensor;
    struct cr_tb_value value = CR_TB(value), *values[1] = { &value };
    struct cr_tb_summary summary = CR_TB(summary);
    struct cr_tb_event event = CR_TB(event);

    value.tag = cr_tb_text(tag);
    value.tensor = &of;
    value.metadata = &is;
    summary.n_values = 1;
    summary.values = values;
    event.wall_time = at->time;
    event.step = at->step;
    event.summary = &summary;
    cr_event_file_add(&tb->file, &event);
}

struct cr_tensorboard *cr_tensorboard_open(struct cr_arena *arena,
                                           struct cr_diag *diag,
                                           const struct cr_tensorboard_run *run)
{
    struct cr_tensorboard *tb = CR_NEW(arena, struct cr_tensorboard);
    struct cr_arena mem = { 0 };
    struct cr_tb_record start = { .arena = &mem };
    int64_t epoch;

    if (cr_env_number("SOURCE_DATE_EPOCH", &epoch)) {
        tb->fixed = true;
        tb->time = (double)epoch;
    }
    start.time = cr_tb_time(tb);
    if (!cr_event_file_open(&tb->file, arena, diag, run->folder, start.time))
        return NULL;
    tb->first_shown = run->resumed >= 0;
    if (run->resumed >= 0)
        cr_tensorboard_rewind(tb, run->resumed);
    cr_tb_verbatim(tb, &start, "config", run->yaml);
    cr_tb_settings(tb, &start, run->config->root);
    if (tb->file.first) /* readers expect one network in a folder */
        cr_tb_graph_put(tb, &mem, run->net);
    cr_arena_free(&mem);
    return tb;
}

void cr_tensorboard_rewind(struct cr_tensorboard *tb, int64_t step)
{
    struct cr_tb_session start = CR_TB(session);
    struct cr_tb_event event = CR_TB(event);

    if (!tb)
        return;
    start.status = CR_TB_START;
    event.wall_time = cr_tb_time(tb);
    event.step = step + 1; /* the first one to drop */
    event.session = &start;
    cr_event_file_add(&tb->file, &event);
}

static const struct cr_node *tensorboard_read(struct cr_arena *arena,
                                              const char *json, size_t n)
{
    const char *why;
    size_t at;

    return cr_json_read(arena, json, n, &why, &at);
}

void cr_tensorboard_record(struct cr_tensorboard *tb, const char *json,
                           size_t n)
{
    struct cr_arena mem = { 0 };
    struct cr_tb_record r = { .arena = &mem };

    if (!tb)
        return;
    r.json = tensorboard_read(&mem, json, n);
    r.split = cr_json_str(r.json, "split", "");
    r.step = cr_json_int(r.json, "step", 0);
    r.time = tb->fixed ? tb->time : cr_json_real(r.json, "t", 0);
    if (strcmp(r.split, "watch") == 0)
        cr_tb_histogram(tb, &r);
    else if (strcmp(r.split, "sample") == 0)
        cr_tb_verbatim(tb, &r, "sample", cr_json_str(r.json, "text", ""));
    else
        cr_tb_scalars(tb, &r, r.split);
    cr_arena_free(&mem);
}

void cr_tensorboard_samples(struct cr_tensorboard *tb, const char *json,
                            size_t n)
{
    struct cr_arena mem = { 0 };
    struct cr_tb_record at = { .arena = &mem };
    const struct cr_node *node;

    if (!tb)
        return;
    node = tensorboard_read(&mem, json, n);
    at.time = cr_tb_time(tb);
    if (!tb->first_shown)
        cr_tb_images(tb, &at, "train/first", cr_node_get(node, "first"));
    tb->first_shown = true;
    at.step = cr_json_int(node, "step", -1);
    if (at.step >= 0)
        cr_tb_images(tb, &at, "eval/worst", cr_node_get(node, "worst"));
    cr_arena_free(&mem);
}

void cr_tensorboard_flush(struct cr_tensorboard *tb, struct cr_diag *diag)
{
    if (tb)
        cr_append_file_flush(&tb->file.file, diag);
}

void cr_tensorboard_end(struct cr_tensorboard *tb, bool success)
{
    struct cr_arena mem = { 0 };
    struct cr_tb_record at = { .arena = &mem };

    if (!tb)
        return;
    at.time = cr_tb_time(tb);
    cr_tb_ended(tb, &at, success);
    cr_arena_free(&mem);
}

void cr_tensorboard_close(struct cr_tensorboard *tb, struct cr_diag *diag)
{
    if (tb)
        cr_append_file_close(&tb->file.file, diag);
}
