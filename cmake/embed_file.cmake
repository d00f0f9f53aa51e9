# Writes OUT: the bytes of FILE as a C array NAME, and NAME_size.
# SPDX-License-Identifier: Apache-2.0
file(READ ${FILE} hex HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
file(WRITE ${OUT} "/* Made by cmake/embed_file.cmake. */\n"
    "extern const unsigned char ${NAME}[];\n"
    "extern const unsigned ${NAME}_size;\n"
    "const unsigned char ${NAME}[] = {${bytes}};\n"
    "const unsigned ${NAME}_size = sizeof ${NAME};\n")
