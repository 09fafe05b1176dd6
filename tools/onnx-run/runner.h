// A model made ready to run, by a session or by the reference meaning of its ops.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "executor/session.h"

namespace sardonyx::tool {

class Runner {
 public:
  virtual ~Runner() = default;
  // Inputs that a run must be given; those that have an initializer may be given as well.
  virtual std::span<const ValueInfo> inputs() const = 0;
  virtual std::span<const ValueInfo> optional_inputs() const = 0;
  virtual std::span<const ValueInfo> outputs() const = 0;
  // The outputs in the order of outputs().
  virtual std::vector<Datum> run(const NamedData& feeds, const RunOptions& options) const = 0;
};

// Runs node by node with no rewriting, planning or fast kernel: slow, and what all else is compared
// with.
std::unique_ptr<Runner> make_reference_runner(Model model);

}  // namespace sardonyx::tool
