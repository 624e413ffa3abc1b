import HTTPServer
import JSONFormat
import ScanDaemon
import ScanInputs

extension DaemonAPI {
  var scanRoutes: [Route] {
    [
      Route(
        method: .get, path: "/v1/scan/{code}", parameters: ["symbology"],
        work: daemon.followsPublication ? .answer(lookUpAlsoInPublication) : .immediate(lookUp)),
      // A client may send more about a scan than the daemon needs; unknown members are ignored.
      Route(method: .post, path: "/v1/scans", body: .required, members: nil, work: .answer(scan)),
      Route(method: .get, path: "/v1/misses", parameters: ["limit"], work: .answer(misses)),
      Route(method: .delete, path: "/v1/misses", work: .answer(clearMisses)),
    ]
  }

  /// The hot path: a lookup in mapped memory and one array of bytes.
  @Sendable private func lookUp(_ call: RouteCall) throws -> Response {
    let code = call.parameter
    let symbology = call.query["symbology"]
    try Self.check(code)
    try Self.check(symbology: symbology)
    return Response(json: try daemon.look(code, symbology: symbology).json.bytes)
  }

  /// While there is no catalogue yet, a publication may answer.
  @Sendable private func lookUpAlsoInPublication(_ call: RouteCall) async throws -> Response {
    let code = call.parameter
    let symbology = call.query["symbology"]
    try Self.check(code)
    try Self.check(symbology: symbology)
    return Response(json: try await daemon.lookAlsoInPublication(code, symbology: symbology).json.bytes)
  }

  @Sendable private func scan(_ call: RouteCall) async throws -> Response {
    let (readings, isList) = try Self.readings(call.body)
    if !isList { return Response(await daemon.scan(readings[0]).json) }
    var bytes = Array("{\"answers\":[".utf8)
    // Sequentially, so that the effects keep the order of the request.
    for (index, reading) in readings.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      await daemon.scan(reading).json.append(to: &bytes)
    }
    bytes += "]}".utf8
    return Response(json: bytes)
  }

  /// The scans in a body, and whether the response is a list.
  static func readings(_ body: BodyMembers) throws(ErrorResponse) -> (readings: [Reading], isList: Bool) {
    let input = try body.text("input") ?? "http"
    let tag = try body.text("tag")
    // Check it even if each scan names its input.
    try check(input: input)
    try check(tag: tag)
    switch (body["code"], body["codes"], body["scans"]) {
    case (.some, nil, nil): return ([try reading(body, input, tag)], false)
    case (nil, .some, nil):
      let codes = try body.texts("codes") ?? []
      try check(count: codes.count, "codes")
      var readings: [Reading] = []
      for code in codes { readings.append(try reading(code, input, tag)) }
      return (readings, true)
    case (nil, nil, .some):
      let scans = try body.objects("scans") ?? []
      try check(count: scans.count, "scans")
      var readings: [Reading] = []
      for scan in scans { readings.append(try reading(scan, input, tag)) }
      return (readings, true)
    default: throw .badRequest("one of code (a text), codes (an array of text) and scans (an array of objects)")
    }
  }

  private static func reading(
    _ body: BodyMembers, _ input: String, _ tag: String?
  ) throws(ErrorResponse) -> Reading {
    guard let code = try body.text("code") else { throw .badRequest("code: a text, what was scanned") }
    let symbology = try body.text("symbology")
    let labelType = try body.text("labelType")
    // What is not used is checked too: a mistake in it should not wait until it counts.
    try check(symbology: labelType, "labelType")
    return try reading(
      code, try body.text("input") ?? input, try body.text("tag") ?? tag, symbology: symbology ?? labelType)
  }

  private static func reading(
    _ code: String, _ input: String, _ tag: String?, symbology: String? = nil
  ) throws(ErrorResponse) -> Reading {
    try check(code)
    try check(input: input)
    try check(tag: tag)
    try check(symbology: symbology)
    return Reading(input: input, code: code, tag: tag, symbology: symbology)
  }

  private static func check(symbology: String?, _ name: String = "symbology") throws(ErrorResponse) {
    if let symbology, symbology.unicodeScalars.count > 64 { throw .badRequest("\(name): at most 64 characters") }
  }

  static func check(_ code: String) throws(ErrorResponse) {
    guard (1...codeByteLimit).contains(code.utf8.count) else {
      throw .badRequest("code: 1 to \(codeByteLimit) bytes of UTF-8")
    }
  }

  private static func check(tag: String?) throws(ErrorResponse) {
    if let tag, tag.utf8.count > codeByteLimit { throw .badRequest("tag: at most \(codeByteLimit) bytes") }
  }

  /// Input names have the same length limit as those of configured inputs.
  static func check(input: String) throws(ErrorResponse) {
    let isName = input.utf8.allSatisfy { byte in
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."): true
      default: false
      }
    }
    guard isName, (1...64).contains(input.utf8.count) else {
      throw .badRequest("input: 1 to 64 letters, digits, -, _ and .")
    }
  }

  static func check(count: Int, _ what: String) throws(ErrorResponse) {
    guard (1...codeCountLimit).contains(count) else {
      throw .badRequest("\(what): 1 to \(codeCountLimit) of them; send more in several requests")
    }
  }

  // MARK: The miss journal

  @Sendable private func misses(_ call: RouteCall) async throws -> Response {
    let limit = try call.query.limit()
    return try await aside {
      let misses = try daemon.misses(limit: limit)
      return Response(.object([("misses", .array(misses.map(\.json)))]))
    }
  }

  @Sendable private func clearMisses(_ call: RouteCall) async throws -> Response {
    Response(.object([("removed", .int(try await daemon.clearMisses()))]))
  }
}
