/*
 * Translates the syntax errors of libyaml into their likely cause.
 *
 * libyaml reports where its grammar failed, which is often after the actual
 * error. Each function below handles one family of its messages and examines
 * the text around the position for the usual cause.
 */
#include <ctype.h>
#include <string.h>

#include "base/str.h"
#include "conf/yaml.h"

/* A line of the text: [at, end) without its line end. */
struct span {
    size_t at, end;
};

static struct span syntax_line(const struct cr_yaml_error *e, size_t at)
{
    const char *text = e->src->text;
    struct span line = { at, at };

    while (line.at > e->from && text[line.at - 1] != '\n')
        line.at--;
    while (line.end < e->to && text[line.end] != '\n')
        line.end++;
    if (line.end > line.at && text[line.end - 1] == '\r')
        line.end--;
    return line;
}

static size_t syntax_indent(const struct cr_yaml_error *e, struct span line)
{
    size_t n = 0;

    while (line.at + n < line.end && e->src->text[line.at + n] == ' ')
        n++;
    return n;
}

static bool syntax_blank(const struct cr_yaml_error *e, struct span line)
{
    size_t at = line.at + syntax_indent(e, line);

    return at >= line.end || e->src->text[at] == '#';
}

/* The last line above that is neither empty nor a comment. */
static bool syntax_above(const struct cr_yaml_error *e, struct span line,
                         struct span *above)
{
    while (line.at > e->from) {
        line = syntax_line(e, line.at - 1);
        if (!syntax_blank(e, line)) {
            *above = line;
            return true;
        }
    }
    return false;
}

static bool syntax_report(struct cr_diag *d, const struct cr_yaml_error *e,
                          size_t at, size_t len, const char *what)
{
    return cr_error(d, cr_pos_at(e->src, at, len), CR_E_SYNTAX, "%s", what);
}

/* `key:value` at the beginning of a line (after dashes); not a URL. */
static bool syntax_no_blank(struct cr_diag *d, const struct cr_yaml_error *e,
                            struct span line)
{
    const char *text = e->src->text;
    size_t at = line.at, key;

    while (at < line.end && (text[at] == ' ' || text[at] == '-'))
        at++;
    key = at;
    while (at < line.end && (isalnum((unsigned char)text[at]) ||
                             text[at] == '_' || text[at] == '.'))
        at++;
    if (at == key || at + 1 >= line.end || text[at] != ':' ||
        text[at + 1] == ' ' || text[at + 1] == '/')
        return false;
    syntax_report(d, e, at, 1, "no space after ':'");
    cr_hint(d, "write '%s: %s'", cr_quote(d->arena, text + key, at - key),
            cr_quote(d->arena, text + at + 1, line.end - at - 1));
    return true;
}

/* The word at `at`, up to a space or an indicator of flow style. */
static const char *syntax_word(struct cr_diag *d, const struct cr_yaml_error *e,
                               size_t at, size_t *len)
{
    size_t end = at;

    while (end < e->to && !strchr(" \t\r\n,]}", e->src->text[end]))
        end++;
    *len = end - at;
    return cr_quote(d->arena, e->src->text + at, end - at);
}

bool cr_yaml_error_unclosed(struct cr_diag *diag, const struct cr_source *src,
                            size_t at)
{
    const char *text = src->text, *open = text + at;
    const char *end = memchr(open, '\n', src->len - at);
    size_t line = end ? (size_t)(end - open) : src->len - at, len;
    int depth = 0;

    for (len = 0; len + 1 < line; len++)
        if (open[len] == '$' && open[len + 1] == '(')
            break;
    while (len < line) {
        char c = open[len++];

        depth += (c == '(') - (c == ')');
        if (c == ')' && depth == 0)
            break;
    }
    cr_error(diag, cr_pos_at(src, at, len), CR_E_SYNTAX, "unclosed '$('");
    if (depth == 0)
        cr_hint(diag, "inside {} and [] it needs quotes: \"%s\"",
                cr_quote(diag->arena, open, len));
    else
        cr_hint(diag, "')' is missing");
    return false;
}

/* "mapping values are not allowed in this context", "could not find expected
 * ':'": a ':' too many, or one too few. */
