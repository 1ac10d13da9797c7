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
