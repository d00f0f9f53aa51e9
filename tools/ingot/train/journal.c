/* Rows as they were: see journal.h.  SPDX-License-Identifier: Apache-2.0
 *
 * The file is entries one after the other: a head, then the row of each state.  After
 * the rows of a step have reached the disk, a mark follows: a head alone.  Rows after
 * the last mark may be torn: their step changed nothing.  Rows before it may not. */
#include "tools/ingot/train/journal.h"

#include "tools/ingot/model/trainer.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AT_ONCE = 4096 }; /* rows that are put back by one call */

static const char name_begin[] = "rows-";

/* Of a mark, `table` is MARK and `id` the offset of the mark in the file. */
enum { MARK = -1 };

typedef struct head {
    uint64_t sum; /* of all that follows */
    int64_t table, id;
} head;

static uint64_t sum_of(const head *h) {
    uint64_t sum = HASH_BEGIN;
    mix_bytes(&sum, &h->table, sizeof h->table);
    mix_bytes(&sum, &h->id, sizeof h->id);
    return sum;
}

static char *path_of(const journal *j, int64_t base) {
    return text_of("%s/%s%012lld", j->folder, name_begin, (long long)base);
}

ig_store_call call_telling(message *why) {
    return (ig_store_call){ .size = sizeof(ig_store_call),
                            .message = why->text,
                            .message_size = sizeof why->text };
}

static bool tell_fault(const char *path) {
    complain(0, "%s: %s", path, strerror(errno));
    return false;
}

/* ---- writing down ---- */

static const char *row_at(const journal_table *t, uint32_t state, int64_t row) {
    return t->states[state] + (size_t)row * t->state_bytes[state];
}

static size_t row_bytes(const journal_table *t) {
    size_t size = 0;
    for (uint32_t k = 0; k < t->state_count; k++) {
        size += t->state_bytes[k];
    }
    return size;
}

static bool add_row(journal *j, size_t table, int64_t id, int64_t row) {
    const journal_table *t = &j->tables[table];
    head h = { .table = (int64_t)table, .id = id };
    h.sum = sum_of(&h);
    for (uint32_t k = 0; k < t->state_count; k++) {
        mix_bytes(&h.sum, row_at(t, k, row), t->state_bytes[k]);
    }
    bool is_good = fwrite(&h, sizeof h, 1, j->file) == 1;
    for (uint32_t k = 0; k < t->state_count && is_good; k++) {
        is_good = fwrite(row_at(t, k, row), t->state_bytes[k], 1, j->file) == 1;
    }
    j->size += (int64_t)(sizeof h + row_bytes(t));
    return is_good;
}

bool journal_add(journal *j, size_t table, const int64_t *ids, const int64_t *rows,
                 size_t count) {
    uint8_t *written = j->file ? j->tables[table].written : NULL;
    for (size_t i = 0; i < count && written; i++) {
        uint8_t bit = (uint8_t)(1 << ids[i] % 8);
        if (!(written[ids[i] / 8] & bit) && !add_row(j, table, ids[i], rows[i])) {
            return tell_fault(j->folder);
        }
        written[ids[i] / 8] |= bit;
    }
    return true;
}

static bool add_mark(journal *j) {
    head h = { .table = MARK, .id = j->size };
    h.sum = sum_of(&h);
    j->size += (int64_t)sizeof h;
    j->marked = j->size;
    return fwrite(&h, sizeof h, 1, j->file) == 1;
}

bool journal_sync(journal *j) {
    if (!j->file || j->size == j->marked) {
        return true;
    }
    bool is_good = fflush(j->file) == 0 && fdatasync(fileno(j->file)) == 0 &&
                   add_mark(j);
    return is_good || tell_fault(j->folder);
}

static void close_file(journal *j) {
    if (j->file) {
        (void)fclose(j->file);
    }
    j->file = NULL;
}

bool journal_begin(journal *j, int64_t base) {
    char *path = path_of(j, base);
    close_file(j);
    (void)mkdir(j->folder, 0777); /* fopen tells why it is not there */
    j->base = base;
    j->size = 0;
    j->marked = -1; /* an empty file is put on disk, too */
    j->file = fopen(path, "wb");
    for (size_t i = 0; i < j->table_count; i++) {
        memset(j->tables[i].written, 0, (size_t)j->tables[i].rows / 8 + 1);
    }
    bool is_good = j->file || tell_fault(path);
    free(path);
    return is_good && journal_sync(j);
}

void journal_settle(const journal *j) {
    char *own = path_of(j, j->base);
    const char *kept = strrchr(own, '/') + 1;
    DIR *all = opendir(j->folder);
    for (struct dirent *entry; all && (entry = readdir(all)) != NULL;) {
        if (strncmp(entry->d_name, name_begin, strlen(name_begin)) == 0 &&
            strcmp(entry->d_name, kept) != 0) {
            (void)unlinkat(dirfd(all), entry->d_name, 0);
        }
    }
    if (all) {
        closedir(all);
    }
    free(own);
}

