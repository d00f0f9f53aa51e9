/* Archives of stored entries (APPNOTE.TXT 4.3).  SPDX-License-Identifier: Apache-2.0 */
#include "tests/fuzz/case/stored_zip.h"

#include <string.h>

enum { LOCAL_BYTES = 30, RECORD_BYTES = 46, END_BYTES = 22 };

static void put16(uint8_t *at, size_t value) {
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static void put32(uint8_t *at, size_t value) {
    put16(at, value & 0xffff);
    put16(at + 2, value >> 16);
}

void ig_stored_zip_begin(ig_stored_zip *zip) {
    zip->size = zip->directory_size = zip->count = 0;
}

static bool has_room(const ig_stored_zip *zip, size_t name, size_t size) {
    size_t record = zip->directory_size + RECORD_BYTES + name;
    return name < UINT16_MAX && record <= sizeof zip->directory &&
           size <= sizeof zip->bytes &&
           zip->size + LOCAL_BYTES + name + size + record + END_BYTES <=
               sizeof zip->bytes;
}

/* Stored, with the checksum 0 that says it was not computed. */
void ig_stored_zip_add(ig_stored_zip *zip, ig_str name, const void *data, size_t size) {
    if (!has_room(zip, name.size, size)) {
        return;
    }
    uint8_t *local = zip->bytes + zip->size;
    uint8_t *record = zip->directory + zip->directory_size;
    memcpy(local, "PK\3\4\x14\0\0\0\0\0\0\0\x21\0", 14);
    memset(local + 14, 0, 16);
    put32(local + 18, size);
    put32(local + 22, size);
    put16(local + 26, name.size);
    memcpy(record, "PK\1\2\x14\0", 6);
    memcpy(record + 6, local + 4, 26);
    memset(record + 32, 0, 14);
    put32(record + 42, zip->size);
    memcpy(record + RECORD_BYTES, name.data, name.size);
    memcpy(local + LOCAL_BYTES, name.data, name.size);
    memcpy(local + LOCAL_BYTES + name.size, data, size);
    zip->size += LOCAL_BYTES + name.size + size;
    zip->directory_size += RECORD_BYTES + name.size;
    zip->count++;
}

ig_str ig_stored_zip_end(ig_stored_zip *zip) {
    uint8_t *end = zip->bytes + zip->size + zip->directory_size;
    memcpy(zip->bytes + zip->size, zip->directory, zip->directory_size);
    memset(end, 0, END_BYTES);
    memcpy(end, "PK\5\6", 4);
    put16(end + 8, zip->count);
    put16(end + 10, zip->count);
    put32(end + 12, zip->directory_size);
    put32(end + 16, zip->size);
    return (ig_str){ (const char *)zip->bytes,
                     zip->size + zip->directory_size + END_BYTES };
}
