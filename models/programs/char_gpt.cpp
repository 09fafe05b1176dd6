// A GPT of characters: trained on a text, sampled from, exported with open batch and length.
//
//   char_gpt [--text FILE] [--steps N] [--out FILE]
#include <sardonyx/eager.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

using namespace sardonyx::eager;

namespace {

constexpr int64_t kContext = 32, kWidth = 64, kHeads = 4, kLayers = 2, kBatch = 16;

// Some text to learn where none is given.
const char* const kRhyme =
    "One stone is flat, two stones are round, three stones lie deep below the ground. "
    "Four stones are red, five stones are grey, six stones have rolled and gone away. "
    "Seven are small, eight are wide, nine keep a band of white inside. "
    "Ten stones are counted, none is lost: begin again, and mind the frost. ";

struct Block : nn::Layer<Block> {
  nn::LayerNorm norm1 = add("norm1", nn::LayerNorm(kWidth));
  nn::Linear qkv = add("qkv", nn::Linear(kWidth, 3 * kWidth));
  nn::Linear out = add("out", nn::Linear(kWidth, kWidth));
  nn::LayerNorm norm2 = add("norm2", nn::LayerNorm(kWidth));
  nn::Linear up = add("up", nn::Linear(kWidth, 4 * kWidth));
  nn::Linear down = add("down", nn::Linear(4 * kWidth, kWidth));
  nn::Dropout dropout = add("dropout", nn::Dropout(0.1));

  // [batch, length, width] to [batch, heads, length, width / heads].
  static Tensor heads_of(const Tensor& x) { return x.unflatten(2, {kHeads, -1}).transpose(1, 2); }
  Tensor attend(const Tensor& x) const {
    const std::vector<Tensor> parts = qkv(x).chunk(3, 2);
    const Tensor seen = nn::scaled_dot_product_attention(heads_of(parts[0]), heads_of(parts[1]),
                                                         heads_of(parts[2]), {.is_causal = true});
    return out(seen.transpose(1, 2).flatten(2));
  }
  Tensor forward(const Tensor& x) const {
    const Tensor y = x + dropout(attend(norm1(x)));
    return y + dropout(down(gelu(up(norm2(y)))));
  }
};

// Characters [batch, length] to logits of the next one [batch, length, characters].
struct CharGpt : nn::Layer<CharGpt> {
  explicit CharGpt(int64_t characters)
      : tokens(add("tokens", nn::Embedding(characters, kWidth))),
        head(add("head", nn::Linear(kWidth, characters, {.bias = false}))) {}
  nn::Embedding tokens;
  nn::Embedding places = add("places", nn::Embedding(kContext, kWidth));
  nn::ModuleList<Block> blocks =
      add("blocks", nn::ModuleList<Block>(kLayers, [](size_t) { return Block(); }));
  nn::LayerNorm norm = add("norm", nn::LayerNorm(kWidth));
  nn::Linear head;

