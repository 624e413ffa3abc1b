package import Catalog
import CatalogHTTP
package import Cryptography
import Essentials
import LogStore
package import PublicationFormat
import Storage
import TextFormat

/// A device's side of a publication: gets the head, checks it, and plans which files lead to its state.
package struct PublicationClient: Sendable {
  package let origin: any PublicationOrigin
  /// Where the files are asked for first. What they say is checked like everything else.
  package let mirrors: [any PublicationOrigin]
  var cache: PublicationCache
  /// The root key that the operator has given; `nil` for the one that was met first.
  let rootKey: SignifyPublicKey?
  /// The device's number among all devices, 0 to less than 100, which decides its ring.
  let deviceNumber: Double
  /// What mirrors did wrong.
  package let mirrorFaults = MirrorFaults()
  /// Whether the origin is asked for its head also if a mirror has answered. A mirror may lag, or hold a head back, so a
  /// device that does not ask each time has to ask now and then.
  package var asksOriginToo = true
  /// How long to wait before a head that is not what its signature signs is asked for again.
  package var pauses: [Duration] = [.milliseconds(200), .seconds(1)]

  package init(
    origin: any PublicationOrigin, mirrors: [any PublicationOrigin] = [], cache: PublicationCache,
    rootKey: SignifyPublicKey?, deviceNumber: Double
  ) {
    self.origin = origin
    self.mirrors = mirrors
    self.cache = cache
    self.rootKey = rootKey
    self.deviceNumber = deviceNumber
  }

  /// The number of a device among all devices.
  ///
  /// - Parameter id: The id of the device, the same for its whole life.
  package static func deviceNumber(of id: String) throws(CryptographyError) -> Double {
    let hash = try Hash.sha256(of: Array("shelfmark ring \(id)".utf8))
    let number = hash.prefix(8).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return Double(number >> 11) / Double(UInt64(1) << 53) * 100
  }

  /// A head that was checked, and the keys that vouch for it.
  package struct CheckedHead: Sendable {
    package var head: PublicationHead
    package var trust: PublicationTrust
    /// Whether the head is another one than the device had.
    package var isNew: Bool
    /// What went wrong on the way without being a reason to stop.
    package var notes: [String]
  }

  // MARK: The head

  /// Gets the head of the publication, and checks it.
  ///
  /// - Parameters:
  ///   - mark: What the catalogue knows of its publication; `nil` if it follows none.
  ///   - takesOther: Whether the head may be of another catalogue than before.
  /// - Throws: ``PublicationFailure``; `StorageError`; `CancellationError`.
  package func head(_ mark: PublicationMark?, takesOther: Bool) async throws -> CheckedHead {
    var notes: [String] = []
    var newest: CheckedHead?
    // Whoever the first root key comes from is trusted from then on: that is the origin, never a mirror.
    let asksMirrors = trust(mark, takesOther: takesOther).root != nil
    for mirror in asksMirrors ? mirrors : [] where !mirrorFaults.isUnreachable(mirror.name) {
      do {
        let checked = try await head(from: mirror, mark, takesOther: takesOther)
        if checked.head.sequence > newest?.head.sequence ?? 0 { newest = checked }
      } catch let error as PublicationFailure {
        notes.append("the mirror \(mirror.name) was left out: \(error)")
        switch error {
        case .refused: mirrorFaults.add(.wrong, mirror.name, "\(error)")
        case .older: mirrorFaults.add(.older, mirror.name, "\(error)")
        case .unavailable: mirrorFaults.isUnreachable(mirror.name, true)
        case .gone, .probeFailed, .busy: break
        }
      }
    }
    // Which catalogue a device follows is for the origin to say.
    if !asksOriginToo, mark != nil, !takesOther, var newest {
      newest.notes = notes + newest.notes
      return newest
    }
    // What a mirror has needs not come from the origin.
    do {
      let checked = try await head(from: origin, mark, takesOther: takesOther)
      if let other = newest, other.head.catalogue != checked.head.catalogue {
        notes.append("the mirrors were left out: they have the catalogue \(other.head.catalogue), which is another one")
        newest = checked
      }
      if checked.head.sequence >= newest?.head.sequence ?? 0 { newest = checked }
    } catch let error as PublicationFailure {
      switch error {
      case .unavailable, .gone:
        if newest == nil { throw error }
        notes.append("the head is that of a mirror: \(error)")
      case .refused, .older, .probeFailed, .busy: throw error
      }
    }
    guard var newest else { throw PublicationFailure.unavailable("\(origin.name) has no head") }
    newest.notes = notes + newest.notes
    return newest
  }

  private func head(
    from place: any PublicationOrigin, _ mark: PublicationMark?, takesOther: Bool
  ) async throws -> CheckedHead {
    var trust = trust(mark, takesOther: takesOther)
    let known = keptHead(&trust)
    let knownJSON = known == nil ? nil : try cache.read(PublicationCache.head)
    var pauses = pauses
    var isFresh = false
    while true {
      // Another publication may have older files at the same address.
      let validators = isFresh || takesOther ? nil : knownJSON.flatMap { cache.validators(of: place.name, for: $0) }
      let contents = try await place.contents(
        of: PublicationHead.name, limit: PublicationHead.byteLimit, validators: validators, isFresh: isFresh)
      switch contents {
      case .unchanged:
        guard let known else {
          throw PublicationFailure.unavailable("\(place.name) says that nothing has changed since never")
        }
        try check(known, mark, takesOther, place)
        return CheckedHead(head: known, trust: trust, isNew: false, notes: [])
      case .missing(let status):
        throw PublicationFailure.gone(
          "\(place.name)/\(PublicationHead.name) is not there (status \(status)): is it the address of a publication?")
      case .bytes(let json, let validators):
        // A server that knows no versions, or another place with the same head.
        if let known, json == knownJSON {
          try check(known, mark, takesOther, place)
          try cache.keep(validators, of: place.name, for: json)
          return CheckedHead(head: known, trust: trust, isNew: false, notes: [])
        }
        let signature = try await file(
          PublicationHead.signatureName, from: place, limit: 2 * PublicationHead.byteLimit, isFresh: isFresh)
        do {
          let (head, signed) = try await checked(json, signature, &trust, from: place)
          try check(head, mark, takesOther, place)
          let isNew = try keep(head, signed, signature, trust, known: known)
          if isNew { try cache.keep(validators, of: place.name, for: signed) }
          return CheckedHead(head: head, trust: trust, isNew: isNew, notes: [])
        } catch is SignatureMismatch {
          // Head and signature are two files: the other one may have been replaced in between.
          guard !pauses.isEmpty else {
            throw PublicationFailure.refused(
              "\(place.name)/\(PublicationHead.name) is not what its signature signs: it was changed after it was signed,"
                + " or a cache on the way mixes two heads")
          }
          try await Task.sleep(for: pauses.removeFirst())
          isFresh = true
        }
      }
    }
  }

  /// A signature is of another head, or by a key that is not known.
  private struct SignatureMismatch: Error {}

  private func trust(_ mark: PublicationMark?, takesOther: Bool) -> PublicationTrust {
    let pinned = takesOther ? nil : mark.flatMap { Self.key($0.rootKey) }
    let isSame = pinned == nil || rootKey == nil || pinned?.key == rootKey?.key
    return PublicationTrust(
      root: rootKey ?? pinned, minimumVersion: takesOther || !isSame ? 0 : mark?.keysVersion ?? 0)
  }

  /// The head that was checked last, checked again; `nil` if there is none.
  private func keptHead(_ trust: inout PublicationTrust) -> PublicationHead? {
    if let keys = try? cache.read(PublicationCache.keys),
      let signature = try? cache.read(PublicationCache.keysSignature)
    {
      try? trust.take(keys, signature: signature, from: "the cache")
    }
    guard let json = try? cache.read(PublicationCache.head),
      let file = try? cache.read(PublicationCache.headSignature),
      let signature = try? SignifySignature.embedded(in: file).signature,
      let key = trust.key(signature.number), (try? signature.isValid(of: json, key: key)) == true
    else { return nil }
    return try? PublicationHead(json: json)
  }

  /// Checks the signature of a head; gets the list of keys if the key is not known.
  ///
  /// The signature may be followed by the head that it signs. If the two files are of different heads because one of
  /// them is an older copy, the head that follows the signature counts.
  private func checked(
    _ json: [UInt8], _ file: [UInt8], _ trust: inout PublicationTrust, from place: any PublicationOrigin
  ) async throws -> (PublicationHead, [UInt8]) {
    let signature: SignifySignature
    let signed: [UInt8]
    do { (signature, signed) = try SignifySignature.embedded(in: file) } catch {
      throw PublicationFailure.refused("\(place.name)/\(PublicationHead.signatureName) is no signature: \(error)")
    }
    if trust.key(signature.number) == nil {
      let keys = try await self.file(KeyList.name, from: place, limit: KeyList.byteLimit, isFresh: true)
      let keysSignature = try await self.file(
        KeyList.signatureName, from: place, limit: 2 * KeyList.byteLimit, isFresh: true)
      try trust.take(keys, signature: keysSignature, from: place.name)
      try cache.write(PublicationCache.keys, keys)
      try cache.write(PublicationCache.keysSignature, keysSignature)
    }
    guard let key = trust.key(signature.number) else {
      throw PublicationFailure.refused(
        "the head of \(place.name) is signed by the key \(signature.number), which its list of keys lacks")
    }
    if try signature.isValid(of: json, key: key) { return (try Self.parsed(json, place), json) }
    guard !signed.isEmpty, try signature.isValid(of: signed, key: key) else { throw SignatureMismatch() }
    let newer = try Self.parsed(signed, place)
    // A head that was renewed has the sequence number of the one before.
    guard let older = try? PublicationHead(json: json),
      (older.sequence, older.published) < (newer.sequence, newer.published)
    else { throw SignatureMismatch() }
    return (newer, signed)
  }

  private static func parsed(_ json: [UInt8], _ place: any PublicationOrigin) throws -> PublicationHead {
    do { return try PublicationHead(json: json) } catch {
      throw PublicationFailure.refused("the head of \(place.name): \(error)")
    }
  }

  /// Checks a head against what the catalogue knows.
  private func check(
    _ head: PublicationHead, _ mark: PublicationMark?, _ takesOther: Bool, _ place: any PublicationOrigin
  ) throws {
    guard let mark else { return }
    if head.catalogue != mark.catalogue {
      if takesOther { return }
      throw PublicationFailure.refused(
        "\(place.name) publishes the catalogue \(head.catalogue), and this device follows \(mark.catalogue): with --full"
          + " it takes the other one instead")
    }
    if head.sequence < mark.sequence {
      throw PublicationFailure.older(
        "\(place.name) has the state \(head.sequence), and this device has \(mark.sequence) already: it is an old copy, or"
          + " the publisher lost its state")
    }
  }

  /// Keeps a head that was checked. Returns whether it is another one.
  private func keep(
    _ head: PublicationHead, _ json: [UInt8], _ signature: [UInt8], _ trust: PublicationTrust,
    known: PublicationHead?
  ) throws -> Bool {
    if known == head { return false }
    // A mirror that lags does not replace what is known better.
    if let known, known.catalogue == head.catalogue, head.sequence < known.sequence { return false }
    // A signature without its head is repaired by the next head.
    try cache.write(PublicationCache.headSignature, signature)
    try cache.write(PublicationCache.head, json)
    try cache.forgetObjects(except: known.map { [head, $0] } ?? [head])
    return true
  }

  private func file(
    _ name: String, from place: any PublicationOrigin, limit: Int, isFresh: Bool
  ) async throws -> [UInt8] {
    switch try await place.contents(of: name, limit: limit, validators: nil, isFresh: isFresh) {
    case .bytes(let bytes, _): return bytes
    case .unchanged, .missing:
      throw PublicationFailure.unavailable("\(place.name)/\(name) is not there: the publication is incomplete")
    }
  }

  /// The head that was checked last, for a device that cannot reach the publication; `nil` if there is none that counts.
  func keptHead(_ mark: PublicationMark?) -> CheckedHead? {
    var trust = trust(mark, takesOther: false)
    guard let head = keptHead(&trust), (try? check(head, mark, false, origin)) != nil else { return nil }
    return CheckedHead(head: head, trust: trust, isNew: false, notes: [])
  }

  // MARK: Immutable files

  /// Gets an immutable file, from the first place that has it as its hash says.
  ///
  /// - Throws: ``PublicationFailure/unavailable(_:)`` with the reason of each place.
  package func object(_ name: String, _ file: PublicationHead.File) async throws -> [UInt8] {
    if let kept = cache.object(name, file) { return kept }
    var reasons: [String] = []
    for place in places {
      for isFresh in [false, true] {
        do {
          guard
            case .bytes(let bytes, _) = try await place.contents(
              of: name, limit: file.byteCount, validators: nil, isFresh: isFresh)
          else {
            reasons.append("\(place.name)/\(name) is not there")
            break
          }
          if bytes.count == file.byteCount, Hexadecimal.text(try Hash.sha256(of: bytes), .lowercase) == file.sha256 {
            try cache.keepObject(name, bytes)
            return bytes
          }
          if isFresh {
            reasons.append("\(place.name)/\(name) has other bytes than were published")
            if place.name != origin.name { mirrorFaults.add(.wrong, place.name, reasons.last ?? "") }
          }
        } catch PublicationFailure.unavailable(let reason) {
          reasons.append(reason)
          mirrorFaults.isUnreachable(place.name, true)
          break
        }
      }
    }
    throw PublicationFailure.unavailable(reasons.joined(separator: "; "))
  }

  /// Where files are asked for, in order: the mirrors that have answered so far, and the origin.
  var places: [any PublicationOrigin] { mirrors.filter { !mirrorFaults.isUnreachable($0.name) } + [origin] }

  // MARK: Helpers

  /// The root key of a mark.
  static func key(_ bytes: [UInt8]) -> SignifyPublicKey? {
    guard bytes.count == 40 else { return nil }
    return PublicationTrust.publicKey(Data(Array("Ed".utf8) + bytes).base64EncodedString())
  }

  /// The root key as a mark has it.
  package static func bytes(of key: SignifyPublicKey?) -> [UInt8] { key.map { $0.number.bytes + $0.key.bytes } ?? [] }
}
