/* Jobs and values between a process and the child that runs an interpreter for it.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each direction has a file of memory that the writer lets grow, and that cannot
 * shrink; a packet on a socket tells how much of it is a message.  Tensors in it are
 * aligned to 64 bytes, so that the child's Python sees them where they are.  Numbers
 * are the machine's.  A reader trusts nothing: a child may have been ended anywhere.
 */
#ifndef IG_RUNTIME_INTERP_WIRE_H
#define IG_RUNTIME_INTERP_WIRE_H

#include "runtime/interp/engine.h"

/* Descriptors of the child, and the least that is not one of them. */
enum { IG_WIRE_SOCKET = 3, IG_WIRE_REQUEST = 4, IG_WIRE_RESPONSE = 5, IG_WIRE_OTHERS };

enum { IG_WIRE_FILES_MAX = 8 }; /* shared memory that one job may name */

/* The meaning of a packet. */
typedef struct ig_wire_packet {
    uint64_t size; /* of the message */
} ig_wire_packet;

typedef enum ig_wire_work {
    IG_WIRE_PATH,
    IG_WIRE_WRAP,
    IG_WIRE_SOURCE,
    IG_WIRE_RUN,
    IG_WIRE_GLOBAL,
    IG_WIRE_ATTRIBUTE,
    IG_WIRE_INVOKE,
    IG_WIRE_MAKE,
    IG_WIRE_READ,
    IG_WIRE_KEEP,
    IG_WIRE_FREE,
    IG_WIRE_WORKS
} ig_wire_work;

/* ---- writing ---- */

typedef struct ig_wire {
    int file;
    char *data; /* mapped, or NULL */
    size_t room, size;
    bool has_failed; /* no memory: later writes are lost */
} ig_wire;

/* Memory that only grows; -1: errno tells. */
int ig_wire_open(void);
void ig_wire_close(ig_wire *wire); /* the file too */
void ig_wire_begin(ig_wire *wire);
void ig_wire_put_number(ig_wire *wire, int64_t number);
void ig_wire_put_text(ig_wire *wire, const char *text); /* or NULL */

/* How objects and shared memory are told. */
typedef struct ig_wire_names {
    void *user;
    /* The number of an object; -1: it has none. */
    int64_t (*id_of)(void *user, const ig_interp_object *object);
    int *files; /* of shared memory, in the order of the values; NULL: takes none */
    size_t file_count;
} ig_wire_names;

/* False: a kind that cannot be passed, or too deep. */
bool ig_wire_put_value(ig_wire *wire, const ig_interp_value *value,
                       ig_wire_names *names);

/* ---- reading ---- */

typedef struct ig_wire_memory ig_wire_memory; /* what values need beside the message */

typedef struct ig_wire_reader {
    const char *data;
    size_t size, at;
    bool has_failed;
    ig_wire_memory *memory;
} ig_wire_reader;

int64_t ig_wire_get_number(ig_wire_reader *reader);
const char *ig_wire_get_text(ig_wire_reader *reader); /* in the message; may be NULL */

/* The function that makes an object of its number, or shared memory; NULL: there is
 * none such. */
typedef struct ig_wire_finder {
    void *user;
    ig_interp_object *(*object)(void *user, int64_t number);
    ig_shared *(*shared)(void *user, int64_t index);
    bool copies; /* bytes and tensors outlive the message */
} ig_wire_finder;

bool ig_wire_get_value(ig_wire_reader *reader, const ig_wire_finder *finder,
                       ig_interp_value *out_value);
/* Room that lives as long as the memory; NULL: there is none. */
void *ig_wire_keep(ig_wire_memory **memory, size_t size);
void ig_wire_free(ig_wire_memory *memory);

/* ---- the socket ---- */

/* False: the other side is gone. */
bool ig_wire_send(int socket, size_t size, const int *files, size_t file_count);
/* `files` has IG_WIRE_FILES_MAX places, or is NULL where none are expected. */
bool ig_wire_receive(int socket, size_t *out_size, int *files, size_t *out_count);
/* Maps the other side's data anew where it grew.  False: it cannot be read. */
bool ig_wire_view(ig_wire *wire, size_t size);

#endif
