#!/usr/bin/env node
// Runs the `retake` binary from the package for this platform.
import { spawn } from 'node:child_process';
import { findRetake } from '../lib/binary.js';

let command;
try {
  command = findRetake();
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exit(2);
}
const child = spawn(command, process.argv.slice(2), { stdio: 'inherit' });
// Pass signals on to the command: it shuts down cleanly, and this process then exits with the command's exit code.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  process.exitCode = code ?? 128 + ({ SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }[signal] ?? 1);
});
