# sotto_embed(TARGET NAME FILE): builds FILE into TARGET as the std::string_view sotto::NAME.
# Run as a script (-DIN= -DOUT= -DNAME=) it writes that source file.
if(CMAKE_SCRIPT_MODE_FILE)
  file(READ "${IN}" hex HEX)
  string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${hex}")
  file(WRITE "${OUT}" "#include <string_view>\nnamespace sotto {\n"
       "static const char kBytes[] = {${bytes}0};\n"
       "extern const std::string_view ${NAME};\n"
       "const std::string_view ${NAME}(kBytes, sizeof kBytes - 1);\n}\n")
  return()
endif()

function(sotto_embed target name file)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DIN=${file} -DOUT=${out} -DNAME=${name}
            -P ${PROJECT_SOURCE_DIR}/cmake/SottoEmbed.cmake
    DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/SottoEmbed.cmake VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
