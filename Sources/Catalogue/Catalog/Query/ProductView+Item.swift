import Bytes
import CatalogRows
import DocumentFormat
import LogStore

extension ProductView {
  /// Calls `read` with a field as an item of the document format, and the bytes that contain it if it is a text.
  ///
  /// This is the way in which conditions, orders and groups read a product: fields are read in place, as they are
  /// needed.
  ///
  /// - Parameters:
  ///   - field: The field to read.
  ///   - scratch: A buffer for the text of a packed time. Its contents are replaced.
  ///   - read: A closure that may use the bytes only during the call.
  /// - Throws: `StoreError.damaged` if a text that products share does not pass its check.
  @inline(__always)
  func withItem<Result>(
    _ field: ProductField, _ scratch: inout [UInt8], _ read: (RawSpan, Item) -> Result
  ) throws(StoreError) -> Result {
    switch field.slot {
    case .integer(let slot): return read(body, .integer(integer(slot)))
    case .flag(let slot): return read(body, .bool(flag(slot)))
    case .double(let slot): return read(body, .double(double(UInt32(slot))))
    case .text:
      guard let text = field.text else { preconditionFailure("\(field) is a text") }
      if let shift = ProductLayout.timeShift(text) { return withTime(shift, &scratch, read) }
      return Self.pass(try self.text(of: text), read)
    }
  }

  @inline(__always)
  private static func pass<Result>(_ text: RawSpan, _ read: (RawSpan, Item) -> Result) -> Result {
    read(text, .text(0..<text.byteCount))
  }

  private func withTime<Result>(
    _ shift: UInt32, _ scratch: inout [UInt8], _ read: (RawSpan, Item) -> Result
  ) -> Result {
    switch ProductLayout.form(flags, shift) {
    case ProductLayout.Form.short:
      scratch.removeAll(keepingCapacity: true)
      if let bits = packedTime(shift) { PackedTime.append(bits, to: &scratch) }
      return Self.pass(scratch.rawSpan, read)
    case ProductLayout.Form.long: return Self.pass(text(ProductLayout.textIndex(flags, shift)), read)
    default: return Self.pass(body.slice(0, 0), read)
    }
  }
}
