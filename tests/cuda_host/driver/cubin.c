/* Real cubins: what they say of their kernels.  SPDX-License-Identifier: Apache-2.0
 *
 * ELF as the system has it; sections .text.KERNEL, .nv.info.KERNEL and
 * .nv.shared.KERNEL as cuobjdump shows them.  An attribute of .nv.info is a byte of
 * form, one of kind, and 16 bits: a value, or how many bytes follow.
 */
#include "state.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

enum {
    MACHINE_CUDA = 190,
    FORM_BYTES = 4,
    KIND_PARAMETER = 0x17,
    KIND_MAX_THREADS = 5
};

static const Elf64_Shdr *sections_of(const Elf64_Ehdr *head) {
    return (const void *)((const char *)head + head->e_shoff);
}

static bool is_elf(const void *image) {
    const unsigned char *bytes = image;
    return memcmp(bytes, ELFMAG, SELFMAG) == 0 && bytes[EI_CLASS] == ELFCLASS64;
}

bool is_cubin(const void *image) {
    return is_elf(image) && ((const Elf64_Ehdr *)image)->e_machine == MACHINE_CUDA;
}

size_t elf_bytes(const void *image) {
    const Elf64_Ehdr *head = image;
    if (!is_elf(image)) {
        return 0;
    }
    size_t end = head->e_shoff + (size_t)head->e_shnum * sizeof(Elf64_Shdr);
    size_t programs = head->e_phoff + (size_t)head->e_phnum * sizeof(Elf64_Phdr);
    end = programs > end ? programs : end;
    for (unsigned i = 0; i < head->e_shnum; i++) {
        const Elf64_Shdr *s = &sections_of(head)[i];
        size_t section_end = s->sh_type == SHT_NOBITS ? 0 : s->sh_offset + s->sh_size;
        end = section_end > end ? section_end : end;
    }
    return end;
}

static const Elf64_Shdr *find_section(const void *image, const char *first,
                                      const char *name) {
    const Elf64_Ehdr *head = image;
    const Elf64_Shdr *all = sections_of(head);
    const char *names = (const char *)image + all[head->e_shstrndx].sh_offset;
    char wanted[MAX_NAME + 32];
    snprintf(wanted, sizeof wanted, "%s%s", first, name);
    for (unsigned i = 0; i < head->e_shnum; i++) {
        if (strcmp(names + all[i].sh_name, wanted) == 0) {
            return &all[i];
        }
    }
    return NULL;
}

/* A parameter: its index, number, offset, and a word with its size in the upper
 * bits. */
static void take_parameter(const unsigned char *bytes, shim_kernel *out) {
    uint16_t index = 0;
    uint32_t facts = 0;
    memcpy(&index, bytes + 4, sizeof index);
    memcpy(&facts, bytes + 8, sizeof facts);
    if (index < SHIM_MAX_PARAMETERS) {
        out->sizes[index] = facts >> 18;
        out->parameter_count = index + 1u > out->parameter_count ? index + 1u
                                                                 : out->parameter_count;
    }
}

static void read_info(const unsigned char *at, size_t size, shim_kernel *out) {
    const unsigned char *end = at + size;
    while (at + 4 <= end) {
        unsigned form = at[0], kind = at[1];
        uint16_t value = (uint16_t)(at[2] | at[3] << 8);
        at += 4;
        size_t bytes = form == FORM_BYTES ? value : 0;
        if (bytes > (size_t)(end - at)) {
            return;
        }
        if (kind == KIND_PARAMETER && bytes >= 12) {
            take_parameter(at, out);
        } else if (kind == KIND_MAX_THREADS && bytes >= 12) {
            memcpy(&out->max_threads, at, sizeof out->max_threads);
        }
        at += bytes;
    }
}

bool read_cubin(const void *image, size_t size, const char *name, shim_kernel *out,
                uint32_t *out_shared) {
    const Elf64_Shdr *shared = find_section(image, ".nv.shared.", name);
    const Elf64_Shdr *info = find_section(image, ".nv.info.", name);
    *out = (shim_kernel){ 0 };
    *out_shared = shared ? (uint32_t)shared->sh_size : 0;
    if (!find_section(image, ".text.", name)) {
        return false;
    }
    if (info && info->sh_offset + info->sh_size <= size) {
        read_info((const unsigned char *)image + info->sh_offset, info->sh_size, out);
    }
    return true;
}
