//! Runs trials by libtest-mimic, which panics where it cannot print. So it prints into a pipe of this process, which is read to its
//! end, and a thread passes on what comes.

use libtest_mimic::{Arguments, Conclusion, Trial};

/// Runs the trials, and prints their results to standard output. Nobody has to read it.
#[cfg(unix)]
pub fn run(args: &mut Arguments, trials: Vec<Trial>) -> Conclusion {
    use std::fs::File;
    use std::io::Read as _;
    use std::os::fd::AsRawFd as _;

    use libtest_mimic::ColorSetting;
    use retake_model::threads;

    use super::terminal;

    let piped = std::io::pipe().ok().filter(|_| args.logfile.is_none()).and_then(|(reader, writer)| {
        // libtest-mimic takes no writer, but the name of a file.
        let name = format!("/dev/fd/{}", writer.as_raw_fd());
        File::options().write(true).open(&name).ok().map(|_| (reader, writer, name))
    });
    let Some((mut reader, writer, name)) = piped else { return libtest_mimic::run(args, trials) };
    let colours = args.color.unwrap_or(ColorSetting::Auto);
    if colours == ColorSetting::Auto {
        args.color = Some(if console::colors_enabled() { ColorSetting::Always } else { ColorSetting::Never });
    }
    args.logfile = Some(name);
    std::thread::scope(|scope| {
        scope.spawn(move || {
            threads::this_is_own();
            let mut buffer = vec![0; 16 << 10];
            while let Ok(count @ 1..) = reader.read(&mut buffer) {
                terminal::pass(&buffer[..count]);
            }
        });
        let conclusion = libtest_mimic::run(args, trials);
        drop(writer);
        conclusion
    })
}

/// Runs the trials, and prints their results to standard output.
#[cfg(not(unix))]
pub fn run(args: &mut Arguments, trials: Vec<Trial>) -> Conclusion {
    libtest_mimic::run(args, trials)
}
