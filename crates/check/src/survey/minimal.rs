//! All minimal points of a monotone predicate, by implicit hitting sets.
//!
//! A *point* says for each of several things in which strength it is assumed: 0 for not at all. Points
//! are ordered by strength, thing by thing. The predicate ("the property holds") is monotone: what
//! holds under a point holds under all points above it. It is asked from outside, one point at a time;
//! the answer "no" comes with a *demand*, which every point must meet that shall be answered "yes":
//! some thing has to be assumed in at least some strength (one of those that exclude the
//! counterexample found).
//!
//! The points to be asked are the minimal ones among those that meet all demands so far, kept up to
//! date as in C. Berge, "Hypergraphs", North-Holland 1989, chapter 2. That is the duality of J.
//! Moreno-Centeno, R. M. Karp, "The implicit hitting set approach to solve combinatorial optimization
//! problems", Operations Research 61(2), 2013, for all minimal solutions instead of one cheapest:
//!
//! * a point that is answered "yes" is minimal: below it some demand is not met;
//! * when no point is left to be asked, all minimal points are known: each of them meets all demands,
//!   so a point that was asked lies below it, and was answered "yes".
//!
//! The number of points to be asked can grow exponentially. Beyond [`MAX_OPEN`] the dearest ones are
//! dropped; what is answered "yes" is minimal all the same, but there may be others.

/// The strength in which each thing is assumed; 0 for not at all.
pub(super) type Point = Vec<u8>;

/// For each thing, from which strength on it meets the demand, if it can.
pub(super) type Demand = Vec<Option<u8>>;

/// More points than this are not kept to be asked.
const MAX_OPEN: usize = 512;

/// The state of the search.
pub(super) struct MinimalPoints {
    demands: Vec<Demand>,
    /// Minimal points that meet all demands and were not asked; the cheapest one is last.
    open: Vec<Point>,
    sufficient: Vec<Point>,
    /// Were points dropped?
    is_cut: bool,
}

impl MinimalPoints {
    /// Nothing is known about points over this many things.
    pub(super) fn new(n_things: usize) -> Self {
        Self {
            demands: Vec::new(),
            open: vec![vec![0; n_things]],
            sufficient: Vec::new(),
            is_cut: false,
        }
    }

    /// The point to be asked next: the cheapest one. Nothing if all minimal points are known, or
    /// those that are not were dropped.
    pub(super) fn next(&self) -> Option<&Point> {
        self.open.last()
    }

    /// The point asked last was answered "yes".
    pub(super) fn yes(&mut self) {
        self.sufficient.extend(self.open.pop());
    }

    /// The point asked last was answered "no": it does not meet this demand.
    pub(super) fn no(&mut self, demand: Demand) {
        debug_assert!(
            self.open
                .last()
                .is_some_and(|point| !is_met(&demand, point))
        );
        self.demands.push(demand);
        let demand = self.demands.last().expect("there is one now");

        let (mut open, failing): (Vec<Point>, Vec<Point>) = std::mem::take(&mut self.open)
            .into_iter()
            .partition(|point| is_met(demand, point));
        for point in failing {
            for (thing, strength) in demand.iter().enumerate() {
                let Some(strength) = *strength else {
                    continue;
                };
                let mut raised = point.clone();
                raised[thing] = strength;
                if self.is_minimal(&raised) {
                    open.push(raised);
                }
            }
        }

        open.sort_by_cached_key(|point| std::cmp::Reverse(cost(point)));
        open.dedup();
        if open.len() > MAX_OPEN {
            open.drain(..open.len() - MAX_OPEN);
            self.is_cut = true;
        }
        self.open = open;
    }

    /// The minimal points found so far, cheapest first, and whether there can be others.
    pub(super) fn found(&self) -> (Vec<Point>, bool) {
        let mut found = self.sufficient.clone();
        found.sort_by_cached_key(cost);
        (found, self.is_cut || !self.open.is_empty())
    }

