/*
 * Option rows as text: defaults, the values of a row, and quantities. Shared by
 * messages, help, the manual and the schema.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "conf/opt.h"

const char *const *cr_opt_choices(struct cr_arena *arena,
                                  const struct cr_opt *row)
{
    const char **words;
    const char *p = row->choices;
    int n = 1;

    for (; *p; p++)
        n += *p == '|';
    words = CR_NEWS(arena, const char *, n + 1);
    p = row->choices;
    for (int i = 0; i < n; i++) {
        size_t len = strcspn(p, "|");

        words[i] = cr_strndup(arena, p, len);
        p += len + 1;
    }
    return words;
}

/* A number of a row as the shortest text, without ".0". */
static const char *opt_number(struct cr_arena *arena, double value)
{
    if (fabs(value) < 1e15 && value == floor(value))
        return cr_strf(arena, "%" PRId64, (int64_t)value);
    return cr_real_text(arena, value);
}

const char *cr_opt_default(struct cr_arena *arena, const struct cr_opt *row)
{
    if (row->need != CR_DEFAULT)
        return NULL;
    switch (row->type) {
    case CR_OPT_INT:
        return cr_strf(arena, "%" PRId64, row->int_default);
    case CR_OPT_REAL:
        return cr_real_text(arena, row->real_default);
    case CR_OPT_BOOL:
        return row->int_default ? "true" : "false";
    case CR_OPT_ENUM:
        return cr_opt_choices(arena, row)[row->int_default];
    default:
        return row->text;
    }
}

/* " from 1 to 10", " of at least 1", " above 0"; "": no bounds. */
static const char *opt_range(struct cr_arena *arena, const struct cr_opt *row)
{
    bool low = row->min > -DBL_MAX && row->min > (double)INT64_MIN;
    bool high = row->max < DBL_MAX && row->max < (double)CR_DIM_MAX;

    if (low && row->min_exclusive && high)
        return cr_strf(arena, " above %s and up to %s",
                       opt_number(arena, row->min),
                       opt_number(arena, row->max));
    if (low && row->min_exclusive)
        return cr_strf(arena, " above %s", opt_number(arena, row->min));
    if (low && high)
        return cr_strf(arena, " from %s to %s", opt_number(arena, row->min),
                       opt_number(arena, row->max));
    if (low)
        return cr_strf(arena, " of at least %s", opt_number(arena, row->min));
    if (high)
        return cr_strf(arena, " of at most %s", opt_number(arena, row->max));
    return "";
}

const char *cr_opt_expects(struct cr_arena *arena, const struct cr_opt *row)
{
    struct cr_buf buf = { .arena = arena };
    const char *const *words;
    const char *name;

    switch (row->type) {
    case CR_OPT_INT:
        return cr_strf(arena, "an integer%s", opt_range(arena, row));
    case CR_OPT_REAL:
        return cr_strf(arena, "a number%s", opt_range(arena, row));
    case CR_OPT_BOOL:
        return "true or false";
    case CR_OPT_STR:
        return "text";
    case CR_OPT_ENUM:
        words = cr_opt_choices(arena, row);
        for (int i = 0; words[i]; i++)
            cr_buf_f(&buf, "%s%s",
                     i == 0 ? "" : words[i + 1] ? ", " : " or ", words[i]);
        return cr_buf_text(&buf);
    case CR_OPT_INTS:
        if (row->pairs)
            return "a list of pairs of integers";
        return cr_strf(arena, "integers%s", opt_range(arena, row));
    case CR_OPT_REALS:
        return cr_strf(arena, "numbers%s", opt_range(arena, row));
    case CR_OPT_STRS:
        return "a string or a list of strings";
    case CR_OPT_OBJ:
        name = cr_kind_name(row->kind);
        return cr_strf(arena, "%s %s%s",
                       strchr("aeiou", *name) ? "an" : "a", name,
                       row->kind == CR_KIND_SCHEDULE ||
                               row->kind == CR_KIND_INIT
                           ? " or a number" : "");
    case CR_OPT_OBJS:
        name = cr_kind_name(row->kind);
        return cr_strf(arena, "a list of %s%s", name,
                       cr_ends(name, "s") ? "es" : "s");
    case CR_OPT_QUANTITY:
        if (row->share)
            return "a fraction below 1 or a number of samples";
        return cr_strf(arena, "%sa number with a unit, such as '%s'",
                       row->nullable ? "off or " : "",
                       row->text                        ? row->text
                       : row->int_default == CR_EPOCHS  ? "2 epochs"
                       : row->int_default == CR_SECONDS ? "10 min"
                       : row->int_default == CR_SAMPLES ? "1000 samples"
                                                        : "500 steps");
    case CR_OPT_SUB:
        return "a map of keys";
    case CR_OPT_NODE:
    case CR_OPT_END:
        break;
    }
    return "a value";
}

/* ---- Quantities ----------------------------------------------------------
 * A number, optionally k, M or G directly after it, then a unit. */

static const struct unit {
    const char *word;
    enum cr_unit unit;
    double factor;
} units[] = {
    { "step", CR_STEPS, 1 },      { "steps", CR_STEPS, 1 },
    { "epoch", CR_EPOCHS, 1 },    { "epochs", CR_EPOCHS, 1 },
    { "sample", CR_SAMPLES, 1 },  { "samples", CR_SAMPLES, 1 },
    { "s", CR_SECONDS, 1 },       { "sec", CR_SECONDS, 1 },
    { "min", CR_SECONDS, 60 },    { "h", CR_SECONDS, 3600 },
    { "d", CR_SECONDS, 86400 },   { "%", CR_PERCENT, 1 },
};

bool cr_quantity_parse(const char *text, enum cr_unit unit,
                       struct cr_quantity *to)
{
    const char *scale;
    char *end;
    double value;

    *to = (struct cr_quantity){ 0 };
    if (!isdigit((unsigned char)*text) && *text != '.')
        return false;
    value = strtod(text, &end);
    scale = *end ? strchr("kMG", *end) : NULL;
    if (scale) {
        value *= *scale == 'k' ? 1e3 : *scale == 'M' ? 1e6 : 1e9;
        end++;
    }
    end += strspn(end, " ");
    if (!isfinite(value))
        return false;
    if (!*end) {
        *to = (struct cr_quantity){ unit, value };
        return unit != CR_UNIT_NONE;
    }
    for (size_t i = 0; i < CR_LEN(units); i++)
        if (strcmp(end, units[i].word) == 0) {
            *to =
                (struct cr_quantity){ units[i].unit, value * units[i].factor };
            return true;
        }
    return false;
}

bool cr_quantity_read(struct cr_diag *diag, const struct cr_node *node,
                      enum cr_unit unit, struct cr_quantity *to)
{
    static const char *const words[] = { "steps", "epochs", "samples", "s",
                                         "min",   "h",      "%",       NULL };
    const char *guess;
    char *word;

    if (node->text && node->kind != CR_NODE_NULL &&
        cr_quantity_parse(node->text, unit, to))
        return true;
    cr_error(diag, node->pos, CR_E_UNIT,
             "found %s, expected a number with a unit: steps, epochs, "
             "samples, s, min, h or %%", cr_node_what(diag->arena, node));
    if (!node->text)
        return false;
    strtod(node->text, &word);
    word += strspn(word, " ");
    guess = *word ? cr_closest_name(word, words) : NULL;
    if (guess)
        cr_hint(diag, "did you mean '%s'?", guess);
    return false;
}
