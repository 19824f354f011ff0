//! What Spin's verifier (`pan`) prints.

use serde::Serialize;

/// The figures of one run of a verifier.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub(crate) struct PanReport {
    /// States in the table at the end.
    pub(crate) stored: u64,
    /// States visited, copies for fairness included; printed for liveness only.
    pub(crate) visited: Option<u64>,
    /// Transitions; Spin counts the initial state as one.
    pub(crate) transitions: u64,
    /// Errors found.
    pub(crate) errors: u64,
    /// The longest path of the search.
    pub(crate) depth: u64,
    /// Bytes of one state vector before compression.
    pub(crate) vector_bytes: u64,
    /// "actual memory usage for states", in megabytes (2^20 bytes).
    pub(crate) states_mb: f64,
    /// "memory used for hash table", in megabytes.
    pub(crate) table_mb: f64,
    /// "memory used for DFS stack", in megabytes.
    pub(crate) stack_mb: f64,
    /// "total actual memory usage", in megabytes.
    pub(crate) total_mb: f64,
    /// Was everything searched?
    pub(crate) complete: bool,
}

impl PanReport {
    /// Bytes per stored state: state vectors with their overhead, and the hash table. The depth
    /// first stack is not counted.
    pub(crate) fn bytes_per_state(&self) -> f64 {
        (self.states_mb + self.table_mb) * f64::from(1 << 20) / self.stored as f64
    }
}

/// Reads the output of a verifier. `None` if it did not come to its end.
pub(crate) fn parse(output: &str) -> Option<PanReport> {
    let vector = line(output, "State-vector ")?;
    let stored = line(output, " states, stored")?;
    let memory = |name: &str| line(output, name).and_then(first_number::<f64>);
    let equivalent = memory("equivalent memory usage for states")?;
    Some(PanReport {
        stored: first_number(stored)?,
        visited: stored
            .split_once('(')
            .and_then(|(_, rest)| first_number(rest)),
        transitions: first_number(line(output, " transitions (=")?)?,
        errors: number_after(vector, "errors: ")?,
        depth: number_after(vector, "depth reached ")?,
        vector_bytes: number_after(vector, "State-vector ")?,
        // Spin leaves the line out if there is no difference.
        states_mb: memory("actual memory usage for states").unwrap_or(equivalent),
        table_mb: memory("memory used for hash table")?,
        stack_mb: memory("memory used for DFS stack")?,
        total_mb: memory("total actual memory usage")?,
        complete: !output.contains("Search not completed") && !output.contains("max search depth"),
    })
}

/// Why a verifier did not come to its end, in its own words.
pub(crate) fn complaint(output: &str) -> String {
    let mut said = output.lines().map(str::trim);
    said.find(|line| line.starts_with("pan:") || line.starts_with("error:"))
        .unwrap_or("no result")
        .to_owned()
}

fn line<'a>(output: &'a str, part: &str) -> Option<&'a str> {
    output.lines().find(|line| line.contains(part))
}

fn first_number<T: std::str::FromStr>(text: &str) -> Option<T> {
    text.split_whitespace().next()?.parse().ok()
}

fn number_after(text: &str, before: &str) -> Option<u64> {
    let (_, rest) = text.split_once(before)?;
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(rest.len());
    rest[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAFETY: &str = "
(Spin Version 6.5.2 -- 6 December 2019)

Full statespace search for:
	never claim         	- (none specified)
	assertion violations	+
	cycle checks       	- (disabled by -DSAFETY)
	invalid end states	+

State-vector 44 byte, depth reached 2344, errors: 0
     9272 states, stored
    16521 states, matched
    25793 transitions (= stored+matched)
        0 atomic steps
hash conflicts:        12 (resolved)

Stats on memory usage (in Megabytes):
    0.566	equivalent memory usage for states (stored*(State-vector + overhead))
    0.615	actual memory usage for states
    8.000	memory used for hash table (-w20)
   45.777	memory used for DFS stack (-m1000000)
   54.362	total actual memory usage

pan: elapsed time 0 seconds
";

    const FAIR: &str = "
State-vector 372 byte, depth reached 1162, errors: 1
      257 states, stored (20569 visited)
   353508 states, matched
   374077 transitions (= visited+matched)
     9014 atomic steps

Stats on memory usage (in Megabytes):
    0.098	equivalent memory usage for states (stored*(State-vector + overhead))
    1.130	actual memory usage for states
    0.500	memory used for hash table (-w16)
    5.341	memory used for DFS stack (-m100000)
    6.622	total actual memory usage
";

    #[test]
    fn safety_runs_are_read() {
        let report = parse(SAFETY).unwrap();
        let expected = PanReport {
            stored: 9272,
            visited: None,
            transitions: 25793,
            errors: 0,
            depth: 2344,
            vector_bytes: 44,
            states_mb: 0.615,
            table_mb: 8.0,
            stack_mb: 45.777,
            total_mb: 54.362,
            complete: true,
        };
        assert_eq!(report, expected);
        let bytes = report.bytes_per_state();
        assert!((bytes - 8.615 * 1_048_576.0 / 9272.0).abs() < 1e-9);
    }

    #[test]
    fn liveness_runs_count_visited_states_too() {
        let report = parse(FAIR).unwrap();
        assert_eq!((report.stored, report.visited), (257, Some(20569)));
        assert_eq!((report.transitions, report.errors), (374_077, 1));
    }

    #[test]
    fn without_an_actual_size_the_equivalent_one_counts() {
        let text = SAFETY.replace("    0.615	actual memory usage for states\n", "");
        assert_eq!(parse(&text).unwrap().states_mb, 0.566);
    }

    #[test]
    fn incomplete_searches_are_noticed() {
        let truncated = format!("error: max search depth too small\n{SAFETY}");
        assert!(!parse(&truncated).unwrap().complete);
        let stopped = format!("Warning: Search not completed\n{SAFETY}");
        assert!(!parse(&stopped).unwrap().complete);
        assert_eq!(parse("pan: out of memory\n"), None);
    }

    #[test]
    fn complaints_are_in_the_verifiers_words() {
        let text = "x\npan: error: too many processes -- current max is 6 procs (-DNFAIR=2)\n";
        assert!(complaint(text).ends_with("(-DNFAIR=2)"));
        assert_eq!(complaint(""), "no result");
    }
}
