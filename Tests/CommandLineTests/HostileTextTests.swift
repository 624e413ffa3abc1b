import Testing

/// What a hostile server writes into its rows does not steer the terminal, nor forge a line.
@Suite struct HostileTextTests {
  @Test func `control characters are not printed for people`() throws {
    let root = try TestRoot(answers: [])
    var payload = Payload(cursor: #"now\ncommitted 9\u001b[31m"#)
    payload.product(#"a\u001b[2J\nb"#, #""barcode":"CODE1","name":"x\u001b]0;y\u0007","brand":"\u009b31m""#)
    payload.product(#"s\u001b"#, #""barcode":"SET1""#)
    payload.relation(#"s\u001b"#, #"a\u001b[2J\nb"#)
    let file = try root.payload(payload)
    #expect(try root.apply([file]).lines.count == 2)
    let commands = [
      ["sync", "--from", file.path], ["scan", "CODE1", "SET1"], ["stat"], ["log"], ["users"], ["complete", "CODE1"],
      ["get", "--barcode", "CODE1"], ["explain", "CODE1"], ["find", "x"], ["components", "s\u{1B}"],
      ["sets-with", "a\u{1B}[2J\nb"], ["get", "--id", "\u{1B}[2J"], ["verify"],
    ]
    for command in commands {
      let run = try root.run(command)
      let isPlain = (run.text + run.words).unicodeScalars.allSatisfy {
        $0 == "\n" || $0.properties.generalCategory != .control
      }
      #expect(isPlain, "\(command)")
    }
  }
}
