#include "tools/onnx-run/score/score_run.h"

#include <algorithm>
#include <future>
#include <optional>

#include "ir/core/run_control.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/score/batch_reader.h"
#include "tools/onnx-run/score/model_digest.h"
#include "tools/onnx-run/score/score_job.h"
#include "tools/onnx-run/score/score_progress.h"
#include "tools/onnx-run/verbosity.h"

namespace sardonyx::tool {
namespace {

using nlohmann::ordered_json;

// What the declared types say of one row; open dims count as 1.
size_t declared_row_bytes(std::span<const ValueInfo> values) {
  size_t bytes = 0;
  for (const ValueInfo& value : values) {
    if (!value.type.is_tensor() || !value.type.has_rank()) continue;
    int64_t count = 1;
    for (size_t axis = 1; axis < value.type.rank(); ++axis)
      count *= std::max<int64_t>((*value.type.shape)[axis].try_value().value_or(1), 1);
    bytes += bytes_for(value.type.dtype, count);
  }
  return std::max<size_t>(bytes, 1);
}

// Rows of a run that the model fixes; nothing where it takes any number.
std::optional<int64_t> fixed_rows(const Runner& runner, const NamedData& constants) {
  std::optional<int64_t> fixed;
  for (const ValueInfo& input : runner.inputs()) {
    if (constants.contains(input.name) || !input.type.is_tensor() || !input.type.has_rank() ||
        input.type.rank() == 0)
      continue;
    const std::optional<int64_t> rows = (*input.type.shape)[0].try_value();
    if (!rows) continue;
    if (*rows < 1 || (fixed && *fixed != *rows)) {
      fail_usage("input '", input.name, "' is ", input.type,
                 ", whose first dimension does not count rows as those of the others; inputs that "
                 "are the same for all rows are given by --constant");
    }
    fixed = rows;
  }
  return fixed;
}

int64_t within(size_t value, int64_t low, int64_t high) {
  return static_cast<int64_t>(
      std::clamp<size_t>(value, static_cast<size_t>(low), static_cast<size_t>(high)));
}

// Writes each part while the next one is computed: bringing files to the disk takes some dozens of
// milliseconds, in which nothing is computed.
class PartWriter {
 public:
  explicit PartWriter(const ScoreJob& job) : job_(job) {}

  // Waits for the part before, so that there are two at most, and throws what its writing threw.
  void write(int64_t number, int64_t first_row, Part part) {
    finish();
    RunControl control;
    if (const RunControl* const current = current_control()) control = *current;
    writing_ =
        std::async(std::launch::async, [this, number, first_row, control, part = std::move(part)] {
          const ControlScope scope(control);
          job_.write(number, first_row, part);
        });
  }
  void finish() {
    if (writing_.valid()) writing_.get();
  }

 private:
  const ScoreJob& job_;
  std::future<void> writing_;  // waited for at the end, whatever happens
};

class Scoring {
 public:
  explicit Scoring(const ScoreOptions& options)
      : options_(options),
        runner_(load_runner(options.model, options.loading)),
        inputs_(options.inputs, *runner_),
        job_(options.folder, options.format),
        output_names_(options.outputs) {
    if (output_names_.empty()) {
      for (const ValueInfo& output : runner_->outputs())
        output_names_.push_back(output.name);
    }
    choose_sizes();
  }

  ScoreReport run() {
    begin_job();
    report_.rows = inputs_.rows();
    report_.parts = (report_.rows + part_rows_ - 1) / part_rows_;
    const auto [begin, end] = share_of(report_.parts, options_.shard);
    report_.shard_parts = end - begin;
    std::vector<int64_t> open;
    std::vector<RowRange> ranges;
    int64_t open_rows = 0;
    for (int64_t part = begin; part < end; ++part) {
      check_interrupted();
      const int64_t rows = rows_of(part);
      report_.shard_rows += rows;
      if (job_.is_done(part, rows)) continue;
      open.push_back(part);
      ranges.push_back({part * part_rows_, rows});
      open_rows += rows;
    }
    announce(static_cast<int64_t>(open.size()));
    score_parts(open, ranges, open_rows);
    report_.is_complete = job_.finish(report_.parts, [&](int64_t part) { return rows_of(part); });
    return report_;
  }

