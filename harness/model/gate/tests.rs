use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

/// How often it is looked whether the system works, and how often it does.
static LOOKED: AtomicUsize = AtomicUsize::new(0);
const WORKS: usize = 40;

fn works(process: u32) -> Option<bool> {
    match process {
        0 => Some(true),
        1 => Some(LOOKED.fetch_add(1, Ordering::Relaxed) < WORKS),
        _ => None,
    }
}

/// How many times the quiet has passed until the silence of a process ends.
async fn until_silent(processes: &[u32]) -> f64 {
    let (gate, quiet, began) = (Gate::default(), Duration::from_millis(100), Instant::now());
    gate.hears([Handle::current(), Handle::current()], processes.to_vec(), works);
    gate.silent(quiet).await;
    began.elapsed().as_secs_f64() / quiet.as_secs_f64()
}

#[test]
fn a_system_that_waits_for_a_core_is_not_silent() {
    let runtime = crate::threads::runtime().unwrap();
    runtime.block_on(async {
        // As long as it works, no piece of silence counts: it is looked once before.
        assert!(until_silent(&[1]).await >= 1.0);
        assert_eq!(LOOKED.load(Ordering::Relaxed), WORKS + 10);
        // One that never rests is not waited for without end.
        assert!(until_silent(&[0]).await >= 10.0);
        // Where that cannot be seen, silence is what is heard.
        assert!(until_silent(&[2]).await >= 1.0 && until_silent(&[]).await >= 1.0);
    });
}

#[test]
fn a_call_that_is_given_up_while_its_answer_is_held_for_a_moment_is_known() {
    let runtime = crate::threads::runtime().unwrap();
    runtime.block_on(async {
        let (whole, gone, open) = (Gate::default(), Gate::default(), Gate::default());
        whole.moment().await;
        assert!(timeout(Duration::ZERO, gone.moment()).await.is_err());
        // Until its client has left, an answer is held for longer: who gives up at once does not do so because of that.
        assert!(timeout(Duration::ZERO, open.until_open()).await.is_err());
        assert_eq!([whole, gone, open].map(|gate| gate.was_late()), [false, true, false]);
    });
}
