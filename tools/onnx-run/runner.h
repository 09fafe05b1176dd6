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
  // Any values of the main graph by name, in the order of `names`.
  virtual std::vector<Datum> fetch(const NamedData& feeds, std::span<const std::string> names,
                                   const RunOptions& options) const = 0;
  virtual const Model& model() const = 0;
  // For names, types and connections alone: the elements of its weights may be evicted.
  virtual const Graph& graph() const = 0;
  // Null for the reference.
  virtual const Session* session() const { return nullptr; }
};

std::unique_ptr<Runner> make_session_runner(Session session);

// Runs node by node with no rewriting, planning or fast kernel: slow, and what all else is compared
// with.
std::unique_ptr<Runner> make_reference_runner(Model model);

}  // namespace sardonyx::tool
