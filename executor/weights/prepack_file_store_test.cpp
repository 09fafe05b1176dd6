// What one session packed serves the next, and never anybody for whom it was not made.
#include "executor/weights/prepack_file_store.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <sstream>

#include "executor/session.h"
#include "ir/op_samples.h"
#include "onnx_io/save.h"
#include "tests/support/temporary_folder.h"

namespace sardonyx {
namespace {

namespace fs = std::filesystem;

class PlanCacheTest : public testing::Test {
 protected:
  static Tensor drawn(const Shape& shape, uint64_t seed) {
    return drawn_tensor(DType::kFloat, shape, -1, 1, seed);
  }
  static constexpr int64_t kWidth = 256;
  static Tensor input(int64_t rows = 64) { return drawn({rows, kWidth}, 1); }

  // y = relu(x w1) w2 with w2 = w1 + 1, as a pass makes it of w1.
  fs::path saved(uint64_t seed = 2, const char* name = "model.onnx") const {
    Model model;
    GraphEmitter e(*model.graph);
    const Type type = Type::tensor(DType::kFloat, Dims{Dim::symbol("rows"), Dim(kWidth)});
    const Val x = GraphEmitter::wrap(model.graph->add_input("x", type));
    const Val w1 = e.constant(drawn({kWidth, kWidth}, seed));
    const Val w2 = e.call("Add", {w1, e.constant(Tensor::scalar(1.0f))});
    const Val y = e.call("MatMul", {e.call("Relu", {e.call("MatMul", {x, w1})}), w2});
    model.graph->add_output(GraphEmitter::unwrap(y));
    save_model(model, folder_ / name);
    usleep(50'000);  // a file that was just written has no identity
    return folder_ / name;
  }

  struct Ran {
    Tensor y;
    std::string log;
    bool wrote() const { return log.find("wrote") != std::string::npos; }
  };
  Ran run(const fs::path& model, const fs::path& cache, int64_t rows = 64) const {
    std::ostringstream log;
    SessionOptions options;
    options.plan_cache = cache;
    options.log_level = LogLevel::kInfo;
    options.log = [&](LogLevel level, std::string_view line) {
      if (line.starts_with("plan cache")) log << static_cast<int>(level) << ' ' << line << '\n';
    };
    const Session session(model, options);
    Ran ran;
    ran.y = session.run({{"x", input(rows)}})[0].tensor();
    ran.log = log.str();
    return ran;
  }
  Tensor plain(const fs::path& model, int64_t rows = 64) const {
    return Session(model).run({{"x", input(rows)}})[0].tensor();
  }

  static std::string bytes_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  const TemporaryFolder folder_;
  const fs::path cache_ = folder_ / "packs";
};

TEST_F(PlanCacheTest, is_written_once_and_serves_the_next) {
  const fs::path model = saved();
  const Tensor wanted = plain(model);
  const Ran first = run(model, cache_);
  EXPECT_TRUE(first.wrote()) << first.log;
  EXPECT_EQ(first.y, wanted);
  EXPECT_GE(fs::file_size(cache_), 2 * kWidth * kWidth * sizeof(float));
  const Ran second = run(model, cache_);
  EXPECT_EQ(second.log, "");
  EXPECT_EQ(second.y, wanted);
}

// A model of the same name and size, with other weights.
TEST_F(PlanCacheTest, knows_the_weights_by_what_they_are) {
  run(saved(), cache_);
  const fs::path changed = saved(3);
  const Tensor wanted = plain(changed);
  const Ran ran = run(changed, cache_);
  EXPECT_EQ(ran.y, wanted);
  EXPECT_TRUE(ran.wrote());
}

TEST_F(PlanCacheTest, serves_copies_of_the_model) {
  run(saved(), cache_);
  const fs::path copy = saved(2, "copy.onnx");
  const Ran ran = run(copy, cache_);
  EXPECT_EQ(ran.log, "");
  EXPECT_EQ(ran.y, plain(copy));
}

TEST_F(PlanCacheTest, serves_models_in_memory) {
  const fs::path model = saved();
  run(model, cache_);
  const std::string bytes = bytes_of(model);
  bool wrote = false;
  SessionOptions options;
  options.plan_cache = cache_;
  options.log_level = LogLevel::kInfo;
  options.log = [&](LogLevel, std::string_view line) {
    wrote = wrote || line.find("wrote") != std::string_view::npos;
  };
  const Session session(std::as_bytes(std::span(bytes)), options);
  EXPECT_EQ(session.run({{"x", input()}})[0].tensor(), plain(model));
  EXPECT_FALSE(wrote);
}

// A bit of the packed weights that is another one must not reach any result.
TEST_F(PlanCacheTest, packs_that_are_damaged_are_packed_anew) {
  const fs::path model = saved();
  const Tensor wanted = plain(model);
  run(model, cache_);
  const std::string good = bytes_of(cache_);
  uint64_t index_bytes = 0;
  std::memcpy(&index_bytes, good.data() + 24, sizeof index_bytes);
  const size_t first = (48 + index_bytes + 63) / 64 * 64;
  for (const size_t at : {first, first + 12'345, good.size() - 4}) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    fs::remove(cache_);
    folder_.write("packs", bytes);
    const Ran damaged = run(model, cache_);
    EXPECT_EQ(damaged.y, wanted) << at;
    EXPECT_NE(damaged.log.find("are not what was written"), std::string::npos) << damaged.log;
    EXPECT_TRUE(damaged.wrote()) << damaged.log;
    EXPECT_EQ(run(model, cache_).log, "");
  }
}

// Wherever a byte of header or index is another one, or the file ends early, it is replaced.
TEST_F(PlanCacheTest, is_replaced_where_it_is_damaged) {
  const fs::path model = saved();
  const Tensor wanted = plain(model);
  run(model, cache_);
  const std::string good = bytes_of(cache_);
  const auto tried = [&](std::string bytes) {
    fs::remove(cache_);
    folder_.write("packs", bytes);
    const Ran ran = run(model, cache_);
    EXPECT_EQ(ran.y, wanted);
    EXPECT_TRUE(ran.wrote()) << ran.log;
    EXPECT_NE(ran.log.find("will be replaced"), std::string::npos) << ran.log;
    EXPECT_EQ(bytes_of(cache_).size(), good.size());
  };
  uint64_t index_bytes = 0;
  std::memcpy(&index_bytes, good.data() + 24, sizeof index_bytes);
  const size_t index_end = 48 + index_bytes;
  for (size_t at = 16; at < index_end; at += 37) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x41);
    tried(bytes);
  }
  for (const size_t size : {size_t{16}, size_t{47}, size_t{48}, index_end - 1, good.size() - 1})
    tried(good.substr(0, size));
}

TEST_F(PlanCacheTest, may_be_an_empty_file) {
  const fs::path model = saved();
  folder_.write("packs", "");
  EXPECT_TRUE(run(model, cache_).wrote());
  EXPECT_EQ(run(model, cache_).log, "");
}

TEST_F(PlanCacheTest, never_overwrites_anything_else) {
  const fs::path model = saved();
  try {
    run(model, model);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find(model.native()), std::string::npos) << error.what();
  }
  EXPECT_NO_THROW(plain(model));
  const Ran ran = run(model, folder_.path());
  EXPECT_NE(ran.log.find("is a directory"), std::string::npos) << ran.log;
  EXPECT_EQ(ran.y, plain(model));
}

TEST_F(PlanCacheTest, is_left_out_where_it_cannot_be_written) {
  const fs::path model = saved();
  const Ran ran = run(model, folder_ / "absent/packs");
  EXPECT_EQ(ran.y, plain(model));
  EXPECT_NE(ran.log.find("can't be created"), std::string::npos) << ran.log;
}

TEST_F(PlanCacheTest, of_another_version_is_replaced) {
  const Log log;
  const Tensor weight = drawn({4, 4}, 4);
  int made = 0;
  const auto packed_by = [&](const char* maker, const char* form, size_t bytes) {
    PrepackFileStore cache(cache_, maker, log);
    cache.get(weight, form, bytes, [&] {
      ++made;
      return Buffer::allocate(bytes);
    });
    cache.save();
    return made;
  };
  EXPECT_EQ(packed_by("one", "transposed", 64), 1);
  EXPECT_EQ(packed_by("one", "transposed", 64), 1);
  EXPECT_EQ(packed_by("two", "transposed", 64), 2);
  EXPECT_EQ(packed_by("one", "transposed", 64), 3);
  EXPECT_EQ(packed_by("one", "straight", 64), 4);
  EXPECT_EQ(packed_by("one", "straight", 128), 5);  // a form of another size is another one
}

// Plans for other sizes may want other forms: a few more bytes are not worth a new file.
TEST_F(PlanCacheTest, is_written_again_where_much_is_new) {
  const Log log;
  PrepackFileStore cache(cache_, "maker", log);
  const auto pack = [&](uint64_t seed, size_t bytes) {
    cache.get(drawn({4, 4}, seed), "form", bytes, [&] { return Buffer::allocate(bytes); });
    cache.save();
    return fs::file_size(cache_);
  };
  const auto first = pack(1, 64 << 10);
  EXPECT_EQ(pack(2, 64), first);
  EXPECT_GT(pack(3, 64 << 10), first + (64 << 10));
}

}  // namespace
}  // namespace sardonyx
