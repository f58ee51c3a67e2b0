/*
 * Sweeps: many runs of one config that differ in some settings.
 *
 * A point is a set of assignments. Its run directory is DIR/ID, where ID
 * identifies the resolved config, so that equal points are one run. What is
 * done, running and failed is read from the run directories: any number of
 * processes, on any number of machines that share the folder, work on a sweep
 * without a server.
 *
 *   section.c  the section `sweep` of a config
 *   space.c    the parameters, and assignments with several values
 *   points.c   enumeration and identity of points
 *   ids.c      their names
 *   check.c    errors of their values, before anything runs
 *   state.c    states of points; claims
 *   run.c      local processes
 *   auto_jobs.c  their number, measured
 *   table.c    sweep.tsv and the table of --status
 *   launch.c   lines and scripts for GNU parallel and Slurm
 *   rungs.c    budgets of points that are compared before they are complete
 *   parzen.c   density estimates of the method tpe
 *   grid.c random.c list.c halving.c asha.c tpe.c   the methods
 *
 * Called by the command sweep. Knows nothing of what a run computes.
 *
 * Includes: base ckpt conf console num rundir score train.
 */
#ifndef CR_SWEEP_SWEEP_H
#define CR_SWEEP_SWEEP_H

#include "conf/command_line.h"
#include "sweep/parzen.h"

#define CR_SWEEP_TABLE "sweep.tsv"
#define CR_SWEEP_CLAIMS ".sweep"
#define CR_SWEEP_POINTS_MAX 1000000

enum cr_sweep_distribution {
    CR_DIST_NONE, /* a list of values */
    CR_DIST_UNIFORM,
    CR_DIST_LOG_UNIFORM,
    CR_DIST_INT_UNIFORM,
    CR_DIST_INT_LOG_UNIFORM
};

enum cr_sweep_goal {
    CR_GOAL_AUTO,
    CR_GOAL_MAXIMIZE,
    CR_GOAL_MINIMIZE
};

enum cr_sweep_unit {
    CR_RUNG_EPOCHS,
    CR_RUNG_STEPS
};

/* The section `sweep`. */
struct cr_sweep_section {
    int method; /* index in cr_sweep_methods */
    int64_t count;
    int64_t seed;
    struct cr_sweep_metric {
        const char *name; /* NULL: the one that selects the best checkpoint */
        int goal;         /* enum cr_sweep_goal */
    } metric;
    struct cr_sweep_halving {
        int unit;         /* enum cr_sweep_unit of min and max */
        int64_t min, max; /* CR_INT_NONE: the length of the config */
        int64_t eta;
    } halving;
    struct cr_tpe_opts tpe;
    const struct cr_node *parameters, *together;
    const char *points;
    const struct cr_node *where;
};

/* One parameter, or several whose values change together. */
struct cr_sweep_axis {
    int column, n_columns; /* of struct cr_sweep */
    int n;                 /* choices */
    const char **choice;   /* n * n_columns texts; NULL: not set */
    enum cr_sweep_distribution distribution;
    double min, max;
};

enum cr_sweep_state {
    CR_POINT_WAITING,     /* not started */
    CR_POINT_INTERRUPTED, /* can be resumed */
    CR_POINT_RUNNING,     /* a living process works on it */
    CR_POINT_STOPPED,     /* saved at a rung; others were better */
    CR_POINT_DONE,
    CR_POINT_FAILED
};

struct cr_sweep_point {
    const char **value;      /* of each column; NULL: not set */
    const char *const *sets; /* assignments that make the point, NULL-ended */
    const char *id, *dir;
    int64_t epochs, steps; /* length of the run; CR_INT_NONE: not set */
    enum cr_sweep_state state;
    bool mine;    /* this process holds the claim */
    int attempts; /* starts by this process */
    int exit;     /* -1: none yet */
    double metric, seconds;
    int64_t best_step; /* 0: none */
    const char *error; /* NULL: none */
    /* Methods with rungs: the rung that it is trained to; the number of rungs
     * that it has passed, and the metric at each of them. */
    int target, passed;
    double *at_rung;
    int64_t length; /* of the run so far, in the unit of the rungs */
    bool evaluated; /* at that length, as far as the config has it evaluated;
                       a run that was killed may not be */
};

/* The ids of the points so far; private to ids.c. */
struct cr_sweep_ids {
    size_t n, cap;
    uint64_t *number; /* 0: free */
};

