import Foundation
import Testing

/// `publish` and `sync --published`: the way from one device to another over any web server.
@Suite struct PublishCommandTests {
  /// A publisher, its key, and where it publishes.
  private struct Site {
    let root: TestRoot
    var folder: String { root.folder.path + "/site" }
    var key: String { root.folder.path + "/key" }

    init(products: Int) throws {
      root = try TestRoot(answers: [])
      _ = try root.apply([root.payload(.products(products), "first")])
      #expect(try root.run("publish", "keys", "new", key).code == 0)
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }

    func publish(_ words: String...) throws -> ProgramRun {
      try root.run(["publish", "--user", "u", "--to", folder, "--key", key, "--json"] + words)
    }

    func change(_ id: String, cursor: String) throws {
      var payload = Payload(cursor: cursor)
      payload.product(id)
      #expect(try root.run("sync", "--from", root.payload(payload, cursor).path).code == 0)
    }
  }

  @Test func `a device has what was published, with its digest`() throws {
    let site = try Site(products: 40)
    let first = try site.publish()
    #expect(first.code == 0, "\(first.words)")
    let report = try first.object()
    #expect(report.sortedKeys == ["base", "bytesOut", "deltas", "objects", "published", "sequence"])
    #expect(report.number("sequence") == 1 && report["published"] as? Bool == true)
    let server = try HTTPServer(folder: site.folder)
    let device = try TestRoot()
    let sync = ["sync", "--published", server.root, "--root-key", site.key + ".pub", "--json", "--user", "d"]
    let run = try device.run(sync)
    #expect(run.code == 0, "\(run.words)")
    #expect(try run.object().text("mode") == "base")
    #expect(try device.run("verify", "--user", "d").text == site.root.run("verify").text)
    let again = try device.run(sync).object()
    #expect(
      again.text("mode") == "unchanged" && again.number("requests") == 1 && again.number("bytesIn") ?? 9999 <= 1024)
    try site.change("p1", cursor: "later")
    let second = try site.publish().object()
    #expect(second["base"] is NSNull && second.objects("deltas").map { $0.number("from") } == [1])
    #expect(try device.run(sync).object().text("mode") == "delta")
    #expect(try device.run("verify", "--user", "d").text == site.root.run("verify").text)
    let third = try site.publish().object()
    #expect(third["published"] as? Bool == false && third.number("bytesOut") == 0)
  }

  @Test func `codes are looked up in a publication without a catalogue and without a user`() throws {
    let site = try Site(products: 40)
    #expect(try site.publish().code == 0)
    let server = try HTTPServer(folder: site.folder)
    let device = try TestRoot()
    let scan = ["scan", "--published", server.root, "--root-key", site.key + ".pub"]
    let known = try site.root.run("scan", "--json", "--user", "u", "--", "c7").object()
    let run = try device.run(scan + ["--json", "--", "c7"])
    #expect(run.code == 0, "\(run.words)")
    var answer = try run.object()
    #expect(answer.number("sequence") == 1)
    answer["sequence"] = nil
    #expect(answer as NSDictionary == known as NSDictionary)
    let words = try device.run(scan + ["c7"])
    #expect(words.code == 0 && words.text.hasSuffix("\nas of sequence 1 of the publication\n"), "\(words.text)")
    let missing = try device.run(scan + ["--json", "4006381333931"])
    #expect(try missing.code == 1 && missing.object().text("match") == "none")
    #expect(try missing.object().number("sequence") == 1)
    let unknown = try device.run(scan + ["--json", "[)>\u{1E}06\u{1D}1PPART-77\u{1E}\u{4}"])
    #expect(unknown.code == 75 && unknown.words.contains("not known yet"), "\(unknown.words)")
    #expect(try unknown.object()["sequence"] is NSNull)
    let other = site.root.folder.path + "/other"
    #expect(try site.root.run("publish", "keys", "new", other).code == 0)
    #expect(
      try device.run("scan", "--published", server.root, "--root-key", other + ".pub", "c7").code == 65)
    #expect(try device.run("scan", "--published", "http://127.0.0.1:1/", "--attempts", "1", "c7").code == 69)
    #expect(try device.run("scan", "--published", server.root).code == 64)
    #expect(try device.run("scan", "--mirror", server.root, "c7").code == 64)
    #expect(!FileManager.default.fileExists(atPath: device.path + "/users"))
  }

  @Test func `what cannot be trusted is refused, and the old rows stay`() throws {
    let site = try Site(products: 5)
    #expect(try site.publish().code == 0)
    let server = try HTTPServer(folder: site.folder)
    let device = try TestRoot()
    let sync = ["sync", "--published", server.root, "--root-key", site.key + ".pub", "--user", "d"]
    let old = try Data(contentsOf: URL(filePath: site.folder + "/catalogue.json"))
    let oldSignature = try Data(contentsOf: URL(filePath: site.folder + "/catalogue.json.sig"))
    try site.change("p1", cursor: "later")
    #expect(try site.publish().code == 0)
    #expect(try device.run(sync).code == 0)
    let digest = try device.run("verify", "--user", "d").text
    let head = URL(filePath: site.folder + "/catalogue.json")
    let signature = URL(filePath: site.folder + "/catalogue.json.sig")
    let (newest, newestSignature) = (try Data(contentsOf: head), try Data(contentsOf: signature))
    func check(_ json: Data, _ text: Data, _ words: String) throws {
      try json.write(to: head)
      try text.write(to: signature)
      let run = try device.run(sync)
      #expect(run.code == 65 && run.words.contains(words), "\(run.words)")
      #expect(try device.run("verify", "--user", "d").text == digest)
    }
    try check(newest + Data(" ".utf8), newestSignature, "is not what its signature signs")
    try check(old, oldSignature, "has the state 1, and this device has 2 already")
    try check(Data("<html>".utf8), newestSignature, "not what its signature signs")
    try newest.write(to: head)
    try newestSignature.write(to: signature)
    let other = site.root.folder.path + "/other"
    #expect(try site.root.run("publish", "keys", "new", other).code == 0)
    let stranger = try TestRoot().run(
      ["sync", "--published", server.root, "--root-key", other + ".pub", "--user", "d"])
    #expect(stranger.code == 65 && stranger.words.contains("root key"), "\(stranger.words)")
  }

  @Test func `an incomplete publication is not reachable`() throws {
    let site = try Site(products: 5)
    #expect(try site.publish().code == 0)
    let server = try HTTPServer(folder: site.folder)
    try FileManager.default.removeItem(atPath: site.folder + "/objects")
    let device = try TestRoot()
    let run = try device.run("sync", "--published", server.root, "--user", "d")
    #expect(run.code == 69, "\(run.words)")
    let missing = try device.run("sync", "--published", server.root + "nothing/", "--user", "d")
    #expect(missing.code == 69 && missing.words.contains("is it the address of a publication?"), "\(missing.words)")
  }

  @Test func `a key is never overwritten, and its secret is its owner's alone`() throws {
    let root = try TestRoot(answers: [])
    let key = root.folder.path + "/key"
    #expect(try root.run("publish", "keys", "new", key).code == 0)
    let mode = try FileManager.default.attributesOfItem(atPath: key)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(try root.run("publish", "keys", "new", key).code == 73)
    #expect(try root.run("publish", "keys", "new", root.folder.path + "/no/such/folder").code == 73)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
    _ = try root.apply([root.payload(.products(1), "1")])
    #expect(try root.run("publish", "--to", root.folder.path + "/site", "--key", key).code == 77)
  }

  @Test func `files of one's own are published without a user`() throws {
    let root = try TestRoot()
    let rows = try root.folder.file("rows.csv", Data("id,barcode,name\n1,4006381333931,Pen\n".utf8))
    let site = root.folder.path + "/site"
    let run = try root.run("publish", "--from", rows.path, "--to", site, "--json")
    #expect(run.code == 0, "\(run.words)")
    #expect(run.words.contains("made the key"))
    let server = try HTTPServer(folder: site)
    let device = try TestRoot()
    #expect(try device.run("sync", "--published", server.root, "--user", "d").words.contains("took the root key"))
    #expect(try device.run("get", "--barcode", "4006381333931", "--user", "d").text.contains("Pen"))
    try Data("id,barcode,name\n1,4006381333931,Pen\n2,96385074,\n".utf8).write(to: rows)
    #expect(try root.run("publish", "--from", rows.path, "--to", site, "--json").object().number("sequence") == 2)
    #expect(try device.run("sync", "--published", server.root, "--user", "d").code == 0)
    #expect(try device.run("get", "--barcode", "96385074", "--user", "d").code == 0)
  }

  @Test func `a ring gets the state before the newest one`() throws {
    let site = try Site(products: 5)
    #expect(try site.publish().code == 0)
    try site.change("p1", cursor: "later")
    #expect(try site.publish().code == 0)
    func ring(_ words: String...) throws -> ProgramRun {
      try site.root.run(["publish", "ring", "--to", site.folder, "--key", site.key] + words)
    }
    #expect(try ring("25", "7", "100", "1").code == 65)
    let run = try ring("25", "2", "100", "1")
    #expect(run.code == 0, "\(run.words)")
    let head = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: site.folder + "/catalogue.json")))
    let rings = (head as? [String: Any])?.objects("rings").map { [$0.number("percent"), $0.number("sequence")] }
    #expect(rings == [[25, 2], [100, 1]])
    #expect((head as? [String: Any])?.objects("states").map { $0.number("sequence") } == [1])
    #expect(try ring("100", "2").code == 0)
  }

  @Test func `words that do not fit together are refused`() throws {
    let root = try TestRoot()
    for words in [
      ["publish"], ["publish", "--to", ""], ["publish", "--to", "http://host/"],
      ["publish", "--to", "d", "--region", "x"],
      ["publish", "--to", "d", "--from", "x", "--user", "u"], ["publish", "--to", "d", "--every", "0"],
      ["publish", "--to", "d", "--from", "-"], ["publish", "--to", "d", "--expires", "0"],
      ["publish", "ring", "--to", "d"], ["publish", "ring", "50", "1", "--to", "d"],
      ["publish", "ring", "50", "1", "40", "2", "--to", "d"],
      ["publish", "keys", "rotate", "--to", "d", "--root-key", "k"],
      ["sync", "--published", "http://host/", "--url", "http://host/"],
      ["sync", "--url", "http://host/", "--mirror", "http://host/"],
      ["sync", "--published", "http://host/", "--organisation", "o"],
    ] {
      let run = try root.run(words)
      #expect(run.code == 64, "\(words): \(run.words)")
    }
  }
}
