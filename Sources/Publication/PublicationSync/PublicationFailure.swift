package import Platform

/// Why a device stays with the rows that it has. Nothing was changed.
package enum PublicationFailure: Error, Sendable, Equatable, CustomStringConvertible {
  /// The publication was refused: its signature, its keys, another catalogue, an older state, a broken rule.
  case refused(String)
  /// The place has an older state than this device. From a mirror this is usual for a while.
  case older(String)
  /// The publication cannot be reached, or objects of it are missing or damaged.
  case unavailable(String)
  /// The address has no head: it is not that of a publication, or no longer.
  case gone(String)
  /// The codes that the publication wants to be found, or not to be found, are not so in its new rows.
  case probeFailed(String)
  /// Another process of this device is fetching the same publication.
  case busy(String)

  package var description: String {
    switch self {
    case .refused(let reason), .older(let reason), .unavailable(let reason), .gone(let reason),
      .probeFailed(let reason), .busy(let reason):
      reason
    }
  }
}

extension PublicationFailure: ProgramError {
  package var exitStatus: ExitStatus {
    switch self {
    case .refused, .older, .probeFailed: .data
    case .unavailable, .gone: .unavailable
    case .busy: .temporary
    }
  }
}
