#include "tools/duckdb/model.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <map>

namespace sardonyx::duckdb {
namespace {

void check(sx_status status, const std::string& what) {
  if (status != SX_OK) throw QueryError(what + ": " + sx_last_error());
}

SqlModel::Place place_of(const sx_value_info& info, const std::string& what) {
  if (info.kind != SX_TENSOR || info.rank < 0) {
    throw QueryError(what + " is " + info.type +
                     ": a column needs a tensor whose number of dims is known");
  }
  SqlModel::Place place{
      .name = info.name, .type = info.type, .dtype = info.dtype, .rank = info.rank};
  place.dims.assign(info.dims, info.dims + info.rank);
  type_id_of(place.dtype);  // throws where there is none
  return place;
}

}  // namespace

SqlModel::SqlModel(SqlModelOptions options) : options_(std::move(options)) {
  sx_session_options session;
  sx_session_options_init(&session, sizeof session);
  session.threads = options_.threads;
  check(sx_session_create(options_.path.c_str(), &session, &session_), options_.path);
  try {
    for (size_t i = 0; i < sx_session_input_count(session_); ++i) {
      sx_value_info info{};
      info.struct_size = sizeof info;
      check(sx_session_input(session_, i, &info), options_.path);
      if (!info.is_optional)
        inputs_.push_back(place_of(info, options_.path + ": input " + info.name));
    }
    for (size_t i = 0; i < sx_session_output_count(session_); ++i) {
      sx_value_info info{};
      info.struct_size = sizeof info;
      check(sx_session_output(session_, i, &info), options_.path);
      outputs_.push_back(place_of(info, options_.path + ": output " + info.name));
    }
    for (const Place& input : inputs_) {
      if (input.rank > 0 && input.dims[0] > 1) {
        throw QueryError(options_.path + ": input " + input.name + " is " + input.type +
                         ", of a fixed number of rows; export the model with an open first dim");
      }
      has_rows_ = has_rows_ && input.rank > 0 && input.dims[0] == -1;
    }
    if (inputs_.empty()) throw QueryError(options_.path + ": the model has no inputs");
  } catch (...) {
    sx_session_destroy(session_);
    throw;
  }
}

SqlModel::~SqlModel() {
  for (sx_binding* binding : idle_)
    sx_binding_destroy(binding);
  sx_session_destroy(session_);
}

std::string SqlModel::signature() const {
  std::string text;
  for (const Place& input : inputs_)
    text += (text.empty() ? "" : ", ") + input.name + ": " + input.type;
  return text;
}

LogicalType SqlModel::result_type() const {
  std::vector<LogicalType> types;
  for (const Place& output : outputs_)
    types.push_back(duckdb::result_type(output.dtype, output.row_dims()));
  if (types.size() == 1) return std::move(types[0]);
  std::vector<Handle> handles;
  std::vector<const char*> names;
  for (size_t i = 0; i < types.size(); ++i) {
    handles.push_back(types[i].get());
    names.push_back(outputs_[i].name.c_str());
  }
  return LogicalType(api.create_struct_type(handles.data(), names.data(), handles.size()));
}

// Columns of numbers that are the elements of the model's only input, [n, k].
bool SqlModel::is_packed(size_t arguments) const {
  return arguments != inputs_.size() && inputs_.size() == 1 && inputs_[0].rank == 2;
}

std::vector<Column> SqlModel::columns_of(Handle chunk, uint64_t first) const {
  const uint64_t arguments = api.data_chunk_get_column_count(chunk) - first;
  const uint64_t rows = api.data_chunk_get_size(chunk);
  const bool is_packed = this->is_packed(arguments);
  if (!is_packed && arguments != inputs_.size()) {
    throw QueryError(options_.path + ": got " + std::to_string(arguments) +
                     " columns, the model's inputs are " + signature());
  }
  if (is_packed && inputs_[0].dims[1] >= 0 &&
      static_cast<uint64_t>(inputs_[0].dims[1]) != arguments) {
    throw QueryError(options_.path + ": got " + std::to_string(arguments) +
                     " columns for the elements of " + signature());
  }
  std::vector<Column> columns;
  for (uint64_t i = 0; i < arguments; ++i) {
    const Place& input = inputs_[is_packed ? 0 : i];
    columns.emplace_back(
        api.data_chunk_get_vector(chunk, first + i), rows, input.dtype,
        options_.path + ": column " + std::to_string(i + 1) + " (" + input.name + ")");
  }
  return columns;
}

// What a row's cell becomes in the tensor of `rows` rows.
std::vector<int64_t> SqlModel::dims_of(const Place& input, size_t rows,
                                       const std::vector<int64_t>& cell) const {
  std::vector<int64_t> dims;
  if (input.rank > 0) dims.push_back(static_cast<int64_t>(rows));
  const size_t wanted = input.rank > 0 ? static_cast<size_t>(input.rank) - 1 : 0;
  int64_t count = 1, known = 1, open = 0;
  for (const int64_t dim : cell)
    count *= dim;
  for (size_t i = 1; i <= wanted; ++i) {
    open += input.dims[i] < 0;
    known *= std::max<int64_t>(input.dims[i], 1);
  }
  const bool fits = open == 0 ? known == count : open == 1 && count % known == 0;
  if (cell.size() == wanted || !fits) {
    dims.insert(dims.end(), cell.begin(), cell.end());
    return dims;
  }
  for (size_t i = 1; i <= wanted; ++i)
    dims.push_back(input.dims[i] < 0 ? count / known : input.dims[i]);
  return dims;
}

sx_binding* SqlModel::borrow() const {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      sx_binding* binding = idle_.back();
      idle_.pop_back();
      return binding;
    }
  }
  sx_binding* binding = nullptr;
  check(sx_binding_create(session_, &binding), options_.path);
  return binding;
}

