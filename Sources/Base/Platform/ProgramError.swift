/// An error that says how a program ends because of it. Its description is the message for people.
package protocol ProgramError: Error {
  /// The exit code of the program.
  var exitStatus: ExitStatus { get }
}

extension StorageError: ProgramError {
  /// The exit code of a program that fails because of it.
  package var exitStatus: ExitStatus {
    // A symbolic link could lead out of the root directory.
    kind == .other && code == ELOOP ? .permission : ExitStatus(self)
  }
}
