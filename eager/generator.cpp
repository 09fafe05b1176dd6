#include "eager/generator.h"

#include <cstring>

#include "ir/core/tensor.h"
#include "ir/type.h"

namespace sardonyx::eager {
namespace {

// The bytes of a state: what it is, the seed, the count of streams; little-endian.
constexpr char kTag[] = {'P', 'h', 'i', 'l', 'o', 'x', '1', 0};
constexpr size_t kStateBytes = 24;

void put(uint8_t* to, uint64_t value) {
  for (int i = 0; i < 8; ++i)
    to[i] = static_cast<uint8_t>(value >> (8 * i));
}
uint64_t taken(const uint8_t* from) {
  uint64_t value = 0;
  for (int i = 0; i < 8; ++i)
    value |= uint64_t{from[i]} << (8 * i);
  return value;
}

}  // namespace

Generator::Generator(uint64_t seed) : source_(std::make_shared<RandomSource>(seed)) {}

void Generator::manual_seed(uint64_t seed) const {
  source_->set_state({seed, 0});
}
uint64_t Generator::initial_seed() const {
  return source_->state().seed;
}

Tensor Generator::get_state() const {
  const RandomSource::State state = source_->state();
  std::vector<uint8_t> bytes(kStateBytes);
  std::memcpy(bytes.data(), kTag, sizeof kTag);
  put(bytes.data() + 8, state.seed);
  put(bytes.data() + 16, state.streams);
  return Tensor::of(bytes, {static_cast<int64_t>(kStateBytes)});
}

void Generator::set_state(const Tensor& state) const {
  const bool fits = state.defined() && state.dtype() == DType::kUInt8 && !state.is_symbolic() &&
                    state.data().count() == static_cast<int64_t>(kStateBytes) &&
                    std::memcmp(state.data().raw(), kTag, sizeof kTag) == 0;
  if (!fits) {
    fail(ErrorCode::kInvalidArgument,
         "generator: expected a state as get_state() or get_rng_state() gives it (uint8[",
         kStateBytes, "]), got ", state.defined() ? text(state.type()) : "an undefined tensor");
  }
  const auto* bytes = static_cast<const uint8_t*>(state.data().raw());
  source_->set_state({taken(bytes + 8), taken(bytes + 16)});
}

Generator default_generator() {
  // It belongs to nobody: the handle frees nothing.
  return Generator(std::shared_ptr<RandomSource>(&default_random_source(), [](RandomSource*) {}));
}
void manual_seed(uint64_t seed) {
  default_generator().manual_seed(seed);
}
Tensor get_rng_state() {
  return default_generator().get_state();
}
void set_rng_state(const Tensor& state) {
  default_generator().set_state(state);
}

}  // namespace sardonyx::eager
