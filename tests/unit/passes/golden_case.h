/* One golden case of passes, and what its graphs are run on.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Beside the lines of igcheck a case may hold
 *
 *     # not run: REASON            nothing of it is run
 *     # within: NUMBER REASON      floats may differ by NUMBER times their size (and
 *                                  none is so large that its square overflows)
 *     # refuses: REASON            the output may refuse what the input runs
 *     # then: PASSES               further passes before the output can run
 *     # values: NAME below NUMBER  what an input of integers holds: ids,
 *     # values: NAME offsets OF    offsets into input OF, from 0 on, none falls, or
 *     # values: NAME parts OF      lengths of parts of OF, all of it
 *     # values: NAME plain         an input of floats in [-1, 1)
 */
#ifndef IG_TESTS_UNIT_PASSES_GOLDEN_CASE_H
#define IG_TESTS_UNIT_PASSES_GOLDEN_CASE_H

#include "tests/unit/cpu/lower_fill.h"
#include "tests/unit/unit.h"
#include "tools/igcheck/golden.h"

#include "ir/ops.h"

#include <sys/types.h> /* before fts.h */

#include <fts.h>

enum { GOLDEN_RULES = 8 };

/* What one input holds. */
typedef struct golden_rule {
    char name[32], kind[32], of[32];
} golden_rule;

typedef struct golden_case {
    char *text; /* ends where the input does */
    const char *pipeline, *target, *not_run, *then;
    double within;
    bool has_errors, may_refuse;
    golden_rule rules[GOLDEN_RULES];
    uint32_t rule_count;
} golden_case;

/* ---- files ---- */

