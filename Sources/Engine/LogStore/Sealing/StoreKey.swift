package import Sealing

/// The key with which the logs of a store are sealed: 32 random bytes. Whoever loses it loses what it seals.
///
/// It is kept in memory of its own, which the system locks where it may, leaves out of core dumps, and which is wiped when
/// the last copy is gone. A program that keeps several users need not handle keys: `Workspace` wraps them in a file.
public struct StoreKey: Sendable {
  /// The length of a key in bytes.
  public static let byteCount = 32

  package let dataKey: DataKey

  /// Takes the bytes of a key and overwrites the array with zeros. Copies of the array stay as they are.
  ///
  /// - Parameter bytes: ``byteCount`` bytes that nobody can guess, such as 32 of `/dev/random`; no passphrase. Any other
  ///   number is a programmer's error.
  /// - Throws: `StoreError.unusable` if the system has no libsodium.
  public init(taking bytes: inout [UInt8]) throws(StoreError) {
    precondition(bytes.count == Self.byteCount, "a key has 32 bytes")
    do {
      dataKey = try DataKey(SecretBytes(copying: bytes))
    } catch { throw .unusable(path: "a key", reason: "\(error)") }
    SecretBytes.wipe(&bytes)
  }
}

extension StoreLocation {
  /// Returns the same location, whose sealed logs are opened with `key`. A clear log ignores it.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - sealsNew: Whether a store that has no log yet is created sealed; otherwise it is created in clear.
  public func opening(with key: StoreKey, sealsNew: Bool) -> StoreLocation {
    opening(with: key.dataKey, sealsNew: sealsNew)
  }
}