struct cr_sweep {
    struct cr_cli *cli;
    struct cr_arena *arena;
    struct cr_diag *diag;
    struct cr_sweep_section opts;
    const struct cr_config *config; /* without parameters */
    const struct cr_sweep_method *method;
    const char *dir;
    const char *const *fixed; /* assignments of all points */
    const int *fixed_args;
    int n_columns, cap_columns;
    const char **column; /* keys that vary */
    int *column_arg;     /* argument of the command line; 0: none */
    int n_axes, cap_axes;
    struct cr_sweep_axis *axis;
    int64_t n, cap;
    struct cr_sweep_point *point;
    struct cr_sweep_ids ids;
    const char *metric; /* name of the metric in the table */
    bool metric_found;  /* it is that of the first point with a result */
    bool retry_failed;
    bool best_maximize; /* direction of the metric in the records of runs */
    int64_t epochs, steps; /* of the config; CR_INT_NONE: not set */
    int64_t next;   /* first candidate that was not looked at */
    int64_t misses; /* candidates since the last that became a point */
    bool counted; /* the sweep ends after opts.count points, not after the last
                     candidate */
    int n_rungs;  /* 0: points are trained to their end at once */
    int64_t *rung; /* lengths, in the unit of opts.halving */
};

/* A method: which candidates there are. */
struct cr_sweep_method {
    const char *name;
    /* Checks the settings. False after reporting. NULL: nothing to check. */
    bool (*check)(struct cr_sweep *sweep);
    /* Sets the value of each column of candidate k, a function of k and of the
     * settings alone. False: there is none, or after reporting. */
    bool (*candidate)(struct cr_sweep *sweep, int64_t k, const char **value);
    /* With rungs: sets the target of each point from the results so far.
     * NULL: points do not depend on each other. */
    void (*promote)(struct cr_sweep *sweep);
    /* Computes candidate k from the results so far and stores it, unless a
     * process has stored it before; `candidate` then finds it. False after
     * reporting. NULL: candidates do not depend on results. */
    bool (*suggest)(struct cr_sweep *sweep, int64_t k);
};
/* Reports a method whose points are all combinations of lists of values, if
 * there are too many. */
bool cr_sweep_grid_check(struct cr_sweep *sweep);
extern const struct cr_sweep_method *const cr_sweep_methods[];
extern const struct cr_sweep_method cr_sweep_grid, cr_sweep_random,
    cr_sweep_list, cr_sweep_halving, cr_sweep_asha, cr_sweep_tpe;

/* ---- space.c */

/* Adds a column. Returns its index. */
int cr_sweep_column(struct cr_sweep *sweep, const char *key, int arg);
/* Splits the assignments of the command line into those of all points and axes
 * (several values between commas, or range(a,b)). Returns whether there are
 * axes; false also after reporting. */
bool cr_sweep_split_sets(struct cr_sweep *sweep);
/* Adds the axes of sweep.parameters and sweep.together. False after
 * reporting. */
bool cr_sweep_read_space(struct cr_sweep *sweep);
/* The text of a number of a distribution: an integer, or a number rounded to
 * six digits unless the range is so narrow that values would become equal. */
const char *cr_sweep_number_text(struct cr_arena *arena,
                                 const struct cr_sweep_axis *axis,
                                 double value);

/* ---- rungs.c */

/* For the methods with rungs: reads the rungs from opts.halving, and takes the
 * candidates of grid, or of random if a parameter has a distribution. False
 * after reporting. */
bool cr_sweep_rungs_check(struct cr_sweep *sweep);
bool cr_sweep_rungs_candidate(struct cr_sweep *sweep, int64_t k,
                              const char **value);
/* Reports a point whose length, in the unit of the rungs, is not that of the
 * last rung. */
bool cr_sweep_rungs_check_length(struct cr_sweep *sweep, int64_t epochs,
                                 int64_t steps);
/* Reads the metric at each rung that the point has passed from its run
 * directory; point->length is set. */
void cr_sweep_rungs_read(struct cr_sweep *sweep, struct cr_sweep_point *point);
/* "epochs" or "steps". */
const char *cr_sweep_rungs_unit(const struct cr_sweep *sweep);
/* Sets the state of a point that is not complete: stopped if it has passed its
 * target, else interrupted. */
void cr_sweep_rungs_settle(const struct cr_sweep *sweep,
                           struct cr_sweep_point *point);
/* After a change of states: promotes points, and opens those that are stopped
 * below their target. */
void cr_sweep_rungs_promote(struct cr_sweep *sweep);
/* Whether the point has passed the rung or failed on the way there. */
bool cr_sweep_rungs_has_result(const struct cr_sweep_point *point, int rung);
/* Sorts a list of n points by their metric at that rung, best first; equal ones
 * by index, failed ones last. */
