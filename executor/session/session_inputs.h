// The inputs of a model as a session takes them: their types and defaults, and the checks that
// each run's must pass.
#pragma once

#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "executor/named_warnings.h"
#include "executor/session.h"
#include "executor/shared_symbols.h"
#include "executor/unnamed_dims.h"

namespace sardonyx {

class SessionInputs {
 public:
  SessionInputs() = default;
  // Inputs without a default go first. With `is_strict`, deviations that would be taken with a
  // warning are errors.
  SessionInputs(const Graph& graph, UnnamedDims& unnamed, bool is_strict);

  std::span<const ValueInfo> all() const { return infos_; }
  std::span<const ValueInfo> required() const { return all().first(required_); }
  std::span<const ValueInfo> optional() const { return all().subspan(required_); }
  std::span<const Datum> defaults() const { return defaults_; }  // undefined: must be given
  bool is_strict() const { return is_strict_; }

  // `named` in the order of all(); undefined where not given. Throws kInvalidArgument for a name
  // that no input has.
  std::vector<Datum> in_order(const NamedData& named) const;

  // The values of all inputs of one run, in the order of all().
  struct Given {
    std::pmr::vector<const Datum*> values;  // those of the caller, else the defaults
    std::pmr::vector<size_t> optional;      // optional inputs that the caller gave, by index
  };
  // Completes the caller's inputs, all or the required ones alone, by the defaults. The lists are
  // in scratch memory. Throws kInvalidArgument for any other number of inputs.
  Given merged_with_defaults(DatumRefs given) const;

  // `given` as input `index` of an executable. Throws kInvalidArgument where it does not have the
  // input's type and shape, but for a tensor of one element where a scalar is wanted: this is
  // reshaped, with a warning. An input that nothing in the model reads may be omitted. Bools that
  // are neither 0 nor 1 are copied as such where a node may hand them on. What is made is put into
  // `changed`, up to two for each input.
  const Datum* accepted(size_t index, const Datum& given, std::pmr::vector<Datum>& changed,
                        NamedWarnings& warnings) const;

  // `values` with those left out that the caller gives and that are not among `wanted`: nobody
  // reads them. Defaults stay, since they may be constants of the executable.
  std::pmr::vector<const Datum*> read_by(std::span<const size_t> wanted,
                                         std::span<const Datum* const> values) const;
  // Whether these values give two sizes to one symbol. Warns of it, or throws kInvalidArgument
  // where the session is strict.
  bool has_symbol_conflict(std::span<const Datum* const> values, NamedWarnings& warnings) const;

 private:
  std::vector<ValueInfo> infos_;
  size_t required_ = 0;
  std::vector<Datum> defaults_;     // by input
  std::vector<bool> is_read_;       // by input: a node's, or an output
  std::vector<bool> is_handed_on_;  // by input: elements may get into outputs as they are
  SharedSymbols symbols_;
  bool is_strict_ = false;
};

}  // namespace sardonyx
