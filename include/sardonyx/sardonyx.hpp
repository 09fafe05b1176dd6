// Runs ONNX models: the C interface (sardonyx.h) for C++17, in headers alone. It needs the shared
// library and nothing else, works without RTTI, and keeps to the stable ABI of the C interface.
//
//   sx::Session session("model.onnx");
//   const auto image = sx::Value::tensor<float>({1, 3, 224, 224}, pixels);
//   const auto outputs = session.run({{"image", image}});
//   const sx::Span<const float> scores = outputs[0].data<float>();
//
// Whatever fails throws sx::Error. Sessions, values and cancellations may be used by many threads
// at once; bindings and profiles by one at a time. Objects own what they stand for and are movable;
// an object that was moved from may only be assigned to or destroyed.
#ifndef SARDONYX_SARDONYX_HPP_
#define SARDONYX_SARDONYX_HPP_

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <future>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "sardonyx/sardonyx.h"

namespace sx {

// Sizes by axis, outermost first; {} is a scalar.
using Shape = std::vector<std::int64_t>;

// What every failed call throws. what() names the op, node or argument, what was expected and what
// came.
class Error : public std::runtime_error {
 public:
  Error(sx_status status, const std::string& message, std::string node)
      : std::runtime_error(message), status_(status), node_(std::move(node)) {}
  // Why: SX_INVALID_ARGUMENT, SX_INVALID_MODEL, SX_CANCELLED ...
  sx_status status() const { return status_; }
  // The name of the node it concerns; "" where there is none.
  const std::string& node() const { return node_; }

