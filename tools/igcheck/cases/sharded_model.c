/* A sharded collection's case as a graph and a plan.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tools/igcheck/cases/sharded.h"

#include <stdlib.h>
#include <string.h>

static const char *text_in(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* The table's place in the list; their number when it is not in it. */
static size_t table_index(const sharded_case *c, const char *name) {
    size_t i;
    json_t *table;
    json_array_foreach(json_object_get(c->json, "tables"), i, table) {
        if (strcmp(text_in(table, "name"), name) == 0) {
            break;
        }
    }
    return i;
}

/* ---- weights ---- */

/* Tables are @t0, @t1 …: names of files may be anything. */
static bool put_weight(const sharded_case *c, const char *name, size_t index,
                       FILE *to) {
    ig_arguments *owner = NULL;
    char *path = text_of("%s/weights_before_%s.npy", c->folder, name);
    bool is_read = verify_read(c->v, path, NULL, &owner);
    const ig_argument *w = is_read ? ig_arguments_at(owner, 0) : NULL;
    bool is_good = is_read && w->rank == 2 && element_bits(w->dtype) % 8 == 0;
    if (is_read && !is_good) {
        verify_fail(c->v, path, "a table [rows, columns] of whole bytes is wanted");
    }
    if (is_good) {
        fprintf(to, "weight @t%zu : %s[%lld, %lld] = inline(0x", index, w->dtype,
                (long long)w->dims[0], (long long)w->dims[1]);
        for (size_t i = 0; i < w->size; i++) {
            fprintf(to, "%02x", ((const unsigned char *)w->data)[i]);
        }
        fputs(")\n", to);
    }
    ig_arguments_close(owner);
    free(path);
    return is_good;
}

static bool put_weights(const sharded_case *c, FILE *to) {
    size_t i;
    json_t *table;
    json_array_foreach(json_object_get(c->json, "tables"), i, table) {
        if (!put_weight(c, text_in(table, "name"), i, to)) {
            return false;
        }
    }
    return true;
}

/* ---- the graph ---- */

/* Which of the keys whose lengths are consecutive; -1: none. */
static long long key_of(const sharded_case *c, const char *feature) {
    size_t i;
    json_t *key;
    json_array_foreach(json_object_get(c->ranks[0].json, "input_keys"), i, key) {
        const char *text = json_string_value(key);
        if (text && strcmp(text, feature) == 0) {
            return (long long)i;
        }
    }
    return -1;
}

/* Calls `put` for each feature of each table, numbered. */
typedef bool feature_fn(const sharded_case *c, const json_t *table, const char *feature,
                        size_t index, FILE *to);

static bool each_feature(const sharded_case *c, feature_fn *put, FILE *to) {
    size_t i, k, index = 0;
    json_t *table, *feature;
    json_array_foreach(json_object_get(c->json, "tables"), i, table) {
        json_array_foreach(json_object_get(table, "features"), k, feature) {
            const char *name = json_string_value(feature);
            if (!put(c, table, name ? name : "", index++, to)) {
                return false;
            }
        }
    }
    return true;
}

static bool put_offsets(const sharded_case *c, const json_t *table, const char *feature,
                        size_t index, FILE *to) {
    long long key = key_of(c, feature);
    (void)table;
    if (key < 0) {
        return verify_fail(c->v, feature, "rank0.json has no such input key");
    }
    fprintf(to, "%%o%zu = slice %%off {starts = [%lld], sizes = [%lld]}\n", index,
            key * (long long)c->batch, (long long)c->batch + 1);
    return true;
}

static bool put_operands(const sharded_case *c, const json_t *table,
                         const char *feature, size_t index, FILE *to) {
    (void)feature;
    fprintf(to, "%s@t%zu, %%ids, %%o%zu%s", index ? ", " : "",
            table_index(c, text_in(table, "name")), index,
            c->input_count > 2 ? ", %weights" : "");
    return true;
}

static bool put_mask(const sharded_case *c, const json_t *table, const char *feature,
                     size_t index, FILE *to) {
    (void)table;
    (void)feature;
    fprintf(to, "%s%d", index ? ", " : "", c->input_count > 2 ? 5 : 1);
    return true;
}

static bool put_pool(const sharded_case *c, const json_t *table, const char *feature,
                     size_t index, FILE *to) {
    const char *pool = text_in(table, "pooling");
    bool is_mean = strcmp(pool, "MEAN") == 0;
    (void)feature;
    if (!is_mean && strcmp(pool, "SUM") != 0) {
        return verify_fail(c->v, pool, "pooling is SUM or MEAN");
    }
    fprintf(to, "%s%s", index ? ", " : "", is_mean ? "mean" : "sum");
    return true;
}

