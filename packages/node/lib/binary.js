import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** The command that the package for this platform brought. `RETAKE_BIN` names another one. */
export function findRetake() {
  if (process.env.RETAKE_BIN) return process.env.RETAKE_BIN;
  const name = `retake-${process.platform}-${process.arch}`;
  try {
    return require.resolve(`${name}/bin/retake`);
  } catch {
    throw new Error(
      `the package ${name} is not there: install without --omit=optional, ` +
        'or, where there is none for this platform, build the command with cargo install retake and name it in RETAKE_BIN',
    );
  }
}
