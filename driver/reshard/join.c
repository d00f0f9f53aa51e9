/* The artifacts of all ranks, put together again: the model's text, and its constants
 * in a file beside it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The file of constants is written from its first byte to its last: what ranks have of
 * tables goes there by blocks of rows, straight from the mapped artifacts.  Only the
 * block is in memory.
 */
#include "driver/artifact/record.h"
#include "driver/host.h"
#include "frontend/pt2/json.h"
#include "ingot/shard.h"
#include "runtime/container.h"

#include "base/checked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 20, PIECE_NUMBERS = 6, FORMATS = IG_ROW_COUNT };

/* One artifact. */
typedef struct joined_part {
    const char *path;
    ig_file_map map;
    ig_container container;
    ig_str weights;
    const ig_json *record;
} joined_part;

typedef struct joined_piece {
    const char *bytes; /* of its first row */
    int64_t row, rows, column, columns;
    ig_row_layout layout;
} joined_piece;

/* A table, or another constant. */
typedef struct region {
    int64_t offset, size;
    const char *bytes; /* NULL: a table */
    int64_t rows, dim, bits, elements;
    ig_rows format;
    ig_row_layout layout;
    IG_VEC(joined_piece) pieces;
    const char *name;
} region;

typedef struct joiner {
    ig_context *context;
    ig_arena arena;
    const char *const *paths;
    size_t count;
    const char *to, *weights;
    joined_part *parts; /* by rank */
    IG_VEC(region) regions;
    int64_t bytes;
    /* while it is written */
    int64_t at, row;
    size_t next;
    char *block;
} joiner;

#define JOIN_ERROR(j, status, file_path, ...) \
    ig_error(&(j)->context->diag, status, where_of(j, file_path), __VA_ARGS__)

static const ig_location *where_of(joiner *j, const char *path) {
    ig_location *where = IG_NEW(&j->arena, ig_location);
    where->file = path;
    return where;
}

/* ---- opening ---- */

static int64_t number_of(const ig_json *from, const char *key) {
    int64_t value;
    return ig_json_int(ig_json_get(from, key), &value) ? value : -1;
}

static ig_status open_part(joiner *j, const char *path, joined_part *part) {
    char why[256];
    ig_message message = { why, sizeof why, NULL };
    ig_str text;
    part->path = path;
    ig_status status = ig_file_map_open(path, &part->map, why);
    if (status != IG_OK) {
        return JOIN_ERROR(j, status, path, "cannot read: %s", why);
    }
    ig_str bytes = { part->map.data, part->map.size };
    status = ig_container_open(bytes, &part->container, &message);
    if (status != IG_OK) {
        return JOIN_ERROR(j, status, path, "%s", why);
    }
    if (!ig_container_find(&part->container, SHARD_ENTRY, &text)) {
        return JOIN_ERROR(
            j, IG_INVALID, path,
            "it is not an artifact of a rank, as 'ingot compile --plan' writes "
            "them");
    }
    if (!ig_container_find(&part->container, IG_ENTRY_WEIGHTS, &part->weights)) {
        part->weights = (ig_str){ "", 0 };
    }
    IG_TRY(ig_json_read(j->context, &j->arena, where_of(j, path), text, &part->record));
    return number_of(part->record, "version") == SHARD_VERSION
               ? IG_OK
               : JOIN_ERROR(
                     j, IG_UNSUPPORTED, path,
                     "another release of Ingot has written it; compile it again");
}

