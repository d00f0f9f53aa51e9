/* Variables of each thread, which the loader allocates when they are first touched.
 * SPDX-License-Identifier: Apache-2.0 */
__attribute__((visibility("default"))) int touch(int index);

static _Thread_local char block[40];

int touch(int index) {
    block[index] = 1;
    return block[0];
}
