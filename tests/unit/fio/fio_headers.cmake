# SPDX-License-Identifier: BSD-3-Clause
# What fio_engine/fio_headers.cmake takes for the source of fio: -DSUBJECT= names it, -DFOLDER= a
# place for trees of fio's that are made here.
function(expect code text)
  execute_process(COMMAND ${CMAKE_COMMAND} ${ARGN} -P ${SUBJECT} RESULT_VARIABLE got OUTPUT_VARIABLE out ERROR_VARIABLE out)
  string(REGEX REPLACE "[ \n]+" " " out "${out}")
  if(NOT got EQUAL code OR NOT out MATCHES "${text}")
    message(FATAL_ERROR "${ARGN}: expected ${code} and '${text}', got ${got}: ${out}")
  endif()
endfunction()

function(make_tree version)
  file(WRITE ${FOLDER}/${version}/fio.h "")
  file(WRITE ${FOLDER}/${version}/FIO-VERSION-GEN "#!/bin/sh\nGVF=FIO-VERSION-FILE\nDEF_VER=fio-${version}\n")
  file(WRITE ${FOLDER}/program-${version} "#!/bin/sh\necho fio-${version}-3\n")
  file(CHMOD ${FOLDER}/program-${version} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
foreach(version IN ITEMS 3.31 3.32 3.39)
  make_tree(${version})
endforeach()
file(WRITE ${FOLDER}/half/fio.h "")
set(none -DFIO_PROGRAM=)
expect(0 "left out: no -DFIO_SOURCE_DIR" -DFIO_SOURCE_DIR= ${none})
expect(1 "not the source of fio: no fio.h" -DFIO_SOURCE_DIR=${FOLDER}/nothing ${none})
expect(1 "no FIO-VERSION-GEN there" -DFIO_SOURCE_DIR=${FOLDER}/half ${none})
expect(1 "is fio-3.31: the engine needs fio 3.32" -DFIO_SOURCE_DIR=${FOLDER}/3.31 -DFIO_PROGRAM=${FOLDER}/program-3.31)
expect(0 "built for fio-3.32" -DFIO_SOURCE_DIR=${FOLDER}/3.32 -DFIO_PROGRAM=${FOLDER}/program-3.32)
expect(0 "built for fio-3.39" -DFIO_SOURCE_DIR=${FOLDER}/3.39 -DFIO_PROGRAM=${FOLDER}/program-3.39)
expect(1 "is fio-3.39, but .*program-3.32 is 'fio-3.32'.*-DFIO_PROGRAM=PATH" -DFIO_SOURCE_DIR=${FOLDER}/3.39
       -DFIO_PROGRAM=${FOLDER}/program-3.32)
