# Puts FROM/page.{html,css,js} together and writes OUT: the page before and behind its
# data, as bytes of C.  SPDX-License-Identifier: Apache-2.0
file(READ ${FROM}/page.html page)
file(READ ${FROM}/page.css style)
file(READ ${FROM}/page.js script)
string(REPLACE "/*STYLE*/" "${style}" page "${page}")
string(REPLACE "/*SCRIPT*/" "${script}" page "${page}")
string(FIND "${page}" "/*DATA*/" at)
math(EXPR behind "${at} + 8")
string(SUBSTRING "${page}" 0 ${at} head)
string(SUBSTRING "${page}" ${behind} -1 tail)
set(text "/* Made by cmake/embed_page.cmake. */\n")
foreach(part head tail)
    string(HEX "${${part}}" hex)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(APPEND text "extern const unsigned char ig_page_${part}[];\n"
        "extern const unsigned ig_page_${part}_size;\n"
        "const unsigned char ig_page_${part}[] = {${bytes}};\n"
        "const unsigned ig_page_${part}_size = sizeof ig_page_${part};\n")
endforeach()
file(WRITE ${OUT} "${text}")
