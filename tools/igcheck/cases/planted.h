/* Click data with a planted signal, of integer arithmetic alone: the README of
 * models/training gives the formulas.  SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_IGCHECK_CASES_PLANTED_H
#define IG_TOOLS_IGCHECK_CASES_PLANTED_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

enum { PLANTED_FIELDS = 64 };

typedef struct planted_field {
    uint64_t rows;
    int64_t min_length, max_length;
    int is_mean, is_skewed;
    int64_t *effects; /* [rows] */
    int64_t *latent;  /* [rows][4] */
} planted_field;

typedef struct planted {
    uint64_t seed;
    size_t dense, field_count, pair_count;
    int64_t threshold, noise;
    planted_field fields[PLANTED_FIELDS];
    int pairs[PLANTED_FIELDS][2];
    int64_t *dense_effects;
} planted;

/* Samples of one call. */
typedef struct planted_batch {
    size_t count;
    float *dense, *labels;            /* [count][dense], [count] */
    int64_t *ids[PLANTED_FIELDS];     /* of all samples, one after the other */
    int64_t *offsets[PLANTED_FIELDS]; /* [count + 1] */
} planted_batch;

/* Of a case's "data". */
void planted_open(planted *p, const json_t *data);
void planted_close(planted *p);
/* Samples first … first + count; to be freed with planted_batch_free. */
void planted_draw(const planted *p, uint64_t first, size_t count, planted_batch *out);
void planted_batch_free(planted_batch *batch);

#endif
