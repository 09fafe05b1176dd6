/* run MODEL [PROVIDERS] */
#include "run_model.h"

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  return run_model(argv[1], argc > 2 ? argv[2] : NULL);
}
