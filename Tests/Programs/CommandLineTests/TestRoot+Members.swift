import Foundation
import Testing

/// Documents to put, to query and to damage.
extension TestRoot {
  /// Members with nested fields, arrays, missing fields and two types of ids, a line each, as `documents` prints them.
  static let members = [
    #"{"id":1,"user":{"name":"Wang","tags":["x","y"],"status":{"isOnline":true},"remark":"boss"},"age":40}"#,
    #"{"id":2,"user":{"name":"Li","tags":[],"status":{"isOnline":false},"remark":null},"age":31.5}"#,
    #"{"id":"three","user":{"name":"王小明","tags":["x"],"status":{"isOnline":true}}}"#,
  ]

  /// A root where `u` is signed in and has the three members.
  static func withMembers() throws -> TestRoot {
    let root = try TestRoot(answers: [])
    let run = try root.putMembers(members.joined(separator: "\n"))
    try #require(run.code == 0, "\(run.words)")
    return root
  }

  /// Puts the documents in `text` into the collection `members`.
  func putMembers(_ text: String, _ options: [String] = []) throws -> ProgramRun {
    try run(["documents", "put", "members"] + options, input: Data(text.utf8))
  }
}
