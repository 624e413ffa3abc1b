internal import CSealing

/// Why something cannot be sealed or opened.
package enum SealingError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The system has no libsodium, or one that is too old.
  case noLibrary(reason: String)
  /// There is no memory for a key.
  case noMemory
  /// A log was sealed with an algorithm that this program does not know, or that this processor cannot compute.
  case algorithm(UInt8)

  /// What is missing, for people.
  package var description: String {
    switch self {
    case .noLibrary(let reason): reason
    case .noMemory: "there is no memory for a key"
    case .algorithm(AuthenticatedCipher.Algorithm.aes256GCM.rawValue):
      "it is sealed with AES-256-GCM, for which this processor has no instructions; install libcrypto 3, which works "
        + "without them (on Debian: apt install libssl3)"
    case .algorithm(let number): "it is sealed with algorithm \(number), which this program does not know"
    }
  }

  /// Why a key cannot be prepared.
  static func unprepared(
    _ algorithm: AuthenticatedCipher.Algorithm, _ library: AuthenticatedCipher.Library
  ) -> SealingError {
    let mayLackAES = algorithm == .aes256GCM && (library != .best || !shelfmark_has_aes())
    return mayLackAES ? .algorithm(algorithm.rawValue) : .noMemory
  }

  /// Loads the library.
  static func loadLibrary() throws(SealingError) {
    // The reason is a constant text.
    if let reason = unsafe shelfmark_sealing_load() { throw .noLibrary(reason: unsafe String(cString: reason)) }
  }
}
