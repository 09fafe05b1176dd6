// Models made of any rows of the op table, with samples whose shapes, values and attributes were
// changed: saved, loaded, planned and run at two optimisation levels, which agree on what comes
// out.
#include "executor/session.h"
#include "ir/graph.h"
#include "onnx_io/save.h"
#include "tests/support/fuzz_ops.h"

namespace {

using namespace sardonyx;

struct Built {
  Model model;
  NamedData feeds;
  bool is_random = false;
};

class Builder {
 public:
  explicit Builder(fuzz::Choices& choices) : choices_(choices), emitter_(*built_.model.graph) {}

  Built build() {
    for (size_t count = 1 + choices_.below(6); count > 0; --count)
      fuzz::ends_well([&] { add_node(); });
    for (const Val& val : made_)
      built_.model.graph->add_output(GraphEmitter::unwrap(val));
    return std::move(built_);
  }

 private:
  // A value made before, where there is one of this type; an input of the graph, or a constant.
  Val operand(const Datum& datum) {
    if (!datum.defined()) return {};
    if (!datum.is_tensor()) fail(ErrorCode::kUnsupported, "no tensor");
    const Tensor& tensor = datum.tensor();
    if (!made_.empty() && choices_.one_in(2)) {
      const Val earlier = made_[choices_.below(made_.size())];
      const Type type = emitter_.type(earlier);
      if (type.is_tensor() && type.dtype == tensor.dtype()) return earlier;
    }
    if (choices_.one_in(2)) return emitter_.constant(tensor);
    Dims dims = to_dims(tensor.shape());
    for (Dim& dim : dims) {
      if (choices_.one_in(3))
        dim = Dim::symbol(text("d", built_.feeds.size(), "_", &dim - &dims[0]));
    }
    Value* input = built_.model.graph->add_input(text("in", built_.feeds.size()),
                                                 Type::tensor(tensor.dtype(), dims));
    built_.feeds[input->name] = datum;
    return GraphEmitter::wrap(input);
  }

  void add_node() {
    const OpDef& op = *all_ops()[choices_.below(all_ops().size())];
    const fuzz::OpCall call = fuzz::any_call(choices_, op);
    if (!call.op) return;
    const Attrs attrs = Attrs::parse(*op.attrs, call.attrs);
    std::vector<Val> inputs;
    for (const Datum& input : call.inputs)
      inputs.push_back(operand(input));
    built_.is_random |= op.is(kRandom);
    for (const Val& made : emitter_.emit(op, inputs, attrs, call.outputs)) {
      if (made) made_.push_back(made);
    }
  }

  fuzz::Choices& choices_;
  Built built_;
  GraphEmitter emitter_;
  std::vector<Val> made_;
};

std::optional<std::vector<Datum>> run(const std::string& bytes, const NamedData& feeds, int level) {
  SessionOptions options{.intra_op_threads = 1,
                         .optimization_level = level,
                         .memory_limit = fuzz::kMemoryLimit,
                         .load_deadline = fuzz::kDeadline};
  std::optional<Session> session;
  std::optional<std::vector<Datum>> results;
  const bool was_loaded = fuzz::ends_well(
      [&] { session.emplace(load_model(std::as_bytes(std::span(bytes))), options); });
  if (!was_loaded) return results;
  // The session runs twice: it must stay usable after an error, and reuse its plan.
  for (int i = 0; i < 2; ++i)
    fuzz::ends_well([&] { results = session->run(feeds, {.deadline = fuzz::kDeadline}); });
  return results;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::Choices choices(data, size);
  const Built built = Builder(choices).build();
  if (built.model.graph->outputs().empty()) return 0;
  std::string bytes;
  if (!fuzz::ends_well([&] { bytes = model_bytes(built.model); })) return 0;
  const auto plain = run(bytes, built.feeds, 0);
  const auto optimized = run(bytes, built.feeds, 2);
  if (!plain || !optimized) return 0;
  for (size_t i = 0; i < plain->size(); ++i) {
    if (!((*plain)[i].type() == (*optimized)[i].type()))
      fuzz::finding(text("output ", i, " is ", (*optimized)[i].type(), ", without passes ",
                         (*plain)[i].type()));
  }
  return 0;
}
