/* A captured graph a shape.  SPDX-License-Identifier: Apache-2.0
 *
 * The first run of a shape launches its kernels one by one, as many shapes are met only
 * once; the second one captures them.  Grids follow from the shape, addresses and
 * params are read from the tables, so a graph lives as long as its shape and the block.
 */
#include "runtime/cuda/cuda_stage.h"

enum { CAPTURE_THREAD_LOCAL = 1, LEGACY_STREAM = 1 };

/* The oldest stream of all waits for others and cannot capture. */
static bool can_capture(const ig_cuda_queue *queue) {
    return queue->stream != (void *)LEGACY_STREAM;
}

static int launch_each(ig_session *session) {
    const ig_staged *staged = session->staged;
    const ig_shape *shape = session->shape;
    ig_cuda_address report = ig_cuda_address_of(staged->block + staged->reports);
    for (uint32_t i = 0; i < staged->launch_count; i++) {
        const ig_launch *launch = &shape->launches[i];
        assert(launch->step == staged->steps[i] && "launches are in their order");
        int error = launch->grid > 0
                        ? ig_cuda_launch(ig_cuda_session_queue(session), launch, report)
                        : 0;
        if (error) {
            return error;
        }
        report += sizeof(ig_cuda_report);
    }
    return 0;
}

/* Ends the capture also where a launch failed. */
static int capture_launches(ig_session *session, void **out_exec) {
    const ig_cuda_queue *queue = ig_cuda_session_queue(session);
    const ig_cuda_driver *driver = &ig_cuda_gpu_of(queue)->driver;
    void *graph = NULL;
    int error = driver->capture_begin(queue->stream, CAPTURE_THREAD_LOCAL);
    if (error) {
        return error;
    }
    error = launch_each(session);
    int ended = driver->capture_end(queue->stream, &graph);
    if (ended) { /* nothing may be freed while a stream captures */
        (void)driver->capture_end(queue->stream, &graph);
    }
    error = error ? error : ended;
    error = error ? error : driver->graph_make(out_exec, graph, 0);
    if (graph) {
        driver->graph_destroy(graph);
    }
    *out_exec = error ? NULL : *out_exec;
    return error;
}

static void drop_graph(const ig_cuda_driver *driver, ig_cuda_graph *graph) {
    if (graph->exec) {
        driver->graph_exec_destroy(graph->exec);
    }
    *graph = (ig_cuda_graph){ NULL, 0, NULL };
}

int ig_cuda_launch_all(ig_session *session) {
    const ig_staged *staged = session->staged;
    const ig_cuda_queue *queue = ig_cuda_session_queue(session);
    const ig_cuda_driver *driver = &ig_cuda_gpu_of(queue)->driver;
    ig_cuda_graph *graph = &session->staged->graphs[session->shape - session->shapes];
    const char *reports = staged->block + staged->reports;
    bool is_first = graph->planned != session->shape->planned ||
                    graph->reports != reports;
    if (is_first || !can_capture(queue) || queue->notify) {
        drop_graph(driver, graph);
        *graph = (ig_cuda_graph){ NULL, session->shape->planned, reports };
        return launch_each(session);
    }
    int error = graph->exec ? 0 : capture_launches(session, &graph->exec);
    return error ? error : driver->graph_launch(graph->exec, queue->stream);
}

void ig_cuda_drop_graphs(ig_session *session) {
    const ig_cuda_device *gpu = ig_cuda_gpu_of(ig_cuda_session_queue(session));
    for (size_t i = 0; i < IG_SHAPES; i++) {
        drop_graph(&gpu->driver, &session->staged->graphs[i]);
    }
}
