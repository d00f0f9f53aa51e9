/* The JSON of tables, topology and constraints.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/shard/shard.h"

#include "base/writer.h"
#include "driver/values/weight.h"

#include <math.h>
#include <string.h>

const char *const shard_type_names[SHARD_TYPE_COUNT] = {
    "data_parallel", "table_wise",     "column_wise", "table_column_wise",
    "row_wise",      "table_row_wise", "grid_shard",
};
const char *const shard_kernel_names[SHARD_KERNEL_COUNT] = {
    "dense",
    "fused",
    "fused_uvm",
    "fused_uvm_caching",
};

enum { MAX_WORLD = 4096, MAX_DIM = 1 << 16, MAX_BATCH = 1 << 24 };
enum { MAX_FEATURES = 1 << 16, MAX_SHARES = 1 << 16 };
#define MAX_ROWS ((int64_t)1 << 40)
#define MAX_BYTES ((int64_t)1 << 50)
#define DEVICE_BYTES ((int64_t)32 << 30)
#define HOST_BYTES ((int64_t)128 << 30)
/* One exchange, where the topology does not say: within a host, between hosts. */
enum { HOST_US = 10, NETWORK_US = 30, MAX_US = 1000000 };
#define MAX_POOLING 1e6
#define MAX_RATE 1e18
#define DEFAULT_BATCH 512
#define MIN_COLUMNS 128
#define GIB_PER_S (1024.0 * 1024.0 * 1024.0 / 1000.0)

typedef struct reader {
    ig_context *context;
    ig_arena *arena;
    const ig_location *where;
    const char *owner; /* the owner of the fields, for messages */
} reader;

typedef struct int_field {
    const char *name;
    int64_t min, max;
    int64_t otherwise; /* below `min`: the field must be given */
} int_field;

static ig_status read_int(const reader *r, const ig_json *object, int_field field,
                          int64_t *out) {
    const ig_json *value = ig_json_get(object, field.name);
    *out = field.otherwise;
    if (!value && field.otherwise >= field.min) {
        return IG_OK;
    }
    if (!ig_json_int(value, out) || *out < field.min || *out > field.max) {
        return ig_error(&r->context->diag, IG_INVALID, r->where,
                        "%s: \"%s\" must be a whole number from %lld to %lld", r->owner,
                        field.name, (long long)field.min, (long long)field.max);
    }
    return IG_OK;
}

static ig_status refuse_unknown(const reader *r, const ig_json *object,
                                const char *const *known) {
    for (size_t i = 0; i < ig_json_count(object); i++) {
        size_t k = 0;
        while (known[k] && !ig_str_is(object->as.list.keys[i], known[k])) {
            k++;
        }
        if (!known[k]) {
            return ig_error(&r->context->diag, IG_UNSUPPORTED, r->where,
                            "%s: no estimate takes \"%.*s\" into account; leave it out",
                            r->owner, IG_STR_ARG(object->as.list.keys[i]));
        }
    }
    return IG_OK;
}

/* Bytes per millisecond, and factors: TorchRec's, where the topology does not say. */
static ig_status read_rates(const reader *r, const ig_json *topology,
                            shard_problem *p) {
    const struct {
        const char *name;
        double otherwise, *out;
    } rates[] = {
        { "hbm_mem_bw", 897 * GIB_PER_S, &p->hbm },
        { "ddr_mem_bw", 51 * GIB_PER_S, &p->ddr },
        { "hbm_to_ddr_mem_bw", 32 * GIB_PER_S, &p->hbm_to_ddr },
        { "intra_host_bw", 600 * GIB_PER_S, &p->intra_host },
        { "inter_host_bw", 12.5 * GIB_PER_S, &p->inter_host },
        { "bwd_compute_multiplier", 2, &p->backward },
        { "weighted_feature_bwd_compute_multiplier", 1, &p->weighted_backward },
    };
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        const ig_json *given = ig_json_get(topology, rates[i].name);
        *rates[i].out = rates[i].otherwise;
        if (given && (!ig_json_real(given, rates[i].out) ||
                      !(*rates[i].out > 0 && *rates[i].out <= MAX_RATE))) {
            return ig_error(&r->context->diag, IG_INVALID, r->where,
                            "topology: \"%s\" must be a number above 0 (bandwidths "
                            "are bytes per millisecond)",
                            rates[i].name);
        }
    }
    return IG_OK;
}

