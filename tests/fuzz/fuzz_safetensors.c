/*
 * Any bytes as a checkpoint, safetensors or NPZ file: opened, verified, every
 * tensor read. A file that begins as ours does is tried a second time with
 * the checksum of its header corrected, or nothing after that would ever be
 * reached.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/gz.h"
#include "fuzz_tensor_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t head, at = CR_ST_CRC_AT;
    char digits[9];
    uint8_t *copy;

    fuzz_store(data, size);
    if (size < 80 || memcmp(data + 8, CR_ST_PREFIX, CR_ST_PREFIX_LEN) != 0)
        return 0;
    head = 8 + ((size_t)data[0] | (size_t)data[1] << 8);
    if (head > size || head < 80)
        return 0;
    copy = malloc(size);
    if (!copy)
        return 0;
    memcpy(copy, data, size);
    memset(copy + 2, 0, 6);
    memset(copy + at, '0', 8);
    snprintf(digits, sizeof digits, "%08" PRIx32, cr_crc32(0, copy, head));
    memcpy(copy + at, digits, 8);
    fuzz_store(copy, size);
    free(copy);
    return 0;
}
