/* Devices whose memory is not the host's: the interface of programs and sessions to
 * libingot-cuda.
 * SPDX-License-Identifier: Apache-2.0
 *
 * The library is opened when an artifact has a plan for its family.  It reads the
 * structs of programs and sessions, and refuses those of another build.
 *
 * Memory of the host gets a place on the device:
 *
 *     constants     copied when the program is opened, shared by its sessions; the
 *                   largest to pinned memory, where that is asked for
 *     inputs        copied together before the first step, outputs after the last
 *     host steps    get copies of their operands, and their results go back
 */
#ifndef IG_RUNTIME_PLUGIN_STAGING_H
#define IG_RUNTIME_PLUGIN_STAGING_H

#include "runtime/device.h"
#include "runtime/host/host.h"

typedef struct ig_program ig_program;
typedef void ig_staging_notify(void *user, const ig_launch *launch, int64_t ns);

struct ig_staging {
    /* Fills program->resident.  IG_LIMIT, before anything is allocated, where the
     * device has too little memory. */
    ig_status (*load)(ig_program *program, const ig_program_options *options,
                      const ig_message *message);
    void (*unload)(ig_program *program);
    ig_status (*open)(ig_session *session, const ig_session_options *options,
                      const ig_message *message);
    void (*close)(ig_session *session);
    /* Each bind: ports on the host get their addresses on the device.
     * `is_new`: slots or params are no longer those of the last bind. */
    ig_status (*place_ports)(ig_session *session, bool is_new);
    /* All steps; and, when they are done and without errors, outputs to the host. */
    ig_status (*run)(ig_session *session);
    void (*finish)(ig_session *session);
    /* Before and after the function of host step `number`, whose buffers fetch sets. */
    ig_status (*fetch)(ig_session *session, uint32_t index, ig_host_call *call);
    ig_status (*store)(ig_session *session, uint32_t index, const ig_host_call *call);
    /* Until it is called with NULL: runs wait for each launch, and tell how long the
     * device took for it. */
    ig_status (*profile)(ig_session *session, ig_staging_notify *notify, void *user);
};

typedef struct ig_staging_request {
    size_t program_size;
    const char *version;
    int ordinal; /* of the device among those of its family */
} ig_staging_request;

/* Of ig_cuda_start, the one symbol of the library.  IG_UNSUPPORTED where there is no
 * such device; the verb `close` gives it back. */
typedef ig_status ig_staging_start_fn(const ig_staging_request *request,
                                      const ig_device **out_device,
                                      const ig_message *message);

#endif
