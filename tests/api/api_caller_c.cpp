// Callers in C, by bindings.
#include "tests/api/api_caller.h"

namespace sardonyx::api_test {
namespace {

std::optional<ErrorCode> code_of(sx_status status) {
  switch (status) {
    case SX_OK:
      return std::nullopt;
    case SX_INVALID_ARGUMENT:
      return ErrorCode::kInvalidArgument;
    case SX_INVALID_MODEL:
      return ErrorCode::kInvalidModel;
    case SX_UNSUPPORTED:
      return ErrorCode::kUnsupported;
    case SX_RESOURCE_EXHAUSTED:
      return ErrorCode::kResourceExhausted;
    case SX_CANCELLED:
      return ErrorCode::kCancelled;
    case SX_DEADLINE_EXCEEDED:
      return ErrorCode::kDeadlineExceeded;
    default:
      return ErrorCode::kInternal;
  }
}

void require(sx_status status) {
  if (const auto code = code_of(status)) throw Error(*code, sx_last_error());
}

class CCaller : public ApiCaller {
 public:
  explicit CCaller(sx_session* session) { require(sx_binding_create(session, &binding_)); }
  ~CCaller() override { sx_binding_destroy(binding_); }
  CCaller(const CCaller&) = delete;
  CCaller& operator=(const CCaller&) = delete;

  std::string_view name() const override { return "C"; }
  bool passes_all_kinds() const override { return false; }

  void set_input(size_t index, const Datum& datum) override {
    const Tensor& tensor = datum.tensor();
    if (tensor.dtype() != DType::kString) {
      return require(sx_binding_set_input(binding_, index, dtype(tensor), tensor.shape().data(),
                                          tensor.rank(), tensor.raw(), tensor.bytes()));
    }
    std::vector<const char*> strings;
    std::vector<size_t> lengths;
    for (const std::string& element : tensor.values<std::string>()) {
      strings.push_back(element.data());
      lengths.push_back(element.size());
    }
    require(sx_binding_set_string_input(binding_, index, tensor.shape().data(), tensor.rank(),
                                        strings.data(), lengths.data()));
  }
  void bind_output(size_t index, const Tensor& memory) override {
    require(sx_binding_set_output(binding_, index, dtype(memory), memory.shape().data(),
                                  memory.rank(), memory.raw(), memory.bytes()));
  }
  void clear_output(size_t index) override { require(sx_binding_clear_output(binding_, index)); }

  std::optional<ErrorCode> run(const HowToRun& how) override {
    sx_run_options options;
    require(sx_run_options_init(&options, sizeof options));
    sx_cancellation* cancellation = nullptr;
    require(sx_cancellation_create(&cancellation));
    options.cancellation = cancellation;
    if (how.is_cancelled) sx_cancellation_request(cancellation);
    if (how.has_no_time) options.deadline_ms = 1;
    const sx_status status = sx_binding_run(binding_, &options);
    sx_cancellation_destroy(cancellation);
    return code_of(status);
  }

  Datum output(size_t index) const override {
    sx_tensor tensor{};
    tensor.struct_size = sizeof tensor;
    const sx_status status = sx_binding_output(binding_, index, &tensor);
    if (status == SX_UNSUPPORTED) return {};
    require(status);
    const Shape shape(tensor.dims, tensor.dims + tensor.rank);
    const auto dtype = static_cast<DType>(tensor.dtype);
    if (dtype == DType::kString) return strings(index, shape);
    return Tensor(dtype, shape,
                  Buffer::borrow(const_cast<void*>(tensor.data), tensor.size, nullptr));
  }
  Datum kept_output(size_t) const override { return {}; }

 private:
  static sx_dtype dtype(const Tensor& tensor) { return static_cast<sx_dtype>(tensor.dtype()); }

  Tensor strings(size_t index, const Shape& shape) const {
    Tensor made = Tensor::allocate(DType::kString, shape);
    size_t element = 0;
    for (std::string& to : made.mutable_values<std::string>()) {
      const char* string = nullptr;
      size_t length = 0;
      require(sx_binding_output_string(binding_, index, element++, &string, &length));
      to.assign(string, length);
    }
    return made;
  }

  sx_binding* binding_ = nullptr;
};

class CSession : public ApiSession {
 public:
  CSession(const std::string& bytes, const SessionOptions& given) {
    sx_session_options options;
    require(sx_session_options_init(&options, sizeof options));
    options.threads = given.intra_op_threads;
    options.optimization_level =
        given.optimization_level == 0 ? SX_OPTIMIZATION_NONE : given.optimization_level;
    options.memory_limit = given.memory_limit;
    options.max_plans = given.max_plans;
    require(sx_session_create_from_bytes(bytes.data(), bytes.size(), &options, &session_));
  }
  ~CSession() override { sx_session_destroy(session_); }
  CSession(const CSession&) = delete;
  CSession& operator=(const CSession&) = delete;
  std::unique_ptr<ApiCaller> caller() override { return std::make_unique<CCaller>(session_); }
  size_t output_count() const override { return sx_session_output_count(session_); }
  void trim() override { require(sx_session_trim(session_)); }

 private:
  sx_session* session_ = nullptr;
};

}  // namespace

std::unique_ptr<ApiSession> c_session(const std::string& bytes, const SessionOptions& options) {
  return std::make_unique<CSession>(bytes, options);
}

}  // namespace sardonyx::api_test