static ig_status read_bool(const reader *r, const ig_json *object, const char *name,
                           bool otherwise, bool *out) {
    const ig_json *value = ig_json_get(object, name);
    *out = value ? ig_json_is_true(value) : otherwise;
    return !value || value->kind == IG_JSON_BOOL
               ? IG_OK
               : ig_error(&r->context->diag, IG_INVALID, r->where,
                          "%s: \"%s\" must be true or false", r->owner, name);
}

static ig_status read_topology(reader *r, const ig_json *topology, shard_problem *p) {
    static const char *const known[] = { "world_size",
                                         "local_world_size",
                                         "compute_device",
                                         "hbm_cap",
                                         "ddr_cap",
                                         "latency_us",
                                         "hbm_mem_bw",
                                         "ddr_mem_bw",
                                         "hbm_to_ddr_mem_bw",
                                         "intra_host_bw",
                                         "inter_host_bw",
                                         "bwd_compute_multiplier",
                                         "weighted_feature_bwd_compute_multiplier",
                                         "is_training",
                                         "shares_memory",
                                         NULL };
    r->owner = "topology";
    if (!topology) {
        return ig_error(
            &r->context->diag, IG_INVALID, r->where,
            "there is no topology: give --topology T.json (\"world_size\", "
            "\"compute_device\" …), or have ingot shard --measure make one");
    }
    const char *device = ig_json_text(ig_json_get(topology, "compute_device"));
    p->is_cuda = ig_str_is(ig_str_of(device), "cuda");
    if (!p->is_cuda && !ig_str_is(ig_str_of(device), "cpu")) {
        return ig_error(&r->context->diag, IG_INVALID, r->where,
                        "topology: \"compute_device\" must be \"cuda\" or \"cpu\"");
    }
    IG_TRY(refuse_unknown(r, topology, known));
    IG_TRY(
        read_int(r, topology, (int_field){ "world_size", 1, MAX_WORLD, 0 }, &p->world));
    IG_TRY(read_int(r, topology,
                    (int_field){ "local_world_size", 1, p->world, p->world },
                    &p->local_world));
    if (p->world % p->local_world != 0) {
        return ig_error(&r->context->diag, IG_INVALID, r->where,
                        "topology: \"local_world_size\" %lld does not divide "
                        "\"world_size\" %lld",
                        (long long)p->local_world, (long long)p->world);
    }
    int64_t cap;
    IG_TRY(read_int(r, topology, (int_field){ "hbm_cap", 0, MAX_BYTES, DEVICE_BYTES },
                    &cap));
    p->hbm_cap = p->is_cuda ? (double)cap : 0;
    IG_TRY(read_int(r, topology, (int_field){ "ddr_cap", 0, MAX_BYTES, HOST_BYTES },
                    &cap));
    p->ddr_cap = (double)cap;
    int64_t latency = p->world > p->local_world ? NETWORK_US : HOST_US;
    IG_TRY(read_int(r, topology, (int_field){ "latency_us", 0, MAX_US, latency },
                    &latency));
    p->latency = (double)latency / 1000;
    IG_TRY(read_bool(r, topology, "is_training", true, &p->is_training));
    IG_TRY(read_bool(r, topology, "shares_memory", false, &p->shares_memory));
    return read_rates(r, topology, p);
}

/* Bits of the names in the list; all bits where there is no list. */
static ig_status read_names(const reader *r, const ig_json *list,
                            const char *const *names, unsigned count, unsigned *out) {
    *out = list ? 0 : (1u << count) - 1;
    if (list && (list->kind != IG_JSON_ARRAY || ig_json_count(list) == 0)) {
        return ig_error(&r->context->diag, IG_INVALID, r->where,
                        "%s: expected a list of at least one name, as [\"%s\"]",
                        r->owner, names[0]);
    }
    for (size_t i = 0; i < ig_json_count(list); i++) {
        const char *name = ig_json_text(&list->as.list.items[i]);
        unsigned k = 0;
        while (k < count && !ig_str_is(ig_str_of(names[k]), name)) {
            k++;
        }
        if (k == count) {
            return ig_error(&r->context->diag, IG_UNSUPPORTED, r->where,
                            "%s: there is no estimate for '%s'", r->owner, name);
        }
        *out |= 1u << k;
    }
    return IG_OK;
}

/* A list of `count` numbers; where there is none, of `count` times `otherwise`.
 * *count 0: as many as there are, at least one. */
