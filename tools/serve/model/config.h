/* The content of a model's config.json; the names of its fields are Triton's.
 * SPDX-License-Identifier: Apache-2.0
 *
 *     { "max_batch_size": 64,
 *       "version_policy": { "latest": { "num_versions": 2 } },
 *       "dynamic_batching": { "max_queue_delay_microseconds": 500 },
 *       "input": [ { "name": "dense", "data_type": "TYPE_FP32", "dims": [ 13 ] } ],
 *       "ingot": { "inputs": [ "x=f32[B,13]" ], "entry": "forward",
 *                  "script": "around.lua", "then": "ranker" } }
 *
 * Inputs and outputs that it names are held against the program's; fields that this
 * server does not know are stepped over, as Triton's own backends do with each other's.
 */
#ifndef IG_TOOLS_SERVE_MODEL_CONFIG_H
#define IG_TOOLS_SERVE_MODEL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ingot/view.h>

enum { WORDS = 1024, MAX_STORES = 64 }; /* bytes of a message; rows of `stores` */

typedef struct config_port {
    const char *name, *data_type; /* data_type "" where it says none */
    uint32_t rank;                /* the batch not counted where there is one */
    int64_t dims[IG_MAX_RANK];
    bool has_dims;
} config_port;

typedef struct model_config {
    struct json_t *json; /* texts are its; the config's */
    bool has_max_batch_size;
    int64_t max_batch_size; /* requests of more rows are refused; 0: no batches */
    int64_t queue_delay;    /* ns that a request may wait for others */
    int64_t queue_timeout; /* ns after which a request that waits is refused; 0: none */
    size_t max_queue;      /* requests that wait, of all loops; 0: no limit */
    bool is_trusted;       /* an artifact is mapped in place */
    size_t newest;         /* so many versions are served; 0: only `versions`, or all */
    int64_t *versions;     /* these, where version_policy says "specific" */
    size_t version_count;
    config_port *inputs, *outputs;
    size_t input_count, output_count;
    const char *file; /* default_model_filename, or NULL */
    /* How a model that is not an artifact is compiled: as ingot compile takes it. */
    const char **statements;
    size_t statement_count;
    const char *entry; /* or NULL */
    /* Of artifacts with tables in stores. */
    struct {
        const char *table, *url; /* a name, or a pattern */
    } stores[MAX_STORES];
    size_t store_count;
    int64_t refresh;       /* ns after which rows are read again; 0: never */
    int64_t store_timeout; /* ns that a run waits for its rows */
    size_t row_memory;     /* bytes for rows of all tables; 0: the default */
    int64_t shadow;        /* a version that is held against the answers; 0: none */
    double shadow_share;   /* of the runs */
    const char *script;    /* a file of Lua beside config.json, or NULL */
    char *script_path;     /* its path, set by the repository */
    uint64_t script_instructions, script_memory; /* of a call; bytes of a loop */
    const char *then; /* the model that takes what this one gives, or NULL */
} model_config;

/* Reads it from text; `size` 0: all defaults.  False: the words name the error and its
 * place.  config_free in both cases. */
bool config_read(model_config *out, const char *text, size_t size, char words[WORDS]);
void config_free(model_config *of);
/* Is this version one that the config wants, `newer` of the model being newer? */
bool config_wants(const model_config *config, int64_t version, size_t newer);

#endif
