// run MODEL
#include <sardonyx/session.h>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const sardonyx::Session session(argv[1]);
  const auto outputs =
      session.run({{session.inputs()[0].name,
                    sardonyx::Tensor::zeros(sardonyx::DType::kFloat, {1, 1, 28, 28})}});
  return outputs.size() == 1 ? 0 : 1;
}