/* All ranks of one model and plan, in their order. */
static ig_status open_parts(joiner *j) {
    joined_part *given = IG_NEW_ARRAY(&j->arena, joined_part, j->count);
    j->parts = given;
    for (size_t i = 0; i < j->count; i++) {
        IG_TRY(open_part(j, j->paths[i], &given[i]));
        int64_t world = number_of(given[i].record, "world_size");
        int64_t rank = number_of(given[i].record, "rank");
        if (rank != (int64_t)i || world <= rank) {
            return JOIN_ERROR(
                j, IG_INVALID, j->paths[i],
                "it is the artifact of rank %lld of %lld, expected that of rank %zu",
                (long long)rank, (long long)world, i);
        }
        if (world != (int64_t)j->count) {
            return JOIN_ERROR(j, IG_INVALID, j->paths[i],
                              "it is one of %lld ranks, but %zu artifacts are given",
                              (long long)world, j->count);
        }
        if (number_of(given[i].record, "of") != number_of(given[0].record, "of")) {
            return JOIN_ERROR(j, IG_INVALID, j->paths[i],
                              "it is of another model or plan than '%s'", j->paths[0]);
        }
    }
    return IG_OK;
}

/* ---- the parts of the file of constants ---- */

static ig_status refuse_record(joiner *j, const joined_part *part) {
    return JOIN_ERROR(j, IG_INVALID, part->path,
                      "its list of shards is damaged; compile it again");
}

static ig_status add_dense(joiner *j) {
    joined_part *first = &j->parts[0];
    const ig_json *dense = ig_json_get(first->record, "dense");
    ig_str held;
    int64_t at = 0, numbers[2];
    if (!ig_container_find(&first->container, SHARD_ENTRY_WEIGHTS, &held)) {
        return refuse_record(j, first);
    }
    for (size_t i = 0; i < ig_json_count(dense); i++) {
        const ig_json *span = &dense->as.list.items[i];
        for (size_t k = 0; k < 2; k++) {
            if (ig_json_count(span) != 2 ||
                !ig_json_int(&span->as.list.items[k], &numbers[k]) || numbers[k] < 0) {
                return refuse_record(j, first);
            }
        }
        if (numbers[1] > (int64_t)held.size - at) {
            return refuse_record(j, first);
        }
        region r = { .offset = numbers[0],
                     .size = numbers[1],
                     .bytes = held.data + at };
        IG_PUSH(&j->arena, &j->regions, r);
        at += numbers[1];
    }
    return IG_OK;
}

static ig_status add_table(joiner *j, const ig_json *json) {
    region r = { .offset = number_of(json, "offset"),
                 .rows = number_of(json, "rows"),
                 .dim = number_of(json, "dim"),
                 .bits = number_of(json, "bits"),
                 .name = ig_json_text(ig_json_get(json, "name")) };
    int64_t format = number_of(json, "format"), stride = number_of(json, "stride");
    r.format = (ig_rows){ .format = (uint8_t)format,
                          .exponent_bits = (uint8_t)number_of(json, "exponent_bits"),
                          .stride = (uint32_t)stride };
    bool is_good = r.offset >= 0 && r.rows >= 0 && r.dim > 0 && r.bits > 0 &&
                   r.bits <= 64 && format >= 0 && format < FORMATS && stride >= 0 &&
                   stride <= UINT32_MAX &&
                   ig_row_layout_of(r.format, (unsigned)r.bits, r.dim, &r.layout) &&
                   ig_mul_i64(r.rows, r.layout.stride, &r.size);
    if (!is_good) {
        return refuse_record(j, &j->parts[0]);
    }
    IG_PUSH(&j->arena, &j->regions, r);
    return IG_OK;
}

