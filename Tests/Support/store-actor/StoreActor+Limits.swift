import CProcessSupport
import Foundation
import LogStore
import Platform
import ProcessTestSupport
import Storage
import StoreTestSupport

extension StoreActor {
  /// A store with some commits, its writer, and a reader.
  private static func makeStore(_ location: StoreLocation) throws -> (writer: StoreWriter, reader: StoreReader) {
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    for _ in 0..<3 { _ = try NumberedStore.commit(writer) }
    guard let reader = try StoreReader.open(location) else { throw SceneFailure("no store") }
    return (writer, reader)
  }

  /// `body` has to be refused by the system, in words that name the file.
  private static func refused(
    _ kind: StorageError.Kind, code: Int32? = nil, at directory: String, file: String = "s.log",
    _ body: () throws -> Void
  ) throws {
    let error = try error(body)
    guard case .io(let cause) = error, cause.kind == kind, code == nil || cause.code == code else {
      throw SceneFailure("another error: \(error)")
    }
    try expect(error.description.contains(directory + "/" + file + ":"), "the error does not name the file: \(error)")
    say(error.description)
  }

  /// A reader that was open goes on; a new one opens; and `writer`, or a new one where that failed, commits the next
  /// number.
  private static func continues(
    _ location: StoreLocation, _ reader: StoreReader, after last: UInt64, poisoned: StoreWriter? = nil
  ) throws {
    try NumberedStore.check(reader.snapshot)
    poisoned?.close()
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    // What failed may count or not, but nothing before it is lost.
    guard let found = writer.snapshot else { throw SceneFailure("nothing there") }
    try expect(found.sequence == last || found.sequence == last + 1, "commit \(found.sequence) after \(last)")
    try NumberedStore.check(found)
    let next = try NumberedStore.commit(writer)
    try expect(next.sequence == found.sequence + 1, "commit \(next.sequence)")
    try NumberedStore.check(next)
    try expect(try reader.refresh() && reader.snapshot.sequence == next.sequence, "the reader does not follow")
    try NumberedStore.check(reader.snapshot)
    writer.close()
  }

  static func limitFileSize(_ location: StoreLocation, _ directory: String) throws {
    // As an embedding program has to do: the signal's default would end it.
    signal(SIGXFSZ, SIG_IGN)
    let (writer, reader) = try makeStore(location)
    let last = reader.snapshot.sequence
    // A new generation that fails leaves the writer as it was.
    process_limit(process_limit_file_size, 14_000)
    try refused(.noSpace, code: EFBIG, at: directory, file: "s.new") {
      _ = try NumberedStore.commit(writer, isGeneration: true)
    }
    process_limit(process_limit_file_size, .max)
    try NumberedStore.check(try NumberedStore.commit(writer))
    let size = try FileManager.default.attributesOfItem(atPath: directory + "/s.log")[.size] as? Int ?? 0
    process_limit(process_limit_file_size, UInt64(size + 100))
    try refused(.noSpace, code: EFBIG, at: directory) { _ = try NumberedStore.commit(writer) }
    guard case .poisoned = try error({ _ = try NumberedStore.commit(writer) }) else {
      throw SceneFailure("not poisoned")
    }
    try expect(try reader.refresh() && reader.snapshot.sequence == last + 1, "reader under the limit")
    process_limit(process_limit_file_size, .max)
    try continues(location, reader, after: last + 1, poisoned: writer)
  }

  static func limitOpenFiles(_ location: StoreLocation) throws {
    let (writer, reader) = try makeStore(location)
    process_limit(process_limit_open_files, 64)
    var descriptors: [Int32] = []
    while true {
      let next = dup(1)
      if next < 0 { break }
      descriptors.append(next)
    }
    try refused(.descriptors, at: location.directory.path) { _ = try StoreReader.open(location) }
    try refused(.descriptors, at: location.directory.path, file: "s.lock") {
      _ = try StoreWriter(location, schema: TestSchema.schema)
    }
    // A commit opens nothing, and neither does a look for one.
    try expect(try !reader.refresh(), "nothing new")
    let next = try NumberedStore.commit(writer)
    try refused(.descriptors, at: location.directory.path) { _ = try reader.refresh() }
    try NumberedStore.check(reader.snapshot)
    try refused(.descriptors, at: location.directory.path, file: "s.new") {
      _ = try NumberedStore.commit(writer, isGeneration: true)
    }
    descriptors.forEach { close($0) }
    try expect(try reader.refresh() && reader.snapshot.sequence == next.sequence, "the reader does not follow")
    _ = try NumberedStore.commit(writer, isGeneration: true)
    writer.close()
    try continues(location, reader, after: next.sequence + 1)
  }

