package import Platform

/// Why something was not published. Devices see the state that they saw before.
package enum PublisherError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Another publisher writes to the same place.
  case otherPublisher(String)
  /// The keys do not fit.
  case key(String)
  /// What was asked for cannot be done with this publication.
  case invalid(String)
  /// What was written is not what is read back.
  case notPublished(String)
  /// The place does not keep the conditions of writes, and nobody has said that there is only one publisher.
  case unconditional(String)
  /// Another process of this machine publishes the same.
  case busy(String)

  package var description: String {
    switch self {
    case .otherPublisher(let text), .key(let text), .invalid(let text), .notPublished(let text), .busy(let text),
      .unconditional(let text):
      text
    }
  }
}

extension PublisherError: ProgramError {
  package var exitStatus: ExitStatus {
    switch self {
    case .otherPublisher: .cannotCreate
    case .unconditional: .usage
    case .key: .permission
    case .invalid: .data
    case .notPublished: .unavailable
    case .busy: .temporary
    }
  }
}
