// Callers in C++.
#include "tests/api/api_caller.h"

namespace sardonyx::api_test {
namespace {

class CppCaller : public ApiCaller {
 public:
  explicit CppCaller(const Session& session)
      : session_(session), inputs_(session.inputs().size()), outputs_(session.outputs().size()) {}

  std::string_view name() const override { return "C++"; }
  bool passes_all_kinds() const override { return true; }
  void set_input(size_t index, const Datum& datum) override { inputs_[index] = datum; }
  void bind_output(size_t index, const Tensor& memory) override {
    outputs_[index] = OutputSlot::bound(memory);
  }
  void clear_output(size_t index) override { outputs_[index] = OutputSlot(); }

  std::optional<ErrorCode> run(const HowToRun& how) override {
    std::stop_source stop;
    RunOptions options;
    options.cancel = stop.get_token();
    if (how.is_cancelled) stop.request_stop();
    if (how.has_no_time) options.deadline = std::chrono::milliseconds(0);
    try {
      session_.run_into(inputs_, outputs_, options);
      return std::nullopt;
    } catch (const Error& error) {
      return error.code();
    }
  }

  Datum output(size_t index) const override { return outputs_[index].value(); }
  Datum kept_output(size_t index) const override { return outputs_[index].value(); }

 private:
  const Session& session_;
  std::vector<Datum> inputs_;
  std::vector<OutputSlot> outputs_;
};

class CppSession : public ApiSession {
 public:
  CppSession(const std::string& bytes, const SessionOptions& options)
      : session_(std::as_bytes(std::span(bytes)), options) {}
  std::unique_ptr<ApiCaller> caller() override { return std::make_unique<CppCaller>(session_); }
  size_t output_count() const override { return session_.outputs().size(); }
  void trim() override { session_.trim(); }

 private:
  Session session_;
};

}  // namespace

std::unique_ptr<ApiSession> cpp_session(const std::string& bytes, const SessionOptions& options) {
  return std::make_unique<CppSession>(bytes, options);
}

}  // namespace sardonyx::api_test