  static func limitAddressSpace(_ location: StoreLocation) throws {
    let (writer, reader) = try makeStore(location)
    // Too little for the room that a mapping usually has; the small store itself fits.
    process_limit(process_limit_address_space, try usedAddressSpace() + 32 << 20)
    try NumberedStore.check(StoreReader.open(location)!.snapshot)
    process_limit(process_limit_address_space, .max)
    // Now a store that does not fit at all.
    let last = try writer.commit { transaction in
      try NumberedStore.change(transaction)
      var row = TestRow("large", "")
      row.body = [UInt8](repeating: 7, count: 15 << 20)
      for number in 0..<4 {
        row.keys[0] = Array("large \(number)".utf8)
        try transaction.put(0, row)
      }
    }
    process_limit(process_limit_address_space, try usedAddressSpace() + 32 << 20)
    try refused(.other, code: ENOMEM, at: location.directory.path) { _ = try StoreReader.open(location) }
    try NumberedStore.check(reader.snapshot)
    process_limit(process_limit_address_space, .max)
    _ = try writer.commit { transaction in
      try NumberedStore.change(transaction)
      for number in 0..<4 { try transaction.delete(TestSchema.id, "large \(number)") }
    }
    writer.close()
    try continues(location, reader, after: last.sequence + 1)
  }

  private static func usedAddressSpace() throws -> UInt64 {
    let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")
    guard let pages = pages.first.flatMap({ UInt64($0) }) else { throw SceneFailure("statm") }
    return pages * UInt64(getpagesize())
  }

  static func fillDisk(_ directory: String) throws {
    // A C string for the call.
    guard unsafe process_mount_memory(directory, 1 << 20) == 0 else { return say("skipped: not permitted to mount") }
    let location = try StoreLocation.creating(directory, name: "s")
    let filler = URL(fileURLWithPath: directory + "/filler")
    try Data(count: 400_000).write(to: filler)
    let (writer, reader) = try makeStore(location)
    var last = reader.snapshot.sequence
    try refused(.noSpace, code: ENOSPC, at: directory) {
      while true { last = try NumberedStore.commit(writer).sequence }
    }
    // Nothing of it counts, and what there was is there.
    try NumberedStore.check(StoreReader.open(location)!.snapshot)
    writer.close()
    // Opening for writing needs no room, a generation does.
    let again = try StoreWriter(location, schema: TestSchema.schema)
    try expect(again.snapshot?.sequence == last, "commit \(last) was acknowledged, \(again.nextSequence) is next")
    again.close()
    try FileManager.default.removeItem(at: filler)
    try continues(location, reader, after: last)
  }

  /// A file system has given out all of its inodes, and has space.
  static func useUpInodes(_ directory: String) throws {
    // A C string for the call.
    guard unsafe process_mount_memory(directory, 1 << 20) == 0 else { return say("skipped: not permitted to mount") }
    let location = try StoreLocation.creating(directory, name: "s")
    let (writer, reader) = try makeStore(location)
    let folder = directory + "/many"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    var count = 0
    while FileManager.default.createFile(atPath: folder + "/\(count)", contents: nil) { count += 1 }
    // An increment needs no inode.
    let next = try NumberedStore.commit(writer)
    try refused(.noSpace, code: ENOSPC, at: directory, file: "s.new") {
      _ = try NumberedStore.commit(writer, isGeneration: true)
    }
    writer.close()
    try FileManager.default.removeItem(atPath: folder)
    try continues(location, reader, after: next.sequence)
  }

  /// Root has left a file, or the directory, of a store behind, and its owner comes back.
  static func leaveToRoot(_ location: StoreLocation, _ directory: String, isDirectory: Bool) throws {
    guard getuid() == 0 else { return say("skipped: only root gives files away") }
    let nobody: UInt32 = 65_534
    let stores = try StoreLocation.creating(directory + "/stores", name: "s")
    try makeStore(stores).writer.close()
    // C strings for the calls.
    func give(_ path: String) throws { try expect(unsafe chown(path, nobody, nobody) == 0, "chown") }
    try give(directory)
    if !isDirectory {
      try give(directory + "/stores")
      try give(directory + "/stores/s.lock")
    }
    try expect(process_become(nobody) == 0, "setuid")
    let error = try error {
      guard let again = try StoreLocation.existing(directory + "/stores", name: "s") else { return }
      _ = try StoreWriter(again, schema: TestSchema.schema)
    }
    try expect(error.description.hasSuffix("chown -R nobody: \(directory)/stores"), "the remedy: \(error)")
    say(error.description)
  }

