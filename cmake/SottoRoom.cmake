# sotto_room(NAME LIBS ...) makes the library of one room from the sources beside its CMakeLists.txt,
# and one test program from its *_test.cc. It stands on the rooms it may use (SottoHouse.cmake).
# PARSERS, of a room that mostly computes: its files that read what others wrote. In a build for the fuzzer the
# rest of it is neither watched nor optimised: such a file compiles in less than half the time.
# QUICK: nothing in it is hot, so it is optimised less, which takes a third less time.
# PRECOMPILED: the room whose precompiled headers it takes, base (the default) or nn (Eigen as well).
set(SOTTO_ROOMS "" CACHE INTERNAL "all rooms")

# What most files include, compiled once. A file still names what it uses: lint and the fuzzer's build
# do without precompiled headers.
set(SOTTO_PRECOMPILED_base <algorithm> <cmath> <cstdint> <filesystem> <fmt/format.h> <functional> <map>
    <memory> <optional> <span> <string> <vector>)
set(SOTTO_PRECOMPILED_nn ${SOTTO_PRECOMPILED_base} <Eigen/Core>)
set(SOTTO_PRECOMPILED_report ${SOTTO_PRECOMPILED_nn} <nlohmann/json.hpp>)

function(sotto_room name)
  cmake_parse_arguments(ARG "QUICK" "PRECOMPILED" "LIBS;PRIVATE_LIBS;PARSERS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cc)
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  if(SOTTO_FUZZ AND "PARSERS" IN_LIST ARGN)
    set(computing ${sources})
    list(TRANSFORM ARG_PARSERS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    list(REMOVE_ITEM computing ${ARG_PARSERS})
    set_source_files_properties(${computing} PROPERTIES COMPILE_OPTIONS "-fno-sanitize=all;-O0")
  endif()

  add_library(sotto_${name} STATIC ${sources})
  set_target_properties(sotto_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(sotto_${name} PUBLIC cxx_std_20)
  if(ARG_QUICK)
    target_compile_options(sotto_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  target_include_directories(sotto_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src> $<INSTALL_INTERFACE:include>)
  set(rooms ${SOTTO_ROOMS_OF_${name}})
  list(TRANSFORM rooms PREPEND sotto_)
  target_link_libraries(sotto_${name} PUBLIC ${rooms} ${ARG_LIBS} PRIVATE ${ARG_PRIVATE_LIBS})
  if(DEFINED SOTTO_PRECOMPILED_${name})
    target_precompile_headers(sotto_${name} PRIVATE ${SOTTO_PRECOMPILED_${name}})
  elseif(ARG_PRECOMPILED)
    target_precompile_headers(sotto_${name} REUSE_FROM sotto_${ARG_PRECOMPILED})
  else()
    target_precompile_headers(sotto_${name} REUSE_FROM sotto_base)
  endif()
  set(SOTTO_ROOMS ${SOTTO_ROOMS} sotto_${name} CACHE INTERNAL "all rooms")

  if(SOTTO_TESTS AND tests)
    sotto_test(${name}_test SOURCES ${tests} LIBS sotto_${name} ${ARG_PRIVATE_LIBS} PkgConfig::sndfile)
  endif()
endfunction()

# OpenBLAS takes its slowest kernels on CPUs newer than itself. The programs see to it themselves
# (nn/eigen_backend.h, PrepareBlas); test programs get this.
set(SOTTO_TEST_ENVIRONMENT "")
if(EXISTS /proc/cpuinfo)
  file(STRINGS /proc/cpuinfo cpu_flags REGEX "^flags" LIMIT_COUNT 1)
  if(cpu_flags MATCHES " avx512f .*avx512bw .*avx512vl ")
    set(SOTTO_TEST_ENVIRONMENT OPENBLAS_CORETYPE=SkylakeX)
  elseif(cpu_flags MATCHES " fma .*avx2 ")
    set(SOTTO_TEST_ENVIRONMENT OPENBLAS_CORETYPE=Haswell)
  endif()
endif()

# sotto_test(NAME SOURCES ... LIBS ...): one GoogleTest program. Suites named *Slow* get the ctest
# label "slow".
function(sotto_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  find_package(GTest REQUIRED)
  include(GoogleTest)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gtest_main)
  target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O1>)  # what is tested is optimised
  target_compile_definitions(${name} PRIVATE
    SOTTO_DEFAULT_SHARED="${PROJECT_SOURCE_DIR}/../shared"
    SOTTO_BINARY="$<TARGET_FILE:sotto_cli>")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  gtest_discover_tests(${name} TEST_FILTER "-*Slow*" DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 300 ENVIRONMENT "${SOTTO_TEST_ENVIRONMENT}" SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
  gtest_discover_tests(${name} TEST_FILTER "*Slow*" DISCOVERY_TIMEOUT 60 TEST_LIST ${name}_slow
                       PROPERTIES TIMEOUT 900 LABELS slow ENVIRONMENT "${SOTTO_TEST_ENVIRONMENT}" SKIP_REGULAR_EXPRESSION "\\[  SKIPPED \\]")
endfunction()
