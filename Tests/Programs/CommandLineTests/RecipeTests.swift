import Foundation
import Testing

/// The commands of Documentation/Recipes.md, each on the file that the page shows before it.
@Suite struct RecipeTests {
  /// A recipe of the page: its title, the text of its file, and its commands.
  private struct Recipe {
    var title: String
    var file = ""
    var commands: [String] = []
  }

  private static func recipes() throws -> [Recipe] {
    var folder = URL(fileURLWithPath: #filePath)
    for _ in 0..<4 { folder.deleteLastPathComponent() }
    let page = try String(contentsOf: folder.appending(path: "Documentation/Recipes.md"), encoding: .utf8)
    var recipes: [Recipe] = []
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("## ") { recipes.append(Recipe(title: String(line.dropFirst(3)))) }
      guard line.hasPrefix("    "), !recipes.isEmpty else { continue }
      let text = String(line.dropFirst(4))
      if text.contains("catalogctl import") {
        recipes[recipes.count - 1].commands.append(text)
      } else {
        recipes[recipes.count - 1].file += text + "\n"
      }
    }
    return recipes
  }

  /// The files of the page's commands: from which recipe, and in which encoding.
  private static let files = [
    "Open Food Facts": ("off.csv", "UTF-8"),
    "A product list in Chinese, in GB18030, with semicolons and decimal commas": ("pim.csv", "GB18030"),
    "Shopify": ("products_export.csv", "UTF-8"), "SAP": ("sap.csv", "WINDOWS-1252"),
    "Amazon": ("listings.txt", "UTF-8"),
    "Odoo": ("odoo.csv", "UTF-8"), "Excel": ("excel.csv", "UTF-8"),
  ]

  /// Runs a command of the page in a folder, with the program under test as `catalogctl`.
  private func run(_ command: String, in folder: Folder, _ root: TestRoot) throws -> ProgramRun {
    let script = #"cd "$2" && catalogctl() { "$PROGRAM" "$@"; } && eval "$3""#
    return try root.run([folder.path, command], shell: script, variables: ["PROGRAM": Program.path])
  }

  @Test func `every recipe takes the file that it shows`() throws {
    var seen: Set<String> = []
    for recipe in try Self.recipes() {
      guard let (name, encoding) = Self.files[recipe.title] else { continue }
      seen.insert(recipe.title)
      let root = try TestRoot(answers: [])
      let text = try root.folder.file("text", Data(recipe.file.utf8)).path
      _ = try root.folder.file(name, Fixture.tool("iconv -f UTF-8 -t \(encoding) \"$1\"", text))
      #expect(recipe.commands.count == 1)
      for command in recipe.commands {
        let run = try run(command, in: root.folder, root)
        #expect(run.code == 0, "\(recipe.title): \(run.words)")
      }
      let rows = try root.run("dump", "--products").objects()
      #expect(rows.count == (recipe.title == "Shopify" ? 3 : 2), "\(recipe.title)")
      for row in rows { #expect(row.text("name")?.isEmpty == false && row.text("id")?.isEmpty == false) }
      if name == "pim.csv" {
        #expect(rows[0].text("name") == "格力挂机" && rows[0].text("barcode") == "6901234567892")
        #expect(rows[0]["weight"] as? Double == 12.5 && rows[0]["isSaleProduct"] as? Bool == true)
      }
    }
    #expect(seen.count == Self.files.count)
  }

  @Test(arguments: ["SQLite", "DuckDB"]) func `the result of a query comes through a pipe`(title: String) throws {
    let recipe = try #require(try Self.recipes().first { $0.title == title })
    let root = try TestRoot(answers: [])
    _ = try root.folder.file("rows.csv", Data("id,barcode\n9,1\n".utf8))
    _ = try root.folder.file("articles.csv", Data("sku,ean,title\n7,4006381333931,Marker\n".utf8))
    let tool = title == "SQLite" ? "sqlite3" : "duckdb"
    guard try run("command -v \(tool)", in: root.folder, root).code == 0 else {
      print("skipped: \(tool) is not installed")
      return
    }
    let table = "sqlite3 shop.db '.mode csv' '.import articles.csv articles'"
    if title == "SQLite" { #expect(try run(table, in: root.folder, root).code == 0) }
    for command in recipe.commands {
      let run = try run(command, in: root.folder, root)
      #expect(run.code == 0, "\(command): \(run.words)")
    }
    let rows = try root.run("dump", "--products").objects()
    #expect(rows.count == 1 && rows[0].text("name") == "Marker" && rows[0].text("id") == "7")
  }
}
