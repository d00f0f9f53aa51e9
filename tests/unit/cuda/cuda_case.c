/* A tensor graph run twice; see the header.
 * SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/cuda/cuda_case.h"

#include "base/platform/platform.h"
#include "ir/data.h"
#include "ir/parse/read.h"
#include "ir/verify/verify.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- the case ---- */

static void keep_message(void *user, const ig_diagnostic *diagnostic) {
    cuda_case *c = user;
    ig_diagnostic_format(diagnostic, c->last, sizeof c->last);
}

void cuda_case_init(cuda_case *c, const char *target) {
    memset(c, 0, sizeof *c);
    c->context.limits = ig_limits_default;
    c->context.diag = (ig_diag){ .sink = keep_message, .user = c };
    ig_arena_init(&c->arena, &c->context.budget);
    ig_map_init(&c->memory, &c->arena);
    c->target = ig_target_find(ig_str_of(target));
    c->report.operand = -1;
    CHECK(c->target != NULL);
}

static uint64_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

static void fill(ig_tensor *tensor, int64_t bound, uint64_t *state) {
    for (int64_t i = 0; i < tensor->count; i++) {
        uint64_t random = next_random(state);
        if (ig_dtype_is_float(tensor->dtype)) {
            ig_tensor_set_f64(tensor, i, (double)(random % 65536) / 32768.0 - 1.0);
        } else {
            ig_tensor_set_i64(tensor, i, (int64_t)(random % (uint64_t)bound));
        }
    }
}

static int64_t value_of(cuda_case *c, ig_dim dim) {
    int64_t value = 0;
    CHECK(ig_dim_evaluate(c->module, dim, c->symbols, &value));
    return value;
}

void cuda_case_open(cuda_case *c, const char *target, const char *text,
                    const int64_t *extents, int64_t bound) {
    cuda_case_init(c, target);
    ig_status status = ig_parse_module(&c->context, "test", ig_str_of(text),
                                       &c->module);
    CHECK_MSG(status == IG_OK, "%s", c->last);
    c->graph = ig_module_graph(c->module, "main");
    for (uint32_t i = 0; i < ig_symbol_count(c->module); i++) {
        c->symbols[i] = extents[i];
    }
    uint64_t state = 7;
    for (uint32_t i = 0; i < c->graph->body.arg_count; i++) {
        const ig_type *type = c->graph->body.args[i]->type;
        int64_t dims[IG_TENSOR_RANK];
        for (uint32_t d = 0; d < type->rank; d++) {
            dims[d] = value_of(c, type->dims[d]);
        }
        CHECK_OK(ig_tensor_alloc(&c->arena, NULL, (ig_dtype)type->dtype, type->rank,
                                 dims, &c->inputs[i]));
        fill(&c->inputs[i], bound, &state);
    }
}

/* Extents that are a symbol give it its value. */
static void bind_symbols(cuda_case *c, const ig_type *type, const ig_tensor *input) {
    for (uint32_t d = 0; d < type->rank; d++) {
        if (ig_dim_as_symbol(c->module, type->dims[d])) {
            c->symbols[ig_symbol_index(c->module, type->dims[d])] = input->dims[d];
        }
    }
}

ig_status cuda_case_take(cuda_case *c, const char *text, const ig_tensor *inputs) {
    IG_TRY(ig_parse_module(&c->context, "test", ig_str_of(text), &c->module));
    c->graph = ig_module_graph(c->module, "main");
    for (uint32_t i = 0; i < c->graph->body.arg_count; i++) {
        c->inputs[i] = inputs[i];
        bind_symbols(c, c->graph->body.args[i]->type, &inputs[i]);
    }
    return IG_OK;
}

void cuda_case_close(cuda_case *c) {
    ig_module_destroy(c->module);
    ig_arena_fini(&c->arena);
}

void cuda_case_passes(cuda_case *c, const char *pipeline) {
    ig_pass_options options = { .target = c->target, .tf32 = c->tf32 };
    ig_status status = ig_passes_run(c->module, &options, pipeline);
    CHECK_MSG(status == IG_OK, "%s", c->last);
    status = ig_verify_module(c->module);
    CHECK_MSG(status == IG_OK, "%s", c->last);
}

