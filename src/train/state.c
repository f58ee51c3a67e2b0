#include "train/state.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/json.h"

/* Members that the struct holds; all other members of the file are copied. */
static const char *const state_members[] = { "epoch",
                                             "step",
                                             "step_in_epoch",
                                             "steps_per_epoch",
                                             "samples",
                                             "seed",
                                             "rng",
                                             "config_dir",
                                             "optimizer",
                                             "lr",
                                             "data",
                                             "eval",
                                             "best",
                                             "early_stop",
                                             "events",
                                             "loss_scale",
                                             "nan",
                                             "plateau",
                                             "micro_batches",
                                             "epoch_loss",
                                             "names",
                                             "older_records",
                                             "fitted",
                                             "plugins",
                                             NULL };

int64_t cr_state_epoch(const struct cr_state *state)
{
    return state->step * state->grad_accum / state->per_epoch;
}

int64_t cr_state_in_epoch(const struct cr_state *state)
{
    return state->step * state->grad_accum % state->per_epoch;
}

int64_t cr_state_epoch_of(const struct cr_state *state, int64_t step)
{
    return step > 0 ? (step * state->grad_accum - 1) / state->per_epoch : 0;
}

int64_t cr_state_batch_of(const struct cr_state *state, int64_t step)
{
    return step > 0 ? (step * state->grad_accum - 1) % state->per_epoch : 0;
}

int64_t cr_state_best_epoch(const struct cr_state *s)
{
    return s->best_step > 0 ? cr_state_epoch_of(s, s->best_step) + 1 : 0;
}

int64_t cr_state_name_of(const struct cr_state *s, int64_t step, int64_t *batch)
{
    int64_t at = step * s->grad_accum, epoch = cr_state_epoch_of(s, step);
    int64_t begin = s->named_epoch * s->per_epoch;

    /* In the epoch of a resumed run names count from the update it resumed
     * from; with another batch size that update may end before the epoch
     * begins. */
    if (epoch < s->named_epoch && at - begin + s->ckpt_name_offset > 0)
        epoch = s->named_epoch;
    *batch = at - epoch * s->per_epoch +
             (epoch == s->named_epoch ? s->ckpt_name_offset : 0);
    return epoch;
}

int64_t cr_state_skipped(const struct cr_state *state)
{
    return state->scale.skipped + state->nan.skipped;
}

int64_t cr_state_updates(const struct cr_state *state)
{
    return state->step - cr_state_skipped(state);
}

double cr_loss_mean(const struct cr_loss_sum *sum)
{
    return sum->samples > 0 ? sum->sum / (double)sum->samples : (double)NAN;
}

/* ---- Writing */

static void state_spec(struct cr_buf *b, const struct cr_spec *spec)
{
    cr_buf_f(b, "\"type\":\"%s\",\"shape\":[", cr_type_name(spec->type));
    for (int i = 0; i < spec->rank; i++)
        cr_buf_f(b, "%s%" PRId64, i ? "," : "", spec->dim[i]);
    cr_buf_char(b, ']');
}

static void state_data(struct cr_buf *b, const struct cr_state *s)
{
    cr_buf_f(b,
             "\"data\":{\"fingerprint\":\"%08" PRIx32
             "\",\"contents\":\"%08" PRIx32 "\",\"epoch\":%" PRId64
             ",\"cursor\":%" PRId64 ",\"shard\":0,\"shards\":1,"
             "\"classes\":%" PRId64 ",\"columns\":[",
             s->fingerprint, s->contents, cr_state_epoch(s), s->cursor,
             s->classes);
    for (int i = 0; i < s->n_columns; i++) {
        cr_buf_str(b, i ? ",{\"name\":" : "{\"name\":");
        cr_json_put_bytes(b, s->columns[i].name);
        cr_buf_char(b, ',');
        state_spec(b, &s->columns[i].spec);
        cr_buf_char(b, '}');
    }
    cr_buf_char(b, ']');
    if (s->class_names) {
        cr_buf_str(b, ",\"class_names\":[");
        for (int64_t i = 0; i < s->classes; i++) {
            cr_buf_str(b, i ? "," : "");
            cr_json_put_bytes(b, s->class_names[i]);
        }
        cr_buf_char(b, ']');
    }
    cr_buf_char(b, '}');
}

