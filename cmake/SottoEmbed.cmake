# sotto_embed(TARGET NAME FILE): builds FILE into TARGET as the std::string_view sotto::NAME. The
# assembler copies the bytes, so that megabytes cost the compiler nothing.
function(sotto_embed target name file)
  set(out ${CMAKE_CURRENT_BINARY_DIR}/${name}.cc)
  # ccache goes by the text it compiles and does not see what the assembler reads.
  file(SHA256 ${file} digest)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT
"// @digest@
#include <string_view>
__asm__(\".section .rodata\\n.balign 16\\nsotto_bytes_of_@name@:\\n.incbin \\\"@file@\\\"\\n\"
        \"sotto_end_of_@name@:\\n.byte 0\\n.text\\n\");
extern \"C\" const char sotto_bytes_of_@name@[];
extern \"C\" const char sotto_end_of_@name@[];
namespace sotto {
extern const std::string_view @name@;
const std::string_view @name@(sotto_bytes_of_@name@,
                              static_cast<std::size_t>(sotto_end_of_@name@ - sotto_bytes_of_@name@));
}  // namespace sotto
")
  set_property(SOURCE ${out} APPEND PROPERTY OBJECT_DEPENDS ${file})
  target_sources(${target} PRIVATE ${out})
endfunction()
