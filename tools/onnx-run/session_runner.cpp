#include "tools/onnx-run/runner.h"

namespace sardonyx::tool {
namespace {

class SessionRunner : public Runner {
 public:
  explicit SessionRunner(Session session) : session_(std::move(session)) {}

  std::span<const ValueInfo> inputs() const override { return session_.inputs(); }
  std::span<const ValueInfo> optional_inputs() const override { return session_.optional_inputs(); }
  std::span<const ValueInfo> outputs() const override { return session_.outputs(); }
  const Model& model() const override { return session_.model(); }
  const Graph& graph() const override { return session_.graph(); }
  const Session* session() const override { return &session_; }

  std::vector<Datum> run(const NamedData& feeds, const RunOptions& options) const override {
    return session_.run(feeds, options);
  }
  std::vector<Datum> fetch(const NamedData& feeds, std::span<const std::string> names,
                           const RunOptions& options) const override {
    return session_.fetch(feeds, names, options);
  }

 private:
  Session session_;
};

}  // namespace

std::unique_ptr<Runner> make_session_runner(Session session) {
  return std::make_unique<SessionRunner>(std::move(session));
}

}  // namespace sardonyx::tool
