public import LogStore
import TextFormat
package import Platform

/// What a search is to find, apart from its words.
public struct SearchOptions: Sendable {
  /// The maximum number of results.
  public var limit = 20
  /// Where to go on: the ``SearchResults/next`` of the page before.
  public var cursor: SearchCursor?
  /// The brand that products must have; compared as a search compares words.
  public var brand: String?
  /// The category that products must have; compared as a search compares words.
  public var category: String?
  /// Whether only sets are found.
  public var isSetsOnly = false
  /// A condition that products must meet.
  public var condition: ProductQuery?

  /// Creates options without filters.
  public init() {}
}

/// A page of the results of a search.
public struct SearchResults: Sendable {
  /// The products that were found, best first.
  public let results: [SearchResult]
  /// Where the next page begins; `nil` after the last one.
  public let next: SearchCursor?

  package init(results: [SearchResult], next: SearchCursor?) {
    self.results = results
    self.next = next
  }
}

/// A product that a search has found.
public struct SearchResult: Sendable {
  /// The product.
  public let product: Product
  /// How well it fits, above 0: the higher, the better. Comparable among the results of one search only.
  public let score: Double
  /// The parts of the product's texts that match words of the search.
  public let matched: [MatchedField]
  /// The search as it was meant, if the result rests on a corrected mistake: with mistyped words as the product has them,
  /// and without a letter or digit that was left out. `nil` if the product has what was typed.
  public let meant: String?
  /// The code of the table of codes that is the whole search; `nil` if the product was not found by one. If several
  /// codes of the product are, the first of them by code and id.
  public var package: ProductCode?

  /// Whether the result rests on a corrected mistake, so that the product may be another one than was meant.
  public var isApproximate: Bool { meant != nil }

  /// The parts of a text that match.
  public struct MatchedField: Sendable, Equatable {
    /// The name of the field: `name`, `brand`, `skuCode`, `barcode` or `extra.` and the name of a field of one's own. Of
    /// a list, the ranges are those in its texts with blanks between them.
    public let field: String
    /// Ranges of UTF-16 code units, in ascending order, which do not overlap.
    public let ranges: [Range<Int>]
  }
}

/// A place in the results of a search, after which the next page begins.
public struct SearchCursor: Sendable, Equatable, CustomStringConvertible {
  /// How much had to be allowed for the words to match; see `SearchStage`.
  let stage: Int
  /// The number of the block of candidates within the stage.
  let block: Int
  /// The score and id of the last result.
  let score: Double
  let id: String

  init(stage: Int, block: Int, score: Double, id: String) {
    self.stage = stage
    self.block = block
    self.score = score
    self.id = id
  }

  /// Reads a cursor from the text that ``description`` gave.
  ///
  /// - Returns: `nil` for any other text.
  public init?(_ text: String) {
    let parts = text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 4, let stage = Int(parts[0]), let block = Int(parts[1]), stage >= 0, block >= 0,
      let bits = UInt64(parts[2], radix: 16), let id = Hexadecimal.bytes(of: String(parts[3]))
    else { return nil }
    self.init(
      stage: stage, block: block, score: Double(bitPattern: bits), id: String(decoding: id, as: UTF8.self))
    if score.isNaN { return nil }
  }

  /// The cursor as a text of letters, digits and dots, for a caller to hand back.
  public var description: String {
    "\(stage).\(block).\(String(score.bitPattern, radix: 16)).\(Hexadecimal.text(Array(id.utf8), .lowercase))"
  }
}

/// Why a search could not be done.
public enum SearchError: Error, Sendable, CustomStringConvertible {
  /// The catalogue has no index of words.
  case noIndex(path: String)
  /// The catalogue has no index of an order.
  case noOrder(String, path: String)
  /// A page begins at the cursor of another order.
  case otherOrder(ProductCursor)
  case store(StoreError)

  /// What went wrong and what to do.
  public var description: String {
    switch self {
    case .noIndex(let path):
      "\(path) has no index of words; set search.index to on and compact the catalogue, or update it in full"
    case .noOrder(let order, let path):
      "\(path) has no index by \(order); add it to ordered.indexes and compact the catalogue, or update it in full"
    case .otherOrder(let cursor):
      "the cursor belongs to the order by \(cursor.order.rawValue)\(cursor.isDescending ? ", reversed" : ""); take the one"
        + " that the page before has given"
    case .store(let error): "\(error)"
    }
  }
}

extension SearchError: ProgramError {
  /// The exit code of a program that fails because of it.
  package var exitStatus: ExitStatus {
    switch self {
    case .store(let cause): cause.exitStatus
    case .noIndex, .noOrder: .data
    case .otherOrder: .usage
    }
  }

  /// What a server answers to a request that fails because of it.
  package var refusal: Refusal {
    switch self {
    case .store(let cause): cause.refusal
    case .noIndex: .conflict("noSearchIndex")
    case .noOrder: .conflict("noOrder")
    case .otherOrder: .conflict("otherOrder")
    }
  }
}
