import Foundation
import Testing

/// What `verify` says of documents: their part of the digest, and damage to them and to the other stores of a user.
@Suite struct DocumentStoreCommandTests {
  @Test func `the digest covers documents, and stays what it was without them`() throws {
    let root = try TestRoot(answers: [])
    _ = try root.apply([root.payload(.products(5))])
    let digest = try root.digest()
    #expect(try root.putMembers(TestRoot.members.joined(separator: "\n")).code == 0)
    let with = try root.digest()
    #expect(with != digest)
    // The same content, put in another order by another way.
    let other = try TestRoot(answers: [])
    for member in TestRoot.members.reversed() { #expect(try other.putMembers(member).code == 0) }
    _ = try other.apply([other.payload(.products(5))])
    #expect(try other.digest() == with)
    let batch = try root.run(["verify", "--batch"], input: Data((root.path + "\n" + other.path + "\n").utf8))
    let hex = with.dropFirst("digest ".count)
    #expect(batch.lines == ["ok \(hex)", "ok \(hex)"])
    for id in ["1", "2", "three"] { #expect(try root.run("documents", "delete", "members", id).code == 0) }
    #expect(try root.digest() == digest)
    let empty = try TestRoot(answers: []).digest()
    #expect(try root.run("verify", "--default").lines.last == empty)
    #expect(try root.run(["documents", "put", "c", "--default"], input: Data("{\"id\":\"d\"}".utf8)).code == 0)
    #expect(try root.run("verify", "--default").lines.last != empty && root.digest() == digest)
  }

  @Test(arguments: ["settings", "origin"])
  func `another kind of store beside the catalogue is found and set aside`(_ name: String) throws {
    let root = try TestRoot.withMembers()
    _ = try root.apply([root.payload(.products(5))])
    let digest = try root.digest()
    let folder = root.path + "/users/u"
    for contents in [try Data(contentsOf: URL(fileURLWithPath: folder + "/documents.log")), Data()] {
      try contents.write(to: URL(fileURLWithPath: folder + "/\(name).log"))
      let run = try root.run("verify")
      #expect(run.code == 65 && run.output.isEmpty && run.words.contains("\(name).log"), "\(run.words)")
      let repair = try root.run("verify", "--repair")
      #expect(repair.code == 0 && repair.words.contains("\(name).damaged-"), "\(repair.words)")
      #expect(try root.digest() == digest)
    }
  }

  @Test(arguments: ["documents", "cache"])
  func `damage beside the catalogue is found and repaired`(_ name: String) throws {
    let root = try TestRoot.withMembers()
    _ = try root.apply([root.payload(.products(5))])
    let digest = try root.digest()
    let folder = root.path + "/users/u"
    let log = URL(fileURLWithPath: folder + "/\(name).log")
    // Whatever a store is called, it is a log.
    if name != "documents" { try FileManager.default.copyItem(atPath: folder + "/documents.log", toPath: log.path) }
    #expect(try root.digest() == digest)
    var bytes = try Data(contentsOf: log)
    let range = try #require(bytes.range(of: Data("Wang".utf8)))
    bytes[range.lowerBound] ^= 1
    try bytes.write(to: log)
    let run = try root.run("verify")
    #expect(run.code == 65 && run.output.isEmpty && run.words.contains("\(name).log"), "\(run.words)")
    let batch = try root.run(["verify", "--batch"], input: Data((root.path + "\n").utf8))
    #expect(batch.lines.count == 1 && batch.lines[0].hasPrefix("err ") && batch.lines[0].contains("\(name).log"))
    let repair = try root.run("verify", "--repair")
    #expect(repair.code == 0 && repair.words.contains("\(name).damaged-1"), "\(repair.words)")
    #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/\(name).damaged-1")) == bytes)
    #expect(try root.run("verify").code == 0)
    if name == "documents" {
      #expect(repair.words.contains("lost: "))
      #expect(try root.run("documents", "list", "members", "--json").lines == Array(TestRoot.members.dropFirst()))
    } else {
      #expect(try root.digest() == digest)
    }
  }

  @Test func `documents that lie under right checksums but are none are findings`() throws {
    let root = try TestRoot.withMembers()
    let folder = root.path + "/users/u"
    _ = try root.apply([root.payload(.products(2))])
    // A catalogue in the place of the documents.
    try FileManager.default.removeItem(atPath: folder + "/documents.log")
    try FileManager.default.copyItem(atPath: folder + "/catalogue.log", toPath: folder + "/documents.log")
    let run = try root.run("verify")
    #expect(run.code == 65 && run.words.contains("documents.log"), "\(run.words)")
    for arguments in [["list"], ["get", "members", "1"], ["query", "members"]] {
      let run = try root.run(["documents"] + arguments)
      #expect(run.code == 65 && run.isOrderly && run.output.isEmpty, "\(arguments)")
    }
  }
}
