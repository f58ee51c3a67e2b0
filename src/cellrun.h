/*
 * cellrun.h: cells of your own in C, as a plug-in of cellrun.
 *
 * A plug-in is a shared object. It describes its cells in constant structs
 * and ends with CELLRUN_PLUGIN, which exports them; a config that names the
 * file can use them like any other cell:
 *
 *   plugin: ./scale.so
 *   network: [Flatten, {Scale: {start: 2}}, {Dense: {out_channels: 10}}]
 *
 *   cc -shared -fPIC -O2 -o scale.so scale.c
 *
 * `cellrun plugin new Scale` writes a whole one with a Makefile and a test,
 * `cellrun plugin check scale.so` lists what a file contains. A plug-in is
 * code: it runs with all rights of whoever runs cellrun, as soon as a config
 * (or the config in a checkpoint) that names it is read, by any command.
 *
 * What a cell brings
 * - options: numbers, truths, texts and words of a list, which a config gives
 *   by name or in order; cellrun checks and explains them (`cellrun help
 *   Scale --plugin scale.so`).
 * - inputs and outputs: tensors, whole batches, but with CELLRUN_SAMPLES_APART.
 *   Dimension 0 is the samples of the batch as a rule; shapes are the logical
 *   ones, (N, C, H, W).
 * - parameters, which cellrun owns: it makes them, fills them, trains them,
 *   saves and loads them, under the path of the cell in the network.
 * - shape: returns the shapes of the outputs and of the parameters.
 * - forward: computes the outputs.
 * - bprop: computes the gradients of what was forward's input.
 *
 * Arrays are of cellrun_real: float, or double with CELLRUN_DOUBLE defined
 * before this header. They are dense and row-major: the last index runs
 * fastest. Where cellrun computes in the other type (make REAL=double) it
 * converts every array before and after a call. All inputs are numbers
 * of that type, labels and indices too. Under low precision (amp, to_float)
 * the cell still computes in cellrun_real; its inputs and outputs are
 * rounded.
 *
 * Lifetimes: descriptions and the texts in them stay as they are until the
 * process ends. What a callback is given belongs to cellrun and is valid
 * during that call alone.
 *
 * What forward and bprop must keep to, since training, prediction, gradcheck
 * and resumed runs rely on it:
 * - They compute from what they are given, and remember nothing between
 *   calls: no statics, no clock, no rand(). Random numbers come from
 *   step->seed, which is a function of the run's seed, the cell's path, its
 *   call and the number of the update: equal in forward and in bprop of one
 *   update, and in a run that was interrupted and resumed.
 * - They write every element of their outputs, within the bounds of the
 *   shapes, and nothing else. Outputs are undefined when they are called.
 * - What can be wrong for a shape or an option, shape finds out. What only
 *   the values show (a matrix that has no inverse, a length beyond the
 *   sequence) they report in step->error: then nothing of the call counts, and
 *   the run ends with that message and exit status 1. A NaN in an output
 *   stops a training run too, which then names the cell.
 * - Sums go in one order, whatever the number of threads is.
 *
 * Threads: a callback runs in one thread at a time, unless its flag allows that
 * it may be split (below). It may be another thread each time.
 */
#ifndef CELLRUN_H
#define CELLRUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifdef CELLRUN_DOUBLE
typedef double cellrun_real;
#else
typedef float cellrun_real;
#endif

#define CELLRUN_MAGIC 0x6e757263u
#define CELLRUN_ABI 3          /* changes with every struct below; plug-ins
                                  of version 1, without step->error, and 2,
                                  without step->print, run */
#define CELLRUN_RANK_MAX 8     /* dimensions of a tensor */
#define CELLRUN_TENSORS_MAX 16 /* inputs and parameters together; outputs */
#define CELLRUN_ERROR_MAX 256  /* bytes of a message, with its end */

/* ---- Options */

enum cellrun_type {
    CELLRUN_INTEGER = 1, /* value.integer */
    CELLRUN_REAL,        /* value.real */
    CELLRUN_BOOL,        /* value.truth */
    CELLRUN_TEXT,        /* value.text; NULL: no default and not given */
    CELLRUN_CHOICE       /* value.choice: index in `choices`, from 0 */
};

