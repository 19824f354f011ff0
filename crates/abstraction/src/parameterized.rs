//! Families of any number of processes, by way of WS1S.
