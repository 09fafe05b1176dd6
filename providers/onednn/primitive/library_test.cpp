#include "providers/onednn/primitive/library.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <thread>
#include <vector>

#include "ir/core/sanitizers.h"
#include "providers/onednn/primitive/api.h"

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

// While it is set, oneDNN keeps so many primitives.
class KeptPrimitives {
 public:
  explicit KeptPrimitives(int count) {
    library().dnnl_get_primitive_cache_capacity(&before_);
    library().dnnl_set_primitive_cache_capacity(count);
  }
  ~KeptPrimitives() { library().dnnl_set_primitive_cache_capacity(before_); }

 private:
  int before_ = 0;
};

MaybePrimitive scaled_product(int64_t rows) {
  const auto floats = [](const Extents& dims) { return plain_desc(memory::data_type::f32, dims); };
  const PostOps after{{PostOp::Kind::kEltwise, algorithm::eltwise_tanh}};
  return matmul({floats({rows, 48}), floats({48, 64}), {}, floats({rows, 64})},
                attributes(after, 0.25f));
}

std::vector<float> product_of(const dnnl::primitive& made, const Primitive& primitive,
                              int64_t rows) {
  std::vector<float> a(static_cast<size_t>(rows * 48), 0.5f), b(48 * 64, 0.125f);
  std::vector<float> out(static_cast<size_t>(rows * 64));
  std::vector<std::byte> scratchpad(primitive.scratchpad().get_size() + 64);
  const dnnl::memory from(primitive.src(), cpu_engine(), a.data());
  const dnnl::memory weights(primitive.weights(), cpu_engine(), b.data());
  const dnnl::memory to(primitive.dst(), cpu_engine(), out.data());
  const dnnl::memory scratch(primitive.scratchpad(), cpu_engine(), scratchpad.data());
  made.execute(thread_stream(), {{DNNL_ARG_SRC, from},
                                 {DNNL_ARG_WEIGHTS, weights},
                                 {DNNL_ARG_DST, to},
                                 {DNNL_ARG_SCRATCHPAD, scratch}});
  return out;
}

TEST(OnednnLibrary, KeepsNoPrimitivesOfOurs) {
  if (std::getenv("DNNL_PRIMITIVE_CACHE_CAPACITY")) GTEST_SKIP() << "somebody has set it";
  int kept = -1;
  library().dnnl_get_primitive_cache_capacity(&kept);
  EXPECT_EQ(kept, 0);
}

// Its code is asked for when what oneDNN had of it is long gone, as in a plan that first runs after
// others.
TEST(OnednnLibrary, ProductsAreRightWhenTheirCodeComesLate) {
  for (const int kept : {0, 1, 8, 64}) {
    const KeptPrimitives scope(kept);
    std::vector<Primitive> late;
    for (int64_t rows = 2; rows < 34; ++rows) {
      { const auto gone = scaled_product(rows)->make(); }
      late.push_back(*scaled_product(rows));
    }
    for (int64_t rows = 100; rows < 180; ++rows)
      scaled_product(rows)->make();
    for (int64_t rows = 2; rows < 34; ++rows) {
      const Primitive& primitive = late[static_cast<size_t>(rows - 2)];
      for (const float element : product_of(primitive.make(), primitive, rows))
        ASSERT_NEAR(element, std::tanh(0.25f * 48 * 0.5f * 0.125f), 1e-4f) << rows << " rows";
    }
  }
}

}  // namespace
}  // namespace sardonyx::onednn
