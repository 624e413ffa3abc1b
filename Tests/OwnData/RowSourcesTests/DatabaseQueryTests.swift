import RowSources
import Testing

/// What is asked of a database, without one.
@Suite struct DatabaseQueryTests {
  @Test func `an address is told from the name of a file`() {
    #expect(DatabaseQuery.isURL("postgresql://host/shop") && DatabaseQuery.isURL("postgres://"))
    for file in ["postgresql.csv", "a.csv", "-", "http://host/", ""] { #expect(!DatabaseQuery.isURL(file)) }
  }

  @Test(arguments: [
    ("postgresql://ana:secret@host:5433/shop?sslmode=require&password=secret", "postgresql://host:5433/shop"),
    ("postgres:///shop", "postgresql:///shop"), ("postgresql://", "postgresql://"),
    ("postgresql://a:p@ss@host", "postgresql://host"), ("postgresql://a:p?x@host", "postgresql://"),
  ])
  func `the name for messages has no password`(url: String, name: String) {
    #expect(DatabaseQuery(url: url, products: "").name == name)
  }

  @Test func `the name of a table is quoted`() {
    #expect(DatabaseQuery.rows(ofTable: "products") == "SELECT * FROM \"products\"")
    #expect(DatabaseQuery.rows(ofTable: "my shop.a\"; DROP") == "SELECT * FROM \"my shop\".\"a\"\"; DROP\"")
  }

  @Test func `what cannot be reached is an error with a reason`() {
    let query = DatabaseQuery(url: "postgresql://127.0.0.1:1/shop", products: "SELECT 1 AS id")
    #expect(throws: DatabaseError.self) { _ = try DatabaseRows(query) }
    #expect(throws: DatabaseError.self) {
      _ = try DatabaseRows(DatabaseQuery(url: "postgresql://h/?nothing=1", products: "SELECT 1"))
    }
  }
}
