import JSONFormat

@testable import ScanInputs

/// What one input is taken apart into.
private struct Settings {
  var format = LineFormat()
  var sizes: [UInt8]
  var layout: KeyboardLayout

  init(_ input: inout Input) {
    format.maximumByteCount = input.number(below: 40)
    let affixes = input.byte()
    if affixes & 1 != 0 { format.prefix = "\u{2}]C1" }
    if affixes & 2 != 0 { format.suffix = "ä\u{3}\r\n" }
    let ends: [[LineEnd]] = [
      format.ends, [.carriageReturnLineFeed], [.carriageReturn, .carriageReturnLineFeed], [.tab, .endOfText],
      [.lineFeed], [LineEnd(byte: 0x3B), .carriageReturnLineFeed], [], format.ends,
    ]
    format.ends = ends[Int(affixes >> 5)]
    format.encoding = TextEncoding.allCases[Int(affixes >> 3) & 3]
    layout = KeyboardLayout.allCases[Int(affixes >> 2) % KeyboardLayout.allCases.count]
    sizes = input.bytes(Int(input.byte()) % 4)
  }
}

/// What lines have to be, whatever they come from.
private func check(_ lines: [LineFramer.Line], _ format: LineFormat, _ name: String) {
  let limit = max(1, format.maximumByteCount)
  for line in lines {
    switch line {
    case .text(let text):
      let longest = format.encoding == .utf8 || name == "keyboard" ? limit : 3 * limit
      require(!text.isEmpty && text.utf8.count <= longest, "\(name): a line of another length")
      let isEnded = format.ends.contains { end in text.utf8.contains { [$0] == end.bytes } }
      require(!isEnded, "\(name): an end inside a line")
    case .bytes(let bytes):
      require(!bytes.isEmpty && bytes.count <= limit, "\(name): bytes of another length")
      require(name != "keyboard" && format.encoding.text(bytes) == nil, "\(name): bytes that are text")
    case .unended: require(false, "\(name): a line without an end")
    case .keys(let line):
      require(name == "keyboard" && line.bytes.count <= limit, "\(name): a line of keys that is too long")
      let count = line.bytes.count { $0 == 0xFF }
      require(count > 0 && line.keys.count == count, "keyboard: another number of lost keys")
      require(line.keys.allSatisfy { line.code.contains("{\($0)}") }, "keyboard: a lost key that is not shown")
      require(String(validating: line.bytes.filter { $0 != 0xFF }, as: UTF8.self) != nil, "keyboard: typed no text")
    case .fault(.tooLong(let told)): require(told == limit, "\(name): another limit")
    case .fault(let fault): require(name == "keyboard" && fault == .eventsLost, "\(name): \(fault)")
    }
  }
}

/// Any bytes as lines: pieces change nothing, and a line is what stands between two ends.
@Sendable func fuzzFramer(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let settings = Settings(&input)
  let rest = Array(input.rest)
  func lines(_ sizes: [UInt8]) -> [LineFramer.Line] {
    var framer = LineFramer(settings.format)
    var lines: [LineFramer.Line] = []
    inPieces(rest, sizes) { piece in
      framer.append(piece.indices.map { piece[$0] }, to: &lines)
    }
    framer.finish(&lines)
    return lines
  }
  let whole = lines([])
  require(lines(settings.sizes) == whole, "framer: pieces change lines")
  check(whole, settings.format, "framer")
  let isPlain = settings.format.ends == LineFormat().ends
  let most = isPlain ? rest.split { $0 == 0x0A || $0 == 0x0D }.count : rest.count
  require(whole.count <= most, "framer: more lines than there are")
}

