import Foundation
import HTTPTypes
import Testing

@testable import Studio

/// Who may ask, and with which headers each answer comes.
struct StudioAccessTests {
  @Test func `data needs the token, pages do not`() async throws {
    let studio = try TestStudio()
    for path in ["/studio/api/store", "/studio/api/products.csv", "/studio/api/nothing", "/studio/api"] {
      for token in [nil, "", "wrong", TestStudio.token + "x"] {
        let answer = try await studio.ask(path, token: token)
        #expect(answer.status == .unauthorized && answer.headers[.wwwAuthenticate] != nil, "\(path)")
        #expect(answer.text.contains("unauthorized"))
      }
    }
    for path in ["/studio/", "/studio/products/1?row=5", "/studio/scan", "/studio/assets/studio.css"] {
      #expect(try await studio.ask(path, token: nil).status == .ok, "\(path)")
    }
  }

  @Test(arguments: ["evil.example", "evil.example:9000", "127.0.0.1.evil.example", "10.0.0.1:9000", nil])
  func `a foreign host is refused everywhere`(host: String?) async throws {
    let studio = try TestStudio()
    for path in ["/studio/", "/studio/assets/studio.css", "/studio/api/store", "/elsewhere"] {
      #expect(try await studio.ask(path, host: host).status == (host == nil ? .badRequest : .forbidden), "\(path)")
    }
  }

  @Test(arguments: ["http://evil.example", "null", "http://127.0.0.1:9001", "http://localhost:9000"])
  func `a foreign origin is refused everywhere`(origin: String) async throws {
    let studio = try TestStudio()
    for path in ["/studio/", "/studio/api/store"] {
      #expect(try await studio.ask(path, origin: origin).status == .forbidden, "\(path)")
    }
    #expect(try await studio.ask("/studio/api/store", origin: "http://127.0.0.1:9000").status == .ok)
  }

