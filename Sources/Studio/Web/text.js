// Every word of the pages, in English and Chinese. A key is looked up with `t(key, values)`.
//
// `{n}` is replaced by a value; `{n|row|rows}` by the number with its noun, singular for 1.

const languageKey = "shelfmark.language";
let chosen = 0;

const words = {
  // Navigation and frame
  "nav": ["Pages", "页面"],
  "nav.home": ["Home", "首页"],
  "nav.products": ["Products", "商品"],
  "nav.scan": ["Scan", "扫码"],
  "nav.sets": ["Sets", "套装"],
  "nav.history": ["History", "历史"],
  "nav.documents": ["Documents", "文档"],
  "nav.queue": ["Queue", "队列"],
  "nav.cache": ["Cache", "缓存"],
  "nav.settings": ["Settings", "设置"],
  "nav.misses": ["Misses", "未命中"],
  "nav.live": ["Live", "实时"],
  "skip": ["Skip to content", "跳到内容"],
  "theme": ["Theme", "外观"],
  "theme.auto": ["System", "跟随系统"],
  "theme.light": ["Light", "浅色"],
  "theme.dark": ["Dark", "深色"],
  "language": ["Language", "语言"],
  "help": ["Keyboard help", "键盘帮助"],
  "close": ["Close", "关闭"],
  "loading": ["Loading…", "正在加载…"],
  "retry": ["Try again", "重试"],
  "cancel": ["Cancel", "取消"],
  "readonly": ["Read only", "只读"],
  "editable": ["Editing on", "可编辑"],
  "user": ["User", "用户"],
  "error": ["Error", "错误"],
  "error.unreachable": ["The server does not answer. Is the program still running?", "服务器没有响应。程序还在运行吗？"],
  "error.unknownCommit": ["This commit is no longer kept.", "该提交已不再保留。"],
  "error.page": ["This page could not be shown.", "无法显示此页面。"],
  "newest": ["Show the newest", "查看最新"],
  "notfound": ["There is no such page.", "没有这个页面。"],
  "at": ["As of commit {n}", "截至提交 {n}"],
  "at.text": ["Everything on this page is as it was then.", "本页内容均为当时的状态。"],
  "commits.new": ["{n|new commit|new commits}", "{n} 个新提交"],
  "commits.follow": ["Follow", "更新到最新"],
  "commits.stay": ["Stay on commit {n}", "停留在提交 {n}"],
  "token.title": ["Token needed", "需要令牌"],
  "token.text": ["Paste the token, or open the link that `catalogctl studio` printed.",
    "请粘贴令牌，或打开 catalogctl studio 打印的链接。"],
  "token.field": ["Token", "令牌"],
  "token.open": ["Open", "打开"],
  "key.search": ["Search", "搜索"],
  "key.move": ["Move between rows", "在行间移动"],
  "key.sideways": ["Move between columns", "在列间移动"],
  "key.open": ["Open the row in the panel", "在面板中打开该行"],
  "key.close": ["Close the panel, or clear the search", "关闭面板或清除搜索"],
  "key.help": ["This help", "本帮助"],
  "yes": ["yes", "是"],
  "no": ["no", "否"],
  "missing": ["missing", "缺失"],
  "commit": ["Commit {n}", "提交 {n}"],
  "change.added": ["added", "新增"],
  "change.changed": ["changed", "更改"],
  "change.removed": ["removed", "删除"],
  "export.ndjson": ["NDJSON", "NDJSON"],
  "export.csv": ["CSV", "CSV"],
  "export": ["Export", "导出"],

  // Fields of a product
  "field.id": ["ID", "编号"],
  "field.barcode": ["Barcode", "条码"],
  "field.name": ["Name", "名称"],
  "field.brand": ["Brand", "品牌"],
  "field.brandId": ["Brand ID", "品牌编号"],
  "field.category": ["Category", "分类"],
  "field.categoryId": ["Category ID", "分类编号"],
  "field.unit": ["Unit", "单位"],
  "field.skuCode": ["SKU", "SKU"],
  "field.groupNum": ["Group quantity", "组合数量"],
  "field.isSaleProduct": ["For sale", "在售"],
  "field.isMarketingProduct": ["Marketing", "营销商品"],
  "field.isGroupedProduct": ["Grouped", "组合商品"],
  "field.isGreeProduct": ["Gree", "格力商品"],
  "field.weight": ["Weight", "重量"],
  "field.volume": ["Volume", "体积"],
  "field.length": ["Length", "长"],
  "field.wide": ["Width", "宽"],
  "field.tall": ["Height", "高"],
  "field.delFlag": ["Deletion flag", "删除标记"],
  "field.orgId": ["Organisation", "组织"],
  "field.createBy": ["Created by", "创建人"],
  "field.createTime": ["Created", "创建时间"],
  "field.updateBy": ["Updated by", "更新人"],
  "field.updateTime": ["Updated", "更新时间"],

  // Home
  "home.products": ["Products", "商品"],
  "home.relations": ["Relations", "关系"],
  "home.sets": ["Sets", "套装"],
  "home.dangling": ["Dangling components", "悬空组件"],
  "home.deleted": ["Marked deleted", "已标记删除"],
  "home.commit": ["Commit", "提交"],
  "home.updated": ["Updated", "更新于"],
  "home.cursor": ["Cursor", "游标"],
  "home.cursor.none": ["none yet", "尚无"],
  "home.generation": ["Generation", "代"],
  "home.commits": ["Recent commits", "最近的提交"],
  "home.commits.text": ["{n|commit|commits}, at most {most|row|rows} in one; the newest is commit {last}.",
    "{n} 个提交，单次最多 {most} 行；最新为提交 {last}。"],
  "home.commits.rows": ["Commit {n}: {rows|row|rows}", "提交 {n}：{rows} 行"],
  "home.files": ["Files", "文件"],
  "home.live": ["Live", "有效"],
  "home.dead": ["Dead", "失效"],
  "home.other": ["Indexes and overhead", "索引及开销"],
  "home.share": ["{share} of the file is dead rows; compacting frees them.", "文件中 {share} 为失效行，压缩后可释放。"],
  "home.file": ["File", "文件"],
  "home.role": ["Role", "用途"],
  "home.size": ["Size", "大小"],
  "home.indexes": ["Indexes", "索引"],
  "home.index": ["Index", "索引"],
  "home.kind": ["Kind", "类型"],
  "home.entries": ["Entries", "条目"],
  "home.health": ["Health", "健康"],
  "home.health.text": ["Verification reads and checks every byte. It changes nothing.", "验证会读取并检查每个字节，不做任何更改。"],
  "home.verify": ["Verify", "验证"],
  "home.stop": ["Stop", "停止"],
  "home.verifying": ["{done} of {total}", "{done} / {total}"],
  "home.clean": ["No damage found.", "未发现损坏。"],
  "home.damaged": ["{n|finding|findings}", "发现 {n} 处问题"],
  "home.digest": ["Digest", "摘要"],
  "home.lost": ["Lost", "损失"],
  "home.offset": ["Offset", "偏移"],
  "home.what": ["What", "内容"],
  "home.problems": ["Problems", "问题"],
  "home.version": ["Version", "版本"],

  // Products
  "products.search": ["Search products", "搜索商品"],
  "products.filters": ["Filters", "筛选"],
  "products.columns": ["Columns", "列"],
  "products.usual": ["Usual columns", "默认列"],
  "products.up": ["Move {name} up", "上移 {name}"],
  "products.down": ["Move {name} down", "下移 {name}"],
  "products.moved": ["{name} is now column {n}", "{name} 现为第 {n} 列"],
  "products.count": ["{n|product|products}", "{n} 件商品"],
  "products.counting": ["Counting…", "正在计数…"],
  "products.results": ["{n|result|results}", "{n} 条结果"],
  "products.resultsMore": ["More than {n|result|results}", "超过 {n} 条结果"],
  "products.noResults": ["No product has these words.", "没有包含这些词的商品。"],
  "products.none": ["There are no products here.", "这里没有商品。"],
  "products.sets": ["Sets", "套装"],
  "products.current": ["Current", "有效"],
  "products.deleted": ["Deleted", "已删除"],
  "products.anyTime": ["Any time", "不限"],
  "products.sinceChip": ["Changed since commit {n}", "自提交 {n} 后更改"],
  "products.remove": ["Remove filter {name}", "移除筛选 {name}"],
  "products.partial": ["Counted in part of the rows.", "仅统计部分行。"],
  "filter.brand": ["Brand", "品牌"],
  "filter.category": ["Category", "分类"],
  "filter.set": ["Kind", "类型"],
  "filter.deleted": ["State", "状态"],
  "filter.since": ["Changed since", "更改自"],
  "filter.where": ["Condition", "条件"],
  "panel.close": ["Close panel", "关闭面板"],
  "panel.deleted": ["deleted", "已删除"],
  "panel.fields": ["Fields", "字段"],
  "panel.commit": ["Written by", "写入提交"],
  "panel.components": ["Components", "组件"],
  "panel.sets": ["Part of sets", "所属套装"],
  "panel.history": ["History", "历史"],
  "panel.older": ["Older changes are no longer kept.", "更早的更改已不再保留。"],
  "panel.raw": ["Raw record", "原始记录"],
  "panel.offset": ["Offset", "偏移"],
  "panel.size": ["Size", "大小"],

  // Scan

  // Sets

  // History

  // Documents

  // Queue

  // Cache

  // Settings

  // Misses

  // Live
};

