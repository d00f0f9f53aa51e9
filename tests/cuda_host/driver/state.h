/* What the files of the driver that stands in share.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Calls take turns: one lock is held from the beginning of a call to its end (API).
 * Work is queued, and done when something waits, or now and then, by the seed:
 *
 *     api_*.c ─▶ queue.c (streams, events, order) ─▶ work.c (what one piece does)
 *                graph.c (captures, graphs)            ─▶ device_link.c ─▶ the device
 */
#ifndef IG_TESTS_CUDA_HOST_STATE_H
#define IG_TESTS_CUDA_HOST_STATE_H

#include "protocol.h"
#include "stand_in.h"

#include <stddef.h>

/* CUresult */
enum {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NOT_INITIALISED = 3,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    NO_BINARY_FOR_GPU = 209,
    INVALID_PTX = 218,
    INVALID_HANDLE = 400,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    OUT_OF_RESOURCES = 701,
    NOT_REGISTERED = 713,
    MISALIGNED_ADDRESS = 716,
    LAUNCH_FAILED = 719,
    NOT_SUPPORTED = 801,
    CAPTURE_UNSUPPORTED = 900,
    CAPTURE_INVALIDATED = 901,
    CAPTURE_MERGE = 902,
    CAPTURE_UNMATCHED = 903,
    CAPTURE_UNJOINED = 904,
    CAPTURE_IMPLICIT = 906,
    CAPTURED_EVENT = 907,
    GRAPH_UPDATE_FAILURE = 910,
    UNKNOWN = 999
};

typedef enum object_kind {
    OBJECT_CONTEXT,
    OBJECT_STREAM,
    OBJECT_EVENT,
    OBJECT_MODULE,
    OBJECT_FUNCTION,
    OBJECT_GRAPH,
    OBJECT_EXEC,
    OBJECT_POOL,
    OBJECT_BLOCK, /* of memory */
    OBJECT_NODE
} object_kind;

typedef struct context context;

/* At the beginning of all that the caller has a handle of. */
typedef struct object {
    object_kind kind;
    context *context; /* NULL for contexts, pools and graphs */
    struct object *next, **link;
} object;

struct context {
    object base;
    int device;
    unsigned users;
    int error; /* of a fault: all calls have it from then on */
    struct stream *null_stream;
};

typedef struct block {
    object base;
    uint64_t address;
    size_t size;
    uint64_t pages; /* of its own, and their bytes */
    size_t page_bytes;
    bool is_pinned, is_open;
    bool is_given_up; /* its end is queued */
} block;

typedef struct function {
    object base;
    struct module *module;
    uint64_t kernel; /* in the device's process; 0: it cannot run here */
    shim_kernel facts;
    uint32_t shared;
    char name[MAX_NAME];
} function;

typedef struct module {
    object base;
    uint64_t handle, run; /* in the device's process; 0: a real cubin */
    char *cubin;          /* a real one's bytes */
    size_t cubin_bytes;
} module;

typedef struct event {
    object base;
    unsigned flags;
    uint64_t recorded, done; /* numbers of records */
    uint64_t time;           /* of the last that was done: a count of work */
    unsigned users;          /* pieces of work that name it, and the caller */
    bool is_dropped;
    struct capture *capture; /* it was recorded in; NULL: in none */
    bool *frontier;          /* nodes of the capture that it stands for */
} event;

typedef enum work_kind {
    WORK_COPY,
    WORK_SET,
    WORK_LAUNCH,
    WORK_CALL,
    WORK_RECORD,
    WORK_WAIT,
    WORK_OPEN, /* of memory of pools */
    WORK_CLOSE,
    WORK_GRAPH
} work_kind;

typedef struct work {
    struct work *next;
    work_kind kind;
    context *context;
    uint64_t order;
    uint64_t to, from; /* addresses of either side */
    size_t size;
    void *staged; /* a copy's bytes, taken when it was asked for */
    unsigned value, width;
    function *function;
    int64_t grid;
    uint32_t threads;
    unsigned char *arguments;
    size_t argument_bytes;
    void (*call)(void *user);
    void *user;
    event *event;
    uint64_t turn; /* of the event */
    block *block;
    struct graph *graph; /* its own copy */
    bool *is_done;       /* of the graph's nodes */
    unsigned left;
} work;

typedef struct node {
    object base;
    work work;
    bool *after; /* nodes that come before; of earlier numbers */
    unsigned index;
} node;

typedef struct graph {
    object base;
    node **nodes;
    unsigned count, users;
} graph;