    /// How many minimal points are known.
    pub(super) fn n_found(&self) -> usize {
        self.sufficient.len()
    }

    /// Does some demand fail whichever thing is assumed less? The point meets all demands.
    fn is_minimal(&self, point: &Point) -> bool {
        let mut lower = point.clone();
        let is_needed = |thing: usize| {
            lower[thing] -= 1;
            let fails = self.demands.iter().any(|demand| !is_met(demand, &lower));
            lower[thing] += 1;
            fails
        };
        (0..point.len())
            .filter(|&thing| point[thing] > 0)
            .all(is_needed)
    }
}

fn is_met(demand: &Demand, point: &Point) -> bool {
    let mut things = demand.iter().zip(point);
    things.any(|(wanted, strength)| wanted.is_some_and(|wanted| *strength >= wanted))
}

/// What is weaker is cheaper, then what is smaller, then what speaks of earlier things.
fn cost(point: &Point) -> (u64, u64, Vec<std::cmp::Reverse<u8>>) {
    let beyond = point
        .iter()
        .map(|strength| u64::from(strength.saturating_sub(1)))
        .sum();
    let n_members = point.iter().filter(|strength| **strength > 0).count() as u64;
    let order = point.iter().map(|strength| std::cmp::Reverse(*strength));
    (beyond, n_members, order.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asks a predicate that is given by its minimal points; "no" comes with the strongest point
    /// above the one asked at which the answer is still "no".
    fn ask_all(n_things: usize, height: u8, minimal: &[Point]) -> Vec<Point> {
        let holds = |point: &Point| {
            let below = |low: &Point| low.iter().zip(point).all(|(a, b)| a <= b);
            minimal.iter().any(below)
        };
        let mut points = MinimalPoints::new(n_things);
        while let Some(point) = points.next() {
            if holds(point) {
                points.yes();
                continue;
            }
            let mut grown = point.clone();
            for thing in 0..n_things {
                while grown[thing] < height {
                    grown[thing] += 1;
                    if holds(&grown) {
                        grown[thing] -= 1;
                        break;
                    }
                }
            }
            let demand = grown
                .iter()
                .map(|s| (*s < height).then_some(s + 1))
                .collect();
            points.no(demand);
        }
        let (found, more) = points.found();
        assert!(!more);
        found
    }

    /// Every antichain of points over two things in three strengths, and one with many members.
    #[test]
    fn all_minimal_points_are_found() {
        let all: Vec<Point> = (0..3)
            .flat_map(|a| (0..3).map(move |b| vec![a, b]))
            .collect();
        for chosen in 0_u32..1 << all.len() {
            let is_chosen = |i: &usize| chosen >> i & 1 == 1;
            let points: Vec<Point> = (0..all.len())
                .filter(is_chosen)
                .map(|i| all[i].clone())
                .collect();
            let below = |a: &Point, b: &Point| a != b && a.iter().zip(b).all(|(a, b)| a <= b);
            let mut minimal: Vec<Point> = points
                .iter()
                .filter(|p| !points.iter().any(|q| below(q, p)))
                .cloned()
                .collect();
            minimal.sort_by_cached_key(cost);
            assert_eq!(ask_all(2, 2, &minimal), minimal);
        }

        let pairs: Vec<Point> = (0..6)
            .flat_map(|a| {
                (a + 1..6).map(move |b| (0..6).map(|i| u8::from(i == a || i == b)).collect())
            })
            .collect();
        let mut expected = pairs.clone();
        expected.sort_by_cached_key(cost);
        assert_eq!(ask_all(6, 1, &pairs), expected);
    }

    #[test]
    fn what_nothing_meets_leaves_nothing() {
        let mut points = MinimalPoints::new(2);
        points.no(vec![None, None]);
        assert_eq!(points.next(), None);
        assert_eq!(points.found(), (Vec::new(), false));
    }
}
