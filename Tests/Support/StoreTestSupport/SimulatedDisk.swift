import Bytes
import RandomTestSupport

/// What a simulated device knows of its disk: which names and bytes are durable, and which changes no sync has made
/// so. A value: a copy is a fork, and a crash is a choice among its changes.
package struct SimulatedDisk: Sendable {
  /// A change of a file that no sync has made durable.
  enum Change: Sendable {
    case write(Int, [UInt8])
    case truncate(Int)
  }

  struct File: Sendable {
    var durable: [UInt8] = []
    var pending: [Change] = []

    /// Makes durable what was written since the last sync; what an earlier sync lost stays lost.
    mutating func sync() {
      for change in pending {
        switch change {
        case .write(let offset, let bytes):
          let end = offset + bytes.count
          if durable.count < end { durable.appendZeros(end - durable.count) }
          durable.replaceSubrange(offset..<end, with: bytes)
        case .truncate(let count):
          if durable.count > count { durable.removeLast(durable.count - count) }
          durable.appendZeros(count - durable.count)
        }
      }
      pending = []
    }

    /// What a failed sync leaves: programs go on seeing what was written, and nothing will ever make it durable, but
    /// for a share from the beginning.
    mutating func loseUnsynced(except share: Double) {
      let whole = Int(Double(pending.count) * share)
      var kept = Array(pending[..<whole])
      if share > 0, whole < pending.count, case .write(let offset, let bytes) = pending[whole] {
        kept.append(.write(offset, Array(bytes.prefix(bytes.count / 2))))
      }
      pending = kept
      sync()
    }
  }

  var names: [String: UInt64] = [:]
  var durableNames: [String: UInt64] = [:]
  /// Changes of names, which become durable one by one or not at all. A rename is one change.
  var pendingNames: [[(name: String, inode: UInt64?)]] = []
  var files: [UInt64: File] = [:]

  /// Whether a crash now leaves one thing only.
  package var isSettled: Bool { pendingNames.isEmpty && files.values.allSatisfy { $0.pending.isEmpty } }

  mutating func change(_ change: [(name: String, inode: UInt64?)]) {
    for (name, inode) in change { names[name] = inode }
    pendingNames.append(change)
  }

  /// Makes the names durable, and forgets the files that have none any more.
  mutating func syncNames() {
    durableNames = names
    pendingNames = []
    let named = Set(names.values)
    files = files.filter { named.contains($0.key) }
  }
}

/// The names and files that a start finds.
package struct DiskImage: Sendable {
  package var names: [String: UInt64]
  package var files: [UInt64: [UInt8]]

  package init(_ contents: [String: [UInt8]] = [:]) {
    names = [:]
    files = [:]
    for (number, (name, bytes)) in contents.sorted(by: { $0.key < $1.key }).enumerated() {
      names[name] = UInt64(number) + 1
      files[UInt64(number) + 1] = bytes
    }
  }

  package subscript(name: String) -> [UInt8]? { names[name].flatMap { files[$0] } }

  /// A number that two images with the same names and contents share, and two others hardly ever.
  package var digest: UInt64 {
    var hasher = Hasher()
    for (name, inode) in names.sorted(by: { $0.key < $1.key }) {
      hasher.combine(name)
      // The buffer is read inside the closure only.
      unsafe files[inode]?.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
    return UInt64(bitPattern: Int64(hasher.finalize()))
  }
}

extension SimulatedDisk {
  /// How much of what was not synced a crash leaves.
  package enum Survival: Sendable {
    case nothing, everything
    /// The changes up to some point, whole.
    case beginning
    /// The sectors up to some point, whatever change they belong to: a write that was torn.
    case torn
    /// Each sector and each change of a name with this probability.
    case some(Double)
    /// One sector, or change, that is missing.
    case allButOne

    package static func random(_ random: inout SeededGenerator) -> Survival {
      switch Int.random(in: 0..<12, using: &random) {
      case 8, 9: .allButOne
      case 10, 11: .torn
      case 0: .nothing
      case 1: .everything
      case 2: .beginning
      case 3: .some(0.03)
      case 4: .some(0.97)
      default: .some(Double.random(in: 0.1...0.9, using: &random))
      }
    }
  }

  /// What a loss of power now leaves. A file with two names stays one file.
  package func crashed(_ survival: Survival, _ random: inout SeededGenerator) -> DiskImage {
    let hasGarbage = Int.random(in: 0..<4, using: &random) == 0
    var image = DiskImage()
    image.names = durableNames
    var keeps = Keeping(survival, changes: pendingNames.count, &random)
    for change in pendingNames where keeps.next(&random) {
      for (name, inode) in change { image.names[name] = inode }
    }
    for inode in Set(image.names.values).sorted() {
      image.files[inode] = files[inode]?.image(survival, hasGarbage: hasGarbage, &random) ?? []
    }
    return image
  }

  /// Decides change by change whether it survives.
  struct Keeping {
    private let survival: Survival
    private var left: Int

    init(_ survival: Survival, changes: Int, _ random: inout SeededGenerator) {
      self.survival = survival
      left = Int.random(in: 0...changes, using: &random)
    }

    mutating func next(_ random: inout SeededGenerator) -> Bool {
      switch survival {
      case .nothing: return false
      case .everything: return true
      case .beginning, .torn:
        left -= 1
        return left >= 0
      case .allButOne:
        left -= 1
        return left != 0
      case .some(let share): return Double.random(in: 0..<1, using: &random) < share
      }
    }
  }
}

extension SimulatedDisk.File {
  private static let sector = 512

  /// What of the file a crash leaves: sectors of 512 bytes and lengths survive one by one.
  func image(
    _ survival: SimulatedDisk.Survival, hasGarbage: Bool, _ random: inout SeededGenerator
  ) -> [UInt8] {
    if pending.isEmpty { return durable }
    let sector = Self.sector
    var image = durable
    var size = durable.count
    var pieces = pending.count
    let isWhole = if case .beginning = survival { true } else { false }
    if !isWhole {
      for case .write(let offset, let bytes) in pending {
        pieces += (offset + bytes.count + sector - 1) / sector - offset / sector
      }
    }
    var changes = SimulatedDisk.Keeping(survival, changes: pieces, &random)
    for change in pending {
      switch change {
      case .truncate(let count):
        guard changes.next(&random) else { continue }
        if image.count > count { image.removeLast(image.count - count) }
        size = count
      case .write(let offset, let bytes):
        // In order: a write survives as a whole or not at all. Otherwise each of its sectors has its own fate.
        let isKept = isWhole ? changes.next(&random) : true
        var start = 0
        while start < bytes.count {
          let end = min(bytes.count, (offset + start) / sector * sector + sector - offset)
          let survives = isWhole ? isKept : changes.next(&random)
          if image.count < offset + end {
            image.appendZeros(offset + end - image.count)
          }
          if survives {
            image.replaceSubrange((offset + start)..<(offset + end), with: bytes[start..<end])
          } else if hasGarbage, offset + start >= durable.count {
            image.replaceSubrange((offset + start)..<(offset + end), with: random.bytes(end - start))
          }
          start = end
        }
        let growth = isWhole ? isKept : changes.next(&random)
        if growth { size = max(size, offset + bytes.count) }
      }
    }
    if image.count > size { image.removeLast(image.count - size) }
    image.appendZeros(size - image.count)
    return image
  }
}
