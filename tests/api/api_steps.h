// The steps of one caller in a random program.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tests/api/api_caller.h"
#include "tests/api/api_program.h"
#include "tests/api/caller_memory.h"

namespace sardonyx::api_test {

class CallerSteps {
 public:
  CallerSteps(const ApiCase& made, ApiSession& session, bool unmaps);
  // Throws Finding.
  void take_step(fuzz::Choices& choices);
  std::string history() const { return history_; }

 private:
  using Memory = std::shared_ptr<CallerMemory>;
  // Elements of a caller's in some memory of his.
  struct Place {
    Memory memory;
    size_t offset = 0;
    Tensor tensor;
    bool is_set() const { return memory != nullptr; }
    std::byte* begin() const { return memory->data() + offset; }
    std::byte* end() const { return begin() + tensor.bytes(); }
  };
  // A result that the caller keeps, and what it must be.
  struct Kept {
    Datum result, expected;
  };

  const Variant& variant() const { return made_.variants[variant_]; }
  void set_inputs(fuzz::Choices& choices);
  void set_input(size_t index, fuzz::Choices& choices);
  void bind_output(fuzz::Choices& choices);
  void clear_output(fuzz::Choices& choices);
  void start_anew();
  void run(fuzz::Choices& choices);
  void fill_inputs();
  void check_outputs();
  void keep_results(fuzz::Choices& choices);
  void check_memory();
  void let_go(Memory memory);
  bool is_in_use(const CallerMemory& memory) const;
  bool overlaps_memory(const Datum& datum) const;
  bool has_overlapping_outputs() const;
  Place place_for(DType dtype, const Shape& shape, size_t slack, fuzz::Choices& choices) const;
  [[noreturn]] void fail_with(const std::string& what) const;
  void note(const std::string& step) { history_ += step + "; "; }

  const ApiCase& made_;
  ApiSession& session_;
  bool unmaps_;
  std::unique_ptr<ApiCaller> caller_;
  size_t variant_ = 0;
  std::vector<Place> inputs_, outputs_;  // outputs: what is bound
  std::vector<Memory> memories_;         // all there ever were
  std::vector<Kept> kept_;
  std::vector<Kept> given_;  // inputs that are no plain memory, and what they must be
  std::string history_;
};

}  // namespace sardonyx::api_test