/// A line of which the system dropped events is never a code, and the next line is whole, whatever came before.
private func checkDroppedEvents(_ former: KeyboardDecoder) {
  var decoder = former
  func append(_ type: UInt8, _ code: UInt8, _ value: UInt8, _ lines: inout [LineFramer.Line]) {
    let time = [UInt8](repeating: 0, count: KeyEvent.timeByteCount)
    decoder.append(time + [type, 0, code, 0, value, 0, 0, 0], to: &lines)
  }
  var faulty: [LineFramer.Line] = []
  append(0, 3, 0, &faulty)
  append(0, 0, 0, &faulty)
  append(1, 28, 1, &faulty)
  for case .text in faulty { require(false, "keyboard: dropped events are a code") }
  require(!faulty.isEmpty, "keyboard: dropped events are silent")
  var whole: [LineFramer.Line] = []
  append(1, 2, 1, &whole)
  append(1, 28, 1, &whole)
  guard whole.count == 1, case .text = whole[0] else { return require(false, "keyboard: dropped events spoil a line") }
}

/// Any bytes as events of a keyboard: pieces change nothing, nothing piles up.
@Sendable func fuzzKeyboard(_ bytes: [UInt8]) {
  var input = Input(bytes)
  let settings = Settings(&input)
  // A byte or two for each event reach more than bytes of events do, which are taken as they are if the input asks for
  // it.
  var events: [UInt8] = []
  let mode = input.byte()
  let assigned = [[:], ["F8": "GS", "DOWN": "é"], ["F1": "\r", "ESC": ";", "DELETE": "\t"], ["PAUSE": "\u{3}"]]
  guard let keys = try? KeyAssignments(assigned[Int(mode >> 1) & 3]) else {
    return require(false, "keyboard: keys that cannot be assigned")
  }
  if mode & 1 == 0 {
    events = Array(input.rest)
  } else {
    while !input.rest.isEmpty {
      let (code, change) = (input.byte(), input.byte())
      let isSynchronization = change & 0xF0 == 0x10
      events += [UInt8](repeating: 0, count: KeyEvent.timeByteCount)
      events += [isSynchronization ? 0 : 1, 0, code & (isSynchronization ? 3 : 0xFF), 0, change & 3, 0, 0, 0]
    }
  }
  func lines(_ sizes: [UInt8]) -> [LineFramer.Line] {
    var decoder = KeyboardDecoder(layout: settings.layout, keys: keys, format: settings.format)
    var lines: [LineFramer.Line] = []
    inPieces(events, sizes) { piece in
      decoder.append(piece.indices.map { piece[$0] }, to: &lines)
    }
    require(decoder.isInsideEvent == (events.count % KeyEvent.byteCount != 0), "keyboard: half an event")
    decoder.dropPartialEvent(&lines)
    if settings.format.ends.contains(where: \.isNewline) { checkDroppedEvents(decoder) }
    return lines
  }
  let whole = lines([])
  require(lines(settings.sizes) == whole, "keyboard: pieces change lines")
  check(whole, settings.format, "keyboard")
  require(whole.count <= events.count / KeyEvent.byteCount + 1, "keyboard: more lines than events")
}

/// Any text as a request of the socket: what is read is in it, and a refusal is one line of JSON.
@Sendable func fuzzRequest(_ bytes: [UInt8]) {
  let line = String(decoding: bytes, as: UTF8.self)
  let told: [UInt8]
  do throws(ScanRequest.Refusal) {
    let request = try ScanRequest(line: line)
    // Written again it reads the same.
    let tag = request.tag.map { #","tag":"# + JSONWriter.string($0, escaping: [.uppercaseDigits, .delete]) } ?? ""
    let again = #"{"code":"# + JSONWriter.string(request.code, escaping: [.uppercaseDigits, .delete]) + tag + "}"
    guard let read = try? ScanRequest(line: again) else { return require(false, "request: refused when written again") }
    require(Array(read.code.utf8) == Array(request.code.utf8), "request: another code when written again")
    require(read.tag.map { Array($0.utf8) } == request.tag.map { Array($0.utf8) }, "request: another tag")
    return
  } catch {
    told = error.line
  }
  let text = String(decoding: told, as: UTF8.self)
  require(!told.contains(0x0A) && !told.contains(0x0D), "request: a refusal of two lines")
  do throws(ScanRequest.Refusal) {
    _ = try ScanRequest(line: text)
    require(false, "request: a refusal is a request")
  } catch {
    require(!error.reason.contains("no JSON"), "request: a refusal is no JSON: \(text)")
  }
}
