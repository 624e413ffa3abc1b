#include "CStudio.h"

// `#embed` is C23; clang takes it in older C as well, with a warning.
#pragma clang diagnostic ignored "-Wc23-extensions"

// Every file of Sources/Studio/Studio/Web has two entries: its bytes, and its row in the table.

static const unsigned char api_js[] = {
#embed "../Studio/Web/api.js"
};
static const unsigned char app_js[] = {
#embed "../Studio/Web/app.js"
};
static const unsigned char barcode_js[] = {
#embed "../Studio/Web/barcode.js"
};
static const unsigned char dom_js[] = {
#embed "../Studio/Web/dom.js"
};
static const unsigned char errors_js[] = {
#embed "../Studio/Web/errors.js"
};
static const unsigned char fields_js[] = {
#embed "../Studio/Web/fields.js"
};
static const unsigned char first_js[] = {
#embed "../Studio/Web/first.js"
};
static const unsigned char format_js[] = {
#embed "../Studio/Web/format.js"
};
static const unsigned char grid_js[] = {
#embed "../Studio/Web/grid.js"
};
static const unsigned char icon_svg[] = {
#embed "../Studio/Web/icon.svg"
};
static const unsigned char index_html[] = {
#embed "../Studio/Web/index.html"
};
static const unsigned char pages_cache_js[] = {
#embed "../Studio/Web/pages/cache.js"
};
static const unsigned char pages_documents_js[] = {
#embed "../Studio/Web/pages/documents.js"
};
static const unsigned char pages_history_js[] = {
#embed "../Studio/Web/pages/history.js"
};
static const unsigned char pages_home_js[] = {
#embed "../Studio/Web/pages/home.js"
};
static const unsigned char pages_live_js[] = {
#embed "../Studio/Web/pages/live.js"
};
static const unsigned char pages_misses_js[] = {
#embed "../Studio/Web/pages/misses.js"
};
static const unsigned char pages_pages_css[] = {
#embed "../Studio/Web/pages/pages.css"
};
static const unsigned char pages_parts_js[] = {
#embed "../Studio/Web/pages/parts.js"
};
static const unsigned char pages_products_js[] = {
#embed "../Studio/Web/pages/products.js"
};
static const unsigned char pages_queue_js[] = {
#embed "../Studio/Web/pages/queue.js"
};
static const unsigned char pages_scan_js[] = {
#embed "../Studio/Web/pages/scan.js"
};
static const unsigned char pages_sets_js[] = {
#embed "../Studio/Web/pages/sets.js"
};
static const unsigned char pages_settings_js[] = {
#embed "../Studio/Web/pages/settings.js"
};
static const unsigned char panel_js[] = {
#embed "../Studio/Web/panel.js"
};
static const unsigned char studio_css[] = {
#embed "../Studio/Web/studio.css"
};
static const unsigned char text_js[] = {
#embed "../Studio/Web/text.js"
};

#define ASSET(name, bytes) {name, bytes, sizeof bytes}

static const struct studio_asset assets[] = {
    ASSET("api.js", api_js),
    ASSET("app.js", app_js),
    ASSET("barcode.js", barcode_js),
    ASSET("dom.js", dom_js),
    ASSET("errors.js", errors_js),
    ASSET("fields.js", fields_js),
    ASSET("first.js", first_js),
    ASSET("format.js", format_js),
    ASSET("grid.js", grid_js),
    ASSET("icon.svg", icon_svg),
    ASSET("index.html", index_html),
    ASSET("pages/cache.js", pages_cache_js),
    ASSET("pages/documents.js", pages_documents_js),
    ASSET("pages/history.js", pages_history_js),
    ASSET("pages/home.js", pages_home_js),
    ASSET("pages/live.js", pages_live_js),
    ASSET("pages/misses.js", pages_misses_js),
    ASSET("pages/pages.css", pages_pages_css),
    ASSET("pages/parts.js", pages_parts_js),
    ASSET("pages/products.js", pages_products_js),
    ASSET("pages/queue.js", pages_queue_js),
    ASSET("pages/scan.js", pages_scan_js),
    ASSET("pages/sets.js", pages_sets_js),
    ASSET("pages/settings.js", pages_settings_js),
    ASSET("panel.js", panel_js),
    ASSET("studio.css", studio_css),
    ASSET("text.js", text_js),
};

size_t studio_asset_count(void) { return sizeof assets / sizeof assets[0]; }

struct studio_asset studio_asset_at(size_t index) { return assets[index]; }
