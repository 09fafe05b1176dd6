#include "tools/python/module/options.h"

#include <pybind11/stl.h>

#include <atomic>
#include <cstring>

#include "executor/ort_abi/config_entries.h"
#include "executor/ort_abi/status.h"
#include "executor/ort_abi/table/functions.h"
#include "tools/python/module/arrays.h"
#include "tools/python/module/log_callback.h"
#include "tools/python/module/ort_value.h"
#include "tools/python/module/session_memory.h"

namespace sardonyx::python {

namespace {

std::atomic<int> default_severity{-1};
// Threads that sessions without threads of their own run on; -1: nobody said.
std::atomic<int> shared_threads{-1};

LogLevel log_level(int severity) {
  if (severity < 0) severity = default_severity;
  switch (severity) {
    case 0:
      return LogLevel::kDebug;
    case 1:
      return LogLevel::kInfo;
    case 2:
      return LogLevel::kWarning;
    case 3:
      return LogLevel::kError;
    case 4:
      return LogLevel::kOff;
    default:
      return log_level_from_environment();
  }
}

Precision precision_named(const std::string& name) {
  if (name == "float32") return Precision::kFloat32;
  if (name == "bfloat16") return Precision::kBFloat16;
  fail(ErrorCode::kInvalidArgument,
       "SessionOptions.precision: expected \"float32\" or \"bfloat16\", got \"", name, "\"");
}

const std::string& entry(const ConfigEntries& entries, const std::string& key, const char* of) {
  const auto found = entries.find(key);
  if (found == entries.end())
    fail(ErrorCode::kInvalidArgument, of, " does not have configuration with key: ", key);
  return found->second;
}

// An OrtValue or an array, copied.
Tensor initializer_of(const py::handle& value, const std::string& name) {
  if (py::isinstance<PyOrtValue>(value))
    return value.cast<const PyOrtValue&>().datum.tensor().clone();
  return tensor_from_array(value, name).clone();
}

// Whoever has the options, or a session that was made with them, keeps the library open.
void register_op_library(PySessionOptions& options, const std::string& path) {
  if (!options.op_libraries) options.op_libraries = std::make_shared<OrtSessionOptions>();
  OrtStatus* refused =
      ort_abi::Functions::RegisterCustomOpsLibrary_V2(options.op_libraries.get(), path.c_str());
  if (!refused) return;
  const ort_abi::Failure failure(refused->code, refused->message);
  ort_abi::Functions::ReleaseStatus(refused);
  throw failure;
}

void add_files_in_memory(PySessionOptions& options, const std::vector<std::string>& names,
                         const std::vector<py::buffer>& files, const std::vector<size_t>& sizes) {
  constexpr const char* kName = "add_external_initializers_from_files_in_memory";
  if (names.size() != files.size() || names.size() != sizes.size())
    fail(ErrorCode::kInvalidArgument, kName, ": ", names.size(), " names for ", files.size(),
         " files and ", sizes.size(), " sizes");
  for (size_t i = 0; i < names.size(); ++i) {
    const py::buffer_info file = files[i].request();
    if (static_cast<size_t>(file.size * file.itemsize) < sizes[i])
      fail(ErrorCode::kInvalidArgument, kName, ": ", names[i], " has ", file.size * file.itemsize,
           " bytes, fewer than ", sizes[i]);
    Tensor copy = Tensor::allocate(DType::kUInt8, {static_cast<int64_t>(sizes[i])});
    if (sizes[i] > 0) std::memcpy(copy.raw(), file.ptr, sizes[i]);
    options.external_files[names[i]] = std::move(copy);
  }
}

void bind_enums(py::module_& module) {
  py::enum_<GraphOptimizationLevel>(module, "GraphOptimizationLevel",
                                    "How far a graph is rewritten before it runs.")
      .value("ORT_DISABLE_ALL", GraphOptimizationLevel::kDisableAll)
      .value("ORT_ENABLE_BASIC", GraphOptimizationLevel::kBasic)
      .value("ORT_ENABLE_EXTENDED", GraphOptimizationLevel::kExtended)
      .value("ORT_ENABLE_LAYOUT", GraphOptimizationLevel::kLayout)
      .value("ORT_ENABLE_ALL", GraphOptimizationLevel::kAll);
  py::enum_<ExecutionMode>(module, "ExecutionMode",
                           "Kept and read back; runs are the same in both.")
      .value("ORT_SEQUENTIAL", ExecutionMode::kSequential)
      .value("ORT_PARALLEL", ExecutionMode::kParallel);
  py::enum_<ExecutionOrder>(module, "ExecutionOrder",
                            "Kept and read back; runs are the same in all.")
      .value("DEFAULT", ExecutionOrder::kDefault)
      .value("PRIORITY_BASED", ExecutionOrder::kPriorityBased)
      .value("MEMORY_EFFICIENT", ExecutionOrder::kMemoryEfficient);
}

// What changes the model that is loaded.
void bind_model_options(py::class_<PySessionOptions>& options) {
  using Options = PySessionOptions;
  options
      .def("register_custom_ops_library", &register_op_library, py::arg("library_path"),
           "Adds the operators of a shared library that was written for ONNX Runtime.")
      .def("add_external_initializers_from_files_in_memory", &add_files_in_memory,
           py::arg("file_names"), py::arg("file_contents"), py::arg("file_sizes"),
           "Takes the bytes in place of files that initializers refer to.")
      .def(
          "add_free_dimension_override_by_name",
          [](Options& self, const std::string& name, int64_t size) {
            self.fixed_dims.by_name[name] = size;
          },
          py::arg("dim_name"), py::arg("dim_value"), "Of inputs' dimensions that have the name.")
      .def(
          "add_free_dimension_override_by_denotation",
          [](Options& self, const std::string& denotation, int64_t size) {
            self.fixed_dims.by_denotation[denotation] = size;
          },
          py::arg("dim_denotation"), py::arg("dim_value"),
          "Of inputs' dimensions that have the denotation.");
}

void bind_session_options(py::module_& module) {
  using Options = PySessionOptions;
  py::class_<Options> options(module, "SessionOptions", "What an InferenceSession is made with.");
  bind_model_options(options);
  options.def(py::init<>())
      .def(py::init<const Options&>())
      .def_readwrite("intra_op_num_threads", &Options::intra_op_num_threads)
      .def_readwrite("inter_op_num_threads", &Options::inter_op_num_threads)
      .def_readwrite("graph_optimization_level", &Options::graph_optimization_level)
      .def_readwrite("execution_mode", &Options::execution_mode)
      .def_readwrite("execution_order", &Options::execution_order)
      .def_readwrite("enable_profiling", &Options::enable_profiling)
      .def_readwrite("profile_file_prefix", &Options::profile_file_prefix)
      .def_readwrite("optimized_model_filepath", &Options::optimized_model_filepath)
      .def_readwrite("log_severity_level", &Options::log_severity_level)
      .def_readwrite("log_verbosity_level", &Options::log_verbosity_level)
      .def_readwrite("logid", &Options::logid)
      .def_readwrite("enable_mem_pattern", &Options::enable_mem_pattern)
      .def_readwrite("enable_cpu_mem_arena", &Options::enable_cpu_mem_arena)
      .def_readwrite("enable_mem_reuse", &Options::enable_mem_reuse)
      .def_readwrite("use_deterministic_compute", &Options::use_deterministic_compute)
      .def_readwrite("use_per_session_threads", &Options::use_per_session_threads)
      .def_readwrite("memory_limit", &Options::memory_limit,
                     "Bytes that weights, plans and runs may take in all.")
      .def_readwrite("precision", &Options::precision, "\"float32\" or \"bfloat16\".")
      .def_readwrite("plan_cache", &Options::plan_cache,
                     "File that keeps packed weights for the next session of the model.")
      .def_readwrite("strict", &Options::strict, "Refuse files that deviate from ONNX.")
      .def(
          "add_session_config_entry",
          [](Options& self, const std::string& key, const std::string& value) {
            ort_abi::check_config_entry(key, value);
            self.config[key] = value;
          },
          py::arg("key"), py::arg("value"))
      .def(
          "get_session_config_entry",
          [](const Options& self, const std::string& key) {
            return entry(self.config, key, "SessionOptions");
          },
          py::arg("key"))
      .def(
          "add_initializer",
          [](Options& self, const std::string& name, const py::object& value) {
            if (self.initializers.contains(name))
              fail(ErrorCode::kInvalidArgument,
                   "An OrtValue for this name has already been added: ", name);
            self.initializers[name] = initializer_of(value, name);
          },
          py::arg("name"), py::arg("ort_value"),
          "Takes the value in place of the initializer that has the name.")
      .def(
          "add_external_initializers",
          [](Options& self, const std::vector<std::string>& names, const py::sequence& values) {
            if (names.size() != values.size())
              fail(ErrorCode::kInvalidArgument, "add_external_initializers: ", names.size(),
                   " names for ", values.size(), " values");
            for (size_t i = 0; i < names.size(); ++i)
              self.initializers[names[i]] = initializer_of(values[i], names[i]);
          },
          py::arg("names"), py::arg("ort_values"));
}

void bind_run_options(py::module_& module) {
  using Options = PyRunOptions;
  py::class_<Options, std::shared_ptr<Options>>(module, "RunOptions", "What a run is given.")
      .def(py::init<>())
      .def_readwrite("log_severity_level", &Options::log_severity_level)
      .def_readwrite("log_verbosity_level", &Options::log_verbosity_level)
      .def_readwrite("logid", &Options::logid)
      .def_readwrite("only_execute_path_to_fetches", &Options::only_execute_path_to_fetches)
      .def_readwrite("deadline", &Options::deadline,
                     "Seconds from the start of a run after which it ends with Fail; 0: none.")
      .def_property("terminate", &Options::terminate, &Options::set_terminate,
                    "True ends every run that uses the object, from any thread.")
      .def(
          "add_run_config_entry",
          [](Options& self, const std::string& key, const std::string& value) {
            ort_abi::check_config_entry(key, value);
            self.config[key] = value;
          },
          py::arg("key"), py::arg("value"))
      .def(
          "get_run_config_entry",
          [](const Options& self, const std::string& key) {
            return entry(self.config, key, "RunOptions");
          },
          py::arg("key"))
      .def(
          "add_active_adapter",
          [](Options& self, std::shared_ptr<OrtLoraAdapter> adapter) {
            self.adapters.push_back(std::move(adapter));
          },
          py::arg("adapter"), "Its weights are what runs take for inputs that they are not given.");
}

}  // namespace

SessionOptions PySessionOptions::made() const {
  SessionOptions options;
  if (intra_op_num_threads < 0 || intra_op_num_threads > kMaxThreads)
    fail(ErrorCode::kInvalidArgument, "SessionOptions.intra_op_num_threads: expected 0 to ",
         kMaxThreads, ", got ", intra_op_num_threads);
  const bool are_shared = !use_per_session_threads && shared_threads >= 0;
  options.intra_op_threads = are_shared ? shared_threads.load() : intra_op_num_threads;
  options.optimization_level = std::min(static_cast<int>(graph_optimization_level), 2);
  options.precision = precision_named(precision);
  options.memory_limit = memory_limit;
  options.plan_cache = plan_cache;
  options.load.strict = strict;
  options.load.initializers = initializers;
  options.load.external_files = external_files;
  options.log_level = log_level(log_severity_level);
  options.log = callback_sink(logid);
  const auto shares_memory = config.find("session.use_env_allocators");
  if (shares_memory != config.end() && shares_memory->second == "1")
    options.memory_source = registered_memory();
  return options;
}

bool PyRunOptions::terminate() const {
  const std::lock_guard lock(mutex_);
  return stop_.stop_requested();
}

void PyRunOptions::set_terminate(bool terminate) {
  const std::lock_guard lock(mutex_);
  if (terminate)
    stop_.request_stop();
  else if (stop_.stop_requested())
    stop_ = std::stop_source();
}

RunOptions PyRunOptions::made() const {
  if (!(deadline >= 0 && deadline < 1e9))
    fail(ErrorCode::kInvalidArgument, "RunOptions.deadline: expected seconds of at least 0, got ",
         deadline);
  RunOptions options;
  const std::lock_guard lock(mutex_);
  options.cancel = stop_.get_token();
  if (deadline > 0)
    options.deadline =
        std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(deadline));
  return options;
}

