// Packs the npm packages of one version into the folder OUT: `node pack.mjs OUT [PLATFORM-ARCH BINARY]…`, for example
// `node pack.mjs dist linux-x64 target/release/retake`. Writes one package for each given platform, and the package `retake`.
import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '../..');
const version = /^version = "(.*)"$/m.exec(readFileSync(join(root, 'Cargo.toml'), 'utf8'))[1];
const [out, ...platforms] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const work = mkdtempSync(join(tmpdir(), 'retake-pack-'));

function pack(name, files, manifest) {
  const folder = join(work, name);
  for (const [from, to] of files) cpSync(from, join(folder, to), { recursive: true });
  for (const licence of ['LICENSE-APACHE', 'LICENSE-MIT']) cpSync(join(root, licence), join(folder, licence));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  execFileSync('npm', ['pack', '--silent', '--pack-destination', resolve(out)], { cwd: folder, stdio: 'inherit' });
}

for (let at = 0; at < platforms.length; at += 2) {
  const [platform, binary] = [platforms[at], platforms[at + 1]];
  const [os, cpu] = platform.split('-');
  const name = `retake-${platform}`;
  mkdirSync(join(work, name, 'bin'), { recursive: true });
  cpSync(binary, join(work, name, 'bin/retake'));
  chmodSync(join(work, name, 'bin/retake'), 0o755);
  const description = `The retake command for ${os} on ${cpu}`;
  pack(name, [], { name, version, description, license: 'MIT OR Apache-2.0', os: [os], cpu: [cpu], files: ['bin', 'LICENSE-*'], preferUnplugged: true });
}
const manifest = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));
const optionalDependencies = Object.fromEntries(Object.keys(manifest.optionalDependencies).map((name) => [name, version]));
const files = ['bin', 'lib', 'README.md'].map((file) => [join(here, file), file]);
pack('retake', files, { ...manifest, version, optionalDependencies });
rmSync(work, { recursive: true });
