// Every kernel of the provider against the reference, on the samples of its row and on larger
// shapes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "ir/core/dtype_convert.h"
#include "ir/reference_evaluator.h"
#include "providers/onednn/kernel_list.h"
#include "tests/support/kernel_runner.h"
#include "tests/support/larger_samples.h"
#include "tests/support/small_partitions.h"

namespace sardonyx::onednn {
namespace {

using Ints = std::vector<int64_t>;

Tensor random_floats(const Shape& shape, double low, double high, uint32_t seed) {
  Tensor tensor = Tensor::allocate(DType::kFloat, shape);
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> uniform(static_cast<float>(low), static_cast<float>(high));
  for (float& value : tensor.mutable_values<float>())
    value = uniform(generator);
  return tensor;
}

std::vector<Tensor> inputs_of(const Sample& sample) {
  std::vector<Tensor> inputs;
  for (const SampleInput& input : sample.inputs) {
    const auto seed = static_cast<uint32_t>(inputs.size() + 1);
    if (input.omitted)
      inputs.emplace_back();
    else if (input.value)
      inputs.push_back(*input.value);
    else
      inputs.push_back(random_floats(input.shape, input.low, input.high, seed));
  }
  return inputs;
}

// Integer products have tests of their own.
bool takes_float(const KernelEntry& entry) {
  const OpDef& op = op_named(entry.op);
  for (const TypeConstraint& constraint : op.types) {
    if (constraint.name == signature_of(op).inputs[0].type) {
      return constraint.types.tensors.has(DType::kFloat);
    }
  }
  return false;
}

// Is it a sample whose first input may be float32, and the others too where their type is open?
bool is_float_sample(const Sample& sample) {
  if (!sample.only.has(DType::kFloat)) return false;
  for (const SampleInput& input : sample.inputs) {
    if (!input.value && input.dtype != DType::kUndefined && input.dtype != DType::kFloat) {
      return false;
    }
  }
  const SampleInput& first = sample.inputs[0];
  return !first.value || first.value->dtype() == DType::kFloat;
}

struct Case {
  const OpDef& op;
  Attrs attrs;
  std::vector<Tensor> inputs;
  std::vector<Tensor> expected;
};

Case make_case(const std::string& op_name, const Sample& sample) {
  const OpDef& op = op_named(op_name);
  Case made{op, Attrs::parse(*op.attrs, sample.attrs), inputs_of(sample), {}};
  std::vector<Datum> data;
  for (const Tensor& input : made.inputs) {
    data.emplace_back();
    if (input) data.back() = Datum(input);
  }
  for (const Datum& output : evaluate(op, made.attrs, data, sample.outputs)) {
    made.expected.push_back(output.tensor());
  }
  return made;
}

void expect_near_reference(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.shape(), expected.shape());
  const auto a = got.values<float>(), b = expected.values<float>();
  float largest = 0;
  for (const float value : b)
    largest = std::max(largest, std::isfinite(value) ? std::abs(value) : 0.f);
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    ASSERT_NEAR(a[i], b[i], 2e-5f * std::abs(b[i]) + 5e-6f * largest + 1e-6f) << "element " << i;
  }
}

std::vector<Type> types_of(const std::vector<Tensor>& tensors) {
  std::vector<Type> types;
  for (const Tensor& tensor : tensors) {
    types.push_back(Type::tensor(tensor.dtype(), to_dims(tensor.shape())));
  }
  return types;
}

