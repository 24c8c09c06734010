# Installs into a scratch prefix, and builds and runs the examples of docs/library.md against it.
set(work ${SOTTO_BUILD}/consumer)
file(REMOVE_RECURSE ${work})
macro(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endmacro()
function(expect what is wanted)
  if(NOT is MATCHES "^(${wanted})$")
    message(FATAL_ERROR "${what}: ${is}\nwanted: ${wanted}")
  endif()
endfunction()
run(${CMAKE_COMMAND} --install ${SOTTO_BUILD} --prefix ${work}/prefix)
run(${work}/prefix/bin/sotto --version)
file(GLOB_RECURSE headers RELATIVE ${work}/prefix/include ${work}/prefix/include/*)
expect(headers "${headers}" "sotto/assess/figure.h;sotto/base/error.h;sotto/base/run_watch.h;\
sotto/sotto.h;sotto/voice/transformer.h")

# A block's first line names its file.
file(MAKE_DIRECTORY ${work}/examples)
run(awk -v folder=${work}/examples [[
  /^```$/ { file = "" }
  file { print > file }
  /^```cpp$/ {
    getline
    file = folder "/" substr($2, 1, index($2, ".cc") + 2)
  }]] ${PAGE})
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${work}/build -G ${GENERATOR} -DEXAMPLES=${work}/examples
    -DCMAKE_PREFIX_PATH=${work}/prefix -DCMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${work}/build)

# Four speakers, two sentences each.
find_program(flite flite REQUIRED)
set(sounds "")
foreach(speaker kal awb rms slt)
  file(MAKE_DIRECTORY ${work}/in/${speaker})
  foreach(words "the boat sails at noon" "nobody knows where it ends")
    string(REGEX MATCH "[a-z]+$" name ${words})
    run(${flite} -voice ${speaker} -t ${words} -o ${work}/in/${speaker}/${name}.wav)
    list(APPEND sounds in/${speaker}/${name}.wav)
  endforeach()
endforeach()

run(${work}/build/protect_file ${work}/in/slt/noon.wav ${work}/file.wav)
file(SIZE ${work}/in/slt/noon.wav size)
file(SIZE ${work}/file.wav protected_size)
expect("size of a file" ${protected_size} ${size})

run(tail -c +45 ${work}/in/slt/noon.wav OUTPUT_FILE ${work}/in.raw)  # behind the header
file(SIZE ${work}/in.raw size)
foreach(what buffer stream)
  run(${work}/build/protect_${what} INPUT_FILE ${work}/in.raw OUTPUT_FILE ${work}/${what}.raw)
  file(SIZE ${work}/${what}.raw protected_size)
  expect("size of a ${what}" ${protected_size} ${size})
endforeach()
file(SHA256 ${work}/in.raw original)
file(SHA256 ${work}/buffer.raw buffer)
file(SHA256 ${work}/stream.raw stream)
if(original STREQUAL buffer OR original STREQUAL stream OR buffer STREQUAL stream)
  message(FATAL_ERROR "a voice was left as it is, or two keys were the same")
endif()

run(${work}/build/protect_corpus ${work}/in ${work}/out OUTPUT_VARIABLE said)
expect("a corpus run" "${said}" "anonymise: 0 of 8\n.*anonymise: 8 of 8\n")
file(GLOB_RECURSE made ${work}/out/*.wav)
list(LENGTH made count)
expect("files of a corpus" ${count} 8)

run(${work}/build/figures ${sounds} WORKING_DIRECTORY ${work} OUTPUT_VARIABLE said)
expect(figures "${said}" "EER [01]\\.[0-9]+ .[01]\\.[0-9]+, [01]\\.[0-9]+.\n")
