// exit_while_running MODEL MICROSECONDS: as its namesake in C, by the static library.
#include <sardonyx/session.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

void load(const std::string& model) {
  for (;;)
    const sardonyx::Session session(model);
}

void run(const std::string& model) {
  const auto pixels = sardonyx::Tensor::zeros(sardonyx::DType::kFloat, {1, 1, 28, 28});
  for (;;) {
    const sardonyx::Session session(model);
    session.run({{session.inputs()[0].name, pixels}});
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  static const std::string& model = *new std::string(argv[1]);  // the threads outlive main
  for (int i = 0; i < 2; ++i) {
    std::thread(load, std::cref(model)).detach();
    std::thread(run, std::cref(model)).detach();
  }
  std::this_thread::sleep_for(std::chrono::microseconds(std::atoi(argv[2])));
  return 0;
}
