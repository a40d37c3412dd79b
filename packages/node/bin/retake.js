#!/usr/bin/env node
// The command, of the package for this platform.
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
// The command ends by itself and says how, whoever of the two is told to.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('exit', (code, signal) => {
  process.exitCode = code ?? 128 + ({ SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }[signal] ?? 1);
});
