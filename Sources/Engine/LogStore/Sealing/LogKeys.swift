import RecordFormat
package import Sealing

/// The keys with which the logs of a store may be sealed.
package struct LogKeys: Sendable {
  /// The key with which new generations are sealed; `nil` if none is known.
  package var current: DataKey?
  /// Former keys, with which a log may still be sealed while another key replaces them.
  package var former: [DataKey] = []
  /// Whether sealed logs may be opened without a key, to look at their structure. Rows cannot be read then.
  package var areOptional = false
  /// Whether clear logs are refused, because all logs of this place were sealed: somebody without the key may have put
  /// them there.
  package var refuseClear = false

  package init(_ current: DataKey? = nil, former: [DataKey] = []) {
    self.current = current
    self.former = former
  }

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
      if refuseClear {
        throw .unusable(
          path: path,
          reason: "it is in clear, and all stores of its user were sealed; if nobody has put it there on purpose, seal the"
            + " user again")
      }
      return nil
    }
    let known = ([current].compactMap { $0 } + former).first { $0.id == parameters.keyID }
    guard let known else {
      if areOptional { return nil }
      throw .sealed(path: path, isOtherKey: current != nil)
    }
    do {
      return try LogSealing(
        header.storeID, generation: header.generation, algorithm: parameters.algorithm, known)
    } catch {
      throw .unusable(path: path, reason: "\(error)")
    }
  }

  /// Returns how a new file is sealed with the current key.
  ///
  /// - Throws: `StoreError.sealed` if there is no key; `.unusable` without the library.
  func parametersForNewFile(path: String) throws(StoreError) -> SealingParameters {
    guard let current else { throw .sealed(path: path, isOtherKey: false) }
    do {
      return SealingParameters(keyID: current.id, algorithm: try AuthenticatedCipher.Algorithm.preferred().rawValue)
    } catch { throw .unusable(path: path, reason: "\(error)") }
  }
}
