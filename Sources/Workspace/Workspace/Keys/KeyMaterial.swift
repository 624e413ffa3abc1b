package import Sealing

/// What opens a keys file: a key, or a passphrase. Neither is stored.
package enum KeyMaterial: Sendable {
  /// A key of 32 bytes.
  case raw(SecretBytes)
  /// A passphrase of at least one byte, from which a key is derived with Argon2id.
  case passphrase(SecretBytes)

  /// The kind, as a keys file stores it.
  package enum Kind: UInt8, Sendable, CaseIterable {
    case raw = 1
    case passphrase = 2

    /// The word for people and programs.
    package var word: String {
      switch self {
      case .raw: "key"
      case .passphrase: "passphrase"
      }
    }
  }

  package var kind: Kind {
    switch self {
    case .raw: .raw
    case .passphrase: .passphrase
    }
  }
}

/// The parameters of Argon2id.
package struct PassphraseCost: Sendable, Equatable {
  /// The number of passes.
  package var passes: UInt32
  /// The memory in KiB.
  package var memory: UInt32

  /// The second recommendation of RFC 9106, section 4, with one lane, as libsodium has only one.
  package static let standard = PassphraseCost(passes: 3, memory: 64 << 10)

  package init(passes: UInt32, memory: UInt32) {
    self.passes = passes
    self.memory = memory
  }

  /// What a stored wrapping may ask for. The limits keep a forged file from using all memory, or hours.
  static let passes: ClosedRange<UInt32> = 1...64
  static let memory: ClosedRange<UInt32> = 8...(1 << 20)

  /// Whether a passphrase may cost so much.
  var isAllowed: Bool { Self.passes ~= passes && Self.memory ~= memory }
}