/* ---- memory of the plan ---- */

static int64_t bytes_of(cuda_case *c, const ig_value *root) {
    int64_t count = value_of(c, ig_type_count(c->module, root->type));
    return count * (ig_dtypes[root->type->dtype].bits / 8);
}

/* Rows of tables that are not plain hold more than their values. */
static ig_kernel_buffer weight_memory(cuda_case *c, const ig_op *op) {
    const char *name = ig_attr_str(op, IG_weight_name);
    const ig_weight *weight = ig_module_weight(c->module, name);
    int64_t bytes = bytes_of(c, op->results);
    ig_tensor value;
    if (weight->is_recipe) {
        return (ig_kernel_buffer){ .data = c->recipes[weight->index].data,
                                   .bytes = bytes };
    }
    if (op->results->type->kind == IG_TABLE) {
        void *only_read = (void *)(uintptr_t)weight->data.bytes;
        return (ig_kernel_buffer){ .data = only_read, .bytes = weight->data.size };
    }
    CHECK_OK(ig_tensor_of_data(&weight->data, &c->arena, &c->context, &value));
    return (ig_kernel_buffer){ .data = value.data, .bytes = bytes };
}

static const ig_kernel_buffer *root_memory(cuda_case *c, const ig_value *root) {
    ig_kernel_buffer *known = ig_map_get_id(&c->memory, IG_MAP_PTR(root));
    if (known) {
        return known;
    }
    const ig_op *op = root->def;
    known = IG_NEW(&c->arena, ig_kernel_buffer);
    known->bytes = bytes_of(c, root);
    if (!op) {
        known->data = c->inputs[root->index].data;
    } else if (op->code == IG_OP_weight || op->code == IG_OP_table) {
        *known = weight_memory(c, op);
    } else {
        known->data = ig_arena_alloc(&c->arena, (size_t)known->bytes + 64);
        memset(known->data, 0x7f, (size_t)known->bytes); /* what is not written shows */
    }
    ig_map_set_id(&c->memory, IG_MAP_PTR(root), known);
    IG_PUSH(&c->arena, &c->roots, known);
    return known;
}

static ig_kernel_buffer memory_of(cuda_case *c, const ig_value *value) {
    const ig_op *view = ig_def(value, IG_OP_view);
    if (!view) {
        return *root_memory(c, value);
    }
    ig_kernel_buffer buffer = *root_memory(c, view->operands[0].value);
    int64_t offset = value_of(c, view->attrs[IG_view_offset].as.dim) *
                     (ig_dtypes[value->type->dtype].bits / 8);
    offset = offset < buffer.bytes ? offset : buffer.bytes; /* of nothing */
    buffer.data = (char *)buffer.data + offset;
    buffer.bytes -= offset;
    buffer.before = offset; /* strides may lead back */
    return buffer;
}

/* ---- launches ---- */

static void resolve_launch(cuda_case *c, const ig_op *op, cuda_launch *out) {
    const ig_attr *params = &op->attrs[IG_launch_params];
    CHECK(op->operand_count <= CUDA_CASE_BUFFERS && params->count <= CUDA_CASE_PARAMS);
    out->kernel = ig_module_graph(c->module, ig_attr_str(op, IG_launch_kernel));
    out->grid = value_of(c, op->attrs[IG_launch_grid].as.dim);
    out->threads = (uint32_t)ig_attr_int(op, IG_launch_threads, 0);
    CHECK_MSG(out->threads > 1, "'%s' has no block of threads", out->kernel->name);
    for (uint32_t i = 0; i < op->operand_count; i++) {
        out->buffers[out->buffer_count++] = memory_of(c, op->operands[i].value);
    }
    for (uint32_t i = 0; params->kind == IG_ATTR_DIMS && i < params->count; i++) {
        out->params[out->param_count++] = value_of(c, params->as.dims[i]);
    }
}

static void compute_recipes(cuda_case *c) {
    ig_graph *weights = ig_module_graph(c->module, "weights");
    if (weights) {
        ig_tensor *values = IG_NEW_ARRAY(&c->arena, ig_tensor,
                                         weights->body.last->operand_count);
        CHECK_OK(ig_interpret(weights, NULL, &c->arena, values));
        c->recipes = values;
    }
}

