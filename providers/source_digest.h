// Of the sources that decide how weights are packed; made by the build.
#pragma once

namespace sardonyx {

extern const char kSourceDigest[];

}  // namespace sardonyx