  @Test(arguments: ["/studio/", "/studio/assets/studio.css", "/studio/api/store", "/studio/api/nothing", "/elsewhere"])
  func `every answer has the security headers`(path: String) async throws {
    let headers = try await TestStudio().ask(path).headers
    let policy = try #require(headers[HTTPField.Name("Content-Security-Policy")!])
    for part in ["default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"] {
      #expect(policy.contains(part))
    }
    #expect(!policy.contains("unsafe"))
    for (name, value) in [
      ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
      ("Cross-Origin-Opener-Policy", "same-origin"), ("Cross-Origin-Resource-Policy", "same-origin"),
    ] {
      #expect(headers[HTTPField.Name(name)!] == value)
    }
    #expect(headers[.setCookie] == nil)
    if path.contains("/api/") { #expect(headers[.cacheControl]?.hasPrefix("no-store") == true) }
  }

  @Test(arguments: ["/studio/", "/studio/assets/studio.css", "/studio/api/store", "/studio/api/products.ndjson"])
  func `HEAD has the headers of GET and no body`(path: String) async throws {
    let studio = try TestStudio()
    let expected = try await studio.ask(path).headers
    let head = try await studio.ask(path, method: .head)
    #expect(head.status == .ok && head.body.isEmpty)
    #expect(head.headers == expected)
    if path.contains("/api/") { #expect(try await studio.ask(path, method: .head, token: nil).status == .unauthorized) }
  }

  @Test func `an asset has a tag and is not sent twice`() async throws {
    let studio = try TestStudio()
    let first = try await studio.ask("/studio/assets/studio.css", token: nil)
    #expect(first.headers[.cacheControl] == "no-cache" && first.headers[.contentType] == "text/css; charset=utf-8")
    let tag = try #require(first.headers[.eTag])
    let second = try await studio.ask("/studio/assets/studio.css", token: nil, headers: [.ifNoneMatch: tag])
    #expect(second.status == .notModified && second.body.isEmpty)
    #expect(try await studio.ask("/studio/assets/none.js", token: nil).status == .notFound)
    #expect(try await studio.ask("/studio", token: nil).headers[.location] == "studio/")
  }

  @Test(arguments: ["*", "W/TAG", "\"a\", TAG", "\"a\",W/TAG , \"b\""])
  func `a tag that a proxy made weak is the same one`(field: String) async throws {
    let studio = try TestStudio()
    let path = "/studio/assets/studio.css"
    let tag = try #require(try await studio.ask(path).headers[.eTag])
    let answer = try await studio.ask(path, headers: [.ifNoneMatch: field.replacing("TAG", with: tag)])
    #expect(answer.status == .notModified)
    #expect(try await studio.ask(path, headers: [.ifNoneMatch: "W/\"a\", \"b\""]).status == .ok)
  }

  @Test(arguments: [
    ("/studio/", ""), ("/studio/?at=3", ""), ("/studio/products", ""), ("/studio/products/", "../"),
    ("/studio/products/a%2Fb?x=/y/", "../"), ("/studio/documents/members/1", "../../"), ("/studio//products", "../"),
    ("/studio/documents/studio/studio/", "../../../"),
  ])
  func `the addresses of a page lead to the assets from where it is`(path: String, up: String) async throws {
    let studio = try TestStudio()
    let page = try await studio.ask(path, token: nil)
    let links = page.text.matches(of: /(?:src|href)="([^"]+)"/).map { String($0.1) }
    #expect(links.count > 10)
    for link in links {
      #expect(link.hasPrefix(up + "assets/"), "\(link)")
      let asset = link.dropFirst(up.count)
      #expect(try await studio.ask("/studio/" + asset, token: nil).status == .ok, "\(link)")
    }
    #expect(try await studio.ask("/studio?at=3", token: nil).headers[.location] == "studio/?at=3")
  }

  @Test func `no file of the pages has an absolute address`() {
    for (name, asset) in StudioAssets.embedded {
      let text = String(decoding: asset.bytes, as: UTF8.self)
      // Texts for people may name one.
      if name == "text.js" { continue }
      // Comments have it in backticks.
      let isFree = text.firstMatch(of: /["'(]\/studio[\/"']/) == nil
      #expect(isFree, "\(name)")
    }
  }

  @Test func `streams ask proxies to pass each part on at once`() async throws {
    let studio = try TestStudio()
    for (path, isStream) in [("products.ndjson", true), ("products.csv", false), ("store", false)] {
      let headers = try await studio.ask("/studio/api/" + path).headers
      #expect(headers[HTTPField.Name("X-Accel-Buffering")!] == (isStream ? "no" : nil))
      #expect(headers[.cacheControl] == (isStream ? "no-store, no-transform" : "no-store"))
    }
  }

  @Test func `a studio that was given a name answers to it on any port, and to its pages`() async throws {
    let studio = try TestStudio(names: ["shop.example.org"])
    for host in ["shop.example.org", "SHOP.example.org:8443", "shop.example.org.", "127.0.0.1:9000"] {
      #expect(try await studio.ask("/studio/api/store", host: host).status == .ok, "\(host)")
    }
    for origin in ["https://shop.example.org", "http://shop.example.org:8080"] {
      #expect(try await studio.ask("/studio/api/store", origin: origin).status == .ok, "\(origin)")
    }
    for host in ["example.org", "a.shop.example.org", "shop.example.org.evil.example", "shop.example.org:x"] {
      let answer = try await studio.ask("/studio/api/store", host: host)
      #expect(answer.status == .forbidden && answer.text.contains("--name"), "\(host)")
    }
    for origin in ["https://evil.example", "ftp://shop.example.org", "null"] {
      let answer = try await studio.ask("/studio/api/store", origin: origin)
      #expect(answer.status == .forbidden && answer.text.contains("--name"), "\(origin)")
    }
  }

  @Test func `the modules of the pages import no circle`() throws {
    var imports: [String: Set<String>] = [:]
    for (name, asset) in StudioAssets.embedded where name.hasSuffix(".js") {
      let folder = name.split(separator: "/").dropLast().joined(separator: "/")
      let text = String(decoding: asset.bytes, as: UTF8.self)
      imports[name] = Set(
        text.matches(of: /from "(\.{1,2})\/([\w\/.]+)"/).map { match in
          match.1 == ".." || folder.isEmpty ? String(match.2) : "\(folder)/\(match.2)"
        })
    }
    #expect(imports.count > 20 && imports["app.js"]?.contains("errors.js") == true)
    // What imports nothing that is left can be taken away, until nothing is left.
    while let free = imports.first(where: { $0.value.isDisjoint(with: imports.keys) })?.key { imports[free] = nil }
    #expect(imports.isEmpty, "\(imports.keys.sorted())")
  }

  @Test func `every file of the pages is embedded as it is`() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../../Sources/Studio/Studio/Web"
    )
    .standardizedFileURL
    let files = try #require(FileManager.default.subpaths(atPath: folder.path))
    let names = files.filter { !folder.appending(path: $0).hasDirectoryPath && $0.contains(".") }
    #expect(Set(names) == Set(StudioAssets.embedded.keys))
    for name in names {
      let bytes = try Array(Data(contentsOf: folder.appending(path: name)))
      let isSame = StudioAssets.embedded[name]?.bytes == bytes
      #expect(isSame, "\(name)")
      #expect(StudioAssets.embedded[name]?.contentType != "application/octet-stream", "\(name)")
    }
  }

  @Test func `tokens are long and differ`() {
    let tokens = Set((0..<100).map { _ in StudioServer.makeToken() })
    #expect(tokens.count == 100)
    for token in tokens {
      #expect(
        token.utf8.count >= 22 && token.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_".contains($0)) })
    }
  }
}
