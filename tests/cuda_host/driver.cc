/* A CUDA driver without a GPU: runtime/cuda runs on it as on the real one.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Built as libcuda.so.1.  The GPU's memory is the host's; an image is the path of a
 * library made of emitted text behind shim.h; work is done at once.  It is strict where
 * the real driver is: every call needs its context to be the current one, memory is
 * copied only within one allocation, and nothing may be left when the context goes.
 * What others put into its stream (tests/cuda_host/nccl.cc) they hold and let go.
 */
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <vector>

enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_CONTEXT = 201,
    INVALID_IMAGE = 200,
    NOT_FOUND = 500,
    NOT_READY = 600
};

struct shim_launch { /* as in shim.h */
    void *kernel;
    long long grid;
    int threads;
    void *const *buffers;
    const long long *params;
    void *report;
};
typedef int shim_run_fn(const shim_launch *launch);

struct function {
    void *kernel;
    shim_run_fn *run;
};

typedef std::vector<std::function<int()>> graph; /* work, in its order */

static int context_depth, context_users, streams, modules;
static int graphs, pinned;
static char the_context, the_stream;
static graph *capture;                    /* what the stream's work goes to, or NULL */
static std::map<uint64_t, size_t> memory; /* allocations: address, size */
static std::map<void *, function> functions; /* which stay where they are */

#define EXPORT extern "C" __attribute__((visibility("default")))
#define NEED_CONTEXT()          \
    if (context_depth == 0) {   \
        return INVALID_CONTEXT; \
    }

static bool is_allocated(uint64_t address, size_t size) {
    auto after = memory.upper_bound(address);
    if (after == memory.begin()) {
        return false;
    }
    --after;
    return address - after->first + size <= after->second;
}

EXPORT int cuInit(unsigned) {
    return SUCCESS;
}

EXPORT int cuGetErrorString(int, const char **text) {
    *text = "an error of the driver without a GPU";
    return SUCCESS;
}

EXPORT int cuDeviceGetCount(int *count) {
    *count = 1;
    return SUCCESS;
}

EXPORT int cuDeviceGet(int *device, int ordinal) {
    *device = 40 + ordinal;
    return SUCCESS;
}

EXPORT int cuDeviceGetName(char *name, int size, int device) {
    strncpy(name, "a GPU that is not there", (size_t)size);
    return device == 40 ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == 75 ? 9 : 0; /* compute capability 9.0 */
    return device == 40 && (attribute == 75 || attribute == 76) ? SUCCESS
                                                                : INVALID_VALUE;
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int) {
    context_users++;
    *context = &the_context;
    return SUCCESS;
}

EXPORT int cuDevicePrimaryCtxRelease_v2(int) {
    bool is_clean = context_depth == 0 && streams == 0 && modules == 0 && graphs == 0 &&
                    pinned == 0 && memory.empty();
    if (context_users-- == 0 || (context_users == 0 && !is_clean)) {
        abort(); /* closing has no way to report it */
    }
    return SUCCESS;
}

EXPORT int cuCtxPushCurrent_v2(void *context) {
    context_depth += context == &the_context;
    return context == &the_context ? SUCCESS : INVALID_CONTEXT;
}

EXPORT int cuCtxPopCurrent_v2(void **context) {
    NEED_CONTEXT()
    context_depth--;
    *context = &the_context;
    return SUCCESS;
}

