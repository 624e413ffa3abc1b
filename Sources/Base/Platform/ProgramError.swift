/// An error that says how a program ends because of it, and what a server answers. Its description is the message for
/// people.
package protocol ProgramError: Error {
  /// The exit code of the program.
  var exitStatus: ExitStatus { get }
  /// What a server answers to a request that fails because of it; ``Refusal/failure`` by default.
  var refusal: Refusal { get }
}

extension ProgramError {
  package var refusal: Refusal { .failure }
}

/// How a server refuses a request.
package struct Refusal: Sendable, Equatable {
  /// The status of HTTP.
  package let status: Int
  /// The code for programs.
  package let code: String

  /// The server has failed, and the client can do nothing.
  package static let failure = Refusal(status: 500, code: "internal")
  /// The request is wrong.
  package static let badRequest = Refusal(status: 400, code: "badRequest")
  /// What the request names does not exist.
  package static let notFound = Refusal(status: 404, code: "notFound")
  /// The state of the server does not allow the request.
  package static func conflict(_ code: String) -> Refusal { Refusal(status: 409, code: code) }
  /// The server cannot do it now.
  package static func unavailable(_ code: String) -> Refusal { Refusal(status: 503, code: code) }
}

extension StorageError: ProgramError {
  /// The exit code of a program that fails because of it.
  package var exitStatus: ExitStatus {
    // A symbolic link could lead out of the root directory.
    kind == .other && code == ELOOP ? .permission : ExitStatus(self)
  }
}
