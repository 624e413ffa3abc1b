import Bytes
package import Cryptography
package import Zstd

/// The parts of a base: all rows of a state, as one file.
///
/// The *top* has the dictionary and the list of pages; a *page* has the list of some groups; the groups follow. Each part
/// is checked by a hash in the part before, so any of them can be fetched and checked alone.
package enum BaseFile {
  static let magic: [UInt8] = Array("SMPB".utf8)
  static let version: UInt8 = 1
  /// The most groups of a page.
  static let pageLength = 128
  /// The most bytes of a top, and of its dictionary.
  package static let topLimit = 4 << 20
  package static let dictionaryLimit = 1 << 20
  static let pageLimit = 1 << 20

  /// What the groups of a section have.
  package enum Section: UInt8, Sendable, CaseIterable {
    /// Entries, sorted by the code of their product and by id.
    case entries = 0
    /// Further codes, sorted, each with the number of the group that has its product.
    case codes = 1
  }

  /// A part of the file with its first key.
  package struct Part: Sendable, Equatable {
    /// The first key of the part, or a shorter one that is greater than all keys before the part.
    package var key: [UInt8]
    /// Where the part begins in the file.
    package var offset: Int
    package var byteCount: Int
    package var sha256: [UInt8]
    /// Of a group: how many bytes of its first key are a key of a group before it, without all of them. So the group and
    /// its part tell which beginnings of a key are keys.
    package var heads: [Int]

    package init(key: [UInt8], offset: Int, byteCount: Int, sha256: [UInt8], heads: [Int] = []) {
      self.key = key
      self.offset = offset
      self.byteCount = byteCount
      self.sha256 = sha256
      self.heads = heads
    }
  }

  /// The keys that are beginnings of the last one of some keys in order.
  package struct HeadChain {
    private var keys: [[UInt8]] = []

    package init() {}

    /// Takes the next key, which is not before the last one.
    ///
    /// - Returns: The lengths of the keys so far that are beginnings of this one, without itself and the empty one, in order.
    package mutating func next(_ key: [UInt8]) -> [Int] {
      while let last = keys.last, !key.starts(with: last) { keys.removeLast() }
      if keys.last != key, !key.isEmpty { keys.append(key) }
      return keys.map(\.count).filter { $0 < key.count }
    }
  }

  /// How many groups a page has, so that the list of pages and a page are both short.
  static func pageLength(ofGroups count: Int) -> Int {
    min(max(16, Int(Double(count).squareRoot())), pageLength)
  }

  /// The list of pages.
  package struct Top: Sendable, Equatable {
    package var dictionary: [UInt8]
    /// The pages of each section.
    package var pages: [[Part]]
    /// The number of groups of each page, by section.
    package var groupCounts: [[Int]]
    package var byteCount: Int
  }
}

/// Builds a base.
///
/// Memory: the whole file.
package struct BaseFileWriter {
  private let compressor: ZstdCompressor
  private let packedDictionary: [UInt8]
  private var groups: [[BaseFile.Part]] = Array(repeating: [], count: BaseFile.Section.allCases.count)
  private var bytes: [[UInt8]] = Array(repeating: [], count: BaseFile.Section.allCases.count)

  /// - Parameters:
  ///   - dictionary: The dictionary of all groups; empty for none.
  ///   - level: zstd's level, 1 to 19.
  /// - Throws: `ZstdError`.
  package init(dictionary: [UInt8], level: Int) throws(ZstdError) {
    compressor = try ZstdCompressor(level: level, dictionary: dictionary)
    packedDictionary = dictionary.isEmpty ? [] : try ZstdCompressor(level: level).compress(dictionary)
  }

  /// The number of groups of a section so far.
  package func groupCount(_ section: BaseFile.Section) -> Int { groups[Int(section.rawValue)].count }

  /// Adds a group, whose keys are not before those of the groups so far.
  ///
  /// - Parameters:
  ///   - key: The first key of the group.
  ///   - heads: What `HeadChain` says of this key.
  package mutating func add(_ group: [UInt8], _ section: BaseFile.Section, key: [UInt8], heads: [Int]) throws {
    let packed = try compressor.compress(group)
    let number = Int(section.rawValue)
    groups[number].append(
      BaseFile.Part(
        key: key, offset: bytes[number].count, byteCount: packed.count, sha256: try Hash.sha256(of: packed),
        heads: heads))
    bytes[number] += packed
  }

  /// Returns the file, and the number of bytes of its top.
  package consuming func finish() throws -> (bytes: [UInt8], topByteCount: Int) {
    // The pages name places in the file, which depend on the length of the top and of the pages: those are known from
    // lists whose places are 0.
    var pages = try lists(firstGroup: 0)
    var top = self.top(pages, firstPage: 0)
    let pageByteCount = pages.joined().reduce(0) { $0 + $1.bytes.count }
    pages = try lists(firstGroup: top.count + pageByteCount)
    top = self.top(pages, firstPage: top.count)
    let file = top + pages.joined().flatMap(\.bytes) + bytes.joined()
    return (file, top.count)
  }

  private struct Page {
    var key: [UInt8]
    var groupCount: Int
    var bytes: [UInt8]
    var sha256: [UInt8]
  }

  private func lists(firstGroup: Int) throws -> [[Page]] {
    var start = firstGroup
    var lists: [[Page]] = []
    for (number, groups) in groups.enumerated() {
      var pages: [Page] = []
      let pageLength = BaseFile.pageLength(ofGroups: groups.count)
      for first in stride(from: 0, to: groups.count, by: pageLength) {
        let part = groups[first..<min(first + pageLength, groups.count)]
        var writer = ByteWriter()
        for group in part {
          Self.put(group, at: start + group.offset, to: &writer)
          writer.putVariable(UInt64(group.heads.count))
          for length in group.heads { writer.putVariable(UInt64(length)) }
        }
        pages.append(
          Page(
            key: groups[first].key, groupCount: part.count, bytes: writer.bytes,
            sha256: try Hash.sha256(of: writer.bytes)))
      }
      start += bytes[number].count
      lists.append(pages)
    }
    return lists
  }

  /// All places have eight bytes, so that the length of a list does not depend on them.
  private static func put(_ part: BaseFile.Part, at offset: Int, to writer: inout ByteWriter) {
    writer.putVariable(UInt64(part.key.count))
    writer.put(part.key)
    writer.put(UInt64(offset))
    writer.putVariable(UInt64(part.byteCount))
    writer.put(part.sha256)
  }

  private func top(_ pages: [[Page]], firstPage: Int) -> [UInt8] {
    var writer = ByteWriter()
    writer.put(BaseFile.magic)
    writer.put(BaseFile.version)
    writer.putVariable(UInt64(packedDictionary.count))
    writer.put(packedDictionary)
    writer.putVariable(UInt64(pages.count))
    var offset = firstPage
    for section in pages {
      writer.putVariable(UInt64(section.count))
      for page in section {
        let part = BaseFile.Part(key: page.key, offset: 0, byteCount: page.bytes.count, sha256: page.sha256)
        Self.put(part, at: offset, to: &writer)
        writer.putVariable(UInt64(page.groupCount))
        offset += page.bytes.count
      }
    }
    return writer.bytes
  }
}

