/*
 * Any bytes as a checkpoint of MindSpore's. A file that ends with a checksum
 * is tried a second time with the right one, or nothing before it would ever
 * be reached.
 */
#include <string.h>

#include "base/gz.h"
#include "fuzz_tensor_file.h"

enum {
    TAIL = 17
}; /* "crc_num" and 10 bytes, high byte first */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy;
    uint32_t crc;

    fuzz_store(data, size);
    if (size < TAIL || memcmp(data + size - TAIL, "crc_num", 7) != 0)
        return 0;
    copy = malloc(size);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    crc = cr_crc32(0, copy, size - TAIL);
    memset(copy + size - 10, 0, 6);
    for (int i = 0; i < 4; i++)
        copy[size - 1 - (size_t)i] = (uint8_t)(crc >> 8 * i);
    fuzz_store(copy, size);
    free(copy);
    return 0;
}
