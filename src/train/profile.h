/*
 * What steps cost, cell by cell, and what else a run spends its time on:
 * the command bench, and the flag --profile.
 */
#ifndef CR_TRAIN_PROFILE_H
#define CR_TRAIN_PROFILE_H

#include "base/str.h"
#include "net/net.h"
#include "train/eval.h"

/* What the steps of one cell have cost in all. */
struct cr_profile_row {
    const char *cell;       /* lives as long as the network */
    double seconds[2];      /* forward, backward with the update */
    double flops, bytes;
};

struct cr_profile_rows {
    struct cr_arena *arena; /* must be set */
    struct cr_profile_row *v;
    int n, cap;
};

/* Adds what the steps of a plan have cost since its clock was started, which
 * is when cr_exec_costs was called first. */
void cr_profile_rows_add(struct cr_profile_rows *parts, struct cr_exec *exec);
/* Seconds of all of them. */
double cr_profile_rows_seconds(const struct cr_profile_rows *parts);
/* The table, per step, of so many steps; `peak` of the processor in FLOP per
 * second, 0: not known. */
void cr_profile_rows_print(const struct cr_profile_rows *parts, double steps,
                           double peak);
/* The same as a JSON list. */
void cr_profile_rows_json(const struct cr_profile_rows *parts, double steps,
                          struct cr_buf *to);
/* The processor's peak on so many threads, measured for so long. */
double cr_profile_rows_peak(struct cr_arena *arena, int threads,
                            double seconds);

/* What a run may be at. */
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

/* From now on the run is at this. */
void cr_profile_at(struct cr_profile *profile, enum cr_phase phase);
/* The clocks of these plans: begin, and, before they are freed, add. */
void cr_profile_start(const struct cr_plans *plans);
void cr_profile_add(struct cr_profile *profile, const struct cr_plans *plans);
/* What came out: two tables on stdout, or the object of `"profile":`. */
void cr_profile_print(const struct cr_profile *profile);
void cr_profile_json(const struct cr_profile *profile, struct cr_buf *to);

#endif
