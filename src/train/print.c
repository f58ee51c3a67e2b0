#include "train/print.h"

#include <stdio.h>

#include "train/section.h"

static void print_console(void *ctx, const char *text)
{
    cr_console_log(ctx, "%s", text);
}

static void print_log(void *ctx, const char *text)
{
    cr_console_log_file(ctx, text);
}

static void print_stderr(void *ctx, const char *text)
{
    (void)ctx;
    fprintf(stderr, "%s\n", text);
}

const struct cr_print *cr_print_open(struct cr_config *config,
                                     struct cr_console *console)
{
    struct cr_print *to = CR_NEW(config->arena, struct cr_print);
    struct cr_run_section run = { 0 };

    if (!cr_section_read(config, "run", &run) || run.print == CR_PRINT_OFF ||
        (run.print == CR_PRINT_LOG && !console))
        return NULL;
    to->ctx = console;
    to->line = !console                     ? print_stderr
               : run.print == CR_PRINT_LOG ? print_log
                                           : print_console;
    return to;
}
