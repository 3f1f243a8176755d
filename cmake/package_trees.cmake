# SPDX-License-Identifier: BSD-3-Clause
# CPack runs this after it has installed each package into a tree of its own, and
# before it packs them: what Debian's policy asks of every package.
set(package_version ${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})
if(DEFINED ENV{SOURCE_DATE_EPOCH})
  set(seconds $ENV{SOURCE_DATE_EPOCH})
else()
  execute_process(COMMAND git log -1 --format=%ct WORKING_DIRECTORY ${CPACK_RPMA_SOURCE}
    OUTPUT_VARIABLE seconds OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
execute_process(COMMAND date --utc --rfc-email "--date=@${seconds}"
  OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
file(READ ${CPACK_RPMA_SOURCE}/LICENSE license)
string(REGEX REPLACE "^.*(Redistribution and use.*)$" "\\1" conditions "${license}")
string(STRIP "${conditions}" conditions)
string(REGEX REPLACE "\n\n" "\n.\n" conditions "${conditions}")
string(REGEX REPLACE "\n" "\n " conditions "${conditions}")
string(REGEX MATCH "Copyright ([^\n]*)" holders "${license}")
set(holders ${CMAKE_MATCH_1})

foreach(package IN LISTS CPACK_COMPONENTS_ALL)
  set(tree ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${package}/usr)
  set(doc ${tree}/share/doc/${package})
  file(WRITE ${doc}/copyright
"Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: ${CPACK_PACKAGE_NAME}

Files: *
Copyright: ${holders}
License: BSD-3-Clause
 ${conditions}
")
  file(COPY ${CPACK_RPMA_SOURCE}/CHANGELOG.md DESTINATION ${doc})
  file(RENAME ${doc}/CHANGELOG.md ${doc}/changelog)
  file(WRITE ${doc}/changelog.Debian
"${CPACK_DEBIAN_PACKAGE_SOURCE} (${package_version}) unstable; urgency=medium

  * Packages of this version, made by scripts/package.

 -- ${CPACK_PACKAGE_CONTACT}  ${date}
")
  file(GLOB_RECURSE texts ${tree}/share/man/*.[1-8])
  execute_process(COMMAND gzip -9nf ${doc}/changelog ${doc}/changelog.Debian ${texts}
    COMMAND_ERROR_IS_FATAL ANY)
  file(GLOB_RECURSE archives ${tree}/lib/*.a)
  if(archives)
    execute_process(COMMAND ${CPACK_RPMA_STRIP} --strip-debug ${archives}
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
