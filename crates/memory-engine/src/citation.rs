use memory_api::LineRange;

/// Returns `path#L3-L7`, or `path#L3` for a single line.
pub fn citation(path: &str, lines: LineRange) -> String {
    if lines.start == lines.end {
        format!("{path}#L{}", lines.start)
    } else {
        format!("{path}#L{}-L{}", lines.start, lines.end)
    }
}
