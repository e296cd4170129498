# cmake -D SOURCE=... -D OUT=... -P vouch_commit.cmake: a header that says which commit this is, written again only when
# that changes; "" where there is no git.
cmake_minimum_required(VERSION 3.25)
find_package(Git QUIET)
set(commit "")
if(GIT_FOUND AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT_EXECUTABLE} -C ${SOURCE} describe --always --dirty --abbrev=12 --exclude=*
    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
file(CONFIGURE OUTPUT ${OUT} CONTENT "#pragma once\n#define VOUCH_COMMIT \"@commit@\"\n" @ONLY)