namespace {

// Rows of uniform columns, their elements interleaved.
void interleave(const std::vector<Column>& columns, const ChunkRows& rows, ColumnElements& to) {
  const size_t size = element_bytes(to.dtype), stride = size * columns.size();
  to.bytes.resize(rows.count * stride);
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::byte* from = columns[i].row_data(rows.first);
    std::byte* place = to.bytes.data() + i * size;
    // Of constant size, a copy is one move.
    if (size == sizeof(float)) {
      for (uint64_t row = 0; row < rows.count; ++row)
        std::memcpy(place + row * stride, from + row * sizeof(float), sizeof(float));
    } else {
      for (uint64_t row = 0; row < rows.count; ++row)
        std::memcpy(place + row * stride, from + row * size, size);
    }
  }
}

}  // namespace

// Hands the elements of an input to the binding: those of its column where it has the tensor's
// layout, else gathered ones. Both must outlive the run.
void SqlModel::bind_input(sx_binding* binding, size_t input, const std::vector<Column>& columns,
                          const ChunkRows& rows, ColumnElements& gathered) const {
  const bool is_packed = this->is_packed(columns.size());
  gathered.dtype = inputs_[input].dtype;
  const std::byte* data = nullptr;
  size_t bytes = 0;
  if (!rows.picked && !is_packed) {
    data = columns[input].row_data(rows.first);
    bytes = rows.count * columns[input].row_bytes();
  } else {
    if (!rows.picked) {
      interleave(columns, rows, gathered);
    } else {
      const size_t begin = is_packed ? 0 : input, end = is_packed ? columns.size() : input + 1;
      for (uint64_t i = 0; i < rows.count; ++i) {
        for (size_t column = begin; column < end; ++column)
          columns[column].append_to(gathered, rows[i]);
      }
    }
    data = gathered.bytes.data(), bytes = gathered.bytes.size();
  }
  std::vector<int64_t> cell = columns[input].dims(rows[0]);
  if (is_packed) cell = {static_cast<int64_t>(columns.size())};
  const std::vector<int64_t> dims = dims_of(inputs_[input], rows.count, cell);
  if (gathered.dtype != SX_STRING) {
    check(sx_binding_set_input(binding, input, static_cast<sx_dtype>(gathered.dtype), dims.data(),
                               dims.size(), data, bytes),
          options_.path);
    return;
  }
  std::vector<const char*> texts;
  std::vector<size_t> lengths;
  for (const std::string& text : gathered.strings) {
    texts.push_back(text.data());
    lengths.push_back(text.size());
  }
  check(sx_binding_set_string_input(binding, input, dims.data(), dims.size(), texts.data(),
                                    lengths.data()),
        options_.path);
}

void SqlModel::run(const std::vector<Column>& columns, const ChunkRows& rows, Handle result,
                   Write write) const {
  std::vector<ColumnElements> gathered(inputs_.size());
  std::unique_ptr<sx_binding, decltype(&sx_binding_destroy)> binding(borrow(), &sx_binding_destroy);
  for (size_t i = 0; i < inputs_.size(); ++i)
    bind_input(binding.get(), i, columns, rows, gathered[i]);
  check(sx_binding_run(binding.get(), nullptr), options_.path);
  write(*this, binding.get(), rows, result);
  // The next run binds memory of its own; where this one failed, the binding goes.
  const std::lock_guard lock(mutex_);
  idle_.push_back(binding.release());
}