 private:
  void choose_sizes() {
    constexpr size_t kBatchBytes = size_t{16} << 20, kPartBytes = size_t{64} << 20;
    const size_t in = declared_row_bytes(runner_->inputs());
    const size_t out = declared_row_bytes(runner_->outputs());
    fixed_ = fixed_rows(*runner_, inputs_.constants());
    if (fixed_ && options_.batch > 0 && options_.batch != *fixed_)
      fail_usage("--batch ", options_.batch, ": the model takes ", *fixed_, " rows at a time");
    batch_ = fixed_ ? *fixed_ : options_.batch;
    if (batch_ == 0) batch_ = within(kBatchBytes / in, 1, 256);
    part_rows_ = options_.part_rows;
    if (part_rows_ == 0) part_rows_ = within(kPartBytes / std::max(in, out), 1, 65536);
    // Whole batches, so that fewer of them are small.
    if (options_.part_rows == 0) part_rows_ = (part_rows_ + batch_ - 1) / batch_ * batch_;
  }

  int64_t rows_of(int64_t part) const {
    return std::min(part_rows_, report_.rows - part * part_rows_);
  }

  // All that the bytes of the outputs depend on.
  ordered_json description() const {
    const ModelOptions& loading = options_.loading;
    const CsvSourceOptions& csv = options_.inputs.csv;
    std::string constants;
    for (const auto& [name, datum] : inputs_.constants())
      constants += name + '\0' + constant_digest(datum);
    ordered_json inputs = ordered_json::array();
    for (const ScoreInputs::Unit& unit : inputs_.units()) {
      ordered_json one = {{"file", unit.label}, {"digest", unit.digest}};
      if (unit.files.size() > 1) one["files"] = unit.files.size();
      one["rows"] = unit.rows;
      inputs.push_back(std::move(one));
    }
    return {{"schema", 1},
            {"program", "onnx-run " SARDONYX_VERSION},
            {"model", {{"file", options_.model.filename().string()}, {"digest", model_digest_}}},
            {"options",
             {{"outputs", output_names_},
              {"format", options_.format == PartFormat::kCsv ? "csv" : "npz"},
              {"batch", batch_},
              {"part_rows", part_rows_},
              {"provider", loading.providers},
              {"level", loading.level},
              {"pass", loading.passes},
              {"no_pass", loading.disabled_passes},
              {"precision", loading.precision},
              {"dim", options_.inputs.dims},
              {"constants", digest_of(constants)},
              {"columns", csv.columns},
              {"delimiter", csv.delimiter},
              {"header", csv.has_header},
              {"allow_missing", csv.allow_missing}}},
            {"inputs", std::move(inputs)}};
  }
  static std::string constant_digest(const Datum& datum) {
    if (!datum.is_tensor()) fail_usage("--constant: only tensors can be given, not ", datum.type());
    const Tensor& tensor = datum.tensor();
    std::string bytes = datum.type().text();
    if (tensor.dtype() == DType::kString) {
      for (const std::string& element : tensor.values<std::string>())
        bytes += element + '\0';
    } else {
      bytes.append(static_cast<const char*>(tensor.raw()), tensor.bytes());
    }
    return digest_of(bytes);
  }

  // Rows are counted by whoever comes first, and read from job.json by the others.
  void begin_job() {
    model_digest_ = model_digest(options_.model);
    if (const std::optional<ordered_json> stored = job_.stored()) take_counted_rows(*stored);
    inputs_.count_rows();
    job_.begin(description());
  }
  void take_counted_rows(const ordered_json& stored) {
    if (!stored.contains("inputs") || !stored["inputs"].is_array()) return;
    const ordered_json& there = stored["inputs"];
    if (there.size() != inputs_.units().size()) return;
    std::vector<int64_t> rows;
    for (size_t i = 0; i < there.size(); ++i) {
      const ScoreInputs::Unit& unit = inputs_.units()[i];
      if (!there[i].is_object() || there[i].value("file", "") != unit.label ||
          there[i].value("digest", "") != unit.digest || there[i].value("rows", int64_t{-1}) < 0)
        return;
      rows.push_back(there[i]["rows"].get<int64_t>());
    }
    inputs_.set_rows(rows);
  }

