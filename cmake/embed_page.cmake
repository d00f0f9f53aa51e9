# Puts FROM/page.html, FROM/page.css and the SCRIPTS together and writes OUT: the page
# before, between and behind its data, as bytes of C.  SPDX-License-Identifier: Apache-2.0
file(READ ${FROM}/page.html page)
file(READ ${FROM}/page.css style)
set(script "")
foreach(part ${SCRIPTS})
    file(READ ${FROM}/${part} text)
    string(APPEND script "${text}")
endforeach()
string(REPLACE "/*STYLE*/" "${style}" page "${page}")
string(REPLACE "/*SCRIPT*/" "${script}" page "${page}")
string(FIND "${page}" "/*DATA*/" data)
string(FIND "${page}" "/*CODE*/" code)
math(EXPR after_data "${data} + 8")
math(EXPR after_code "${code} + 8")
math(EXPR between "${code} - ${after_data}")
string(SUBSTRING "${page}" 0 ${data} head)
string(SUBSTRING "${page}" ${after_data} ${between} middle)
string(SUBSTRING "${page}" ${after_code} -1 tail)
set(text "/* Made by cmake/embed_page.cmake. */\n")
foreach(part head middle tail)
    string(HEX "${${part}}" hex)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(APPEND text "extern const unsigned char ig_page_${part}[];\n"
        "extern const unsigned ig_page_${part}_size;\n"
        "const unsigned char ig_page_${part}[] = {${bytes}};\n"
        "const unsigned ig_page_${part}_size = sizeof ig_page_${part};\n")
endforeach()
file(WRITE ${OUT} "${text}")