  Tensor forward(const Tensor& ids) const {
    Tensor x = tokens(ids) + places(arange(ids.size(1)));
    for (const Block& block : blocks)
      x = block(x);
    return head(norm(x));
  }
};

// The numbers of a text's characters among those that occur in it.
struct Alphabet {
  explicit Alphabet(const std::string& text) {
    for (const char c : text) {
      if (characters.find(c) == std::string::npos) characters.push_back(c);
    }
  }
  Tensor encode(const std::string& text) const {
    std::vector<int64_t> ids;
    for (const char c : text)
      ids.push_back(static_cast<int64_t>(characters.find(c)));
    return tensor(ids);
  }
  std::string characters;
};

// Weight decay for matrices alone.
optim::AdamW optimizer_of(const CharGpt& net) {
  std::vector<Tensor> decayed, others;
  for (const auto& [name, parameter] : net.named_parameters())
    (parameter.rank() > 1 ? decayed : others).push_back(parameter);
  return optim::AdamW(optim::AdamW::Groups{{decayed, {.lr = 3e-3, .weight_decay = 0.1}},
                                           {others, {.lr = 3e-3, .weight_decay = 0}}});
}

// kBatch windows of the text, and the characters after each of theirs.
std::pair<Tensor, Tensor> draw_batch(const Tensor& ids) {
  const Tensor starts = randint(0, ids.size(0).value() - kContext, {kBatch, 1});
  const Tensor at = starts + arange(kContext);
  return {ids.index({at}), ids.index({at + 1})};
}

void train(const CharGpt& net, const Tensor& ids, int64_t steps) {
  optim::AdamW optimizer = optimizer_of(net);
  const double warm_up = std::max<double>(1, static_cast<double>(steps) / 10);
  optim::LambdaLR schedule(optimizer, [=](int64_t step) {
    const double at = static_cast<double>(step + 1);
    const double share = (at - warm_up) / std::max(1.0, static_cast<double>(steps) - warm_up);
    return at < warm_up ? at / warm_up : 0.1 + 0.45 * (1 + std::cos(M_PI * share));
  });
  const auto step = compile([&](const Tensor& inputs, const Tensor& targets) {
    optimizer.zero_grad();
    const Tensor loss = nn::cross_entropy(net(inputs).flatten(0, 1), targets.flatten());
    loss.backward();
    optim::clip_grad_norm(net.parameters(), 1.0);
    optimizer.step();
    return loss;
  });
  for (int64_t i = 0; i < steps; ++i) {
    const auto [inputs, targets] = draw_batch(ids);
    const double loss = step(inputs, targets).item<double>();
    schedule.step();
    if (i % 50 == 0 || i + 1 == steps)
      std::printf("step %4d  loss %.3f\n", static_cast<int>(i), loss);
  }
}

// Continues `start` by one character at a time, from the five likeliest of each.
std::string sample(const CharGpt& net, const Alphabet& alphabet, std::string start, int64_t count) {
  const NoGrad no_grad;
  const nn::EvalMode mode(net);
  for (int64_t i = 0; i < count; ++i) {
    const size_t from = start.size() - std::min<size_t>(start.size(), kContext);
    const Tensor logits = net(alphabet.encode(start.substr(from)).unsqueeze(0));
    const auto [best, places] = logits.index({0, -1}).topk(5);
    const Tensor chosen = multinomial(softmax(best / 0.7), 1);
    start.push_back(alphabet.characters[places.index_select(0, chosen).item<size_t>()]);
  }
  return start;
}

}  // namespace

int main(int argc, char** argv) try {
  std::string text = kRhyme, out = "char_gpt.onnx";
  int64_t steps = 400;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i], value = argv[i + 1];
    if (option == "--text") {
      std::ifstream file(value, std::ios::binary);
      text.assign(std::istreambuf_iterator<char>(file), {});
    } else if (option == "--steps") {
      steps = std::atoll(value.c_str());
    } else if (option == "--out") {
      out = value;
    }
  }
  if (text.size() <= kContext + 1 || steps < 1) {
    std::fprintf(stderr, "char_gpt: a text of more than %d characters and steps are needed\n",
                 static_cast<int>(kContext + 1));
    return 2;
  }
  manual_seed(1);
  const Alphabet alphabet(text);
  const CharGpt net(static_cast<int64_t>(alphabet.characters.size()));
  std::printf("%lld parameters\n", static_cast<long long>(net.parameter_count()));
  train(net, alphabet.encode(text), steps);
  std::printf("%s\n", sample(net, alphabet, text.substr(0, 8), 120).c_str());
  const ExportReport report =
      export_onnx(net, {zeros({1, 8}, {.dtype = DType::kInt64})}, out,
                  {.input_names = {"ids"},
                   .output_names = {"logits"},
                   .dynamic_axes = {{"ids", {{0, "batch"}, {1, "length"}}}}});
  std::printf("%s: %s", out.c_str(), report.text().c_str());
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "char_gpt: %s\n", error.what());
  return 1;
}
