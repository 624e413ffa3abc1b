/// A code that an input read.
public struct Reading: Sendable, Equatable {
  /// The name of the input.
  public var input: String
  /// The code as the reader sent it, without its line end. If it could not be decoded: printable ASCII unchanged, and
  /// every other byte, and each backslash, as `\xFF`. If a keyboard lost characters: what it typed, with each key that
  /// stands for no character in braces, such as `{F8}`.
  public var code: String
  /// An ID that the sender gave the request; the answer contains it. `nil` if the sender gave none.
  public var tag: String?
  /// The symbology that the sender stated in addition to the code, for example `]C1` or `LABEL-TYPE-EAN13`; `nil` if it
  /// stated none. An unknown name is passed on and does not affect matching.
  public var symbology: String?
  /// The bytes of a code that could not be decoded; `nil` if it was decoded. Of a keyboard: what it typed as UTF-8, with
  /// FF for each key that stands for no character.
  public let undecodedBytes: [UInt8]?
  /// Why the code may find nothing although the catalogue has its product, for people: it could not be decoded, or may
  /// be cut off. `nil` if it is whole.
  package private(set) var flaw: String?

  /// Creates a reading of a code that could be decoded.
  public init(input: String, code: String, tag: String? = nil, symbology: String? = nil) {
    self.input = input
    self.code = code
    self.tag = tag
    self.symbology = symbology
    undecodedBytes = nil
  }

  /// Creates a reading whose bytes are not valid in the input's encoding.
  public init(input: String, undecoded bytes: [UInt8]) {
    self.init(input: input, undecoded: bytes, reason: "could not be decoded")
  }

  /// Creates a reading that could not be decoded.
  ///
  /// - Parameters:
  ///   - code: The code in a form for people; `nil` for its bytes in printable form.
  ///   - reason: Why it could not be decoded, in a sentence that begins with `could not be decoded`.
  package init(input: String, undecoded bytes: [UInt8], code: String? = nil, reason: String) {
    self.input = input
    self.code = code ?? Printable.text(bytes, limit: bytes.count)
    tag = nil
    undecodedBytes = bytes
    flaw = reason
  }

  /// Creates a reading of a code that has no end, and may be cut off.
  init(input: String, unended code: String) {
    self.input = input
    self.code = code
    tag = nil
    undecodedBytes = nil
    flaw = "not in the catalogue; its line has no end, so the code may be cut off"
  }

  /// The reading without the passwords and other secrets that its code contains, for everything that is kept or sent
  /// on. See ``CodeSecrets``.
  package var withoutSecrets: Reading {
    guard let bytes = undecodedBytes else {
      var reading = self
      reading.code = CodeSecrets.masked(code) ?? code
      return reading
    }
    guard let masked = CodeSecrets.masked(bytes) else { return self }
    let isPrintable = code == Printable.text(bytes, limit: bytes.count)
    return Reading(
      input: input, undecoded: masked, code: isPrintable ? nil : CodeSecrets.masked(code), reason: flaw ?? "")
  }
}

/// The answer to a reading.
public struct ReadingAnswer: Sendable, Equatable {
  /// One line of JSON, without its line feed.
  public var line: [UInt8]
  /// Whether the code was a double scan. Inputs that only report scans write nothing then; inputs that answer each
  /// request write this line.
  public var isRepeat: Bool

  /// Creates an answer from one line of JSON without its line feed.
  public init(line: [UInt8], isRepeat: Bool = false) {
    self.line = line
    self.isRepeat = isRepeat
  }
}

/// Answers the readings of inputs, and receives their events.
public protocol ReadingHandler: Sendable {
  /// Answers a reading. An input requests one answer at a time, so that answers preserve the order of the readings; an
  /// input with many connections does so for each connection, because there is no order between connections. The input
  /// waits until the call returns.
  func answer(_ reading: Reading) async -> ReadingAnswer

  /// Answers readings that arrived together, from a client that does not wait for its answers: at most 256. The default
  /// implementation answers them one after another.
  ///
  /// - Returns: An answer to each, in the same order.
  func answer(_ readings: [Reading]) async -> [ReadingAnswer]

  /// Receives an event of an input. Called from any thread; the input waits until the call returns.
  func note(_ event: InputEvent, input: String)
}

