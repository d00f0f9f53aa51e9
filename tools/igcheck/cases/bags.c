/* Modules of cases whose tables are read by bags: see bags.h.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/igcheck/cases/bags.h"

static size_t table_count(const json_t *json) {
    return json_array_size(json_object_get(json, "tables"));
}

static const json_t *table_at(const json_t *json, size_t index) {
    return json_array_get(json_object_get(json, "tables"), index);
}

int64_t bags_columns(const json_t *json) {
    int64_t columns = 0;
    for (size_t i = 0; i < table_count(json); i++) {
        columns += integer_in(table_at(json, i), "dim");
    }
    return columns;
}

void bags_write_inputs(const json_t *json, FILE *to) {
    int64_t count = (int64_t)table_count(json) * integer_in(json, "batch");
    bool is_weighted = json_is_true(json_object_get(json, "weighted"));
    fprintf(to, "%%ids: i64[N], %%offsets: i64[%lld]%s", (long long)(count + 1),
            is_weighted ? ", %psw: f32[N]" : "");
}

void bags_write_tables(const json_t *json, FILE *to) {
    for (size_t i = 0; i < table_count(json); i++) {
        fprintf(to, ", %%t%zu: f32[%lld, %lld]", i,
                (long long)integer_in(table_at(json, i), "rows"),
                (long long)integer_in(table_at(json, i), "dim"));
    }
}

static const char *pooling_of(const json_t *json, size_t table) {
    const char *own = text_in(table_at(json, table), "pooling");
    return *own ? own : text_in(json, "pooling");
}

void bags_write_body(const json_t *json, FILE *to) {
    int64_t batch = integer_in(json, "batch");
    bool is_weighted = json_is_true(json_object_get(json, "weighted"));
    for (size_t i = 0; i < table_count(json); i++) {
        fprintf(
            to,
            "    %%o%zu = slice %%offsets {starts = [%lld], sizes = [%lld]} : "
            "i64[%lld]\n"
            "    %%b%zu = bag %%t%zu, %%ids, %%o%zu%s {operands = [%d], pool = [%s], "
            "last = [offset]} : f32[%lld, %lld]\n",
            i, (long long)((int64_t)i * batch), (long long)(batch + 1),
            (long long)(batch + 1), i, i, i, is_weighted ? ", %psw" : "",
            is_weighted ? 5 : 1, pooling_of(json, i), (long long)batch,
            (long long)integer_in(table_at(json, i), "dim"));
    }
    fprintf(to, "    %%bags = concat ");
    for (size_t i = 0; i < table_count(json); i++) {
        fprintf(to, "%s%%b%zu", i ? ", " : "", i);
    }
    fprintf(to, " {axis = 1} : f32[%lld, %lld]\n", (long long)batch,
            (long long)bags_columns(json));
}
