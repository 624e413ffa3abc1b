import Foundation

/// Prints a line at once; for a process that plays a scene.
package func say(_ line: String) {
  let bytes = Array((line + "\n").utf8)
  // A short line goes into a pipe whole.
  _ = unsafe bytes.withUnsafeBytes { unsafe Foundation.write(1, $0.baseAddress, $0.count) }
}

/// Throws a ``SceneFailure`` unless `isTrue`.
package func expect(_ isTrue: Bool, _ what: @autoclosure () -> String) throws {
  if !isTrue { throw SceneFailure(what()) }
}

/// Plays the scene that the arguments of this process name, and ends the process: with exit code 0 if the scene went as
/// it should, else with 1 after a line that says why.
///
/// - Parameter play: Gets the name of the scene, the directory and a number, which is 0 if none was given.
package func playScene(_ play: (_ scene: String, _ directory: String, _ number: Int) throws -> Void) -> Never {
  // The process that started this one may be gone.
  alarm(600)
  let arguments = Array(CommandLine.arguments.dropFirst())
  do {
    guard arguments.count >= 2 else { throw SceneFailure("usage: SCENE DIRECTORY [NUMBER]") }
    try play(arguments[0], arguments[1], arguments.count > 2 ? Int(arguments[2]) ?? 0 : 0)
    exit(0)
  } catch {
    say("failed: \(error)")
    exit(1)
  }
}

/// What went wrong in a scene.
package struct SceneFailure: Error, CustomStringConvertible {
  package let description: String
  package init(_ description: String) { self.description = description }
}
