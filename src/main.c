/*
 * cellrun: trains and uses neural networks described in YAML.
 *
 * Arguments, command, diagnostics, exit status. Results go to standard output,
 * messages to standard error. Errors of writing standard output are detected
 * at the very end, when the work is done.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/mapping.h"
#include "base/signals.h"
#include "base/terminal.h"
#include "conf/command_line.h"
#include "mpi/mpi.h"

enum { STATUS_PIPE = 141 }; /* status of the shell for SIGPIPE */

/* Keeps a file opened later from becoming a standard stream that was closed:
 * reads from the replaced standard input and writes to the replaced standard
 * output fail. */
static void main_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 &&
            open("/dev/null", fd == 1 ? O_RDONLY : O_WRONLY) < 0)
            _exit(1);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* `ulimit -f`: the write fails and is handled */
}

/* Whether the reader of standard output has closed it, which is not an
 * error. */
static bool main_pipe_gone(int error)
{
    struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };

    return error == EPIPE ||
           (poll(&out, 1, 0) == 1 && (out.revents & POLLERR));
}

/* The exit status, or that of an error in writing standard output. */
static int main_close(struct cr_diag *diag, int status)
{
    bool failed = ferror(stdout) != 0, gone;
    int error = 0;

    if (fflush(stdout) != 0) {
        error = errno;
        failed = true;
    }
    gone = failed && main_pipe_gone(error);
    if (close(STDOUT_FILENO) != 0 && !failed) {
        error = errno;
        failed = true;
    }
    if (!failed)
        return status;
    if (gone)
        return status == 0 ? STATUS_PIPE : status;
    cr_error(diag, CR_NOWHERE, CR_E_SYSTEM, "cannot write standard output%s%s",
             error ? ": " : "", error ? strerror(error) : "");
    return status == 0 ? cr_code_exit(CR_E_SYSTEM) : status;
}

/* Whether all processes run the same command: others send other messages. */
static bool main_same(struct cr_cli *cli)
{
    const char *own = cli->command->about.name,
               *first = cr_mpi_broadcast_text(cli->arena, own, 0);

    return cr_mpi_agree(cli->diag,
                        strcmp(own, first) == 0 ||
                            cr_error(cli->diag, CR_NOWHERE, CR_E_CONFLICT,
                                     "command: found %s; rank 0 has %s", own,
                                     first));
}

/* Runs a command of which each process does its part; number 0 prints. mpirun
 * kills the others at the first status that is not 0: that of number 0 comes
 * after its messages. */
static int main_share(struct cr_cli *cli)
{
    int status;

    if (!cr_mpi_start(cli->diag))
        return cr_code_exit(CR_E_SYSTEM);
    if (cr_mpi_rank() > 0) {
        cli->quiet = true;
        if (!freopen("/dev/null", "w", stdout)) {
            cr_error(cli->diag, CR_NOWHERE, CR_E_SYSTEM,
                     "cannot write /dev/null: %s", strerror(errno));
            cr_mpi_fail(cli->diag,
                        (struct cr_diag_format){ .json = cli->json,
                                                 .color = cli->color });
        }
    }
    status = main_same(cli) ? cli->command->run(cli) : 0;
    if (status == 0)
        status = cr_diag_exit(cli->diag);
    status = cr_mpi_end(status);
    return cr_mpi_rank() == 0 ? status : 0;
}

/* Of other commands, every process of mpirun runs its own. */
static int main_alone(struct cr_cli *cli)
{
    cli->diag->silent = false;
    cr_mpi_alone();
    return cli->command->run(cli);
}

int main(int argc, char **argv)
{
    struct cr_arena arena = { 0 };
    struct cr_diag diag = { .arena = &arena };
    struct cr_cli cli = { .arena = &arena, .diag = &diag };
    struct cr_diag_format how;
    int status;

    main_streams();
    cr_signals_init();
    /* errors that all processes of mpirun find are printed once */
    diag.silent = cr_mpi_rank_given() > 0;
    if (!cr_cli_read(&cli, argc, argv))
        status = cr_mpi_rank_given() == 0 ? 2 : 0; /* as main_share */
    else if (cli.command->shares)
        status = main_share(&cli);
    else
        status = main_alone(&cli);
    cr_terminal_end();
    cr_mapping_check(&diag); /* data read without a data loader */
    how = (struct cr_diag_format){ .json = cli.json, .color = cli.color };
    cr_diag_print(&diag, stderr, how);
    if (status == 0 && cr_mpi_rank() == 0)
        status = cr_diag_exit(&diag);
    status = main_close(&diag, status);
    cr_diag_print(&diag, stderr, how);
    cr_arena_free(&arena);
    return status;
}