/* A plan of launches alone, in memory of extents that are known before them; its
 * guards, which the cases hold to, are a session's to check. */
static ig_status check_plan(cuda_case *c) {
    for (const ig_op *op = c->graph->body.first; op; op = op->next) {
        bool is_known = op->code == IG_OP_alloc || op->code == IG_OP_view ||
                        op->code == IG_OP_weight || op->code == IG_OP_table ||
                        op->code == IG_OP_launch || op->code == IG_OP_guard ||
                        op->code == IG_OP_ret;
        if (!is_known) {
            snprintf(c->last, sizeof c->last, "a plan with %s", ig_ops[op->code].name);
            return IG_UNSUPPORTED;
        }
    }
    return IG_OK;
}

ig_status cuda_case_resolve(cuda_case *c) {
    IG_TRY(check_plan(c));
    compute_recipes(c);
    c->launches = IG_NEW_ARRAY(&c->arena, cuda_launch, CUDA_CASE_LAUNCHES);
    for (const ig_op *op = c->graph->body.first; op; op = op->next) {
        if (op->code == IG_OP_launch) {
            CHECK(c->launch_count < CUDA_CASE_LAUNCHES);
            resolve_launch(c, op, &c->launches[c->launch_count++]);
        }
    }
    const ig_op *ret = c->graph->body.last;
    for (uint32_t i = 0; i < ret->operand_count; i++) {
        const ig_value *value = ret->operands[i].value;
        const ig_type *type = value->type;
        c->got[i] = (ig_tensor){ .kind = IG_TENSOR,
                                 .dtype = (ig_dtype)type->dtype,
                                 .rank = type->rank,
                                 .count = value_of(c, ig_type_count(c->module, type)),
                                 .data = memory_of(c, value).data };
        for (uint32_t d = 0; d < type->rank; d++) {
            c->got[i].dims[d] = value_of(c, type->dims[d]);
        }
    }
    return IG_OK;
}

void cuda_case_lower(cuda_case *c) {
    ig_status status = ig_interpret(c->graph, c->inputs, &c->arena, c->expected);
    CHECK_MSG(status == IG_OK, "interpreter: %s", c->last);
    cuda_case_passes(c, "pack,fuse,bufferise,lower");
    status = cuda_case_resolve(c);
    CHECK_MSG(status == IG_OK, "%s", c->last);
}

static ig_status put_kernels(cuda_case *c, void *state, ig_writer *text) {
    for (size_t i = 0; i < c->module->graphs.count; i++) {
        const ig_graph *graph = c->module->graphs.items[i];
        if (graph->stage == IG_STAGE_KERNEL) {
            IG_TRY(ig_backend_cuda.emit(state, graph, IG_EMIT_TEXT, text));
        }
    }
    return IG_OK;
}

const char *cuda_case_source(cuda_case *c) {
    void *state = NULL;
    ig_writer text;
    ig_writer_init(&text, &c->arena);
    CHECK_OK(ig_backend_cuda.open(&c->context, c->target, &state));
    ig_status status = put_kernels(c, state, &text);
    ig_backend_cuda.close(state);
    return status == IG_OK ? ig_writer_str(&text).data : NULL;
}

static void compare_output(uint32_t output, const ig_tensor *expected,
                           const ig_tensor *got, double bound) {
    double error = 0.0, size = 0.0;
    for (int64_t k = 0; k < expected->count; k++) {
        double want = ig_tensor_get_f64(expected, k), is = ig_tensor_get_f64(got, k);
        bool is_same = want == is || (isnan(want) && isnan(is));
        bool is_close = is_same || (isfinite(want) && isfinite(is) &&
                                    ig_dtype_is_float(expected->dtype));
        CHECK_MSG(is_close, "output %u [%lld]: %.17g, not %.17g", output, (long long)k,
                  is, want);
        error += is_same ? 0.0 : (is - want) * (is - want);
        size += isfinite(want) ? want * want : 0.0;
    }
    double rms = error == 0.0 ? 0.0 : sqrt(error / (size > 0.0 ? size : 1e-30));
    CHECK_MSG(rms <= bound, "output %u: the relative error is %g", output, rms);
}

