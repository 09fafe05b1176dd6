# Formats of images that ImageDecoder reads by a library. Without one of these it refuses its format and names the
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
    sardonyx_source_property(HEADER_FILE_ONLY ON ir/ops/image_decoder/${name}.cpp)  # not compiled
    list(APPEND refused SARDONYX_WITHOUT_${format})
  endif()
endforeach()
sardonyx_source_property(COMPILE_DEFINITIONS "${refused}" ir/ops/image_decoder/codec_missing.cpp)
if(refused)
  # These write images by the libraries, or read damaged ones.
  sardonyx_source_property(HEADER_FILE_ONLY ON
    ir/ops/image_decoder/image_decoder_test.cpp ir/ops/image_decoder/image_decoder_error_test.cpp)
endif()
