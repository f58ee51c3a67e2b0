/*
 * The command line: one pass over the arguments that knows which flags take
 * a value, because both tables of rows (every verb's, the verb's own) say so.
 * Flags become nodes with places on the line and go through cr_opts_read, so
 * that types and ranges are checked as in a config.
 */
#include "conf/verb.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "conf/environment.h"
#include "conf/scalar.h"
#include "conf/terms.h"

struct common {
    bool help, json, quiet, strict, trust;
    int64_t verbose, threads;
    int color;
    const char *seed;
    struct cr_strs set;
};

enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

const struct cr_opt cr_cli_rows[] = {
    CR_BOOL_DEFAULT(struct common, help, false, "Explain the verb.",
                    .flag = 'h'),
    CR_BOOL_DEFAULT(struct common, json, false,
                    "Write results and messages as JSON."),
    CR_BOOL_DEFAULT(struct common, quiet, false, "Say less on standard error.",
                    .flag = 'q'),
    CR_INT_DEFAULT(struct common, verbose, 0, 0, 9,
                   "Say more on standard error; twice says still more.",
                   .flag = 'v', .implicit_value = "1"),
    CR_ENUM_DEFAULT(struct common, color, COLOR_AUTO, "auto|always|never",
                    "When to colour messages; auto means on a terminal."),
    CR_BOOL_DEFAULT(struct common, strict, false, "Treat warnings as errors."),
    CR_BOOL_DEFAULT(
        struct common, trust, false,
        "Let a checkpoint open the plug-ins, read the files and "
        "environment variables and run the commands that its config "
        "names."),
    CR_INT_DEFAULT(
        struct common, threads, 0, 0, 4096,
        "Threads to compute with; 0 takes the cores of the process."),
    CR_STR_OPTIONAL(struct common, seed, "The same as seed=N.", .text = "N"),
    CR_STRS_OPTIONAL(struct common, set, "The same as a bare assignment.",
                     .text = "KEY=VALUE"),
    { 0 },
};

static const struct cr_descriptor verb_common = {
    .name = "cellrun",
    .summary = "Flags of every verb.",
    .opts = cr_cli_rows,
    .size = sizeof(struct common),
};

/* What one pass over the line gathers. */
struct line {
    struct cr_cli *cli;
    int argc;
    char *const *argv;
    struct cr_pos *pos; /* of each argument */
    struct cr_node common, own; /* maps of the flags given */
    const char **operands, **sets;
    struct cr_pos *operand_pos;
    int *set_args;
    int n_operands, n_sets;
    bool stop; /* `--` was seen */
};

/* The part of argument i from byte `from` on. */
static struct cr_pos verb_pos(const struct line *l, int i, size_t from)
{
    struct cr_pos pos = l->pos[i];

    pos.col = (int)cr_utf8_count(l->argv[i], from) + 1;
    pos.len = (int)cr_utf8_count(l->argv[i] + from,
                                 strlen(l->argv[i]) - from);
    return pos;
}

static const struct cr_opt *verb_row(const struct cr_opt *rows,
                                     const char *name, size_t len)
{
    for (; rows && rows->name; rows++) {
        size_t i = 0;

        while (i < len && rows->name[i] &&
               rows->name[i] == (name[i] == '-' ? '_' : name[i]))
            i++;
        if (i == len && !rows->name[i])
            return rows;
    }
    return NULL;
}

static const struct cr_opt *verb_short(const struct cr_opt *rows, char c)
{
    for (; rows && rows->name; rows++)
        if (rows->flag == c)
            return rows;
    return NULL;
}

static const struct cr_opt *verb_rows(const struct line *l)
{
    return l->cli->verb ? l->cli->verb->about.opts : NULL;
}

/* Adds to the end of a list or map. */
static struct cr_node *verb_add(struct line *l, struct cr_node *to,
                                const char *key, const char *text,
                                struct cr_pos pos)
{
    struct cr_node *node = CR_NEW(l->cli->arena, struct cr_node), **end;

    *node = (struct cr_node){ .kind = CR_NODE_STR, .key = key, .text = text,
                              .pos = pos, .key_pos = pos };
    for (end = &to->child; *end; end = &(*end)->next)
        ;
    return *end = node;
}