static void state_scores(struct cr_buf *b, const struct cr_state *s)
{
    if (s->eval_step >= 0) {
        cr_buf_f(b,
                 ",\"eval\":{\"step\":%" PRId64 ",\"samples\":%" PRId64,
                 s->eval_step, s->eval.samples);
        if (s->grad_accum > 1) /* otherwise equal to the step */
            cr_buf_f(b, ",\"epoch\":%" PRId64, s->eval_epoch);
        cr_buf_str(b, ",\"scores\":{");
        cr_buf_scores(b, &s->eval, false);
        cr_buf_str(b, "}}");
    }
    if (s->best_metric) {
        cr_buf_str(b, ",\"best\":{\"metric\":");
        cr_buf_json(b, s->best_metric);
        cr_buf_f(b, ",\"mode\":\"%s\",\"value\":", s->best_max ? "max" : "min");
        cr_buf_real(b, s->best);
        cr_buf_f(b, ",\"epoch\":%" PRId64 ",\"step\":%" PRId64 "}",
                 cr_state_epoch_of(s, s->best_step), s->best_step);
    }
    cr_buf_f(b, ",\"early_stop\":{\"wait\":%" PRId64 ",\"stopped\":%s", s->wait,
             s->stopped_early ? "true" : "false");
    if (s->wait_has_best) {
        cr_buf_str(b, ",\"best\":");
        cr_buf_real(b, s->wait_best);
    }
    cr_buf_char(b, '}');
}

static void state_scale(struct cr_buf *b, const struct cr_loss_scale *s)
{
    if (s->value <= 0)
        return;
    cr_buf_str(b, "\"loss_scale\":{\"scale\":");
    cr_buf_real(b, s->value);
    cr_buf_f(b,
             ",\"good_steps\":%" PRId64 ",\"bad_steps\":%" PRId64
             ",\"skipped\":%" PRId64 "},",
             s->n_finite, s->n_overflow, s->skipped);
}

static void state_nan(struct cr_buf *b, const struct cr_nan_state *s)
{
    if (s->skipped == 0 && s->fallbacks == 0 && s->good_step < 0)
        return;
    cr_buf_f(b,
             "\"nan\":{\"skipped\":%" PRId64 ",\"in_a_row\":%" PRId64
             ",\"fallbacks\":%" PRId64 ",\"factor\":",
             s->skipped, s->consecutive, s->fallbacks);
    cr_buf_real(b, s->factor);
    cr_buf_f(b, ",\"good_step\":%" PRId64 "},", s->good_step);
}

static void state_names(struct cr_buf *b, const struct cr_state *s)
{
    if (s->ckpt_name_offset != 0)
        cr_buf_f(b, "\"names\":{\"epoch\":%" PRId64 ",\"more\":%" PRId64 "},",
                 s->named_epoch, s->ckpt_name_offset);
    if (s->legacy_records > 0)
        cr_buf_f(b, "\"older_records\":%" PRId64 ",", s->legacy_records);
}

/* The step guards against a version that copies the member unchanged. */
static void state_epoch_loss(struct cr_buf *b, const struct cr_state *s)
{
    if (s->epoch_loss.samples <= 0)
        return;
    cr_buf_f(b,
             "\"epoch_loss\":{\"step\":%" PRId64 ",\"samples\":%" PRId64
             ",\"sum\":",
             s->step, s->epoch_loss.samples);
    cr_buf_real(b, s->epoch_loss.sum);
    cr_buf_str(b, "},");
}

static void state_plateau(struct cr_buf *b, const struct cr_plateau *p)
{
    if (!p->begun)
        return;
    cr_buf_str(b, "\"plateau\":{\"rate\":");
    cr_buf_real(b, p->rate);
    if (p->has_best) {
        cr_buf_str(b, ",\"best\":");
        cr_buf_real(b, p->best);
    }
    cr_buf_f(b, ",\"wait\":%" PRId64 ",\"cooldown\":%" PRId64 "},", p->wait,
             p->cooldown);
}

