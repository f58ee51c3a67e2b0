#include "score/score.h"

#include <math.h>
#include <string.h>

const char *cr_score_bare(const char *name)
{
    return cr_starts(name, "eval.") ? name + strlen("eval.") : name;
}

const struct cr_score *cr_score_find(const struct cr_scores *scores,
                                     const char *name)
{
    name = cr_score_bare(name);
    for (int i = 0; i < scores->n; i++)
        if (strcmp(scores->v[i].name, name) == 0)
            return &scores->v[i];
    return NULL;
}

void cr_buf_csv(struct cr_buf *buf, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        cr_buf_str(buf, text);
        return;
    }
    cr_buf_char(buf, '"');
    for (; *text; text++) {
        cr_buf_str(buf, *text == '"' ? "\"" : "");
        cr_buf_char(buf, *text);
    }
    cr_buf_char(buf, '"');
}

/* Writes integral values without ".0". */
static void score_number(struct cr_buf *buf, double value)
{
    if (isfinite(value) && value == floor(value) && fabs(value) < 1e15)
        cr_buf_f(buf, "%.0f", value);
    else
        cr_buf_real(buf, value);
}

void cr_buf_table(struct cr_buf *buf, const struct cr_score *score)
{
    const double *x = score->table;

    cr_buf_char(buf, '[');
    for (int64_t i = 0; i < score->rows; i++) {
        cr_buf_str(buf, i ? ", " : "");
        cr_buf_str(buf, score->columns > 1 ? "[" : "");
        for (int64_t k = 0; k < score->columns; k++) {
            cr_buf_str(buf, k ? ", " : "");
            score_number(buf, *x++);
        }
        cr_buf_str(buf, score->columns > 1 ? "]" : "");
    }
    cr_buf_char(buf, ']');
}

void cr_buf_scores(struct cr_buf *buf, const struct cr_scores *scores,
                   bool tables)
{
    bool some = false;

    for (int i = 0; i < scores->n; i++) {
        const struct cr_score *s = &scores->v[i];

        if (!s->single && !(tables && s->columns))
            continue;
        cr_buf_str(buf, some ? "," : "");
        some = true;
        cr_buf_json(buf, s->name);
        cr_buf_char(buf, ':');
        if (s->single)
            cr_buf_real(buf, s->value);
        else
            cr_buf_table(buf, s);
    }
}

void cr_buf_score_lines(struct cr_buf *buf, const struct cr_scores *scores,
                        const char *prefix)
{
    for (int i = 0; i < scores->n; i++) {
        const struct cr_score *s = &scores->v[i];

        cr_buf_f(buf, "%s%s: ", prefix, s->name);
        if (s->single)
            cr_buf_f(buf, fabs(s->value) < 1e9 ? "%.4f" : "%.4g", s->value);
        else
            cr_buf_table(buf, s);
        cr_buf_char(buf, '\n');
    }
}

void cr_scores_read(struct cr_arena *arena, const struct cr_node *map,
                    struct cr_scores *to)
{
    *to = (struct cr_scores){ 0 };
    to->v = CR_NEWS(arena, struct cr_score, cr_node_count(map) + 1);
    for (CR_EACH(m, map)) {
        bool number = m->kind == CR_NODE_INT || m->kind == CR_NODE_REAL;

        if (number || m->kind == CR_NODE_NULL)
            to->v[to->n++] = (struct cr_score){
                .name = m->key, .single = true,
                .value = number ? m->real : (double)NAN
            };
    }
}