EXPORT int cuStreamCreate(void **stream, unsigned flags) {
    NEED_CONTEXT()
    streams++;
    *stream = &the_stream;
    return flags <= 1 ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuStreamDestroy_v2(void *stream) {
    NEED_CONTEXT()
    streams--;
    return stream == &the_stream ? SUCCESS : INVALID_VALUE;
}

static std::atomic<int> held; /* pieces of work of others */

EXPORT void shim_stream_hold(int change) {
    held += change;
}

EXPORT int cuStreamQuery(void *stream) {
    NEED_CONTEXT()
    return stream != &the_stream ? INVALID_VALUE : held ? NOT_READY : SUCCESS;
}

EXPORT int cuStreamSynchronize(void *stream) {
    NEED_CONTEXT()
    return stream == &the_stream && !capture ? SUCCESS : INVALID_VALUE;
}

/* ---- graphs and events ---- */

/* Does a piece of work, or keeps it for the graph. */
static int do_work(const std::function<int()> &work) {
    if (capture) {
        capture->push_back(work);
        return SUCCESS;
    }
    return work();
}

EXPORT int cuStreamBeginCapture_v2(void *stream, int mode) {
    NEED_CONTEXT()
    if (stream != &the_stream || capture || mode < 0 || mode > 2) {
        return INVALID_VALUE;
    }
    capture = new graph;
    graphs++;
    return SUCCESS;
}

EXPORT int cuStreamEndCapture(void *stream, void **out) {
    NEED_CONTEXT()
    *out = capture;
    capture = nullptr;
    return stream == &the_stream && *out ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuGraphInstantiateWithFlags(void **exec, void *from, unsigned long long) {
    NEED_CONTEXT()
    *exec = new graph(*(const graph *)from);
    graphs++;
    return SUCCESS;
}

EXPORT int cuGraphLaunch(void *exec, void *stream) {
    NEED_CONTEXT()
    if (stream != &the_stream || capture) {
        return INVALID_VALUE;
    }
    for (const auto &work : *(const graph *)exec) {
        int error = work();
        if (error) {
            return error;
        }
    }
    return SUCCESS;
}

EXPORT int cuGraphDestroy(void *which) {
    NEED_CONTEXT()
    delete (graph *)which;
    graphs--;
    return SUCCESS;
}

EXPORT int cuGraphExecDestroy(void *which) {
    return cuGraphDestroy(which);
}

EXPORT int cuEventCreate(void **event, unsigned) {
    NEED_CONTEXT()
    *event = malloc(1);
    return SUCCESS;
}

EXPORT int cuEventDestroy_v2(void *event) {
    NEED_CONTEXT()
    free(event);
    return SUCCESS;
}

EXPORT int cuEventRecord(void *event, void *stream) {
    NEED_CONTEXT()
    return event && stream == &the_stream ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuEventElapsedTime(float *milliseconds, void *begin, void *end) {
    *milliseconds = 0.001F;
    return begin && end ? SUCCESS : INVALID_VALUE;
}

/* ---- memory ---- */

EXPORT int cuMemAlloc_v2(uint64_t *address, size_t size) {
    NEED_CONTEXT()
    void *room = size && size < (size_t)1 << 40
                     ? aligned_alloc(256, (size + 255) / 256 * 256)
                     : nullptr;
    if (!room) {
        return size ? OUT_OF_MEMORY : INVALID_VALUE;
    }
    memset(room, 0x7f, size);
    *address = (uint64_t)(uintptr_t)room;
    memory[*address] = size;
    return SUCCESS;
}

EXPORT int cuMemFree_v2(uint64_t address) {
    NEED_CONTEXT()
    if (memory.erase(address) == 0) {
        return INVALID_VALUE;
    }
    free((void *)(uintptr_t)address);
    return SUCCESS;
}

EXPORT int cuMemGetInfo_v2(size_t *free_bytes, size_t *total) {
    NEED_CONTEXT()
    *free_bytes = (size_t)1 << 30;
    *total = (size_t)2 << 30;
    return SUCCESS;
}

EXPORT int cuMemAllocHost_v2(void **out, size_t size) {
    NEED_CONTEXT()
    *out = malloc(size);
    pinned += *out != nullptr;
    return *out ? SUCCESS : OUT_OF_MEMORY;
}

EXPORT int cuMemFreeHost(void *held_memory) {
    NEED_CONTEXT()
    free(held_memory);
    pinned--;
    return SUCCESS;
}

static int copy(void *to, const void *from, size_t size, bool is_good, void *stream) {
    NEED_CONTEXT()
    if (!is_good || size == 0 || stream != &the_stream) {
        return INVALID_VALUE;
    }
    return do_work([=] {
        memmove(to, from, size);
        return (int)SUCCESS;
    });
}

EXPORT int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t size,
                                void *stream) {
    return copy((void *)(uintptr_t)to, from, size, is_allocated(to, size), stream);
}

EXPORT int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t size, void *stream) {
    return copy(to, (void *)(uintptr_t)from, size, is_allocated(from, size), stream);
}

EXPORT int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t size, void *stream) {
    bool overlaps = to < from + size && from < to + size; /* which it leaves open */
    bool is_good = is_allocated(to, size) && is_allocated(from, size) && !overlaps;
    return copy((void *)(uintptr_t)to, (void *)(uintptr_t)from, size, is_good, stream);
}

/* ---- code ---- */

EXPORT int cuModuleLoadData(void **module, const void *image) {
    NEED_CONTEXT()
    *module = dlopen((const char *)image, RTLD_NOW | RTLD_LOCAL);
    modules += *module != nullptr;
    return *module ? SUCCESS : INVALID_IMAGE;
}

EXPORT int cuModuleUnload(void *module) {
    NEED_CONTEXT()
    modules--;
    return dlclose(module) == 0 ? SUCCESS : INVALID_VALUE;
}

EXPORT int cuModuleGetFunction(void **out, void *module, const char *name) {
    NEED_CONTEXT()
    void *kernel = dlsym(module, name);
    if (!kernel) {
        return NOT_FOUND;
    }
    function &known = functions[kernel];
    known = { kernel, (shim_run_fn *)dlsym(module, "shim_run") };
    *out = &known;
    return SUCCESS;
}

EXPORT int cuLaunchKernel(void *what, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, void *stream, void **parameters,
                          void **extra) {
    NEED_CONTEXT()
    bool is_plain = grid_y == 1 && grid_z == 1 && block_y == 1 && block_z == 1 &&
                    shared_bytes == 0 && !extra && stream == &the_stream;
    if (!is_plain || grid_x == 0 || block_x == 0 || block_x > 1024) {
        return INVALID_VALUE;
    }
    const function *f = (const function *)what;
    shim_launch launch = { f->kernel,
                           (long long)grid_x,
                           (int)block_x,
                           *(void *const *const *)parameters[0],
                           *(const long long *const *)parameters[1],
                           *(void *const *)parameters[2] };
    return do_work([=] { return f->run(&launch); });
}
