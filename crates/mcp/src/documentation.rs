//! Looking things up in the manual, which is a part of the program: `manual/` has links to its pages,
//! because packages have files below their own folder only.

/// The pages, with their names.
const PAGES: [(&str, &str); 5] = [
    ("language", include_str!("../manual/language.md")),
    ("command line", include_str!("../manual/cli.md")),
    ("Promela", include_str!("../manual/promela.md")),
    ("CSP#", include_str!("../manual/csp.md")),
    ("semantics", include_str!("../manual/semantics.md")),
];

/// How many sections are returned.
const MAX_SECTIONS: usize = 3;

/// A part of a page under a heading.
pub(crate) struct Section {
    pub(crate) page: &'static str,
    pub(crate) heading: &'static str,
    pub(crate) text: &'static str,
}

/// The sections that fit a question best: those with most of its words, in headings above all.
pub(crate) fn search(query: &str) -> Vec<Section> {
    let words: Vec<String> = query
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.len() > 1)
        .map(str::to_lowercase)
        .collect();

    let mut found: Vec<(usize, Section)> = Vec::new();
    for (page, text) in PAGES {
        for section in sections(page, text) {
            let (heading, body) = (section.heading.to_lowercase(), section.text.to_lowercase());

            // A heading counts more than any number of mentions in the text.
            let score = words.iter().map(|word| {
                20 * usize::from(heading.contains(word))
                    + body.matches(word.as_str()).count().min(8)
            });
            let score = score.sum();
            if score > 0 {
                found.push((score, section));
            }
        }
    }

    found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    found.truncate(MAX_SECTIONS);
    found.into_iter().map(|(_, section)| section).collect()
}

/// The names of all sections.
pub(crate) fn contents() -> Vec<String> {
    let all = PAGES.iter().flat_map(|(page, text)| sections(page, text));
    all.map(|section| format!("{}: {}", section.page, section.heading))
        .collect()
}

fn sections(page: &'static str, text: &'static str) -> Vec<Section> {
    let mut starts = vec![0];
    starts.extend(text.match_indices("\n#").map(|(at, _)| at + 1));
    starts.push(text.len());

    let parts = starts
        .windows(2)
        .map(|range| text[range[0]..range[1]].trim());

    let section = |part: &'static str| {
        let heading = part
            .lines()
            .next()
            .unwrap_or("")
            .trim_start_matches(['#', ' ']);
        Section {
            page,
            heading,
            text: part,
        }
    };

    parts.filter(|part| !part.is_empty()).map(section).collect()
}