void cuda_case_compare(cuda_case *c, double bound) {
    CHECK_INT(c->report.operand, -1);
    for (uint32_t i = 0; i < c->graph->body.last->operand_count; i++) {
        compare_output(i, &c->expected[i], &c->got[i], bound);
    }
}

void cuda_case_run(cuda_case *c, cuda_run *run) {
    ig_status status = run(c);
    CHECK_MSG(status == IG_OK, "%s", c->last);
}

void cuda_case_check(const cuda_text *text, cuda_run *run) {
    cuda_case c;
    cuda_case_open(&c, "cuda:sm_80", text->text, text->extents, text->bound);
    c.tf32 = text->tf32;
    if (text->prepare) {
        text->prepare(&c);
    }
    cuda_case_lower(&c);
    cuda_case_run(&c, run);
    cuda_case_compare(&c, text->tf32 ? 5e-4 : 1e-6);
    cuda_case_close(&c);
}

/* ---- the interpreter of kernel form ---- */

static ig_status interpret_tiles(cuda_case *c, const cuda_launch *l, int64_t begin,
                                 int64_t end) {
    ig_kernel_call call = { .buffers = l->buffers,
                            .params = l->params,
                            .tile_begin = begin,
                            .tile_end = end,
                            .threads = l->threads,
                            .check_races = true };
    IG_TRY(ig_interpret_kernel(l->kernel, &call));
    bool is_less = c->report.operand < 0 || call.report_operand < c->report.operand ||
                   (call.report_operand == c->report.operand &&
                    call.report_position < c->report.position);
    if (call.reported && is_less) {
        c->report = (ig_kernel_report_v0){ call.report_operand, call.report_position,
                                           call.report_value };
    }
    return IG_OK;
}

/* Two calls, the later tiles first. */
ig_status cuda_interpret_launch(cuda_case *c, const cuda_launch *l) {
    IG_TRY(interpret_tiles(c, l, l->grid / 3, l->grid));
    return interpret_tiles(c, l, 0, l->grid / 3);
}

ig_status cuda_run_interpreter(cuda_case *c) {
    for (uint32_t i = 0; i < c->launch_count; i++) {
        IG_TRY(cuda_interpret_launch(c, &c->launches[i]));
    }
    return IG_OK;
}

/* ---- whole models ---- */

static void randomise_weights(cuda_case *c) {
    uint64_t state = 11;
    for (size_t i = 0; i < c->module->weights.count; i++) {
        ig_data *data = &c->module->weights.items[i]->data;
        int64_t dims[IG_TENSOR_RANK];
        for (uint32_t d = 0; d < data->type->rank; d++) {
            dims[d] = ig_dim_value(data->type->dims[d]);
        }
        ig_tensor values;
        CHECK_OK(ig_tensor_alloc(&c->arena, NULL, (ig_dtype)data->type->dtype,
                                 data->type->rank, dims, &values));
        for (int64_t k = 0; k < values.count; k++) {
            double unit = (double)(next_random(&state) % 65536) / 32768.0 - 1.0;
            ig_tensor_set_f64(&values, k, unit / 8);
        }
        *data = (ig_data){ .type = data->type,
                           .bytes = values.data,
                           .size = values.count * ig_dtypes[values.dtype].bits / 8 };
    }
}

void cuda_check_model(cuda_run *run, const char *name, int64_t extent) {
    char path[500];
    cuda_case c;
    ig_file_map file;
    snprintf(path, sizeof path, INGOT_SOURCE_DIR "/tests/models/%s.ig", name);
    CHECK_OK(ig_file_map_open(path, &file, NULL));
    char *text = calloc(file.size + 1, 1);
    memcpy(text, file.data, file.size);
    cuda_case_open(&c, "cuda:sm_90a", text, &extent, 100);
    randomise_weights(&c);
    cuda_case_lower(&c);
    cuda_case_run(&c, run);
    cuda_case_compare(&c, 1e-6);
    cuda_case_close(&c);
    free(text);
    ig_file_map_close(&file);
}
