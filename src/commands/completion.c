/*
 * completion: a script that completes commands, flags, names known to help,
 * and the keys of a config before '='.
 */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "conf/command_line.h"
#include "conf/help_tables.h"

/* Escapes a text for single quotes of a shell. */
static const char *completion_quote(struct cr_arena *arena, const char *text)
{
    struct cr_buf buf = { .arena = arena };

    for (; *text; text++)
        if (*text == '\'')
            cr_buf_str(&buf, "'\\''");
        else
            cr_buf_char(&buf, *text);
    return cr_buf_text(&buf);
}

static void completion_flags(struct cr_buf *buf, const struct cr_opt *rows)
{
    for (const struct cr_opt *row = rows; row && row->name; row++) {
        cr_buf_f(buf, " %s", cr_flag_name(buf->arena, row));
        if (row->flag)
            cr_buf_f(buf, " -%c", row->flag);
    }
}

/* Appends train.epochs= and the like, for sections with rows. */
static void completion_keys(struct cr_buf *buf, const struct cr_opt *rows,
                            const char *above)
{
    for (const struct cr_opt *row = rows; row && row->name; row++) {
        const char *path = cr_strf(buf->arena, "%s.%s", above, row->name);

        if (row->type == CR_OPT_SUB)
            completion_keys(buf, row->sub, path);
        else
            cr_buf_f(buf, " %s=", path);
    }
}

static const char *completion_all_keys(struct cr_arena *arena)
{
    struct cr_buf buf = { .arena = arena };

    for (const struct cr_descriptor *const *p =
             cr_registry_list(CR_KIND_SECTION);
         *p; p++)
        if ((*p)->opts && (*p)->opts->name && (*p)->opts[1].name)
            completion_keys(&buf, (*p)->opts, (*p)->name);
        else
            cr_buf_f(&buf, " %s=", (*p)->name);
    return cr_buf_text(&buf);
}

static const char *completion_names(struct cr_arena *arena)
{
    struct cr_buf buf = { .arena = arena };

    for (int k = 0; k < CR_KINDS; k++) {
        cr_buf_f(&buf, " %s", cr_kind_plural((enum cr_kind)k));
        for (const struct cr_descriptor *const *p =
                 cr_registry_list((enum cr_kind)k);
             *p; p++)
            if (!(*p)->internal)
                cr_buf_f(&buf, " %s", (*p)->name);
    }
    for (int i = 0; i < CR_E_COUNT; i++)
        cr_buf_f(&buf, " %s", cr_code_number((enum cr_code)i));
    cr_buf_str(&buf, " codes environment exit");
    return cr_buf_text(&buf);
}

/* The body shared by bash and zsh: sets command, flags and words. */
static void completion_cases(struct cr_buf *buf)
{
    const struct cr_descriptor *const *commands =
        cr_registry_list(CR_KIND_COMMAND);
    const char *keys = completion_all_keys(buf->arena);

    cr_buf_str(buf, "    flags='");
    completion_flags(buf, cr_cli_rows);
    cr_buf_str(buf, "'\n    words=''\n    case $command in\n    '') words='");
    for (int i = 0; commands[i]; i++)
        cr_buf_f(buf, " %s", commands[i]->name);
    cr_buf_str(buf, "' ;;\n");
    for (int i = 0; commands[i]; i++) {
        const struct cr_command *command =
            (const struct cr_command *)commands[i];

        cr_buf_f(buf, "    %s)", commands[i]->name);
        if (commands[i]->opts && commands[i]->opts->name) {
            cr_buf_str(buf, "\n        flags=\"$flags");
            completion_flags(buf, commands[i]->opts);
            cr_buf_char(buf, '"');
        }
        if (command->takes_config)
            cr_buf_f(buf, "\n        words='%s'", keys);
        if (strcmp(commands[i]->name, "help") == 0)
            cr_buf_f(buf, "\n        words='%s'", completion_names(buf->arena));
        if (strcmp(commands[i]->name, "completion") == 0)
            cr_buf_str(buf, "\n        words='bash zsh fish'");
        cr_buf_str(buf, "\n        ;;\n");
    }
    cr_buf_str(buf, "    esac\n");
}

static void completion_bash(struct cr_buf *buf)
{
    cr_buf_str(
        buf,
        "# bash completion for cellrun: source <(cellrun completion bash)\n"
        "_cellrun() {\n"
        "    local cur=${COMP_WORDS[COMP_CWORD]} command='' flags words i\n"
        "    COMPREPLY=()\n"
        "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
        "        case ${COMP_WORDS[i]} in\n"
        "        -*) ;;\n"
        "        *) command=${COMP_WORDS[i]}; break ;;\n"
        "        esac\n"
        "    done\n");
    completion_cases(buf);
    cr_buf_str(
        buf,
        "    case $cur in\n"
        "    -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\")) ;;\n"
        "    *) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
        "        [[ $command && $command != help ]] &&\n"
        "            COMPREPLY+=($(compgen -f -- \"$cur\")) ;;\n"
        "    esac\n"
        "    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then\n"
        "        compopt -o nospace\n"
        "    fi\n"
        "}\n"
        "complete -o filenames -F _cellrun cellrun\n");
}