// Runs one case in one way; false where it was refused.
bool check(const Case& c, const RunOptions& options) {
  std::optional<PreparedRun> run;
  try {
    run.emplace(c.op, c.attrs, c.inputs, types_of(c.expected), options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << error.what();
    return false;
  }
  SCOPED_TRACE(text(full_name(c.op), " by ", run->prepared().implementation, ", threads ",
                    options.threads, ", layouts ", options.layouts, ", constants ",
                    options.constants, ", incoming ", options.incoming.size(), ", overwrite ",
                    options.overwrite.has_value()));
  run->run();
  if (!run->aliased()) run->run();  // a second time, with its memory objects in use
  const std::vector<Tensor> got = run->outputs();
  for (size_t i = 0; i < got.size(); ++i)
    expect_near_reference(got[i], c.expected[i]);
  return true;
}

// All ways to run a case; the number of those that were accepted.
int check_all_ways(const Case& c) {
  std::vector<LayoutPtr> blocked, channels_last;
  for (const Tensor& input : c.inputs) {
    blocked.push_back(blocked_layout(input.shape()));
    channels_last.push_back(channels_last_layout(input.shape()));
  }
  const std::vector<LayoutPtr> first_blocked{blocked[0]}, first_channels_last{channels_last[0]};
  int accepted = 0;
  for (const int threads : {1, 2}) {
    for (const uint32_t constants : {0u, ~1u, 0b1110u}) {
      if (threads > 1 && constants != 0b1110u) continue;
      accepted += check(c, {threads, false, constants, {}, {}});
      accepted += check(c, {threads, true, constants, {}, {}});
      accepted += check(c, {threads, true, constants, first_blocked, {}});
      accepted += check(c, {threads, true, constants, first_channels_last, {}});
      if (constants == 0) accepted += check(c, {threads, true, 0, blocked, {}});
      if (constants == 0) accepted += check(c, {threads, true, 0, channels_last, {}});
    }
  }
  for (size_t input = 0; input < c.inputs.size(); ++input) {
    accepted += check(c, {1, true, 0, first_blocked, input});
    accepted += check(c, {1, true, 0, first_channels_last, input});
    accepted += check(c, {1, true, 0, {}, input});
  }
  return accepted;
}

TEST(OnednnKernels, AgreeWithTheReferenceOnSamples) {
  for (const KernelEntry& entry : onednn_provider().kernels) {
    if (!takes_float(entry)) continue;
    for (const Sample& sample : op_named(entry.op).samples()) {
      if (!is_float_sample(sample)) continue;
      check_all_ways(make_case(std::string(entry.op), sample));
      if (HasFatalFailure()) return;
    }
  }
}

TEST(OnednnKernels, AgreeWithTheReferenceOnLargerShapes) {
  std::set<std::string> accepted;
  for (const NamedSample& named : larger_samples()) {
    SCOPED_TRACE(text(named.op, " ", to_text(named.sample.inputs[0].shape)));
    EXPECT_GT(check_all_ways(make_case(named.op, named.sample)), 0) << "refused in every way";
    if (HasFatalFailure()) return;
    accepted.insert(named.op);
  }
  for (const KernelEntry& entry : onednn_provider().kernels) {
    if (!takes_float(entry) || entry.op == "Cast") continue;  // Cast: see below
    EXPECT_TRUE(accepted.contains(std::string(entry.op))) << entry.op << " is not tested";
  }
}

// Parts are added up in the order of the whole, but for gradients by weights, to which each part
// adds its share, and convolutions of few channels in blocks, which oneDNN takes apart by what is
// in registers.
bool adds_in_one_order(const OpDef& op) {
  return !full_name(op).ends_with("WeightGrad") && op.name != "FusedConv";
}

void expect_same_on_threads(const Case& c, RunOptions options) {
  std::vector<Tensor> alone;
  for (const int threads : {1, 2, 3, 5}) {
    options.threads = threads;
    std::optional<PreparedRun> run;
    try {
      run.emplace(c.op, c.attrs, c.inputs, types_of(c.expected), options);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << error.what();
      EXPECT_TRUE(alone.empty()) << "refused on " << threads << " threads";
      return;
    }
    SCOPED_TRACE(text("by ", run->prepared().implementation, ", threads ", threads, ", layouts ",
                      options.layouts, ", constants ", options.constants, ", incoming ",
                      options.incoming.size()));
    run->run();
    std::vector<Tensor> got = run->outputs();
    run->run();
    const std::vector<Tensor> again = run->outputs();
    if (threads == 1) alone = got;
    for (size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i], again[i]) << "another result of the same run";
      expect_near_reference(got[i], c.expected[i]);
      if (adds_in_one_order(c.op)) {
        EXPECT_EQ(got[i], alone[i]);
      }
    }
  }
}

TEST(OnednnKernels, GiveTheSameOnAnyNumberOfThreads) {
  const SmallParts small;
  for (const NamedSample& named : larger_samples()) {
    SCOPED_TRACE(text(named.op, " ", to_text(named.sample.inputs[0].shape)));
    const Case c = make_case(named.op, named.sample);
    const LayoutPtr blocked = blocked_layout(c.inputs[0].shape()),
                    channels_last = channels_last_layout(c.inputs[0].shape());
    for (const uint32_t constants : {0u, 0b1110u}) {
      expect_same_on_threads(c, {1, false, constants, {}, {}});
      expect_same_on_threads(c, {1, true, constants, {blocked}, {}});
      expect_same_on_threads(c, {1, true, constants, {channels_last}, {}});
    }
    if (HasFatalFailure()) return;
  }
}

