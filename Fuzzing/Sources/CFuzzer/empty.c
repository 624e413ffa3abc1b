// A target of C needs a source. libFuzzer itself comes with the option -sanitize=fuzzer.
#include "CFuzzer.h"
