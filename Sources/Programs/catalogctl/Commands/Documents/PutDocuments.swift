import ArgumentParser
import DocumentFormat
import Documents
import JSONFormat

struct PutDocuments: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "put", abstract: "Add documents, or replace those with their ids, in one commit.",
    discussion: """
      Reads one JSON object, or one a line, from standard input or a file; each needs a field id. All of them are put, \
      or none: what is wrong is told with its line, and nothing changes then; a key twice in one object is wrong. Of \
      several documents with one id the last counts.

      JSON has no dates: --dates makes dates of the texts of a field, such as "2026-01-31T12:00:00Z", so that \
      conditions with date('…') find them. What 'get' and 'query' print as a date is put back as one with it.
      """)

  @OptionGroup var documents: DocumentOptions
  @OptionGroup var output: OutputOptions
  @OptionGroup var write: WriteOptions
  @Option(help: ArgumentHelp("The file to read; - is standard input.", valueName: "file"), completion: .file())
  var from = "-"
  @Option(help: ArgumentHelp("Make dates of the texts of this field; more than once for several.", valueName: "field"))
  var dates: [String] = []
  @Argument(help: "The collection.") var collection: String

  func run() throws {
    let dates = try dates.map(IndexArgument.path)
    // Report a missing file and invalid documents before a store is created.
    let input = try InputFile(from)
    let values = try DocumentLines.read(input)
    let encoded = try values.map { line, value in
      do {
        var value = value
        for path in dates { try value.makeDates(at: path.names[...]) }
        return try UntypedCollection.encode(value, for: collection)
      } catch {
        throw Failure(.data, "\(input.name): line \(line): \(error); nothing was changed")
      }
    }
    let count =
      encoded.isEmpty ? 0 : try documents.writable(write).untypedCollection(collection).put(contentsOf: encoded)
    if count > 0 {
      DurableChange.report("\(Quantity.of(count, "document")) put, durably")
    }
    let replaced = count - Set(values.map { $0.value["id"]?.json ?? "" }).count
    if replaced > 0 {
      Console.say(
        "catalogctl: \(Quantity.of(replaced, "document")) gave way to a later one of the file with the same id")
    }
    if output.json {
      JSONText.object([("collection", .text(collection)), ("documents", .int(count))]).print()
    } else {
      Console.print("\(Quantity.of(count, "document")) put into \(Table.cell(collection))")
    }
  }
}

/// A reader of JSON documents in a file: either one document on any number of lines, or one per line.
enum DocumentLines {
  /// - Returns: The documents, and the lines on which they begin.
  /// - Throws: `Failure` with exit code 65 that names the line.
  static func read(_ input: InputFile) throws -> [(line: Int, value: DocumentValue)] {
    var bytes: [UInt8] = []
    while let piece = try input.next() { bytes += piece }
    var values: [(line: Int, value: DocumentValue)] = []
    var start = 0
    var line = 0
    while start < bytes.count {
      let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
      defer { start = end + 1 }
      line += 1
      if bytes[start..<end].allSatisfy({ " \t\r".utf8.contains($0) }) { continue }
      do { values.append((line, try value(bytes[start..<end]))) } catch let error as JSONError {
        // The first document may continue on the next lines; in that case it must be the only one.
        if case .endsEarly = error, values.isEmpty, end < bytes.count {
          do { return [(line, try value(bytes[start...]))] } catch { throw fault(input, "from line \(line) on", error) }
        }
        throw fault(input, "line \(line)", error)
      } catch { throw fault(input, "line \(line)", error) }
    }
    return values
  }

  private struct NotText: Error, CustomStringConvertible {
    let description = "it is not UTF-8"
  }

  private static func value(_ bytes: ArraySlice<UInt8>) throws -> DocumentValue {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw NotText() }
    return try DocumentValue(json: text)
  }

  private static func fault(_ input: InputFile, _ place: String, _ error: any Error) -> Failure {
    Failure(.data, "\(input.name): \(place): \(error); nothing was changed")
  }
}

/// A value of a field that is to hold dates.
private struct NoDate: Error, CustomStringConvertible {
  let value: DocumentValue
  let field: String
  var description: String {
    "\(field) is \(String(value.json.prefix(60))), which is no date such as \"2026-01-31T12:00:00Z\""
  }
}

extension DocumentValue {
  /// Replaces each text at a path by its date, in arrays for every element. Null and a missing field are left as they
  /// are.
  fileprivate mutating func makeDates(at names: ArraySlice<String>) throws {
    switch self {
    case .array(var elements):
      for index in elements.indices { try elements[index].makeDates(at: names) }
      self = .array(elements)
    case .object(var fields) where !names.isEmpty:
      guard let name = names.first, let index = fields.firstIndex(where: { $0.name.utf8.elementsEqual(name.utf8) })
      else { return }
      do { try fields[index].value.makeDates(at: names.dropFirst()) } catch let error as NoDate {
        throw NoDate(value: error.value, field: error.field.isEmpty ? name : "\(name).\(error.field)")
      }
      self = .object(fields)
    case .null: return
    case .text(let text) where names.isEmpty:
      guard let date = DateText.date(text) else { throw NoDate(value: self, field: "") }
      self = .date(date)
    default: if names.isEmpty { throw NoDate(value: self, field: "") }
    }
  }
}
