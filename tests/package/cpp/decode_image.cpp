// decode_image FILE: 0 where it is an image, 3 where no decoder of its format is linked.
#include <sardonyx/eager.h>

#include <cstdio>

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  try {
    const sardonyx::eager::Tensor image = sardonyx::eager::data::read_image(argv[1]);
    return image.rank() == 3 ? 0 : 1;
  } catch (const sardonyx::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return error.code() == sardonyx::ErrorCode::kUnsupported ? 3 : 1;
  }
}