static bool syntax_colon(struct cr_diag *d, const struct cr_yaml_error *e)
{
    const char *text = e->src->text;
    struct span line = syntax_line(e, e->problem_at), above;
    size_t at = line.at + syntax_indent(e, line);
    bool missing = strstr(e->problem, "could not find") != NULL;
    size_t i;

    if (missing) {
        line = syntax_line(e, e->context_at);
        at = line.at + syntax_indent(e, line);
    }
    for (i = at; i + 1 < e->problem_at && i + 1 < line.end; i++)
        if (text[i] == ':' && text[i + 1] == ' ')
            break;
    if (!missing && i + 1 < e->problem_at && i + 1 < line.end) {
        syntax_report(d, e, e->problem_at, 1, "a second key on one line");
        cr_hint(d, "begin a new line, write {...}, or quote the text");
        return false;
    }
    if (syntax_no_blank(d, e, line))
        return false;
    if (missing) {
        syntax_report(d, e, e->context_at, line.end - e->context_at,
                      "a key without ':'");
        cr_hint(d, "expected 'key: value'");
        return false;
    }
    if (syntax_above(e, line, &above)) {
        size_t deep = syntax_indent(e, above);

        if (syntax_no_blank(d, e, above))
            return false;
        if (at - line.at > deep) {
            syntax_report(d, e, at, e->problem_at - at, "wrong indentation");
            cr_hint(d,
                    "the line above already has a value; expected column "
                    "%zu",
                    deep + 1);
            return false;
        }
        syntax_report(d, e, above.at + deep, above.end - above.at - deep,
                      "a key without ':'");
        cr_hint(d, "expected 'key: value'");
        return false;
    }
    return syntax_report(d, e, e->problem_at, 1,
                         "a ':' that belongs to no "
                         "key");
}

static bool syntax_token(struct cr_diag *d, const struct cr_yaml_error *e)
{
    char c = e->problem_at < e->to ? e->src->text[e->problem_at] : '\0';
    const char *word;
    size_t len;

    if (c == '\t' || strstr(e->problem, "tab"))
        return syntax_report(d, e, e->problem_at, 1,
                             "found a tab in the indentation, expected spaces");
    word = syntax_word(d, e, e->problem_at, &len);
    syntax_report(d, e, e->problem_at, len,
                  cr_strf(d->arena, "a word cannot begin with '%c'", c));
    cr_hint(d, "write it in quotes: \"%s\"", word);
    return false;
}

/* "did not find expected ',' or '}'" (or ']'), with the opening bracket as
 * context. */
static bool syntax_flow(struct cr_diag *d, const struct cr_yaml_error *e)
{
    const char *text = e->src->text;
    size_t at = e->problem_at;
    char close = strchr(e->problem, '}') ? '}' : ']';

    if (at > e->from && at < e->to && text[at] == '{' && text[at - 1] == '$') {
        syntax_report(d, e, at - 1, 2, "'${' does not begin a variable");
        cr_hint(d, "write $x or $(x)");
        return false;
    }
    if (at >= e->to ||
        syntax_line(e, at).at != syntax_line(e, e->context_at).at) {
        syntax_report(d, e, e->context_at, 1,
                      cr_strf(d->arena, "unclosed '%c'", text[e->context_at]));
        cr_hint(d, "'%c' is missing", close);
        return false;
    }
    syntax_report(d, e, at, 1,
                  cr_strf(d->arena, "expected ',' or '%c'", close));
    return false;
}

static bool syntax_quote(struct cr_diag *d, const struct cr_yaml_error *e)
{
    if (strstr(e->problem, "escape")) {
        syntax_report(d, e, e->problem_at, 2, "unknown escape in \"...\"");
        cr_hint(d, "inside '...' a backslash has no special meaning");
        return false;
    }
    return syntax_report(d, e, e->context_at, 1, "unclosed quote");
}

static bool syntax_alias(struct cr_diag *d, const struct cr_yaml_error *e)
{
    size_t len;
    const char *word = syntax_word(d, e, e->context_at, &len);
    bool alias = strstr(e->context, "alias") != NULL;

    syntax_report(d, e, e->context_at, len,
                  cr_strf(d->arena, "'%s' begins like %s", word,
                          alias ? "an alias" : "an anchor"));
    cr_hint(d, "%s needs quotes: \"%s\"",
            alias ? "a pattern that begins with *" : "the text", word);
    return false;
}

