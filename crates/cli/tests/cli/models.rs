//! The models of the tests.

/// P is always enabled, each of its actions only now and then.
pub const TOGGLE: &str = "\
var x : 0..1 = 0
process P {
    a when x == 0
    b when x == 1
}
process Q {
    toggle { x := 1 - x }
}
property recurs: []<>(P.a || P.b)
";

/// One property of every kind, some of which hold.
pub const COUNTER: &str = "\
const LIMIT = 3
var x : 0..LIMIT = 0
process P {
    up when x < LIMIT { x := x + 1 }
}
property top: eventually x == LIMIT
invariant small: x < 3
reachable two: x == 2
reachable minus: x == 3 && x == 2
deadlockfree
";

/// Everything holds, and something is suspicious.
pub const SUSPICIOUS: &str = "\
var x : 0..1 = 0
process P {
    weak fair flip { x := 1 - x }
    never when x > 1
}
property flips: always (x == 0 -> eventually x == 1)
property vacuous: always (x > 5 -> eventually x == 0)
";

/// The variable leaves its type.
pub const OVERFLOW: &str = "\
var x : 0..2 = 0
process P {
    up { x := x + 1 }
}
property forever: always eventually P.up
";

/// Many states: (SIZE + 1)^4.
pub const LARGE: &str = "\
const SIZE = 3
process P(i in 1..4) {
    var x : 0..SIZE = 0
    up when x < SIZE { x := x + 1 }
    reset when x == SIZE { x := 0 }
}
property recurs: always eventually P[1].reset
deadlockfree
";

/// Two processes that hand over a message, and a buffer.
pub const MESSAGES: &str = "\
chan direct of 0..3
chan buffer[1] of 0..3
process S {
    init ready
    from ready { send direct ! 2 -> done }
    from done {}
}
process R {
    var got : 0..3 = 0
    init waiting
    from waiting { get direct ? got -> storing }
    from storing { store buffer ! got -> done }
    from done {}
}
process T {
    var got : 0..3 = 0
    init waiting
    from waiting { take buffer ? got -> done }
    from done {}
}
reachable arrived: T.got == 2
";

/// Several initial states.
pub const ANYWHERE: &str = "\
var x : 0..3 = any
init x < 3
process P {
    up when x < 3 { x := x + 1 }
}
property top: eventually x == 3
";