static inline int golden_order(const FTSENT **a, const FTSENT **b) {
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

/* Cases from number `count` on of the file at `path`; number `wanted` is named in
 * `name`, of `size` bytes, and `text`, which the caller frees, is its text. */
static inline int golden_count(const char *path, int count, int wanted, char *name,
                               size_t size, char **text) {
    golden_file file;
    CHECK_MSG(golden_open(&file, path), "%s cannot be read", path);
    for (size_t i = 0; i < file.count; i++) {
        if (count++ == wanted) {
            snprintf(name, size, "%s:%s", path, file.cases[i].name);
            *text = copy_text(file.cases[i].text, strlen(file.cases[i].text));
        }
    }
    golden_close(&file);
    return count;
}

/* Case number `wanted` of the files below tests/golden/passes; how many there are. */
static inline int golden_find(int wanted, char *name, size_t size, char **text) {
    char folder[] = INGOT_SOURCE_DIR "/tests/golden/passes";
    char *folders[] = { folder, NULL };
    FTS *walk = fts_open(folders, FTS_PHYSICAL | FTS_NOCHDIR, golden_order);
    int count = 0;
    for (FTSENT *entry; walk && (entry = fts_read(walk));) {
        size_t length = entry->fts_namelen;
        if (entry->fts_info == FTS_F && length > 3 &&
            strcmp(entry->fts_name + length - 3, ".ig") == 0) {
            count = golden_count(entry->fts_path, count, wanted, name, size, text);
        }
    }
    if (walk) {
        fts_close(walk);
    }
    return count;
}

static inline const char *golden_value(const char *line, const char *key) {
    size_t length = strlen(key);
    return strncmp(line, key, length) == 0 ? line + length + strspn(line + length, " ")
                                           : NULL;
}

static inline void golden_take_rule(golden_case *file, const char *value) {
    CHECK(file->rule_count < GOLDEN_RULES);
    golden_rule *rule = &file->rules[file->rule_count++];
    int words = sscanf(value, "%31s %31s %31s", rule->name, rule->kind, rule->of);
    bool is_plain = words == 2 && strcmp(rule->kind, "plain") == 0;
    CHECK_MSG(words == 3 || is_plain, "'# values: %s' has no three words", value);
}

static inline void golden_take_line(golden_case *file, const char *line) {
    const struct {
        const char *key, **value;
    } texts[] = { { "# run:", &file->pipeline },
                  { "# target:", &file->target },
                  { "# not run:", &file->not_run },
                  { "# then:", &file->then } };
    for (size_t i = 0; i < IG_COUNT_OF(texts); i++) {
        const char *text = golden_value(line, texts[i].key);
        *texts[i].value = text ? strdup(text) : *texts[i].value;
    }
    file->may_refuse |= golden_value(line, "# refuses:") != NULL;
    const char *value = golden_value(line, "# values:");
    if (value) {
        golden_take_rule(file, value);
    }
    value = golden_value(line, "# within:");
    file->within = value ? strtod(value, NULL) : file->within;
    file->has_errors |= golden_value(line, "# expect-error:") != NULL;
}

/* Takes over `text`. */
static inline void golden_case_read(golden_case *file, char *text) {
    *file = (golden_case){ .text = text };
    char *expected = strstr(file->text, "\n# expect:\n");
    if (expected) {
        expected[1] = '\0';
    }
    for (char *line = file->text; *line;) {
        size_t length = strcspn(line, "\n");
        char *copy = strndup(line, length);
        golden_take_line(file, copy);
        free(copy);
        line += length + (line[length] == '\n');
    }
}

/* ---- inputs ---- */

/* What the integers of a round are: what an id, a count or an offset may be. */
typedef enum golden_integers {
    GOLDEN_ZERO,
    GOLDEN_SMALL,  /* 0 to 3 */
    GOLDEN_SIGNED, /* -3 to 3 */
    GOLDEN_RISING, /* by 0 to 2 */
    GOLDEN_STEPS,  /* 0, 1, 2, … */
    GOLDEN_RANDOM, /* what breaks things */
    GOLDEN_INTEGERS
} golden_integers;

static inline int64_t golden_integer(golden_integers kind, ig_dtype dtype,
                                     int64_t before, uint64_t *state) {
    uint64_t number = lower_random(state);
    if (kind == GOLDEN_RANDOM) {
        return lower_special_integer(dtype, number);
    }
    int64_t values[GOLDEN_INTEGERS] = {
        [GOLDEN_SMALL] = (int64_t)(number % 4),
        [GOLDEN_SIGNED] = (int64_t)(number % 7) - 3,
        [GOLDEN_RISING] = before < 0 ? 0 : before + (int64_t)(number % 3),
        [GOLDEN_STEPS] = before + 1,
    };
    return values[kind];
}

static inline void golden_fill(ig_tensor *tensor, lower_values values,
                               golden_integers kind, uint64_t *state) {
    int64_t before = -1;
    if (ig_dtype_is_float(tensor->dtype)) {
        if (values == LOWER_SPECIAL) {
            lower_fill_special(tensor, state);
        } else {
            lower_fill(tensor, 2, state);
        }
        return;
    }
    for (int64_t i = 0; i < tensor->count; i++) {
        before = tensor->dtype == IG_DT_bool
                     ? (int64_t)(lower_random(state) & 1)
                     : golden_integer(kind, tensor->dtype, before, state);
        ig_tensor_set_i64(tensor, i, before);
    }
}

/* Numbers whose squares are no infinity stay; the others become small. */
static inline void golden_tame(ig_tensor *tensor) {
    for (int64_t i = 0; i < tensor->count; i++) {
        double value = ig_tensor_get_f64(tensor, i);
        if (isfinite(value) && fabs(value) > 1e6) {
            ig_tensor_set_f64(tensor, i, copysign(7.0, value));
        }
    }
}

/* Ids, offsets or lengths, as a rule says; `total` is the extent of the input it
 * names. */
static inline void golden_fill_rule(ig_tensor *tensor, const golden_rule *rule,
                                    int64_t total, uint64_t *state) {
    if (strcmp(rule->kind, "plain") == 0) {
        lower_fill(tensor, 2, state);
        return;
    }
    bool is_below = strcmp(rule->kind, "below") == 0;
    bool is_part = strcmp(rule->kind, "parts") == 0;
    CHECK_MSG(is_below || is_part || strcmp(rule->kind, "offsets") == 0,
              "there is no kind of values '%s'", rule->kind);
    int64_t bound = is_below ? strtoll(rule->of, NULL, 10) : total, before = 0;
    for (int64_t i = 0; i < tensor->count; i++) {
        int64_t number = (int64_t)(lower_random(state) >> 1);
        if (is_below) {
            before = number % bound;
        } else if (is_part) {
            bool is_last = i + 1 == tensor->count;
            before = is_last || number % 4 > bound ? bound : number % 4;
            bound -= before;
        } else if (i > 0) {
            before += number % 4;
            before = before > bound ? bound : before;
        }
        ig_tensor_set_i64(tensor, i, before);
    }
}

/* An extent for a symbol: 0, 1 and small ones, as its range allows. */
static inline int64_t golden_extent(const ig_symbol *symbol, uint64_t *state) {
    static const int64_t extents[] = { 0, 1, 2, 3, 4, 5, 6, 17 };
    int64_t value = extents[lower_random(state) % IG_COUNT_OF(extents)];
    value = value < symbol->min ? symbol->min : value;
    value -= symbol->multiple > 1 ? value % symbol->multiple : 0;
    value += value < symbol->min ? symbol->multiple : 0;
    return value > symbol->max ? symbol->max : value;
}

#endif