static bool put_last(const sharded_case *c, const json_t *table, const char *feature,
                     size_t index, FILE *to) {
    (void)c;
    (void)table;
    (void)feature;
    fprintf(to, "%soffset", index ? ", " : "");
    return true;
}

static void put_results(const sharded_case *c, FILE *to) {
    for (size_t i = 0; i < c->output_count; i++) {
        fprintf(to, "%s%%r%zu", i ? ", " : "", i);
    }
}

static void put_head(const sharded_case *c, FILE *to) {
    const ig_argument *in = c->ranks[0].inputs;
    fprintf(to, "graph @main(%%values: %s[V], %%lengths: %s[L]", in[0].dtype,
            in[1].dtype);
    if (c->input_count > 2) {
        fprintf(to, ", %%weights: %s[V]", in[2].dtype);
    }
    fputs(") {\n%ids = cast %values {to = i64}\n%long = cast %lengths {to = i64}\n"
          "%off = cumsum %long {axis = 0, complete}\n",
          to);
}

static bool put_graph(const sharded_case *c, FILE *to) {
    fputs("module @ebc {\n", to);
    if (!put_weights(c, to)) {
        return false;
    }
    put_head(c, to);
    if (!each_feature(c, put_offsets, to)) {
        return false;
    }
    put_results(c, to);
    fputs(" = bag ", to);
    (void)each_feature(c, put_operands, to);
    fputs(" {operands = [", to);
    (void)each_feature(c, put_mask, to);
    fputs("], pool = [", to);
    if (!each_feature(c, put_pool, to)) {
        return false;
    }
    fputs("], last = [", to);
    (void)each_feature(c, put_last, to);
    fputs("]}\nret ", to);
    put_results(c, to);
    fputs("\n}\n}\n", to);
    return true;
}

char *sharded_model_text(const sharded_case *c) {
    char *text = NULL;
    size_t size = 0;
    FILE *to = need(open_memstream(&text, &size));
    bool is_good = put_graph(c, to);
    fclose(to);
    if (is_good) {
        return need(text);
    }
    free(text);
    return NULL;
}

/* ---- outputs ---- */

size_t sharded_output_of(const sharded_case *c, const char *key) {
    size_t i, k, index = 0;
    json_t *table, *feature;
    json_array_foreach(json_object_get(c->json, "tables"), i, table) {
        json_array_foreach(json_object_get(table, "features"), k, feature) {
            const char *name = json_string_value(feature);
            char *both = text_of("%s@%s", name ? name : "", text_in(table, "name"));
            bool is_it = name && (strcmp(key, name) == 0 || strcmp(key, both) == 0);
            free(both);
            if (is_it) {
                return index;
            }
            index++;
        }
    }
    return c->output_count;
}

/* ---- the plan ---- */

/* {"offsets", "sizes", "placement": "rank:1/cpu"} in the form of ingot shard. */
static bool add_shard(const sharded_case *c, const char *table, const json_t *from,
                      json_t *to) {
    int rank = -1;
    json_t *shard = NULL;
    if (sscanf(text_in(from, "placement"), "rank:%d", &rank) != 1) {
        return verify_fail(c->v, table, "a placement of the plan is not \"rank:N/…\"");
    }
    shard = json_pack("{s:i, s:O?, s:O?}", "rank", rank, "size",
                      json_object_get(from, "sizes"), "offset",
                      json_object_get(from, "offsets"));
    if (!shard || json_array_append_new(to, shard) != 0) {
        return verify_fail(c->v, table, "the plan has shards without sizes or offsets");
    }
    return true;
}

static bool add_entry(const sharded_case *c, const char *name, const json_t *from,
                      json_t *to) {
    size_t i, index = table_index(c, name);
    json_t *shard, *shards = need(json_array());
    char *weight = text_of("t%zu", index);
    json_t *entry = need(json_pack("{s:s, s:s, s:o}", "name", weight, "sharding_type",
                                   text_in(from, "sharding_type"), "shards", shards));
    bool is_good = json_array_append_new(to, entry) == 0;
    free(weight);
    if (index == json_array_size(json_object_get(c->json, "tables"))) {
        return verify_fail(c->v, name, "the plan has a table that is not in the list");
    }
    json_array_foreach(json_object_get(from, "shards"), i, shard) {
        is_good = is_good && add_shard(c, name, shard, shards);
    }
    return is_good;
}

char *sharded_plan_text(const sharded_case *c) {
    json_t *tables = need(json_array()), *entry;
    json_t *plan = need(
        json_pack("{s:I, s:o}", "world_size", (json_int_t)c->world, "tables", tables));
    const char *name;
    bool is_good = true;
    json_object_foreach(json_object_get(c->json, "plan"), name, entry) {
        is_good = is_good && add_entry(c, name, entry, tables);
    }
    char *text = is_good ? need(json_dumps(plan, 0)) : NULL;
    json_decref(plan);
    return text;
}
