// `onnx-run man-page`: the page for man(1), made from the parser's tables.
#include <CLI/CLI.hpp>
#include <iostream>

#include "tools/onnx-run/commands/command_tables.h"
#include "tools/onnx-run/commands/commands.h"
#include "tools/onnx-run/exit_codes.h"

namespace sardonyx::tool {
namespace {

// Dashes stay dashes, and no line is taken for a request of roff's.
std::string roff_text(const std::string& text) {
  std::string escaped = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  escaped = replaced(escaped, "\n", "\n.br\n");
  if (escaped.starts_with('.') || escaped.starts_with('\'')) escaped.insert(0, "\\&");
  return escaped;
}

void write_roff_options(std::ostream& out, const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string name =
        option->get_positional() ? option->get_name(true) : option_words(*option, ", ");
    const std::string value = option->get_positional() || !takes_value(*option)
                                  ? ""
                                  : " \\fI" + roff_text(option->get_type_name()) + "\\fR";
    out << ".TP\n\\fB" << roff_text(name) << "\\fR" << value << "\n"
        << roff_text(option->get_description()) << "\n";
  }
}

void write_man_page(std::ostream& out, const CLI::App& app) {
  out << ".TH ONNX\\-RUN 1 \"\" \"sardonyx " SARDONYX_VERSION "\" \"User Commands\"\n"
      << ".SH NAME\nonnx\\-run \\- runs, checks, measures and inspects ONNX models\n"
      << ".SH SYNOPSIS\n.B onnx\\-run\n[\\fICOMMAND\\fR] \\fIMODEL\\fR [\\fIOPTION\\fR...]\n"
      << ".SH DESCRIPTION\n"
      << roff_text(app.get_description() + " Without a command the model is run.") << "\n"
      << ".SH OPTIONS OF ALL COMMANDS\n";
  write_roff_options(out, app);
  out << ".SH COMMANDS\n";
  for (const CLI::App* command : commands_of(app)) {
    out << ".SS " << roff_text(command->get_name()) << "\n"
        << roff_text(command->get_description()) << "\n";
    write_roff_options(out, *command);
  }
  out << ".SH EXIT STATUS\n";
  for (const ExitStatus& status : kExitStatuses)
    out << ".TP\n" << status.code << "\n" << roff_text(status.meaning) << "\n";
}

}  // namespace

void add_man_page_command(CLI::App& app, Action& action) {
  CLI::App* page = app.add_subcommand("man-page", "write the page for man(1)");
  page->callback([&app, &action] {
    action = [&app] {
      write_man_page(std::cout, app);
      std::cout.flush();
      return kOk;
    };
  });
}

}  // namespace sardonyx::tool
