/// The processors of this machine.
package enum Processors {
  /// The number of processors, at least 1.
  package static let count = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
}