// Threads that are not of our pool.
int other_threads() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    count += name != "sardonyx";
  }
  return count;
}

TEST(OnednnKernels, StartNoThreadsOfOpenMp) {
  const int before = other_threads();
  const SmallParts small;
  for (const NamedSample& named : larger_samples()) {
    const Case c = make_case(named.op, named.sample);
    for (const uint32_t constants : {0u, 0b1110u})
      check(c, {4, true, constants, {blocked_layout(c.inputs[0].shape())}, {}});
    ASSERT_EQ(other_threads(), before) << named.op;
  }
}

// oneDNN has reference implementations alone for these, which are slower than ours, or computes for
// long; and nothing ends it.
TEST(OnednnKernels, LeaveWhatOnednnHasNoFastFormFor) {
  const NamedSample samples[] = {
      {"Gemm", {{{{70, 65}}, {{65, 90}}, {{70, 1}}}}},
      {"MaxPool", {{{{1, 16, 12, 12}}}, {{"kernel_shape", Ints{3, 3}}, {"dilations", Ints{2, 2}}}}},
      {"MaxPool", {{{{1, 1, 2048, 2048}}}, {{"kernel_shape", Ints{1024, 1024}}}}},
      {"Conv", {{{{1, 1, 1024, 1024}}, {{1, 1, 512, 512}}}}},
      {"ConvTranspose", {{{{1, 1, 512, 512}}, {{1, 1, 512, 512}}}}},
      {"LRN", {{{{1, 2048, 64, 64}}}, {{"size", int64_t{2047}}}}},
  };
  for (const NamedSample& named : samples) {
    const OpDef& op = op_named(named.op);
    const Attrs attrs = Attrs::parse(*op.attrs, named.sample.attrs);
    std::vector<InferInput> given;
    std::vector<KernelTensor> inputs, outputs;
    for (const SampleInput& input : named.sample.inputs) {
      given.push_back({Type::tensor(DType::kFloat, to_dims(input.shape))});
      inputs.push_back({DType::kFloat, input.shape});
    }
    for (const InferOutput& output :
         infer(op, attrs, given, given.size(), 1, [] { return Dim::symbol("unknown"); }))
      outputs.push_back({DType::kFloat, output.type.known_shape().value()});
    const Provider* const providers[] = {&onednn_provider()};
    EXPECT_EQ(prepare_kernel(providers, {op, attrs, inputs, outputs}).implementation, "reference");
  }
}

// The same case on bfloat16 values, with what the reference makes of them.
Case narrowed(const Case& c) {
  Case narrow{c.op, c.attrs, {}, {}};
  std::vector<Datum> data;
  for (const Tensor& input : c.inputs) {
    Tensor made = input;
    if (input && input.dtype() == DType::kFloat) {
      made = Tensor::allocate(DType::kBFloat16, input.shape());
      store_numbers(DType::kBFloat16, made.raw(), 0, made.count(), input.to_doubles().data());
    }
    narrow.inputs.push_back(made);
    data.push_back(made ? Datum(made) : Datum());
  }
  for (const Datum& output : evaluate(c.op, c.attrs, data, c.expected.size()))
    narrow.expected.push_back(output.tensor());
  return narrow;
}

// Both sides round to bfloat16 once, from sums whose terms are added in different orders.
void expect_close_narrow(const Tensor& got, const Tensor& expected) {
  ASSERT_EQ(got.shape(), expected.shape());
  const std::vector<double> a = got.to_doubles(), b = expected.to_doubles();
  double largest = 0;
  for (const double value : b)
    largest = std::max(largest, std::fabs(value));
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_NEAR(a[i], b[i], std::fabs(b[i]) / 64 + largest / 256) << "element " << i;
}

bool check_narrow(const Case& c, const RunOptions& options) {
  std::optional<PreparedRun> run;
  try {
    run.emplace(c.op, c.attrs, c.inputs, types_of(c.expected), options);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnsupported) << error.what();
    return false;
  }
  run->run();
  const std::vector<Tensor> got = run->outputs();
  for (size_t i = 0; i < got.size(); ++i)
    expect_close_narrow(got[i], c.expected[i]);
  return true;
}

