/*
 * Speed of a network on this machine: what the command bench measures. Data are
 * random: only steps are timed. steps.c makes a plan with its data and runs it;
 * the command itself times the steps of one process and their cells, kernels.c
 * each kernel, processes.c the processes of mpirun.
 *
 * Called by the command bench. Knows nothing of data sets and of run
 * directories.
 *
 * Includes: base conf kernels model mpi num train.
 */
#ifndef CR_BENCH_BENCH_H
#define CR_BENCH_BENCH_H

#include "conf/command_line.h"
#include "model/model.h"
#include "train/profile.h"
#include "train/section.h"

struct cr_bench {
    struct cr_ints batch;
    int64_t warmup, repeat;
    bool kernels, mpi;
};

#define CR_BENCH_ROUND 0.1 /* seconds of one measurement */
#define CR_BENCH_THREADS 2 /* maximum number of thread counts to measure */

/* How a training step treats gradients. */
struct cr_bench_train {
    struct cr_train_section section;
    bool separate; /* separate from updates: cr_plans_need_gradients */
    bool norm;     /* computed in every step, for records */
};

struct cr_bench_result {
    const char *mode;
    int64_t batch;
    int threads;
    double seconds;  /* per step, the median */
    double flops;    /* per step */
    double peak;     /* FLOP per second of the processor; 0: unknown */
    double fraction; /* of the peak; negative: unknown */
};

struct cr_bench_job {
    struct cr_cli *cli;
    const struct cr_bench *o;
    struct cr_model model;
    void **data; /* per column */
    int threads[CR_BENCH_THREADS], n_threads;
    struct cr_bench_result *results;
    int n;
    struct cr_profile_rows parts; /* cells of the last mode timed by cell */
    double parts_steps;
    double whole; /* seconds of a step without timing its cells */
    double parts_peak;
};

/* Columns of random numbers for a batch; integers are 0 until a plan
 * gives their range. */
void cr_bench_data(struct cr_bench_job *j, int64_t batch);
/* A plan for training or prediction, fed; shared: by the processes of mpirun.
 * NULL after reporting. */
struct cr_exec *cr_bench_plan(struct cr_bench_job *j, bool train, bool shared,
                              int64_t batch, struct cr_bench_train *how);
/* n steps; `train` NULL: forward passes only. Clipping and noise are part of a
 * step; loss scaling takes no extra time. False: a gradient or index is wrong,
 * which is reported to diag, if that is not NULL, as training does; else see
 * cr_exec_check_faults. */
bool cr_bench_steps(struct cr_exec *e, const struct cr_bench_train *train,
                    int64_t n, struct cr_diag *diag);

/* Each kernel that can compute a step of the plan. False after reporting. */
bool cr_bench_kernels(struct cr_bench_job *j);
/* A step over the processes of mpirun, and what is expected of more; reports
 * errors. */
void cr_bench_processes(struct cr_bench_job *j);

#endif
