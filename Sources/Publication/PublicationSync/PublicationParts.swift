import Bytes
import PublicationFormat
import TextFormat
import Zstd

/// The parts of one base that lookups have fetched: the table of groups as far as it was needed, and the last groups.
///
/// Every part was compared with its hash.
struct PublicationParts {
  /// A page or a group by its section and its number in it.
  struct ID: Hashable {
    var section: BaseFile.Section
    var number: Int
  }

  /// What has to be fetched.
  struct Wanted {
    var pages: Set<ID> = []
    var groups: Set<ID> = []

    var isEmpty: Bool { pages.isEmpty && groups.isEmpty }

    mutating func formUnion(_ other: Wanted) {
      pages.formUnion(other.pages)
      groups.formUnion(other.groups)
    }
  }

  /// The most groups that are kept.
  private static let groupLimit = 32

  let base: PublicationHead.Base
  let top: BaseFile.Top
  let unpacker: GroupUnpacker
  /// The bytes after the top that arrived with it, which are not checked.
  let rest: [UInt8]
  private(set) var pages: [ID: [BaseFile.Part]] = [:]
  /// The groups of entries, unpacked, and the order in which they arrived.
  private(set) var groups: [Int: [UInt8]] = [:]
  private var arrived: [Int] = []
  /// Of a group of codes: the groups that have the products of a key.
  private(set) var codes: [Int: [[UInt8]: Set<Int>]] = [:]

  /// - Parameter bytes: The bytes of the top, which were compared with its hash, and those after it.
  init(_ base: PublicationHead.Base, _ bytes: [UInt8]) throws {
    self.base = base
    top = try BaseFile.Top(Array(bytes.prefix(base.top.byteCount)))
    unpacker = try GroupUnpacker(dictionary: top.dictionary)
    rest = Array(bytes.dropFirst(base.top.byteCount))
    for section in BaseFile.Section.allCases {
      for page in top.pages(section) where page.offset + page.byteCount > base.file.byteCount {
        throw PublicationError.damaged("the base has a part behind its end")
      }
    }
  }

  /// Whether products may have further codes.
  var hasCodes: Bool { !top.pages(.codes).isEmpty }

  // MARK: What arrives

  mutating func add(page id: ID, _ bytes: [UInt8]) throws {
    let parts = try BaseFile.Part.groups(ofPage: bytes)
    guard parts.count == top.groupCounts[Int(id.section.rawValue)][id.number] else {
      throw PublicationError.damaged("a list of groups has \(parts.count) groups, and the top says another number")
    }
    for part in parts where part.offset + part.byteCount > base.file.byteCount {
      throw PublicationError.damaged("the base has a part behind its end")
    }
    pages[id] = parts
  }

  mutating func add(group id: ID, _ packed: [UInt8]) throws {
    let bytes = try unpacker.unpack(packed)
    switch id.section {
    case .codes:
      var codes: [[UInt8]: Set<Int>] = [:]
      for code in try CodeGroup.codes(bytes) { codes[code.key, default: []].insert(code.group) }
      self.codes[id.number] = codes
    case .entries:
      groups[id.number] = bytes
      arrived.removeAll { $0 == id.number }
      arrived.append(id.number)
    }
  }

  /// Forgets all groups but the last ones.
  mutating func trim() {
    while arrived.count > Self.groupLimit { groups[arrived.removeFirst()] = nil }
    if codes.count > Self.groupLimit { codes = [:] }
  }

  // MARK: Where keys are

  func page(_ id: ID) -> BaseFile.Part { top.pages(id.section)[id.number] }

  /// The part of a group; `nil` if its page is missing, or if there is no such group.
  func group(_ id: ID) -> BaseFile.Part? {
    guard let (page, first) = pageID(ofGroup: id), let parts = pages[page] else { return nil }
    return parts[id.number - first]
  }

  /// The page of a group, and the number of its first group; `nil` if there is no such group.
  func pageID(ofGroup id: ID) -> (page: ID, first: Int)? {
    guard Int(id.section.rawValue) < top.groupCounts.count else { return nil }
    var first = 0
    for (number, count) in top.groupCounts[Int(id.section.rawValue)].enumerated() {
      if id.number < first + count { return (ID(section: id.section, number: number), first) }
      first += count
    }
    return nil
  }

  /// The groups that may have a key: those whose first key is not greater, if that of the next group is not less.
  ///
  /// - Parameter wanted: Receives the pages that have to be fetched first.
  func groups(withKey key: [UInt8], _ section: BaseFile.Section, _ wanted: inout Wanted) -> [ID] {
    let pages = top.pages(section)
    var found: [ID] = []
    var first = 0
    for (number, page) in pages.enumerated() {
      let count = top.groupCounts[Int(section.rawValue)][number]
      defer { first += count }
      if key.lexicographicallyPrecedes(page.key) { break }
      let next = number + 1 < pages.count ? pages[number + 1].key : nil
      if let next, next.lexicographicallyPrecedes(key) { continue }
      let id = ID(section: section, number: number)
      guard let parts = self.pages[id] else {
        wanted.pages.insert(id)
        continue
      }
      for (index, part) in parts.enumerated() {
        if key.lexicographicallyPrecedes(part.key) { break }
        let after = index + 1 < parts.count ? parts[index + 1].key : next
        if let after, after.lexicographicallyPrecedes(key) { continue }
        found.append(ID(section: section, number: first + index))
      }
    }
    return found
  }

  /// The groups that may have keys that are beginnings of a key.
  ///
  /// Such a beginning is in the last group whose first key is not greater than the key, or it is a beginning of that first
  /// key too: then the table names it.
  func groups(
    withHeadsOf key: [UInt8], shortest: Int, _ section: BaseFile.Section, _ wanted: inout Wanted
  ) -> [ID] {
    guard let last = groups(withKey: key, section, &wanted).last, let part = group(last) else { return [] }
    var found = [last]
    var lengths = part.heads
    // An equal key may be in groups before this one too.
    if part.key.count < key.count, key.starts(with: part.key) { lengths.append(part.key.count) }
    for length in lengths where length >= shortest && length < key.count {
      found += groups(withKey: Array(part.key.prefix(length)), section, &wanted)
    }
    return found
  }

  /// The groups of entries that have the products of further codes.
  func groups(ofCodes keys: [[UInt8]], in groups: [ID], _ wanted: inout Wanted) -> [ID] {
    var found: Set<Int> = []
    for id in groups {
      guard let codes = codes[id.number] else {
        wanted.groups.insert(id)
        continue
      }
      for key in keys { found.formUnion(codes[key] ?? []) }
    }
    return found.sorted().map { ID(section: .entries, number: $0) }
  }
}
