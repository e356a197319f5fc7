//! Bytes looked at, counted in tests only: what a text costs is shown without a clock.

#[cfg(test)]
thread_local! {
    static BYTES: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

/// So many bytes were looked at.
#[inline]
pub(crate) fn looked(bytes: usize) {
    #[cfg(test)]
    BYTES.with(|sum| sum.set(sum.get() + bytes));
    #[cfg(not(test))]
    let _ = bytes;
}

/// So many bytes were searched for a word, sixteen or more in one step.
#[inline]
pub(crate) fn searched(bytes: usize) {
    looked(bytes.div_ceil(16));
}

/// How many bytes were looked at while `run` ran.
#[cfg(test)]
pub(crate) fn of(run: impl FnOnce()) -> usize {
    BYTES.with(|sum| sum.set(0));
    run();
    BYTES.with(std::cell::Cell::get)
}
