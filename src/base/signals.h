/*
 * Signals to a command, and to a run. The flags are static because a handler
 * can see nothing else.
 *
 * While a run is prepared, INT and TERM end the process at once, with 130 or
 * 143: there is nothing to save yet. Once training has begun, handlers only
 * set a flag, except that a second INT or TERM ends the process at once.
 *
 * INT, TERM: finish the step, save, end with 130 or 143. HUP: save and
 * continue. USR1: set by `run.on_usr1`. USR2: print a status line, read
 * `log.every` again. TSTP: erase the progress bar, then stop as by default.
 */
#ifndef CR_BASE_SIGNALS_H
#define CR_BASE_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CR_STATUS_AGAIN = 75
}; /* stopped and saved; the run can be resumed */

/* Erases from the start of the cursor's line to the end of the screen. */
#define CR_SIGNALS_ERASE "\r\033[J"

/* INT and TERM end any command at once with 130 and 143, unless they are
 * ignored. */
void cr_signals_init(void);
/* Installs the handlers of a run. */
void cr_signals_start(void);
/* Training begins: INT and TERM wait for the step. */
void cr_signals_defer(void);
/* The file to remove when the process ends at once; NULL: none. */
void cr_signals_lock(const char *path);
/* The folder to remove after it, if it is empty. */
void cr_signals_folder(const char *path);
/* Whether a progress bar is on the terminal, with the cursor at its start. It
 * is erased when the process ends at once or is suspended. */
void cr_signals_bar(bool shown);
/* Seconds for which TSTP has suspended the process so far. */
double cr_signals_suspended(void);
/* USR1 stops the run: with CR_STATUS_AGAIN at once while it is prepared. */
void cr_signals_usr1_stops(void);

/* SIGINT or SIGTERM if one came, else 0. */
int cr_signals_stop(void);
/* Whether a signal came that ends the run: INT, TERM, or USR1 that stops. */
bool cr_signals_end(void);
/* The same of what other processes do not know yet. */
bool cr_signals_noted_end(void);
/* Whether HUP, USR1 or USR2 came since the last call. */
bool cr_signals_hup(void);
bool cr_signals_usr1(void);
bool cr_signals_usr2(void);
/* Several processes that are to act alike: signals that come later are kept
 * apart. cr_signals_take moves those of this process to `all`;
 * cr_signals_give, after what all have is put together, makes them known to
 * the functions above. */
#define CR_SIGNALS 4
void cr_signals_share(void);
void cr_signals_take(int64_t all[CR_SIGNALS]);
void cr_signals_give(const int64_t all[CR_SIGNALS]);
/* Whether any signal is pending. */
bool cr_signals_any(void);

#endif
