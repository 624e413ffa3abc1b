/// The scanning daemon.
@main struct Catalogd {
  static func main() async { fatalError("being built") }
}
