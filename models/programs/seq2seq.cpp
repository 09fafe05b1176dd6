// From a sequence to a sequence (Sutskever et al., 2014): two recurrent networks learn to say
// numbers backwards. The exported file holds the whole translation, the loop over steps included.
//
//   seq2seq [--steps N] [--out FILE]
#include <sardonyx/eager.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace sardonyx::eager;

namespace {

// Tokens: digits 0 to 9, then these.
constexpr int64_t kStart = 10, kEnd = 11, kTokens = 12;
constexpr int64_t kWidth = 32, kHidden = 128, kBatch = 64, kLongest = 5;

struct Seq2Seq : nn::Layer<Seq2Seq> {
  nn::Embedding words = add("words", nn::Embedding(kTokens, kWidth));
  nn::GRU encoder = add("encoder", nn::GRU(kWidth, kHidden, {.batch_first = true}));
  nn::GRUCell decoder = add("decoder", nn::GRUCell(kWidth, kHidden));
  nn::Linear scores = add("scores", nn::Linear(kHidden, kTokens));

  // What the encoder has seen of [batch, length] once each sequence is over: [batch, hidden].
  Tensor encode(const Tensor& ids, const Tensor& lengths) const {
    return encoder(words(ids), {.lengths = lengths.to(DType::kInt32)}).hidden.squeeze({0});
  }
  // Logits of the targets [batch, length], each step given the target before it.
  Tensor forward(const Tensor& ids, const Tensor& lengths, const Tensor& targets) const {
    Tensor hidden = encode(ids, lengths);
    std::vector<Tensor> steps;
    Tensor given = full({targets.size(0)}, kStart, {.dtype = DType::kInt64});
    for (int64_t i = 0; i < kLongest + 1; ++i) {
      hidden = decoder(words(given), hidden);
      steps.push_back(scores(hidden));
      given = targets.select(1, i);
    }
    return stack(steps, 1);
  }
  // The likeliest token of each step, until all sequences have ended: [batch, steps].
  Tensor translate(const Tensor& ids, const Tensor& lengths) const {
    const Tensor start = full({ids.size(0)}, kStart, {.dtype = DType::kInt64});
    const auto goes_on = [](const std::vector<Tensor>& state) {
      return any(state[1] != kEnd) && state[0] <= kLongest;
    };
    const auto next = [&](const std::vector<Tensor>& state) -> std::vector<Tensor> {
      const Tensor hidden = decoder(words(state[1]), state[2]);
      const Tensor best = argmax(scores(hidden), 1);
      const Tensor token = where(state[1] == kEnd, kEnd, best);
      return {state[0] + 1, token, hidden, cat({state[3], token.unsqueeze(1)}, 1)};
    };
    const Tensor nothing = zeros({ids.size(0), 0}, {.dtype = DType::kInt64});
    return while_loop(goes_on, next,
                      {Tensor::scalar(int64_t{0}), start, encode(ids, lengths), nothing})[3];
  }
};

struct Batch {
  Tensor ids, lengths, targets;
};
// Numbers of different lengths, padded by kEnd, and the same backwards, ended by kEnd.
Batch draw_batch() {
  const Tensor digits = randint(0, 10, {kBatch, kLongest});
  const Tensor lengths = randint(1, kLongest + 1, {kBatch});
  const Tensor at = arange(kLongest + 1), ends = lengths.unsqueeze(1);
  const Tensor ids = where(arange(kLongest) < ends, digits, kEnd);
  const Tensor mirrored = gather(digits, 1, clamp(ends - 1 - at, 0));
  return {ids, lengths, where(at < ends, mirrored, kEnd)};
}

double share_right(const Seq2Seq& net) {
  const NoGrad no_grad;
  const Batch batch = draw_batch();
  const Tensor said = net.translate(batch.ids, batch.lengths);
  const Tensor wanted = batch.targets.narrow(1, 0, said.size(1));
  return all(said == wanted, {1}).to(DType::kFloat).mean().item<double>();
}

}  // namespace

int main(int argc, char** argv) try {
  std::string out = "seq2seq.onnx";
  int64_t steps = 1500;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i], value = argv[i + 1];
    if (option == "--steps") steps = std::atoll(value.c_str());
    if (option == "--out") out = value;
  }
  manual_seed(1);
  const Seq2Seq net;
  optim::Adam optimizer(net.parameters(), {.lr = 3e-3});
  const auto step = compile([&](const Tensor& ids, const Tensor& lengths, const Tensor& targets) {
    optimizer.zero_grad();
    const Tensor logits = net(ids, lengths, targets);
    const Tensor loss = nn::cross_entropy(logits.flatten(0, 1), targets.flatten());
    loss.backward();
    optim::clip_grad_norm(net.parameters(), 1.0);
    optimizer.step();
    return loss;
  });
  for (int64_t i = 0; i < steps; ++i) {
    const Batch batch = draw_batch();
    const double loss = step(batch.ids, batch.lengths, batch.targets).item<double>();
    if (i % 250 == 0 || i + 1 == steps) {
      std::printf("step %4d  loss %.3f  said right %3.0f %%\n", static_cast<int>(i), loss,
                  100 * share_right(net));
    }
  }
  const Tensor ids = tensor({{int64_t{3}, int64_t{1}, int64_t{4}}});
  const auto translate = [&](const Tensor& x, const Tensor& lengths) {
    return net.translate(x, lengths);
  };
  std::printf("3 1 4 backwards: %s\n", translate(ids, tensor({int64_t{3}})).text().c_str());
  const ExportReport report = export_onnx(
      translate, {ids, tensor({int64_t{3}})}, out,
      {.input_names = {"ids", "lengths"},
       .output_names = {"tokens"},
       .dynamic_axes = {{"ids", {{0, "batch"}, {1, "length"}}}, {"lengths", {{0, "batch"}}}},
       .names = net.named_parameters()});
  std::printf("%s: %s", out.c_str(), report.text().c_str());
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "seq2seq: %s\n", error.what());
  return 1;
}
