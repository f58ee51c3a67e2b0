/*
 * Texts for help and the manual: tables of exit codes and keywords, option rows
 * as text, and parts of the manual in mdoc(7).
 */
#ifndef CR_CONF_HELP_TABLES_H
#define CR_CONF_HELP_TABLES_H

#include "base/str.h"
#include "conf/opt.h"

/* A keyword that is not a section, type or key: base, when, bprop. */
struct cr_doc_entry {
    const char *name, *text;
};
extern const struct cr_doc_entry cr_keywords[]; /* ends with a NULL name */

struct cr_status {
    const char *code, *text;
};
extern const struct cr_status cr_statuses[]; /* ends with a NULL code */

/* "cells", "datasets": the name of the list of a kind in help. */
const char *cr_kind_plural(enum cr_kind kind);

/* "a number of at least 0, default 0.9", "text, required", "text". */
const char *cr_opt_facts(struct cr_arena *arena, const struct cr_opt *row);

/* A command's row as a flag: "--run-dir"; and its value: "DIR", "[=N]", "". */
const char *cr_flag_name(struct cr_arena *arena, const struct cr_opt *row);
const char *cr_flag_value(struct cr_arena *arena, const struct cr_opt *row);

/* Appends an item of a tagged list in mdoc, with an anchor. */
void cr_manual_item(struct cr_buf *buf, const char *anchor, const char *head,
                    const char *text);

/* Appends one part of the manual in mdoc: "flags", "sections", "cells" ...,
 * "codes", "environment", "exit", the list of commands, or the page of one
 * command without its date, "cellrun-train". False if there is no such part. */
bool cr_manual(struct cr_buf *buf, const char *part);

#endif
