# Configures a build with SOTTO_BLAS=OFF where pkg-config knows no OpenBLAS.
set(work ${SOTTO_BUILD}/no_blas)
file(REMOVE_RECURSE ${work})
file(WRITE ${work}/pkg-config "#!/bin/sh
case \"$*\" in *openblas*) exit 1;; esac
exec pkg-config \"$@\"
")
file(CHMOD ${work}/pkg-config PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${work}/build -G ${GENERATOR} -DSOTTO_BLAS=OFF
    -DSOTTO_TESTS=OFF -DSOTTO_BENCH=OFF -DSOTTO_LEARN=OFF -DPKG_CONFIG_EXECUTABLE=${work}/pkg-config
  COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${work}/build/sotto-config.cmake said REGEX "SOTTO_BLAS OFF")
if(NOT said)
  message(FATAL_ERROR "the package would ask for OpenBLAS")
endif()