 private:
  sx_status status_;
  std::string node_;
};

namespace detail {

// Throws what the call that gave `status` has to say in this thread.
inline void check(sx_status status) {
  if (status != SX_OK) throw Error(status, sx_last_error(), sx_last_error_node());
}

[[noreturn]] inline void refuse(const std::string& message) {
  throw Error(SX_INVALID_ARGUMENT, message, "");
}

// A handle of the C interface, destroyed by `Destroy`.
template <typename T, void (*Destroy)(T*)>
struct Deleter {
  void operator()(T* handle) const { Destroy(handle); }
};
template <typename T, void (*Destroy)(T*)>
using Handle = std::unique_ptr<T, Deleter<T, Destroy>>;

template <typename T>
T sized() {
  T made{};
  made.struct_size = sizeof(T);
  return made;
}

template <typename T>
struct always_false : std::false_type {};

}  // namespace detail

// The sx_dtype of a C++ type. Specialise it for types of your own that have the same bits, such as
// a half-precision float.
template <typename T>
struct DType {
  static_assert(detail::always_false<T>::value, "no element type of ONNX; specialise sx::DType");
};
#define SX_DTYPE_(type, number)               \
  template <>                                 \
  struct DType<type> {                        \
    static constexpr sx_dtype value = number; \
  }
SX_DTYPE_(float, SX_FLOAT);
SX_DTYPE_(double, SX_DOUBLE);
SX_DTYPE_(bool, SX_BOOL);
SX_DTYPE_(std::int8_t, SX_INT8);
SX_DTYPE_(std::int16_t, SX_INT16);
SX_DTYPE_(std::int32_t, SX_INT32);
SX_DTYPE_(std::int64_t, SX_INT64);
SX_DTYPE_(std::uint8_t, SX_UINT8);
SX_DTYPE_(std::uint16_t, SX_UINT16);
SX_DTYPE_(std::uint32_t, SX_UINT32);
SX_DTYPE_(std::uint64_t, SX_UINT64);
#undef SX_DTYPE_

// Elements that somebody else owns.
template <typename T>
class Span {
 public:
  // No elements.
  Span() = default;
  Span(T* data, std::size_t size) : data_(data), size_(size) {}
  // Not checked: neither the pointer nor an index.
  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* begin() const { return data_; }
  T* end() const { return data_ + size_; }
  T& operator[](std::size_t index) const { return data_[index]; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// The product of the sizes; 1 for a scalar. Throws where a size is negative.
inline std::size_t element_count(const Shape& shape) {
  std::size_t count = 1;
  for (const std::int64_t dim : shape) {
    if (dim < 0) detail::refuse("shape: expected at least 0, got " + std::to_string(dim));
    count *= static_cast<std::size_t>(dim);
  }
  return count;
}

// A tensor that is looked at, not owned.
class TensorView {
 public:
  explicit TensorView(const sx_tensor& tensor) : tensor_(tensor) {}
  // The element type.
  sx_dtype dtype() const { return static_cast<sx_dtype>(tensor_.dtype); }
  // A copy of the sizes.
  Shape shape() const { return Shape(tensor_.dims, tensor_.dims + tensor_.rank); }
  // An output that is in the memory that was bound for it.
  bool written() const { return tensor_.written != 0; }
  // The first element, in row-major order; may be null where there are none.
  const void* raw() const { return tensor_.data; }
  // Of all elements.
  std::size_t bytes() const { return tensor_.size; }
  // Throws where the elements are of another type.
  template <typename T>
  Span<const T> data() const {
    if (tensor_.dtype != DType<T>::value) {
      detail::refuse("elements have dtype " + std::to_string(tensor_.dtype) + ", asked for as " +
                     std::to_string(DType<T>::value));
    }
    return {static_cast<const T*>(tensor_.data), tensor_.size / sizeof(T)};
  }

 private:
  sx_tensor tensor_;
};

// A tensor, sequence, map, optional or sparse tensor that never changes. Copies share it.
class Value {
 public:
  // Takes the handle over.
  explicit Value(sx_value* handle = nullptr) : handle_(handle) {}
  // Copies and assignments share the value; they cost a count of references, not a copy of
  // elements.
  Value(const Value& other) : handle_(other.shared()) {}
  Value(Value&&) noexcept = default;
  Value& operator=(const Value& other) {
    handle_.reset(other.shared());
    return *this;
  }
  Value& operator=(Value&&) noexcept = default;
  ~Value() = default;

  // Copies the elements, of which there must be as many as the shape says.
  template <typename T>
  static Value tensor(const Shape& shape, const T* data, std::size_t count) {
    sx_value* made = nullptr;
    detail::check(sx_value_create_tensor(DType<T>::value, shape.data(), shape.size(), data,
                                         count * sizeof(T), &made));
    return Value(made);
  }
  // The same of a vector or of a list: Value::tensor<float>({2}, {1, 2}).
  template <typename T>
  static Value tensor(const Shape& shape, const std::vector<T>& data) {
    static_assert(!std::is_same_v<T, bool>, "a std::vector<bool> is no array; use a pointer");
    return tensor<T>(shape, data.data(), data.size());
  }
  template <typename T>
  static Value tensor(const Shape& shape, std::initializer_list<T> data) {
    return tensor<T>(shape, data.begin(), data.size());
  }
  // A tensor of rank 0.
  template <typename T>
  static Value scalar(T element) {
    return tensor<T>({}, &element, 1);
  }
  // Refers to memory that must stay and not change as long as anything holds the value.
  template <typename T>
  static Value borrow(const Shape& shape, const T* data, std::size_t count) {
    sx_value* made = nullptr;
    detail::check(sx_value_borrow_tensor(DType<T>::value, shape.data(), shape.size(), data,
                                         count * sizeof(T), nullptr, nullptr, &made));
    return Value(made);
  }
  // Holds `data` as long as anything holds the value.
  template <typename T>
  static Value adopt(const Shape& shape, std::vector<T> data) {
    auto kept = std::make_unique<std::vector<T>>(std::move(data));
    sx_value* made = nullptr;
    detail::check(sx_value_borrow_tensor(
        DType<T>::value, shape.data(), shape.size(), kept->data(), kept->size() * sizeof(T),
        [](void* held) { delete static_cast<std::vector<T>*>(held); }, kept.get(), &made));
    kept.release();
    return Value(made);
  }
  // A tensor of strings; copies them. Throws where their number is not the shape's.
  static Value strings(const Shape& shape, const std::vector<std::string>& elements) {
    if (element_count(shape) != elements.size()) {
      detail::refuse("expected " + std::to_string(element_count(shape)) + " strings, got " +
                     std::to_string(elements.size()));
    }
    std::vector<const char*> begins;
    std::vector<std::size_t> lengths;
    for (const std::string& element : elements) {
      begins.push_back(element.data());
      lengths.push_back(element.size());
    }
    sx_value* made = nullptr;
    detail::check(
        sx_value_create_strings(shape.data(), shape.size(), begins.data(), lengths.data(), &made));
    return Value(made);
  }
  // `element_type` ("float", "map(string, float)") is needed where there are no items.
  static Value sequence(const std::vector<Value>& items, const char* element_type = nullptr) {
    std::vector<const sx_value*> handles;
    for (const Value& item : items)
      handles.push_back(item.get());
    sx_value* made = nullptr;
    detail::check(sx_value_create_sequence(handles.data(), handles.size(), element_type, &made));
    return Value(made);
  }
  // An optional that holds `content`, or one that is empty: `element_type` is what it would hold.
  static Value optional(const Value& content) { return optional_of(content.get(), nullptr); }
  // "float", "seq(int64)" ...: what it would hold.
  static Value empty_optional(const char* element_type) {
    return optional_of(nullptr, element_type);
  }
  // A map of a tensor of keys (int64 or string, all different) to one of values, of one length.
  static Value map(const Value& keys, const Value& values) {
    sx_value* made = nullptr;
    detail::check(sx_value_create_map(keys.get(), values.get(), &made));
    return Value(made);
  }
  // A sparse tensor of `shape`: its stored values [n] and their int64 places [n] or [n, rank].
  static Value sparse(const Value& values, const Value& indices, const Shape& shape) {
    sx_value* made = nullptr;
    detail::check(
        sx_value_create_sparse(values.get(), indices.get(), shape.data(), shape.size(), &made));
    return Value(made);
  }

  // False for a default-constructed Value.
  explicit operator bool() const { return handle_ != nullptr; }
  // The handle for calls of the C interface, valid as long as this object.
  const sx_value* get() const { return handle_.get(); }
  // Tensor, sequence, map, optional or sparse tensor.
  sx_kind kind() const { return static_cast<sx_kind>(sx_value_kind(get())); }
  // "float[2, 3]"
  std::string type() const { return sx_value_type(get()); }
  // Elements, items, entries or stored elements; of an optional 1 or 0.
  std::size_t size() const { return sx_value_count(get()); }

  // Of a tensor; valid as long as the value.
  TensorView view() const {
    auto tensor = detail::sized<sx_tensor>();
    detail::check(sx_value_tensor(get(), &tensor));
    return TensorView(tensor);
  }
  // Of a tensor; others throw. data<T>() throws for elements of another type, too, and is valid as
  // long as the value.
  sx_dtype dtype() const { return view().dtype(); }
  Shape shape() const { return view().shape(); }
  template <typename T>
  Span<const T> data() const {
    return view().data<T>();
  }
  // Copies of a string tensor's elements.
  std::vector<std::string> strings() const {
    const std::size_t count = size();
    std::vector<const char*> begins(count);
    std::vector<std::size_t> lengths(count);
    detail::check(sx_value_strings(get(), begins.data(), lengths.data(), count));
    std::vector<std::string> elements;
    for (std::size_t i = 0; i < count; ++i)
      elements.emplace_back(begins[i], lengths[i]);
    return elements;
  }
  // Of a sequence, or what an optional holds (index 0).
  Value operator[](std::size_t index) const {
    sx_value* item = nullptr;
    detail::check(sx_value_item(get(), index, &item));
    return Value(item);
  }
  struct Map;
  // Keys and values of a map.
  Map map() const;
  struct Sparse;
  // Of a sparse tensor; others throw.
  Sparse sparse() const;

 private:
  static Value optional_of(const sx_value* content, const char* element_type) {
    sx_value* made = nullptr;
    detail::check(sx_value_create_optional(content, element_type, &made));
    return Value(made);
  }
  sx_value* shared() const {
    if (!handle_) return nullptr;
    sx_value* copy = nullptr;
    detail::check(sx_value_share(handle_.get(), &copy));
    return copy;
  }

  detail::Handle<sx_value, sx_value_destroy> handle_;
};

// Two tensors of one length: values[i] belongs to keys[i].
struct Value::Map {
  Value keys, values;
};

// Values [n], int64 indices [n] or [n, rank], and the shape of the whole.
struct Value::Sparse {
  Value values, indices;
  Shape shape;
};

inline Value::Map Value::map() const {
  sx_value* keys = nullptr;
  sx_value* values = nullptr;
  detail::check(sx_value_map(get(), &keys, &values));
  return {Value(keys), Value(values)};
}

inline Value::Sparse Value::sparse() const {
  sx_value* values = nullptr;
  sx_value* indices = nullptr;
  const std::int64_t* dims = nullptr;
  std::size_t rank = 0;
  detail::check(sx_value_sparse(get(), &values, &indices, &dims, &rank));
  return {Value(values), Value(indices), Shape(dims, dims + rank)};
}

// Ends the runs and loads that were given it; must outlive them.
class Cancellation {
 public:
  Cancellation() {
    sx_cancellation* made = nullptr;
    detail::check(sx_cancellation_create(&made));
    handle_.reset(made);
  }
  // From any thread; runs end with SX_CANCELLED within milliseconds.
  void request() { sx_cancellation_request(get()); }
  // What begins from now on is not cancelled.
  void reset() { detail::check(sx_cancellation_reset(get())); }
  // The handle for calls of the C interface, valid as long as this object.
  sx_cancellation* get() const { return handle_.get(); }

 private:
  detail::Handle<sx_cancellation, sx_cancellation_destroy> handle_;
};

// What the steps of runs took.
class Profile {
 public:
  Profile() {
    sx_profile* made = nullptr;
    detail::check(sx_profile_create(&made));
    handle_.reset(made);
  }
  // Forgets all steps.
  void clear() { sx_profile_clear(get()); }
  // Steps that were recorded.
  std::size_t size() const { return sx_profile_step_count(get()); }
  // Its texts live until the profile changes.
  sx_step operator[](std::size_t index) const {
    auto step = detail::sized<sx_step>();
    detail::check(sx_profile_step(get(), index, &step));
    return step;
  }
  // The handle for calls of the C interface, valid as long as this object.
  sx_profile* get() const { return handle_.get(); }

 private:
  detail::Handle<sx_profile, sx_profile_destroy> handle_;
};

// Receives one line at a time, without the line's end.
using Log = std::function<void(sx_log_level, const char* line)>;

// Fields of `c` that are zero ask for the default; what they point at must stay while a session is
// made. The other members set theirs.
struct SessionOptions {
  sx_session_options c = detail::sized<sx_session_options>();
  Log log;                                      // from any thread; must not throw
  std::map<std::string, Value> external_files;  // uint8[size] by location
  std::map<std::string, Value> initializers;    // by name
  const Cancellation* cancellation = nullptr;   // of the load
};

// Of one run; what it points at must stay until the run has ended.
struct RunOptions {
  std::int64_t deadline_ms = 0;  // 0: none
  const Cancellation* cancellation = nullptr;
  Profile* profile = nullptr;
  // A bound output whose type or shape is not the result's is an error rather than left unwritten.
  bool strict_outputs = false;

  // As the C interface takes them.
  sx_run_options c() const {
    auto options = detail::sized<sx_run_options>();
    options.deadline_ms = deadline_ms;
    options.cancellation = cancellation ? cancellation->get() : nullptr;
    options.profile = profile ? profile->get() : nullptr;
    options.strict_outputs = strict_outputs ? 1 : 0;
    return options;
  }
};

// An input or output of a model.
struct ValueInfo {
  std::string name, type;
  sx_kind kind = SX_OTHER;
  sx_dtype dtype = SX_UNDEFINED;
  bool is_optional = false;            // an input that has a default
  std::optional<Shape> shape;          // -1: decided by each run; none: the rank is not known
  std::vector<std::string> dim_names;  // "" for known dims
};

// What the file says of itself; opset versions by domain, "" for ai.onnx.
struct Metadata {
  std::string producer_name, producer_version, domain, description;
  std::string graph_name, graph_description;
  std::int64_t model_version = 0, ir_version = 0;
  std::map<std::string, std::int64_t> opsets;
  std::map<std::string, std::string> custom;
};

class Binding;

// A loaded model. Copies share it; all const members may be called from many threads at once.
class Session {
 public:
  // Loads the file at `path`. Throws where it cannot be read, is no valid model, or uses what is
  // not supported; the message lists all such nodes.
  explicit Session(const std::string& path, const SessionOptions& options = {}) {
    create(options, [&](const sx_session_options* c, sx_session** made) {
      return sx_session_create(path.c_str(), c, made);
    });
  }
  // From the bytes of a file, which are not needed afterwards.
  Session(const void* bytes, std::size_t size, const SessionOptions& options = {}) {
    create(options, [&](const sx_session_options* c, sx_session** made) {
      return sx_session_create_from_bytes(bytes, size, c, made);
    });
  }

  sx_session* get() const { return handle_.get(); }
  // Inputs that a run must be given come first, then those that have a default.
  std::vector<ValueInfo> inputs() const {
    return infos(sx_session_input_count(get()), sx_session_input);
  }
  // In the order in which run() gives them.
  std::vector<ValueInfo> outputs() const {
    return infos(sx_session_output_count(get()), sx_session_output);
  }
  // The place among inputs(); throws where there is no such input.
  std::size_t input_index(const std::string& name) const {
    std::size_t index = 0;
    detail::check(sx_session_find_input(get(), name.c_str(), &index));
    return index;
  }
  // The place among outputs(); throws where there is no such output.
  std::size_t output_index(const std::string& name) const {
    std::size_t index = 0;
    detail::check(sx_session_find_output(get(), name.c_str(), &index));
    return index;
  }
  // Copies what the file says of itself.
  Metadata metadata() const;
  // Plans, runs and bytes, now.
  sx_stats stats() const {
    auto stats = detail::sized<sx_stats>();
    detail::check(sx_session_stats(get(), &stats));
    return stats;
  }
  // Gives memory back that only later runs would use: arenas and cached plans.
  void trim() { detail::check(sx_session_trim(get())); }

  // Makes ready what runs with inputs of these shapes need; see sx_session_prepare.
  void prepare(const std::vector<std::optional<Shape>>& shapes, const RunOptions& options = {});
  // All outputs, in the order of outputs().
  std::vector<Value> run(const std::map<std::string, Value>& inputs,
                         const RunOptions& options = {}) const;
  // Any values of the model by name, and nothing that these do not need.
  std::vector<Value> fetch(const std::map<std::string, Value>& inputs,
                           const std::vector<std::string>& names,
                           const RunOptions& options = {}) const;

 private:
  template <typename Create>
  void create(const SessionOptions& options, const Create& make);
  template <typename Ask>
  std::vector<ValueInfo> infos(std::size_t count, Ask ask) const;

  std::shared_ptr<sx_session> handle_;  // with the log that the session calls
};

// The inputs and outputs of runs: set once, used any number of times, by one thread at a time.
class Binding {
 public:
  // For runs of this session, of which it keeps a copy.
  explicit Binding(const Session& session) : session_(session) {
    sx_binding* made = nullptr;
    detail::check(sx_binding_create(session.get(), &made));
    handle_.reset(made);
  }
  Binding(Binding&&) noexcept = default;
  // Waits for an asynchronous run of what this was.
  Binding& operator=(Binding&& other) noexcept {
    handle_ = std::move(other.handle_);  // first: a run may call the log that the session holds
    session_ = std::move(other.session_);
    return *this;
  }
  ~Binding() = default;
  sx_binding* get() const { return handle_.get(); }

  // Memory of the caller's, which must stay until another is bound.
  template <typename T>
  void set_input(std::size_t index, const Shape& shape, const T* data) {
    detail::check(sx_binding_set_input(get(), index, DType<T>::value, shape.data(), shape.size(),
                                       data, element_count(shape) * sizeof(T)));
  }
  // The value is held until another is bound.
  void set_input(std::size_t index, const Value& value) {
    detail::check(sx_binding_set_input_value(get(), index, value.get()));
  }
  void set_input(const std::string& name, const Value& value) {
    set_input(session_.input_index(name), value);
  }
  // Takes the input's default from now on; an input without one must be bound again.
  void clear_input(std::size_t index) { detail::check(sx_binding_clear_input(get(), index)); }
  // Runs write the output there if it comes with this type and shape; see RunOptions.
  template <typename T>
  void set_output(std::size_t index, const Shape& shape, T* data) {
    detail::check(sx_binding_set_output(get(), index, DType<T>::value, shape.data(), shape.size(),
                                        data, element_count(shape) * sizeof(T)));
  }
  // Later runs allocate this output themselves.
  void clear_output(std::size_t index) { detail::check(sx_binding_clear_output(get(), index)); }
  // Later runs compute these alone; none: all.
  void choose_outputs(const std::vector<std::size_t>& indices) {
    detail::check(sx_binding_choose_outputs(get(), indices.data(), indices.size()));
  }

  // Runs in this thread. Throws without having changed outputs that were bound, or with part of
  // them written where the run was cancelled.
  void run(const RunOptions& options = {}) {
    const sx_run_options c = options.c();
    detail::check(sx_binding_run(get(), &c));
  }
  // Runs in another thread. Until the future is ready the binding is left alone, and what is bound
  // or named in `options` stays.
  std::future<void> run_async(const RunOptions& options = {});
  // Waits for an asynchronous run; throws as it did.
  void wait() { detail::check(sx_binding_wait(get())); }
  // Makes the plan for the shapes that are bound, so that the first run is as fast as the next.
  void prepare(const RunOptions& options = {}) {
    const sx_run_options c = options.c();
    detail::check(sx_binding_prepare(get(), &c));
  }

  // A tensor output of the last run, valid until the next run or change.
  TensorView view(std::size_t index) const {
    auto tensor = detail::sized<sx_tensor>();
    detail::check(sx_binding_output(get(), index, &tensor));
    return TensorView(tensor);
  }
  // An output of the last run that later runs do not change.
  Value output(std::size_t index) const {
    sx_value* value = nullptr;
    detail::check(sx_binding_output_value(get(), index, &value));
    return Value(value);
  }
  // As Session::fetch, with the inputs that are bound.
  std::vector<Value> fetch(const std::vector<std::string>& names,
                           const RunOptions& options = {}) const;

 private:
  Session session_;  // a copy stands for the same
  detail::Handle<sx_binding, sx_binding_destroy> handle_;
};

template <typename Create>
void Session::create(const SessionOptions& options, const Create& make) {
  sx_session_options c = options.c;
  std::shared_ptr<Log> log;
  if (options.log) {
    log = std::make_shared<Log>(options.log);
    c.log = [](void* user, std::int32_t level, const char* line) {
      (*static_cast<const Log*>(user))(static_cast<sx_log_level>(level), line);
    };
    c.log_user = log.get();
  }
  if (options.cancellation) c.cancellation = options.cancellation->get();
  std::vector<sx_named_value> files, initializers;
  for (const auto& [name, value] : options.external_files)
    files.push_back({name.c_str(), value.get()});
  for (const auto& [name, value] : options.initializers)
    initializers.push_back({name.c_str(), value.get()});
  if (!files.empty()) c.external_files = files.data();
  if (!files.empty()) c.external_file_count = files.size();
  if (!initializers.empty()) c.initializers = initializers.data();
  if (!initializers.empty()) c.initializer_count = initializers.size();
  sx_session* made = nullptr;
  detail::check(make(&c, &made));
  handle_.reset(made, [log](sx_session* session) { sx_session_destroy(session); });
}

template <typename Ask>
std::vector<ValueInfo> Session::infos(std::size_t count, Ask ask) const {
  std::vector<ValueInfo> all;
  for (std::size_t i = 0; i < count; ++i) {
    auto info = detail::sized<sx_value_info>();
    detail::check(ask(get(), i, &info));
    ValueInfo made;
    made.name = info.name;
    made.type = info.type;
    made.kind = static_cast<sx_kind>(info.kind);
    made.dtype = static_cast<sx_dtype>(info.dtype);
    made.is_optional = info.is_optional != 0;
    if (info.rank >= 0) made.shape.emplace(info.dims, info.dims + info.rank);
    for (std::int32_t axis = 0; axis < info.rank; ++axis)
      made.dim_names.emplace_back(info.dim_names[axis] ? info.dim_names[axis] : "");
    all.push_back(std::move(made));
  }
  return all;
}

inline Metadata Session::metadata() const {
  auto info = detail::sized<sx_model_info>();
  detail::check(sx_session_model_info(get(), &info));
  Metadata made;
  made.producer_name = info.producer_name;
  made.producer_version = info.producer_version;
  made.domain = info.domain;
  made.description = info.description;
  made.graph_name = info.graph_name;
  made.graph_description = info.graph_description;
  made.model_version = info.model_version;
  made.ir_version = info.ir_version;
  for (std::size_t i = 0; i < info.opset_count; ++i) {
    const char* domain = nullptr;
    std::int64_t version = 0;
    detail::check(sx_session_opset(get(), i, &domain, &version));
    made.opsets[domain] = version;
  }
  for (std::size_t i = 0; i < info.metadata_count; ++i) {
    const char* key = nullptr;
    const char* value = nullptr;
    detail::check(sx_session_metadata(get(), i, &key, &value));
    made.custom[key] = value;
  }
  return made;
}

inline void Session::prepare(const std::vector<std::optional<Shape>>& shapes,
                             const RunOptions& options) {
  static const std::int64_t kNoDims = 0;  // of a scalar, whose dims are given all the same
  std::vector<const std::int64_t*> dims;
  std::vector<std::size_t> ranks;
  for (const std::optional<Shape>& shape : shapes) {
    const std::int64_t* given = shape && shape->empty() ? &kNoDims : nullptr;
    dims.push_back(shape && !shape->empty() ? shape->data() : given);
    ranks.push_back(shape ? shape->size() : 0);
  }
  const sx_run_options c = options.c();
  detail::check(sx_session_prepare(get(), dims.data(), ranks.data(), dims.size(), &c));
}

inline std::vector<Value> Session::run(const std::map<std::string, Value>& inputs,
                                       const RunOptions& options) const {
  Binding binding(*this);
  for (const auto& [name, value] : inputs)
    binding.set_input(name, value);
  binding.run(options);
  std::vector<Value> outputs;
  for (std::size_t i = 0; i < sx_session_output_count(get()); ++i)
    outputs.push_back(binding.output(i));
  return outputs;
}

inline std::vector<Value> Session::fetch(const std::map<std::string, Value>& inputs,
                                         const std::vector<std::string>& names,
                                         const RunOptions& options) const {
  Binding binding(*this);
  for (const auto& [name, value] : inputs)
    binding.set_input(name, value);
  return binding.fetch(names, options);
}

inline std::vector<Value> Binding::fetch(const std::vector<std::string>& names,
                                         const RunOptions& options) const {
  std::vector<const char*> asked;
  for (const std::string& name : names)
    asked.push_back(name.c_str());
  std::vector<sx_value*> found(names.size());
  const sx_run_options c = options.c();
  detail::check(sx_binding_fetch(get(), asked.data(), asked.size(), &c, found.data()));
  std::vector<Value> values;
  values.reserve(found.size());
  for (sx_value* value : found)
    values.emplace_back(value);
  return values;
}

inline std::future<void> Binding::run_async(const RunOptions& options) {
  auto promise = std::make_unique<std::promise<void>>();
  std::future<void> future = promise->get_future();
  const sx_run_options c = options.c();
  const sx_run_callback tell = [](void* user, const sx_error* error) {
    const std::unique_ptr<std::promise<void>> told(static_cast<std::promise<void>*>(user));
    if (error->status == SX_OK) return told->set_value();
    told->set_exception(std::make_exception_ptr(
        Error(static_cast<sx_status>(error->status), error->message, error->node)));
  };
  detail::check(sx_binding_run_async(get(), &c, tell, promise.get()));
  promise.release();  // the callback has it
  return future;
}

}  // namespace sx

#endif  // SARDONYX_SARDONYX_HPP_
