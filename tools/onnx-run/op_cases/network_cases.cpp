// Convolution, pooling, normalisation and images.
#include "tools/onnx-run/op_cases/op_case.h"

namespace sardonyx::tool {
namespace {

using Ints = std::vector<int64_t>;

const AttrMap kSame3{{"pads", Ints{1, 1, 1, 1}}};

CaseOperand image(int64_t channels, int64_t size) {
  return input({1, channels, size, size});
}
CaseOperand channel(int64_t channels, double low = 0.5, double high = 1.5) {
  return weight({channels}, DType::kFloat, low, high);
}

void add_convolutions(std::vector<OpCase>& cases) {
  cases.push_back({"Conv", "3x3", {image(64, 56), weight({64, 64, 3, 3}), weight({64})}, kSame3});
  cases.push_back({"Conv", "1x1", {image(64, 56), weight({128, 64, 1, 1}), weight({128})}});
  cases.push_back({"Conv", "1x1 odd", {image(31, 176), weight({148, 31, 1, 1}), weight({148})}});
  cases.push_back({"Conv", "1x1 large", {image(32, 512), weight({64, 32, 1, 1}), weight({64})}});
  cases.push_back({"Conv",
                   "depthwise",
                   {image(128, 56), weight({128, 1, 3, 3})},
                   {{"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{128}}}});
  for (const int64_t times : {2, 4}) {
    cases.push_back({"Conv",
                     text("depthwise, ", times, " of each"),
                     {image(64, 56), weight({64 * times, 1, 3, 3})},
                     {{"pads", Ints{1, 1, 1, 1}}, {"group", int64_t{64}}}});
  }
  cases.push_back(
      {"Conv", "1-D", {input({1, 64, 1000}), weight({64, 64, 3})}, {{"pads", Ints{1, 1}}}});
  cases.push_back({"Conv",
                   "3-D",
                   {input({1, 16, 16, 28, 28}), weight({16, 16, 3, 3, 3})},
                   {{"pads", Ints{1, 1, 1, 1, 1, 1}}}});
  cases.push_back(
      {"ConvTranspose", "", {image(64, 28), weight({64, 32, 2, 2})}, {{"strides", Ints{2, 2}}}});
  cases.push_back({"ConvTranspose",
                   "to an image",
                   {image(128, 48), weight({128, 3, 2, 2})},
                   {{"strides", Ints{2, 2}}}});
  cases.push_back({"ConvTranspose",
                   "4x4",
                   {image(32, 28), weight({32, 32, 4, 4})},
                   {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}}});
  cases.push_back(
      {"DeformConv", "", {image(32, 28), weight({32, 32, 3, 3}), input({1, 18, 28, 28})}, kSame3});
  cases.push_back({"Col2Im", "", {input({1, 144, 784}), int64s({28, 28}), int64s({3, 3})}, kSame3});
  cases.push_back({"CausalConvWithState", "", {input({1, 256, 512}), weight({256, 1, 4})}, {}, 2});
}

struct ConvolutionForm {
  const char* name;
  Shape x, w;
  Ints strides, pads, dilations;
  int64_t group = 1;
};

// Windows that others than the usual 3x3 have: stems, strides, dilations (atrous pyramids among
// them), groups, rows and columns.
void add_windows(std::vector<OpCase>& cases) {
  const ConvolutionForm forms[] = {
      {"7x7 stem", {1, 3, 224, 224}, {64, 3, 7, 7}, {2, 2}, {3, 3, 3, 3}, {1, 1}},
      {"3x3 by 2", {1, 64, 56, 56}, {128, 64, 3, 3}, {2, 2}, {1, 1, 1, 1}, {1, 1}},
      {"1x1 by 2", {1, 64, 56, 56}, {128, 64, 1, 1}, {2, 2}, {0, 0, 0, 0}, {1, 1}},
      {"5x5", {1, 32, 28, 28}, {64, 32, 5, 5}, {1, 1}, {2, 2, 2, 2}, {1, 1}},
      {"1x7", {1, 128, 17, 17}, {128, 128, 1, 7}, {1, 1}, {0, 3, 0, 3}, {1, 1}},
      {"7x1", {1, 128, 17, 17}, {128, 128, 7, 1}, {1, 1}, {3, 0, 3, 0}, {1, 1}},
      {"3x3 groups", {1, 128, 28, 28}, {128, 4, 3, 3}, {1, 1}, {1, 1, 1, 1}, {1, 1}, 32},
      {"3x3 dilated by 2", {1, 128, 28, 28}, {128, 128, 3, 3}, {1, 1}, {2, 2, 2, 2}, {2, 2}},
      {"3x3 dilated by 12", {1, 512, 33, 33}, {128, 512, 3, 3}, {1, 1}, {12, 12, 12, 12}, {12, 12}},
      {"depthwise 5x5 by 2", {1, 96, 56, 56}, {96, 1, 5, 5}, {2, 2}, {2, 2, 2, 2}, {1, 1}, 96},
      {"depthwise 7x7", {1, 96, 56, 56}, {96, 1, 7, 7}, {1, 1}, {3, 3, 3, 3}, {1, 1}, 96},
      {"depthwise dilated by 4",
       {1, 256, 40, 40},
       {256, 1, 3, 3},
       {1, 1},
       {4, 4, 4, 4},
       {4, 4},
       256},
      {"1-D by 2", {1, 32, 4000}, {64, 32, 9}, {2}, {4, 4}, {1}},
      {"1-D dilated by 8", {1, 64, 2000}, {64, 64, 3}, {1}, {8, 8}, {8}},
      {"1-D depthwise", {1, 256, 500}, {256, 1, 31}, {1}, {15, 15}, {1}, 256},
      {"3-D by 2",
       {1, 16, 16, 28, 28},
       {32, 16, 3, 3, 3},
       {2, 2, 2},
       {1, 1, 1, 1, 1, 1},
       {1, 1, 1}},
  };
  for (const ConvolutionForm& form : forms) {
    cases.push_back({"Conv",
                     form.name,
                     {input(form.x), weight(form.w), weight({form.w[0]})},
                     {{"strides", form.strides},
                      {"pads", form.pads},
                      {"dilations", form.dilations},
                      {"group", form.group}}});
  }
}

void add_pools(std::vector<OpCase>& cases) {
  AttrMap pool{{"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}};
  for (const char* op : {"AveragePool", "MaxPool", "LpPool"})
    cases.push_back({op, "", {image(64, 112)}, pool});
  for (const auto& [kernel, stride] : {std::pair(2, 2), {4, 4}, {25, 1}}) {
    cases.push_back({"AveragePool",
                     text("1-D, ", kernel, " by ", stride),
                     {input({1, 64, 4000})},
                     {{"kernel_shape", Ints{kernel}}, {"strides", Ints{stride}}}});
  }
  cases.push_back({"MaxPool", "indices", {image(64, 112)}, pool, 2});
  for (const char* op : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"})
    cases.push_back({op, "", {image(512, 14)}});
  cases.push_back({"MaxUnpool",
                   "",
                   {image(64, 28), input({1, 64, 28, 28}, DType::kInt64, 0, 3000)},
                   {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}}});
  const CaseOperand rois = input({16, 4}, DType::kFloat, 0, 50);
  const CaseOperand places = input({16}, DType::kInt64, 0, 0);
  cases.push_back({"RoiAlign",
                   "",
                   {image(64, 56), rois, places},
                   {{"output_height", int64_t{7}},
                    {"output_width", int64_t{7}},
                    {"sampling_ratio", int64_t{2}}}});
  std::vector<float> boxes;
  for (int i = 0; i < 300; ++i) {
    const auto x = static_cast<float>(i * 7 % 100), y = static_cast<float>(i * 11 % 70);
    boxes.insert(boxes.end(), {x, y, x + static_cast<float>(i % 29 + 5), y + 20});
  }
  cases.push_back({"RoiAlign",
                   "adaptive",
                   {input({1, 256, 100, 136}), fixed(Tensor::of(boxes, {300, 4})),
                    input({300}, DType::kInt64, 0, 0)},
                   {{"output_height", int64_t{7}}, {"output_width", int64_t{7}}}});
  cases.push_back({"MaxRoiPool",
                   "",
                   {image(64, 56), input({16, 5}, DType::kFloat, 0, 0.9)},
                   {{"pooled_shape", Ints{7, 7}}}});
}

void add_normalizations(std::vector<OpCase>& cases) {
  cases.push_back({"BatchNormalization",
                   "",
                   {image(64, 56), channel(64), weight({64}), weight({64}), channel(64)}});
  cases.push_back({"InstanceNormalization", "", {image(64, 56), channel(64), weight({64})}});
  cases.push_back({"GroupNormalization",
                   "",
                   {image(64, 56), channel(64), weight({64})},
                   {{"num_groups", int64_t{16}}}});
  cases.push_back({"LayerNormalization", "", {input({1, 256, 768}), channel(768), weight({768})}});
  cases.push_back({"LayerNormalization",
                   "float16",
                   {input({1, 256, 768}, DType::kFloat16), weight({768}, DType::kFloat16, 0.5, 1.5),
                    weight({768}, DType::kFloat16)}});
  cases.push_back({"RMSNormalization", "", {input({1, 256, 768}), channel(768)}});
  cases.push_back({"LpNormalization", "", {input({256, 1024})}});
  cases.push_back({"MeanVarianceNormalization", "", {image(64, 56)}});
  cases.push_back({"LRN", "", {image(64, 56)}, {{"size", int64_t{5}}}});
}

void add_resizes(std::vector<OpCase>& cases) {
  const CaseOperand twice = fixed(Tensor::vector<float>({1, 1, 2, 2}));
  const CaseOperand odd = fixed(Tensor::vector<float>({1, 1, 1.5, 1.7}));
  const auto resize = [&](const char* variant, const CaseOperand& scales, const char* mode,
                          const char* transform) {
    cases.push_back({"Resize",
                     variant,
                     {image(32, 56), none(), scales},
                     {{"mode", std::string(mode)},
                      {"coordinate_transformation_mode", std::string(transform)}}});
  };
  resize("nearest", twice, "nearest", "asymmetric");
  resize("nearest odd", odd, "nearest", "half_pixel");
  resize("linear", twice, "linear", "half_pixel");
  // With align_corners ONNX Runtime takes the rounded length, where ONNX takes size * scale.
  resize("linear odd", odd, "linear", "half_pixel");
  resize("cubic", twice, "cubic", "half_pixel");
  cases.push_back({"Resize",
                   "linear head",
                   {input({1, 21, 33, 33}), none(), none(), int64s({1, 21, 257, 257})},
                   {{"mode", std::string("linear")},
                    {"coordinate_transformation_mode", std::string("align_corners")}}});
  cases.push_back({"Resize",
                   "linear last",
                   {input({1, 320, 240, 3}), none(), none(), int64s({1, 224, 224, 3})},
                   {{"mode", std::string("linear")}}});
  const auto sample = [&](const char* mode) {
    cases.push_back({"GridSample",
                     mode,
                     {image(32, 56), input({1, 56, 56, 2}, DType::kFloat, -1, 1)},
                     {{"mode", std::string(mode)}}});
  };
  sample("linear");
  sample("nearest");
  sample("cubic");
  cases.push_back({"GridSample",
                   "flow",
                   {input({1, 2, 384, 512}), input({1, 384, 512, 2}, DType::kFloat, -1, 1)}});
  cases.push_back({"GridSample",
                   "few points",
                   {input({8, 32, 100, 136}), input({8, 300, 4, 2}, DType::kFloat, -1, 1)}});
  cases.push_back({"AffineGrid", "", {input({1, 2, 3}), int64s({1, 3, 224, 224})}});
  cases.push_back(
      {"CenterCropPad", "", {input({224, 224, 3}), int64s({180, 260})}, {{"axes", Ints{0, 1}}}});
  cases.push_back({"DepthToSpace", "", {image(64, 56)}, {{"blocksize", int64_t{2}}}});
  cases.push_back({"DepthToSpace",
                   "CRD",
                   {image(64, 56)},
                   {{"blocksize", int64_t{2}}, {"mode", std::string("CRD")}}});
  cases.push_back({"SpaceToDepth", "", {image(16, 112)}, {{"blocksize", int64_t{2}}}});
}

}  // namespace

std::vector<OpCase> network_cases() {
  std::vector<OpCase> cases;
  add_convolutions(cases);
  add_windows(cases);
  add_pools(cases);
  add_normalizations(cases);
  add_resizes(cases);
  return cases;
}

}  // namespace sardonyx::tool
