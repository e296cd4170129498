# Looks for MPFR, which the elementary functions of intervals are made with; without it they throw.
#
# An installed libvouch.a asks the linker for it by name, so that the package remembers no path of this machine.
option(VOUCH_MPFR "Build the elementary functions of intervals where MPFR is found" ON)
set(VOUCH_MPFR_BOOL false)
find_library(VOUCH_MPFR_LIBRARY mpfr)
find_path(VOUCH_MPFR_INCLUDE mpfr.h)
mark_as_advanced(VOUCH_MPFR_LIBRARY VOUCH_MPFR_INCLUDE)
if(VOUCH_MPFR_INCLUDE)
  file(STRINGS ${VOUCH_MPFR_INCLUDE}/mpfr.h version REGEX "define MPFR_VERSION_STRING")
  string(REGEX MATCH "[0-9]+\\.[0-9]+\\.[0-9]+" version "${version}")
endif()
# 4.2 brought roots of negative order.
if(VOUCH_MPFR AND VOUCH_MPFR_LIBRARY AND VOUCH_MPFR_INCLUDE AND version VERSION_GREATER_EQUAL 4.2)
  set(VOUCH_MPFR_BOOL true)
  set(VOUCH_MPFR_VERSION ${version})
  add_library(vouch_mpfr INTERFACE)
  target_include_directories(vouch_mpfr SYSTEM INTERFACE ${VOUCH_MPFR_INCLUDE})
  target_link_libraries(vouch_mpfr INTERFACE ${VOUCH_MPFR_LIBRARY})
else()
  message(STATUS "vouch: no MPFR 4.2, building without the elementary functions of intervals")
endif()
