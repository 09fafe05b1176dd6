// A variational autoencoder of small images (Kingma and Welling, 2014): trained on digits, new
// ones drawn, the decoder exported.
//
//   vae DIGITS_CSV [--epochs N] [--out FILE]
#include <sardonyx/eager.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

using namespace sardonyx::eager;

namespace {

constexpr int64_t kPixels = 64, kHidden = 96, kCode = 8;

struct Encoder : nn::Layer<Encoder> {
  nn::Linear hidden = add("hidden", nn::Linear(kPixels, kHidden));
  nn::Linear mean = add("mean", nn::Linear(kHidden, kCode));
  nn::Linear log_variance = add("log_variance", nn::Linear(kHidden, kCode));
  std::pair<Tensor, Tensor> forward(const Tensor& x) const {
    const Tensor h = relu(hidden(x));
    return {mean(h), log_variance(h)};
  }
};

struct Decoder : nn::Layer<Decoder> {
  nn::Linear hidden = add("hidden", nn::Linear(kCode, kHidden));
  nn::Linear pixels = add("pixels", nn::Linear(kHidden, kPixels));
  // Logits of the pixels.
  Tensor forward(const Tensor& code) const { return pixels(relu(hidden(code))); }
};

struct Vae : nn::Layer<Vae> {
  Encoder encoder = add("encoder", Encoder());
  Decoder decoder = add("decoder", Decoder());
  // The loss of a batch [N, pixels] within [0, 1]: reconstruction, and how far the codes are from
  // N(0, 1); sums over an image, means over the batch.
  std::pair<Tensor, Tensor> forward(const Tensor& x) const {
    const auto [mean, log_variance] = encoder(x);
    const Tensor code = mean + randn_like(mean) * exp(log_variance * 0.5);
    const Tensor lost = nn::bce_with_logits(decoder(code), x, {.reduction = nn::Reduction::kNone});
    const Tensor distance = (square(mean) + exp(log_variance) - log_variance - 1.0) * 0.5;
    return {lost.sum({1}).mean(), distance.sum({1}).mean()};
  }
};

void print_image(const Tensor& pixels) {
  const std::vector<float> values = pixels.to_vector<float>();
  for (size_t row = 0; row < 8; ++row) {
    for (size_t column = 0; column < 8; ++column)
      std::putchar(" .:oO@"[static_cast<size_t>(values[row * 8 + column] * 5.99f)]);
    std::putchar('\n');
  }
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2) {
    std::fprintf(stderr, "usage: vae DIGITS_CSV [--epochs N] [--out FILE]\n");
    return 2;
  }
  std::string out = "vae_decoder.onnx";
  int64_t epochs = 20;
  for (int i = 2; i + 1 < argc; i += 2) {
    const std::string option = argv[i], value = argv[i + 1];
    if (option == "--epochs") epochs = std::atoll(value.c_str());
    if (option == "--out") out = value;
  }
  manual_seed(1);
  const Tensor images = data::read_csv(argv[1]).columns(0, kPixels) / 16.0;
  data::DataLoader loader(std::make_shared<data::TensorDataset>(std::vector{images}),
                          {.batch_size = 64, .shuffle = true, .seed = 1});
  const Vae net;
  optim::Adam optimizer(net.parameters(), {.lr = 2e-3});
  const auto step = compile([&](const Tensor& batch) {
    optimizer.zero_grad();
    const auto [lost, distance] = net(batch);
    (lost + distance).backward();
    optimizer.step();
    return std::pair{lost, distance};
  });
  for (int64_t epoch = 0; epoch < epochs; ++epoch) {
    double lost = 0, distance = 0;
    for (const data::Sample& batch : loader) {
      const auto [a, b] = step(batch[0]);
      lost += a.item<double>();
      distance += b.item<double>();
    }
    const auto batches = static_cast<double>(loader.size());
    std::printf("epoch %2d  reconstruction %.2f  divergence %.2f\n", static_cast<int>(epoch),
                lost / batches, distance / batches);
  }
  const auto draw = [&](const Tensor& code) { return sigmoid(net.decoder(code)); };
  print_image(draw(randn({1, kCode})).detach());
  const ExportReport report = export_onnx(draw, {randn({1, kCode})}, out,
                                          {.input_names = {"code"},
                                           .output_names = {"pixels"},
                                           .dynamic_axes = {{"code", {{0, "batch"}}}},
                                           .names = net.decoder.named_parameters()});
  std::printf("%s: %s", out.c_str(), report.text().c_str());
  return 0;
} catch (const Error& error) {
  std::fprintf(stderr, "vae: %s\n", error.what());
  return 1;
}
