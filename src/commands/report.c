/* report: one HTML page about a run, or about several. */
#include <string.h>
#include <time.h>

#include "report/report.h"
#include "rundir/run_names.h"
#include "rundir/run_status.h"

#define FOLLOW_SECONDS 2
#define PAGE_MAX ((size_t)1 << 30)

struct report {
    const char *out;
    bool follow;
};

static const struct cr_opt report_opts[] = {
    CR_STR_DEFAULT(struct report, out, "report.html",
                   "File of the page; - is standard output.", .flag = 'o'),
    CR_BOOL_DEFAULT(struct report, follow, false,
                    "Write the page again every 2 seconds until the runs end; "
                    "an open page reloads itself."),
    { 0 },
};

/* Writes the page; `refresh` as in cr_report_page. False after reporting. */
static bool report_write(struct cr_cli *cli, struct cr_runs *runs, int refresh)
{
    const struct report *o = cr_cli_opts(cli);
    struct cr_buf page = { .arena = runs->arena };

    cr_report_page(cli, runs, refresh, &page);
    return cr_write_file(cli->diag, o->out, page.text, page.len);
}

/* Finds the runs in memory of `arena`; *running: whether some run is still
 * running. False after reporting. */
static bool report_find(struct cr_cli *cli, struct cr_arena *arena,
                        struct cr_runs *runs, bool *running)
{
    bool ok = true;

    *runs = (struct cr_runs){ .arena = arena, .diag = cli->diag };
    *running = false;
    for (int i = 0; i < cli->n_operands; i++)
        ok = cr_runs_add_named(runs, cr_runs_folder(), cli->operands[i],
                               cli->operand_pos[i]) && ok;
    for (int i = 0; ok && i < runs->n; i++)
        *running = *running || cr_run_is_running(&runs->run[i]);
    return ok;
}

/* Writes the page of runs that are still running, with its own memory and
 * messages. False: all runs have ended, or an error was reported. */
static bool report_follow(const struct cr_cli *cli)
{
    struct cr_arena mem = { 0 };
    struct cr_diag quiet = { .arena = &mem };
    struct cr_cli own = *cli;
    struct cr_runs runs;
    bool ok, running;

    own.arena = &mem;
    own.diag = &quiet;
    ok = report_find(&own, &mem, &runs, &running) && running &&
         report_write(&own, &runs, FOLLOW_SECONDS);
    cr_arena_free(&mem);
    return ok;
}

/* The last page of runs that cannot be found any more: browsers need not load
 * it again. */
static void report_settle(struct cr_cli *cli)
{
    const struct report *o = cr_cli_opts(cli);
    size_t len, settled;
    char *page = cr_run_file(cli->arena, o->out, PAGE_MAX, &len);

    settled = page ? cr_report_end_refresh(page, len) : len;
    if (settled < len)
        cr_write_file(cli->diag, o->out, page, settled);
}

static void report_print(const struct cr_cli *cli)
{
    const struct report *o = cr_cli_opts(cli);
    struct cr_buf b = { .arena = cli->arena };

    if (cli->json) {
        cr_buf_json(&b, o->out);
        printf("{\"report\": %s}\n", cr_buf_text(&b));
    } else if (!cli->quiet) {
        printf("report: %s\n", o->out);
    }
}

static int report_run(struct cr_cli *cli)
{
    const struct report *o = cr_cli_opts(cli);
    struct timespec pause = { .tv_sec = FOLLOW_SECONDS };
    struct cr_runs runs;
    bool running, followed = false;

    if (!cr_cli_ending(cli, "-o", o->out, ".html .htm"))
        return cr_diag_exit(cli->diag);
    if (o->follow && strcmp(o->out, "-") == 0) {
        cr_error(cli->diag, CR_NOWHERE, CR_E_USAGE,
                 "--follow writes a file again and again: found -, expected "
                 "a name");
        return cr_diag_exit(cli->diag);
    }
    while (o->follow && report_follow(cli)) {
        followed = true;
        nanosleep(&pause, NULL);
    }
    if (report_find(cli, cli->arena, &runs, &running))
        report_write(cli, &runs, 0);
    else if (followed)
        report_settle(cli);
    if (cli->diag->errors == 0 && strcmp(o->out, "-") != 0)
        report_print(cli);
    return cr_diag_exit(cli->diag);
}

const struct cr_command cr_command_report = {
    .about = {
        .name = "report",
        .summary = "Write an HTML page about a run, or about several.",
        .detail =
            "The page is one file that loads nothing and needs no script to "
            "be read. Of one run it shows results with confidence intervals, "
            "curves, confusion matrix, calibration or residuals, the worst "
            "samples, data, network, watched tensors, time, warnings, and how "
            "to repeat it; of texts and maps the losses of their positions, of "
            "several labels precision and recall. Under the pointer, or with "
            "the arrow keys, charts of curves show their values; dragging, + "
            "and - show a part of them, Escape everything. Of several runs, or "
            "of a folder such as that of a sweep, it shows "
            "what differs in their configs, a table, curves, and each setting "
            "against the metric. A run is given by its directory, a path below "
            "the folder of runs, or the beginning of its id. Everything comes "
            "from the run directory. The intervals are percentile bootstraps "
            "over the samples of the best evaluation: 1000 resamples, 200 for "
            "more than 20000 samples, seed 1. log.report: true writes "
            "report.html to the run directory at the end of the run.",
        .example = "cellrun report runs/digits -o digits.html\n"
                   "cellrun report runs -o all.html\n",
        .opts = report_opts,
        .size = sizeof(struct report),
    },
    .usage = "RUN... [-o FILE]",
    .min_operands = 1,
    .max_operands = -1,
    .run = report_run,
};
