//! No text makes the front end panic: `cargo +nightly fuzz run parse`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let source = base::Source {
        name: "fuzz.fair".to_owned(),
        text: String::from_utf8_lossy(bytes).into_owned(),
    };
    let loaded = lang::load(source, &source::Options::default());
    let failed = loaded
        .diagnostics
        .iter()
        .any(|diagnostic| diagnostic.severity == base::Severity::Error);
    assert_eq!(loaded.content.is_none(), failed);
    for diagnostic in &loaded.diagnostics {
        for label in &diagnostic.labels {
            let text = &loaded.sources[label.span.source.index()].text;
            assert!(label.span.end as usize <= text.len());
        }
    }
});
