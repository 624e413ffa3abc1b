// The example of Sources/Server/ServerAnswers/ServerAnswers.docc/ServerAnswers.md
import CatalogRows
import ServerAnswers

/// Passes the rows of a server's response to `sink` as it arrives. Returns the cursor for the next request.
func decode(_ answer: some Sequence<[UInt8]>, into sink: inout some RowSink) throws(WireError) -> String {
  var decoder = try ResponseDecoder()
  for piece in answer { try decoder.consume(piece.span, into: &sink) }
  return try decoder.finish().updateTime
}
