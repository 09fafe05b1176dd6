// Convolutions, pools, normalisations, attention, embeddings and control flow.
#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "eager/trace/control_flow.h"
#include "tests/function_exports/table.h"

namespace sardonyx::eager::exports {
namespace {

void add_convolutions(std::vector<Function>& all) {
  const Tensor image = signed_numbers({1, 2, 6, 6}), w = signed_numbers({4, 2, 3, 3}, 2);
  const Tensors two{image, w}, biased{image, w, signed_numbers({4})};
  const Tensors grouped{signed_numbers({1, 4, 6, 6}), signed_numbers({4, 2, 3, 3}, 2)};
  const Tensors back{image, signed_numbers({2, 3, 3, 3}, 2)};
  const nn::Conv2d reflecting(2, 3, 3, {.padding = 1, .padding_mode = "reflect"});
  const nn::Conv2d circular(2, 3, 3, {.padding = 1, .padding_mode = "circular"});
  const Function functions[] = {
      {"conv1d",
       {signed_numbers({1, 2, 8}), signed_numbers({3, 2, 3})},
       SARDONYX_OF(nn::conv1d(in[0], in[1]))},
      {"conv2d", biased, SARDONYX_OF(nn::conv2d(in[0], in[1], in[2], {.padding = 1}))},
      {"conv2d strided", two, SARDONYX_OF(nn::conv2d(in[0], in[1], {}, {.stride = 2}))},
      {"conv2d dilated", two, SARDONYX_OF(nn::conv2d(in[0], in[1], {}, {.dilation = 2}))},
      {"conv2d of groups", grouped, SARDONYX_OF(nn::conv2d(in[0], in[1], {}, {.groups = 2}))},
      {"conv3d",
       {signed_numbers({1, 2, 4, 4, 4}), signed_numbers({3, 2, 2, 2, 2})},
       SARDONYX_OF(nn::conv3d(in[0], in[1]))},
      {"conv_transpose1d",
       {signed_numbers({1, 2, 5}), signed_numbers({2, 3, 3})},
       SARDONYX_OF(nn::conv_transpose1d(in[0], in[1], {}, {.stride = 2}))},
      {"conv_transpose2d", back,
       SARDONYX_OF(nn::conv_transpose2d(in[0], in[1], {}, {.stride = 2, .output_padding = 1}))},
      {"conv_transpose3d",
       {signed_numbers({1, 2, 3, 3, 3}), signed_numbers({2, 3, 2, 2, 2})},
       SARDONYX_OF(nn::conv_transpose3d(in[0], in[1]))},
      {"Conv2d by reflection", {image}, [=](In in) { return reflecting(in[0]); }},
      {"Conv2d in a circle", {image}, [=](In in) { return circular(in[0]); }},
      {"unfold", {image}, SARDONYX_OF(nn::unfold(in[0], 3, {.padding = 1}))},
      {"fold",
       {signed_numbers({1, 8, 9})},
       SARDONYX_OF(nn::fold(in[0], {4, 4}, 2)),
       {18, "Col2Im"}},
  };
  all.insert(all.end(), std::begin(functions), std::end(functions));
}

void add_pools(std::vector<Function>& all) {
  const Tensors rows{signed_numbers({1, 2, 9})}, images{signed_numbers({1, 2, 7, 7})};
  const Tensors volumes{signed_numbers({1, 2, 4, 4, 4})};
  const Function functions[] = {
      {"max_pool1d", rows, SARDONYX_OF(nn::max_pool1d(in[0], 2))},
      {"max_pool2d", images, SARDONYX_OF(nn::max_pool2d(in[0], 3, {.stride = 2, .padding = 1}))},
      {"max_pool3d", volumes, SARDONYX_OF(nn::max_pool3d(in[0], 2))},
      {"max_pool2d with a rest",
       images,
       SARDONYX_OF(nn::max_pool2d(in[0], 2, {.ceil_mode = true})),
       {10, "MaxPool"}},
      {"max_pool2d dilated",
       images,
       SARDONYX_OF(nn::max_pool2d(in[0], 2, {.dilation = 2})),
       {10, "MaxPool"}},
      {"avg_pool1d", rows, SARDONYX_OF(nn::avg_pool1d(in[0], 2))},
      {"avg_pool2d", images, SARDONYX_OF(nn::avg_pool2d(in[0], 3, {.stride = 2, .padding = 1}))},
      {"avg_pool2d without padding", images,
       SARDONYX_OF(nn::avg_pool2d(in[0], 3, {.padding = 1, .count_include_pad = false}))},
      {"avg_pool2d with a rest",
       images,
       SARDONYX_OF(nn::avg_pool2d(in[0], 2, {.ceil_mode = true})),
       {10, "AveragePool"}},
      {"avg_pool3d", volumes, SARDONYX_OF(nn::avg_pool3d(in[0], 2))},
      {"adaptive_avg_pool1d", rows, SARDONYX_OF(nn::adaptive_avg_pool1d(in[0], 3))},
      {"adaptive_avg_pool2d", images, SARDONYX_OF(nn::adaptive_avg_pool2d(in[0], {3, 2}))},
      {"adaptive_avg_pool2d to one", images, SARDONYX_OF(nn::adaptive_avg_pool2d(in[0], 1))},
      {"adaptive_avg_pool3d", volumes, SARDONYX_OF(nn::adaptive_avg_pool3d(in[0], 3))},
      {"adaptive_max_pool1d", rows, SARDONYX_OF(nn::adaptive_max_pool1d(in[0], 2))},
      {"adaptive_max_pool2d", images, SARDONYX_OF(nn::adaptive_max_pool2d(in[0], 3))},
      {"GlobalAvgPool", images, SARDONYX_OF(nn::GlobalAvgPool()(in[0]))},
      {"GlobalMaxPool", images, SARDONYX_OF(nn::GlobalMaxPool()(in[0]))},
  };
  all.insert(all.end(), std::begin(functions), std::end(functions));
}

void add_norms(std::vector<Function>& all) {
  const Tensor scale = positive_numbers({4}), shift = signed_numbers({4});
  const Tensors x{signed_numbers({2, 4, 3})}, rows{signed_numbers({2, 3, 4}), scale, shift};
  const Tensors channels{signed_numbers({2, 4, 3}), scale, shift};
  const Tensors with_statistics{signed_numbers({2, 4, 3}), shift, scale, scale, shift};
  const nn::BatchNorm1d norm(4);
  norm.eval();
  const Function functions[] = {
      {"layer_norm", rows, SARDONYX_OF(nn::layer_norm(in[0], {4}, in[1], in[2]))},
      {"layer_norm without weights", x, SARDONYX_OF(nn::layer_norm(in[0], {4, 3}))},
      {"group_norm", channels, SARDONYX_OF(nn::group_norm(in[0], 2, in[1], in[2]))},
      {"instance_norm", channels, SARDONYX_OF(nn::instance_norm(in[0], in[1], in[2]))},
      {"rms_norm", rows, SARDONYX_OF(nn::rms_norm(in[0], {4}, in[1]))},
      {"batch_norm", with_statistics,
       SARDONYX_OF(nn::batch_norm(in[0], in[1], in[2], in[3], in[4]))},
      {"BatchNorm1d", x, [=](In in) { return norm(in[0]); }},
      {"local_response_norm",
       {signed_numbers({2, 4, 3, 3})},
       SARDONYX_OF(nn::local_response_norm(in[0], 3))},
      {"normalize", x, SARDONYX_OF(nn::normalize(in[0]))},
  };
  all.insert(all.end(), std::begin(functions), std::end(functions));
}

void add_attention(std::vector<Function>& all) {
  const Tensor query = signed_numbers({2, 3, 4}), key = signed_numbers({2, 5, 4}, 2);
  const Tensors x{query}, attended{query, key, signed_numbers({2, 5, 4}, 3)};
  const nn::MultiheadAttention attention(4, 2, {.batch_first = true});
  const nn::TransformerEncoderLayer encoder(
      4, 2, {.feedforward = 8, .dropout = 0, .activation = "gelu", .batch_first = true});
  const nn::Embedding embedding(5, 4);
  const nn::EmbeddingBag bag(5, 4);
  const nn::Bilinear bilinear(4, 4, 2);
  const Function functions[] = {
      {"scaled_dot_product_attention", attended,
       SARDONYX_OF(nn::scaled_dot_product_attention(in[0], in[1], in[2]))},
      {"causal attention", x,
       SARDONYX_OF(nn::scaled_dot_product_attention(in[0], in[0], in[0], {.is_causal = true}))},
      {"MultiheadAttention", attended, [=](In in) { return attention(in[0], in[1], in[2]); }},
      {"TransformerEncoderLayer", x, [=](In in) { return encoder(in[0]); }},
      {"Embedding", {integers(0, 5, {2, 3})}, [=](In in) { return embedding(in[0]); }},
      {"EmbeddingBag", {integers(0, 5, {2, 3})}, [=](In in) { return bag(in[0]); }},
      {"Bilinear", {query, query}, [=](In in) { return bilinear(in[0], in[1]); }, {12, "Einsum"}},
      {"dropout in evaluation mode", x, SARDONYX_OF(nn::dropout(in[0], 0.5, false) * 2)},
      {"dropout", x, SARDONYX_OF(nn::dropout(in[0], 0.5)), {12, "Dropout", true}},
  };
  all.insert(all.end(), std::begin(functions), std::end(functions));
}

}  // namespace

std::vector<Function> layers() {
  std::vector<Function> all;
  add_convolutions(all);
  add_pools(all);
  add_norms(all);
  add_attention(all);
  return all;
}

std::vector<Function> control_flow() {
  const Tensors x{signed_numbers({3, 4})};
  const auto branches = [](In in) {
    return cond(
        in[0].sum() > 0, [&] { return in[0] * 2; }, [&] { return in[0] - 1; });
  };
  const auto loop = [](In in) -> Tensors {
    return while_loop([](In state) { return state[1] < 3; },
                      [](In state) -> Tensors {
                        return {tanh(state[0]) * 1.5, state[1] + 1};
                      },
                      {in[0], zeros({}, {.dtype = DType::kInt64})});
  };
  const auto steps = [](In in) -> Tensors {
    const auto body = [](In state, In slices) -> ScanResult {
      const Tensor next = state[0] * 0.5 + slices[0];
      return {{next}, {next * 2}};
    };
    const ScanResult result = scan(body, {in[0][0] * 0}, {in[0]});
    return {result.state[0], result.outputs[0]};
  };
  return {{"cond", x, branches}, {"while_loop", x, loop}, {"scan", x, steps}};
}

}  // namespace sardonyx::eager::exports