TEST(OnednnKernels, ComputeInBFloat16WhereItIsChosen) {
  if (!onednn_computes_bfloat16()) GTEST_SKIP() << "this CPU has no bfloat16 instructions";
  std::set<std::string> accepted;
  std::vector<NamedSample> samples = larger_samples();
  for (const DType to : {DType::kFloat, DType::kBFloat16})
    samples.push_back({"Cast", {{{{2, 40, 5, 5}}}, {{"to", static_cast<int64_t>(to)}}}});
  for (const NamedSample& named : samples) {
    const std::string_view op = named.op;
    if (op.ends_with("Grad") || op == "Resize") continue;  // have inputs that stay float32
    if (!op_named(op).types.begin()->types.tensors.has(DType::kBFloat16)) continue;
    SCOPED_TRACE(text(named.op, " ", to_text(named.sample.inputs[0].shape)));
    const Case c = narrowed(make_case(named.op, named.sample));
    for (const bool layouts : {false, true}) {
      for (const uint32_t constants : {0u, 0b1110u}) {
        RunOptions options{1, layouts, constants, {}, {}, Precision::kBFloat16};
        if (op == "Cast" && layouts)
          options.incoming = {
              layout_of(blocked_desc(memory::data_type::bf16, c.inputs[0].shape()))};
        if (check_narrow(c, options)) accepted.insert(named.op);
        if (HasFatalFailure()) return;
      }
    }
    // Not where nobody chose it; elements are moved all the same.
    if (op != "Transpose") {
      EXPECT_FALSE(check_narrow(c, {1, true, 0, {}, {}}));
    }
  }
  for (const char* op : {"Conv", "ConvTranspose", "MatMul", "Gemm", "sardonyx::FusedConv",
                         "sardonyx::FusedConvTranspose", "sardonyx::FusedMatMul", "MaxPool",
                         "AveragePool", "GlobalAveragePool", "Relu", "Add", "Cast"})
    EXPECT_TRUE(accepted.contains(op)) << op;
}

TEST(OnednnKernels, WindowsSideBySideAreOneProductInBFloat16) {
  if (!onednn_computes_bfloat16()) GTEST_SKIP() << "this CPU has no bfloat16 instructions";
  const Case c = narrowed(make_case(
      "ConvTranspose", {{{{2, 24, 5, 7}}, {{24, 12, 2, 3}}, {{12}}}, {{"strides", Ints{2, 3}}}}));
  const RunOptions options{1, true, 0b110u, {}, {}, Precision::kBFloat16};
  const PreparedRun run(c.op, c.attrs, c.inputs, types_of(c.expected), options);
  EXPECT_THAT(run.prepared().implementation, ::testing::EndsWith("of tiles"));
}

TEST(OnednnKernels, LeaveProductsThatAResidualRepeats) {
  const Case c =
      make_case("sardonyx::FusedMatMul", {{{{2, 1, 40}}, {{40, 35}}, {{35}}, {{2, 3, 35}}}, {}});
  for (const uint32_t constants : {0u, 0b110u})
    EXPECT_FALSE(check(c, {1, false, constants, {}, {}})) << constants;
  // With more rows than kernels for few rows take.
  const Case many =
      make_case("sardonyx::FusedMatMul", {{{{20, 1, 40}}, {{40, 35}}, {{35}}, {{20, 3, 35}}}, {}});
  for (const uint32_t constants : {0u, 0b110u})
    EXPECT_FALSE(check(many, {1, false, constants, {}, {}})) << constants;
}

TEST(OnednnKernels, LackOfMemoryIsNoRefusal) {
  const OpDef& op = op_named("Relu");
  const Attrs attrs = Attrs::parse(*op.attrs, {});
  const KernelTensor tensor{DType::kFloat, {4}};
  const KernelRequest request{op, attrs, {&tensor, 1}, {&tensor, 1}};
  const auto lacks = [](const KernelRequest&) -> Prepared {
    throw dnnl::error(dnnl_out_of_memory, "no memory");
  };
  try {
    prepare_guarded(request, SIZE_MAX, lacks);
    FAIL() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kResourceExhausted);
  }
}

