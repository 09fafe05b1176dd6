# Formats of images that ImageDecoder reads by a library, providers/codecs/. Without one of these it refuses its format and names
# the option; BMP and PNM are read by our own code. A program links this layer where it reads images: others need none of
# the libraries.

include(CMakeDependentOption)
option(SARDONYX_CODECS "read images by libraries (ImageDecoder); SARDONYX_CODEC_* chooses among them" ON)
set(SARDONYX_CODEC_FORMATS JPEG JPEG2000 PNG TIFF WEBP)
foreach(format IN LISTS SARDONYX_CODEC_FORMATS)
  cmake_dependent_option(SARDONYX_CODEC_${format} "read ${format} images" ON SARDONYX_CODECS OFF)
endforeach()
set(SARDONYX_CODEC_LIBS_JPEG JPEG::JPEG)
set(SARDONYX_CODEC_LIBS_JPEG2000 PkgConfig::openjp2)
set(SARDONYX_CODEC_LIBS_PNG PNG::PNG)
set(SARDONYX_CODEC_LIBS_TIFF TIFF::TIFF)
set(SARDONYX_CODEC_LIBS_WEBP PkgConfig::webp)

set(SARDONYX_CODEC_LIBS "")
set(lacks_formats OFF)
set(linked "")
foreach(format IN LISTS SARDONYX_CODEC_FORMATS)
  if(SARDONYX_CODEC_${format})
    list(APPEND SARDONYX_CODEC_LIBS ${SARDONYX_CODEC_LIBS_${format}})
    list(APPEND linked SARDONYX_CODEC_${format})
  else()
    string(TOLOWER ${format} name)
    sardonyx_source_property(HEADER_FILE_ONLY ON providers/codecs/${name}.cpp)  # not compiled
    set(lacks_formats ON)
  endif()
endforeach()
if(lacks_formats)
  # These write images by the libraries, or read damaged ones. Set once: the property would become a list otherwise.
  sardonyx_source_property(HEADER_FILE_ONLY ON
    providers/codecs/codecs_test.cpp providers/codecs/codecs_error_test.cpp)
endif()
sardonyx_source_property(COMPILE_DEFINITIONS "${linked}" providers/codecs/linked.cpp)

# What asks the linker for the list of decoders (providers/codecs/linked.cpp), which nothing else refers to by a strong name.
set(SARDONYX_CODECS_SYMBOL -Wl,--undefined=sardonyx_codecs)