extension BaseFile.Top {
  /// Reads a top.
  ///
  /// - Throws: ``PublicationError/damaged(_:)``; `ZstdError`.
  package init(_ bytes: [UInt8]) throws {
    var reader = ByteReader(bytes.rawSpan)
    guard reader.bytes(4) == BaseFile.magic else { throw PublicationError.damaged("the base is no base") }
    guard reader.u8() == BaseFile.version else { throw PublicationError.damaged("the base has an unknown version") }
    guard let length = reader.count(upTo: BaseFile.topLimit), let packed = reader.bytes(length),
      let sectionCount = reader.count(upTo: 16)
    else { throw PublicationError.damaged("the top of the base is cut off") }
    dictionary =
      packed.isEmpty ? [] : try ZstdDecompressor().decompress(packed, limit: BaseFile.dictionaryLimit)
    pages = []
    groupCounts = []
    for _ in 0..<sectionCount {
      guard let count = reader.count(upTo: 1 << 20) else {
        throw PublicationError.damaged("the top of the base is cut off")
      }
      var parts: [BaseFile.Part] = []
      var counts: [Int] = []
      for _ in 0..<count {
        guard let part = BaseFile.Part(&reader), part.byteCount <= BaseFile.pageLimit,
          let groupCount = reader.count(upTo: 1 << 20)
        else { throw PublicationError.damaged("the top of the base is cut off") }
        parts.append(part)
        counts.append(groupCount)
      }
      pages.append(parts)
      groupCounts.append(counts)
    }
    guard reader.remaining == 0 else { throw PublicationError.damaged("the top of the base has bytes too many") }
    byteCount = bytes.count
  }

  /// The pages of a section; none if this base lacks it.
  package func pages(_ section: BaseFile.Section) -> [BaseFile.Part] {
    Int(section.rawValue) < pages.count ? pages[Int(section.rawValue)] : []
  }
}

extension BaseFile.Part {
  fileprivate init?(_ reader: inout ByteReader) {
    guard let keyLength = reader.count(upTo: 65_536), let key = reader.bytes(keyLength), let offset = reader.u64(),
      offset <= UInt64(1) << 48, let byteCount = reader.count(upTo: RowGroup.byteLimit), let hash = reader.bytes(32)
    else { return nil }
    self.init(key: key, offset: Int(offset), byteCount: byteCount, sha256: hash)
  }

  /// Reads a page.
  ///
  /// - Throws: ``PublicationError/damaged(_:)``.
  package static func groups(ofPage bytes: [UInt8]) throws(PublicationError) -> [BaseFile.Part] {
    var reader = ByteReader(bytes.rawSpan)
    var parts: [BaseFile.Part] = []
    while reader.remaining > 0 {
      guard var part = BaseFile.Part(&reader), let count = reader.count(upTo: part.key.count) else {
        throw .damaged("a list of groups is cut off")
      }
      for _ in 0..<count {
        guard let length = reader.count(upTo: part.key.count - 1), length > part.heads.last ?? 0 else {
          throw .damaged("a list of groups has a beginning of a key that is none")
        }
        part.heads.append(length)
      }
      parts.append(part)
    }
    return parts
  }

  /// Whether these are the bytes of the part.
  package func isPart(_ bytes: [UInt8]) throws(CryptographyError) -> Bool {
    if bytes.count != byteCount { return false }
    return try Hash.sha256(of: bytes) == sha256
  }
}

/// Unpacks groups of one base.
package struct GroupUnpacker {
  private let decompressor: ZstdDecompressor

  /// - Parameter dictionary: The dictionary of the base; empty for none.
  package init(dictionary: [UInt8]) throws(ZstdError) { decompressor = try ZstdDecompressor(dictionary: dictionary) }

  /// Returns the bytes of a group.
  package func unpack(_ packed: [UInt8]) throws(ZstdError) -> [UInt8] {
    try decompressor.decompress(packed, limit: RowGroup.byteLimit)
  }
}
