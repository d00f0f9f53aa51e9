/* Reading an artifact's list of tables in stores.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/store/ahead/record.h"

#include <string.h>

static bool has_text(const ig_stored_record *record, uint32_t at) {
    size_t room = record->header.text_bytes;
    return at < room && memchr(record->texts + at, 0, room - at) != NULL;
}

static const char *check_tables(const ig_stored_record *record) {
    for (uint32_t i = 0; i < record->header.table_count; i++) {
        const ig_stored_table_record *table = &record->tables[i];
        if (table->rows < 0 || table->dim < 1 || table->dim > INT32_MAX ||
            !has_text(record, table->name) || !has_text(record, table->url)) {
            return "a table in its list of stores makes no sense";
        }
    }
    return NULL;
}

static const char *check_lookups(const ig_stored_record *record) {
    for (uint32_t i = 0; i < record->header.lookup_count; i++) {
        const ig_stored_lookup_record *lookup = &record->lookups[i];
        if (lookup->table >= record->header.table_count ||
            lookup->negative > IG_STORED_NEGATIVE_SKIP ||
            lookup->range > IG_STORED_RANGE_FIRST) {
            return "a look-up in its list of stores makes no sense";
        }
    }
    return NULL;
}

/* Do the programs have the inputs and outputs that the list speaks of? */
static const char *check_ports(const ig_program *rows, const ig_program *ids,
                               const ig_stored_record *record) {
    const ig_stored_header *header = &record->header;
    size_t inputs = header->input_count, tables = header->table_count;
    if (ig_program_input_count(ids) != inputs ||
        ig_program_output_count(ids) != header->lookup_count ||
        ig_program_input_count(rows) != inputs + tables + header->lookup_count) {
        return "its programs and its list of stores do not belong together";
    }
    for (size_t i = 0; i < tables; i++) {
        ig_port port = ig_program_input(rows, inputs + i);
        if (port.rank != 2 || (uint32_t)port.dtype != record->tables[i].dtype) {
            return "its programs and its list of stores do not belong together";
        }
    }
    for (size_t i = 0; i < header->lookup_count; i++) {
        ig_port at = ig_program_input(rows, inputs + tables + i);
        ig_port id = ig_program_output(ids, i);
        if (at.dtype != id.dtype || (id.dtype != IG_I32 && id.dtype != IG_I64)) {
            return "ids of a look-up are neither i32 nor i64";
        }
    }
    return NULL;
}

const char *ig_stored_read(const ig_program *rows, const ig_program *ids,
                           ig_stored_record *out) {
    size_t size = 0;
    const char *bytes = ig_program_stored(rows, &size);
    if (!bytes || size < sizeof out->header) {
        return "it has no list of stores";
    }
    memcpy(&out->header, bytes, sizeof out->header);
    const ig_stored_header *header = &out->header;
    uint64_t tables = (uint64_t)header->table_count * sizeof *out->tables;
    uint64_t lookups = (uint64_t)header->lookup_count * sizeof *out->lookups;
    if (sizeof *header + tables + lookups + header->text_bytes != size) {
        return "its list of stores has another length than it says";
    }
    bytes += sizeof *header;
    out->tables = (const void *)bytes;
    out->lookups = (const void *)(bytes + tables);
    out->texts = bytes + tables + lookups;
    const char *why = check_tables(out);
    why = why ? why : check_lookups(out);
    return why ? why : check_ports(rows, ids, out);
}
