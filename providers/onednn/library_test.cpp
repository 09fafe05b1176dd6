#include "providers/onednn/library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <thread>

#include "ir/sanitizers.h"

namespace sardonyx::onednn {
namespace {

TEST(OnednnLibrary, IsLoadedAndOfTheHeadersVersion) {
  const dnnl_version_t& version = *library().dnnl_version();
  EXPECT_EQ(version.major, DNNL_VERSION_MAJOR);
  EXPECT_GE(version.minor, DNNL_VERSION_MINOR);
}

TEST(OnednnLibrary, ItsFunctionsStayOutOfTheProgramsSight) {
  library();
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "dnnl_engine_create"), nullptr);
}

TEST(OnednnLibrary, SettingOfThreadsIsTheCallingThreadsOwn) {
  const int before = onednn_threads();
  std::thread([] {
    set_onednn_threads(3);
    EXPECT_EQ(onednn_threads(), 3);
  }).join();
  EXPECT_EQ(onednn_threads(), before);
}

}  // namespace
}  // namespace sardonyx::onednn
