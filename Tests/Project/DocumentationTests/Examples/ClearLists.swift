// The example of Sources/Documents/RemoteLists/RemoteLists.docc/RemoteLists.md
import RemoteLists
import Workspace

/// Removes lists whose contents have changed on the server. Returns the names of those that were cached.
func forget(_ lists: [String], in workspace: Workspace) throws -> [String] {
  let removed = try workspace.pages().clear(lists)  // one commit
  return removed.map(\.name)
}
