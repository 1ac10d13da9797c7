//! Time and memory of this process.

use std::time::Instant;

use crate::Result;

/// What a job took, in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Took {
    pub(crate) wall: f64,
    /// Of all threads together; `None` where the system does not say.
    pub(crate) cpu: Option<f64>,
}

/// Does a job and says what it took.
pub(crate) fn time<T>(job: impl FnOnce() -> Result<T>) -> Result<(T, Took)> {
    let (begin, cpu_begin) = (Instant::now(), cpu());
    let done = job()?;
    let took = Took {
        wall: begin.elapsed().as_secs_f64(),
        cpu: cpu().zip(cpu_begin).map(|(end, begin)| end - begin),
    };
    Ok((done, took))
}

/// Does a job and returns the seconds it took.
pub(crate) fn seconds<T>(job: impl FnOnce() -> Result<T>) -> Result<f64> {
    time(job).map(|(_, took)| took.wall)
}

#[cfg(any(target_os = "linux", target_os = "macos"))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "other systems do not say, see below"
)]
fn cpu() -> Option<f64> {
    use rustix::time::{ClockId, clock_gettime};

    let now = clock_gettime(ClockId::ProcessCPUTime);
    Some(now.tv_sec as f64 + now.tv_nsec as f64 / 1e9)
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
fn cpu() -> Option<f64> {
    None
}

/// Returns the most memory this process ever held, in bytes; `None` where the system does not say.
pub(crate) fn peak_memory() -> Option<u64> {
    // The file is there on Linux alone.
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    high_water_mark(&status)
}

fn high_water_mark(status: &str) -> Option<u64> {
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::high_water_mark;

    #[test]
    fn the_peak_is_read_where_it_stands() {
        let status = "VmPeak:\t  900 kB\nVmHWM:\t  123456 kB\nVmRSS:\t  100 kB\n";
        assert_eq!(high_water_mark(status), Some(123_456 * 1024));
    }

    #[test]
    fn a_system_that_does_not_say_the_peak_is_no_error() {
        assert_eq!(high_water_mark("VmRSS:\t  100 kB\n"), None);
        assert_eq!(high_water_mark("VmHWM:\tmuch\n"), None);
    }
}
