import Catalog
import CatalogRows
import Foundation
import LogStore
import Synchronization

@testable import Workspace

/// A root directory that does not exist yet, and goes with its last reference.
final class TemporaryRoot: Sendable {
  let path = NSTemporaryDirectory() + "workspace-" + UUID().uuidString

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var directory: WorkspaceDirectory { WorkspaceDirectory(root: path) }

  /// A workspace, which stands for a process of its own.
  func open(_ change: (inout Workspace.Options) -> Void = { _ in }) throws -> Workspace {
    var options = Workspace.Options()
    options.pollInterval = .milliseconds(5)
    change(&options)
    return try Workspace.open(path, options: options)
  }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path + "/" + name) }

  func url(_ name: String) -> URL { URL(fileURLWithPath: path + "/" + name) }

  /// All names below the root, sorted.
  func names() throws -> [String] { try FileManager.default.subpathsOfDirectory(atPath: path).sorted() }

  /// Bytes that the files below the root take on the disk, each file once however many names it has.
  func bytesOnDisk() throws -> Int {
    var seen: Set<UInt64> = []
    var total = 0
    for name in try names() {
      var status = stat()
      // The call fills the local structure.
      guard unsafe lstat(path + "/" + name, &status) == 0, status.st_mode & S_IFMT == S_IFREG,
        seen.insert(UInt64(status.st_ino)).inserted
      else { continue }
      total += Int(status.st_blocks) * 512
    }
    return total
  }

  /// Gives a user a catalogue of products whose names say whose they are.
  func fill(_ id: String, _ count: Int, cursor: String = "monday") throws {
    let writer = try CatalogWriter(directory.makeCatalogue(of: id), lockTimeout: .seconds(5))
    defer { writer.close() }
    var update = try writer.beginFullUpdate(.open)
    var row = ProductRow()
    for number in 0..<count {
      var product = Product()
      product.id = "\(number)"
      product.barcode = "69\(number)"
      product.name = id
      product.fill(&row)
      try update.product(row)
    }
    _ = try update.commit(cursor: cursor)
  }
}

/// A cart of a user.
struct Cart: Codable, Identifiable, Sendable, Equatable {
  var id: Int
  var owner: String
}

extension Setting where Value == String {
  static var owner: Setting { Setting("owner", default: "") }
}
extension Setting where Value == Bool {
  static var showAd: Setting { Setting("showAd", default: true) }
}

/// What went wrong in threads.
final class FaultList: Sendable {
  private let faults = Mutex<[String]>([])
  var all: [String] { faults.withLock { $0 } }
  func add(_ fault: String) { faults.withLock { $0.append(fault) } }
}
