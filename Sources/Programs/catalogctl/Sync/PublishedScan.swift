import Barcodes
import Catalog
import CatalogHTTP
import JSONFormat
import Platform
import PublicationSync
import Workspace

/// Scans that are looked up in a publication, without a catalogue.
struct PublishedScan {
  let store: StoreOptions
  let output: OutputOptions
  /// The publication, the mirrors that are asked first, and the root key.
  let url: String
  let mirrors: [String]
  let rootKey: String?

  func run(_ codes: [String], _ options: (String, SyncSettings) throws -> TransportOptions) async throws {
    // A device that has nothing yet may have no user either.
    let user = try? store.userID()
    let settings = try user.map { try SyncSettings(of: $0, in: store.workspace) } ?? SyncSettings()
    let matching = try user == nil ? MatchingOptions() : store.matchingOptions()
    let fields = try user == nil ? DeclaredFields() : store.fields()
    let lookup = PublicationLookup(
      origin: try FileTransport(url: url, options: options(url, settings)),
      mirrors: try mirrors.map { try FileTransport(url: $0, options: options($0, settings).ofMirror) },
      rootKey: try rootKey.map(KeyFiles.publicKey),
      deviceNumber: try PublicationClient.deviceNumber(of: PublicationClient.deviceID(ofUser: user ?? "")))
    var said: Set<String> = []
    func warn(_ text: String) {
      if said.insert(text).inserted { Console.say("catalogctl: warning: \(text)") }
    }
    var isMissed = false
    var unknown: [String] = []
    var shown: UInt64?
    for code in codes {
      let answer = try await lookup.answer(fields: fields) { try $0.match(code, options: matching) }
      for note in answer.notes { warn(note) }
      if let key = answer.trustedFirstKey {
        warn(
          "took the root key \(key) from the publication itself; compare it with the publisher's, or give it with"
            + " --root-key FILE.pub")
      }
      if !answer.isKnown {
        unknown.append(code)
      } else if answer.match.isEmpty {
        isMissed = true
      }
      print(answer, code)
      if !output.json, answer.isKnown, shown != answer.sequence {
        Console.print("as of sequence \(answer.sequence) of the publication")
        shown = answer.sequence
      }
    }
    if !unknown.isEmpty {
      throw Failure(
        .temporary,
        "\(unknown.map(\.shown).joined(separator: ", ")): not known yet, because a few parts of the publication do not tell;"
          + " after 'catalogctl sync --published \(url.shown)', 'catalogctl scan' without --published knows")
    }
    if isMissed { throw Failure(.no) }
  }

  private func print(_ answer: PublicationLookup.Answer, _ code: String) {
    let reason = answer.isKnown ? nil : "not known yet"
    if output.json {
      let fields = answer.match.jsonFields(code: code, today: .today).map { name, value in
        name == "reason" ? (name, reason.map(JSONText.text) ?? value) : (name, value)
      }
      let sequence = answer.isKnown ? JSONText.uint(answer.sequence) : .null
      return JSONText.object(fields + [("sequence", sequence)]).print()
    }
    answer.match.lines(code: code, flaw: reason).forEach(Console.print)
  }
}
