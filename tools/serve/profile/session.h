/* Sessions of the profiler, and their jobs.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IG_TOOLS_SERVE_PROFILE_SESSION_H
#define IG_TOOLS_SERVE_PROFILE_SESSION_H

#include "tools/serve/grpc/stream.h"
#include "tools/serve/profile/backends.h"
#include "tools/serve/profile/child.h"
#include "tools/serve/profile/component.h"
#include "tools/serve/profile/profiler.h"

#include <tools/serve/profile/profile.pb-c.h>

/* The protocol's kinds of errors. */
enum {
    ERROR_INTERNAL,
    ERROR_MODEL_INFERENCE,
    ERROR_MODEL_LOAD,
    ERROR_BACKEND_NONEXISTENT,
    ERROR_INSUFFICIENT_QUOTA
};

enum { UUID_BYTES = 16, USER_BYTES = 128 };

typedef struct session session;

/* A model on one backend. */
typedef struct placed {
    int format;          /* 0: it was not loaded there */
    bytes names;         /* of inputs and outputs, as members of JSON */
    unsigned generation; /* of the child that has it; 0: none */
} placed;

typedef struct model {
    uint64_t id;
    placed on[MAX_BACKENDS];
    struct model *next;
} model;

typedef struct worker {
    session *of;
    const char *software;
    int threads;
    child child;
    bool watches_out;
} worker;

/* What became of a job on a backend. */
typedef struct outcome {
    bool is_skipped;
    int code;    /* of an error, where there are words */
    char *words; /* the job's pool's; NULL: it went well */
    bytes reply; /* the child's message of a run */
} outcome;

typedef enum job_kind { JOB_WAIT, JOB_LOAD, JOB_RUN } job_kind;

/* A client waits for its answer.  Owner: its session, until it is answered. */
typedef struct job {
    job_kind kind;
    ask *of;
    pool memory;
    model *model;
    const Profile__RunRequest *run; /* of JOB_RUN */
    ProtobufCBinaryData skipped;    /* of JOB_LOAD: bit i is backend i */
    size_t at;                      /* the backend that is at work */
    bool is_loading, is_sent;
    int64_t begun; /* when the child was asked, or the wait began */
    outcome results[MAX_BACKENDS];
    struct job *next;
} job;

struct session {
    profiler *of;
    uint8_t uuid[UUID_BYTES];
    char user[USER_BYTES]; /* the bearer's token; "" where there is none */
    char folder[PATH_BYTES];
    worker workers[MAX_BACKENDS];
    size_t worker_count;
    bool is_ready;
    int64_t beat; /* its last sign of life */
    model *models;
    job *jobs;     /* the first is at work */
    job *waits;    /* for the session to be ready */
    session *next; /* younger */
};

struct profiler {
    const profiler_options *options;
    lane *lane;
    backend_list backends;
    components components;
    char folder[PATH_BYTES], component_folder[PATH_BYTES];
    int poll;
    session *sessions; /* the oldest first */
};

/* NULL: *out_code is an error of the protocol, which the words explain. */
session *session_open(profiler *in, const char *user,
                      Profile__BackendSpec *const *backends, size_t count,
                      int *out_code, char words[WORDS]);
void session_close(session *of, const char *words);
/* The session of that name and user, which shows life; NULL: there is none. */
session *session_find(profiler *in, const char *user, const ProtobufCBinaryData *uuid);
/* The model of that number, made where there is none.  NULL: memory ran out. */
model *session_model(session *in, uint64_t id);
/* Where a file of a model belongs.  False: the name leads out of the folder. */
bool session_path(const session *of, uint64_t model_id, const char *name,
                  char out[PATH_BYTES]);

/* ---- jobs ---- */

/* A job of the stream, with memory for reading a message of `size` bytes; NULL: memory
 * ran out. */
job *job_create(stream *of, job_kind kind, size_t size);
/* Of job.c: queues it; it ends by itself. */
void job_queue(session *in, job *what);
/* Continues the first job of the queue. */
void job_step(session *in);
/* The child of a worker said something, or ended. */
void job_take_event(worker *from);
/* Ends a child that is at work for too long. */
void job_check_time(session *in, int64_t now);
/* Ends it with a status of gRPC, and frees it. */
void job_fail(job *what, call_status status, const char *words);
/* Ends it with this message, and frees it. */
void job_answer(job *what, const ProtobufCMessage *reply);
bool job_skips(const job *what, size_t backend);
/* Of reply.c: the answer to a job all of whose backends have ended. */
void job_reply(const session *in, job *what);

#endif