extension ReadingHandler {
  /// Answers the readings one after another with `answer(_:)`. A handler that can answer several at once implements
  /// this itself.
  public func answer(_ readings: [Reading]) async -> [ReadingAnswer] {
    var answers: [ReadingAnswer] = []
    for reading in readings { answers.append(await answer(reading)) }
    return answers
  }
}

/// An event of an input.
public enum InputEvent: Sendable, Equatable {
  /// The input has opened its source. The text describes the source for people: a path, or an address with its port.
  case opened(String)
  /// The input has closed its source, and tries to reopen it if `reopens` is true.
  case closed(reason: String, reopens: Bool)
  /// A line was refused or could not be decoded, or an answer was lost. The input continues.
  case fault(InputFault)
  /// A connection was refused. The input continues.
  case refused(ConnectionRefusal)
  /// The number of connections, after one began or ended, and the limit.
  case connections(Int, limit: Int)
}

/// The reason why a connection was refused.
public enum ConnectionRefusal: Sendable, Equatable, CustomStringConvertible {
  /// The input has the maximum number of connections.
  case limit(Int, peer: String)
  /// The peer's address is not allowed.
  case notAllowed(peer: String)

  /// The name of the reason, for programs.
  public var name: String {
    switch self {
    case .limit: "limit"
    case .notAllowed: "notAllowed"
    }
  }

  /// Which connection was refused and why, for people.
  public var description: String {
    switch self {
    case .limit(let limit, let peer):
      "a connection from \(peer) was refused: there are \(limit) already, which is the limit"
    case .notAllowed(let peer): "a connection from \(peer) was refused: its address is not allowed"
    }
  }
}

/// The reason why a line was refused or could not be decoded, or an answer was lost.
public enum InputFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// The line exceeds the length limit.
  case tooLong(limit: Int)
  /// The line is not valid text in the input's encoding; its first bytes, in printable form. A line that is a code is
  /// still answered, and has ``Reading/undecodedBytes``.
  case notText(TextEncoding, shown: String)
  /// The line is not a valid request; the text describes the error.
  case request(String)
  /// A keyboard pressed keys that stand for no character here, or the system dropped its events, so the line has gaps;
  /// the text names them. The line is still answered, and has ``Reading/undecodedBytes``.
  case lostKeys(String)
  /// The rest of a key event did not arrive, so the line would have had gaps.
  case eventsLost
  /// An answer could not be delivered; the text is the reason. The reading itself was processed.
  case unanswered(String)

  /// The name of the fault, for programs.
  public var name: String {
    switch self {
    case .tooLong: "tooLong"
    case .notText: "notText"
    case .request: "request"
    case .lostKeys: "lostKeys"
    case .eventsLost: "eventsLost"
    case .unanswered: "unanswered"
    }
  }

  /// What was wrong with the data that an input received, for people.
  public var description: String {
    switch self {
    case .tooLong(let limit): "a line has more than \(limit) bytes"
    case .notText(let encoding, let shown): "a line is not \(encoding.rawValue): \(shown)"
    case .request(let what): "\(what)"
    case .lostKeys(let keys): "a line has lost characters: \(keys)"
    case .eventsLost: "key events were lost, and their line was dropped"
    case .unanswered(let why): "an answer cannot be delivered: \(why)"
    }
  }
}

extension InputFault {
  /// Bytes that are not text, with the first of them, but without secrets.
  static func notText(_ encoding: TextEncoding, _ bytes: [UInt8]) -> InputFault {
    .notText(encoding, shown: Printable.text(CodeSecrets.masked(bytes) ?? bytes))
  }

  /// Keys of a line that stand for no character, and which settings of the input may say what they mean.
  static func lostKeys(of line: TypedLine, input: String) -> InputFault {
    // A key may be a character of a password.
    if CodeSecrets.masked(line.bytes) != nil { return .lostKeys("its keys are not shown, because it has a password") }
    var seen: Set<String> = []
    let keys = line.keys.filter { seen.insert($0).inserted }
    var text = keys.prefix(8).joined(separator: ", ") + (keys.count > 8 ? ", …" : "")
    if keys.contains(where: KeyName.assignable.contains) { text += "; inputs.\(input).keys says what such keys mean" }
    if keys.contains(where: AltCode.isName) { text += "; inputs.\(input).encoding says how numbers with Alt are read" }
    if keys.contains(KeyboardDecoder.droppedEvents) {
      text += "; the system dropped events of the keyboard before they could be read"
    }
    return .lostKeys(text)
  }
}
