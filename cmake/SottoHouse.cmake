# The rooms and the rooms each may use, from the table of docs/house.md: SOTTO_HOUSE, from the ground
# up, and SOTTO_ROOMS_OF_<name>.
set(house ${PROJECT_SOURCE_DIR}/docs/house.md)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${house})
file(STRINGS ${house} rows REGEX "^\\| `[a-z]+` \\|")
set(SOTTO_HOUSE "")
foreach(row IN LISTS rows)
  string(REGEX MATCH "^\\| `([a-z]+)` \\|([^|]*)\\|" unused "${row}")
  set(room ${CMAKE_MATCH_1})
  string(REGEX MATCHALL "[a-z]+" SOTTO_ROOMS_OF_${room} "${CMAKE_MATCH_2}")
  list(REMOVE_ITEM SOTTO_ROOMS_OF_${room} nothing)
  list(APPEND SOTTO_HOUSE ${room})
endforeach()
