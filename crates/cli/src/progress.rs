//! A bar over runs, on a terminal only, and the flag that Ctrl-C raises.

use std::io::{self, IsTerminal};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error; invisible unless that is a terminal.
pub(crate) fn bar(runs: usize) -> ProgressBar {
    if !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(runs as u64), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} runs  {wide_msg}  {eta} left")
        .expect("the template is constant");
    bar.with_style(style)
}

/// A flag that the first Ctrl-C raises. The second one ends the process: what is finished is on disk, whole.
pub(crate) fn interruption() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let raised = Arc::clone(&flag);
    // Fails only where signals cannot be caught; Ctrl-C then ends the process, which is safe as well.
    let _ = ctrlc::set_handler(move || {
        if raised.swap(true, Ordering::Relaxed) {
            process::exit(130);
        }
    });
    flag
}