bool journal_exists(const journal *j, int64_t base) {
    char *path = path_of(j, base);
    bool is_there = access(path, F_OK) == 0;
    free(path);
    return is_there;
}

void journal_close(journal *j) {
    close_file(j);
    for (size_t i = 0; i < j->table_count; i++) {
        free(j->tables[i].written);
    }
    free(j->tables);
    *j = (journal){ 0 };
}

/* ---- putting back ---- */

/* Rows of one table that are put back together. */
typedef struct batch {
    int64_t table, ids[AT_ONCE];
    size_t count, room, size;
    uint64_t *offsets; /* of cells: states of a row one after the other */
    char *bytes;
} batch;

static bool tell_store(const journal_table *t, const message *why) {
    complain(0, "table '%s': %s", t->name, why->text);
    return false;
}

static bool put_back(const journal *j, batch *b) {
    static const uint32_t states[STORED_STATES] = { 0, 1, 2 };
    message why = { "" };
    ig_store_call how = call_telling(&why);
    if (b->count == 0) {
        return true;
    }
    const journal_table *t = &j->tables[b->table];
    ig_store_cells cells = { .size = sizeof cells,
                             .table = t->name,
                             .ids = b->ids,
                             .id_count = b->count,
                             .states = states,
                             .state_count = t->state_count };
    b->count = b->size = 0;
    return ig_store_push(t->store, &how, &cells, b->bytes, b->offsets) == IG_OK ||
           tell_store(t, &why);
}

static bool flush_stores(const journal *j) {
    message why = { "" };
    ig_store_call how = call_telling(&why);
    for (size_t i = 0; i < j->table_count; i++) {
        if (ig_store_flush(j->tables[i].store, &how) != IG_OK) {
            return tell_store(&j->tables[i], &why);
        }
    }
    return true;
}

/* Reads the row after a head; false: it is not whole. */
static bool read_row(const journal *j, FILE *file, const head *h, batch *b) {
    bool is_known = h->table >= 0 && (uint64_t)h->table < j->table_count;
    const journal_table *t = is_known ? &j->tables[h->table] : NULL;
    if (!t || h->id < 0 || h->id >= t->rows) {
        return false;
    }
    size_t size = row_bytes(t);
    if (b->size + size > b->room) {
        b->room = AT_ONCE * size;
        b->bytes = need(realloc(b->bytes, b->room));
    }
    char *row = b->bytes + b->size;
    uint64_t sum = sum_of(h);
    if (fread(row, size, 1, file) != 1) {
        return false;
    }
    mix_bytes(&sum, row, size);
    if (sum != h->sum) {
        return false;
    }
    b->table = h->table;
    b->ids[b->count++] = h->id;
    for (uint32_t k = 0; k < t->state_count; k++) {
        b->size += t->state_bytes[k];
        b->offsets[(b->count - 1) * t->state_count + k + 1] = b->size;
    }
    return true;
}

/* Is a mark after `offset`, where an entry is not whole? */
static bool has_mark_after(FILE *file, int64_t offset) {
    head h;
    for (; fseek(file, offset, SEEK_SET) == 0 && fread(&h, sizeof h, 1, file) == 1;
         offset++) {
        if (h.table == MARK && h.id == offset && h.sum == sum_of(&h)) {
            return true;
        }
    }
    return false;
}

static bool read_entries(const journal *j, FILE *file, const char *path, batch *b) {
    head h;
    for (int64_t offset = 0; fread(&h, sizeof h, 1, file) == 1; offset = ftell(file)) {
        if (h.table == MARK && h.id == offset && h.sum == sum_of(&h)) {
            continue;
        }
        if ((h.table != b->table || b->count == AT_ONCE) && !put_back(j, b)) {
            return false;
        }
        if (!read_row(j, file, &h, b)) {
            if (ferror(file) || !has_mark_after(file, offset)) {
                break;
            }
            complain(
                0,
                "%s: is damaged at byte %lld: rows that later steps changed cannot be put back",
                path, (long long)offset);
            return false;
        }
    }
    return (!ferror(file) || tell_fault(path)) && put_back(j, b);
}

bool journal_undo(const journal *j, int64_t base) {
    char *path = path_of(j, base);
    FILE *file = fopen(path, "rb");
    batch b = { .offsets =
                    need(calloc(AT_ONCE * STORED_STATES + 1, sizeof(uint64_t))) };
    bool is_good = file ? read_entries(j, file, path, &b)
                        : errno == ENOENT || tell_fault(path);
    is_good = is_good && flush_stores(j);
    if (file) {
        (void)fclose(file);
    }
    free(b.offsets);
    free(b.bytes);
    free(path);
    return is_good;
}