  void announce(int64_t open) const {
    if (!options_.shard.origin.empty()) {
      remarks() << "score: shard " << options_.shard.index << " of " << options_.shard.count << " ("
                << options_.shard.origin << ")" << std::endl;
    }
    remarks() << "score: " << report_.shard_parts - open << " of " << report_.shard_parts
              << " parts are done" << std::endl;
  }

  void score_parts(const std::vector<int64_t>& parts, const std::vector<RowRange>& ranges,
                   int64_t rows) {
    ScoreProgress progress(rows);
    if (parts.empty()) return;
    BatchReader reader(inputs_, ranges, batch_);
    PartWriter writer(job_);
    std::optional<Part> part;
    while (std::optional<RowBatch> batch = reader.next()) {
      const RowRange& range = ranges[batch->range];
      if (!part) part.emplace(range.rows, output_names_);
      const int64_t batch_rows = batch->rows, at = batch->at;
      for (std::string& name : batch->row_names)
        part->add_row_name(std::move(name));
      score_batch(*part, std::move(*batch), range.first_row + at);
      progress.add(batch_rows);
      report_.scored_rows += batch_rows;
      if (at + batch_rows < range.rows) continue;
      writer.write(parts[batch->range], range.first_row, std::move(*part));
      part.reset();
      ++report_.scored_parts;
    }
    writer.finish();
    report_.seconds = progress.seconds();
  }

  void score_batch(Part& part, RowBatch batch, int64_t first_row) {
    NamedData feeds = std::move(batch.data);
    check_complete(feeds);
    const int64_t fed = fixed_.value_or(batch.rows);
    if (fed != batch.rows) pad(feeds, fed);
    for (const auto& [name, value] : inputs_.constants())
      feeds.emplace(name, value);
    RunOptions options;
    if (const RunControl* control = current_control()) {
      options.cancel = control->cancel;
      if (control->deadline) {
        options.deadline = std::max(std::chrono::ceil<std::chrono::milliseconds>(
                                        *control->deadline - std::chrono::steady_clock::now()),
                                    std::chrono::milliseconds(0));
      }
    }
    try {
      std::vector<Datum> outputs = options_.outputs.empty()
                                       ? runner_->run(feeds, options)
                                       : runner_->fetch(feeds, output_names_, options);
      part.add(batch.at, batch.rows, fed, std::move(outputs));
    } catch (const Error& error) {
      throw error.with_context(
          text("rows ", first_row, " to ", first_row + batch.rows - 1, " of the inputs"));
    }
  }

  void check_complete(const NamedData& feeds) const {
    for (const auto& [name, value] : feeds) {
      if (inputs_.constants().contains(name))
        fail_usage("input '", name, "' is given by rows and by --constant");
    }
    for (const ValueInfo& input : runner_->inputs()) {
      if (!feeds.contains(input.name) && !inputs_.constants().contains(input.name))
        fail_usage("input '", input.name, "' is given neither by rows nor by --constant");
    }
  }

  // The last row again, for models that take a fixed number of them.
  static void pad(NamedData& feeds, int64_t fed) {
    for (auto& [name, value] : feeds) {
      const Tensor& rows = value.tensor();
      const int64_t there = rows.shape()[0];
      Shape shape = rows.shape();
      shape[0] = fed;
      Tensor padded = Tensor::allocate(rows.dtype(), shape);
      copy_rows(padded, 0, rows);
      for (int64_t row = there; row < fed; ++row)
        copy_rows(padded, row, rows.slice(there - 1, there));
      value = Datum(std::move(padded));
    }
  }

  const ScoreOptions& options_;
  std::unique_ptr<Runner> runner_;
  ScoreInputs inputs_;
  ScoreJob job_;
  std::vector<std::string> output_names_;
  std::string model_digest_;
  std::optional<int64_t> fixed_;
  int64_t batch_ = 0, part_rows_ = 0;
  ScoreReport report_;
};

}  // namespace

ScoreReport score(const ScoreOptions& options) {
  return Scoring(options).run();
}

}  // namespace sardonyx::tool
