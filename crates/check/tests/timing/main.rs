//! Timers: concrete settings, thresholds, and what is published about both.

mod published_timers;
mod timer_settings;
mod timers;
