#include "train/schedule.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

enum {
    SCHEDULE_FILE_MAX = 64 << 20
};

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

static bool schedule_list(struct cr_config *config, const struct cr_node *node,
                          struct cr_lr *to)
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

/* Line number, from 1, of a position in a text. */
static int schedule_line(const char *text, const char *at)
{
    int line = 1;

    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

static bool schedule_file(struct cr_config *config, const struct cr_node *node,
                          struct cr_lr *to)
{
    const char *path = cr_config_path(config, CR_READ_FILE, node->text);
    struct cr_pos at;
    size_t len;
    double *values = NULL;
    int64_t n = 0, cap = 0;
    char *text;

    if (!cr_config_may_path(config, CR_READ_FILE, node->text))
        return false;
    if (!path) {
        cr_error(config->diag, node->pos, CR_E_INCLUDE,
                 "learning_rate: file '%s' not found",
                 cr_quote(config->arena, node->text, strlen(node->text)));
        if (node->text[strspn(node->text, "0123456789.eE+-: ")] == '\0')
            cr_hint(config->diag, "a learning rate is one number, such as "
                    "0.01; sweep.parameters has ranges (cellrun help "
                    "sweep.parameters)");
        return false;
    }
    at = cr_at_file(config->arena, path);
    text = cr_read_file(config->arena, config->diag, node->pos, path,
                        CR_E_INCLUDE, SCHEDULE_FILE_MAX, &len);
    if (!text)
        return false;
    for (char *p = text + cr_bom(text, len), *end;; p = end) {
        double value;

        while (isspace((unsigned char)*p) || *p == ',')
            p++;
        if (p == text + len)
            break;
        value = strtod(p, &end);
        if (end == p || !schedule_valid(value))
            return schedule_refuse(
                config, at,
                cr_strf(config->arena, "'%s' in line %d",
                        cr_quote(config->arena, p, strcspn(p, " \t\r\n,")),
                        schedule_line(text, p)));
        if (n == cap) {
            cap = cap ? 2 * cap : 64;
            values = cr_grow(config->arena, values, (size_t)n, (size_t)cap,
                             sizeof *values);
        }
        values[n++] = value;
    }
    if (n == 0)
        return cr_error(config->diag, at, CR_E_OUT_OF_RANGE,
                        "learning_rate: the file contains no numbers");
    to->n = n;
    to->values = values;
    return true;
}

static bool schedule_unit(struct cr_diag *diag, struct cr_pos pos,
                          const char *name, const struct cr_quantity *quantity)
{
    if (quantity->unit == CR_SECONDS || quantity->unit == CR_SAMPLES)
        return cr_error(diag, pos, CR_E_UNIT,
                        "'%s': expected steps, epochs or a percentage of the "
                        "run", name);
    return true;
}

/* Reads the warmup before the schedule. */
static bool schedule_warmup(struct cr_config *config,
                            const struct cr_node *node, struct cr_lr *to)
{
    const struct cr_node *warmup =
        node && node->kind == CR_NODE_MAP ? cr_node_get(node, "warmup") : NULL;

    if (!warmup || warmup->kind == CR_NODE_NULL)
        return true;
    return cr_quantity_read(config->diag, warmup, CR_STEPS, &to->warmup) &&
           schedule_unit(config->diag, warmup->pos, "warmup", &to->warmup);
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
        to->pos = node ? node->pos : CR_NOWHERE;
        return schedule_warmup(config, node, to);
    }
    if (!from->is_number && node && node->kind == CR_NODE_LIST)
        return schedule_list(config, node, to);
    if (!from->is_number && node && node->text)
        return schedule_file(config, node, to);
    if (!schedule_valid(from->number))
        return schedule_refuse(config, node ? node->pos : CR_NOWHERE,
                               node
                                   ? cr_node_what(config->arena, node)
                                   : cr_real_text(config->arena, from->number));
    value = CR_NEW(config->arena, double);
    *value = from->number;
    to->n = 1;
    to->values = value;
    return true;
}

/* ---- Lengths of the run */

double cr_run_updates(const struct cr_run_steps *run,
                      const struct cr_quantity *quantity)
{
    if (quantity->unit == CR_EPOCHS)
        return quantity->value * run->per_epoch;
    if (quantity->unit == CR_PERCENT)
        return quantity->value / 100 * (double)run->total;
    return quantity->value;
}

