#include "tensorboard/event_file.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "tensorboard/tensorboard.h"

uint32_t cr_crc32c(const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0x82F63B78) : 0);
    }
    return ~crc;
}

uint32_t cr_crc32c_masked(const void *bytes, size_t n)
{
    uint32_t crc = cr_crc32c(bytes, n);

    return (crc >> 15 | crc << 17) + UINT32_C(0xA282EAD8);
}

/* Puts the n low bytes of a number, the lowest first. */
static void event_file_number(char *to, uint64_t x, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (char)(x >> 8 * i & 0xff);
}

void cr_event_file_add(struct cr_event_file *file,
                       const struct cr_tb_event *event)
{
    struct cr_arena mem = { 0 };
    struct cr_buf record = { .arena = &mem };
    ProtobufCBinaryData payload = cr_tb_pack(&mem, &event->base);
    char head[12], tail[4];

    event_file_number(head, payload.len, 8);
    event_file_number(head + 8, cr_crc32c_masked(head, 8), 4);
    event_file_number(tail, cr_crc32c_masked(payload.data, payload.len), 4);
    cr_buf_add(&record, head, sizeof head);
    cr_buf_add(&record, (const char *)payload.data, payload.len);
    cr_buf_add(&record, tail, sizeof tail);
    cr_append_file_add(&file->file, record.text, record.len);
    cr_arena_free(&mem);
}

/* The number in the name of the newest event file of the folder; -1: none. */
static int64_t event_file_newest(const char *folder)
{
    DIR *d = opendir(folder);
    struct dirent *e;
    int64_t newest = -1;

    while (d && (e = readdir(d)) != NULL)
        if (cr_starts(e->d_name, CR_EVENT_FILE)) {
            int64_t at = strtoll(e->d_name + strlen(CR_EVENT_FILE), NULL, 10);

            newest = at > newest && at < INT64_MAX ? at : newest;
        }
    if (d)
        closedir(d);
    return newest;
}

bool cr_event_file_open(struct cr_event_file *file, struct cr_arena *arena,
                        struct cr_diag *diag, const char *folder, double time)
{
    struct cr_tb_event first = CR_TB(event);
    int64_t after = event_file_newest(folder) + 1, now = (int64_t)time;
    const char *name = cr_strf(arena, CR_EVENT_FILE "%010" PRId64 ".cellrun",
                               now > after ? now : after);

    if (!cr_append_file_open(&file->file, diag,
                             cr_path_join(arena, folder, name)))
        return false;
    file->first = after == 0;
    first.wall_time = time;
    first.version = cr_tb_text("brain.Event:2");
    cr_event_file_add(file, &first);
    return true;
}
