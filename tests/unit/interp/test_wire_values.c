/* What a process of an interpreter sends is not believed.
 * SPDX-License-Identifier: Apache-2.0 */
#include "runtime/interp/wire/wire.h"
#include "tests/unit/unit.h"

static ig_interp_object *find_no_object(void *user, int64_t id) {
    (void)user;
    (void)id;
    return NULL;
}

/* Reads a value that begins with these numbers, of a message of `size` numbers; what it
 * says of itself must not be had before it is known to be there. */
static bool takes(int64_t kind, int64_t first, size_t size) {
    static int64_t message[64];
    ig_wire_finder finder = { .object = find_no_object };
    ig_wire_reader reader = { .data = (const char *)message,
                              .size = size * sizeof *message };
    ig_interp_value value;
    memset(message, 0, sizeof message);
    message[0] = kind;
    message[1] = first;
    bool is_taken = ig_wire_get_value(&reader, &finder, &value);
    CHECK(is_taken || value.kind == IG_INTERP_NONE);
    CHECK_MSG(is_taken || !reader.memory, "kind %lld has taken memory for %lld",
              (long long)kind, (long long)first);
    ig_wire_free(reader.memory);
    return is_taken;
}

TEST(counts_are_no_more_than_a_message_holds) {
    static const int64_t kinds[] = { IG_INTERP_LIST, IG_INTERP_TUPLE, IG_INTERP_DICT };
    for (size_t i = 0; i < IG_COUNT_OF(kinds); i++) {
        CHECK(takes(kinds[i], 0, 2));
        CHECK(takes(kinds[i], 30, 32)); /* of None, eight bytes each */
        CHECK(!takes(kinds[i], 31, 32));
        CHECK(!takes(kinds[i], 240, 32));
        CHECK(!takes(kinds[i], -1, 32));
        CHECK(!takes(kinds[i], INT64_MAX, 32));
        CHECK(!takes(kinds[i], INT64_MIN, 32));
    }
    CHECK(!takes(IG_INTERP_TEXT, 300, 32));
    CHECK(!takes(IG_INTERP_BYTES, -1, 32));
    CHECK(!takes(IG_INTERP_BYTES, INT64_MAX, 32));
}
END_TEST

TEST(a_message_grows_and_is_read_back) {
    enum { NUMBERS = 20000 }; /* more than the first room */
    ig_wire wire = { .file = ig_wire_open() };
    CHECK(wire.file >= 0);
    for (int round = 0; round < 2; round++) {
        ig_wire_begin(&wire);
        for (int64_t i = 0; i < NUMBERS; i++) {
            ig_wire_put_number(&wire, i - 3);
        }
        ig_wire_put_text(&wire, "end");
        ig_wire_put_text(&wire, NULL);
        CHECK(!wire.has_failed);
        ig_wire_reader reader = { .data = wire.data, .size = wire.size };
        for (int64_t i = 0; i < NUMBERS; i++) {
            CHECK(ig_wire_get_number(&reader) == i - 3);
        }
        CHECK_TEXT(ig_wire_get_text(&reader), "end");
        CHECK(ig_wire_get_text(&reader) == NULL && !reader.has_failed);
        (void)ig_wire_get_number(&reader);
        CHECK(reader.has_failed);
    }
    ig_wire_close(&wire);
}
END_TEST

UNIT_SUITE(wire_values, counts_are_no_more_than_a_message_holds,
           a_message_grows_and_is_read_back)
