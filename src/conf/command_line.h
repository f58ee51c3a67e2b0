/*
 * A command of the command line: `cellrun COMMAND [FILE ...] [key=value ...]`.
 *
 * The line is read once: the flags of all commands (cr_cli_rows) and of the
 * command, by its option rows (a row named `run_dir` is --run-dir; `flag` is a
 * short form; a list of strings is a flag that may be repeated, other lists are
 * split at commas), and the operands. If the command takes a config, an operand
 * with a dotted name before '=', or one that begins with '~', is an assignment.
 * Flags may appear anywhere; `--` ends them; `-` is standard input. run returns
 * the exit status; if it returns 0, main takes the status from diag.
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
    bool json, quiet, color; /* color: of stderr */
    bool color_out;          /* of stdout */
    bool trust;              /* the configs of checkpoints are trusted */
    int verbose;
    int threads;      /* 0: not given */
    const char *seed; /* NULL: not given (also set as a key) */
};

struct cr_command {
    struct cr_descriptor about;
    const char *usage;              /* "FILE... [key=value...] [flags]" */
    int min_operands, max_operands; /* max < 0: any number */
    bool takes_config;              /* operands may be assignments */
    bool takes_set;  /* operands are never assignments, but --set is one */
    const char *config_after; /* only after this first one; NULL: always */
    bool closed;              /* opens no plug-in */
    bool shares;              /* under mpirun its processes share the work */
    int (*run)(struct cr_cli *cli);
};

/* The flags of all commands. */
extern const struct cr_opt cr_cli_rows[];

/* Reads the line: finds the command, reads flags and operands. `--help` makes
 * it the command `help`. `cli` has arena and diag set and must live as long as
 * the run. False after reporting. */
bool cr_cli_read(struct cr_cli *cli, int argc, char *const *argv);

/* The command's own options: const struct train *o = cr_cli_opts(cli); */
#define cr_cli_opts(cli) ((cli)->opts)

/* Adds to the last message how the command is used: its usage, an example and
 * where to read more. */
void cr_cli_usage(const struct cr_cli *cli);

/* Prints the messages in diag to stderr and then, unless --json is given, their
 * number: "2 errors. Nothing was run." with this `then`, "2 errors" with NULL.
 * Returns the exit status. */
int cr_cli_errors(struct cr_cli *cli, const char *then);

/* Whether the path of a flag has one of the suffixes, such as ".npz .ckpt",
 * which select the format. NULL, "-" and existing files that are not regular
 * may have any name. False after reporting. */
bool cr_cli_ending(struct cr_cli *cli, const char *flag, const char *path,
                   const char *endings);
/* Reports a path "-" if --json writes to standard output too. */
bool cr_cli_not_json(struct cr_cli *cli, const char *flag, const char *path);
/* Reports a path "-" if standard output is a terminal: for files of bytes. */
bool cr_cli_no_terminal(struct cr_cli *cli, const char *flag,
                        const char *path);
/* Whether to print a line about the file written to the path of a flag. */
bool cr_cli_says(const struct cr_cli *cli, const char *path);

/* cr_config_load with the operands as files and the line's assignments. */
struct cr_config *cr_cli_config(struct cr_cli *cli);

#endif
