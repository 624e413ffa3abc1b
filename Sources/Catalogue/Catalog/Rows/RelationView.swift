import Bytes
import LogStore

/// A borrowed view of one relation. Each field is read from the store's mapping when it is accessed, and nothing is
/// copied.
public struct RelationView: ~Escapable {
  let record: RecordView

  @_lifetime(copy record)
  init(_ record: RecordView) { self.record = record }

  /// The id of the set, as UTF-8.
  public var productId: RawSpan {
    @_lifetime(copy self)
    get { record.key(0) }
  }

  /// The id of the component, as UTF-8.
  public var subProductId: RawSpan {
    @_lifetime(copy self)
    get { record.key(1) }
  }

  /// The relation's own id, as UTF-8.
  public var id: RawSpan {
    @_lifetime(copy self)
    get {
      let body = record.body
      return body.byteCount >= 8 ? body.extracting(8...) : body.slice(0, 0)
    }
  }

  /// The number of pieces of the component that one set needs.
  public var groupNum: Int64 {
    let body = record.body
    return body.byteCount >= 8 ? Int64(bitPattern: body.u64(at: 0)) : 0
  }
}
