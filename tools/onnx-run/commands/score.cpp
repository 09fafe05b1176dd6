// `onnx-run score`: runs a model on all rows of some files, as one of several shards.
#include <CLI/CLI.hpp>
#include <iostream>
#include <nlohmann/json.hpp>

#include "ir/core/run_control.h"
#include "tools/onnx-run/commands/commands.h"
#include "tools/onnx-run/exit_codes.h"
#include "tools/onnx-run/interruption.h"
#include "tools/onnx-run/json_output.h"
#include "tools/onnx-run/repeatable.h"
#include "tools/onnx-run/score/score_progress.h"
#include "tools/onnx-run/score/score_run.h"

namespace sardonyx::tool {
namespace {

struct ScoreCommand {
  ScoreOptions score;
  std::string shard, format = "npz";
  int64_t shards = 0;
  bool has_no_header = false;
  JsonOutput json;
};

nlohmann::ordered_json report_of(const ScoreCommand& command, const ScoreReport& report) {
  return {{"model", command.score.model.string()},
          {"output", command.score.folder.string()},
          {"shard", {{"index", command.score.shard.index}, {"count", command.score.shard.count}}},
          {"rows", report.rows},
          {"parts", report.parts},
          {"shard_rows", report.shard_rows},
          {"shard_parts", report.shard_parts},
          {"scored_rows", report.scored_rows},
          {"scored_parts", report.scored_parts},
          {"seconds", report.seconds},
          {"complete", report.is_complete}};
}

void print_report(std::ostream& out, const ScoreReport& report) {
  out << "scored " << report.scored_rows << " of " << report.shard_rows << " rows, "
      << report.scored_parts << " of " << report.shard_parts << " parts, in "
      << duration_text(report.seconds);
  if (report.seconds > 0) {
    out << " (" << static_cast<int64_t>(static_cast<double>(report.scored_rows) / report.seconds)
        << " rows/s)";
  }
  out << (report.is_complete ? "; the job is complete" : "; other shards are not done yet")
      << std::endl;
}

int run_score(ScoreCommand& command) {
  command.score.shard = shard_of(command.shard, command.shards, process_environment());
  command.score.format = command.format == "csv" ? PartFormat::kCsv : PartFormat::kNpz;
  command.score.inputs.csv.has_header = !command.has_no_header;
  RunControl control;
  control.cancel = stop_on_interrupt();
  if (command.score.loading.memory_limit_mb > 0) {
    control.budget = std::make_shared<MemoryBudget>(
        static_cast<size_t>(command.score.loading.memory_limit_mb) << 20);
  }
  const ControlScope scope(control);
  try {
    const ScoreReport report = score(command.score);
    print_report(command.json.on_stdout() ? std::cerr : std::cout, report);
    if (command.json.wanted()) command.json.write(report_of(command, report));
    return kOk;
  } catch (const std::exception& error) {
    if (!was_interrupted()) throw;
    std::cerr << "onnx-run: interrupted: " << error.what() << std::endl;
    return kInterrupted;
  }
}

void add_row_options(CLI::App& command, ScoreCommand& options) {
  ScoreInputOptions& inputs = options.score.inputs;
  repeatable(
      command.add_option(
          "-i,--input", inputs.inputs,
          "a file, folder or pattern of .npz, .npy, .csv, .tsv, .parquet, .bin, .raw or images; "
          "NAME=@PATTERN: for this input (repeatable)"))
      ->required();
  repeatable(command.add_option("--constant", inputs.constants,
                                "NAME=@FILE: an input that is the same for all rows (repeatable)"));
  repeatable(command.add_option("--columns", inputs.csv.columns,
                                "NAME=COLUMNS of CSV for an input: names, numbers from 0 on or "
                                "ranges 3-7, with commas between (repeatable)"));
  command.add_flag("--no-header", options.has_no_header, "the first line of CSV is a row");
  command.add_option("--delimiter", inputs.csv.delimiter,
                     "between fields of CSV (default: a comma; a tab for .tsv)");
  command.add_flag("--allow-missing", inputs.csv.allow_missing,
                   "empty fields of CSV are NaN in floating inputs");
  repeatable(command.add_option("--dim", inputs.dims,
                                "SYMBOL=SIZE of rows that do not tell theirs (repeatable)"));
}

}  // namespace

void add_score_command(CLI::App& app, Action& action) {
  const auto options = std::make_shared<ScoreCommand>();
  CLI::App* command = app.add_subcommand("score", "run a model on all rows of files, restartably");
  command->add_option("MODEL,-m,--onnx", options->score.model, "the .onnx file")->required();
  add_row_options(*command, *options);
  command->add_option("-o,--output", options->score.folder, "folder for the parts")->required();
  command->add_option("--format", options->format, "of the parts: npz (default) or csv")
      ->check(CLI::IsMember({"npz", "csv"}));
  repeatable(command->add_option("--outputs", options->score.outputs,
                                 "values to write instead of the model's outputs, by name"))
      ->delimiter(',');
  command->add_option("--batch", options->score.batch, "rows of a run (default: up to 256)")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 30));
  command
      ->add_option("--part-rows", options->score.part_rows, "rows of a part (default: up to 65536)")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40));
  command
      ->add_option("--shard", options->shard,
                   "K/N: part K (from 0) of N of the work (default: what Slurm, Kubernetes or "
                   "MPI say, else all)")
      // Of a variable that is not set; not the same as no option, which may mean all rows.
      ->check([](const std::string& given) {
        return given.empty() ? std::string("expected K/N, got ''") : std::string();
      });
  command
      ->add_option("--shards", options->shards,
                   "how many array tasks or completions there are, where they don't say")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 24));
  command->add_option("--json", options->json.target, "write a report to stdout, or to =FILE");
  add_model_options(*command, options->score.loading);
  command->callback([options, &action] { action = [options] { return run_score(*options); }; });
}

}  // namespace sardonyx::tool
