import Bytes
import RecordFormat

/// What seals the objects, pages and manifest of one segment.
struct SegmentSealing {
  let keys: LogSealing
  var nonces: NonceSequence
  /// Whether the segment is the base of its file, whose objects store no nonces.
  let isBase: Bool

  init(_ keys: LogSealing, nonces: NonceSequence, isBase: Bool) {
    self.keys = keys
    self.nonces = nonces
    self.isBase = isBase
  }

  /// By how much a sealed object is longer than a plain one.
  var objectOverhead: Int { LogSealing.overhead(inBase: isBase) }

  /// Fills an object with its contents and seals it in place.
  ///
  /// - Parameters:
  ///   - bytes: The object with its header word, and its padding.
  ///   - length: The length of the object.
  ///   - count: The number of bytes of its plain contents.
  @inline(__always)
  mutating func fillAndSeal(
    _ bytes: inout MutableRawSpan, _ length: Int, _ count: Int, at unit: UnitOffset,
    _ fill: (inout MutableRawSpan) -> Void
  ) {
    var object = bytes._mutatingExtracting(0..<length)
    let start = ObjectHeader.byteCount + (isBase ? 0 : SealedForm.nonceByteCount)
    var contents = object._mutatingExtracting(start..<start + count)
    fill(&contents)
    keys.seal(&object, at: unit, nonce: isBase ? nil : nonces.next())
  }
}

/// What the seal of a manifest covers besides the manifest: where in the history it stands.
struct ManifestPlace {
  var sequence: UInt64
  var segmentOffset: UInt64
  var previousChain: UInt32

  /// The 20 bytes that follow the manifest's own in the data that its seal covers.
  var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.put(sequence)
    writer.put(segmentOffset)
    writer.put(previousChain)
    return writer.bytes
  }
}

extension LogFile {
  /// Opens the names and the state of a sealed manifest. Without a key, names and state are left out.
  ///
  /// - Parameter bytes: The bytes of which the manifest was decoded.
  func unseal(_ manifest: inout Manifest, _ bytes: RawSpan, of footer: SegmentFooter) throws(StoreError) {
    guard manifest.isSealed == (header.sealing != nil) else {
      throw damage(Int(footer.manifestOffset), "manifest: it is not sealed as its file is")
    }
    guard manifest.isSealed else { return }
    let place = ManifestPlace(
      sequence: footer.sequence, segmentOffset: footer.segmentOffset, previousChain: footer.previousChain)
    guard let sealing else {
      manifest.state = []
      return
    }
    let isGenuine = manifest.unseal(bytes) { (clear, sealed) in
      sealing.opened(manifest: sealed, clear: clear + place.bytes)
    }
    if !isGenuine {
      throw damage(Int(footer.manifestOffset), "manifest: it is not what was sealed here")
    }
  }
}
