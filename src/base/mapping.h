/*
 * Files mapped for reading: pages are read when they are accessed, and
 * processes share them.
 *
 * If another process truncates such a file, reading a lost page raises SIGBUS.
 * The handler maps zeros in its place and marks the mapping as damaged, so that
 * the thread continues and no state is partially updated; users call
 * cr_mapping_check before they rely on the data. A signal for any other address
 * ends the process.
 */
#ifndef CR_BASE_MAPPING_H
#define CR_BASE_MAPPING_H

#include "base/diag.h"

#include <signal.h>

struct cr_mapping;

/* Maps `size` > 0 bytes of the file; the descriptor may be closed afterwards.
 * NULL: errno has the reason. Thread safe, as all of this. */
struct cr_mapping *cr_mapping_open(int fd, size_t size, const char *path);
const unsigned char *cr_mapping_bytes(const struct cr_mapping *mapping);
void cr_mapping_close(struct cr_mapping *mapping);

/* False after reporting that a page of a mapped file was lost. Includes closed
 * mappings. */
bool cr_mapping_check(struct cr_diag *diag);
/* The same, and compares the sizes of open files with those at the start: a
 * truncation within the last page raises no signal. */
bool cr_mapping_check_sizes(struct cr_diag *diag);

/* Fills *set with all signals that a thread may block: not the one that a
 * page of a mapping raises, which would kill the process if it were blocked. */
void cr_signals_blockable(sigset_t *set);

#endif
