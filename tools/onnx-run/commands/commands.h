// The subcommands; each is described in a file of its name.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace sardonyx::tool {

// What the chosen command does; gives the exit status.
using Action = std::function<int()>;

// Each adds one command with its options to `app` and sets `action` when it is chosen.
void add_run_command(CLI::App& app, Action& action);
void add_bench_command(CLI::App& app, Action& action);
void add_bench_ops_command(CLI::App& app, Action& action);
void add_bench_sizes_command(CLI::App& app, Action& action);
void add_compare_command(CLI::App& app, Action& action);
void add_conformance_command(CLI::App& app, Action& action);
void add_check_command(CLI::App& app, Action& action);
void add_inspect_command(CLI::App& app, Action& action);
void add_dump_command(CLI::App& app, Action& action);
void add_rewrite_commands(CLI::App& app, Action& action);  // optimize, convert, infer-shapes
void add_list_ops_command(CLI::App& app, Action& action);
void add_list_passes_command(CLI::App& app, Action& action);
void add_score_command(CLI::App& app, Action& action);
void add_serve_command(CLI::App& app, Action& action);
void add_env_command(CLI::App& app, Action& action);
// These two describe all commands, of `app` as it is when they run.
void add_completion_command(CLI::App& app, Action& action);
void add_man_page_command(CLI::App& app, Action& action);

}  // namespace sardonyx::tool