static bool syntax_list(struct cr_diag *d, const struct cr_yaml_error *e)
{
    int line = cr_pos_at(e->src, e->context_at, 0).line;

    syntax_report(d, e, e->problem_at, 1,
                  "expected '- ' here, or less indentation");
    cr_hint(d, "the list of line %d has its dashes in column %d", line,
            cr_pos_at(e->src, e->context_at, 0).col);
    return false;
}

/* "did not find expected key" in a block map that began at context. */
static bool syntax_key(struct cr_diag *d, const struct cr_yaml_error *e)
{
    const char *text = e->src->text;
    struct span line = syntax_line(e, e->problem_at), above;
    size_t at = e->problem_at, first = line.at + syntax_indent(e, line);
    struct cr_pos map = cr_pos_at(e->src, e->context_at, 0);
    char c = at < e->to ? text[at] : '\0';

    if (c == ']' || c == '}')
        return syntax_report(d, e, at, 1,
                             cr_strf(d->arena, "unmatched '%c'", c));
    if (at > first) {
        syntax_report(d, e, at, 1, "unexpected text after the end of a value");
        cr_hint(d, "for a quote inside '...' write ''");
        return false;
    }
    if (c == '-' && at + 1 < e->to && text[at + 1] == ' ') {
        syntax_report(d, e, at, 1, "found '- ', expected a key");
        cr_hint(d, "the dashes of a list must be in the same column");
        return false;
    }
    if (syntax_above(e, line, &above) && syntax_no_blank(d, e, above))
        return false;
    syntax_report(d, e, at, 1, "wrong indentation");
    cr_hint(d, "the map of line %d has its keys in column %d", map.line,
            map.col);
    return false;
}

/* A value is missing: at the end of the text because a bracket is open. */
static bool syntax_value(struct cr_diag *d, const struct cr_yaml_error *e)
{
    const char *text = e->src->text;
    int depth = 0;

    for (size_t i = e->to; e->problem_at >= e->to && i > e->from; i--) {
        depth += (text[i - 1] == ']') + (text[i - 1] == '}');
        if (text[i - 1] != '[' && text[i - 1] != '{')
            continue;
        if (depth-- > 0)
            continue;
        syntax_report(d, e, i - 1, 1,
                      cr_strf(d->arena, "unclosed '%c'", text[i - 1]));
        cr_hint(d, "'%c' is missing", text[i - 1] == '[' ? ']' : '}');
        return false;
    }
    return syntax_report(d, e, e->problem_at, 1, "a value is missing");
}

bool cr_yaml_error(struct cr_diag *d, const struct cr_yaml_error *e)
{
    static const struct {
        const char *problem, *context;
        bool (*say)(struct cr_diag *d, const struct cr_yaml_error *e);
    } table[] = {
        { "mapping values are not allowed", "", syntax_colon },
        { "could not find expected ':'", "", syntax_colon },
        { "cannot start any token", "", syntax_token },
        { "found a tab", "", syntax_token },
        { "found character '\\t'", "", syntax_token },
        { "expected ',' or", "", syntax_flow },
        { "", "scanning a quoted scalar", syntax_quote },
        { "", "parsing a quoted scalar", syntax_quote },
        { "", "parsing a double-quoted scalar", syntax_quote },
        { "", "scanning an alias", syntax_alias },
        { "", "scanning an anchor", syntax_alias },
        { "expected '-' indicator", "", syntax_list },
        { "did not find expected key", "", syntax_key },
    };
    const char *context = e->context ? e->context : "";

    for (size_t i = 0; i < CR_LEN(table); i++)
        if (strstr(e->problem, table[i].problem) &&
            strstr(context, table[i].context))
            return table[i].say(d, e);
    if (strstr(e->problem, "block sequence entries")) {
        syntax_report(d, e, e->problem_at, 1,
                      "'- ' is not allowed after a key on the same line");
        cr_hint(d, "begin a new line for it, or write [a, b]");
        return false;
    }
    if (strstr(e->problem, "<document start>")) {
        syntax_report(d, e, e->problem_at, 1,
                      "unexpected text after the end of the "
                      "config");
        cr_hint(d, "all top-level keys must begin in the same column");
        return false;
    }
    if (strstr(e->problem, "node content"))
        return syntax_value(d, e);
    syntax_report(d, e, e->problem_at, 1, e->problem);
    if (*context)
        cr_note(d, "%s", context);
    return false;
}
