#include <cmath>

#include "eager/functional/functional.h"
#include "eager/nn.h"
#include "tools/bench-eager/cases.h"

namespace sardonyx::bench_eager {
namespace {

namespace nn = eager::nn;
namespace F = torch::nn::functional;

template <typename M>
auto output_of(M module) {
  return [module](const Theirs& in) mutable { return std::get<0>(module(in[0])); };
}

std::vector<Case> product_cases() {
  const CaseInput square{{512, 512}}, batch{{16, 128, 128}};
  return {
      {"matmul", {square, square}, SARDONYX_BOTH(matmul(in[0], in[1]))},
      {"matmul of batches", {batch, batch}, SARDONYX_BOTH(matmul(in[0], in[1]))},
      {"linear",
       {{{64, 512}}, square, {{512}}},
       SARDONYX_OURS(linear(in[0], in[1], in[2])),
       SARDONYX_THEIRS(at::linear(in[0], in[1], in[2]))},
      {"linear of sequences",
       {{{8, 32, 512}}, square, {{512}}},
       SARDONYX_OURS(linear(in[0], in[1], in[2])),
       SARDONYX_THEIRS(at::linear(in[0], in[1], in[2]))},
      {"mv", {square, {{512}}}, SARDONYX_BOTH(matmul(in[0], in[1]))},
      {"outer", {{{1024}}, {{512}}}, SARDONYX_BOTH(outer(in[0], in[1]))},
      {"einsum ij,kj->ik",
       {square, square},
       SARDONYX_OURS(eager::einsum("ij,kj->ik", in)),
       SARDONYX_THEIRS(at::einsum("ij,kj->ik", in))},
      {"einsum bij,bjk->bik",
       {batch, batch},
       SARDONYX_OURS(eager::einsum("bij,bjk->bik", in)),
       SARDONYX_THEIRS(at::einsum("bij,bjk->bik", in))},
      {"einsum bnd,de->bne",
       {{{16, 64, 256}}, {{256, 256}}},
       SARDONYX_OURS(eager::einsum("bnd,de->bne", in)),
       SARDONYX_THEIRS(at::einsum("bnd,de->bne", in))},
      {"einsum bhid,bhjd->bhij",
       {{{4, 8, 64, 32}}, {{4, 8, 64, 32}}},
       SARDONYX_OURS(eager::einsum("bhid,bhjd->bhij", in)),
       SARDONYX_THEIRS(at::einsum("bhid,bhjd->bhij", in))},
  };
}

std::vector<Case> image_cases() {
  const CaseInput images{{4, 32, 32, 32}}, wide{{4, 64, 16, 16}}, signal{{8, 32, 256}};
  return {
      {"conv2d 3x3",
       {images, {{32, 32, 3, 3}}},
       SARDONYX_OURS(nn::conv2d(in[0], in[1], {}, {.padding = 1})),
       SARDONYX_THEIRS(at::conv2d(in[0], in[1], {}, 1, 1))},
      {"conv2d 1x1",
       {images, {{64, 32, 1, 1}}},
       SARDONYX_OURS(nn::conv2d(in[0], in[1])),
       SARDONYX_THEIRS(at::conv2d(in[0], in[1]))},
      {"conv2d strided",
       {images, {{64, 32, 3, 3}}},
       SARDONYX_OURS(nn::conv2d(in[0], in[1], {}, {.stride = 2, .padding = 1})),
       SARDONYX_THEIRS(at::conv2d(in[0], in[1], {}, 2, 1))},
      {"conv2d depthwise",
       {images, {{32, 1, 3, 3}}},
       SARDONYX_OURS(nn::conv2d(in[0], in[1], {}, {.padding = 1, .groups = 32})),
       SARDONYX_THEIRS(at::conv2d(in[0], in[1], {}, 1, 1, 1, 32))},
      {"conv2d of doubles",
       {{{2, 16, 16, 16}, 0, true}, {{16, 16, 3, 3}, 0, true}},
       SARDONYX_OURS(nn::conv2d(in[0], in[1], {}, {.padding = 1})),
       SARDONYX_THEIRS(at::conv2d(in[0], in[1], {}, 1, 1))},
      {"conv1d",
       {signal, {{32, 32, 5}}},
       SARDONYX_OURS(nn::conv1d(in[0], in[1], {}, {.padding = 2})),
       SARDONYX_THEIRS(at::conv1d(in[0], in[1], {}, 1, 2))},
      {"conv3d",
       {{{2, 8, 12, 12, 12}}, {{16, 8, 3, 3, 3}}},
       SARDONYX_OURS(nn::conv3d(in[0], in[1], {}, {.padding = 1})),
       SARDONYX_THEIRS(at::conv3d(in[0], in[1], {}, 1, 1))},
      {"conv_transpose2d",
       {wide, {{64, 32, 4, 4}}},
       SARDONYX_OURS(nn::conv_transpose2d(in[0], in[1], {}, {.stride = 2, .padding = 1})),
       SARDONYX_THEIRS(at::conv_transpose2d(in[0], in[1], {}, 2, 1))},
      {"max_pool2d",
       {images},
       SARDONYX_OURS(nn::max_pool2d(in[0], 2)),
       SARDONYX_THEIRS(at::max_pool2d(in[0], 2))},
      {"avg_pool2d",
       {images},
       SARDONYX_OURS(nn::avg_pool2d(in[0], 2)),
       SARDONYX_THEIRS(at::avg_pool2d(in[0], 2))},
      {"adaptive_avg_pool2d",
       {images},
       SARDONYX_OURS(nn::adaptive_avg_pool2d(in[0], 7)),
       SARDONYX_THEIRS(at::adaptive_avg_pool2d(in[0], {7, 7}))},
  };
}

std::vector<Case> layer_cases() {
  const CaseInput a{{256, 1024}}, images{{4, 32, 32, 32}}, c{{32}}, sequence{{50, 32, 128}};
  const nn::BatchNorm2d norm(32);
  const nn::LSTM lstm(128, 128);
  const nn::GRU gru(128, 128);
  const nn::RNN rnn(128, 128);
  return {
      {"layer_norm",
       {a, {{1024}}, {{1024}}},
       SARDONYX_OURS(nn::layer_norm(in[0], {1024}, in[1], in[2])),
       SARDONYX_THEIRS(at::layer_norm(in[0], {1024}, in[1], in[2]))},
      {"group_norm",
       {images, c, c},
       SARDONYX_OURS(nn::group_norm(in[0], 8, in[1], in[2])),
       SARDONYX_THEIRS(at::group_norm(in[0], 8, in[1], in[2]))},
      {"instance_norm",
       {images},
       SARDONYX_OURS(nn::instance_norm(in[0])),
       SARDONYX_THEIRS(at::instance_norm(in[0], {}, {}, {}, {}, true, 0.1, 1e-5, false))},
      {"batch_norm in training",
       {images},
       SARDONYX_OURS(norm(in[0])),
       SARDONYX_THEIRS(at::batch_norm(in[0], {}, {}, {}, {}, true, 0.1, 1e-5, false))},
      {"attention",
       {{{4, 8, 64, 32}}, {{4, 8, 64, 32}}, {{4, 8, 64, 32}}},
       SARDONYX_OURS(nn::scaled_dot_product_attention(in[0], in[1], in[2])),
       SARDONYX_THEIRS(
           matmul(softmax(matmul(in[0], in[1].transpose(-2, -1)) / std::sqrt(32.0), -1), in[2]))},
      {"lstm",
       {sequence},
       SARDONYX_OURS(lstm(in[0]).output),
       output_of(torch::nn::LSTM(128, 128)),
       true,
       true},
      {"gru",
       {sequence},
       SARDONYX_OURS(gru(in[0]).output),
       output_of(torch::nn::GRU(128, 128)),
       true,
       true},
      {"rnn",
       {sequence},
       SARDONYX_OURS(rnn(in[0]).output),
       output_of(torch::nn::RNN(128, 128)),
       true,
       true},
  };
}

}  // namespace

std::vector<Case> network_cases() {
  std::vector<Case> all;
  for (const auto& cases : {product_cases(), image_cases(), layer_cases()})
    all.insert(all.end(), cases.begin(), cases.end());
  return all;
}

}  // namespace sardonyx::bench_eager
