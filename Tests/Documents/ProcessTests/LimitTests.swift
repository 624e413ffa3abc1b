import ProcessTestSupport
import StoreTestSupport
import Testing

/// What the system refuses: an error that names file and cause, readers that go on, nothing lost, and a next commit.
@Suite(.serialized) struct LimitTests {
  @Test(arguments: [
    ("file size", "(ulimit -f)"), ("open files", "(ulimit -n)"), ("address space", "(ulimit -v)"),
    ("full disk", "free some space"), ("no inodes", "no inodes are left, though there may be space: 'df -i "),
    ("read-only media", "mounted read-only"), ("read-only directory", "its mode forbids it: chmod -R u+rwX "),
    ("a file of root's", "belongs to root; as root: chown -R nobody: "),
    ("a directory of root's", "belongs to root; as root: chown -R nobody: "),
    ("a directory of stores that is root's", ", and what is in it to nobody; as root: chown nobody: "),
    ("a closed directory of stores", "; but if the files in it belong to nobody, as root: chown nobody: "),
    ("a service's directory", "belongs to nobody: run the program as that user, or as root"),
  ])
  func `a refusal of the system is reported, and overcome when it ends`(scene: String, advice: String) throws {
    let temporary = try TemporaryDirectory()
    let (code, lines) = try ActorProcess.play(scene, temporary.path)
    #expect(code == 0, "\(lines)")
    if lines.first?.hasPrefix("skipped") == true {
      print("LimitTests: \(scene): \(lines[0])")
      return
    }
    #expect(!lines.isEmpty && lines.allSatisfy { $0.contains(advice) }, "\(lines)")
  }
}