/* A value of a flag into the map that cr_opts_read will see. */
static void verb_set(struct line *l, struct cr_node *map,
                     const struct cr_opt *row, const char *text,
                     struct cr_pos pos, bool bare)
{
    struct cr_node *node = cr_node_get(map, row->name);
    bool words = row->type == CR_OPT_STRS;

    if (words || row->type == CR_OPT_INTS || row->type == CR_OPT_REALS) {
        if (!node)
            node = verb_add(l, map, row->name, NULL, pos);
        node->kind = CR_NODE_LIST;
        for (size_t n; text; text = text[n] ? text + n + 1 : NULL) {
            n = words ? strlen(text) : strcspn(text, ",");
            cr_scalar_resolve(verb_add(
                l, node, NULL, cr_strndup(l->cli->arena, text, n), pos));
        }
        return;
    }
    if (bare && node && node->kind == CR_NODE_INT) /* -v -v */
        text = cr_strf(l->cli->arena, "%d", (int)node->integer + 1);
    if (!node)
        node = verb_add(l, map, row->name, text, pos);
    node->text = text;
    node->pos = pos;
    cr_scalar_resolve(node);
    if (row->type == CR_OPT_STR || node->kind == CR_NODE_NULL)
        node->kind = CR_NODE_STR;
}

static bool verb_unknown_flag(struct line *l, int i, size_t from, size_t len)
{
    struct cr_arena *arena = l->cli->arena;
    const struct cr_opt *tables[] = { verb_rows(l), cr_cli_rows };
    const char *word = cr_strndup(arena, l->argv[i] + from, len);
    const char **names, *guess, *key;
    struct cr_pos pos = verb_pos(l, i, 0);
    int n = 0;

    pos.len = (int)cr_utf8_count(l->argv[i], from + len);
    cr_error(l->cli->diag, pos, CR_E_USAGE, "unknown flag '%s'%s%s",
             cr_quote(arena, l->argv[i], from + len),
             l->cli->verb ? " for " : "",
             l->cli->verb ? l->cli->verb->about.name : "");
    for (int t = 0; t < 2; t++)
        for (const struct cr_opt *row = tables[t]; row && row->name; row++)
            n++;
    names = CR_NEWS(arena, const char *, n + 1);
    n = 0;
    for (int t = 0; t < 2; t++)
        for (const struct cr_opt *row = tables[t]; row && row->name; row++) {
            char *name = cr_strdup(arena, row->name);

            names[n++] = name;
            for (; *name; name++)
                if (*name == '_')
                    *name = '-';
        }
    guess = len > 1 ? cr_closest_name(word, names) : NULL;
    key = len > 1 && !guess ? cr_term_key(arena, word) : NULL;
    if (guess)
        cr_hint(l->cli->diag, "did you mean '--%s'?", guess);
    else if (key)
        cr_hint(l->cli->diag, "did you mean '%s=...'?", key);
    if (l->cli->verb)
        cr_note(l->cli->diag, "(cellrun help %s)",
                l->cli->verb->about.name);
    return false;
}

static bool verb_takes_value(const struct cr_opt *row)
{
    return row->type != CR_OPT_BOOL && !row->implicit_value;
}

/* The value of a flag that must have one and has none attached. */
static bool verb_next(struct line *l, int *i, const struct cr_opt *row,
                      struct cr_node *map)
{
    if (*i + 1 >= l->argc)
        return cr_error(l->cli->diag, l->pos[*i], CR_E_USAGE,
                        "the flag '%s' needs a value: %s",
                        l->argv[*i], cr_opt_expects(l->cli->arena, row));
    ++*i;
    verb_set(l, map, row, l->argv[*i], verb_pos(l, *i, 0), false);
    return true;
}

static bool verb_long(struct line *l, int *i)
{
    const char *arg = l->argv[*i];
    size_t len = strcspn(arg + 2, "=");
    const struct cr_opt *row = verb_row(verb_rows(l), arg + 2, len);
    struct cr_node *map = &l->own;

    if (!row) {
        row = verb_row(cr_cli_rows, arg + 2, len);
        map = &l->common;
    }
    if (!row)
        return verb_unknown_flag(l, *i, 2, len);
    if (arg[2 + len])
        verb_set(l, map, row, arg + 2 + len + 1,
                 verb_pos(l, *i, 2 + len + 1), false);
    else if (verb_takes_value(row))
        return verb_next(l, i, row, map);
    else
        verb_set(l, map, row,
                 row->implicit_value ? row->implicit_value : "true",
                 verb_pos(l, *i, 0), true);
    return true;
}