  /// The directory of a service's stores has become root's, as the one above it is, and what is in it has not.
  static func leaveRootDirectory(_ directory: String, isReadable: Bool) throws {
    guard getuid() == 0 else { return say("skipped: only root gives files away") }
    let path = directory + "/stores"
    let stores = try StoreLocation.creating(path, name: "s")
    try makeStore(stores).writer.close()
    for name in try FileManager.default.contentsOfDirectory(atPath: path) {
      // A C string for the call.
      try expect(unsafe chown(path + "/" + name, 65_534, 65_534) == 0, "chown")
    }
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory)
    try FileManager.default.setAttributes([.posixPermissions: isReadable ? 0o755 : 0o700], ofItemAtPath: path)
    try expect(process_become(65_534) == 0, "setuid")
    let error = try error {
      do { _ = try PosixDirectory.open(path)?.makeSubdirectory("new") } catch let error as StorageError {
        throw StoreError.io(error)
      }
    }
    try expect(error.description.hasSuffix("as root: chown nobody: \(path)"), "the remedy: \(error)")
    say(error.description)
  }

  /// Somebody works with the stores of a service.
  static func comeAsAnother(_ location: StoreLocation, _ directory: String) throws {
    guard getuid() == 0 else { return say("skipped: only root gives files away") }
    try makeStore(location).writer.close()
    // A C string for the call.
    try expect(unsafe chown(directory, 65_534, 65_534) == 0, "chown")
    try expect(process_become(4711) == 0, "setuid")
    let error = try error { _ = try StoreLocation.existing(directory, name: "s") }
    try expect(!error.description.contains("chown"), "stores of another user are not to be taken away: \(error)")
    say(error.description)
  }

  static func readOnlyMedia(_ directory: String) throws {
    // C strings for the calls.
    guard unsafe process_mount_memory(directory, 1 << 20) == 0 else { return say("skipped: not permitted to mount") }
    // The directory is opened again each time: what is open for writing would keep the file system writable.
    func location() throws -> StoreLocation { try StoreLocation.creating(directory, name: "s") }
    try makeStore(location()).writer.close()
    try expect(unsafe process_remount(directory, 1) == 0, "remount")
    let reader = try StoreReader.open(location())
    guard let reader else { throw SceneFailure("no store") }
    try NumberedStore.check(reader.snapshot)
    try expect(try !reader.refresh(), "nothing new")
    try expect(try Verification.run(location())?.findings.isEmpty == true, "verify")
    try refused(.permission, code: EROFS, at: directory, file: "s.lock") {
      _ = try StoreWriter(location(), schema: TestSchema.schema)
    }
    try expect(unsafe process_remount(directory, 0) == 0, "remount")
    try continues(location(), reader, after: 3)
  }

  static func readOnlyDirectory(_ location: StoreLocation, _ directory: String) throws {
    try makeStore(location).writer.close()
    let files = try FileManager.default.contentsOfDirectory(atPath: directory).map { directory + "/" + $0 }
    func change(directory mode: Int, files fileMode: Int) throws {
      for file in files { try FileManager.default.setAttributes([.posixPermissions: fileMode], ofItemAtPath: file) }
      try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: directory)
    }
    try change(directory: 0o500, files: 0o400)
    if getuid() == 0 {
      // Modes do not bind root.
      let nobody: UInt32 = 65_534
      for path in files + [directory] {
        // A C string for the call.
        try expect(unsafe chown(path, nobody, nobody) == 0, "chown")
      }
      try expect(process_become(nobody) == 0, "setuid")
    }
    guard let reader = try StoreReader.open(location) else { throw SceneFailure("no store") }
    try NumberedStore.check(reader.snapshot)
    try expect(try Verification.run(location)?.findings.isEmpty == true, "verify")
    try refused(.permission, at: directory, file: "s.lock") { _ = try StoreWriter(location, schema: TestSchema.schema) }
    // The files may be written, their directory not: increments work, a new generation does not.
    try change(directory: 0o700, files: 0o600)
    try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: directory)
    let writer = try StoreWriter(location, schema: TestSchema.schema)
    let next = try NumberedStore.commit(writer)
    try refused(.permission, at: directory, file: "s.new") { _ = try NumberedStore.commit(writer, isGeneration: true) }
    writer.close()
    try change(directory: 0o700, files: 0o600)
    try continues(location, reader, after: next.sequence)
  }
}