static void completion_zsh(struct cr_buf *buf)
{
    cr_buf_str(
        buf, "#compdef cellrun\n"
             "# zsh completion for cellrun: source <(cellrun completion zsh)\n"
             "_cellrun() {\n"
             "    local command='' flags words_ i\n"
             "    for ((i = 2; i < CURRENT; i++)); do\n"
             "        case ${words[i]} in\n"
             "        -*) ;;\n"
             "        *) command=${words[i]}; break ;;\n"
             "        esac\n"
             "    done\n"
             "    _cellrun_lists\n"
             "    if [[ ${words[CURRENT]} == -* ]]; then\n"
             "        compadd -- ${=flags}\n"
             "    else\n"
             "        compadd -S '' -- ${(M)${=words_}:#*=}\n"
             "        compadd -- ${${=words_}:#*=}\n"
             "        [[ -n $command && $command != help ]] && _files\n"
             "    fi\n"
             "}\n"
             "_cellrun_lists() {\n"
             "    local words\n");
    completion_cases(buf);
    cr_buf_str(buf, "    words_=$words\n"
                    "}\n"
                    "(( $+functions[compdef] )) && compdef _cellrun cellrun\n");
}

static void completion_fish_rows(struct cr_buf *buf, const char *command,
                                 const struct cr_opt *rows)
{
    for (const struct cr_opt *row = rows; row && row->name; row++) {
        cr_buf_str(buf, "complete -c cellrun");
        if (command)
            cr_buf_f(buf, " -n '__fish_seen_subcommand_from %s'", command);
        cr_buf_f(buf, " -l %s", cr_flag_name(buf->arena, row) + 2);
        if (row->flag)
            cr_buf_f(buf, " -s %c", row->flag);
        if (row->type != CR_OPT_BOOL && !row->implicit_value)
            cr_buf_str(buf, " -r");
        cr_buf_f(buf, " -d '%s'\n", completion_quote(buf->arena, row->doc));
    }
}

static void completion_fish(struct cr_buf *buf)
{
    cr_buf_str(buf, "# fish completion for cellrun\n");
    completion_fish_rows(buf, NULL, cr_cli_rows);
    for (const struct cr_descriptor *const *p =
             cr_registry_list(CR_KIND_COMMAND);
         *p; p++) {
        const struct cr_command *command = (const struct cr_command *)*p;

        cr_buf_f(buf,
                 "complete -c cellrun -n __fish_use_subcommand -f -a %s "
                 "-d '%s'\n",
                 (*p)->name, completion_quote(buf->arena, (*p)->summary));
        completion_fish_rows(buf, (*p)->name, (*p)->opts);
        if (command->takes_config)
            cr_buf_f(buf,
                     "complete -c cellrun -n "
                     "'__fish_seen_subcommand_from %s' -a '%s'\n",
                     (*p)->name, completion_all_keys(buf->arena));
    }
    cr_buf_f(buf,
             "complete -c cellrun -n '__fish_seen_subcommand_from help' "
             "-f -a '%s'\n",
             completion_names(buf->arena));
    cr_buf_str(buf, "complete -c cellrun -n '__fish_seen_subcommand_from "
                    "completion' -f -a 'bash zsh fish'\n");
}

static int completion_run(struct cr_cli *cli)
{
    struct cr_buf buf = { .arena = cli->arena };
    const char *shell = cli->operands[0];

    if (strcmp(shell, "bash") == 0) {
        completion_bash(&buf);
    } else if (strcmp(shell, "zsh") == 0) {
        completion_zsh(&buf);
    } else if (strcmp(shell, "fish") == 0) {
        completion_fish(&buf);
    } else {
        cr_error(cli->diag, cli->operand_pos[0], CR_E_USAGE,
                 "found '%s', expected bash, zsh or fish",
                 cr_quote(cli->arena, shell, strlen(shell)));
        return 2;
    }
    fputs(cr_buf_text(&buf), stdout);
    return 0;
}

const struct cr_command cr_command_completion = {
    .about = {
        .name = "completion",
        .summary = "Print a completion script for bash, zsh or fish.",
        .example = "source <(cellrun completion bash)\n",
    },
    .usage = "bash|zsh|fish",
    .min_operands = 1,
    .max_operands = 1,
    .run = completion_run,
};
