/* What libtiff and zstd leave open. */
#define HIDDEN __attribute__((visibility("hidden")))

/* LERC's archive can't be linked into a shared library. Each of these says that it failed, so TIFF pictures with this
 * compression, which is one of terrain data, are refused like damaged ones. */
enum { kFailed = 1 };
HIDDEN unsigned lerc_getBlobInfo(void) { return kFailed; }
HIDDEN unsigned lerc_decode(void) { return kFailed; }
HIDDEN unsigned lerc_computeCompressedSizeForVersion(void) { return kFailed; }
HIDDEN unsigned lerc_encodeForVersion(void) { return kFailed; }

/* A program may define these to watch zstd at work; 0 is one that doesn't want to. */
HIDDEN unsigned long long ZSTD_trace_compress_begin(const void* context) { return (void)context, 0; }
HIDDEN void ZSTD_trace_compress_end(unsigned long long id, const void* trace) { (void)id, (void)trace; }
HIDDEN unsigned long long ZSTD_trace_decompress_begin(const void* context) { return (void)context, 0; }
HIDDEN void ZSTD_trace_decompress_end(unsigned long long id, const void* trace) { (void)id, (void)trace; }
