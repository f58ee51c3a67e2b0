/*
 * Signals while training: handlers set a flag and nothing else, except that
 * a second INT or TERM ends the process at once.
 *
 * INT, TERM: finish the step, save, end with 130 or 143. HUP: save and go on.
 * USR1: as `run.on_usr1` says. USR2: print a status line, read `log.every`
 * again. The flags are static because a handler can see nothing else.
 */
#ifndef CR_TRAIN_SIGNALS_H
#define CR_TRAIN_SIGNALS_H

#include <stdbool.h>

void cr_signals_start(void);

/* SIGINT or SIGTERM if one came, else 0. */
int cr_signals_stop(void);
/* Whether HUP, USR1 or USR2 came since the last call. */
bool cr_signals_hup(void);
bool cr_signals_usr1(void);
bool cr_signals_usr2(void);
/* Whether any signal waits to be looked at. */
bool cr_signals_any(void);

#endif
