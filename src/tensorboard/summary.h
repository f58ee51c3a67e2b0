/*
 * Kinds of summaries, one file each. Private to src/tensorboard.
 */
#ifndef CR_TENSORBOARD_SUMMARY_H
#define CR_TENSORBOARD_SUMMARY_H

#include "base/str.h"
#include "conf/config.h"
#include "tensorboard/event_file.h"
#include "tensorboard/tensorboard.h"

struct cr_tensorboard {
    struct cr_event_file file;
    bool fixed;       /* SOURCE_DATE_EPOCH is set: all times are `time`, */
    double time;      /* and no rates are written; else the time of opening */
    bool first_shown; /* the first training samples are written */
};

/* A record that is being added. */
struct cr_tb_record {
    struct cr_arena *arena; /* freed after the record */
    double time;
    int64_t step;
    const char *split;
    const struct cr_node *json;
};

/* The present time, or the fixed one. */
double cr_tb_time(const struct cr_tensorboard *tb);

/* Adds an event with one summary: a tensor for a plugin of TensorBoard. */
void cr_tb_put(struct cr_tensorboard *tb, const struct cr_tb_record *at,
               const char *tag, const struct cr_tb_metadata *metadata,
               const struct cr_tb_tensor *tensor);
/* The shape of a tensor, in the arena. */
struct cr_tb_shape *cr_tb_shape_of(struct cr_arena *arena, int rank,
                                   const int64_t *dim);

/* scalars.c: the numbers of a record, tags SPLIT/NAME. */
void cr_tb_scalars(struct cr_tensorboard *tb, const struct cr_tb_record *r,
                   const char *prefix);
/* histograms.c: a record of the section watch. */
void cr_tb_histogram(struct cr_tensorboard *tb, const struct cr_tb_record *r);
/* text.c: a text, shown as it is, or as Markdown. */
void cr_tb_verbatim(struct cr_tensorboard *tb, const struct cr_tb_record *at,
                    const char *name, const char *text);
void cr_tb_markdown(struct cr_tensorboard *tb, const struct cr_tb_record *at,
                    const char *name, const char *text);
/* images.c: the samples of a list of samples.json, with a table of what is
 * known about them. */
void cr_tb_images(struct cr_tensorboard *tb, const struct cr_tb_record *at,
                  const char *name, const struct cr_node *samples);
/* graph.c: the network. */
void cr_tb_graph_put(struct cr_tensorboard *tb, struct cr_arena *arena,
                     struct cr_net *net);
/* hparams.c: the settings of the run, and its end. */
void cr_tb_settings(struct cr_tensorboard *tb, const struct cr_tb_record *at,
                    const struct cr_node *config);
void cr_tb_ended(struct cr_tensorboard *tb, const struct cr_tb_record *at,
                 bool success);

#endif
