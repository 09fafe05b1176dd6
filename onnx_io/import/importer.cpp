#include "onnx_io/import/importer.h"

#include <algorithm>

#include "ir/core/bools.h"
#include "ir/core/run_control.h"
#include "ir/op_def.h"
#include "onnx_io/dim_names.h"
#include "onnx_io/import/parse.h"
#include "onnx_io/import/readable_names.h"

namespace sardonyx::onnx_import {

using onnx_schema::GraphProto;
using onnx_schema::ModelProto;
using onnx_schema::TensorProto;
using onnx_schema::ValueInfoProto;

namespace {

// Before this IR version every initializer had to be a graph input as well, and was a constant all
// the same.
constexpr int64_t kInitializersMayBeDefaults = 4;
// Before this IR version models did not say which opset they use.
constexpr int64_t kOpsetsAreImported = 3;

// Before this IR version initializers of inputs were constants. A file without a version is read
// so.
constexpr int64_t kTakenForMissingIrVersion = 3;

// Whether an initializer comes out as it is.
bool is_sparse_output(const GraphProto& proto, const std::string& name) {
  return std::ranges::any_of(proto.output(), [&](const ValueInfoProto& output) {
    return output.name() == name && output.type().has_sparse_tensor_type();
  });
}

// Element types and kinds agree, and no two known dims differ.
void check_agree(const Type& declared, const Type& actual, std::string_view what) {
  merge_types(actual, declared, what);
}

}  // namespace

Importer::Importer(ModelProto& proto, RawData raw_data, const LoadOptions& options,
                   ExternalFiles* external, std::vector<Problem>* problems)
    : proto_(proto),
      options_(options),
      leniency_(options),
      problems_(problems),
      tensors_(options.limits, external, std::move(raw_data), &leniency_),
      types_(options.limits, leniency_, [this] { return model_.graph->fresh_symbol(); }) {}

Model Importer::run() {
  if (!guarded("", "", [&] { read_header(); })) return std::move(model_);
  NameScope name_scope{.graph = *model_.graph, .opsets = &opsets_};
  guarded("", "", [&] { import_graph(name_scope, *proto_.mutable_graph(), {}); });
  guarded("", "", [&] { check_given_are_used(); });
  return std::move(model_);
}

void Importer::read_header() {
  if (!proto_.has_graph()) {
    fail(ErrorCode::kInvalidModel, "the file is no ONNX model: it has no graph");
  }
  make_names_readable(proto_, leniency_);
  if (proto_.ir_version() <= 0) {
    leniency_.tolerate(kMissingIrVersion, "ir_version is ",
                       proto_.has_ir_version() ? text(proto_.ir_version()) : "missing",
                       ", expected 1 to ", kNewestIrVersion, "; taken for ",
                       kTakenForMissingIrVersion);
    proto_.set_ir_version(kTakenForMissingIrVersion);
  }
  if (proto_.ir_version() > kNewestIrVersion) {
    fail(ErrorCode::kUnsupported, "ir_version ", proto_.ir_version(), " is newer than ",
         kNewestIrVersion, ", the newest that is known");
  }
  opsets_ = read_opsets(proto_.opset_import(), "the model", leniency_);
  if (opsets_.empty() && proto_.ir_version() < kOpsetsAreImported) opsets_.emplace("", 1);
  if (opsets_.empty()) fail(ErrorCode::kInvalidModel, "the model has no opset_import");
  functions_ = std::make_unique<FunctionTable>(proto_, leniency_);
  functions_->check_expansion(proto_.graph(), options_.limits);
  free_names_ = FreeNames(functions_.get());

  model_.ir_version = proto_.ir_version();
  model_.opsets.insert(opsets_.begin(), opsets_.end());
  model_.producer_name = proto_.producer_name();
  model_.producer_version = proto_.producer_version();
  model_.domain = proto_.domain();
  model_.doc = proto_.doc_string();
  model_.model_version = proto_.model_version();
  for (const auto& entry : proto_.metadata_props())
    model_.metadata[entry.key()] = entry.value();
}

void Importer::import_graph(NameScope& name_scope, GraphProto& proto,
                            std::span<const Type> implied) {
  name_scope.graph.name = proto.name();
  name_scope.graph.doc = proto.doc_string();
  add_inputs(name_scope, proto, implied);
  add_initializers(name_scope, proto);
  read_declared(name_scope, proto);
  prefer_constants(name_scope, *proto.mutable_node());
  import_nodes(name_scope, *proto.mutable_node());
  add_outputs(name_scope, proto);
}

void Importer::add_inputs(NameScope& name_scope, GraphProto& proto, std::span<const Type> implied) {
  std::unordered_map<std::string, TensorProto*> initializers;
  for (TensorProto& tensor : *proto.mutable_initializer())
    initializers[tensor.name()] = &tensor;
  size_t index = 0;
  for (ValueInfoProto& input : *proto.mutable_input()) {
    const Type* type = index < implied.size() ? &implied[index] : nullptr;
    ++index;
    const auto label = [&] { return "graph input " + in_quotes(input.name()); };
    const auto found = initializers.find(input.name());
    TensorProto* initializer = found == initializers.end() ? nullptr : found->second;
    if (!guarded(label, "", [&] { add_input(name_scope, input, type, initializer); })) {
      name_scope.values.try_emplace(input.name(), placeholder(name_scope));
    }
  }
}

void Importer::add_input(NameScope& name_scope, ValueInfoProto& proto, const Type* implied,
                         TensorProto* initializer) {
  const std::string& name = proto.name();
  check_new_name(name_scope, name, "graph input");
  const bool is_main = !name_scope.outer;
  Type type = proto.has_type() && proto.type().value_case() != onnx_schema::TypeProto::VALUE_NOT_SET
                  ? types_.type(proto.type(), "the value")
                  : Type::none();
  if (type.is_none() && is_main && !initializer) fail(ErrorCode::kInvalidModel, "has no type");
  if (type.is_none() && implied) type = *implied;
  if (!initializer)
    return bind(name_scope, name, name_scope.graph.add_input(name, std::move(type)));
  if (!is_main) {
    fail(ErrorCode::kInvalidModel,
         "of a subgraph is also an initializer; inputs of subgraphs have no defaults");
  }
  const Tensor& value = this->initializer(name_scope, *initializer);
  const Type actual = Type::tensor(value.dtype(), to_dims(value.shape()));
  check_agree(type, actual, name);
  // add_initializers makes the constant; nothing to feed.
  if (proto_.ir_version() < kInitializersMayBeDefaults) return;
  Value* input = name_scope.graph.add_input(name, type.is_none() ? actual : type);
  input->default_value = std::make_shared<const Tensor>(value);
  bind(name_scope, name, input);
}

void Importer::add_initializers(NameScope& name_scope, GraphProto& proto) {
  Initializers last;
  // An initializer that nothing reads need not hold what it declares.
  const auto decoded = [&](const std::string& name, const auto& decode) -> std::optional<Tensor> {
    try {
      return decode();
    } catch (const Error& error) {
      const bool may_be_left_out =
          error.code() == ErrorCode::kInvalidModel || error.code() == ErrorCode::kUnsupported;
      if (!may_be_left_out || free_names_.is_used(proto, name)) throw;
      leniency_.tolerate(kUnusedInitializer, "initializer ", in_quotes(name), ": ", error.what(),
                         "; left out, as nothing uses it");
      return std::nullopt;
    }
  };
  const auto add = [&](const std::string& name, const auto& decode) {
    const bool good = guarded(
        [&] { return "initializer " + in_quotes(name); }, "",
        [&] {
          if (const auto input = name_scope.values.find(name);
              input != name_scope.values.end() && input->second && input->second->default_value) {
            return;
          }
          check_new_name(name_scope, name, "initializer");
          if (std::optional<Tensor> value = decoded(name, decode))
            bind(name_scope, name, name_scope.graph.add_constant(name, std::move(*value)));
        });
    if (!good) name_scope.values.try_emplace(name, placeholder(name_scope));
  };
  const auto note = [&](const TensorProto& tensor, const DimList& dims) {
    guarded([&] { return "initializer " + in_quotes(tensor.name()); }, "",
            [&] { note_repeated(last, tensor, dims); });
    last[tensor.name()] = {&tensor, &dims};
  };
  const auto counts = [&](const TensorProto& tensor) {
    return !tensor.name().empty() && last.at(tensor.name()).tensor == &tensor;
  };
  for (const TensorProto& tensor : proto.initializer())
    note(tensor, tensor.dims());
  for (const auto& sparse : proto.sparse_initializer())
    note(sparse.values(), sparse.dims());
  for (TensorProto& tensor : *proto.mutable_initializer()) {
    if (!counts(tensor)) continue;
    add(tensor.name(), [&]() -> const Tensor& { return initializer(name_scope, tensor); });
  }
  for (auto& sparse : *proto.mutable_sparse_initializer()) {
    const TensorProto& values = sparse.values();
    if (!counts(values)) continue;
    add(values.name(), [&] {
      if (is_sparse_output(proto, values.name()))
        name_scope.sparse_outputs[values.name()] = tensors_.sparse(sparse);
      const Tensor* given =
          given_initializer(name_scope, values.name(), values.data_type(), sparse.dims());
      return given ? *given : tensors_.dense(sparse);
    });
  }
}

const Tensor& Importer::initializer(const NameScope& name_scope, TensorProto& proto) {
  const Tensor* given =
      given_initializer(name_scope, proto.name(), proto.data_type(), proto.dims());
  return given ? *given : tensors_.tensor(proto);
}

// The caller's tensor in place of an initializer of the main graph; null: there is none.
const Tensor* Importer::given_initializer(const NameScope& name_scope, const std::string& name,
                                          int64_t dtype, const DimList& dims) {
  if (name_scope.outer || name_scope.call) return nullptr;
  const auto found = options_.initializers.find(name);
  if (found == options_.initializers.end()) return nullptr;
  const Tensor& given = found->second;
  const Shape shape(dims.begin(), dims.end());
  if (given.dtype() != checked_dtype(dtype, "the tensor") || given.shape() != shape) {
    fail(ErrorCode::kInvalidArgument, "initializers: expected ",
         name_of(checked_dtype(dtype, "the tensor")), to_text(shape), ", got ",
         name_of(given.dtype()), to_text(given.shape()));
  }
  return &replaced_.try_emplace(name, of_the_caller(with_normal_bools(given))).first->second;
}

void Importer::check_given_are_used() const {
  for (const auto& [name, tensor] : options_.initializers) {
    if (!replaced_.contains(name))
      fail(ErrorCode::kInvalidArgument, "initializers: the model has no initializer ",
           in_quotes(name));
  }
}

// The last one of several initializers of one name counts, as in ONNX Runtime. Nothing can use one
// without a name.
void Importer::note_repeated(const Initializers& earlier, const TensorProto& tensor,
                             const DimList& dims) const {
  if (tensor.name().empty()) {
    return leniency_.tolerate(kUnusedInitializer,
                              "an initializer has no name; left out, as nothing can use it");
  }
  const auto found = earlier.find(tensor.name());
  if (found == earlier.end()) return;
  if (found->second.tensor->data_type() != tensor.data_type() ||
      !std::ranges::equal(*found->second.dims, dims)) {
    fail(ErrorCode::kInvalidModel, "is given twice, with different types or shapes");
  }
  leniency_.tolerate(kRepeatedConstant, "initializer ", in_quotes(tensor.name()),
                     " is given twice; the last one counts");
}

void Importer::read_declared(NameScope& name_scope, const GraphProto& proto) {
  const auto read = [&](const ValueInfoProto& info) {
    if (!info.has_type() || info.type().value_case() == onnx_schema::TypeProto::VALUE_NOT_SET)
      return;
    const auto label = [&] { return "value " + in_quotes(info.name()); };
    guarded(label, "", [&] {
      Type type = types_.type(info.type(), "the value");
      const auto [known, is_new] = name_scope.declared.try_emplace(info.name(), type);
      if (!is_new) known->second = of_both(known->second, type, info.name());
    });
  };
  for (const ValueInfoProto& output : proto.output())
    read(output);
  for (const ValueInfoProto& info : proto.value_info())
    read(info);
}

// The type of an output that is declared once more, or of a value that is declared twice. Element
// types of outputs are promises, and those beside them are not.
Type Importer::of_both(const Type& first, const Type& second, const std::string& name) const {
  if (first.is_tensor() && second.is_tensor() && first.dtype != second.dtype) {
    leniency_.tolerate(kDeclaredShape, "value ", in_quotes(name), " is declared as ", first,
                       " and as ", second, "; the first counts");
    return first;
  }
  return reconciled(first, second, name);
}

// What a graph gives whose output is a sparse initializer, which nodes read as the `dense` one.
// Null: the output is none.
Value* Importer::sparse_output(NameScope& name_scope, const std::string& name, Value& dense) {
  const auto found = name_scope.sparse_outputs.find(name);
  if (found == name_scope.sparse_outputs.end()) return nullptr;
  GraphEmitter emitter(name_scope.graph);
  Value* value = GraphEmitter::unwrap(
      emitter.call("sardonyx::SparseConstant", {}, {{"value", found->second}}));
  name_scope.graph.take_name(*value, dense);
  return value;
}

void Importer::add_outputs(NameScope& name_scope, const GraphProto& proto) {
  for (const ValueInfoProto& output : proto.output()) {
    guarded([&] { return "graph output " + in_quotes(output.name()); }, "",
            [&] {
              if (output.name().empty())
                fail(ErrorCode::kInvalidModel, "a graph output has no name");
              const auto found = name_scope.values.find(output.name());
              if (found == name_scope.values.end() || !found->second) {
                fail(ErrorCode::kInvalidModel,
                     "is produced by no node, and is no input or initializer");
              }
              Value* value = found->second;
              if (Value* sparse = sparse_output(name_scope, output.name(), *value)) value = sparse;
              if (const auto declared = name_scope.declared.find(output.name());
                  declared != name_scope.declared.end() && !poisoned_.contains(value) &&
                  !value->producer) {
                reconciled(value->type, declared->second, output.name());
              }
              name_scope.graph.add_output(value);
            });
  }
}

void Importer::bind(NameScope& name_scope, const std::string& name, Value* value) {
  name_scope.values[name] = value;
  if (name_scope.names_are_final) named_.insert(value);
}

void Importer::check_new_name(const NameScope& name_scope, const std::string& name,
                              std::string_view what) const {
  if (name.empty()) fail(ErrorCode::kInvalidModel, "the ", what, " has no name");
  if (name_scope.values.contains(name)) {
    fail(ErrorCode::kInvalidModel, "the name ", in_quotes(name),
         " is already taken in this graph: names must be unique");
  }
  // The bodies of functions that onnxscript writes name the inputs of loops like values around
  // them.
  if (name_scope.call) return;
  for (const NameScope* outer = name_scope.outer; outer; outer = outer->outer) {
    if (!outer->values.contains(name)) continue;
    // ONNX Runtime refuses other names as well.
    if (what == "output") {
      fail(ErrorCode::kInvalidModel, "the name ", in_quotes(name),
           " shadows one of the outer graph: names must be unique");
    }
    return leniency_.tolerate(kShadowedName, "the name ", in_quotes(name), " of a subgraph's ",
                              what, " shadows one of the outer graph; within it counts its own");
  }
}

// The inferred type, completed by the declared one. Where the shapes contradict each other
// inference wins; element types must agree.
Type Importer::reconciled(const Type& inferred, const Type& declared,
                          const std::string& name) const {
  if (!same_kind(inferred, declared) || inferred.is_none() || declared.is_none())
    return merge_types(inferred, declared, name);
  Type wanted = declared;
  if (wanted.has_rank() && inferred.has_rank() && wanted.rank() == inferred.rank()) {
    // A dim that follows from those of the inputs says more than the size it once had; and where
    // the file leaves one open, the symbol of inference may be that of other dims too.
    for (size_t axis = 0; axis < inferred.rank(); ++axis) {
      const Dim& dim = (*inferred.shape)[axis];
      Dim& said = (*wanted.shape)[axis];
      const bool is_open = !said.is_known() && name_in_file(said.text()).empty();
      if (!dim.is_known() && (is_open || !is_of_one_dim(dim.text()))) said = dim;
    }
  }
  try {
    return merge_types(inferred, wanted, name);
  } catch (const Error& error) {
    leniency_.tolerate(kDeclaredShape, error.what(), "; what is inferred counts");
    return inferred;
  }
}

// `inferred` with what the file declares of the value.
Type Importer::declared_type(const NameScope& name_scope, const std::string& name,
                             const Type& inferred) const {
  const auto known = name_scope.declared.find(name);
  return known == name_scope.declared.end() ? inferred : reconciled(inferred, known->second, name);
}

// The file's names go before those that were invented on the way.
void Importer::vacate_name(NameScope& name_scope, const std::string& name) {
  if (!name_scope.names_are_final) return;
  if (Value* invented = name_scope.graph.find_value(name)) name_scope.graph.rename(*invented, "");
}

Value* Importer::placeholder(NameScope& name_scope) {
  Value* value = name_scope.graph.add_input("", Type::none());
  poisoned_.insert(value);
  return value;
}

}  // namespace sardonyx::onnx_import
