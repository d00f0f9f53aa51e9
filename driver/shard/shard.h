/* Tables, machines, and the ways to place the ones on the others.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Bytes and counts are doubles: those in use are whole numbers below 2^53, and hostile
 * ones overflow without harm.
 */
#ifndef IG_DRIVER_SHARD_SHARD_H
#define IG_DRIVER_SHARD_SHARD_H

#include "frontend/pt2/json.h"

typedef enum shard_type {
    SHARD_DATA_PARALLEL,
    SHARD_TABLE_WISE,
    SHARD_COLUMN_WISE,
    SHARD_TABLE_COLUMN_WISE,
    SHARD_ROW_WISE,
    SHARD_TABLE_ROW_WISE,
    SHARD_GRID, /* rows over the ranks of a host, columns over hosts */
    SHARD_TYPE_COUNT
} shard_type;

typedef enum shard_kernel {
    SHARD_DENSE,
    SHARD_FUSED,
    SHARD_FUSED_UVM,
    SHARD_FUSED_UVM_CACHING,
    SHARD_KERNEL_COUNT
} shard_kernel;

/* The names of TorchRec, by the enums above. */
extern const char *const shard_type_names[SHARD_TYPE_COUNT];
extern const char *const shard_kernel_names[SHARD_KERNEL_COUNT];

typedef struct shard_table {
    const char *name;
    int64_t rows, dim;
    int64_t row_bytes, row_factors; /* of a row; of its scale and bias among them */
    int64_t min_partition;          /* least width of a column-wise shard */
    unsigned types;                 /* bit i: shard_type i is allowed */
    unsigned kernels;
    double ids, bags;     /* of one rank's batch, over all features */
    double held_ids;      /* those that TorchRec sets memory aside for */
    const double *shares; /* of look-ups, in equal slices of rows; NULL: even */
    size_t share_count;
    bool is_asked;                 /* `types` are those that constraints give */
    bool is_weighted, is_sequence; /* sequence: look-ups are not pooled */
} shard_table;

/* Is the type one that cuts rows, columns, or both? */
bool shard_cuts_rows(shard_type type);
bool shard_cuts_columns(shard_type type);

/* Bandwidths are bytes per millisecond. */
typedef struct shard_problem {
    const char *module_path; /* of the collection in the model, or "" */
    shard_table *tables;
    size_t table_count;
    int64_t world, local_world, batch_size;
    const ig_json *given_plan; /* or NULL: checked by shard_read_plan */
    bool is_cuda, is_sequence, is_weighted;
    bool is_ours; /* not only what TorchRec has */
    bool is_training;   /* false: nothing is differentiated, tables stay as they are */
    bool shares_memory; /* ranks of a host map the same pages of a replicated table */
    double hbm, ddr, hbm_to_ddr, intra_host, inter_host;
    double backward, weighted_backward; /* factors on a look-up's time */
    double hbm_cap, ddr_cap;            /* bytes of each rank */
    double latency;                     /* ms of one exchange */
} shard_problem;

typedef struct shard_part {
    int64_t size[2], offset[2];                            /* rows, columns */
    double hbm, ddr;                                       /* bytes */
    double fwd_compute, fwd_comms, bwd_compute, bwd_comms; /* milliseconds */
} shard_part;

typedef struct shard_option {
    const shard_table *table;
    shard_type type;
    shard_kernel kernel;
    shard_part *parts;
    int64_t part_count;
} shard_option;

/* Every option of one table, in the order of the enums: type, then kernel. */
typedef struct shard_choice {
    shard_option *options;
    size_t count;
} shard_choice;

enum { SHARD_ELEMENT_BYTES = 4, SHARD_ID_BYTES = 8 };
/* Share of a cached table in device memory. */
#define SHARD_CACHE_SHARE 0.2

/* Reads and checks; all of `out_problem` is in the arena. */
ig_status shard_problem_read(ig_context *context, ig_arena *arena,
                             const ig_location *where, ig_str text,
                             shard_problem *out_problem);
/* Bytes of so many columns of a row; each part of a row has its scale and bias. */
double shard_row_bytes(const shard_table *table, int64_t columns);
/* How `type` cuts the table: sizes and offsets only. */
void shard_cut(ig_arena *arena, const shard_problem *problem, shard_option *option);
/* The part of a table's look-ups that finds its row among these; 0 to 1. */
double shard_share(const shard_table *table, int64_t first, int64_t rows);
/* Rows that one rank's batch gives: samples times features, or ids of a sequence. */
double shard_results(const shard_table *table);
void shard_estimate_memory(const shard_problem *problem, shard_option *option);
void shard_estimate_time(const shard_problem *problem, shard_option *option);
/* One choice per table, cut and estimated.  `where` is for the message about a table
 * that its constraints leave nothing for. */
ig_status shard_list_choices(ig_context *context, ig_arena *arena,
                             const ig_location *where, const shard_problem *problem,
                             shard_choice **out_choices);

#endif
