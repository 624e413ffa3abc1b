// One import for programs that embed Shelfmark: all libraries that need no network. A program that fetches catalogues
// or sends uploads over HTTP also imports CatalogHTTP or UploadHTTP.

@_exported public import Barcodes
@_exported public import Catalog
@_exported public import CatalogFiles
@_exported public import CatalogSync
@_exported public import DocumentFormat
@_exported public import Documents
@_exported public import LogStore
@_exported public import RemoteLists
@_exported public import UploadQueue
@_exported public import Workspace
