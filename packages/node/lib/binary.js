import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

// The command prints commands that run as they stand: by the package manager that started this process.
const manager = process.env.npm_config_user_agent?.split('/')[0];
const by = { pnpm: 'pnpm exec', yarn: 'yarn', bun: 'bunx' }[manager] ?? 'npx';
if (manager) process.env.RETAKE_CALLED ??= `${by} retake`;

/** Returns the path of the `retake` binary from the package for this platform. `RETAKE_BIN` overrides it. */
export function findRetake() {
  if (process.env.RETAKE_BIN) return process.env.RETAKE_BIN;
  const name = `retake-${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/bin/retake`);
  } catch {
    throw new Error(
      `the package ${name} is not installed: install without --omit=optional, or, if there is no package for this platform, ` +
        'build the command with `cargo install --path harness/cli` in a checkout of Retake, and set RETAKE_BIN to its path',
    );
  }
}