/* Fitted values of transforms: maps of numbers and strings. Strings come from
 * files and may hold any byte. */
static void state_fitted(struct cr_buf *b, const struct cr_node *map)
{
    cr_buf_str(b, map ? ",\"fitted\":{" : "");
    for (CR_EACH(m, map)) {
        cr_json_put_bytes(b, m->key);
        cr_buf_str(b, ":[");
        for (CR_EACH(v, m)) {
            if (v->kind == CR_NODE_STR)
                cr_json_put_bytes(b, v->text);
            else
                cr_buf_str(b, cr_node_json(b->arena, v));
            cr_buf_str(b, v->next ? "," : "");
        }
        cr_buf_str(b, m->next ? "]," : "]");
    }
    cr_buf_str(b, map ? "}" : "");
}

static void state_fitted_read(struct cr_arena *arena, struct cr_node *map)
{
    struct cr_node *m, *v;

    for (m = map ? map->child : NULL; m; m = m->next) {
        m->key = m->key ? cr_json_bytes(arena, m->key) : NULL;
        for (v = m->child; v; v = v->next)
            if (v->kind == CR_NODE_STR)
                v->text = cr_json_bytes(arena, v->text);
    }
}

const char *cr_state_write(struct cr_arena *arena, const struct cr_state *s)
{
    struct cr_buf b = { .arena = arena };

    cr_buf_f(&b,
             "{\"epoch\":%" PRId64 ",\"step\":%" PRId64
             ",\"step_in_epoch\":%" PRId64 ",\"steps_per_epoch\":%" PRId64
             ",\"samples\":%" PRId64 ",\"config_dir\":",
             cr_state_epoch(s), s->step, cr_state_in_epoch(s), s->per_epoch,
             s->samples);
    cr_json_put_bytes(&b, s->config_dir);
    cr_buf_f(&b,
             ",\"seed\":\"%" PRIu64 "\",\"rng\":{\"algorithm\":"
             "\"philox4x32-10\",\"streams\":[\"init\",\"shuffle\","
             "\"augment\",\"dropout\",\"split\"]},\"optimizer\":{\"type\":",
             s->seed);
    cr_buf_json(&b, s->optimizer);
    cr_buf_f(&b, ",\"t\":%" PRId64 "},\"lr\":{\"step\":%" PRId64 "},",
             cr_state_updates(s), cr_state_updates(s));
    state_scale(&b, &s->scale);
    state_nan(&b, &s->nan);
    state_names(&b, s);
    state_plateau(&b, &s->plateau);
    if (s->grad_accum > 1)
        cr_buf_f(&b, "\"micro_batches\":%" PRId64 ",", s->grad_accum);
    state_epoch_loss(&b, s);
    state_data(&b, s);
    state_fitted(&b, s->fitted);
    if (s->plugins)
        cr_buf_f(&b, ",\"plugins\":%s", cr_node_json(arena, s->plugins));
    state_scores(&b, s);
    cr_buf_f(&b, ",\"events\":{\"last_step\":%" PRId64 "}", s->step);
    for (CR_EACH(m, s->other)) {
        cr_buf_char(&b, ',');
        cr_buf_json(&b, m->key);
        cr_buf_f(&b, ":%s", cr_node_json(arena, m));
    }
    cr_buf_char(&b, '}');
    return cr_buf_text(&b);
}

/* ---- Reading */

#define STATE_MAX (INT64_C(1) << 52) /* maximum number of batches of a run */

/* Checks the counts that are used in computations; members that are only
 * reported may have any value. */
