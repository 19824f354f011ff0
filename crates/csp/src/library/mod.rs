//! Libraries that models import.
//!
//! PAT's libraries are written in C#. Those that come with it are written here again, in the language
//! of programs with classes (the files beside this one); `objects.rs` makes variables and programs of
//! them. A library of the user's own is a file in the same language beside the model.

/// More elements than this have no room in an object, unless the model is read with larger bounds.
const SMALL_ROOM: i64 = 6;

/// The same with larger bounds.
const LARGE_ROOM: i64 = 40;

/// How many elements lists, sets and their like have room for.
pub(crate) fn room(pool: usize) -> i64 {
    if pool <= super::DEFAULT_POOL {
        SMALL_ROOM
    } else {
        LARGE_ROOM
    }
}

/// The text of a library that comes with PAT.
pub(crate) fn standard(name: &str) -> Option<&'static str> {
    Some(match name {
        "PAT.Lib.Array" => include_str!("array.txt"),
        "PAT.Lib.CMethodDemo" => include_str!("cmethod_demo.txt"),
        "PAT.Lib.DBM" => include_str!("dbm.txt"),
        "PAT.Lib.Example" => include_str!("example.txt"),
        "PAT.Lib.HardwareAPIs" => include_str!("hardware_apis.txt"),
        "PAT.Lib.HashTable" => include_str!("hash_table.txt"),
        "PAT.Lib.List" => include_str!("list.txt"),
        "PAT.Lib.Queue" => include_str!("queue.txt"),
        "PAT.Lib.SerializableList" => include_str!("serializable_list.txt"),
        "PAT.Lib.Set" => include_str!("set.txt"),
        "PAT.Lib.Stack" => include_str!("stack.txt"),
        "PAT.Lib.VibePuzzle" => include_str!("vibe_puzzle.txt"),
        "PAT.Math" => include_str!("math.txt"),
        _ => return None,
    })
}

/// Libraries whose classes another one uses.
pub(crate) fn needed(name: &str) -> &'static [&'static str] {
    match name {
        "PAT.Lib.Set" => &["PAT.Lib.List"],
        _ => &[],
    }
}
