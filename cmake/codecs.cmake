# Formats of pictures that ImageDecoder reads by a library. Without one of these it refuses its format and names the
# option; BMP and PNM are read by our own code.

include(CMakeDependentOption)
option(SARDONYX_CODECS "read pictures by libraries (ImageDecoder); SARDONYX_CODEC_* chooses among them" ON)
set(SARDONYX_CODEC_FORMATS JPEG JPEG2000 PNG TIFF WEBP)
foreach(format IN LISTS SARDONYX_CODEC_FORMATS)
  cmake_dependent_option(SARDONYX_CODEC_${format} "read ${format} pictures" ON SARDONYX_CODECS OFF)
endforeach()
set(SARDONYX_CODEC_LIBS_JPEG JPEG::JPEG)
set(SARDONYX_CODEC_LIBS_JPEG2000 PkgConfig::openjp2)
set(SARDONYX_CODEC_LIBS_PNG PNG::PNG)
set(SARDONYX_CODEC_LIBS_TIFF TIFF::TIFF)
set(SARDONYX_CODEC_LIBS_WEBP PkgConfig::webp)

set(SARDONYX_CODEC_LIBS "")
set(refused "")
foreach(format IN LISTS SARDONYX_CODEC_FORMATS)
  if(SARDONYX_CODEC_${format})
    list(APPEND SARDONYX_CODEC_LIBS ${SARDONYX_CODEC_LIBS_${format}})
  else()
    string(TOLOWER ${format} name)
    set_property(SOURCE ir/ops/picture_${name}.cpp PROPERTY HEADER_FILE_ONLY ON)  # not compiled
    list(APPEND refused SARDONYX_WITHOUT_${format})
  endif()
endforeach()
set_property(SOURCE ir/ops/picture_refused.cpp PROPERTY COMPILE_DEFINITIONS ${refused})
if(refused)
  # These write pictures by the libraries, or read damaged ones.
  set_property(SOURCE ir/ops/picture_test.cpp ir/ops/picture_refusal_test.cpp PROPERTY HEADER_FILE_ONLY ON)
endif()
