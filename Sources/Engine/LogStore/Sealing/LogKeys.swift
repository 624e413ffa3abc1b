import RecordFormat
package import Sealing

/// The keys with which the logs of a store may be sealed.
package struct LogKeys: Sendable {
  /// The key with which new generations are sealed; `nil` if none is known.
  package var current: DataKey?
  /// Former keys, with which a log may still be sealed while another key replaces them.
  package var former: [DataKey] = []
  /// Whether a store that has no log yet is created sealed.
  package var sealsNew = false
  /// Whether there is a key, and it is another one than that of the stores.
  package var areRefused = false
  /// Returns the keys that hold now; `nil` if they never change. Asked when a log has a key that is not among these, and
  /// before a new file is begun: another process may have sealed the stores, or replaced their key, since these were read.
  package var newest: (@Sendable () -> LogKeys)?
  /// The algorithm of new files; `nil` for the faster one that the processor can compute.
  package var algorithm: AuthenticatedCipher.Algorithm?
  /// Whether sealed logs may be opened without a key, to look at their structure. Rows cannot be read then.
  package var areOptional = false
  /// Whether clear logs are refused, because all logs of this place were sealed: somebody without the key may have put
  /// them there.
  package var refuseClear = false

  package init(_ current: DataKey? = nil, former: [DataKey] = []) {
    self.current = current
    self.former = former
  }

  /// The keys that hold now.
  var now: LogKeys { newest?() ?? self }

  /// No key: sealed logs are refused.
  package static let none = LogKeys()
  /// No key: sealed logs are opened to look at their structure.
  static let structureOnly = {
    var keys = LogKeys()
    keys.areOptional = true
    return keys
  }()

  /// Returns what opens a log with this header; `nil` for a clear log, and for a sealed one that is opened without a key.
  ///
  /// - Throws: `StoreError.sealed` if the key is not known; `.unusable` if it cannot be used, or if clear logs are
  ///   refused.
  func sealing(of header: FileHeader, path: String) throws(StoreError) -> LogSealing? {
    guard let parameters = header.sealing else {
      // Another process may have unsealed the store since the keys were read.
      if refuseClear, now.refuseClear {
        throw .unusable(
          path: path,
          reason: "it is in clear, and all stores of its user were sealed; if nobody has put it there on purpose, seal"
            + " the user again")
      }
      return nil
    }
    var known = key(parameters.keyID)
    if known == nil {
      if areOptional { return nil }
      let now = now
      known = now.key(parameters.keyID)
      if known == nil { throw .sealed(path: path, isOtherKey: now.current != nil || now.areRefused) }
    }
    guard let known else { return nil }
    do {
      return try LogSealing(
        header.storeID, generation: header.generation, algorithm: parameters.algorithm, known)
    } catch {
      throw .unusable(path: path, reason: "\(error)")
    }
  }

  private func key(_ id: [UInt8]) -> DataKey? { ([current].compactMap { $0 } + former).first { $0.id == id } }

  /// Returns how a new file is sealed with the key that is current now.
  ///
  /// - Throws: `StoreError.sealed` if there is no key; `.unusable` without the library.
  func parametersForNewFile(path: String) throws(StoreError) -> SealingParameters {
    let now = now
    guard let current = now.current else { throw .sealed(path: path, isOtherKey: now.areRefused) }
    do {
      let algorithm = try algorithm ?? AuthenticatedCipher.Algorithm.preferred()
      return SealingParameters(keyID: current.id, algorithm: algorithm.rawValue)
    } catch { throw .unusable(path: path, reason: "\(error)") }
  }
}
