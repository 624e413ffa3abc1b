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
  "export.ndjson": ["NDJSON", "NDJSON"],
  "export.csv": ["CSV", "CSV"],
  "export": ["Export", "导出"],

  // Fields of a product

  // Home

  // Products

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
