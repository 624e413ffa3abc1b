/// The entry of the packaged program, which is catalogctl and catalogd: two names of one file.

#include <string.h>

// The entries of the two programs, as the compiler names them.
int catalogctl_main(int argc, char **argv);
int catalogd_main(int argc, char **argv);

/// Runs the daemon if the process was started under the name catalogd, from whatever directory, and else the command.
int main(int argc, char **argv) {
  const char *name = argc > 0 ? argv[0] : "";
  const char *slash = strrchr(name, '/');
  if (slash != NULL) name = slash + 1;
  return strcmp(name, "catalogd") == 0 ? catalogd_main(argc, argv) : catalogctl_main(argc, argv);
}