/* One option. Omit or set to zero what does not apply. */
struct cellrun_option {
    const char *name;    /* a-z, 0-9, _; NULL ends the list */
    const char *doc;     /* a sentence */
    int type;            /* enum cellrun_type */
    bool required;       /* else the default holds where it is not given: */
    double number;       /* of INTEGER, REAL, and BOOL (0: false) */
    const char *text;    /* of TEXT, and CHOICE (NULL: the first word) */
    double low, high;    /* inclusive range of INTEGER and REAL; both 0: any */
    const char *choices; /* CHOICE: "mean|sum|none" */
};

/* Its value, in the order of the options. */
union cellrun_value {
    int64_t integer;
    double real;
    bool truth;
    int choice;
    const char *text;
};

/* ---- Tensors */

struct cellrun_shape {
    int rank;                      /* 0: a single number; < 0: absent */
    int64_t dim[CELLRUN_RANK_MAX]; /* each at least 1 */
};

/* Elements of a tensor. */
static inline int64_t cellrun_count(const struct cellrun_shape *shape)
{
    int64_t n = 1;
    int i;

    for (i = 0; i < shape->rank; i++)
        n *= shape->dim[i];
    return n;
}

enum cellrun_role {
    CELLRUN_TRAINED,  /* gets a gradient and updates */
    CELLRUN_FIXED,    /* is saved, and never changes */
    CELLRUN_STATISTIC /* is saved, and moved by forward while training */
};

struct cellrun_param {
    const char *name; /* as options; "weight" obeys the modifier init; NULL ends
                         the list */
    int role;         /* enum cellrun_role */
    const char *init; /* what it begins with, as in a config: "0.5",
                         "HeUniform", "{Uniform: {scale: 0.1}}"; NULL: 0 */
};

/* Element i of the random numbers of a seed: uniform in [0, 1), 53 bits
 * (SplitMix64, Steele et al., OOPSLA 2014). */
static inline double cellrun_random(uint64_t seed, uint64_t i)
{
    uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-53;
}

/* ---- Callbacks */

/*
 * Input and output of shape. It is called when a network is
 * built and planned, for each batch size and image size again, perhaps for
 * several of them at a time of the run when nothing is computed; so it must
 * be a function of what it is given.
 */
struct cellrun_plan {
    const union cellrun_value *option; /* in the order of cell->options */
    const struct cellrun_shape *input; /* in the order of cell->inputs */
    bool training;                     /* plans of evaluation: false */

    /* to be set */
    struct cellrun_shape *output; /* each is input[0]'s when it is called */
    struct cellrun_shape *param;  /* of each, in the order of cell->params:
                                     all of them must be set, independent of
                                     the batch size; rank -1: this cell does
                                     without it (has_bias: false) */
    size_t keep;                  /* bytes that bprop needs of forward's work */
    size_t scratch; /* bytes of scratch memory in forward and bprop */
    double macs;    /* multiply-adds of forward, for summary */
    char error[CELLRUN_ERROR_MAX]; /* what is wrong, where it returns not 0:
                                      "takes rank 4", no capital, no stop */
};

/* What forward and bprop are given. Every pointer to pointers is in the order
 * of the description; those marked so may hold NULL. */
struct cellrun_step {
    const union cellrun_value *option;
    const struct cellrun_shape *input, *output, *param;
    const cellrun_real *const *x; /* inputs */
    const cellrun_real *const *w; /* parameters; NULL: rank -1 */
    cellrun_real *const *y;       /* outputs: forward writes, bprop reads */
    /* bprop alone; in forward these three are NULL */
    const cellrun_real *const *dy; /* gradients of the outputs, zeros where
                                      none arrives; as long as y */
    cellrun_real *const *dx;       /* to be written: gradients of the inputs,
                                      each as long as its x; NULL: not
                                      requested */
    cellrun_real *const *dw;       /* the same of the parameters; NULL also
                                      for those that are frozen */
    /* Statistics, in forward alone: the same memory as w, to be written.
     * NULL: other parameters, and wherever they must stay as they are
     * (prediction). bprop sees them moved. */
    cellrun_real *const *moved;
    void *keep;       /* plan->keep bytes, aligned to 64: forward writes
                         them, bprop of the same update reads them */
    void *scratch;    /* plan->scratch bytes, aligned to 64, undefined */
    uint64_t seed;    /* for cellrun_random */
    bool training;    /* false in prediction: Dropout does nothing there */
    int64_t from, to; /* samples to do: those of 0 .. to - 1 from `from` on.
                         All of them, unless the cell may be split */
    char *error;      /* CELLRUN_ERROR_MAX bytes, empty when it is called. A
                         message left here reports that the cell has failed:
                         snprintf(step->error, CELLRUN_ERROR_MAX,
                                  "sample %d has no last step", i);
                         of several calls that were split, the message of
                         the first samples counts */
    /* Prints a text, and after it an array in the form of the shape, as
     * print(...) of a construct does: to standard error, or where run.print
     * directs it. `values` NULL: the text alone; `text` NULL: the array alone.
     *   step->print(step, "x is", step->x[0], &step->input[0]);
     * Never NULL; it does nothing if printing is off (gradcheck). */
    void (*print)(const struct cellrun_step *step, const char *text,
                  const cellrun_real *values,
                  const struct cellrun_shape *shape);
    const void *printer; /* cellrun's own */
};

