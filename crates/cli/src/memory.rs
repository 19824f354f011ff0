//! How much memory the process uses, and how much there is.
//!
//! The operating system knows everything that grows: tables of searches, automata, terms, texts,
//! generated code. Asking it costs nothing while the program works. Where the system is not Linux,
//! only what searches count themselves is limited.

use std::fs;
use std::path::Path;

/// How many bytes the process has in memory, if the system says so.
pub fn in_use() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    kibibytes(&status, "VmRSS:")
}

/// How many bytes the programs have in memory that this process has started, and those that they
/// have started: solvers, as far as the system says so.
pub fn in_use_by_children() -> u64 {
    children_of(Path::new("/proc/self"))
}

fn children_of(process: &Path) -> u64 {
    let threads = fs::read_dir(process.join("task")).into_iter().flatten();
    let lists = threads
        .flatten()
        .map(|thread| thread.path().join("children"));
    let lists: Vec<String> = lists
        .filter_map(|list| fs::read_to_string(list).ok())
        .collect();
    let children = lists.iter().flat_map(|list| list.split_whitespace());
    let bytes = children.map(|child| {
        let child = Path::new("/proc").join(child);
        let status = fs::read_to_string(child.join("status")).unwrap_or_default();
        let own = kibibytes(&status, "VmRSS:").unwrap_or(0);
        own.saturating_add(children_of(&child))
    });
    bytes.fold(0, u64::saturating_add)
}

/// The greatest value that [`in_use`] has had.
pub fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    kibibytes(&status, "VmHWM:")
}

/// What a call may use unless it says otherwise: 80 % of what the machine or its control group has.
pub fn default_limit() -> Option<u64> {
    let machine = fs::read_to_string("/proc/meminfo").ok();
    let machine = machine.and_then(|text| kibibytes(&text, "MemTotal:"));
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let group = group_limit(Path::new("/sys/fs/cgroup"), &groups);
    let available = machine.into_iter().chain(group).min()?;
    Some(available / 5 * 4)
}

/// The value of a line such as `VmRSS:    1234 kB`.
fn kibibytes(text: &str, key: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let number: u64 = line.split_whitespace().next()?.parse().ok()?;
    number.checked_mul(1024)
}

/// The least limit of the control groups that the process is in, and of the groups around them.
fn group_limit(root: &Path, groups: &str) -> Option<u64> {
    let mut least: Option<u64> = None;
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else {
            continue;
        };
        let (folder, file) = match controllers {
            "" => (root.to_owned(), "memory.max"),
            "memory" => (root.join("memory"), "memory.limit_in_bytes"),
            _ => continue,
        };

        let inner = folder.join(path.trim_start_matches('/'));
        for group in inner.ancestors().take_while(|g| g.starts_with(&folder)) {
            let text = fs::read_to_string(group.join(file)).unwrap_or_default();
            // Without a limit there is a word instead of a number, or an enormous number.
            let limit: Option<u64> = text.trim().parse().ok();
            least = least.into_iter().chain(limit).min();
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_system_are_read() {
        let text = "Name:\tfair\nVmHWM:\t    2048 kB\nVmRSS:\t  1024 kB\n";
        assert_eq!(kibibytes(text, "VmRSS:"), Some(1 << 20));
        assert_eq!(kibibytes(text, "VmHWM:"), Some(2 << 20));
        assert_eq!(kibibytes(text, "VmSwap:"), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn programs_that_were_started_are_counted() {
        // A shell that waits for another program: both are counted.
        let shell = "sleep 100 & wait";
        let child = std::process::Command::new("sh").args(["-c", shell]).spawn();
        let mut child = child.expect("there is a shell");
        while in_use_by_children() == 0 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let own = Path::new("/proc").join(child.id().to_string());
        while children_of(&own) == 0 {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        child.kill().expect("it can be ended");
        child.wait().expect("it ends");
    }

    #[test]
    fn the_tightest_group_counts() {
        let name = format!("fair-groups-{}", std::process::id());
        let root = std::env::temp_dir().join(name);
        fs::create_dir_all(root.join("a/b")).expect("folders can be made");
        let write = |path: &str, text: &str| {
            fs::write(root.join(path), text).expect("files can be written");
        };
        write("a/memory.max", "5000\n");
        write("a/b/memory.max", "max\n");

        assert_eq!(group_limit(&root, "0::/a/b\n"), Some(5000));
        assert_eq!(group_limit(&root, "0::/\n"), None);
        assert_eq!(group_limit(&root, "3:cpu:/a\nnonsense\n"), None);
        fs::remove_dir_all(&root).expect("it can be removed");
    }
}