static bool state_counts(const struct cr_state *s)
{
    return s->cursor >= 0 && s->best_step >= 0 && s->best_step <= s->step &&
           s->scale.skipped >= 0 && s->scale.skipped <= s->step &&
           s->nan.skipped >= 0 &&
           s->nan.skipped <= s->step - s->scale.skipped &&
           s->nan.fallbacks >= 0 && s->nan.good_step >= -1 &&
           s->nan.good_step <= s->step && s->scale.n_finite >= 0 &&
           s->scale.n_overflow >= 0 && s->wait >= 0 && s->plateau.wait >= 0 &&
           s->plateau.cooldown >= 0 && s->named_epoch >= 0 &&
           s->named_epoch <= STATE_MAX / s->per_epoch &&
           s->legacy_records >= 0 && s->ckpt_name_offset >= -STATE_MAX &&
           s->ckpt_name_offset <= STATE_MAX && s->samples >= 0 &&
           s->samples <= INT64_MAX / 2;
}

static void state_epoch_loss_read(const struct cr_node *member,
                                  struct cr_state *to)
{
    struct cr_loss_sum read = {
        .sum = cr_json_real(member, "sum", NAN),
        .samples = cr_json_int(member, "samples", 0),
    };

    if (isfinite(read.sum) && read.samples > 0 && read.samples <= to->samples &&
        cr_json_int(member, "step", -1) == to->step)
        to->epoch_loss = read;
}

static void state_columns(struct cr_arena *arena, const struct cr_node *data,
                          struct cr_state *to)
{
    for (CR_EACH(m, cr_node_get(data, "columns"))) {
        struct cr_column *c = &to->columns[to->n_columns];

        if (to->n_columns == CR_STATE_COLUMNS)
            break;
        *c = (struct cr_column){
            .name = cr_json_bytes(arena, cr_json_str(m, "name", ""))
        };
        if (!cr_type_find(cr_json_str(m, "type", ""), &c->spec.type))
            continue;
        for (CR_EACH(d, cr_node_get(m, "shape")))
            if (c->spec.rank < CR_RANK_MAX && d->kind == CR_NODE_INT &&
                d->integer >= 0)
                c->spec.dim[c->spec.rank++] = d->integer;
        if (cr_spec_fits(&c->spec))
            to->n_columns++;
    }
    if (cr_node_get(data, "class_names")) {
        const struct cr_node *list = cr_node_get(data, "class_names");
        const char **names = CR_NEWS(arena, const char *, to->classes + 1);
        int64_t n = 0;

        for (CR_EACH(m, list))
            if (n < to->classes && m->kind == CR_NODE_STR)
                names[n++] = cr_json_bytes(arena, m->text);
        if (n == to->classes)
            to->class_names = names;
    }
}

static const struct cr_node *state_others(struct cr_arena *arena,
                                          const struct cr_node *root)
{
    struct cr_node *map = CR_NEW(arena, struct cr_node), **end = &map->child;

    map->kind = CR_NODE_MAP;
    for (CR_EACH(m, root)) {
        const char *const *known = state_members;

        while (*known && strcmp(*known, m->key) != 0)
            known++;
        if (!*known) {
            *end = cr_node_copy(arena, m);
            end = &(*end)->next;
            *end = NULL;
        }
    }
    return map->child ? map : NULL;
}

bool cr_state_read(struct cr_arena *arena, struct cr_diag *diag,
                   struct cr_pos pos, const char *text, struct cr_state *to)
{
    const char *why;
    size_t at;
    const struct cr_node *root =
        cr_json_read(arena, text, strlen(text), &why, &at);
    const struct cr_node *data = cr_node_get(root, "data");
    const struct cr_node *eval = cr_node_get(root, "eval");
    const struct cr_node *best = cr_node_get(root, "best");
    const struct cr_node *early = cr_node_get(root, "early_stop");
    const struct cr_node *scale = cr_node_get(root, "loss_scale");
    const struct cr_node *plateau = cr_node_get(root, "plateau");
    const struct cr_node *nan = cr_node_get(root, "nan");
    const struct cr_node *names = cr_node_get(root, "names");
    const struct cr_node *stopped = cr_node_get(early, "stopped");

