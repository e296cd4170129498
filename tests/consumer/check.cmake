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
# The tool's peers may not have been built: what bench/ installs must be optional.
if(EXISTS ${BUILD}/bench/cmake_install.cmake)
  file(READ ${BUILD}/bench/cmake_install.cmake script)
  string(REPLACE "${BUILD}/" "${WORK}/nothing_built/" script "${script}")
  file(WRITE ${WORK}/bench_install.cmake "${script}")
  run(${CMAKE_COMMAND} -DCMAKE_INSTALL_PREFIX=${WORK}/nothing -P ${WORK}/bench_install.cmake)
endif()
file(RENAME ${WORK}/staged ${WORK}/prefix)

run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${WORK}/build -G Ninja
  -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF)
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${CMAKE_CTEST_COMMAND} --test-dir ${WORK}/build --output-on-failure)
if(EXISTS ${WORK}/prefix/bin/vouch)
  run(${WORK}/prefix/bin/vouch --version)
endif()
