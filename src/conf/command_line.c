/*
 * The command line: one pass over the arguments, by the rows of all commands
 * and those of the command. Flags become nodes with positions on the line and
 * are read by cr_opts_read, so that types and ranges are checked as in a
 * config.
 */
#include "conf/command_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/str.h"
#include "base/terminal.h"
#include "base/thread_pool.h"
#include "conf/environment.h"
#include "conf/scalar.h"
#include "conf/terms.h"

struct common {
    bool help, json, quiet, strict, trust, wide, no_pager;
    int64_t verbose, threads;
    int color;
    const char *seed;
    struct cr_strs set;
};

enum {
    COLOR_AUTO,
    COLOR_ALWAYS,
    COLOR_NEVER
};

const struct cr_opt cr_cli_rows[] = {
    CR_BOOL_DEFAULT(struct common, help, false, "Explain the command.",
                    .flag = 'h'),
    CR_BOOL_DEFAULT(struct common, json, false,
                    "Write results, warnings and errors as JSON; progress on "
                    "standard error stays text."),
    CR_BOOL_DEFAULT(struct common, quiet, false,
                    "Print less to standard error.", .flag = 'q'),
    CR_INT_DEFAULT(struct common, verbose, 0, 0, 9,
                   "Print more to standard error; -vv prints even more.",
                   .flag = 'v', .implicit_value = "1"),
    CR_ENUM_DEFAULT(
        struct common, color, COLOR_AUTO, "auto|always|never",
        "When to colour messages and curves. auto: in a terminal."),
    CR_BOOL_DEFAULT(struct common, wide, false,
                    "Do not shorten tables to the width of the terminal."),
    CR_BOOL_DEFAULT(struct common, no_pager, false,
                    "Do not send long output on a terminal through PAGER."),
    CR_BOOL_DEFAULT(struct common, strict, false, "Treat warnings as errors."),
    CR_BOOL_DEFAULT(
        struct common, trust, false,
        "Let a checkpoint open the plug-ins, read the files and "
        "environment variables and run the commands that its config "
        "names."),
    CR_INT_DEFAULT(struct common, threads, 0, 0, CR_THREADS_MAX,
                   "Number of threads; 0: all cores available to the process."),
    CR_STR_OPTIONAL(struct common, seed, "The same as seed=N.", .text = "N"),
    CR_STRS_OPTIONAL(struct common, set,
                     "An assignment, as an operand key=value.",
                     .text = "KEY=VALUE"),
    { 0 },
};

static const struct cr_descriptor command_common = {
    .name = "cellrun",
    .summary = "Flags of every command.",
    .opts = cr_cli_rows,
    .size = sizeof(struct common),
};

/* The state and results of one pass over the line. */
struct line {
    struct cr_cli *cli;
    int argc;
    char *const *argv;
    struct cr_pos *pos;         /* of each argument */
    struct cr_node common, own; /* maps of the flags given */
    const char **operands, **sets;
    struct cr_pos *operand_pos;
    int *set_args;
    int n_operands, n_sets;
    bool stop; /* `--` was seen */
};

/* The position of argument i from byte `from` on. */
static struct cr_pos command_pos(const struct line *l, int i, size_t from)
{
    struct cr_pos pos = l->pos[i];

    pos.col = (int)cr_utf8_count(l->argv[i], from) + 1;
    pos.len = (int)cr_utf8_count(l->argv[i] + from, strlen(l->argv[i]) - from);
    return pos;
}