static ig_status read_numbers(const reader *r, const ig_json *given, const char *key,
                              double otherwise, size_t *count, double **out) {
    const ig_json *list = ig_json_get(given, key);
    size_t there = ig_json_count(list);
    bool is_good = !list || (list->kind == IG_JSON_ARRAY && there > 0 &&
                             there <= MAX_FEATURES && (!*count || there == *count));
    *count = *count ? *count : there > 0 ? there : 1;
    *out = IG_NEW_ARRAY(r->arena, double, is_good ? *count : 1);
    for (size_t i = 0; is_good && i < *count; i++) {
        double *number = &(*out)[i];
        *number = otherwise;
        is_good = !list || (ig_json_real(&list->as.list.items[i], number) &&
                            *number >= 0 && *number <= MAX_POOLING);
    }
    return is_good ? IG_OK
                   : ig_error(&r->context->diag, IG_INVALID, r->where,
                              "%s: \"%s\" must be a list of numbers from 0 to %.0f, "
                              "one a feature",
                              r->owner, key, MAX_POOLING);
}

/* What one rank's batch has of the table's features. */
static ig_status read_features(const reader *r, const ig_json *given,
                               const shard_problem *p, shard_table *table) {
    size_t count = 0;
    double *lengths, *poolings, *batches;
    double batch = (double)p->batch_size;
    IG_TRY(read_numbers(r, given, "pooling_factors", 1, &count, &lengths));
    IG_TRY(read_numbers(r, given, "num_poolings", 1, &count, &poolings));
    IG_TRY(read_numbers(r, given, "batch_sizes", batch, &count, &batches));
    for (size_t i = 0; i < count; i++) {
        table->ids += lengths[i] * poolings[i] * batches[i];
        table->bags += fmin(1, lengths[i]) * poolings[i] * batches[i];
        table->held_ids += lengths[i] * batches[i];
    }
    return IG_OK;
}

/* Weights of equal slices of the rows, which become parts of 1. */
static ig_status read_shares(const reader *r, const ig_json *given,
                             shard_table *table) {
    const ig_json *list = ig_json_get(given, "row_shares");
    size_t count = ig_json_count(list);
    double *shares = IG_NEW_ARRAY(r->arena, double, count + 1), sum = 0;
    bool is_good = !list ||
                   (list->kind == IG_JSON_ARRAY && count > 0 && count <= MAX_SHARES);
    for (size_t i = 0; i < count && is_good; i++) {
        is_good = ig_json_real(&list->as.list.items[i], &shares[i]) && shares[i] >= 0 &&
                  shares[i] <= MAX_RATE;
        sum += shares[i];
    }
    if (!is_good || (list && !(sum > 0))) {
        return ig_error(&r->context->diag, IG_INVALID, r->where,
                        "%s: \"row_shares\" must be a list of at most %d numbers from "
                        "0 on, one of them above: look-ups in equal slices of the rows",
                        r->owner, MAX_SHARES);
    }
    for (size_t i = 0; i < count; i++) {
        shares[i] /= sum;
    }
    table->shares = list ? shares : NULL;
    table->share_count = count;
    return IG_OK;
}

/* Rows are of f32 where nothing else is said. */
static ig_status read_row(const reader *r, const ig_json *json, shard_table *table) {
    enum { WIDEST = 8 };
    int64_t plain = table->dim * SHARD_ELEMENT_BYTES;
    IG_TRY(read_int(r, json,
                    (int_field){ "row_bytes", 1, (MAX_DIM + 1) * WIDEST, plain },
                    &table->row_bytes));
    return read_int(r, json, (int_field){ "row_factors", 0, table->row_bytes - 1, 0 },
                    &table->row_factors);
}

/* ---- constraints ---- */

typedef struct table_names {
    const ig_json *tables;
    const ig_json *constraints;
    size_t *constrained; /* of each constraint: its table */
} table_names;

static const char *table_name(const table_names *n, size_t index) {
    return ig_json_text(ig_json_get(&n->tables->as.list.items[index], "name"));
}

/* Which table is called `key`, or has that part between dots in its name alone, as
 * TorchRec's names are of weights; SIZE_MAX: none, or several. */