/* base, row, rows, column and columns after the place of its constant. */
static ig_status add_piece(joiner *j, const joined_part *part, const ig_json *json,
                           region *table) {
    int64_t n[PIECE_NUMBERS], first, size, elements;
    for (size_t i = 0; i < PIECE_NUMBERS; i++) {
        if (ig_json_count(json) != PIECE_NUMBERS ||
            !ig_json_int(&json->as.list.items[i], &n[i]) || (n[i] < 0 && i > 0)) {
            return refuse_record(j, part);
        }
    }
    if (n[0] < 0) {
        return JOIN_ERROR(j, IG_UNSUPPORTED, part->path,
                          "rows of table '%s' are not in it: compile it with --weights "
                          "embed",
                          table->name);
    }
    joined_piece piece = { .row = n[2], .rows = n[3], .column = n[4], .columns = n[5] };
    ig_rows format = table->format;
    format.stride = piece.columns == table->dim ? format.stride : 0;
    bool is_good =
        piece.rows <= table->rows && piece.row <= table->rows - piece.rows &&
        piece.columns <= table->dim && piece.column <= table->dim - piece.columns &&
        piece.column * table->bits % 8 == 0 &&
        ig_row_layout_of(format, (unsigned)table->bits, piece.columns, &piece.layout) &&
        ig_mul_i64(n[1], piece.layout.stride, &first) &&
        ig_add_i64(first, n[0], &first) &&
        ig_mul_i64(piece.rows, piece.layout.stride, &size) &&
        first <= (int64_t)part->weights.size &&
        size <= (int64_t)part->weights.size - first &&
        ig_mul_i64(piece.rows, piece.columns, &elements);
    if (!is_good) {
        return refuse_record(j, part);
    }
    piece.bytes = part->weights.data + first;
    table->elements += elements;
    IG_PUSH(&j->arena, &table->pieces, piece);
    return IG_OK;
}

static ig_status add_pieces(joiner *j, size_t first_table) {
    for (size_t i = 0; i < j->count; i++) {
        const ig_json *tables = ig_json_get(j->parts[i].record, "tables");
        if (ig_json_count(tables) != j->regions.count - first_table) {
            return refuse_record(j, &j->parts[i]);
        }
        for (size_t k = 0; k < ig_json_count(tables); k++) {
            const ig_json *pieces = ig_json_get(&tables->as.list.items[k], "pieces");
            for (size_t p = 0; p < ig_json_count(pieces); p++) {
                IG_TRY(add_piece(j, &j->parts[i], &pieces->as.list.items[p],
                                 &j->regions.items[first_table + k]));
            }
        }
    }
    return IG_OK;
}

