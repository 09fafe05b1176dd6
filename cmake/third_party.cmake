# All libraries come from the distribution's packages (`./dev install-deps`).
# The installed package configuration includes this file too, so it only looks things up.

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
find_package(TIFF REQUIRED)
find_package(Protobuf REQUIRED)
find_package(hwy REQUIRED CONFIG)
find_package(spdlog REQUIRED CONFIG)
find_package(nlohmann_json REQUIRED CONFIG)

find_package(PkgConfig REQUIRED)
pkg_check_modules(openjp2 REQUIRED QUIET IMPORTED_TARGET libopenjp2)
pkg_check_modules(webp REQUIRED QUIET IMPORTED_TARGET libwebp)
pkg_check_modules(re2 REQUIRED QUIET IMPORTED_TARGET re2)
pkg_check_modules(utf8proc REQUIRED QUIET IMPORTED_TARGET libutf8proc)
pkg_check_modules(xxhash REQUIRED QUIET IMPORTED_TARGET libxxhash)
