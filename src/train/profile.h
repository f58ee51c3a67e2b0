/*
 * Time profiles: the cost of steps per cell, and the time of the phases of a
 * run, for the command bench and the flag --profile.
 */
#ifndef CR_TRAIN_PROFILE_H
#define CR_TRAIN_PROFILE_H

#include "base/name_map.h"
#include "base/str.h"
#include "graph/net.h"
#include "score/eval.h"

/* Total cost of the steps of one cell. */
struct cr_profile_row {
    const char *cell;       /* lives as long as the network */
    double seconds[2];      /* forward, backward with the update */
    double flops, bytes;
};

struct cr_profile_rows {
    struct cr_arena *arena; /* must be set */
    struct cr_profile_row *v;
    int n, cap;
    struct cr_name_map at;  /* number of a cell's row */
};

/* Adds the cost of a plan's steps since its clock was started by the first
 * call of cr_exec_costs. */
void cr_profile_rows_add(struct cr_profile_rows *parts, struct cr_exec *exec);
/* The sum of the seconds of all rows. */
double cr_profile_rows_seconds(const struct cr_profile_rows *parts);
/* Prints the table of costs per step, the totals divided by `steps`; `peak` is
 * the processor's in FLOP per second, 0 if not known. */
void cr_profile_rows_print(const struct cr_profile_rows *parts, double steps,
                           double peak);
/* The same as a JSON list. */
void cr_profile_rows_json(const struct cr_profile_rows *parts, double steps,
                          struct cr_buf *to);
/* The number of `threads` threads that run at the same time: one per core. */
int cr_profile_peak_threads(int threads);
/* Measures the processor's peak in FLOP per second with this number of threads
 * for `seconds`. */
double cr_profile_rows_peak(struct cr_arena *arena, int threads,
                            double seconds);

/* The phases of a run. */
enum cr_phase {
    CR_PHASE_DATA,          /* waits for a batch, or makes it */
    CR_PHASE_STEP,          /* forward, backward, and updates within */
    CR_PHASE_UPDATE,        /* updates apart from backward, and norms */
    CR_PHASE_EVAL,
    CR_PHASE_SAVE,          /* checkpoints */
    CR_PHASE_WATCH,
    CR_PHASE_TEXT,          /* section `sample` */
    CR_PHASE_COMMAND,       /* run.exec_on_eval */
    CR_PHASE_OTHER,         /* records, lines, signals */
    CR_PHASES
};

struct cr_profile {
    struct cr_profile_rows parts;
    enum cr_phase phase;
    double since;           /* cr_now() when it began */
    double seconds[CR_PHASES];
    int64_t steps;          /* of training, whose cells were timed */
};

/* Starts a phase and ends the previous one. */
void cr_profile_at(struct cr_profile *profile, enum cr_phase phase);
/* Appends the seconds of the phases as a JSON object. */
void cr_profile_phases(const struct cr_profile *profile, struct cr_buf *to);
/* Start the clocks of the plans; add their costs, before the plans are
 * freed. */
void cr_profile_start(const struct cr_plans *plans);
void cr_profile_add(struct cr_profile *profile, const struct cr_plans *plans);
/* Print the profile as two tables to standard output, or as the JSON object of
 * `"profile":`. */
void cr_profile_print(const struct cr_profile *profile);
void cr_profile_json(const struct cr_profile *profile, struct cr_buf *to);

#endif
