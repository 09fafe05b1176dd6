// Which sanitizers this is compiled with: gcc and clang say so in ways of their own.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define SARDONYX_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SARDONYX_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define SARDONYX_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SARDONYX_THREAD_SANITIZER 1
#endif
#endif

namespace sardonyx {

#ifdef SARDONYX_ADDRESS_SANITIZER
constexpr bool kAddressSanitizer = true;
#else
constexpr bool kAddressSanitizer = false;
#endif
#ifdef SARDONYX_THREAD_SANITIZER
constexpr bool kThreadSanitizer = true;
#else
constexpr bool kThreadSanitizer = false;
#endif

}  // namespace sardonyx
