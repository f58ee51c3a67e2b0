/*
 * The report: one HTML file about a run, or about several. Everything in it
 * comes from run directories.
 *
 * The page is self-contained: charts are inline SVG, style and script are in
 * it, and it loads nothing. It can be read without its script, which sorts
 * tables and enlarges charts. Texts of run directories are not trusted: they
 * are escaped, and the Content-Security-Policy of the page allows no script
 * but its own.
 *
 * Called by the command report, and by a run that writes its page. Knows
 * nothing of plans, of data sets and of how a number was computed.
 *
 * Includes: base chart ckpt conf draw model rundir score train.
 */
#ifndef CR_REPORT_REPORT_H
#define CR_REPORT_REPORT_H

#include "ckpt/run_index.h"
#include "conf/command_line.h"

/* Appends the page of the runs, at least one; `refresh`: seconds after which
 * browsers load it again, 0: never. What is damaged or missing is omitted,
 * with a warning to cli->diag, whose arena must not outlive that of `to` and of
 * the runs. */
void cr_report_page(struct cr_cli *cli, struct cr_runs *runs, int refresh,
                    struct cr_buf *to);

/* Removes what makes browsers load the page again; returns its new length. */
size_t cr_report_end_refresh(char *page, size_t len);

struct cr_train;

/* Writes report.html to the run directory if log.report is true, after
 * cr_train_finish returned `status`. Returns the exit status of the command. */
int cr_report_of_train(const struct cr_train *train, int status);

#endif
