// The one function of libFuzzer that Swift calls; its own header is C++.
#ifndef SHELFMARK_CFUZZER_H
#define SHELFMARK_CFUZZER_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*harness)(const uint8_t *bytes, size_t count));

#endif