/*
 * Splitting. With CELLRUN_SPLIT_FORWARD several threads may call forward at
 * once for one step, each for the samples from .. to - 1 (indices in dimension
 * 0 of input 0). A call writes only these samples of the outputs and reads
 * what it likes of the inputs; what it writes to keep and scratch, which all
 * calls share, must be separate too. Every output must have as many samples as
 * input 0, or nothing is split. CELLRUN_SPLIT_BPROP: the same for bprop and
 * dx, and every input must then have as many samples; it is not for cells
 * with trained parameters, whose gradients are sums over all samples. Cells
 * with statistics are not split in forward.
 *
 * With CELLRUN_SAMPLES_APART each process of mpirun calls the cell with some
 * samples of the batch, dimension 0 of inputs and outputs, instead of with all
 * of them. So what is computed for a sample must follow from this sample, from
 * parameters and from inputs that are the same for all samples; not from the
 * number of samples, nor from step->seed. The gradient of a parameter must be a
 * sum over samples, and is added up over the processes. Process 0 prints what
 * it has computed itself, and messages count a process's own samples. Not for
 * cells with statistics.
 */
enum cellrun_flags {
    CELLRUN_SPLIT_FORWARD = 1,
    CELLRUN_SPLIT_BPROP = 2,
    CELLRUN_SAMPLES_APART = 4
};

/* ---- Descriptions */

struct cellrun_cell {
    const char *name;    /* "Scale": A-Z first, then letters, digits, _;
                            not the name of a built-in cell */
    const char *summary; /* one sentence, for help */
    const char *detail;  /* formula, shapes; NULL: none */
    const struct cellrun_option *options; /* NULL: none */
    const char *const *inputs; /* their names, NULL after the last, for
                                  keywords in construct; NULL: one, x */
    int outputs;               /* how many; 0: one */
    const struct cellrun_param *params; /* NULL: none */
    unsigned flags;                     /* enum cellrun_flags */
    /* Returns 0, or else leaves a message in plan->error. NULL: every output
     * has the shape of input 0, and there are no parameters. */
    int (*shape)(struct cellrun_plan *plan);
    void (*forward)(const struct cellrun_step *step);
    /* NULL: no gradient passes; then no parameter may be CELLRUN_TRAINED. */
    void (*bprop)(const struct cellrun_step *step);
};

/* The symbol `cellrun_plugin`; cellrun refuses one whose numbers differ from
 * its own, and says which. The first two members never move. */
struct cellrun_plugin {
    uint32_t magic, abi;
    uint32_t plugin_size, cell_size, option_size, param_size;
    uint32_t plan_size, step_size, real_size;
    const struct cellrun_cell *const *cells; /* NULL after the last */
};

extern const struct cellrun_plugin cellrun_plugin;

/* Once, at the end: CELLRUN_PLUGIN(&scale, &shift); */
#define CELLRUN_PLUGIN(...)                                                  \
    static const struct cellrun_cell *const cellrun_cells[] = { __VA_ARGS__, \
                                                                NULL };      \
    const struct cellrun_plugin cellrun_plugin = {                           \
        CELLRUN_MAGIC,                                                       \
        CELLRUN_ABI,                                                         \
        (uint32_t)sizeof(struct cellrun_plugin),                             \
        (uint32_t)sizeof(struct cellrun_cell),                               \
        (uint32_t)sizeof(struct cellrun_option),                             \
        (uint32_t)sizeof(struct cellrun_param),                              \
        (uint32_t)sizeof(struct cellrun_plan),                               \
        (uint32_t)sizeof(struct cellrun_step),                               \
        (uint32_t)sizeof(cellrun_real),                                      \
        cellrun_cells                                                        \
    }

#ifdef __cplusplus
}
#endif

#endif