/* -q, -qv, -n NAME, -nNAME. */
static bool verb_letters(struct line *l, int *i)
{
    const char *arg = l->argv[*i];

    for (size_t at = 1; arg[at]; at++) {
        const struct cr_opt *row = verb_short(verb_rows(l), arg[at]);
        struct cr_node *map = &l->own;

        if (!row) {
            row = verb_short(cr_cli_rows, arg[at]);
            map = &l->common;
        }
        if (!row)
            return verb_unknown_flag(l, *i, at, 1);
        if (!verb_takes_value(row)) {
            verb_set(l, map, row,
                     row->implicit_value ? row->implicit_value : "true",
                     verb_pos(l, *i, 0), true);
            continue;
        }
        if (!arg[at + 1])
            return verb_next(l, i, row, map);
        verb_set(l, map, row, arg + at + 1, verb_pos(l, *i, at + 1), false);
        break;
    }
    return true;
}

/* seed=1, a.b-c.0=x, ~key: what stands before '=' is a dotted name. */
static bool verb_assigns(const char *arg)
{
    if (*arg == '~')
        return arg[1] != '\0' && arg[1] != '/';
    if (!isalpha((unsigned char)*arg) && *arg != '_')
        return false;
    while (isalnum((unsigned char)*arg) || strchr("._-", *arg)) {
        if (!*arg)
            return false;
        arg++;
    }
    return *arg == '=';
}

static bool verb_find(struct line *l, int i)
{
    struct cr_arena *arena = l->cli->arena;
    const char *name = l->argv[i], **names;
    const struct cr_descriptor *const *list = cr_registry_list(CR_KIND_VERB);
    int n = 0;

    l->cli->verb = (const struct cr_verb *)cr_registry_find(CR_KIND_VERB, name);
    if (l->cli->verb)
        return true;
    cr_error(l->cli->diag, l->pos[i], CR_E_USAGE, "unknown verb '%s'",
             cr_quote(arena, name, strlen(name)));
    while (list[n])
        n++;
    names = CR_NEWS(arena, const char *, n + 1);
    for (int k = 0; k < n; k++)
        names[k] = list[k]->name;
    if (cr_ends(name, ".yaml"))
        cr_hint(l->cli->diag, "did you mean 'cellrun train %s'?", name);
    else
        cr_term_hint(l->cli->diag, name, names);
    cr_note(l->cli->diag, "(cellrun help)");
    return false;
}

static void verb_assignment(struct line *l, const char *text, int arg)
{
    l->sets[l->n_sets] = text;
    l->set_args[l->n_sets++] = arg;
}

static void verb_operand(struct line *l, int i)
{
    const struct cr_verb *verb = l->cli->verb;
    bool config = verb->takes_config &&
                  (!verb->config_after ||
                   (l->n_operands > 0 &&
                    strcmp(l->operands[0], verb->config_after) == 0));

    if (config && verb_assigns(l->argv[i])) {
        verb_assignment(l, l->argv[i], i);
        return;
    }
    l->operands[l->n_operands] = l->argv[i];
    l->operand_pos[l->n_operands++] = l->pos[i];
}