    *to = (struct cr_state){ 0 };
    if (!root || root->kind != CR_NODE_MAP)
        return cr_error(diag, pos, CR_E_CKPT_FORMAT,
                        "cellrun.state is not a JSON object%s%s",
                        root ? "" : ": ", root ? "" : why);
    to->step = cr_json_int(root, "step", -1);
    to->per_epoch = cr_json_int(root, "steps_per_epoch", 0);
    to->grad_accum = cr_json_int(root, "micro_batches", 1);
    to->samples = cr_json_int(root, "samples", 0);
    if (to->step < 0 || to->per_epoch <= 0 || to->per_epoch > STATE_MAX ||
        to->grad_accum <= 0 || to->step > STATE_MAX / to->grad_accum)
        return cr_error(diag, pos, CR_E_CKPT_FORMAT,
                        "cellrun.state has no valid step or steps_per_epoch");
    state_epoch_loss_read(cr_node_get(root, "epoch_loss"), to);
    to->seed = strtoull(cr_json_str(root, "seed", "0"), NULL, 10);
    to->config_dir =
        cr_json_bytes(arena, cr_json_str(root, "config_dir", "."));
    to->optimizer = cr_json_str(cr_node_get(root, "optimizer"), "type", "");
    to->cursor = cr_json_int(data, "cursor", 0);
    to->fingerprint =
        (uint32_t)strtoul(cr_json_str(data, "fingerprint", "0"), NULL, 16);
    to->has_contents = cr_node_get(data, "contents") != NULL;
    to->contents =
        (uint32_t)strtoul(cr_json_str(data, "contents", "0"), NULL, 16);
    to->classes = cr_json_int(data, "classes", 0);
    if (to->classes < 0 || to->classes > CR_STATE_CLASSES)
        to->classes = 0;
    state_columns(arena, data, to);
    state_fitted_read(arena, cr_node_get(root, "fitted"));
    to->fitted = cr_node_get(root, "fitted");
    to->plugins = cr_node_get(root, "plugins");
    to->eval_step = cr_json_int(eval, "step", -1);
    to->eval_epoch =
        cr_json_int(eval, "epoch", cr_state_epoch_of(to, to->eval_step));
    cr_scores_read(arena, cr_node_get(eval, "scores"), &to->eval);
    to->eval.samples = cr_json_int(eval, "samples", 0);
    to->best_metric = cr_json_str(best, "metric", NULL);
    to->best_max = strcmp(cr_json_str(best, "mode", "max"), "max") == 0;
    to->best = cr_json_real(best, "value", NAN);
    to->best_step = cr_json_int(best, "step", 0);
    to->wait = cr_json_int(early, "wait", 0);
    to->wait_best = cr_json_real(early, "best", NAN);
    to->wait_has_best = !isnan(to->wait_best);
    to->stopped_early = stopped && stopped->boolean;
    to->scale.value = cr_json_real(scale, "scale", 0);
    to->scale.n_finite = cr_json_int(scale, "good_steps", 0);
    to->scale.n_overflow = cr_json_int(scale, "bad_steps", 0);
    to->scale.skipped = cr_json_int(scale, "skipped", 0);
    to->nan.skipped = cr_json_int(nan, "skipped", 0);
    to->nan.consecutive = cr_json_int(nan, "in_a_row", 0);
    to->nan.fallbacks = cr_json_int(nan, "fallbacks", 0);
    to->nan.factor = cr_json_real(nan, "factor", 1);
    to->nan.good_step = cr_json_int(nan, "good_step", -1);
    to->named_epoch = cr_json_int(names, "epoch", 0);
    to->ckpt_name_offset = cr_json_int(names, "more", 0);
    to->legacy_records = cr_json_int(root, "older_records", 0);
    to->plateau.rate = cr_json_real(plateau, "rate", NAN);
    to->plateau.begun = !isnan(to->plateau.rate);
    to->plateau.best = cr_json_real(plateau, "best", NAN);
    to->plateau.has_best = !isnan(to->plateau.best);
    to->plateau.wait = cr_json_int(plateau, "wait", 0);
    to->plateau.cooldown = cr_json_int(plateau, "cooldown", 0);
    to->other = state_others(arena, root);
    return state_counts(to) ||
           cr_error(diag, pos, CR_E_CKPT_FORMAT,
                    "the counters in cellrun.state are inconsistent");
}
