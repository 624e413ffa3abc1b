import DocumentFormat
import Documents
import Essentials

/// The ID of a list: its key and its page size. The same key with another page size identifies another list.
///
/// Its document ID is an array of the two. Keys are compared by their encoded bytes, with the fields of objects sorted
/// by name, so a key that contains a dictionary always has the same bytes.
struct ListID: Hashable, Sendable {
  let key: DocumentValue
  let pageSize: Int
  private let bytes: [UInt8]

  /// Creates an ID.
  ///
  /// - Throws: Any error of encoding the key.
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

  /// The same ID for all lists with this key. No list has it as its own: a page has room for at least one item.
  var ofAnyPageSize: ListID { ListID(value: key, pageSize: Self.anyPageSize) }
  static let anyPageSize = 0

  /// The key as readable text: a text unchanged, any other key as JSON.
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
  /// The value with the fields of every object sorted by name.
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

/// The ID of a page. Its document ID is an array of the list's key, the page size and the page number.
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

/// The metadata of a cache: the only document of the collection `cache`.
struct CacheHead: Codable, Identifiable, Equatable, Sendable {
  static let name = "cache"
  static let currentFormat = 1

  var id = Self.name
  /// The format version of all documents. Documents of another version count as missing.
  var format = Self.currentFormat
  /// The initial value of the counter, which identifies the file.
  let origin: Int64
  /// The last number assigned: to a stored page, a recorded use, a refresh or an epoch.
  var counter: Int64
  /// Increases when a list is removed whose pages must not be stored again.
  var epoch: Int64
  /// The total size of all pages, in bytes.
  var byteCount = 0

  /// Creates the head of an empty cache. The counter begins at a random number, so that a fetch that began with a
  /// deleted file does not match a new one.
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

/// A list and its stored pages. A document of the collection `lists`.
struct ListDocument: Codable, Identifiable, Equatable, Sendable {
  let id: ListID
  /// The refresh that the pages belong to; the epoch of the head if there was none.
  var generation: Int64
  var order: PageOrder
  /// The number of seconds after which a page expires; `nil` for never.
  var lifetime: Double?
  /// The stored pages, by number.
  var pages: [PageEntry] = []

  func entry(_ number: Int) -> PageEntry? { pages.first { $0.number == number } }

  /// Adds an entry, or replaces the one with its number.
  mutating func put(_ entry: PageEntry) {
    remove(entry.number)
    pages.insert(entry, at: pages.firstIndex { $0.number > entry.number } ?? pages.endIndex)
  }

  mutating func remove(_ number: Int) { pages.removeAll { $0.number == number } }
}

/// The metadata of a stored page.
struct PageEntry: Codable, Equatable, Sendable {
  var number: Int
  /// Increases with each stored page, across all lists: the page with the larger serial was stored later.
  var serial: Int64
  var itemCount: Int
  /// The size of the page's document, in bytes.
  var byteCount: Int
  var fetched: Date
  /// Increases with each recorded use.
  var used: Int64

  /// Whether the page has expired by this time: it has reached its lifetime, or comes from the future.
  ///
  /// - Parameters:
  ///   - lifetime: The lifetime of all pages of the list, in seconds; `nil` for no limit.
  ///   - emptyPageLifetime: A second limit, for a page without items.
  func isExpired(at time: Date, lifetime: Double?, emptyPageLifetime: Double?) -> Bool {
    let age = time.timeIntervalSince(fetched)
    let emptyLimit = itemCount == 0 ? emptyPageLifetime : nil
    return age < 0 || age >= min(lifetime ?? .infinity, emptyLimit ?? .infinity)
  }
}

/// The items of a page. A document of the collection `pages`.
struct PageDocument<Item: Codable & Sendable>: Codable, Identifiable, Sendable {
  let id: PageID
  /// The items, as they were fetched.
  var items: [Item]
  /// Items that newer ones pushed off this page, and that the next page does not contain yet.
  var pushed: [Item]?
}

/// A page without its items, used to delete it.
struct PageKey: Codable, Identifiable, Sendable {
  let id: PageID
}
