//! Named steps of the write path, so that a test can end the process at each of them. Without the feature `failpoints` a step is
//! nothing at all.

#[cfg(feature = "failpoints")]
pub use hooked::set;
#[cfg(feature = "failpoints")]
pub(crate) use hooked::step;

/// Says that what this step names has happened.
#[cfg(not(feature = "failpoints"))]
#[inline]
pub(crate) const fn step(_: &'static str) {}

/// Returns how much goes into one batch: `few` where a test ends the process at steps, so that small trees have many batches and
/// it ends between two of them as well.
pub(crate) const fn batch_size(usual: usize, few: usize) -> usize {
    if cfg!(feature = "failpoints") {
        few
    } else {
        usual
    }
}

#[cfg(feature = "failpoints")]
mod hooked {
    use std::sync::OnceLock;

    type Hook = Box<dyn Fn(&'static str) + Send + Sync>;

    static HOOK: OnceLock<Hook> = OnceLock::new();

    /// Lets this function hear every step of this process. Only the first call counts.
    pub fn set(hook: Hook) {
        drop(HOOK.set(hook));
    }

    pub(crate) fn step(name: &'static str) {
        if let Some(hook) = HOOK.get() {
            hook(name);
        }
    }
}
