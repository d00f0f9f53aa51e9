/* What passes between a host and its isolated worker.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Packets over a pair of sockets, each whole or not at all; a file may go with one.
 * The request and the result are in memory that both have open.
 */
#ifndef IG_DRIVER_COMPILE_WIRE_H
#define IG_DRIVER_COMPILE_WIRE_H

#include "base/str.h"

enum {
    IG_WORKER_SOCKET = 3, /* files of a worker when it begins */
    IG_WORKER_MEMORY = 4,
    IG_PACKET_TEXT = 16 << 10
};

typedef enum ig_packet_kind {
    IG_PACKET_message,  /* worker: code is the severity, done the status */
    IG_PACKET_progress, /* worker: done, total */
    IG_PACKET_open,     /* worker: the file `text` that the user named */
    IG_PACKET_beneath,  /* worker: `text`, which the model names */
    IG_PACKET_opened,   /* host: code is a status; the file, or words */
    IG_PACKET_end       /* worker: code is the status of the work */
} ig_packet_kind;

typedef struct ig_packet {
    int32_t kind, code;
    uint64_t done, total;
    uint32_t size;             /* bytes of text */
    char text[IG_PACKET_TEXT]; /* received: ends with a zero */
} ig_packet;

/* Cuts the text to fit. */
void ig_packet_set_text(ig_packet *packet, ig_str text);
/* False: the other side is gone.  `file` goes with it, or is -1. */
bool ig_packet_send(int socket, const ig_packet *packet, int file);
/* False: the other side is gone, or sent bytes that are not a packet.  *out_file: -1
 * for none. */
bool ig_packet_receive(int socket, ig_packet *packet, int *out_file);

/* All of `size` bytes; false and errno otherwise. */
bool ig_write_all(int file, const void *bytes, size_t size);

#endif
