/// The words that synthetic rows are made of, as UTF-8; the same for every seed.
struct Vocabulary: Sendable {
  static let brandCount = 5000
  static let categoryCount = 400

  let brands: [[UInt8]]
  let brandIds: [[UInt8]]
  let categories: [[UInt8]]
  let units = Self.bytes(["台", "件", "套", "盒", "瓶", "包", "kg", "500 g", "12 oz", "1 L", "pcs", "箱"])
  let people = (0..<60).map { Array("user\($0 + 100)".utf8) }
  let organisations = (0..<20).map { Array("\($0 + 1001)".utf8) }
  let adjectives = Self.bytes([
    "Organic", "Classic", "Premium", "Lightly Salted", "Stainless", "Wireless", "Compact", "Roasted", "Original",
    "Extra Soft", "Heavy Duty", "Natural", "Unsweetened", "Smart", "Family Size", "Low Fat",
  ])
  let nouns = Self.bytes([
    "Green Tea", "Air Conditioner", "Tomato Soup", "Hand Cream", "Extension Cord", "Dark Chocolate", "Rice Crackers",
    "Laundry Detergent", "InputContext Lamp", "Shampoo", "Granola Bar", "Water Heater", "Coffee Beans",
    "Screwdriver Set",
    "Paper Towels", "Olive Oil", "Copper Pipe", "Filter Cartridge", "Baby Wipes", "Noodles",
  ])
  let adjectivesInChinese = Self.bytes([
    "变频", "家用", "商用", "立式", "壁挂式", "有机", "无糖", "进口", "经典", "加厚", "便携", "智能", "节能", "原味", "全自动", "不锈钢",
  ])
  let nounsInChinese = Self.bytes([
    "空调室内机", "空调室外机", "热水器", "绿茶饮料", "洗衣液", "方便面", "保温杯", "电饭煲", "空气净化器", "巧克力", "牙膏", "插线板", "橄榄油",
    "护手霜", "婴儿湿巾", "铜管配件", "遥控器", "滤芯", "挂面", "咖啡豆",
  ])

  init() {
    let syllables = [
      "ba", "co", "del", "fi", "gra", "hon", "ka", "lu", "mar", "no", "pri", "ro", "sen", "ta", "vi", "zu",
    ]
    let characters = Array("美华康格力海天金星东方大宝安泰和新光明永兴百盛长城友家乐福源")
    var random = RowRandom(0x6272_616E_64)
    brands = (0..<Self.brandCount).map { number in
      var name = ""
      if random.chance(40) {
        for _ in 0..<(2 + random.below(2)) { name.append(characters[random.below(characters.count)]) }
      } else {
        for _ in 0..<(2 + random.below(2)) { name += syllables[random.below(syllables.count)] }
        name = name.prefix(1).uppercased() + name.dropFirst()
      }
      // Numbers keep brands apart that the dice made equal.
      return Array((number % 7 == 0 ? "\(name) \(number)" : name).utf8)
    }
    brandIds = (0..<Self.brandCount).map { number in
      Array(("B" + String(RowRandom.mix(UInt64(number)) & 0xFFFF_FFFF | 0x1000_0000, radix: 16)).utf8)
    }
    let nouns = nounsInChinese
    let adjectives = adjectivesInChinese
    categories = (0..<Self.categoryCount).map { number in
      number % 3 == 0
        ? Array("Category \(number)".utf8)
        : adjectives[number % adjectives.count] + nouns[number / adjectives.count % nouns.count]
    }
  }

  private static func bytes(_ words: [String]) -> [[UInt8]] { words.map { Array($0.utf8) } }
}