static bool verb_color(int when)
{
    const char *force = getenv("CLICOLOR_FORCE"), *none = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    if (when != COLOR_AUTO)
        return when == COLOR_ALWAYS;
    if (none && *none)
        return false;
    if (force && *force && strcmp(force, "0") != 0)
        return true;
    return isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

/* How much is said: -q and -v, else CELLRUN_LOG. */
static void verb_log(struct cr_cli *cli, const struct common *o)
{
    const char *level = getenv("CELLRUN_LOG");

    cli->quiet = o->quiet;
    cli->verbose = (int)o->verbose;
    if (o->quiet || o->verbose > 0 || !level || !*level ||
        strcmp(level, "normal") == 0)
        return;
    cli->quiet = strcmp(level, "quiet") == 0;
    cli->verbose = strcmp(level, "verbose") == 0;
}

/* --set and --seed: assignments in the order of the line. */
static bool verb_apply(struct line *l, const struct common *o)
{
    struct cr_cli *cli = l->cli;
    const struct cr_node *set = cr_node_get(&l->common, "set");
    const struct cr_node *seed = cr_node_get(&l->common, "seed");

    cli->json = o->json;
    cli->trust = o->trust;
    verb_log(cli, o);
    cli->threads = (int)o->threads;
    cli->seed = o->seed;
    cli->diag->strict = o->strict;
    cli->color = verb_color(o->color);
    if (!cli->verb)
        return true;
    if (!cli->verb->takes_config) {
        if (set)
            return cr_error(cli->diag, set->pos, CR_E_USAGE,
                            "%s takes no config, so there is nothing to set",
                            cli->verb->about.name);
        return true;
    }
    for (CR_EACH(m, set))
        verb_assignment(l, m->text, m->pos.src->argument);
    if (seed)
        verb_assignment(l, cr_strf(cli->arena, "seed=%s", o->seed),
                        seed->pos.src->argument);
    return true;
}

void cr_cli_usage(const struct cr_cli *cli)
{
    const struct cr_descriptor *about = &cli->verb->about;

    cr_note(cli->diag, "usage: cellrun %s %s", about->name, cli->verb->usage);
    cr_note(cli->diag, "example: %.*s", (int)strcspn(about->example, "\n"),
            about->example);
    cr_note(cli->diag, "more: cellrun help %s", about->name);
}

static bool verb_count(const struct line *l)
{
    const struct cr_verb *verb = l->cli->verb;
    int n = l->n_operands, max = verb->max_operands;
    struct cr_diag *diag = l->cli->diag;

    if (n >= verb->min_operands && (max < 0 || n <= max))
        return true;
    if (n < verb->min_operands) {
        cr_error(diag, CR_NOWHERE, CR_E_USAGE, "%s: found %s, expected %s",
                 verb->about.name, n == 0 ? "no operand" : "one operand",
                 verb->min_operands == 1 ? "at least one" : "two");
        cr_cli_usage(l->cli);
    } else {
        cr_error(diag, l->operand_pos[max], CR_E_USAGE,
                 "%s: found more operands than it takes (%d)",
                 verb->about.name, max);
        cr_note(diag, "usage: cellrun %s %s", verb->about.name, verb->usage);
    }
    return false;
}

static bool verb_pass(struct line *l)
{
    bool ok = true;

    for (int i = 1; i < l->argc; i++) {
        const char *arg = l->argv[i];

        if (!l->stop && strcmp(arg, "--") == 0)
            l->stop = true;
        else if (!l->stop && !l->cli->verb && strcmp(arg, "--version") == 0)
            l->cli->verb = (const struct cr_verb *)cr_registry_find(
                CR_KIND_VERB, "version");
        else if (!l->stop && arg[0] == '-' && arg[1] == '-')
            ok = verb_long(l, &i) && ok;
        else if (!l->stop && arg[0] == '-' && arg[1])
            ok = verb_letters(l, &i) && ok;
        else if (l->cli->verb)
            verb_operand(l, i);
        else if (!verb_find(l, i))
            return false;
    }
    return ok;
}

/* `VERB --help` is `help VERB`. */
static void verb_help(struct line *l)
{
    struct cr_cli *cli = l->cli;
    const struct cr_descriptor *help = cr_registry_find(CR_KIND_VERB, "help");

    l->n_operands = 0;
    if (cli->verb && &cli->verb->about != help) {
        l->operands[0] = cli->verb->about.name;
        l->operand_pos[0] = CR_NOWHERE;
        l->n_operands = 1;
    }
    l->own = (struct cr_node){ .kind = CR_NODE_MAP };
    cli->verb = (const struct cr_verb *)help;
}

/* The flags of the command. Without any, only a required one can be wrong. */
static bool verb_own(const struct line *l, void *opts)
{
    struct cr_cli *cli = l->cli;
    bool ok = cr_opts_read(cli->arena, cli->diag, &cli->verb->about, &l->own,
                           CR_NOWHERE, opts);

    if (!ok && !l->own.child)
        cr_cli_usage(cli);
    return ok;
}

bool cr_cli_read(struct cr_cli *cli, int argc, char *const *argv)
{
    struct cr_arena *arena = cli->arena;
    struct common common = { 0 };
    struct line l = { .cli = cli, .argc = argc, .argv = argv };
    void *opts = NULL;
    bool ok;

    l.pos = CR_NEWS(arena, struct cr_pos, argc + 1);
    l.operands = CR_NEWS(arena, const char *, argc + 2);
    l.operand_pos = CR_NEWS(arena, struct cr_pos, argc + 2);
    l.sets = CR_NEWS(arena, const char *, argc + 2);
    l.set_args = CR_NEWS(arena, int, argc + 2);
    l.common.kind = l.own.kind = CR_NODE_MAP;
    for (int i = 1; i < argc; i++) {
        struct cr_source *src = CR_NEW(arena, struct cr_source);

        *src = (struct cr_source){ "command line", argv[i], strlen(argv[i]),
                                   i };
        l.pos[i] = (struct cr_pos){ .src = src, .line = 1 };
        l.pos[i] = verb_pos(&l, i, 0);
    }
    cli->argv = (const char *const *)argv;

    ok = verb_pass(&l);
    ok = cr_opts_read(arena, cli->diag, &verb_common, &l.common, CR_NOWHERE,
                      &common) && ok;
    if (common.help)
        verb_help(&l);
    ok = verb_apply(&l, &common) && ok;
    /* what tells of the variables must not be refused because of them */
    if (cli->verb && strcmp(cli->verb->about.name, "help") != 0 &&
        strcmp(cli->verb->about.name, "completion") != 0 &&
        strcmp(cli->verb->about.name, "version") != 0)
        ok = cr_env_check(cli->diag) && ok;
    if (!cli->verb && ok) {
        ok = cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE, "no verb given");
        cr_note(cli->diag, "usage: cellrun VERB [FILE...] [key=value...] "
                           "[flags]");
        cr_note(cli->diag, "example: cellrun init digits -o digits.yaml && "
                           "cellrun train digits.yaml");
        cr_note(cli->diag, "more: cellrun help");
    }
    if (cli->verb) {
        opts = cr_alloc(arena, 1, cli->verb->about.size);
        if (ok)
            ok = verb_own(&l, opts) && verb_count(&l);
    }
    cli->opts = opts;
    cli->operands = l.operands;
    cli->operand_pos = l.operand_pos;
    cli->n_operands = l.n_operands;
    cli->sets = l.sets;
    cli->set_args = l.set_args;
    return ok;
}

