//! The page and its scripts, all inside the program.

use crate::gate::random_token;
use crate::http::Response;

const HTML: &str = "text/html";
const SCRIPT: &str = "text/javascript";
const STYLE: &str = "text/css";
const SVG: &str = "image/svg+xml";
const TEXT: &str = "text/plain";

struct Asset {
    address: &'static str,
    kind: &'static str,
    content: &'static [u8],
    is_compressed: bool,
}

macro_rules! asset {
    ($path:literal, $kind:expr) => {
        Asset {
            address: concat!("/", $path),
            kind: $kind,
            content: include_bytes!(concat!("../web/", $path)),
            is_compressed: false,
        }
    };
    ($path:literal, $kind:expr, compressed) => {
        Asset {
            address: concat!("/", $path),
            kind: $kind,
            content: include_bytes!(concat!("../web/", $path, ".gz")),
            is_compressed: true,
        }
    };
}

/// Everything but the page itself. What others have written is most of it, so it is compressed.
const ASSETS: &[Asset] = &[
    asset!("style.css", STYLE),
    asset!("icon.svg", SVG),
    asset!("vendor/vendor.js", SCRIPT, compressed),
    asset!("vendor/LICENCES.txt", TEXT),
    asset!("main.js", SCRIPT),
    asset!("store.js", SCRIPT),
    asset!("server.js", SCRIPT),
    asset!("languages.js", SCRIPT),
    asset!("words.js", SCRIPT),
    asset!("editor.js", SCRIPT),
    asset!("start.js", SCRIPT),
    asset!("verify.js", SCRIPT),
    asset!("values.js", SCRIPT),
    asset!("simulate.js", SCRIPT),
    asset!("trace.js", SCRIPT),
    asset!("timeline.js", SCRIPT),
    asset!("window.js", SCRIPT),
    asset!("files.js", SCRIPT),
    asset!("chart.js", SCRIPT),
    asset!("graph.js", SCRIPT),
    asset!("layout.js", SCRIPT),
    asset!("picture.js", SCRIPT),
    asset!("export.js", SCRIPT),
];

/// The page. `{{nonce}}` stands for what its styles must carry.
const PAGE: &str = include_str!("../web/index.html");

/// The content of an address.
pub(crate) fn find(path: &str) -> Response {
    if path == "/" {
        return page();
    }
    match ASSETS.iter().find(|asset| asset.address == path) {
        Some(asset) => Response {
            is_compressed: asset.is_compressed,
            ..sent(asset.kind, asset.content)
        },
        None => Response::error(404, "there is nothing here"),
    }
}

fn sent(content_type: &'static str, content: &[u8]) -> Response {
    Response {
        status: 200,
        content_type,
        body: content.to_vec(),
        is_compressed: false,
        nonce: None,
    }
}

fn page() -> Response {
    let Ok(nonce) = random_token() else {
        return Response::error(500, "the system has no random numbers");
    };
    let page = PAGE.replace("{{nonce}}", &nonce);
    Response {
        nonce: Some(nonce),
        ..sent(HTML, page.as_bytes())
    }
}
