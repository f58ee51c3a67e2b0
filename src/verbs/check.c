/* check: finds everything that is wrong with a config; runs nothing. */
#include <stdio.h>

#include "conf/verb.h"

static int check_run(struct cr_cli *cli)
{
    struct cr_config *config = cr_cli_config(cli);

    cr_config_check(config);
    if (cli->diag->errors > 0)
        return cr_cli_errors(cli, NULL);
    puts("ok");
    return 0;
}

const struct cr_verb cr_verb_check = {
    .about = {
        .name = "check",
        .summary = "Find everything that is wrong with a config.",
        .example = "cellrun check mnist.yaml\n",
    },
    .usage = "FILE... [key=value...]",
    .min_operands = 1,
    .max_operands = -1,
    .takes_config = true,
    .run = check_run,
};
