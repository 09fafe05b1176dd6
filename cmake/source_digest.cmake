# cmake -D ROOT=folder -D OUTPUT=file.cpp -P source_digest.cmake
# Writes kSourceDigest, a digest of the sources of ir and of the providers.

file(GLOB_RECURSE sources ${ROOT}/ir/*.h ${ROOT}/ir/*.cpp ${ROOT}/providers/*.h ${ROOT}/providers/*.cpp)
list(FILTER sources EXCLUDE REGEX "_(test|bench|fuzz)\\.cpp$")
list(SORT sources)
set(digests "")
foreach(source IN LISTS sources)
  file(SHA256 ${source} digest)
  string(APPEND digests ${digest})
endforeach()
string(SHA256 digest "${digests}")
string(SUBSTRING ${digest} 0 16 digest)
file(WRITE ${OUTPUT} "#include \"providers/source_digest.h\"\n
namespace sardonyx {\n
extern const char kSourceDigest[] = \"${digest}\";\n
}  // namespace sardonyx\n")
