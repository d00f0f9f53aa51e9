/* Packets with files over a socket.
 * SPDX-License-Identifier: Apache-2.0 */
#include "driver/compile/wire.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HEAD_BYTES = offsetof(ig_packet, text) };

/* Room for one file beside a packet, aligned as the system wants it. */
typedef union file_room {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int))];
} file_room;

void ig_packet_set_text(ig_packet *packet, ig_str text) {
    packet->size = (uint32_t)(text.size < IG_PACKET_TEXT ? text.size
                                                         : IG_PACKET_TEXT - 1);
    memcpy(packet->text, text.data, packet->size);
}

static void attach_file(struct msghdr *message, file_room *room, int file) {
    memset(room, 0, sizeof *room);
    message->msg_control = room;
    message->msg_controllen = sizeof *room;
    struct cmsghdr *head = CMSG_FIRSTHDR(message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(head), &file, sizeof file);
}

bool ig_packet_send(int socket, const ig_packet *packet, int file) {
    assert(packet->size < IG_PACKET_TEXT && "ig_packet_set_text cuts texts");
    struct iovec part = { (void *)(uintptr_t)packet, HEAD_BYTES + packet->size };
    struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
    file_room room;
    if (file >= 0) {
        attach_file(&message, &room, file);
    }
    ssize_t sent;
    do {
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)part.iov_len;
}

static int take_file(struct msghdr *message) {
    int file = -1;
    struct cmsghdr *head = CMSG_FIRSTHDR(message);
    if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS &&
        head->cmsg_len == CMSG_LEN(sizeof file)) {
        memcpy(&file, CMSG_DATA(head), sizeof file);
    }
    return file;
}

bool ig_packet_receive(int socket, ig_packet *packet, int *out_file) {
    struct iovec part = { packet, HEAD_BYTES + IG_PACKET_TEXT - 1 };
    file_room room;
    struct msghdr message = { .msg_iov = &part,
                              .msg_iovlen = 1,
                              .msg_control = &room,
                              .msg_controllen = sizeof room };
    ssize_t got;
    do {
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (got < 0 && errno == EINTR);
    *out_file = got < 0 ? -1 : take_file(&message);
    if (got < HEAD_BYTES || packet->size != (size_t)got - HEAD_BYTES) {
        return false;
    }
    packet->text[packet->size] = '\0';
    return true;
}

bool ig_write_all(int file, const void *bytes, size_t size) {
    const char *at = bytes;
    while (size) {
        ssize_t written = write(file, at, size);
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return false;
        }
        at += written;
        size -= (size_t)written;
    }
    return true;
}