typedef struct exec {
    object base;
    graph *graph;
} exec;

typedef struct capture {
    graph *graph;
    struct stream *origin;
    int mode;
    int thread; /* that has begun it */
    bool is_broken;
    unsigned streams; /* that are in it */
} capture;

typedef struct stream {
    object base;
    unsigned flags; /* 1: does not wait for the null stream */
    work *first, **last;
    capture *capture;
    bool *frontier; /* nodes of the capture that the next one comes after */
} stream;

enum { MAX_NODES = 4096, NON_BLOCKING = 1 };

/* ---- control.c ---- */

extern stand_in_counts counts;
extern bool may_be_left;
uint64_t draw(uint64_t bound);
/* One of so many streams, the newest first, whose work may be done. */
unsigned choose(unsigned count);
/* A line on stderr. */
__attribute__((format(printf, 1, 2))) void say(const char *format, ...);
int64_t given(const char *variable, int64_t otherwise);

enum { FREELY = 0, STARTED = 1, IN_CONTEXT = 2, NOT_IN_CAPTURE = 4 };
int begin_call(const char *name, int needs);
int end_call(int error);

/* A function of the driver: EXPORT_CALL(name, (parameters), (arguments), needs) { …
 * } */
#define EXPORT_CALL(name, parameters, arguments, needs)         \
    static int do_##name parameters;                            \
    __attribute__((visibility("default"))) int name parameters; \
    int name parameters {                                       \
        int error = begin_call(#name, needs);                   \
        return end_call(error ? error : do_##name arguments);   \
    }                                                           \
    static int do_##name parameters

/* ---- api_context.c ---- */
void get_capability(int *out_major, int *out_minor); /* 9 and 0 */

/* ---- objects.c ---- */

extern object *objects;
/* NULL: out of memory.  Zeroed behind the base. */
void *make_object(object_kind kind, size_t size, context *in);
void drop_object(void *made);
/* NULL unless the handle is of an object of this kind. */
void *find_object(object_kind kind, const void *handle);
/* The same, of the current context. */
void *find_ours(object_kind kind, const void *handle);
context *current_context(void);
int push_context(context *c);
context *pop_context(void);

/* ---- device_link.c ---- */

int start_device(void);
bool is_started(void);
void send_request(const request *r, size_t size, reply *out);
/* Where this process sees the device's memory. */
char *see_device(uint64_t address);
bool is_device_address(uint64_t address);
bool is_pinned_address(uint64_t address);
bool open_pages(uint64_t address, size_t size);
void close_pages(uint64_t address, size_t size);

/* ---- memory.c ---- */

/* The block that holds all of the range; NULL: none. */
block *find_block(uint64_t address, size_t size);
block *make_block(size_t size, bool is_pinned, int *out_error);
bool open_block(block *b);
/* Was nothing written beside it? */
bool close_block(block *b);
void drop_block(block *b);
uint64_t held_bytes(void);

/* ---- queue.c ---- */

/* Takes a copy of `w` into the stream, or into its capture. */
int enqueue(stream *s, const work *w);
stream *find_stream(const void *handle);
/* Does one piece of work; false: none can be done. */
bool step(void);
int finish_stream(stream *s);
int finish_event(const event *e, uint64_t turn);
int finish_all(const context *c);
bool is_idle(const stream *s);
bool is_held(void); /* by others */
void fail_context(context *c, int error);
void release_event(event *e);
void free_work(work *w);
stream *make_stream(context *in, unsigned flags);
void drop_stream(stream *s);

/* ---- work.c ---- */

/* What a piece of work does; not for waits and graphs. */
int do_work(const work *w);
void count_work(const work *w, bool is_in_graph);

/* ---- graph.c ---- */
int capture_work(stream *s, const work *w);
int capture_record(stream *s, event *e);
int capture_wait(stream *s, const event *e);
/* One node of a graph that may be done now; false: all are done. */
bool step_graph(work *w, int *out_error);
void release_graph(graph *g);
void drop_capture(const stream *s); /* which is destroyed in it */
bool is_capturing(void);
void break_captures(void);

/* ---- cubin.c ---- */

/* Bytes of an ELF file by its own tables; 0: it is none. */
size_t elf_bytes(const void *image);
bool is_cubin(const void *image);
/* Facts of a kernel of a real cubin; false: it has none of that name. */
bool read_cubin(const void *image, size_t size, const char *name, shim_kernel *out,
                uint32_t *out_shared);

#endif
