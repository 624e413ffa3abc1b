package import CatalogRows
import Foundation

/// An error of a sink that takes no more rows.
package struct SinkFull: Error, Equatable {
  package init() {}
}

/// Keeps every row as its dump line, so that rows are compared bit by bit.
package struct Collector: RowSink {
  package var lines: [String] = []
  /// How many rows are taken before the sink throws.
  package var capacity = Int.max

  package init(lines: [String] = [], capacity: Int = .max) {
    self.lines = lines
    self.capacity = capacity
  }

  package mutating func product(_ row: borrowing ProductRow) throws {
    guard lines.count < capacity else { throw SinkFull() }
    var json: [UInt8] = []
    RowJSON.appendDump(row, to: &json)
    lines.append(String(decoding: json, as: UTF8.self))
  }

  package mutating func relation(_ row: borrowing RelationRow) throws {
    guard lines.count < capacity else { throw SinkFull() }
    var json: [UInt8] = []
    RowJSON.appendDump(row, to: &json)
    lines.append(String(decoding: json, as: UTF8.self))
  }

  package mutating func code(_ row: borrowing CodeRow) throws {
    guard lines.count < capacity else { throw SinkFull() }
    var json: [UInt8] = []
    RowJSON.appendDump(row, to: &json)
    lines.append(String(decoding: json, as: UTF8.self))
  }

  package var products: [[String: Any]] { objects("product") }
  package var relations: [[String: Any]] { objects("relation") }
  package var codes: [[String: Any]] { objects("code") }

  private func objects(_ type: String) -> [[String: Any]] {
    lines.compactMap {
      var object = try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any]
      return object?.removeValue(forKey: "type") as? String == type ? object : nil
    }
  }
}