void SqlModel::run_batches(const std::vector<Column>& columns, const ChunkRows& rows, Handle result,
                           Write write) const {
  const auto batch = static_cast<uint64_t>(has_rows_ ? options_.batch : 1);
  for (uint64_t begin = 0; begin < rows.count; begin += batch) {
    run(columns,
        {rows.first + begin, std::min(batch, rows.count - begin),
         rows.picked ? rows.picked + begin : nullptr},
        result, write);
  }
}

namespace {

// Rows are NULL until a run has written them.
void null_rows(Handle chunk, Handle result, size_t members) {
  const uint64_t rows = api.data_chunk_get_size(chunk);
  for (uint64_t row = 0; row < rows; ++row) {
    set_null(result, row);
    for (size_t i = 0; members > 1 && i < members; ++i)
      set_null(api.struct_vector_get_child(result, i), row);
  }
}

void set_there(Handle vector, const ChunkRows& rows) {
  uint64_t* valid = api.vector_get_validity(vector);
  for (uint64_t i = 0; valid && i < rows.count; ++i)
    valid[rows[i] / 64] |= uint64_t{1} << (rows[i] % 64);
}

}  // namespace

void SqlModel::run_all(Handle chunk, uint64_t first, Handle result, size_t members,
                       Write write) const {
  const std::vector<Column> columns = columns_of(chunk, first);
  const uint64_t rows = api.data_chunk_get_size(chunk);
  const bool is_packed = this->is_packed(columns.size());
  const auto refuse_list = [&](uint64_t row, const Column& column) {
    if (is_packed && !column.dims(row).empty())
      throw QueryError(options_.path + ": a list among the columns that are elements of " +
                       signature());
  };
  if (std::ranges::all_of(columns, &Column::is_uniform)) {
    for (const Column& column : columns)
      refuse_list(0, column);
    return run_batches(columns, {0, rows}, result, write);
  }
  null_rows(chunk, result, members);
  // Rows whose lists are as long run at once, by the numbers of their columns' shapes.
  std::map<std::vector<size_t>, std::vector<uint64_t>> by_dims;
  std::vector<size_t> dims;
  std::vector<uint64_t>* of_last = nullptr;
  std::vector<size_t> last;
  for (uint64_t row = 0; row < rows; ++row) {
    dims.clear();
    for (const Column& column : columns) {
      const std::optional<RowValue> cell = column.cell(row);
      if (!cell) break;
      dims.push_back(cell->shape);
      refuse_list(row, column);
    }
    if (dims.size() != columns.size()) continue;
    if (!of_last || dims != last) {
      of_last = &by_dims[dims];
      last = dims;
    }
    of_last->push_back(row);
  }
  for (const auto& [shapes, picked] : by_dims)
    run_batches(columns, {0, picked.size(), picked.data()}, result, write);
}

sx_tensor SqlModel::tensor_of(const SqlModel& model, const sx_binding* binding, size_t output,
                              size_t rows, size_t& in_row) {
  sx_tensor tensor{};
  tensor.struct_size = sizeof tensor;
  const Place& place = model.outputs_[output];
  check(sx_binding_output(binding, output, &tensor), model.options_.path + ": " + place.name);
  const auto given = static_cast<int64_t>(rows);
  if (rows > 1 && (tensor.rank == 0 || tensor.dims[0] != given)) {
    throw QueryError(model.options_.path + ": output " + place.name + " of " +
                     std::to_string(rows) + " rows does not have one for each");
  }
  if (rows == 1 && tensor.rank > 0 && tensor.dims[0] != 1)
    throw QueryError(model.options_.path + ": output " + place.name + " of one row has " +
                     std::to_string(tensor.dims[0]));
  in_row = 1;
  for (int32_t i = 1; i < tensor.rank; ++i)
    in_row *= static_cast<size_t>(tensor.dims[i]);
  return tensor;
}

void SqlModel::write_output(const SqlModel& model, const sx_binding* binding, size_t output,
                            const ChunkRows& rows, Handle result) {
  size_t in_row = 1;
  const sx_tensor tensor = tensor_of(model, binding, output, rows.count, in_row);
  std::vector<int64_t> dims;
  if (model.outputs_[output].row_dims() > 0)
    dims.assign(tensor.dims + 1, tensor.dims + tensor.rank);
  sx_value* strings = nullptr;
  if (tensor.dtype == SX_STRING)
    check(sx_binding_output_value(binding, output, &strings), model.options_.path);
  const std::unique_ptr<sx_value, decltype(&sx_value_destroy)> held(strings, &sx_value_destroy);
  ResultWriter writer(result, tensor, strings, std::move(dims));
  writer.write(rows, in_row);
  set_there(result, rows);
}

