import Testing

/// An exit test whose body threw has failed too; a precondition ends the process with a signal.
func expectTrap(_ result: ExitTest.Result?, sourceLocation: SourceLocation = #_sourceLocation) {
  let isTrap = if case .signal = result?.exitStatus { true } else { false }
  let end = result.map { "\($0.exitStatus)" } ?? "not at all"
  #expect(isTrap, "it ended otherwise: \(end)", sourceLocation: sourceLocation)
}
