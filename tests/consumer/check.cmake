# cmake -D BUILD=... -D WORK=... [-D FLAGS=...] -P check.cmake: installs the build tree BUILD to a fresh prefix under
# WORK, moves that prefix (a package must not remember where it was made), builds this project against it with these
# flags of the compiler and runs its tests.
cmake_minimum_required(VERSION 3.25)
file(REAL_PATH ${WORK} WORK)

function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/staged)
file(RENAME ${WORK}/staged ${WORK}/prefix)

run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build -G Ninja
  -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/build --output-on-failure)
# What pkg-config says is enough, too.
find_program(PKG_CONFIG pkg-config)
find_program(COMPILER NAMES c++ g++)
if(PKG_CONFIG AND COMPILER)
  file(GLOB_RECURSE pc ${WORK}/prefix/vouch.pc)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env --unset=PKG_CONFIG_PATH ${PKG_CONFIG} --cflags --libs ${pc}
    OUTPUT_VARIABLE words COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(words UNIX_COMMAND "${FLAGS} ${words}")
  get_filename_component(folder ${pc} DIRECTORY)
  run(${COMPILER} -std=c++20 ${CMAKE_CURRENT_LIST_DIR}/consumer.cpp -o ${WORK}/by_pkg_config ${words}
    -Wl,-rpath,${folder}/..)
  run(${WORK}/by_pkg_config ${WORK}/by_pkg_config.mtx)
endif()
# As a folder of another project, with linear systems alone; configured only, it would be built once more.
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/subproject -B ${WORK}/subproject -G Ninja -DVOUCH_CUDA=OFF
  -DVOUCH_COMPONENTS=)
run(${CMAKE_COMMAND} --install ${WORK}/subproject --prefix ${WORK}/nothing)
if(EXISTS ${WORK}/nothing)
  message(FATAL_ERROR "a subproject installed something")
endif()
if(EXISTS ${WORK}/prefix/bin/vouch)
  run(${WORK}/prefix/bin/vouch --version)
endif()
