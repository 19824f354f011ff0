/// The candidate that the author of an unknown `name` most likely meant, if any is close enough.
///
/// Closeness is the edit distance with transpositions; at most a third of the letters may differ.
///
/// ```
/// assert_eq!(base::closest_name("laeder", ["leader", "label"]), Some("leader"));
/// assert_eq!(base::closest_name("zebra", ["leader", "label"]), None);
/// ```
pub fn closest_name<'a>(
    name: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let length = name.chars().count();
    let limit = length.max(3) / 3;
    // What is that long was not written by hand.
    let is_comparable = |candidate: &&str| {
        length <= MAX_LENGTH
            && candidate.len() <= 4 * MAX_LENGTH
            && candidate.chars().count().abs_diff(length) <= limit
    };
    candidates
        .into_iter()
        .filter(is_comparable)
        .take(MAX_COMPARED)
        .map(|candidate| (edit_distance(name, candidate), candidate))
        .filter(|&(distance, candidate)| distance <= limit && candidate != name)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Longer names are not compared.
const MAX_LENGTH: usize = 80;

/// No more names than this are compared.
const MAX_COMPARED: usize = 10_000;

/// Optimal string alignment: insertions, deletions, substitutions, swaps of neighbours. Letter case
/// costs nothing, because wrong case is the commonest slip.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().collect();
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replace = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let mut best = replace.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best = best.min(rows[i - 2][j - 2] + 1);
                }
                best
            };
        }
    }
    rows[a.len()][b.len()]
}
