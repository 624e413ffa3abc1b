import DocumentFormat
import Documents
import Foundation

/// Which list is meant: its key and the size of its pages. The same list with pages of another size is another one.
///
/// As a document's id it is an array of the two. Lists are told apart by the bytes of their keys, the fields of objects
/// ordered by their names, so that a key with a dictionary in it finds its list again.
struct ListID: Hashable, Sendable {
  let key: DocumentValue
  let pageSize: Int
  private let bytes: [UInt8]

  /// - Throws: what encoding the key throws.
  init(_ key: some Encodable, pageSize: Int) throws {
    let value = try DocumentDecoder().decode(DocumentValue.self, from: DocumentEncoder().encode(key))
    self.init(value: value.canonical, pageSize: pageSize)
  }

  fileprivate init(value: DocumentValue, pageSize: Int) {
    key = value
    self.pageSize = pageSize
    bytes = DocumentValue.array([value, .integer(Int64(pageSize))]).documentBytes
  }

  static func == (a: ListID, b: ListID) -> Bool { a.bytes == b.bytes }
  func hash(into hasher: inout Hasher) { hasher.combine(bytes) }

  /// The key as people name it: a text as it is, and anything else as JSON.
  var name: String { if case .text(let text) = key { text } else { key.json } }
}

extension ListID: Codable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(key)
    try container.encode(pageSize)
  }

  init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    self.init(value: try container.decode(DocumentValue.self), pageSize: try container.decode(Int.self))
  }
}

extension DocumentValue {
  /// The value with the fields of every object ordered by their names.
  fileprivate var canonical: DocumentValue {
    switch self {
    case .array(let elements): .array(elements.map(\.canonical))
    case .object(let fields):
      .object(
        fields.map { Field($0.name, $0.value.canonical) }
          .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) })
    default: self
    }
  }
}

/// A page of a list; as a document's id an array of the list's key, the page size and the number.
struct PageID: Hashable, Sendable {
  let list: ListID
  let number: Int
}

extension PageID: Codable {
  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(list.key)
    try container.encode(list.pageSize)
    try container.encode(number)
  }

  init(from decoder: any Decoder) throws {
    var container = try decoder.unkeyedContainer()
    list = ListID(value: try container.decode(DocumentValue.self), pageSize: try container.decode(Int.self))
    number = try container.decode(Int.self)
  }
}

/// What a cache says about itself: the one document of the collection `cache`.
struct CacheHead: Codable, Identifiable, Equatable, Sendable {
  static let name = "cache"
  static let knownFormat = 1

  var id = Self.name
  /// The form of all documents; those of another form count as not there.
  var format = Self.knownFormat
  /// Where the counter began: another file has another one.
  let origin: Int64
  /// The last number given: to a page that was put, a use that was noted, a refresh, an epoch.
  var counter: Int64
  /// Grows when a list goes whose former pages must not come back.
  var epoch: Int64
  /// Bytes of all pages.
  var byteCount = 0

  /// The head of an empty cache. It begins anywhere, so that what was begun with a file that is gone fits no other.
  init() {
    origin = .random(in: 0..<1 << 48)
    counter = origin
    epoch = origin
  }

  mutating func next() -> Int64 {
    counter &+= 1
    return counter
  }
}

/// A list: which pages of it are here. A document of the collection `lists`.
struct ListDocument: Codable, Identifiable, Equatable, Sendable {
  let id: ListID
  /// The refresh that the pages belong to; the epoch of the head where there was none.
  var generation: Int64
  var order: PageOrder
  /// Seconds after which a page is to be fetched again; `nil` for never.
  var lifetime: Double?
  /// By number.
  var pages: [PageEntry] = []

  func entry(_ number: Int) -> PageEntry? { pages.first { $0.number == number } }

  /// Puts an entry, or puts it in the place of the one with its number.
  mutating func put(_ entry: PageEntry) {
    remove(entry.number)
    pages.insert(entry, at: pages.firstIndex { $0.number > entry.number } ?? pages.endIndex)
  }

  mutating func remove(_ number: Int) { pages.removeAll { $0.number == number } }
}

/// What a list knows of one of its pages.
struct PageEntry: Codable, Equatable, Sendable {
  var number: Int
  /// Grows with each page that is put, in whatever list: the larger one was stored later.
  var serial: Int64
  var itemCount: Int
  /// Bytes of the page's document.
  var byteCount: Int
  var fetched: Date
  /// Grows with each use that was noted.
  var used: Int64
}

/// The items of a page. A document of the collection `pages`.
struct PageDocument<Item: Codable & Sendable>: Codable, Identifiable, Sendable {
  let id: PageID
  /// As they were fetched.
  var items: [Item]
  /// Items that stood on this page and were pushed behind it by newer ones, which the page behind does not show yet.
  var pushed: [Item]?
}

/// A page without its items, to delete it.
struct PageKey: Codable, Identifiable, Sendable {
  let id: PageID
}
