/* Nothing in libsardonyx.so is destroyed when the program ends or the library is closed: threads of the program and of
 * the pool may still load and run models then. What has no destructor to wait for needs no entry with the C library. */
__attribute__((visibility("hidden"))) int __cxa_atexit(void (*destroy)(void*), void* object, void* library) {
  (void)destroy, (void)object, (void)library;
  return 0;
}
