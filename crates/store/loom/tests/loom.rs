//! Small uses of the lock, the table and the arrays, explored by loom.
//!
//! Loom runs a test under all interleavings of two or three threads in which a thread is interrupted
//! at most so often as the test says (where a thread waits, others always run), and for each load
//! under all values that loom's memory model lets it read. That model is C++11's with two reservations
//! (loom's README): sequentially consistent operations count as acquire and release operations, so
//! the lock has fences beside them here that it does not have in a program (`sync.rs`), and load
//! buffering is not explored. Tables and arrays are so small that a few states make them grow, and
//! buckets are scanned slot by slot.

use loom::model::Builder;
use loom::sync::Arc;
use loom::thread;
use store_loom::{Gate, Inserted, Names, StateStore};

/// Explores all interleavings in which threads are interrupted at most so often where they need not
/// wait.
fn explore(n_interruptions: usize, test: impl Fn() + Sync + Send + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(n_interruptions);
    builder.max_branches = 100_000;
    builder.check(test);
}

/// Inserts as the searches do, and says under which name; enlarges the tables if need be.
fn insert(store: &StateStore, state: &[u64], names: &mut Names) -> (u32, bool) {
    let hash = StateStore::hash(state);
    loop {
        let inserted = {
            let table = store.table();
            let guess = store.guess(&table, hash);
            store.insert_shared(&table, state, hash, guess, names)
        };
        match inserted {
            Inserted::New(name) => return (name, true),
            Inserted::Old(name) => return (name, false),
            Inserted::Full => store.grow().expect("there are names left"),
        }
    }
}

/// Has each of two threads insert some states, and compares what they got.
fn insert_from_two_threads(store: StateStore, first: &[[u64; 1]], second: &[[u64; 1]]) {
    let store = Arc::new(store);
    let other = thread::spawn({
        let (store, states) = (Arc::clone(&store), second.to_vec());
        move || insert_all(&store, &states)
    });
    let own = insert_all(&store, first);
    let found = other.join().expect("no panic");

    for (state, (name, is_new)) in &own {
        assert_eq!(store.get(*name), state);
        for (other_state, (other_name, other_is_new)) in &found {
            assert_eq!(state == other_state, name == other_name);
            assert!(state != other_state || !(*is_new && *other_is_new));
        }
    }
    for (state, (name, _)) in &found {
        assert_eq!(store.get(*name), state);
    }
}

fn insert_all(store: &StateStore, states: &[[u64; 1]]) -> Vec<([u64; 1], (u32, bool))> {
    let mut names = Names::new(true);
    let found = states.iter().map(|state| {
        let named = insert(store, state, &mut names);
        // A thread that has a name has the whole state, whoever has written it.
        assert_eq!(store.get(named.0), state);
        (*state, named)
    });
    found.collect()
}

#[test]
fn a_writer_is_alone() {
    explore(3, || {
        let gate = Arc::new(Gate::new((0, 0)));
        let reader = thread::spawn({
            let gate = Arc::clone(&gate);
            move || {
                let pair = gate.read();
                assert_eq!(pair.0, pair.1);
            }
        });
        {
            let mut pair = gate.write();
            pair.0 += 1;
            pair.1 += 1;
        }
        reader.join().expect("no panic");
        assert_eq!(*gate.read(), (1, 1));
    });
}

#[test]
fn writers_wait_for_each_other() {
    explore(3, || {
        let gate = Arc::new(Gate::new(0));
        let writer = thread::spawn({
            let gate = Arc::clone(&gate);
            move || *gate.write() += 1
        });
        *gate.write() += 1;
        writer.join().expect("no panic");
        assert_eq!(*gate.read(), 2);
    });
}

#[test]
fn readers_share_and_writers_wait() {
    explore(2, || {
        let gate = Arc::new(Gate::new(0));
        let threads = [false, true].map(|writes| {
            let gate = Arc::clone(&gate);
            thread::spawn(move || {
                if writes {
                    *gate.write() += 1;
                } else {
                    assert!(*gate.read() <= 1);
                }
            })
        });
        assert!(*gate.read() <= 1);
        for thread in threads {
            thread.join().expect("no panic");
        }
        assert_eq!(*gate.read(), 1);
    });
}

#[test]
fn the_same_state_gets_one_name() {
    explore(3, || {
        insert_from_two_threads(StateStore::new(1), &[[5]], &[[5]]);
    });
}

#[test]
fn different_states_get_different_names() {
    explore(2, || {
        insert_from_two_threads(StateStore::new(1), &[[5], [6]], &[[6], [7]]);
    });
}

/// The table is full from the beginning, so that one thread enlarges it while the other inserts, or
/// both want to.
#[test]
fn states_keep_their_names_while_the_table_grows() {
    explore(2, || {
        let mut store = StateStore::new(1);
        for i in 0..7 {
            let state = [100 + i];
            let inserted = store.insert(&state, StateStore::hash(&state));
            assert_eq!(inserted, Some((i as u32, true)));
        }
        insert_from_two_threads(store, &[[5]], &[[5]]);
    });
}
