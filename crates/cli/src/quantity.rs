//! Durations and sizes as people write them.

use std::time::Duration;

/// Reads `500ms`, `30s`, `1.5m`, `2h`; a number alone counts seconds.
///
/// # Errors
/// What a duration looks like.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || {
        format!(
            "`{text}` is not a duration: write a number with ms, s, m or h, such as 500ms or 2m"
        )
    };
    let (number, unit) = split(text).ok_or_else(wrong)?;
    let seconds = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(wrong()),
    };
    Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())
}

/// Reads `4096`, `512M`, `2GiB`, `1.5GB`: `K`, `M`, `G`, `T` and `KiB`, ... count by 1024, `KB`, ...
/// by 1000.
///
/// # Errors
/// What a size looks like.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || {
        format!(
            "`{text}` is not a size: write a number of bytes or one with a unit, such as 512M or 2GiB"
        )
    };
    let (number, unit) = split(text).ok_or_else(wrong)?;
    let unit = unit.to_ascii_lowercase();
    let (prefix, base) = match unit.as_str() {
        "" | "b" => ("", 1024.0),
        unit => match (unit.strip_suffix("ib"), unit.strip_suffix('b')) {
            (Some(prefix), _) => (prefix, 1024.0_f64),
            (None, Some(prefix)) => (prefix, 1000.0),
            (None, None) => (unit, 1024.0),
        },
    };

    let power = match prefix {
        "" if unit.is_empty() || unit == "b" => 0,
        "k" => 1,
        "m" => 2,
        "g" => 3,
        "t" => 4,
        _ => return Err(wrong()),
    };

    let bytes = number * base.powi(power);
    // 2^64 itself is the first number that does not fit.
    if bytes < 18_446_744_073_709_551_616.0 {
        Ok(bytes as u64)
    } else {
        Err(wrong())
    }
}

/// A number that is not negative, and the unit behind it.
fn split(text: &str) -> Option<(f64, &str)> {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.parse().ok()?, unit.trim()))
}

/// A size for people.
pub fn show_size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    let mut size = bytes as f64;
    let mut unit = "bytes";
    for larger in UNITS {
        if size < 1024.0 {
            break;
        }
        size /= 1024.0;
        unit = larger;
    }
    match unit {
        "bytes" => format!("{bytes} bytes"),
        unit => format!("{size:.1} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        let millis = |text| parse_duration(text).map(|duration| duration.as_millis());
        assert_eq!(millis("500ms"), Ok(500));
        assert_eq!(millis("30"), Ok(30_000));
        assert_eq!(millis("1.5m"), Ok(90_000));
        assert_eq!(millis("2h"), Ok(7_200_000));
        for wrong in [
            "",
            "s",
            "-1s",
            "1 day",
            "1e3",
            "1..5s",
            "99999999999999999999h",
        ] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("4096"), Ok(4096));
        assert_eq!(parse_size("10b"), Ok(10));
        assert_eq!(parse_size("512M"), Ok(512 << 20));
        assert_eq!(parse_size("2GiB"), Ok(2 << 30));
        assert_eq!(parse_size("1.5GB"), Ok(1_500_000_000));
        for wrong in ["", "M", "-1", "1X", "1ib", "99999999T", "1 M B"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_shown_with_one_digit() {
        assert_eq!(show_size(1023), "1023 bytes");
        assert_eq!(show_size(1536), "1.5 KiB");
        assert_eq!(show_size(41_943_040), "40.0 MiB");
    }
}
