import Foundation
import Storage

/// An overlay file system, as the root directory of a container is one: a lower layer that is never written, such as
/// an image, and an upper one that takes what is written. It is unmounted with its last reference.
package final class OverlayMount: Sendable {
  /// Where the lower layer lies.
  package enum Lower: String, CaseIterable, Sendable {
    /// On the file system of the upper layer.
    case beside
    /// On a file system of its own.
    case elsewhere
  }

  /// Whether this process may mount file systems, which usually only root may.
  package static let isPossible = (try? OverlayMount { _ in }) != nil
  /// Why a test is skipped.
  package static let condition = "only root can mount an overlay"

  private let base: TemporaryDirectory
  /// The directory that shows both layers.
  package let directory: PosixDirectory
  package var path: String { directory.path }

  /// Mounts an overlay.
  ///
  /// - Parameter bake: A closure that fills the lower layer.
  package init(_ lower: Lower = .beside, bake: (PosixDirectory) throws -> Void) throws {
    base = try TemporaryDirectory()
    let (layers, merged) = (base.path + "/layers", base.path + "/merged")
    for name in [layers, merged] { _ = try PosixDirectory.create(name) }
    // The upper layer has a file system of its own, as an overlay cannot be the upper layer of another one.
    try Self.run(["mount", "-t", "tmpfs", "shelfmark", layers])
    do {
      let below = lower == .beside ? layers + "/lower" : base.path + "/lower"
      try bake(PosixDirectory.create(below))
      for name in ["upper", "work"] { _ = try PosixDirectory.create(layers + "/" + name) }
      let options = "lowerdir=\(below),upperdir=\(layers)/upper,workdir=\(layers)/work"
      try Self.run(["mount", "-t", "overlay", "shelfmark", "-o", options, merged])
      guard let directory = try PosixDirectory.open(merged) else { throw Failed(command: ["open", merged]) }
      self.directory = directory
    } catch {
      try? Self.run(["umount", "-l", layers])
      throw error
    }
  }

  deinit {
    // What is still open keeps it.
    try? Self.run(["umount", "-l", base.path + "/merged"])
    try? Self.run(["umount", "-l", base.path + "/layers"])
  }

  private struct Failed: Error { let command: [String] }

  private static func run(_ command: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    if process.terminationStatus != 0 { throw Failed(command: command) }
  }
}
