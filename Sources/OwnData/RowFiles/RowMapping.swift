public import CatalogRows

/// The meaning of the columns (or keys) of a person's own file: which field of a product each one fills, and how its
/// values are written.
public struct RowMapping: Sendable, Equatable {
  /// A change of a text before it becomes the value of a field.
  public enum Step: Sendable, Equatable {
    /// Removes white space and invisible characters at both ends.
    case trim
    /// Writes every letter as a capital.
    case upper
    /// Writes every letter in lower case.
    case lower
    /// Takes what the first group of a regular expression matches, or all that it matches if it has no group. A text
    /// without a match becomes empty.
    case capture(String)
    /// Takes from a barcode what a program for tables has done to it, if nothing has to be guessed: it gets back the
    /// zeros at the front, and loses an apostrophe, a fraction of zeros, and blanks and hyphens between its digits. The
    /// error of a formula, such as `#N/A`, becomes empty. Any other text stays as it is.
    case gtin
    /// Takes the number of an amount of money, such as `$5.00`, as ``decimal`` says. An amount that can mean two numbers
    /// is a fault.
    case money
    /// Replaces character references of HTML, such as `&amp;` and `&#228;`.
    case html
    /// Reads a date of this form, as ``dateFormat`` describes it.
    case date(String)
  }

  /// The columns of one field.
  public struct Rule: Sendable, Equatable {
    /// The names of the columns, as the file writes them.
    public var columns: [String]
    /// The text between the values of several columns; `nil` to take the first value that is not empty.
    public var separator: String?
    /// The text between several values in one cell, of which the first counts; `nil` if a cell is one value.
    public var split: String?
    /// The changes of the value, in this order.
    public var steps: [Step]

    /// Creates a rule.
    public init(columns: [String], separator: String? = nil, split: String? = nil, steps: [Step] = []) {
      self.columns = columns
      self.separator = separator
      self.split = split
      self.steps = steps
    }
  }

  /// The rules of fields that columns fill.
  public var rules: [ProductField: Rule] = [:]
  /// The value of fields in every row. A column that would fill such a field by its name is not used; a rule for the
  /// field goes before.
  public var constants: [ProductField: String] = [:]
  /// Whether columns without a rule are recognised by common names, such as `ean` or `product_name`.
  public var isAutomatic = true
  /// The byte between two fields of CSV; `nil` to recognise it in the first line.
  public var delimiter: UInt8?
  /// The number of lines of CSV or TSV before the one that names the columns. They are not read.
  public var skippedLines = 0
  /// Whether quotes around a field of CSV or TSV belong to the syntax. Otherwise they are characters like all others,
  /// and a field cannot contain the separator or a line end.
  public var hasQuotes = true
  /// The decimal separator of numbers that are written as text: a point or a comma. Then the other one, blanks or
  /// apostrophes may separate groups of three digits, and a minus may stand at the end. `nil` for numbers with a point
  /// and nothing else.
  public var decimal: UInt8?
  /// The words for true, in any case, if they are not only `true`. Other common words then mean false.
  public var trueWords: [String] = []
  /// The texts that count as no value, in any case, such as `N/A` and `-`.
  public var nullWords: [String] = []
  /// The form of dates, with `%Y %y %m %d %H %M %S` and `%%`, or as `dd.MM.yyyy HH:mm`; `nil` to take them as they are.
  public var dateFormat: String?

  /// The condition of the rows that are taken; `nil` if all are.
  package var rows: RowCondition?

  /// The columns that have further codes of a product.
  public var codes: [CodeRule] = []
  /// The field whose value several rows of one product share: the first row is the product, and the barcodes of the
  /// others are further codes of it. A row without a value belongs to the row above it. `nil` if a row is a product.
  public var group: ProductField?
  /// What the columns mean if the file is a table of codes; `nil` if its rows are products.
  package var codeTable: CodeTable?

  /// Creates a mapping that recognises common names, and changes no value.
  public init() {}

  /// Whether a text is a form of dates: it has year, month and day, and only known parts.
  public static func isDateFormat(_ text: String) -> Bool { DatePattern.isFormat(text) }

  /// The words for false if ``trueWords`` is not empty.
  static let falseWords: Set<String> = TruthWords.no.union(["f", "n", "0", "off"])

  /// Whether values of `field` are converted, whatever column they come from.
  func converts(_ field: ProductField) -> Bool {
    switch field.conversion {
    case .number: decimal != nil
    case .word: !trueWords.isEmpty
    case .date: dateFormat != nil
    case nil: false
    }
  }

  /// The field that a column with a common name fills; `nil` for other names. Case, spaces and punctuation do not
  /// matter, nor does what is in brackets: a language or a unit, as in `nombre (es)`.
  public static func field(named name: String) -> ProductField? {
    wholeField(named: name) ?? withoutBrackets(name).flatMap(wholeField)
  }

  /// The field that a column with a common name fills, if all of the name is that.
  static func wholeField(named name: String) -> ProductField? {
    let name = name.lowercased()
    // Feeds for Google's shops have the names of its namespace.
    let local = name.hasPrefix("g:") ? name.dropFirst(2) : name[...]
    let letters = local.filter { $0.isLetter || $0.isNumber }
    // A reference alone may be anything; with this sign it is a number.
    return commonNames[letters] ?? (local.contains("#") ? commonNames[letters + "#"] : nil)
  }

