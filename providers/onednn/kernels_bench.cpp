// Kernels alone, weights packed, in a hot loop: GFLOP/s of layers of ResNet-50, MobileNetV2, U-Net
// and BERT-base, and GB/s where memory is the limit. The argument is the number of threads.
#include <benchmark/benchmark.h>

#include <random>

#include "ir/reference_evaluator.h"
#include "tests/support/kernel_runner.h"

namespace sardonyx::onednn {
namespace {

using Ints = std::vector<int64_t>;

Tensor random_floats(const Shape& shape) {
  Tensor tensor = Tensor::allocate(DType::kFloat, shape);
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (float& value : tensor.mutable_values<float>())
    value = uniform(generator);
  return tensor;
}

struct Layer {
  const char* name;
  const char* op;
  std::vector<Shape> inputs;
  AttrMap attrs = {};
  bool blocked = false;         // input 0 comes in blocks of channels
  double flops_per_output = 0;  // 0: bytes moved are counted
};

std::vector<InferInput> seen_by_inference(const std::vector<Tensor>& inputs) {
  std::vector<InferInput> seen;
  for (const Tensor& input : inputs)
    seen.push_back({Datum(input).type(), &input, nullptr});
  return seen;
}

void run_layer(benchmark::State& state, const Layer& layer) {
  const OpDef& op = op_named(layer.op);
  const Attrs attrs = Attrs::parse(*op.attrs, layer.attrs);
  std::vector<Tensor> inputs;
  for (const Shape& shape : layer.inputs)
    inputs.push_back(random_floats(shape));
  const auto inferred = infer(op, attrs, seen_by_inference(inputs), inputs.size(), 1,
                              [] { return Dim::symbol("?"); });
  RunOptions options;
  options.fenced_inputs = false;
  options.threads = static_cast<int>(state.range(0));
  options.layouts = true;
  options.constants = layer.flops_per_output > 0 ? 0b0110u : 0u;
  if (layer.blocked) {
    for (const Shape& shape : layer.inputs)
      options.incoming.push_back(blocked_layout(shape));
  }
  PreparedRun run(op, attrs, inputs, {inferred[0].type}, options);
  run.run();
  for (auto _ : state)
    run.run();
  const auto outputs = static_cast<double>(element_count(*inferred[0].type.known_shape()));
  double work = outputs * layer.flops_per_output;
  if (work == 0) {
    work = outputs * sizeof(float);
    for (const Tensor& input : inputs)
      work += static_cast<double>(input.bytes());
  }
  state.counters[layer.flops_per_output > 0 ? "FLOP/s" : "B/s"] =
      benchmark::Counter(work, benchmark::Counter::kIsIterationInvariantRate);
  state.SetLabel(run.prepared().implementation);
}

const AttrMap kSame{{"pads", Ints{1, 1, 1, 1}}};
const AttrMap kDepthwise{{"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{144}}};
const AttrMap kRelu{{"pads", Ints{1, 1, 1, 1}}, {"activation", std::string("Relu")}};
const AttrMap kGelu{{"activation", std::string("Gelu")}};

const Layer kLayers[] = {
    {"resnet50/stem",
     "Conv",
     {{1, 3, 224, 224}, {64, 3, 7, 7}, {64}},
     {{"pads", Ints{3, 3, 3, 3}}, {"strides", Ints{2, 2}}},
     false,
     2.0 * 3 * 49},
    {"resnet50/3x3_56", "Conv", {{1, 64, 56, 56}, {64, 64, 3, 3}, {64}}, kSame, true, 2.0 * 64 * 9},
    {"resnet50/3x3_28",
     "Conv",
     {{1, 128, 28, 28}, {128, 128, 3, 3}, {128}},
     kSame,
     true,
     2.0 * 128 * 9},
    {"resnet50/3x3_14",
     "Conv",
     {{1, 256, 14, 14}, {256, 256, 3, 3}, {256}},
     kSame,
     true,
     2.0 * 256 * 9},
    {"resnet50/3x3_7",
     "Conv",
     {{1, 512, 7, 7}, {512, 512, 3, 3}, {512}},
     kSame,
     true,
     2.0 * 512 * 9},
    {"resnet50/1x1_56", "Conv", {{1, 64, 56, 56}, {256, 64, 1, 1}, {256}}, {}, true, 2.0 * 64},
    {"resnet50/1x1_14",
     "Conv",
     {{1, 1024, 14, 14}, {256, 1024, 1, 1}, {256}},
     {},
     true,
     2.0 * 1024},
    {"resnet50/residual",
     "sardonyx::FusedConv",
     {{1, 64, 56, 56}, {64, 64, 3, 3}, {64}, {1, 64, 56, 56}},
     kRelu,
     true,
     2.0 * 64 * 9},
    {"resnet50/classifier",
     "Gemm",
     {{1, 2048}, {1000, 2048}, {1000}},
     {{"transB", int64_t{1}}},
     false,
     2.0 * 2048},
    {"mobilenet/depthwise_56",
     "Conv",
     {{1, 144, 56, 56}, {144, 1, 3, 3}, {144}},
     kDepthwise,
     true,
     18},
    {"mobilenet/depthwise_14",
     "Conv",
     {{1, 576, 14, 14}, {576, 1, 3, 3}, {576}},
     {{"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{576}}},
     false,
     18},
    {"mobilenet/expand_56", "Conv", {{1, 24, 56, 56}, {144, 24, 1, 1}, {144}}, {}, false, 2.0 * 24},
    {"mobilenet/project_56",
     "Conv",
     {{1, 144, 56, 56}, {24, 144, 1, 1}, {24}},
     {},
     false,
     2.0 * 144},
    {"mobilenet/expand_7", "Conv", {{1, 160, 7, 7}, {960, 160, 1, 1}, {960}}, {}, false, 2.0 * 160},
    {"shufflenet/groups_14",
     "Conv",
     {{1, 272, 14, 14}, {272, 68, 1, 1}, {272}},
     {{"group", int64_t{4}}},
     false,
     2.0 * 68},
    {"unet/up_2x2",
     "ConvTranspose",
     {{1, 128, 64, 64}, {128, 64, 2, 2}, {64}},
     {{"strides", Ints{2, 2}}},
     true,
     2.0 * 128},
    {"bert/768x768", "MatMul", {{1, 128, 768}, {768, 768}}, {}, false, 2.0 * 768},
    {"bert/768x3072_gelu",
     "sardonyx::FusedMatMul",
     {{1, 128, 768}, {768, 3072}, {3072}},
     kGelu,
     false,
     2.0 * 768},
    {"bert/3072x768", "MatMul", {{1, 128, 3072}, {3072, 768}}, {}, false, 2.0 * 3072},
    {"bert/qk",
     "sardonyx::FusedMatMul",
     {{1, 12, 128, 64}, {1, 12, 128, 64}},
     {{"transB", int64_t{1}}, {"alpha", 0.125f}},
     false,
     2.0 * 64},
    {"bert/pv", "MatMul", {{1, 12, 128, 128}, {1, 12, 128, 64}}, {}, false, 2.0 * 128},
    {"gpt2/decode", "MatMul", {{1, 1, 768}, {768, 3072}}, {}, false, 2.0 * 768},
    {"resnet50/max_pool",
     "MaxPool",
     {{1, 64, 112, 112}},
     {{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}},
     true},
    {"resnet50/global_average", "GlobalAveragePool", {{1, 2048, 7, 7}}, {}, true},
    {"alexnet/lrn", "LRN", {{1, 96, 55, 55}}, {{"size", int64_t{5}}}, true},
    {"bert/layer_norm", "LayerNormalization", {{1, 128, 768}, {768}, {768}}},
    {"densenet/batch_norm",
     "BatchNormalization",
     {{1, 256, 28, 28}, {256}, {256}, {256}, {256}},
     {},
     true},
    {"resnet50/add", "Add", {{1, 256, 56, 56}, {1, 256, 56, 56}}, {}, true},
    {"tiny/relu", "Relu", {{1, 16, 1, 2}}, {}, true},
};

const bool kRegistered = [] {
  for (const Layer& layer : kLayers) {
    benchmark::RegisterBenchmark((std::string("onednn/") + layer.name).c_str(),
                                 [&layer](benchmark::State& state) { run_layer(state, layer); })
        ->Arg(1)
        ->Arg(2)
        ->UseRealTime();
  }
  return true;
}();

}  // namespace
}  // namespace sardonyx::onednn
