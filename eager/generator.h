// Random numbers: where they come from, and how a run that was stopped goes on with the same ones.
#pragma once

#include <cstdint>
#include <memory>

#include "eager/tensor.h"
#include "ir/core/random.h"

namespace sardonyx::eager {

// A sequence of random numbers, counter-based (Philox 4x32-10): a draw depends on the seed and on
// how many draws came before, never on threads. Copies share one sequence, as tensors share values.
// Safe from many threads; which of them draws first is theirs to order.
class Generator {
 public:
  explicit Generator(uint64_t seed = 0);
  // Starts the sequence anew.
  void manual_seed(uint64_t seed) const;
  uint64_t initial_seed() const;
  // Where the sequence stands: uint8[24], to be saved like any tensor. set_state() throws
  // kInvalidArgument for what get_state() has not given.
  Tensor get_state() const;
  void set_state(const Tensor& state) const;
  RandomSource& source() const { return *source_; }

 private:
  friend Generator default_generator();
  explicit Generator(std::shared_ptr<RandomSource> source) : source_(std::move(source)) {}
  std::shared_ptr<RandomSource> source_;
};

// What everything draws from that is given no other: one for the process.
Generator default_generator();
void manual_seed(uint64_t seed);  // of the default generator
Tensor get_rng_state();
void set_rng_state(const Tensor& state);

// All draws of this thread (new tensors, dropout, ops, compiled functions) come from a generator
// until the scope ends.
class UseGenerator {
 public:
  explicit UseGenerator(Generator generator)
      : generator_(std::move(generator)), scope_(generator_.source()) {}
  UseGenerator(const UseGenerator&) = delete;
  UseGenerator& operator=(const UseGenerator&) = delete;

 private:
  Generator generator_;
  RandomScope scope_;
};

}  // namespace sardonyx::eager
