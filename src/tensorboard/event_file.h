/*
 * A file of TensorBoard events: TFRecords, each of which is
 *
 *   length of the payload (uint64), masked CRC-32C of these 8 bytes (uint32),
 *   payload, masked CRC-32C of the payload (uint32), all little-endian.
 *
 * Readers follow a file while it is written, and give it up at a wrong
 * checksum. So records are written whole, and each process of a run writes a
 * file of its own: the record that a killed one left incomplete stays the last
 * of its file.
 */
#ifndef CR_TENSORBOARD_EVENT_FILE_H
#define CR_TENSORBOARD_EVENT_FILE_H

#include "base/append_file.h"
#include "tensorboard/message.h"

struct cr_event_file {
    struct cr_append_file file;
    bool first; /* the folder had no event file */
};

/* Opens a new file in the folder, with a name after those of all others there,
 * and writes the version. `time`: seconds since 1970. False after reporting. */
bool cr_event_file_open(struct cr_event_file *file, struct cr_arena *arena,
                        struct cr_diag *diag, const char *folder, double time);
void cr_event_file_add(struct cr_event_file *file,
                       const struct cr_tb_event *event);
/* CRC-32C (Castagnoli) of the bytes, and masked as TFRecords have it. */
uint32_t cr_crc32c(const void *bytes, size_t n);
uint32_t cr_crc32c_masked(const void *bytes, size_t n);

#endif
