/// Defines a newtype around `u32` that indexes one kind of thing.
///
/// Every index of the code base is such a newtype, so that a state number is never mistaken for a
/// mark number.
///
/// ```
/// base::define_index! {
///     /// A page of a book.
///     pub struct PageId;
/// }
/// assert_eq!(PageId::new(3).index(), 3);
/// ```
#[macro_export]
macro_rules! define_index {
    ($(#[$meta:meta])* pub struct $name:ident;) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// The index of the `index`-th thing; panics above `u32::MAX`.
            #[must_use]
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("index exceeds 32 bits"))
            }

            /// The position in the table that this index belongs to.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}