static size_t table_of(const table_names *n, const char *key, size_t *out_matches) {
    size_t found = SIZE_MAX;
    *out_matches = 0;
    for (size_t i = 0; i < ig_json_count(n->tables); i++) {
        const char *name = table_name(n, i);
        if (strcmp(name, key) == 0) {
            *out_matches = 1;
            return i;
        }
        if (*key && ig_name_has_part(name, key)) {
            found = i;
            (*out_matches)++;
        }
    }
    return *out_matches == 1 ? found : SIZE_MAX;
}

static const char *list_tables(const reader *r, const table_names *n) {
    enum { SHOWN = 20 };
    ig_writer out;
    ig_writer_init(&out, r->arena);
    size_t count = ig_json_count(n->tables);
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        ig_put(&out, "%s'%s'", i ? ", " : "", table_name(n, i));
    }
    ig_put(&out, "%s", count > SHOWN ? " …" : "");
    return out.data;
}

/* A name that no table has would be a wish without effect. */
static ig_status find_constrained(const reader *r, table_names *n) {
    size_t count = ig_json_count(n->constraints);
    n->constrained = IG_NEW_ARRAY(r->arena, size_t, count + 1);
    for (size_t i = 0; i < count; i++) {
        size_t matches;
        const char *key = n->constraints->as.list.keys[i].data;
        n->constrained[i] = table_of(n, key, &matches);
        if (n->constrained[i] == SIZE_MAX) {
            return ig_error(&r->context->diag, IG_INVALID, r->where,
                            "constraints: %s table is '%s'; there are %s",
                            matches ? "more than one" : "no", key, list_tables(r, n));
        }
    }
    return IG_OK;
}

/* The constraints on the table under any of its names; under a short one first. */
static const ig_json *constraints_of(const reader *r, const table_names *n,
                                     size_t table) {
    size_t total = 0, count = 0;
    const ig_json *all = n->constraints;
    for (size_t i = 0; i < ig_json_count(all); i++) {
        bool is_its = n->constrained[i] == table;
        total += is_its ? ig_json_count(&all->as.list.items[i]) : 0;
    }
    ig_json *items = IG_NEW_ARRAY(r->arena, ig_json, total + 1);
    ig_str *keys = IG_NEW_ARRAY(r->arena, ig_str, total + 1);
    for (int is_exact = 0; is_exact < 2; is_exact++) {
        for (size_t i = 0; i < ig_json_count(all); i++) {
            const ig_json *own = &all->as.list.items[i];
            const char *key = all->as.list.keys[i].data;
            bool is_its = n->constrained[i] == table &&
                          (strcmp(key, table_name(n, table)) == 0) == is_exact;
            for (size_t k = 0; is_its && k < ig_json_count(own); k++) {
                keys[count] = own->as.list.keys[k];
                items[count++] = own->as.list.items[k];
            }
        }
    }
    ig_json *merged = IG_NEW(r->arena, ig_json);
    *merged = (ig_json){ .kind = IG_JSON_OBJECT,
                         .as.list = { .keys = keys, .items = items, .count = count } };
    return merged;
}

static ig_status check_names(const reader *r, const table_names *n) {
    for (size_t i = 0; i < ig_json_count(n->tables); i++) {
        for (size_t k = 0; k < i && *table_name(n, i); k++) {
            if (strcmp(table_name(n, i), table_name(n, k)) == 0) {
                return ig_error(&r->context->diag, IG_INVALID, r->where,
                                "\"tables\": two tables are named '%s'",
                                table_name(n, i));
            }
        }
    }
    return IG_OK;
}

/* ---- tables ---- */

