/*
 * A command of the command line: `cellrun COMMAND [FILE ...] [key=value ...]`.
 *
 * The line is read once: flags of every command (cr_cli_rows), the command's
 * own by its option rows (a row named `run_dir` is --run-dir; `flag` gives a
 * short form; a list of texts is a flag that may stand several times, other
 * lists are split at commas), then the operands. An operand with '=' whose left
 * side is a dotted name, or one that begins with '~', is an assignment when the
 * command takes a config; all others are operands, in order. Flags may stand
 * anywhere; `--` ends them; `-` is standard input. run returns the exit status;
 * main prints what is left in diag, checks stdout, and lets an error in diag
 * decide when run returns 0.
 */
#ifndef CR_CONF_COMMAND_LINE_H
#define CR_CONF_COMMAND_LINE_H

#include "conf/config.h"

struct cr_cli {
    struct cr_arena *arena;
    struct cr_diag *diag;
    const struct cr_command *command;
    const void *opts;            /* the command's own flags, filled in */
    const char *const *operands; /* NULL-terminated */
    const struct cr_pos *operand_pos;
    int n_operands;
    const char *const *sets; /* key=value and ~key, in order */
    const int *set_args;
    const char *const *argv; /* the whole line, for `command` */
    bool json, quiet, color; /* color: of stderr, decided */
    bool trust;              /* a checkpoint may do what it asks for */
    int verbose;
    int threads;      /* 0: not given */
    const char *seed; /* NULL: not given (also set as a key) */
};

struct cr_command {
    struct cr_descriptor about;
    const char *usage;              /* "FILE... [key=value...] [flags]" */
    int min_operands, max_operands; /* max < 0: any number */
    bool takes_config;              /* operands may be assignments */
    const char *config_after; /* only behind this first one; NULL: always */
    bool closed;              /* opens no plug-in */
    int (*run)(struct cr_cli *cli);
};

/* The flags that every command takes, as rows (they fill in a cr_cli). */
extern const struct cr_opt cr_cli_rows[];

/* Reads the line: finds the command, reads flags and operands, reports what is
 * wrong (then returns false). `--help` makes it the command `help`. The cli has
 * arena and diag set and lives as long as the run. */
bool cr_cli_read(struct cr_cli *cli, int argc, char *const *argv);

/* Pointer to the options: const struct train *o = cr_cli_opts(cli); */
#define cr_cli_opts(cli) ((cli)->opts)

/* Adds to the last message how the command is used: its usage, an example and
 * where to read more. */
void cr_cli_usage(const struct cr_cli *cli);

/* Prints what is left in diag to stderr and then, in plain style, the count:
 * "2 errors. Nothing was run." with that `then`, or "1 error" with NULL.
 * Returns the exit status. */
int cr_cli_errors(struct cr_cli *cli, const char *then);

/* Whether the file that a flag names ends in one of the endings, such as
 * ".npz .ckpt", which tell the format; NULL, "-" and what is there and is not
 * a regular file may have any name. False after reporting. */
bool cr_cli_ending(struct cr_cli *cli, const char *flag, const char *path,
                   const char *endings);

/* cr_config_load with the operands as files and the line's assignments. */
struct cr_config *cr_cli_config(struct cr_cli *cli);

#endif
