import Barcodes
import Bytes
import Synchronization

/// What a match asks a catalogue for, so that a catalogue that has only some of the rows can say whether it had all that
/// the match depends on.
///
/// If all of ``requests`` could be answered from rows that are there, the match is that of the whole catalogue. Suggestions
/// are not noted: a match of some of the rows has none.
package final class LookupTrace: Sendable {
  package enum Request: Sendable, Hashable {
    /// The products whose code is one of these. Keys are as ``CatalogSnapshot/key(ofCode:)`` returns them.
    case barcodes([[UInt8]])
    /// The products that have one of these as a further code.
    case furtherCodes([[UInt8]])
    /// The products whose code, or further code, is a beginning of a key, of at least `shortest` bytes and shorter than it.
    case heads(of: [UInt8], shortest: Int)
    /// Products by something that codes do not tell, such as their SKU.
    case otherFields
  }

  /// Guards the requests.
  private let noted = Mutex<[Request]>([])
  /// Whether fields of one's own are declared as codes: all products may have any code then.
  private let declaresCodes: Bool

  package init(declaresCodes: Bool) { self.declaresCodes = declaresCodes }

  /// What was asked for, in order.
  package var requests: [Request] { noted.withLock { $0 } }

  func note(_ request: Request) {
    noted.withLock { noted in
      if !noted.contains(request) { noted.append(request) }
    }
  }

  func noteFurtherCodes(_ keys: [[UInt8]]) {
    note(.furtherCodes(keys))
    if declaresCodes { note(.otherFields) }
  }

  func noteHeads(of key: RawSpan, shortest: Int) {
    note(.heads(of: key.copied(), shortest: max(1, shortest)))
    if declaresCodes { note(.otherFields) }
  }

  /// The keys of the spellings of a GTIN.
  static func keys(of gtin: GTIN) -> [[UInt8]] {
    let digits = Array(gtin.digits.utf8)
    return GTIN.digitCounts.filter { gtin.canBeWritten(digitCount: $0) }.map { Array(digits.suffix($0)) }
  }
}