int cr_cli_errors(struct cr_cli *cli, const char *then)
{
    int n = cli->diag->errors;

    cr_diag_print(
        cli->diag, stderr,
        (struct cr_diag_format){ .json = cli->json, .color = cli->color });
    if (n > 0 && !cli->json)
        fprintf(stderr, "%d error%s%s%s\n", n, n == 1 ? "" : "s",
                then ? ". " : n == 1 ? "" : ".", then ? then : "");
    return cr_diag_exit(cli->diag);
}

bool cr_cli_ending(struct cr_cli *cli, const char *flag, const char *path,
                   const char *endings)
{
    struct cr_buf list = { .arena = cli->arena };
    struct stat st;
    size_t n;

    if (!path || strcmp(path, "-") == 0 ||
        (stat(path, &st) == 0 && !S_ISREG(st.st_mode)))
        return true;
    for (const char *s = endings; *s; s += n + strspn(s + n, " ")) {
        const char *end;

        n = strcspn(s, " ");
        end = cr_strndup(cli->arena, s, n);
        if (cr_ends(cr_path_base(path), end))
            return true;
        cr_buf_f(&list, "%s%s", s == endings ? "" : s[n] ? ", " : " or ", end);
    }
    return cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                    "%s: found '%s', expected a name that ends in %s", flag,
                    cr_quote(cli->arena, path, strlen(path)),
                    cr_buf_text(&list));
}

struct cr_config *cr_cli_config(struct cr_cli *cli)
{
    struct cr_config_from from = { .files = cli->operands,
                                   .sets = cli->sets,
                                   .set_args = cli->set_args,
                                   .closed = cli->verb->closed };

    return cr_config_load(cli->arena, cli->diag, &from);
}
