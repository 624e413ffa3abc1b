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
      ["get", "--barcode", "CODE1"], ["explain", "CODE1"], ["find", "x"], ["search", "x"], ["components", "s\u{1B}"],
      ["sets-with", "a\u{1B}[2J\nb"], ["get", "--id", "\u{1B}[2J"], ["verify"], ["products"],
      ["products", "--columns", "id,name,brand"], ["products", "--group-by", "name,brand"],
      ["products", "--where", "\u{1B}[2J == 1"], ["products", "--columns", "\u{1B}[2J"],
    ]
    for command in commands {
      let run = try root.run(command)
      let isPlain = (run.text + run.words).unicodeScalars.allSatisfy {
        $0 == "\n" || $0.properties.generalCategory != .control
      }
      #expect(isPlain, "\(command)")
    }
  }

  @Test func `what is invisible or turns the direction of text is shown by number`() throws {
    let root = try TestRoot(answers: [])
    var payload = Payload(cursor: "2026")
    payload.product("a\u{200B}", #""barcode":"CODE1","name":"x\u202ey\u2066z\u2028","brand":"👩‍👩‍👧\u200d""#)
    let file = try root.payload(payload)
    #expect(try root.apply([file]).lines.count == 2)
    for command in [
      ["scan", "CODE1"], ["get", "--barcode", "CODE1"], ["find", "x"], ["search", "x"], ["explain", "CODE1"],
      ["get", "--id", "\u{202E}"], ["sets-with", "\u{200B}"], ["products"], ["products", "--columns", "name,id"],
      ["products", "--where", "\u{202E}"], ["products", "--where", "name == '\u{202E}"],
    ] {
      let run = try root.run(command)
      let text = run.text + run.words
      for hidden in ["\u{200B}", "\u{202E}", "\u{2066}", "\u{2028}"] {
        #expect(!text.unicodeScalars.contains(hidden.unicodeScalars.first!), "\(command)")
      }
    }
    #expect(try root.run("scan", "CODE1").text.contains(#"a\u{200B}  x\u{202E}y\u{2066}z\u{2028}"#))
    #expect(try root.run("get", "--barcode", "CODE1").text.contains(#"👩‍👩‍👧\u{200D}"#))
    // Programs get what was sent.
    #expect(try root.run("scan", "CODE1", "--json").text.contains("\u{202E}"))
  }

  @Test(arguments: [
    ["stat", "\u{1B}[31m"], ["--\u{1B}[2J"], ["\u{9B}31m"], ["dump", "--at", "\u{1B}]0;\u{202E}\u{7}"],
  ])
  func `an argument that is quoted does not steer the terminal`(arguments: [String]) throws {
    let run = try TestRoot().run(arguments)
    #expect(run.code == 64 && run.output.isEmpty && run.words.contains("Usage: catalogctl"), "\(run.words)")
    #expect(
      run.words.unicodeScalars.allSatisfy {
        $0 == "\n" || ![.control, .format].contains($0.properties.generalCategory)
      })
  }
}