static ig_status read_table(reader *r, const table_names *names, size_t index,
                            const shard_problem *p, shard_table *table) {
    static const char *const known[] = {
        "sharding_types",  "compute_kernels", "min_partition",
        "pooling_factors", "num_poolings",    "batch_sizes",
        "is_weighted",     "row_shares",      NULL
    };
    const ig_json *json = &names->tables->as.list.items[index];
    r->owner = "a table";
    table->name = ig_json_text(ig_json_get(json, "name"));
    if (!*table->name) {
        return ig_error(&r->context->diag, IG_INVALID, r->where,
                        "a table of \"tables\" has no \"name\"");
    }
    r->owner = ig_arena_printf(r->arena, "table '%s'", table->name);
    IG_TRY(read_int(r, json, (int_field){ "rows", 1, MAX_ROWS, 0 }, &table->rows));
    IG_TRY(read_int(r, json, (int_field){ "dim", 1, MAX_DIM, 0 }, &table->dim));
    IG_TRY(read_row(r, json, table));
    const ig_json *given = constraints_of(r, names, index);
    r->owner = ig_arena_printf(r->arena, "constraints of table '%s'", table->name);
    IG_TRY(refuse_unknown(r, given, known));
    IG_TRY(read_int(r, given, (int_field){ "min_partition", 1, MAX_DIM, MIN_COLUMNS },
                    &table->min_partition));
    IG_TRY(read_names(r, ig_json_get(given, "sharding_types"), shard_type_names,
                      SHARD_TYPE_COUNT, &table->types));
    IG_TRY(read_names(r, ig_json_get(given, "compute_kernels"), shard_kernel_names,
                      SHARD_KERNEL_COUNT, &table->kernels));
    table->is_asked = ig_json_get(given, "sharding_types") != NULL;
    if (!table->is_asked) {
        table->types &= ~(1u << SHARD_GRID); /* only where it is asked for */
    }
    /* As TorchRec: a collection of bags knows it itself. */
    const ig_json *sequence = ig_json_get(json, "is_sequence");
    table->is_sequence = sequence ? ig_json_is_true(sequence) : p->is_sequence;
    table->is_weighted = table->is_sequence
                             ? ig_json_is_true(ig_json_get(given, "is_weighted"))
                             : p->is_weighted;
    IG_TRY(read_shares(r, given, table));
    return read_features(r, given, p, table);
}

/* The purpose of the formulas: float32 tables in one of TorchRec's two collections. */
static ig_status read_module(const reader *r, const ig_json *json, shard_problem *p) {
    const ig_json *module = ig_json_get(json, "module");
    const ig_json *dtype = ig_json_get(json, "data_type");
    p->module_path = ig_json_text(ig_json_get(json, "module_path"));
    ig_str kind = ig_str_of(module ? ig_json_text(module) : "EmbeddingBagCollection");
    p->is_sequence = ig_str_is(kind, "EmbeddingCollection");
    p->is_weighted = ig_json_is_true(ig_json_get(json, "is_weighted"));
    if (!p->is_sequence && !ig_str_is(kind, "EmbeddingBagCollection")) {
        return ig_error(&r->context->diag, IG_UNSUPPORTED, r->where,
                        "\"module\" must be \"EmbeddingBagCollection\" or "
                        "\"EmbeddingCollection\"");
    }
    if (dtype && !ig_str_is(ig_str_of(ig_json_text(dtype)), "FP32")) {
        return ig_error(
            &r->context->diag, IG_UNSUPPORTED, r->where,
            "\"data_type\": only \"FP32\"; a table's \"row_bytes\" says what "
            "another type takes");
    }
    if (ig_json_count(ig_json_get(json, "fused_params")) > 0) {
        return ig_error(&r->context->diag, IG_UNSUPPORTED, r->where,
                        "\"fused_params\": no estimate takes them into account");
    }
    return IG_OK;
}

ig_status shard_problem_read(ig_context *context, ig_arena *arena,
                             const ig_location *where, ig_str text,
                             shard_problem *out_problem) {
    reader r = { .context = context, .arena = arena, .where = where };
    shard_problem *p = out_problem;
    const ig_json *json;
    IG_TRY(ig_json_read(context, arena, where, text, &json));
    r.owner = "input";
    IG_TRY(read_int(&r, json, (int_field){ "batch_size", 1, MAX_BATCH, DEFAULT_BATCH },
                    &p->batch_size));
    IG_TRY(read_module(&r, json, p));
    IG_TRY(read_topology(&r, ig_json_get(json, "topology"), p));
    p->given_plan = ig_json_get(json, "plan");
    const ig_json *tables = ig_json_get(json, "tables");
    if (!tables || tables->kind != IG_JSON_ARRAY || ig_json_count(tables) == 0) {
        return ig_error(&context->diag, IG_INVALID, where,
                        "\"tables\" must be a list of at least one table");
    }
    p->table_count = ig_json_count(tables);
    p->tables = IG_NEW_ARRAY(arena, shard_table, p->table_count);
    table_names names = { tables, ig_json_get(json, "constraints"), NULL };
    IG_TRY(check_names(&r, &names));
    IG_TRY(find_constrained(&r, &names));
    for (size_t i = 0; i < p->table_count; i++) {
        IG_TRY(read_table(&r, &names, i, p, &p->tables[i]));
    }
    return IG_OK;
}
