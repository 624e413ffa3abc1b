package import Bytes
import CatalogRows
public import LogStore

/// A fingerprint of a catalogue's content: its rows and cursor, independent of where the rows are stored and when they
/// were written.
///
/// Two catalogues with the same content have the same digest, whatever the order and generation of their rows. Each row
/// is hashed to 128 bits; the sum of these hashes, the row counts and the cursor are hashed again. A sum does not
/// depend on the order, so nothing has to be sorted. The digest detects accidental differences, not forgery.
public struct CatalogDigest: Sendable, Equatable, CustomStringConvertible {
  package let content: ContentDigest

  /// Computes the digest of a snapshot.
  ///
  /// - Throws: `StoreError.damaged`.
  /// - Complexity: Reads every row once.
  public init(_ snapshot: CatalogSnapshot) throws(StoreError) {
    self = try CatalogRowSum(snapshot).digest(cursor: snapshot.cursor)
  }

  init(_ content: ContentDigest) { self.content = content }

  /// The digest as 32 hexadecimal digits.
  public var description: String { content.description }
}

extension ProductView {
  /// The integers, the doubles, and the flags in the order of their names.
  static let digestedNumbers: [ProductField] = {
    let flags = ProductField.allCases.filter { if case .flag = $0.slot { true } else { false } }
    return ProductField.allCases.filter { !flags.contains($0) } + flags.sorted { $0.key < $1.key }
  }()

  /// Appends all 25 fields in an unambiguous encoding, and `extra` if there is one.
  func appendContent(to text: inout [UInt8]) throws(StoreError) {
    text.putText(utf8.id)
    text.putText(utf8.barcode)
    text.putText(utf8.name)
    text.putText(utf8.skuCode)
    for field in ProductLayout.sharedTexts { text.putText(try utf8.shared(field)) }
    for time in [createTime, updateTime] {
      let bytes = Array(time.utf8)
      text.putText(bytes.rawSpan)
    }
    for field in Self.digestedNumbers {
      switch field.slot {
      case .integer(let slot): text.put(UInt64(bitPattern: integer(slot)))
      case .double(let slot): text.put(double(UInt32(slot)).bitPattern)
      case .flag(let slot): text.append(flag(slot) ? 1 : 0)
      case .text: continue
      }
    }
    if utf8.extra.byteCount > 0 { text.putText(utf8.extra) }
  }
}

extension Relation {
  /// Appends all 5 fields in an unambiguous encoding.
  func appendContent(to text: inout [UInt8]) {
    for part in [id, orgId, productId, subProductId] {
      let bytes = Array(part.utf8)
      text.putText(bytes.rawSpan)
    }
    text.put(UInt64(bitPattern: groupNum))
  }
}