TEST(OnednnKernels, RunFromManyThreadsAtOnce) {
  const Case c = make_case("sardonyx::FusedConv", {{{{1, 24, 9, 9}}, {{20, 24, 3, 3}}, {{20}}},
                                                   {{"activation", std::string("Relu")}}});
  PreparedRun shared(c.op, c.attrs, c.inputs, types_of(c.expected), {});
  std::vector<std::thread> threads;
  std::vector<Tensor> results(4);
  for (Tensor& result : results) {
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        result = shared.run_apart(c.inputs)[0];
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  for (const Tensor& result : results)
    expect_near_reference(result, c.expected[0]);
}

TEST(OnednnKernels, ResidualsThatAreOnlyReadTakeNoSlowFallback) {
  const Case c = make_case("sardonyx::FusedConv",
                           {{{{1, 64, 8, 8}}, {{64, 64, 1, 1}}, {{64}}, {{1, 64, 8, 8}}},
                            {{"activation", std::string("Relu")}}});
  for (const bool layouts : {false, true}) {
    const PreparedRun run(c.op, c.attrs, c.inputs, types_of(c.expected),
                          {1, layouts, 0b110, {}, {}});
    EXPECT_FALSE(run.prepared().implementation.starts_with("ref"));
  }
}

TEST(OnednnReorder, BackAndForth) {
  for (const Shape& shape : {Shape{2, 40, 5, 5}, Shape{1, 3, 7}, Shape{1, 16, 2, 3, 4}}) {
    const LayoutPtr blocked = blocked_layout(shape);
    ASSERT_NE(blocked, nullptr);
    const Tensor values = random_floats(shape, -1, 1, 5);
    const auto there = with_layout(values.raw(), DType::kFloat, shape, nullptr, blocked, 2);
    const auto back = with_layout(there->data(), DType::kFloat, shape, blocked, nullptr, 1);
    EXPECT_EQ(Tensor(DType::kFloat, shape, back), values);
  }
}

// As another provider may make it.
class ForeignLayout : public Layout {
 public:
  ForeignLayout() : Layout(Kind::kOpaque) {}
  size_t bytes() const override { return 64; }
  bool equals(const Layout& other) const override { return &other == this; }
  std::string text() const override { return "foreign"; }
};

TEST(OnednnLayout, OfAnotherProviderIsRefused) {
  const auto foreign = std::make_shared<const ForeignLayout>();
  const OpDef& op = op_named("Relu");
  const Attrs attrs = Attrs::parse(*op.attrs, {});
  const KernelTensor x{DType::kFloat, {1, 16, 2, 2}, foreign}, y{DType::kFloat, {1, 16, 2, 2}};
  KernelRequest request{op, attrs, {&x, 1}, {&y, 1}};
  request.layouts = true;
  for (const KernelEntry& entry : onednn_provider().kernels) {
    if (entry.op != "Relu") continue;
    const Prepared prepared = entry.prepare(request);
    // Whole tensors without gaps need no more than their size.
    if (prepared.kernel) {
      EXPECT_EQ(prepared.input_layouts[0], LayoutPtr(foreign));
    }
  }
  const Prepared reorder =
      onednn_provider().prepare_reorder(DType::kFloat, x.shape, foreign, nullptr, 1);
  EXPECT_EQ(reorder.kernel, nullptr);
  EXPECT_NE(reorder.refusal.find("another provider"), std::string::npos) << reorder.refusal;
}

TEST(OnednnLayout, RowMajorInDisguiseIsPlain) {
  using Tag = memory::format_tag;
  const auto layout = [](const Extents& dims, Tag tag) {
    return layout_of(Desc(dims, memory::data_type::f32, tag));
  };
  EXPECT_EQ(layout({3, 32, 1, 1}, Tag::aBcd16b), nullptr);
  EXPECT_EQ(layout({3, 32, 1, 1}, Tag::acdb), nullptr);
  EXPECT_NE(layout({3, 24, 1, 1}, Tag::aBcd16b), nullptr);  // padded
  EXPECT_NE(layout({3, 32, 2, 1}, Tag::aBcd16b), nullptr);
  EXPECT_EQ(layout({3, 32, 2, 1}, Tag::aBcd16b)->text(), "NCHW16c");
}

}  // namespace
}  // namespace sardonyx::onednn