static const struct cr_opt *command_row(const struct cr_opt *rows,
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

static const struct cr_opt *command_short(const struct cr_opt *rows, char c)
{
    for (; rows && rows->name; rows++)
        if (rows->flag == c)
            return rows;
    return NULL;
}

static const struct cr_opt *command_rows(const struct line *l)
{
    return l->cli->command ? l->cli->command->about.opts : NULL;
}

/* Adds to the end of a list or map. */
static struct cr_node *command_add(struct line *l, struct cr_node *to,
                                   const char *key, const char *text,
                                   struct cr_pos pos)
{
    struct cr_node *node = CR_NEW(l->cli->arena, struct cr_node), **end;

    *node = (struct cr_node){ .kind = CR_NODE_STR,
                              .key = key,
                              .text = text,
                              .pos = pos,
                              .key_pos = pos };
    for (end = &to->child; *end; end = &(*end)->next)
        ;
    return *end = node;
}

/* Adds the value of a flag to the map that cr_opts_read reads. */
static void command_set(struct line *l, struct cr_node *map,
                        const struct cr_opt *row, const char *text,
                        struct cr_pos pos, bool bare)
{
    struct cr_node *node = cr_node_get(map, row->name);
    bool words = row->type == CR_OPT_STRS;

    if (words || row->type == CR_OPT_INTS || row->type == CR_OPT_REALS) {
        if (!node)
            node = command_add(l, map, row->name, NULL, pos);
        node->kind = CR_NODE_LIST;
        for (size_t n; text; text = text[n] ? text + n + 1 : NULL) {
            n = words ? strlen(text) : strcspn(text, ",");
            cr_scalar_resolve(command_add(
                l, node, NULL, cr_strndup(l->cli->arena, text, n), pos));
        }
        return;
    }
    if (bare && node && node->kind == CR_NODE_INT) /* -v -v */
        text = cr_strf(l->cli->arena, "%d", (int)node->integer + 1);
    if (!node)
        node = command_add(l, map, row->name, text, pos);
    node->text = text;
    node->pos = pos;
    cr_scalar_resolve(node);
    if (row->type == CR_OPT_STR || node->kind == CR_NODE_NULL)
        node->kind = CR_NODE_STR;
}

static bool command_unknown_flag(struct line *l, int i, size_t from, size_t len)
{
    struct cr_arena *arena = l->cli->arena;
    const struct cr_opt *tables[] = { command_rows(l), cr_cli_rows };
    const char *word = cr_strndup(arena, l->argv[i] + from, len);
    const char **names, *guess, *key;
    struct cr_pos pos = command_pos(l, i, 0);
    int n = 0;

    pos.len = (int)cr_utf8_count(l->argv[i], from + len);
    cr_error(l->cli->diag, pos, CR_E_USAGE, "unknown flag '%s'%s%s",
             cr_quote(arena, l->argv[i], from + len),
             l->cli->command ? " for " : "",
             l->cli->command ? l->cli->command->about.name : "");
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
    guess = len > 1 ? cr_term_flag(word, names) : NULL;
    key = len > 1 && !guess ? cr_term_key(arena, word) : NULL;
    if (guess)
        cr_hint(l->cli->diag, "did you mean '--%s'?", guess);
    else if (key)
        cr_hint(l->cli->diag, "did you mean '%s=...'?", key);
    if (l->cli->command)
        cr_note(l->cli->diag, "(cellrun help %s)", l->cli->command->about.name);
    return false;
}

static bool command_takes_value(const struct cr_opt *row)
{
    return row->type != CR_OPT_BOOL && !row->implicit_value;
}

/* The next argument is the value of a flag. */
static bool command_next(struct line *l, int *i, const struct cr_opt *row,
                         struct cr_node *map)
{
    if (*i + 1 >= l->argc)
        return cr_error(l->cli->diag, l->pos[*i], CR_E_USAGE,
                        "flag '%s' without a value, expected %s", l->argv[*i],
                        cr_opt_expects(l->cli->arena, row));
    ++*i;
    command_set(l, map, row, l->argv[*i], command_pos(l, *i, 0), false);
    return true;
}

static bool command_long(struct line *l, int *i)
{
    const char *arg = l->argv[*i];
    size_t len = strcspn(arg + 2, "=");
    const struct cr_opt *row = command_row(command_rows(l), arg + 2, len);
    struct cr_node *map = &l->own;

    if (!row) {
        row = command_row(cr_cli_rows, arg + 2, len);
        map = &l->common;
    }
    if (!row)
        return command_unknown_flag(l, *i, 2, len);
    if (arg[2 + len])
        command_set(l, map, row, arg + 2 + len + 1,
                    command_pos(l, *i, 2 + len + 1), false);
    else if (command_takes_value(row))
        return command_next(l, i, row, map);
    else
        command_set(l, map, row,
                    row->implicit_value ? row->implicit_value : "true",
                    command_pos(l, *i, 0), true);
    return true;
}

/* -q, -qv, -n NAME, -nNAME. */
static bool command_letters(struct line *l, int *i)
{
    const char *arg = l->argv[*i];

    for (size_t at = 1; arg[at]; at++) {
        const struct cr_opt *row = command_short(command_rows(l), arg[at]);
        struct cr_node *map = &l->own;

        if (!row) {
            row = command_short(cr_cli_rows, arg[at]);
            map = &l->common;
        }
        if (!row)
            return command_unknown_flag(l, *i, at, 1);
        if (!command_takes_value(row)) {
            command_set(l, map, row,
                        row->implicit_value ? row->implicit_value : "true",
                        command_pos(l, *i, 0), true);
            continue;
        }
        if (!arg[at + 1])
            return command_next(l, i, row, map);
        command_set(l, map, row, arg + at + 1, command_pos(l, *i, at + 1),
                    false);
        break;
    }
    return true;
}

/* seed=1, a.b-c.0=x, ~key: before '=' is a dotted name. */
static bool command_assigns(const char *arg)
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

static bool command_find(struct line *l, int i)
{
    struct cr_arena *arena = l->cli->arena;
    const char *name = l->argv[i], **names;
    const struct cr_descriptor *const *list = cr_registry_list(CR_KIND_COMMAND);
    int n = 0;

    l->cli->command =
        (const struct cr_command *)cr_registry_find(CR_KIND_COMMAND, name);
    if (l->cli->command)
        return true;
    cr_error(l->cli->diag, l->pos[i], CR_E_USAGE, "unknown command '%s'",
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

static void command_assignment(struct line *l, const char *text, int arg)
{
    l->sets[l->n_sets] = text;
    l->set_args[l->n_sets++] = arg;
}

static void command_operand(struct line *l, int i)
{
    const struct cr_command *command = l->cli->command;
    bool config = command->takes_config &&
                  (!command->config_after ||
                   (l->n_operands > 0 &&
                    strcmp(l->operands[0], command->config_after) == 0));

    if (config && command_assigns(l->argv[i])) {
        command_assignment(l, l->argv[i], i);
        return;
    }
    l->operands[l->n_operands] = l->argv[i];
    l->operand_pos[l->n_operands++] = l->pos[i];
}

static bool command_color(int when, int stream)
{
    const char *force = getenv("CLICOLOR_FORCE"), *none = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    if (when != COLOR_AUTO)
        return when == COLOR_ALWAYS;
    if (none && *none)
        return false;
    if (force && *force && strcmp(force, "0") != 0)
        return true;
    return isatty(stream) && !(term && strcmp(term, "dumb") == 0);
}

/* The verbosity: -q and -v, else CELLRUN_LOG. */
static void command_log(struct cr_cli *cli, const struct common *o)
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
static bool command_apply(struct line *l, const struct common *o)
{
    struct cr_cli *cli = l->cli;
    const struct cr_node *set = cr_node_get(&l->common, "set");
    const struct cr_node *seed = cr_node_get(&l->common, "seed");

    cli->json = o->json;
    cli->trust = o->trust;
    command_log(cli, o);
    cli->threads = (int)o->threads;
    cli->seed = o->seed;
    cli->diag->strict = o->strict;
    cr_terminal_options(o->wide, o->no_pager);
    cli->color = command_color(o->color, STDERR_FILENO);
    cli->color_out = command_color(o->color, STDOUT_FILENO);
    if (!cli->command)
        return true;
    if (!cli->command->takes_config && !cli->command->takes_set) {
        if (set)
            return cr_error(
                cli->diag, set->pos, CR_E_USAGE,
                "%s does not read a config; remove the key=value arguments",
                cli->command->about.name);
        return true;
    }
    for (CR_EACH(m, set))
        command_assignment(l, m->text, m->pos.src->argument);
    if (seed)
        command_assignment(l, cr_strf(cli->arena, "seed=%s", o->seed),
                           seed->pos.src->argument);
    return true;
}

/* The first operand that is a folder or a checkpoint, if the command takes
 * --ckpt; NULL: none. */
static const char *command_ckpt(const struct cr_cli *cli)
{
    const struct cr_opt *row = cli->command->about.opts;
    struct stat st;

    while (row && row->name && strcmp(row->name, "ckpt") != 0)
        row++;
    for (int i = 0; row && row->name && i < cli->n_operands; i++)
        if (cr_ends(cli->operands[i], ".safetensors") ||
            (stat(cli->operands[i], &st) == 0 && S_ISDIR(st.st_mode)))
            return cli->operands[i];
    return NULL;
}

void cr_cli_usage(const struct cr_cli *cli)
{
    const struct cr_descriptor *about = &cli->command->about;
    const char *ckpt = command_ckpt(cli);

    if (ckpt)
        cr_hint(cli->diag, "did you mean --ckpt %s?",
                cr_quote(cli->arena, ckpt, strlen(ckpt)));
    cr_note(cli->diag, "usage: cellrun %s %s", about->name,
            cli->command->usage);
    cr_note(cli->diag, "example: %.*s", (int)strcspn(about->example, "\n"),
            about->example);
    cr_note(cli->diag, "more: cellrun help %s", about->name);
}

static bool command_count(const struct line *l)
{
    const struct cr_command *command = l->cli->command;
    int n = l->n_operands, max = command->max_operands;
    struct cr_diag *diag = l->cli->diag;

    if (n >= command->min_operands && (max < 0 || n <= max))
        return true;
    if (n < command->min_operands) {
        cr_error(diag, CR_NOWHERE, CR_E_USAGE, "%s: found %s, expected %s",
                 command->about.name, n == 0 ? "no operand" : "one operand",
                 command->min_operands == 1 ? "at least one" : "two");
        cr_cli_usage(l->cli);
    } else {
        cr_error(diag, l->operand_pos[max], CR_E_USAGE,
                 "%s: found more operands than the maximum of %d",
                 command->about.name, max);
        cr_note(diag, "usage: cellrun %s %s", command->about.name,
                command->usage);
    }
    return false;
}

static bool command_pass(struct line *l)
{
    bool ok = true;

    for (int i = 1; i < l->argc; i++) {
        const char *arg = l->argv[i];

        if (!l->stop && strcmp(arg, "--") == 0)
            l->stop = true;
        else if (!l->stop && !l->cli->command && strcmp(arg, "--version") == 0)
            l->cli->command = (const struct cr_command *)cr_registry_find(
                CR_KIND_COMMAND, "version");
        else if (!l->stop && arg[0] == '-' && arg[1] == '-')
            ok = command_long(l, &i) && ok;
        else if (!l->stop && arg[0] == '-' && arg[1])
            ok = command_letters(l, &i) && ok;
        else if (l->cli->command)
            command_operand(l, i);
        else if (!command_find(l, i))
            return false;
    }
    return ok;
}

/* `COMMAND --help` is `help COMMAND`. */
static void command_help(struct line *l)
{
    struct cr_cli *cli = l->cli;
    const struct cr_descriptor *help =
        cr_registry_find(CR_KIND_COMMAND, "help");

    l->n_operands = 0;
    if (cli->command && &cli->command->about != help) {
        l->operands[0] = cli->command->about.name;
        l->operand_pos[0] = CR_NOWHERE;
        l->n_operands = 1;
    }
    l->own = (struct cr_node){ .kind = CR_NODE_MAP };
    cli->command = (const struct cr_command *)help;
}

/* Reads the flags of the command. Without any, only a required one can be
 * missing. */
static bool command_own(const struct line *l, void *opts)
{
    struct cr_cli *cli = l->cli;
    bool ok = cr_opts_read(cli->arena, cli->diag, &cli->command->about, &l->own,
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

        *src =
            (struct cr_source){ "command line", argv[i], strlen(argv[i]), i };
        l.pos[i] = (struct cr_pos){ .src = src, .line = 1 };
        l.pos[i] = command_pos(&l, i, 0);
    }
    cli->argv = (const char *const *)argv;

    ok = command_pass(&l);
    ok = cr_opts_read(arena, cli->diag, &command_common, &l.common, CR_NOWHERE,
                      &common) &&
         ok;
    if (common.help)
        command_help(&l);
    ok = command_apply(&l, &common) && ok;
    /* a wrong variable must not prevent its own explanation */
    if (cli->command && strcmp(cli->command->about.name, "help") != 0 &&
        strcmp(cli->command->about.name, "completion") != 0)
        ok = cr_env_check(cli->diag) && ok;
    if (!cli->command && ok) {
        ok = cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE, "no command given");
        cr_note(cli->diag, "usage: cellrun COMMAND [FILE...] [key=value...] "
                           "[flags]");
        cr_note(cli->diag, "example: cellrun init digits -o digits.yaml && "
                           "cellrun train digits.yaml");
        cr_note(cli->diag, "more: cellrun help");
    }
    cli->operands = l.operands;
    cli->operand_pos = l.operand_pos;
    cli->n_operands = l.n_operands;
    if (cli->command) {
        opts = cr_alloc(arena, 1, cli->command->about.size);
        if (ok)
            ok = command_own(&l, opts) && command_count(&l);
    }
    cli->opts = opts;
    cli->sets = l.sets;
    cli->set_args = l.set_args;
    return ok;
}

int cr_cli_errors(struct cr_cli *cli, const char *then)
{
    int n = cli->diag->errors;

    if (cli->diag->silent)
        return cr_diag_exit(cli->diag);
    cr_diag_print(
        cli->diag, stderr,
        (struct cr_diag_format){ .json = cli->json, .color = cli->color });
    if (n > 0 && !cli->json)
        fprintf(stderr, "%d error%s%s%s\n", n, n == 1 ? "" : "s",
                then     ? ". "
                : n == 1 ? ""
                         : ".",
                then ? then : "");
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

bool cr_cli_not_json(struct cr_cli *cli, const char *flag, const char *path)
{
    return !path || strcmp(path, "-") != 0 || !cli->json ||
           cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                    "--json and %s - both write to standard output", flag);
}

bool cr_cli_no_terminal(struct cr_cli *cli, const char *flag, const char *path)
{
    return !path || strcmp(path, "-") != 0 || !isatty(STDOUT_FILENO) ||
           cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                    "%s -: standard output is a terminal, expected a file or "
                    "a pipe",
                    flag);
}

bool cr_cli_says(const struct cr_cli *cli, const char *path)
{
    return !cli->quiet && strcmp(path, "-") != 0;
}

struct cr_config *cr_cli_config(struct cr_cli *cli)
{
    struct cr_config_from from = { .files = cli->operands,
                                   .sets = cli->sets,
                                   .set_args = cli->set_args,
                                   .closed = cli->command->closed };

    return cr_config_load(cli->arena, cli->diag, &from);
}
