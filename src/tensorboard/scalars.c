/*
 * Scalars: every number of a record, as a float32, but those that say where the
 * record belongs.
 */
#include "tensorboard/summary.h"

#include <math.h>
#include <string.h>

static bool scalars_places(const struct cr_tensorboard *tb,
                           const struct cr_tb_record *r, const char *key)
{
    static const char *const places[] = { "t", "step", "epoch", "samples",
                                          "batch" };

    for (size_t i = 0; i < CR_LEN(places); i++)
        if (strcmp(key, places[i]) == 0)
            return true;
    if (strcmp(key, "low") == 0 || strcmp(key, "high") == 0)
        return cr_node_get(r->json, "bins") != NULL; /* of the histogram */
    return tb->fixed && strcmp(key, "samples_per_s") == 0;
}

void cr_tb_scalars(struct cr_tensorboard *tb, const struct cr_tb_record *r,
                   const char *prefix)
{
    int n = cr_node_count(r->json);
    struct cr_tb_value *all = CR_NEWS(r->arena, struct cr_tb_value, n + 1);
    struct cr_tb_summary summary = CR_TB(summary);
    struct cr_tb_event event = CR_TB(event);

    summary.values = CR_NEWS(r->arena, struct cr_tb_value *, n + 1);
    for (CR_EACH(m, r->json)) {
        struct cr_tb_value *v = &all[summary.n_values];
        bool number = m->kind == CR_NODE_INT || m->kind == CR_NODE_REAL;

        if ((!number && m->kind != CR_NODE_NULL) ||
            scalars_places(tb, r, m->key))
            continue;
        *v = (struct cr_tb_value)CR_TB(value);
        v->tag = cr_tb_text(cr_strf(r->arena, "%s/%s", prefix, m->key));
        v->has_simple = true;
        v->simple = number ? (float)m->real : NAN; /* null: not finite */
        summary.values[summary.n_values++] = v;
    }
    if (summary.n_values == 0)
        return;
    event.wall_time = r->time;
    event.step = r->step;
    event.summary = &summary;
    cr_event_file_add(&tb->file, &event);
}
