/* own_protobuf MODEL: a program with a protobuf and a re2 of its own, of other versions. Their
 * functions are seen by all libraries of the process, and none of them is to be called by sardonyx.
 * The names are those that the compiler gives to functions in C++. */
#include <stdlib.h>

#include "run_model.h"

static void complain(const char* name) {
  fprintf(stderr, "sardonyx called the program's %s\n", name);
  abort();
}

#define OWN(name)    \
  void name(void);   \
  void name(void) {  \
    complain(#name); \
  }
OWN(_ZN6google8protobuf5Arena23AllocateAlignedWithHookEmPKSt9type_info)
OWN(_ZN6google8protobuf13RepeatedFieldIlE7ReserveEi)
OWN(_ZN6google8protobuf13RepeatedFieldIlED1Ev)
OWN(_ZN6google8protobuf8internal12ParseContext12ParseMessageEPNS0_11MessageLiteEPKc)
OWN(_ZN6google8protobuf8internal14ArenaStringPtr7DestroyEv)
OWN(_ZN6google8protobuf8internal15ReadTagFallbackEPKcj)
OWN(_ZN6google8protobuf8internal16InternalMetadata15CheckedDestructEv)
OWN(_ZN6google8protobuf8internal17PackedFloatParserEPvPKcPNS1_12ParseContextE)
OWN(_ZN6google8protobuf8internal17PackedInt64ParserEPvPKcPNS1_12ParseContextE)
OWN(_ZN6google8protobuf8internal17VarintParseSlow64EPKcj)
OWN(_ZN6google8protobuf8internal18EpsCopyInputStream12DoneFallbackEii)
OWN(_ZN6google8protobuf8internal20RepeatedPtrFieldBase13DestroyProtosEv)
OWN(_ZN6google8protobuf8internal20RepeatedPtrFieldBase14InternalExtendEi)
OWN(_ZN3re23RE2C1ERKNS_11StringPieceERKNS0_7OptionsE)
OWN(_ZN3re23RE2D1Ev)

int main(int argc, char** argv) {
  return argc < 2 ? 2 : run_model(argv[1], NULL);
}