void cr_sweep_rungs_rank(struct cr_sweep *sweep, int rung, int64_t *list,
                         int64_t n);
/* The assignment that stops the run at its target; NULL: none. */
const char *cr_sweep_rungs_stop(struct cr_sweep *sweep,
                                const struct cr_sweep_point *point);

/* Whether larger values of the metric are better. */
bool cr_sweep_maximize(const struct cr_sweep *sweep);
/* Reports a metric of which this is not known. */
bool cr_sweep_check_goal(struct cr_sweep *sweep);

/* ---- ids.c */

/* The id of a new point by the hash of its config; NULL: an earlier point has
 * this hash. */
const char *cr_sweep_id(struct cr_sweep *sweep, uint64_t hash);

/* ---- points.c */

/* The integer at that path of a config; CR_INT_NONE: there is none. */
int64_t cr_sweep_length(const struct cr_config *config, const char *path);
/* Enumerates the points: candidates that meet `where`, without those that equal
 * an earlier one. False after reporting. */
bool cr_sweep_points(struct cr_sweep *sweep);
/* Whether the sweep has room for further points. */
bool cr_sweep_wants_points(const struct cr_sweep *sweep);
/* Adds the points that other processes have stored since. False after
 * reporting. */
bool cr_sweep_more_points(struct cr_sweep *sweep);
/* Adds a point that the method suggests. False: it has no more, or after
 * reporting. */
bool cr_sweep_ask(struct cr_sweep *sweep);

/* ---- check.c */

/* Whether the point is to be run: it is not done, running or, unless
 * --retry-failed is set, failed. */
bool cr_sweep_is_due(const struct cr_sweep *sweep,
                     const struct cr_sweep_point *point);
/* Checks the values of the points that are due. False after reporting. */
bool cr_sweep_check(struct cr_sweep *sweep);

/* ---- state.c */

/* Reads the state of a point from its run directory. */
void cr_sweep_refresh(struct cr_sweep *sweep, struct cr_sweep_point *point);
/* The same for all points that are not done. */
void cr_sweep_refresh_all(struct cr_sweep *sweep);
/* Takes the metric of the first point, in their order, if the config names none
 * and points have different ones: the table is the same whoever came first. */
void cr_sweep_find_metric(struct cr_sweep *sweep);
/* Claims a point for a process: a descriptor whose kernel lock the process and
 * its children hold until they end. -1: another process holds it. */
int cr_sweep_claim(struct cr_sweep *sweep, const struct cr_sweep_point *point);
/* Notes in the claimed file that the run failed without a record; status 0: it
 * has not. False after reporting. */
bool cr_sweep_note_failure(struct cr_sweep *sweep,
                           const struct cr_sweep_point *point, int claim,
                           int status, const char *error);
const char *cr_sweep_state_name(enum cr_sweep_state state);

/* ---- run.c */

enum {
    CR_STATUS_SOME_FAILED = 7
}; /* the table lists the points */

struct cr_sweep_run {
    int jobs, threads; /* processes at once; the flag --threads of each; 0:
                          none */
    int threads_set;   /* by the user, also in the config or environment */
    bool fail_fast;
};
/* Runs the points that no other process runs, until all are done. Returns the
 * exit status. */
int cr_sweep_run(struct cr_sweep *sweep, const struct cr_sweep_run *run);
/* Sets jobs and, if it is 0, threads by a measurement of a second or two, and
 * prints them. Returns the signal that ended it, INT or TERM; 0: none. */
int cr_sweep_auto_jobs(struct cr_sweep *sweep, struct cr_sweep_run *run);
/* The arguments of `cellrun train` for a point, NULL-ended. */
char **cr_sweep_argv(struct cr_sweep *sweep, const struct cr_sweep_point *point,
                     int threads);

/* ---- table.c */

/* Writes sweep.tsv. False after reporting. */
bool cr_sweep_write_table(struct cr_sweep *sweep);
/* Prints the table for people, and a line with the number of points in each
 * state. */
void cr_sweep_print_table(struct cr_sweep *sweep, FILE *to);
/* Prints the points as a JSON array of objects. */
void cr_sweep_print_json(struct cr_sweep *sweep, FILE *to);

/* ---- launch.c */

/* Prints a command per point. */
void cr_sweep_print_commands(struct cr_sweep *sweep);
/* Prints a job script for Slurm that runs the points as an array. */
void cr_sweep_print_slurm(struct cr_sweep *sweep);
/* Replaces this process by the run of a point. Returns the exit status if that
 * fails or the point is done. */
int cr_sweep_exec(struct cr_sweep *sweep, int64_t index);

#endif