  /// A name without the brackets in it, and what they hold; `nil` for a name without them.
  private static func withoutBrackets(_ name: String) -> String? {
    let pairs: [Character: Character] = ["(": ")", "[": "]", "（": "）"]
    var rest = ""
    var closing: Character?
    for character in name {
      if closing != nil {
        if character == closing { closing = nil }
      } else if let end = pairs[character] {
        closing = end
      } else {
        rest.append(character)
      }
    }
    // A bracket that does not end is a character like others.
    return closing != nil || rest == name || rest.allSatisfy(\.isWhitespace) ? nil : rest
  }

  /// The common names of a column of `field`, in lower case and without punctuation.
  static func commonNames(of field: ProductField) -> [String] {
    commonNames.filter { $0.value == field }.map(\.key).sorted()
  }

  private static let commonNames: [String: ProductField] = {
    let names: [(ProductField, String)] = [
      (.id, "id productid itemid externalid uid uuid 编号 产品编号 商品编号 編號"),
      (
        .barcode,
        "barcode ean ean8 ean13 eancode gtin gtin8 gtin12 gtin13 gtin14 upc upca upcean jan code barcodenumber variantbarcode gtinupceanorisbn gtinupc eanupcs strichcode"
          + " codebarres codeàbarres codeabarres códigodebarras codigodebarras codiceabarre streepjescode kodkreskowy barkod"
          + " штрихкод 条码 条形码 商品条码 国际条码 條碼 國際條碼 janコード バーコード 바코드"
      ),
      (
        .name,
        "name productname itemname modelname title productdescription bezeichnung bezeichnung1 artikelbezeichnung artikelname nom designation désignation"
          + " nombre descripción descripcion nome descrizione naam omschrijving productnaam nazwa nazwaproduktu název ürünadı"
          + " наименование название 名称 商品名称 产品名称 品名 名稱 商品名稱 產品名稱 商品名 製品名 상품명 제품명 품명"
      ),
      (
        .skuCode,
        "skucode sku variantsku sellersku reference# itemno itemnumber articleno articlenumber artikelnummer artikelnr artnr partno partnumber"
          + " defaultcode internalreference référence referencia referência codicearticolo артикул"
          + " 货号 编码 商品编码 产品编码 物料编码 貨號 料號 商品コード 品番 型番 상품코드 품번"
      ),
      (
        .brand,
        "brand brands brandname vendor manufacturer marke hersteller marque marca merk marka značka бренд производитель"
          + " 品牌 ブランド メーカー 브랜드 제조사"
      ),
      (.brandId, "brandid 品牌编号"),
      (
        .category,
        "category categories categoryname productcategory kategorie warengruppe catégorie categoría categoria categorie kategoria"
          + " категория 分类 类别 品类 分類 類別 カテゴリ カテゴリー 카테고리"
      ),
      (.categoryId, "categoryid 分类编号"),
      (
        .unit,
        "unit uom unitofmeasure einheit mengeneinheit unité unidad unidade unitàdimisura eenheid jednostka единицаизмерения"
          + " 单位 计量单位 單位 単位 단위"
      ),
      (.orgId, "orgid organisation organization company 组织"),
      (.groupNum, "groupnum packsize packquantity unitsperpack 装箱数 包装数量"),
      (.length, "length länge laenge longueur longitud lunghezza comprimento lengte długość длина 长 长度 長さ 長度"),
      (.wide, "wide width breite largeur anchura larghezza largura breedte szerokość ширина 宽 宽度 幅 寬度"),
      (.tall, "tall height höhe hoehe hauteur altura altezza hoogte wysokość высота 高 高度 高さ"),
      (
        .weight,
        "weight netweight weightkg gewicht gewichtkg poids peso waga вес hmotnost ağırlık 重量 净重 淨重 중량 무게"
      ),
      (.volume, "volume volumen объем objętość 体积 體積 体積"),
      (.createTime, "createtime createdat created creationdate 创建时间"),
      (.updateTime, "updatetime updatedat updated lastmodified modified 更新时间 修改时间"),
      (.createBy, "createby createdby 创建人"),
      (.updateBy, "updateby updatedby modifiedby 更新人"),
      (.delFlag, "delflag deleted isdeleted 已删除"),
      (.isSaleProduct, "issaleproduct onsale saleable 在售"),
      (.isGroupedProduct, "isgroupedproduct isset 套机"),
      (.isGreeProduct, "isgreeproduct ownbrand"),
    ]
    var table: [String: ProductField] = [:]
    for field in ProductField.allCases { table[field.key.lowercased()] = field }
    for (field, words) in names {
      for word in words.split(separator: " ") { table[String(word)] = field }
    }
    return table
  }()
}

extension ProductField {
  /// What a mapping may convert the values of a field from.
  enum Conversion {
    /// A number with another decimal separator.
    case number
    /// A word for true or false.
    case word
    /// A date of another form.
    case date
  }

  /// What a mapping may convert the values of the field from; `nil` if it takes them as they are.
  var conversion: Conversion? {
    switch slot {
    // Others say with words whether a row is deleted.
    case .integer: self == .delFlag ? .word : .number
    case .double: .number
    case .flag: .word
    case .text: self == .createTime || self == .updateTime ? .date : nil
    }
  }
}

/// A column or key of a file, and the fields that it fills.
public struct RowColumnUse: Sendable, Equatable {
  /// The name in the file.
  public var name: String
  /// The number of the column, from 1; `nil` for a format without columns.
  public var number: Int?
  /// The names of the fields; empty for a column that is not used.
  public var fields: [String]
  /// Whether a common name decided, and not a rule or the name of the field.
  public var isAutomatic: Bool
  /// Whether a rule names it and no row has it; known at the end of the file.
  public var isAbsent = false
  /// Whether the condition of the mapping asks for it.
  package var isCondition = false
}
