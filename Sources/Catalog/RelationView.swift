import Bytes
import LogStore

/// One relation, lent: fields are read from the store's mapping when they are asked for, and nothing is copied.
public struct RelationView: ~Escapable {
  let record: RecordView

  @_lifetime(copy record)
  init(_ record: RecordView) { self.record = record }

  /// The set, as UTF-8.
  public var productId: RawSpan {
    @_lifetime(copy self)
    get { record.key(0) }
  }

  /// The component, as UTF-8.
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

  /// Pieces of the component that one set needs.
  public var groupNum: Int64 {
    let body = record.body
    return body.byteCount >= 8 ? Int64(bitPattern: body.u64(at: 0)) : 0
  }
}
