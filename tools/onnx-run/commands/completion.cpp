// `onnx-run completion SHELL`: completion of commands and options for bash, zsh and fish, made from
// the parser's tables.
#include <CLI/CLI.hpp>
#include <iostream>
#include <sstream>

#include "tools/onnx-run/commands/command_tables.h"
#include "tools/onnx-run/commands/commands.h"
#include "tools/onnx-run/exit_codes.h"

namespace sardonyx::tool {
namespace {

// Of a description that may have several lines.
std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string all_option_words(const CLI::App& app) {
  std::string words;
  for (const CLI::Option* option : flags_and_options(app))
    words += option_words(*option, " ") + " ";
  return words;
}

void write_bash(std::ostream& out, const CLI::App& app) {
  std::string names, cases;
  for (const CLI::App* command : commands_of(app)) {
    names += (names.empty() ? "" : " ") + command->get_name();
    cases += "    " + command->get_name() + ") words=\"" + all_option_words(*command) +
             all_option_words(app) + "\" ;;\n";
  }
  out << "# bash completion of onnx-run\n"
         "_onnx_run() {\n"
         "  local current=${COMP_WORDS[COMP_CWORD]} command=\"\" word words\n"
         "  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
         "    case $word in "
      << replaced(names, " ", "|")
      << ") command=$word; break ;; esac\n"
         "  done\n"
         "  case $command in\n"
      << cases << "    *) words=\"" << names << " " << all_option_words(app)
      << "\" ;;\n"
         "  esac\n"
         "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
         "  [[ $current == -* ]] || mapfile -t -O \"${#COMPREPLY[@]}\" COMPREPLY < <(compgen -f -- "
         "\"$current\")\n"
         "}\n"
         "complete -o filenames -F _onnx_run onnx-run\n";
}

// Within single quotes, and in zsh's own brackets.
std::string zsh_text(const std::string& text) {
  std::string quoted;
  for (const char c : first_line(text)) {
    if (c == '\'')
      quoted += "'\\''";
    else if (c == '[' || c == ']' || c == ':' || c == '\\')
      quoted += std::string("\\") + c;
    else
      quoted += c;
  }
  return quoted;
}

void write_zsh_options(std::ostream& out, const CLI::App& app) {
  for (const CLI::Option* option : flags_and_options(app)) {
    std::istringstream words(option_words(*option, " "));
    for (std::string word; words >> word;)
      out << " \\\n      '" << word << "[" << zsh_text(option->get_description()) << "]"
          << (takes_value(*option) ? ":value:_files" : "") << "'";
  }
}

void write_zsh(std::ostream& out, const CLI::App& app) {
  out << "#compdef onnx-run\n"
         "local -a commands=(\n";
  for (const CLI::App* command : commands_of(app))
    out << "  '" << command->get_name() << ":" << zsh_text(command->get_description()) << "'\n";
  out << ")\n"
         "if ((CURRENT == 2)); then\n"
         "  _describe command commands\n"
         "  _files\n"
         "  return\n"
         "fi\n"
         "case $words[2] in\n";
  for (const CLI::App* command : commands_of(app)) {
    out << "  " << command->get_name() << ")\n    _arguments '*:file:_files'";
    write_zsh_options(out, *command);
    write_zsh_options(out, app);
    out << " ;;\n";
  }
  out << "  *) _files ;;\n"
         "esac\n";
}

std::string fish_text(const std::string& text) {
  return replaced(replaced(first_line(text), "\\", "\\\\"), "'", "\\'");
}

void write_fish_options(std::ostream& out, const CLI::App& app, const std::string& condition) {
  for (const CLI::Option* option : flags_and_options(app)) {
    out << "complete -c onnx-run" << condition;
    for (const std::string& name : option->get_snames())
      out << " -s " << name;
    for (const std::string& name : option->get_lnames())
      out << " -l " << name;
    out << (takes_value(*option) ? " -r" : "") << " -d '" << fish_text(option->get_description())
        << "'\n";
  }
}

void write_fish(std::ostream& out, const CLI::App& app) {
  out << "# fish completion of onnx-run\n";
  write_fish_options(out, app, "");
  for (const CLI::App* command : commands_of(app)) {
    const std::string& name = command->get_name();
    out << "complete -c onnx-run -n __fish_use_subcommand -a " << name << " -d '"
        << fish_text(command->get_description()) << "'\n";
    write_fish_options(out, *command, " -n '__fish_seen_subcommand_from " + name + "'");
  }
}

}  // namespace

void add_completion_command(CLI::App& app, Action& action) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* completion =
      app.add_subcommand("completion", "write a shell's completion of commands and options");
  completion->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  completion->callback([&app, &action, shell] {
    action = [&app, shell] {
      (*shell == "bash" ? write_bash : *shell == "zsh" ? write_zsh : write_fish)(std::cout, app);
      std::cout.flush();
      return kOk;
    };
  });
}

}  // namespace sardonyx::tool