static int compare_regions(const void *a, const void *b) {
    const region *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Every element of a table is in one artifact; constants follow one another.
 */
static ig_status check_regions(joiner *j) {
    int64_t end = 0, elements;
    if (j->regions.count) {
        qsort(j->regions.items, j->regions.count, sizeof *j->regions.items,
              compare_regions);
    }
    for (size_t i = 0; i < j->regions.count; i++) {
        const region *r = &j->regions.items[i];
        bool is_whole = r->bytes || (ig_mul_i64(r->rows, r->dim, &elements) &&
                                     elements == r->elements);
        if (r->offset < end || !ig_add_i64(r->offset, r->size, &end) || !is_whole) {
            return refuse_record(j, &j->parts[0]);
        }
    }
    j->bytes = number_of(j->parts[0].record, "bytes");
    return j->bytes >= end ? IG_OK : refuse_record(j, &j->parts[0]);
}

static ig_status list_regions(joiner *j) {
    IG_TRY(add_dense(j));
    size_t first_table = j->regions.count;
    const ig_json *tables = ig_json_get(j->parts[0].record, "tables");
    for (size_t i = 0; i < ig_json_count(tables); i++) {
        IG_TRY(add_table(j, &tables->as.list.items[i]));
    }
    IG_TRY(add_pieces(j, first_table));
    return check_regions(j);
}

/* ---- writing ---- */

static void copy_row(const region *table, const joined_piece *piece, const char *from,
                     char *to) {
    const ig_row_info *info = &ig_rows_formats[table->format.format];
    size_t factors = info->side ? 2 * (ig_dtypes[info->dtype].bits / 8) : 0;
    int64_t first = piece->column * table->bits / 8;
    int64_t codes = (piece->columns * table->bits + 7) / 8;
    memcpy(to + table->layout.codes + first, from + piece->layout.codes, (size_t)codes);
    memcpy(to + table->layout.factors, from + piece->layout.factors, factors);
}

/* A piece's part of rows `row` … of a table. */
static void copy_piece(const region *table, const joined_piece *piece, int64_t row,
                       int64_t rows, char *block) {
    int64_t begin = piece->row > row ? piece->row : row;
    int64_t end = piece->row + piece->rows < row + rows ? piece->row + piece->rows
                                                        : row + rows;
    if (begin >= end) {
        return;
    }
    const char *from = piece->bytes + (begin - piece->row) * piece->layout.stride;
    char *to = block + (begin - row) * table->layout.stride;
    if (piece->columns == table->dim) {
        memcpy(to, from, (size_t)((end - begin) * table->layout.stride));
        return;
    }
    for (int64_t i = begin; i < end; i++) {
        copy_row(table, piece, from, to);
        from += piece->layout.stride;
        to += table->layout.stride;
    }
}

/* The next rows of a table, as many as a block takes, at least one. */
static ig_file_part next_rows(joiner *j, const region *table) {
    int64_t rows = BLOCK / table->layout.stride, left = table->rows - j->row;
    rows = rows < 1 ? 1 : rows;
    rows = rows > left ? left : rows;
    size_t size = (size_t)(rows * table->layout.stride);
    memset(j->block, 0, size);
    for (size_t i = 0; i < table->pieces.count; i++) {
        copy_piece(table, &table->pieces.items[i], j->row, rows, j->block);
    }
    j->row += rows;
    return (ig_file_part){ j->block, size };
}

static ig_file_part next_part(void *user) {
    static const char zeros[SHARD_ALIGN];
    joiner *j = user;
    const region *r = NULL;
    while (j->next < j->regions.count) {
        r = &j->regions.items[j->next];
        if (j->at < r->offset + r->size) {
            break;
        }
        j->next++;
        j->row = 0;
        r = NULL;
    }
    int64_t gap = (r ? r->offset : j->bytes) - j->at;
    ig_file_part part = { zeros, (size_t)(gap < SHARD_ALIGN ? gap : SHARD_ALIGN) };
    if (gap <= 0 && r) {
        part = r->bytes ? (ig_file_part){ r->bytes, (size_t)r->size } : next_rows(j, r);
    }
    j->at += (int64_t)part.size;
    return part;
}

/* The numbers after the file's name, "), and between them and it the hash of the bytes
 * there: a text names its file by content.  `text` begins after the name. */
static size_t put_span(const joiner *j, const ig_file_map *weights, ig_str text,
                       ig_writer *out) {
    const char *close = memchr(text.data, ')', text.size);
    long long offset = -1, size = -1;
    char position[64] = "";
    size_t length = close ? (size_t)(close - text.data) : 0;
    snprintf(position, sizeof position, "%.*s", (int)(length < 63 ? length : 63),
             text.data);
    bool is_span = sscanf(position, ", %lld, %lld", &offset, &size) == 2 &&
                   offset >= 0 && size >= 0 && offset <= j->bytes &&
                   size <= j->bytes - offset && (uint64_t)j->bytes <= weights->size;
    if (!is_span) {
        return 0;
    }
    uint64_t hash = ig_hash_bytes((const char *)weights->data + offset, (size_t)size,
                                  0);
    ig_put_bytes(out, text.data, length);
    ig_put(out, ", 0x%016llx", (unsigned long long)hash);
    return length;
}

/* The text, with the file's name in place of SHARD_FILE. */
static void put_text(const joiner *j, const ig_file_map *weights, ig_str text,
                     ig_writer *out) {
    static const char mark[] = "\"" SHARD_FILE "\"";
    const char *slash = strrchr(j->weights, '/');
    for (size_t left = text.size; left;) {
        const char *at = text.data + text.size - left;
        const char *found = memmem(at, left, mark, sizeof mark - 1);
        size_t size = found ? (size_t)(found - at) : left;
        ig_put_bytes(out, at, size);
        left -= size;
        if (found) {
            ig_put_json_string(out, ig_str_of(slash ? slash + 1 : j->weights));
            left -= sizeof mark - 1;
            ig_str rest = { text.data + text.size - left, left };
            left -= put_span(j, weights, rest, out);
        }
    }
}

static ig_status write_text(joiner *j) {
    ig_file_map weights;
    ig_str text;
    ig_writer out;
    char why[256];
    if (!ig_container_find(&j->parts[0].container, SHARD_ENTRY_TEXT, &text)) {
        return refuse_record(j, &j->parts[0]);
    }
    ig_status status = ig_file_map_open(j->weights, &weights, why);
    if (status != IG_OK) {
        return JOIN_ERROR(j, status, j->weights, "cannot read: %s", why);
    }
    ig_writer_init(&out, &j->arena);
    put_text(j, &weights, text, &out);
    ig_file_map_close(&weights);
    ig_str all = ig_writer_str(&out);
    ig_file_part part = { all.data, all.size };
    status = ig_file_publish(j->to, &part, 1, why);
    if (status != IG_OK) {
        return JOIN_ERROR(j, status, j->to, "cannot write: %s", why);
    }
    ig_file_remove_parts(j->to, ".weights", j->weights);
    return IG_OK;
}

/* The constants' file is called after the files that it is made of: see
 * write_text.c. */
static const char *name_weights(joiner *j) {
    uint64_t hash = 0;
    for (size_t i = 0; i < j->count; i++) {
        const ig_file_map *map = &j->parts[i].map;
        uint64_t facts[] = { map->device, map->inode, map->mtime_ns, map->size };
        hash = ig_hash_bytes(facts, sizeof facts, hash);
    }
    return ig_arena_printf(&j->arena, "%s.%016llx.weights", j->to,
                           (unsigned long long)hash);
}

static ig_status join_files(void *arguments) {
    joiner *j = arguments;
    char why[256];
    int64_t widest = BLOCK;
    IG_TRY(open_parts(j));
    IG_TRY(list_regions(j));
    for (size_t i = 0; i < j->regions.count; i++) {
        int64_t stride = j->regions.items[i].layout.stride;
        widest = stride > widest ? stride : widest;
    }
    j->block = ig_arena_alloc(&j->arena, (size_t)widest);
    j->weights = name_weights(j);
    ig_file_remove_stale(j->to);
    ig_status status = ig_file_publish_stream(j->weights, next_part, j, why);
    return status == IG_OK ? write_text(j)
                           : JOIN_ERROR(j, status, j->weights, "cannot write: %s", why);
}

ig_status ig_artifacts_join(ig_context *context, const char *const *paths, size_t count,
                            const char *to) {
    joiner j = { .context = context, .paths = paths, .count = count, .to = to };
    ig_arena_init(&j.arena, &context->budget);
    ig_status status = ig_driver_guard(context, join_files, &j);
    for (size_t i = 0; j.parts && i < count; i++) {
        ig_file_map_close(&j.parts[i].map);
    }
    ig_arena_fini(&j.arena);
    return ig_driver_settle(context, status);
}

/* ---- an artifact's own facts ---- */

typedef struct shards_call {
    joiner join;
    const char *text;
} shards_call;

static ig_status read_shards(void *arguments) {
    shards_call *call = arguments;
    joiner *j = &call->join;
    ig_str text;
    j->parts = IG_NEW_ARRAY(&j->arena, joined_part, 1);
    IG_TRY(open_part(j, j->to, &j->parts[0]));
    (void)ig_container_find(&j->parts[0].container, SHARD_ENTRY, &text);
    call->text = ig_arena_copy(&ig_driver_of(j->context)->arena, text.data, text.size);
    return IG_OK;
}

ig_status ig_artifact_shards(ig_context *context, const char *path,
                             const char **out_json) {
    shards_call call = { .join = { .context = context, .to = path }, .text = "" };
    ig_arena_init(&call.join.arena, &context->budget);
    ig_status status = ig_driver_guard(context, read_shards, &call);
    if (call.join.parts) {
        ig_file_map_close(&call.join.parts[0].map);
    }
    ig_arena_fini(&call.join.arena);
    *out_json = call.text;
    return ig_driver_settle(context, status);
}
