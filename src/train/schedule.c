#include "train/schedule.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum { SCHEDULE_FILE_MAX = 64 << 20 };

static bool schedule_valid(double value)
{
    return isfinite(value) && value >= 0;
}

static bool schedule_refuse(struct cr_config *config, struct cr_pos pos,
                            const char *found)
{
    return cr_error(config->diag, pos, CR_E_OUT_OF_RANGE,
                    "learning_rate: found %s, expected a number of at least 0",
                    found);
}

static bool schedule_list(struct cr_config *config,
                          const struct cr_node *node, struct cr_lr *to)
{
    int n = cr_node_count(node), i = 0;
    double *values = CR_NEWS(config->arena, double, n);

    for (CR_EACH(m, node)) {
        if (!schedule_valid(m->real))
            return schedule_refuse(config, m->pos,
                                   cr_node_what(config->arena, m));
        values[i++] = m->real;
    }
    to->n = n;
    to->values = values;
    return true;
}

/* Numbers separated by white space or commas. */
static bool schedule_file(struct cr_config *config,
                          const struct cr_node *node, struct cr_lr *to)
{
    const char *path = cr_config_path(config, node->text, false);
    struct cr_pos at;
    size_t len;
    double *values = NULL;
    int64_t n = 0, room = 0;
    char *text;

    if (!path)
        return cr_error(config->diag, node->pos, CR_E_INCLUDE,
                        "learning_rate: no file '%s'",
                        cr_quote(config->arena, node->text,
                                 strlen(node->text)));
    at = cr_at_file(config->arena, path);
    text = cr_read_file(config->arena, config->diag, node->pos, path,
                        CR_E_INCLUDE, SCHEDULE_FILE_MAX, &len);
    if (!text)
        return false;
    for (char *p = text, *end;; p = end) {
        double value;

        while (isspace((unsigned char)*p) || *p == ',')
            p++;
        if (p == text + len)
            break;
        value = strtod(p, &end);
        if (end == p || !schedule_valid(value))
            return schedule_refuse(
                config, at,
                cr_strf(config->arena, "'%s'",
                        cr_quote(config->arena, p, strcspn(p, " \t\r\n,"))));
        if (n == room) {
            room = room ? 2 * room : 64;
            values = cr_grow(config->arena, values, (size_t)n, (size_t)room,
                             sizeof *values);
        }
        values[n++] = value;
    }
    if (n == 0)
        return cr_error(config->diag, at, CR_E_OUT_OF_RANGE,
                        "learning_rate: the file holds no number");
    to->n = n;
    to->values = values;
    return true;
}

bool cr_lr_read(struct cr_config *config, const struct cr_obj *from,
                struct cr_lr *to)
{
    const struct cr_node *node = from->node;
    double *value;

    *to = (struct cr_lr){ 0 };
    if (from->about) {
        to->schedule = (const struct cr_schedule *)from->about;
        to->opts = from->opts;
        return true;
    }
    if (!from->is_number && node && node->kind == CR_NODE_LIST)
        return schedule_list(config, node, to);
    if (!from->is_number && node && node->text)
        return schedule_file(config, node, to);
    if (!schedule_valid(from->number))
        return schedule_refuse(config, node ? node->pos : CR_NOWHERE,
                               node ? cr_node_what(config->arena, node)
                                    : cr_real_text(config->arena,
                                                   from->number));
    value = CR_NEW(config->arena, double);
    *value = from->number;
    to->n = 1;
    to->values = value;
    return true;
}

double cr_lr_at(const struct cr_lr *lr, int64_t update)
{
    assert(update >= 0);
    if (lr->schedule)
        return lr->schedule->at(lr->opts, update);
    return lr->values[update < lr->n ? update : lr->n - 1];
}