static bool schedule_known(struct cr_diag *diag, struct cr_pos pos,
                           const char *name, const struct cr_quantity *quantity,
                           const struct cr_run_steps *run)
{
    if (quantity->unit == CR_EPOCHS && run->per_epoch <= 0)
        return cr_error(diag, pos, CR_E_UNIT,
                        "'%s' is in epochs, but without data the length of an "
                        "epoch is unknown", name);
    if (quantity->unit == CR_PERCENT && run->total <= 0)
        return cr_error(diag, pos, CR_E_UNIT,
                        "'%s' is a percentage of the run, but the length of "
                        "the run is unknown",
                        name);
    return true;
}

static bool schedule_some(struct cr_diag *diag, struct cr_pos pos,
                          const char *name, const struct cr_quantity *quantity)
{
    return quantity->value > 0 || cr_error(diag, pos, CR_E_OUT_OF_RANGE,
                                         "'%s': expected more than 0", name);
}

bool cr_lr_bind(struct cr_diag *diag, struct cr_lr *lr,
                const struct cr_run_steps *run)
{
    bool ok = true;

    if (!lr->schedule)
        return true;
    lr->run = *run;
    for (const struct cr_opt *row = lr->schedule->about.opts; row->name;
         row++) {
        const struct cr_quantity *quantity =
            (const struct cr_quantity *)(const void *)((const char *)lr->opts +
                                                       row->at);

        if (row->type == CR_OPT_QUANTITY && quantity->unit != CR_UNIT_NONE)
            ok = schedule_unit(diag, lr->pos, row->name, quantity) &&
                 schedule_known(diag, lr->pos, row->name, quantity, run) &&
                 schedule_some(diag, lr->pos, row->name, quantity) && ok;
    }
    ok = schedule_known(diag, lr->pos, "warmup", &lr->warmup, run) && ok;
    if (ok && lr->schedule->check)
        ok = lr->schedule->check(diag, lr->pos, lr->opts, run);
    lr->warm = cr_run_updates(run, &lr->warmup);
    return ok;
}

static double schedule_base(const struct cr_lr *lr, int64_t update)
{
    if (lr->plateau && lr->plateau->begun)
        return lr->plateau->rate;
    if (lr->schedule)
        return lr->schedule->at(lr->opts, &lr->run, update);
    return lr->values[update < lr->n ? update : lr->n - 1];
}

const struct cr_plateau_rule *cr_lr_plateau(const struct cr_lr *lr)
{
    return lr->schedule && lr->schedule->plateau
               ? lr->schedule->plateau(lr->opts)
               : NULL;
}

double cr_lr_at(const struct cr_lr *lr, int64_t update)
{
    assert(update >= 0);
    if ((double)update < lr->warm)
        return schedule_base(lr, 0) * (double)update / lr->warm;
    return schedule_base(lr, update);
}

/* ---- By epoch */

double cr_epoch_at(const struct cr_by_epoch *by, const struct cr_run_steps *run,
                   int64_t update)
{
    int64_t total = by->total_step != CR_INT_NONE ? by->total_step : run->total;
    double epoch = by->step_per_epoch != CR_INT_NONE
                       ? (double)by->step_per_epoch
                       : run->per_epoch;

    if (total > 0 && update >= total)
        update = total - 1;
    return floor((double)update / epoch);
}

bool cr_epoch_check(struct cr_diag *diag, struct cr_pos pos,
                    const struct cr_by_epoch *by,
                    const struct cr_run_steps *run)
{
    if (by->step_per_epoch != CR_INT_NONE || run->per_epoch > 0)
        return true;
    return cr_error(diag, pos, CR_E_MISSING_KEY,
                    "'step_per_epoch' is missing: without data the length of "
                    "an epoch is unknown");
}

/* ---- Decays */

double cr_decay_exponential(double lr, double rate, double x, double end,
                            bool stair)
{
    return lr * pow(rate, stair ? floor(x / end) : x / end);
}

double cr_decay_natural(double lr, double rate, double x, double end,
                        bool stair)
{
    return lr * exp(-rate * (stair ? floor(x / end) * end : x));
}

double cr_decay_inverse(double lr, double rate, double x, double end,
                        bool stair)
{
    return lr / (1 + rate * (stair ? floor(x / end) : x / end));
}

double cr_decay_cosine(double low, double high, double x, double end)
{
    const double pi = 3.14159265358979323846;

    return low + 0.5 * (high - low) * (1 + cos(pi * fmin(x, end) / end));
}

double cr_decay_polynomial(double lr, double last, double power, double x,
                           double end, bool again)
{
    if (again)
        end *= fmax(ceil(x / end), 1);
    return (lr - last) * pow(1 - fmin(x, end) / end, power) + last;
}
