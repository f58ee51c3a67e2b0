/*
 * The sections of a config that the training loop reads, as structs. The
 * option rows in section.c define and describe the keys.
 */
#ifndef CR_TRAIN_SECTION_H
#define CR_TRAIN_SECTION_H

#include "conf/config.h"

enum cr_mode { CR_MODE_AUTO, CR_MODE_MIN, CR_MODE_MAX };

struct cr_seed_section {
    int64_t seed;
};

enum cr_nan { CR_NAN_STOP, CR_NAN_SKIP, CR_NAN_FALLBACK };

enum cr_train_batch_norm { CR_BATCH_NORM_GLOBAL, CR_BATCH_NORM_LOCAL };

enum cr_train_shard { CR_SHARD_NONE, CR_SHARD_OPTIMIZER, CR_SHARD_GRADIENTS };

enum cr_train_reduce { CR_REDUCE_FLOAT32, CR_REDUCE_BF16 };

struct cr_train_section {
    int64_t epochs, steps;          /* CR_INT_NONE: not given */
    struct {
        const char *monitor;        /* NULL: no early stopping */
        int mode;                   /* enum cr_mode */
        int64_t patience;
        double min_delta;
    } early_stop;
    int nan;                        /* enum cr_nan */
    double nan_factor;
    int64_t nan_give_up_after;      /* CR_INT_NONE: as the policy has it */
    const struct cr_node *time_limit;
    struct cr_quantity stop_after;
    int64_t overfit_batches;        /* CR_INT_NONE: all */
    struct cr_quantity limit;
    int64_t grad_accumulation;
    int shard;                      /* enum cr_train_shard */
    int reduce_dtype;               /* enum cr_train_reduce */
    int batch_norm;                 /* enum cr_train_batch_norm */
    struct {
        double norm, value; /* NaN: no clipping */
        double tensor_norm;
    } clip;
    struct {
        double eta, gamma;          /* eta 0: no noise */
    } grad_noise;
    struct {
        double decay; /* 0: no EMA */
    } ema;
};

struct cr_eval_section {
    struct cr_quantity every;
    bool first;
    int64_t max_batches;            /* CR_INT_NONE: all */
    int64_t batch_size;             /* CR_INT_NONE: the datapipe's */
    bool use_ema;
};

enum cr_on_save_error { CR_SAVE_CONTINUE, CR_SAVE_ABORT };

struct cr_checkpoint_section {
    struct cr_quantity every;
    int64_t keep_checkpoint_max;
    struct {
        const char *metric;         /* NULL: the first that is not loss */
        int mode;                   /* enum cr_mode */
    } best;
    bool weights_only;
    int dtype;                      /* CR_SAVED_DTYPES */
    int on_save_error;              /* enum cr_on_save_error */
};

struct cr_log_section {
    struct cr_quantity every;
    bool grad_norm, report, tensorboard, csv;
    struct cr_quantity histograms; /* CR_UNIT_NONE: off */
    struct {
        int64_t wrong;
    } images;
};

enum cr_on_usr1 { CR_USR1_SAVE, CR_USR1_STOP };

enum cr_print_where { CR_PRINT_STDERR, CR_PRINT_LOG, CR_PRINT_OFF };

struct cr_run_section {
    const char *dir;                /* NULL: CELLRUN_RUNS, or "runs" */
    const char *name;               /* NULL: the config's */
    const char *threads;            /* "auto" or a number */
    bool pin;
    int on_usr1;                    /* enum cr_on_usr1 */
    const char *exec_on_eval;       /* NULL: nothing */
    bool eager;                     /* cr_plans_eager reads it */
    int print;                      /* enum cr_print_where */
};

struct cr_predict_section {
    struct cr_strs labels;
};

/* The run's seed. Default: 1. False after reporting. */
bool cr_seed_read(struct cr_config *config, uint64_t *seed);

/* Starts the thread pool. The number of threads comes from the flag (0: not
 * set), `run.threads`, CELLRUN_THREADS, SLURM_CPUS_PER_TASK or the processors
 * available to the process, in this order. False after reporting. */
bool cr_threads_start(struct cr_config *config, int flag);

/* Reads the section `train`; false after reporting, also if neither epochs nor
 * steps are set, or both in one file. */
bool cr_train_read(struct cr_config *config, struct cr_train_section *to);

/* Seconds that `train.time_limit` leaves (auto: until SLURM_JOB_END_TIME,
 * less a minute for the last checkpoint); 0: no limit. */
bool cr_time_limit_read(struct cr_config *config,
                        const struct cr_train_section *train,
                        double *seconds);

#endif
