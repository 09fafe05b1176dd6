// InferenceSession's engine: a Session with names and values of Python.
#pragma once

#include <pybind11/pybind11.h>

#include <string>
#include <tuple>
#include <vector>

#include "executor/ort_abi/custom_ops/domain.h"
#include "executor/ort_abi/profiling.h"
#include "executor/session.h"
#include "tools/python/module/options.h"

namespace sardonyx::python {

namespace py = pybind11;

class PySession {
 public:
  // `model` is a path or the bytes of a file.
  PySession(const py::object& model, const PySessionOptions& options);

  const Session& session() const { return session_; }
  const PySessionOptions& options() const { return options_; }

  // Outputs by name, all where `names` is None or empty, as a list.
  py::list run(const py::object& names, const py::object& feed, const py::object& options);
  // The same with OrtValues in and out.
  py::list run_values(const py::object& names, const py::dict& feed, const py::object& options);

  // Inputs in the order of the session: those that must be given, then the optional ones. Throws
  // InvalidArgument for a name that is none, ValueError where one is missing.
  std::vector<Datum> inputs_from(const py::object& feed, bool are_values) const;
  // Runs without the interpreter's lock. The slots are those of all outputs; the run computes those
  // in `wanted` alone, all where it is empty. Bound memory that does not fit its output is an error
  // where they are `strict`.
  void run_into(std::span<const Datum> inputs, std::span<OutputSlot> slots,
                std::span<const size_t> wanted, const py::object& options,
                bool are_outputs_strict = false);

  // What active adapters have for inputs with defaults that `inputs` has no value for.
  void add_adapted(std::vector<Datum>& inputs, const py::object& options) const;

  size_t output_index(std::string_view name) const;
  // The value of the input of this name from an array, a list or a dict.
  Datum input_value(const std::string& name, const py::object& object) const;

  // Name, domain and operator of the nodes that a provider is assigned, where the entry
  // session.record_ep_graph_assignment_info asks for them.
  using Nodes = std::vector<std::tuple<std::string, std::string, std::string>>;
  const Nodes& nodes() const { return nodes_; }

  // What the session measured, where the options ask for it.
  ort_abi::Profile& profile() { return profile_; }

 private:
  struct Input {
    py::object name;  // interned
    const ValueInfo* info;
    bool is_optional;
  };
  std::vector<size_t> output_indices(const py::object& names) const;
  [[noreturn]] void refuse_feed(const py::dict& feed) const;
  std::vector<Datum> run_datums(const std::vector<size_t>& wanted, std::vector<Datum> inputs,
                                const py::object& options);

  PySessionOptions options_;
  OrtLogger logger_;
  OrtKeyValuePairs config_;
  ort_abi::SessionCustomOps library_ops_;
  Session session_;
  Nodes nodes_;
  std::vector<Input> inputs_;
  size_t required_ = 0;
  ort_abi::Profile profile_;
};

void bind_session(py::module_& module);

}  // namespace sardonyx::python