/** The text for `key` in the language of the page; the key itself if it has no words. */
export function t(key, values) {
  const entry = words[key];
  const text = entry ? entry[chosen] ?? entry[0] : key;
  if (values === undefined) return text;
  return text.replace(/\{(\w+)(?:\|([^|}]*)\|([^}]*))?\}/g, (_, name, one, many) => {
    const value = values[name];
    const shown = typeof value === "number" ? value.toLocaleString(language()) : String(value ?? "");
    return one === undefined ? shown : shown + " " + (value === 1 ? one : many);
  });
}

/** The language of the page as a BCP 47 tag. */
export function language() {
  return chosen === 1 ? "zh-CN" : "en";
}

/** Takes the stored choice, else the first of the browser's languages that has words here. */
export function chooseLanguage() {
  const stored = localStorage.getItem(languageKey);
  const wanted = stored ? [stored] : navigator.languages ?? [navigator.language];
  const known = wanted.map(tag => tag.toLowerCase()).find(tag => tag.startsWith("zh") || tag.startsWith("en"));
  chosen = known?.startsWith("zh") ? 1 : 0;
  document.documentElement.lang = language();
}

/** Keeps a choice of language for the next visit. */
export function setLanguage(tag) {
  localStorage.setItem(languageKey, tag);
  chooseLanguage();
}