void SqlModel::write_typed(const SqlModel& model, const sx_binding* binding, const ChunkRows& rows,
                           Handle result) {
  if (model.outputs_.size() == 1) return write_output(model, binding, 0, rows, result);
  for (size_t i = 0; i < model.outputs_.size(); ++i)
    write_output(model, binding, i, rows, api.struct_vector_get_child(result, i));
  set_there(result, rows);
}

void SqlModel::predict(Handle chunk, uint64_t first, Handle result) const {
  run_all(chunk, first, result, outputs_.size(), write_typed);
}

namespace {

template <typename T>
std::vector<double> doubles_of(const sx_tensor& tensor) {
  const auto* begin = static_cast<const T*>(tensor.data);
  return {begin, begin + tensor.size / sizeof(T)};
}

std::vector<double> numbers_of(const sx_tensor& tensor, const std::string& what) {
  switch (tensor.dtype) {
    case SX_FLOAT:
      return doubles_of<float>(tensor);
    case SX_DOUBLE:
      return doubles_of<double>(tensor);
    case SX_INT8:
      return doubles_of<int8_t>(tensor);
    case SX_INT16:
      return doubles_of<int16_t>(tensor);
    case SX_INT32:
      return doubles_of<int32_t>(tensor);
    case SX_INT64:
      return doubles_of<int64_t>(tensor);
    case SX_BOOL:
    case SX_UINT8:
      return doubles_of<uint8_t>(tensor);
    case SX_UINT16:
      return doubles_of<uint16_t>(tensor);
    case SX_UINT32:
      return doubles_of<uint32_t>(tensor);
    case SX_UINT64:
      return doubles_of<uint64_t>(tensor);
    default:
      throw QueryError(what +
                       " are no numbers that fit DOUBLE: use onnx_predict_text for "
                       "strings, or give the model a name (SARDONYX_DUCKDB_MODELS)");
  }
}

}  // namespace

void SqlModel::write_numbers(const SqlModel& model, const sx_binding* binding,
                             const ChunkRows& rows, Handle result) {
  size_t in_row = 1;
  sx_tensor tensor = tensor_of(model, binding, 0, rows.count, in_row);
  const std::vector<double> numbers =
      numbers_of(tensor, model.options_.path + ": the elements of " + model.outputs_[0].name);
  tensor.dtype = SX_DOUBLE;
  tensor.data = numbers.data();
  ResultWriter writer(result, tensor, nullptr, {static_cast<int64_t>(in_row)});
  writer.write(rows, in_row);
  set_there(result, rows);
}

void SqlModel::write_texts(const SqlModel& model, const sx_binding* binding, const ChunkRows& rows,
                           Handle result) {
  size_t in_row = 1;
  const sx_tensor tensor = tensor_of(model, binding, 0, rows.count, in_row);
  if (tensor.dtype != SX_STRING) {
    throw QueryError(model.options_.path + ": the elements of " + model.outputs_[0].name +
                     " are no strings: use onnx_predict");
  }
  sx_value* strings = nullptr;
  check(sx_binding_output_value(binding, 0, &strings), model.options_.path);
  const std::unique_ptr<sx_value, decltype(&sx_value_destroy)> held(strings, &sx_value_destroy);
  ResultWriter writer(result, tensor, strings, {static_cast<int64_t>(in_row)});
  writer.write(rows, in_row);
  set_there(result, rows);
}

void SqlModel::predict_list(Handle chunk, uint64_t first, Handle result, bool as_text) const {
  run_all(chunk, first, result, 1, as_text ? write_texts : write_numbers);
}

std::shared_ptr<const SqlModel> model_at(const std::string& path) {
  struct Known {
    std::shared_ptr<const SqlModel> model;
    timespec changed{};
    off_t size = 0;
  };
  static std::mutex mutex;
  static auto& known = *new std::map<std::string, Known>;
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) throw QueryError(path + ": " + std::strerror(errno));
  const std::lock_guard lock(mutex);  // the first of several threads loads it
  Known& entry = known[path];
  const bool is_same = entry.model && entry.size == file.st_size &&
                       entry.changed.tv_sec == file.st_mtim.tv_sec &&
                       entry.changed.tv_nsec == file.st_mtim.tv_nsec;
  if (!is_same)
    entry = {std::make_shared<const SqlModel>(SqlModelOptions{.path = path}), file.st_mtim,
             file.st_size};
  return entry.model;
}

}  // namespace sardonyx::duckdb
