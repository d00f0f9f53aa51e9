# Removes the files that an installation has written down, and the folders of Ingot's own
# that are empty then.  SPDX-License-Identifier: Apache-2.0
if(NOT EXISTS ${MANIFEST})
    message(FATAL_ERROR "nothing was installed from here: ${MANIFEST} is absent")
endif()
file(STRINGS ${MANIFEST} files)
set(folders)
foreach(file ${files})
    file(REMOVE $ENV{DESTDIR}${file})
    get_filename_component(folder $ENV{DESTDIR}${file} DIRECTORY)
    while(folder MATCHES "/(ingot|doc/ingot)(/|$)") # their parents are of everybody
        list(APPEND folders ${folder})
        get_filename_component(folder ${folder} DIRECTORY)
    endwhile()
endforeach()
list(REMOVE_DUPLICATES folders)
list(SORT folders ORDER DESCENDING) # the inner ones first
foreach(folder ${folders})
    file(GLOB left ${folder}/*)
    if(IS_DIRECTORY ${folder} AND NOT left)
        file(REMOVE_RECURSE ${folder})
    endif()
endforeach()
file(REMOVE ${MANIFEST})