void set_default_severity(int severity) {
  if (severity < 0 || severity > 4)
    fail(ErrorCode::kInvalidArgument,
         "Invalid logging severity: expected 0 (verbose) to 4 (fatal), got ", severity);
  default_severity = severity;
}

// All sessions run on the threads of the process; how many of them these use is what they share.
void set_shared_threads(int intra_op, int inter_op) {
  for (const int count : {intra_op, inter_op}) {
    if (count < 0 || count > kMaxThreads)
      fail(ErrorCode::kInvalidArgument, "set_global_thread_pool_sizes: expected 0 to ", kMaxThreads,
           ", got ", count);
  }
  shared_threads = intra_op;
}

void bind_options(py::module_& module) {
  bind_enums(module);
  bind_session_options(module);
  bind_run_options(module);
  module.def("set_default_logger_severity", &set_default_severity, py::arg("severity"),
             "0 verbose, 1 info, 2 warning, 3 error, 4 fatal; for sessions that set none.");
  module.def("set_global_thread_pool_sizes", &set_shared_threads, py::arg("intra_op_num_threads"),
             py::arg("inter_op_num_threads"),
             "Of later sessions whose use_per_session_threads is False; 0: as many as the machine "
             "leaves the process.");
  module.def(
      "set_default_logger_callback",
      [](const py::object& callback, int severity) {
        set_default_severity(severity);
        set_log_callback(callback);
      },
      py::arg("callback"), py::arg("severity") = 2,
      "callback(severity, category, logid, code_location, message) is told what sessions that are "
      "made from now on log, in any thread; None: stderr is again.");
}

}  // namespace sardonyx::python
