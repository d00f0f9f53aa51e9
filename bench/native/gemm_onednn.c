/* oneDNN: matmul with weights in the layout it asks for, bias and ReLU as post-ops.
 * SPDX-License-Identifier: Apache-2.0 */
#include "bench/native/gemm_peer.h"

#include <dnnl.h>
#include <stdio.h>
#include <stdlib.h>

void omp_set_num_threads(int threads); /* the package is built on GNU OpenMP */

#define OR_NULL(call)                 \
    do {                              \
        if ((call) != dnnl_success) { \
            return NULL;              \
        }                             \
    } while (0)

typedef struct gemm {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_t matmul;
    dnnl_memory_t x, w, bias, y;
} gemm;

static dnnl_memory_desc_t describe(int64_t rows, int64_t columns,
                                   dnnl_format_tag_t tag) {
    dnnl_memory_desc_t desc = NULL;
    dnnl_dims_t dims = { rows, columns };
    (void)dnnl_memory_desc_create_with_tag(&desc, 2, dims, dnnl_f32, tag);
    return desc;
}

static dnnl_primitive_attr_t relu_after(void) {
    dnnl_primitive_attr_t attr = NULL;
    dnnl_post_ops_t ops = NULL;
    (void)dnnl_primitive_attr_create(&attr);
    (void)dnnl_post_ops_create(&ops);
    (void)dnnl_post_ops_append_eltwise(ops, dnnl_eltwise_relu, 0, 0);
    (void)dnnl_primitive_attr_set_post_ops(attr, ops);
    (void)dnnl_post_ops_destroy(ops);
    return attr;
}

/* Copies w into memory of the layout that the primitive wants. */
static dnnl_status_t pack(gemm *g, const_dnnl_memory_desc_t wanted,
                          dnnl_memory_desc_t plain, const float *w) {
    dnnl_memory_t from = NULL;
    dnnl_primitive_desc_t desc = NULL;
    dnnl_primitive_t reorder = NULL;
    (void)dnnl_memory_create(&g->w, wanted, g->engine, DNNL_MEMORY_ALLOCATE);
    (void)dnnl_memory_create(&from, plain, g->engine, (void *)w);
    (void)dnnl_reorder_primitive_desc_create(&desc, plain, g->engine, wanted, g->engine,
                                             NULL);
    (void)dnnl_primitive_create(&reorder, desc);
    dnnl_exec_arg_t args[] = { { DNNL_ARG_FROM, from }, { DNNL_ARG_TO, g->w } };
    dnnl_status_t status = dnnl_primitive_execute(reorder, g->stream, 2, args);
    (void)dnnl_stream_wait(g->stream);
    return status;
}

void *gemm_open(const gemm_shape *shape, const float *w, const float *bias) {
    gemm *g = calloc(1, sizeof *g);
    omp_set_num_threads(shape->threads);
    OR_NULL(dnnl_engine_create(&g->engine, dnnl_cpu, 0));
    OR_NULL(dnnl_stream_create(&g->stream, g->engine, dnnl_stream_default_flags));
    dnnl_memory_desc_t x = describe(shape->m, shape->k, dnnl_ab);
    dnnl_memory_desc_t any = describe(shape->k, shape->n, dnnl_format_tag_any);
    dnnl_memory_desc_t plain = describe(shape->k, shape->n, dnnl_ab);
    dnnl_memory_desc_t row = describe(1, shape->n, dnnl_ab);
    dnnl_memory_desc_t y = describe(shape->m, shape->n, dnnl_ab);
    dnnl_primitive_desc_t desc = NULL;
    OR_NULL(dnnl_matmul_primitive_desc_create(&desc, g->engine, x, any, row, y,
                                              relu_after()));
    OR_NULL(dnnl_primitive_create(&g->matmul, desc));
    OR_NULL(pack(g, dnnl_primitive_desc_query_md(desc, dnnl_query_weights_md, 0), plain,
                 w));
    OR_NULL(dnnl_memory_create(&g->x, x, g->engine, DNNL_MEMORY_NONE));
    OR_NULL(dnnl_memory_create(&g->y, y, g->engine, DNNL_MEMORY_NONE));
    OR_NULL(dnnl_memory_create(&g->bias, row, g->engine, (void *)bias));
    return g;
}

void gemm_run(void *gemm_, const float *x, float *y) {
    gemm *g = gemm_;
    (void)dnnl_memory_set_data_handle(g->x, (void *)x);
    (void)dnnl_memory_set_data_handle(g->y, y);
    dnnl_exec_arg_t args[] = { { DNNL_ARG_SRC, g->x },
                               { DNNL_ARG_WEIGHTS, g->w },
                               { DNNL_ARG_BIAS, g->bias },
                               { DNNL_ARG_DST, g->y } };
    (void)dnnl_primitive_execute(g->matmul, g->stream, 4, args);
    (void)dnnl_stream_wait(g->stream);
}

void gemm_close(void *gemm_) {
    gemm *g = gemm_;
    (void)dnnl_primitive_destroy(g->matmul);
    (void)dnnl_memory_destroy(g->w);
    free(g);
}

const char *gemm_version(void) {
    static char text[64];
    const dnnl_version_t *v = dnnl_version();
    snprintf(text, sizeof text, "%d.%d.%d", v->major, v->minor, v->patch);
    return text;
}
