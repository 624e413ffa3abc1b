/// One code, as an input read it.
public struct Reading: Sendable, Equatable {
  /// The name of the input.
  public var input: String
  /// The code as the reader sent it, without what ends a line. If it could not be decoded: printable ASCII as it is, and every
  /// other byte, and each backslash, as `\xFF`.
  public var code: String
  /// What the sender calls it, where the sender can say so; it comes back with the answer.
  public var tag: String?
  /// The bytes of a code that could not be decoded; `nil` for one that could.
  public let undecodedBytes: [UInt8]?

  public init(input: String, code: String, tag: String? = nil) {
    self.input = input
    self.code = code
    self.tag = tag
    undecodedBytes = nil
  }

  /// A code whose bytes are not text in the input's encoding.
  public init(input: String, undecoded bytes: [UInt8]) {
    self.input = input
    code = Printable.text(bytes, limit: bytes.count)
    tag = nil
    undecodedBytes = bytes
  }
}

/// What a reading is answered with.
public struct ReadingAnswer: Sendable, Equatable {
  /// One line of JSON, without its line feed.
  public var line: [UInt8]
  /// Whether the code was read again within the window of double scans. Inputs that nobody asks say nothing then; where each
  /// request has an answer, this is it.
  public var isRepeat: Bool

  public init(line: [UInt8], isRepeat: Bool = false) {
    self.line = line
    self.isRepeat = isRepeat
  }
}

/// Takes the readings of inputs, and is told how the inputs are.
public protocol ReadingHandler: Sendable {
  /// Answers a reading. An input asks for one answer at a time, so that answers and what follows from them keep the order of
  /// the readings; where it has many connections, each of them does, as there is no order between connections. The input waits as
  /// long as this takes.
  func answer(_ reading: Reading) async -> ReadingAnswer

  /// Answers readings that arrived together, as those of a client that does not wait for its answers: at most
  /// 256. The default implementation answers one after the other.
  ///
  /// - Returns: An answer to each, in the same order.
  func answer(_ readings: [Reading]) async -> [ReadingAnswer]

  /// Something happened to an input. Called from any thread; holds up the input.
  func note(_ event: InputEvent, input: String)
}

extension ReadingHandler {
  public func answer(_ readings: [Reading]) async -> [ReadingAnswer] {
    var answers: [ReadingAnswer] = []
    for reading in readings { answers.append(await answer(reading)) }
    return answers
  }
}

/// Something that happened to an input.
public enum InputEvent: Sendable, Equatable {
  /// It reads; for people: from what, such as a path or an address with its port.
  case opened(String)
  /// It does not read any more, and tries to open again, if that makes sense.
  case closed(reason: String, reopens: Bool)
  /// A line was refused or could not be decoded, or an answer got lost; the input goes on.
  case fault(InputFault)
  /// A connection was refused; the input goes on.
  case refused(ConnectionRefusal)
  /// How many connections the input has, after one came or ended, and how many it may have.
  case connections(Int, limit: Int)
}

/// Why a connection was refused.
public enum ConnectionRefusal: Sendable, Equatable, CustomStringConvertible {
  /// The input has as many connections as it may.
  case limit(Int, peer: String)
  /// The peer's address is not among those that are allowed.
  case notAllowed(peer: String)

  /// The name of the reason, for programs.
  public var name: String {
    switch self {
    case .limit: "limit"
    case .notAllowed: "notAllowed"
    }
  }

  public var description: String {
    switch self {
    case .limit(let limit, let peer):
      "a connection from \(peer) was refused: there are \(limit) already, which is the limit"
    case .notAllowed(let peer): "a connection from \(peer) was refused: its address is not allowed"
    }
  }
}

/// Why a line was refused or could not be decoded, or an answer got lost.
public enum InputFault: Error, Sendable, Equatable, CustomStringConvertible {
  /// It has more bytes than an input takes.
  case tooLong(limit: Int)
  /// It is not text in the input's encoding; its first bytes, printable. A line that is a code is answered nevertheless, and has
  /// ``Reading/undecodedBytes``.
  case notText(TextEncoding, shown: String)
  /// It is not the request that the input expects: what it should be.
  case request(String)
  /// Some of what was typed got lost before it could be read, so the line would have had holes.
  case eventsLost
  /// An answer cannot be delivered, and why. The reading itself was taken.
  case unanswered(String)

  /// The name of the fault, for programs.
  public var name: String {
    switch self {
    case .tooLong: "tooLong"
    case .notText: "notText"
    case .request: "request"
    case .eventsLost: "eventsLost"
    case .unanswered: "unanswered"
    }
  }

  public var description: String {
    switch self {
    case .tooLong(let limit): "a line has more than \(limit) bytes"
    case .notText(let encoding, let shown): "a line is not \(encoding.rawValue): \(shown)"
    case .request(let what): "\(what)"
    case .eventsLost: "keys of a line got lost, and it was dropped"
    case .unanswered(let why): "an answer cannot be delivered: \(why)"
    }
  }
}
