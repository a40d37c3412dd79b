// The replay model of one test, which the helpers for vitest and node:test share.
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const NO_CALL = `no call reached the replay model, although the fixture contains turns.
  A client reads its address when it is created: import retake before your service, or pass retake.openaiBaseURL and
  retake.key to the client.`;

/** For each server in use, the name of the test that uses it. */
const inUse = new Map();

/** Returns one text for each miss and each failing drift of a report. */
export function explained({ missed, drift }) {
  return [...missed.map(({ explanation }) => explanation), ...drift.filter(({ level }) => level === 'fail').map(({ text }) => text)];
}

/** Throws if a call missed since the last test ended. */
export async function judgeOutside(server) {
  const faults = explained(await server.report());
  if (faults.length > 0) throw new ReplayMiss(['model calls outside of every test had no recorded answer', ...faults].join('\n\n'));
}

/** The error that fails a test. Its stack trace would show only this package's own files, so it is left out. */
class ReplayMiss extends Error {
  constructor(message) {
    super(message);
    this.name = 'ReplayMiss';
    this.stack = `${this.name}: ${message}`;
  }
}

/** The replay model of one test: base URLs and key for its service, and the misses and unused turns so far. */
export class Retake {
  #server;
  #name;
  #folders;
  #fixtures = [];
  #without = '';
  #before = [];

  constructor(server, name, file) {
    this.#server = server;
    this.#name = name;
    this.#folders = [...(file ? [dirname(file)] : []), process.cwd()];
    for (const field of ['url', 'key', 'openaiBaseURL', 'anthropicBaseURL', 'geminiBaseURL', 'ollamaBaseURL', 'env']) {
      this[field] = server[field];
    }
  }

  /** Prepares the model for a test. Without `fixtures` it serves the fixture with the test's name, if that file exists. */
  static async of(server, { name, file, fixtures = [] }) {
    if (inUse.has(server)) {
      throw new Error(`"${inUse.get(server)}" is still using the replay model: tests that use it must run one after another`);
    }
    inUse.set(server, name);
    const retake = new Retake(server, name, file);
    // Misses that came before this test fail it: nothing else would.
    retake.#before = explained(await server.report());
    const own = retake.#find(name.toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^_+|_+$/g, ''));
    if (fixtures.length === 0 && existsSync(own)) fixtures = [own];
    if (fixtures.length === 0) retake.#without = `the test has no fixture: there is no ${own}, and no call of retake.use("NAME")`;
    await retake.#serve(fixtures);
    return retake;
  }

  /** Serves these fixtures (file paths or names) from now on, from their first turn. Earlier misses still fail the test. */
  async use(...fixtures) {
    const before = this.#explained(await this.#server.report());
    await this.#serve(fixtures);
    this.#before.push(...before);
  }

  /** Returns the misses so far. */
  async misses() {
    return (await this.#server.report()).missed;
  }

  /** Returns the unused turns so far. */
  async unused() {
    return (await this.#server.report()).unused;
  }

  /**
   * Called at the end of a test: throws if a call missed, if the project makes a drift fail, or if no call came at all although
   * the test `asked` for the model. With `unused: 'fail'` unused turns count too. `failed` says that the test has already failed:
   * it may have stopped before it made its calls, so only misses and drift count. The next test finds no turn of this one.
   */
  async judge({ unused, asked = true, failed = false }) {
    const report = await this.#server.report();
    await this.#server.reset({ fixtures: [], name: 'no test' });
    inUse.delete(this.#server);
    const faults = [...this.#before, ...this.#explained(report)];
    if (!failed && unused === 'fail' && report.unused.length > 0) {
      const turns = report.unused.map(({ turn, caller }) => `turn ${turn + 1}${caller ? ` by ${caller}` : ''}`);
      faults.push(`unused: no call asked for ${turns.join(', ')}`);
    }
    const quiet = report.served.length === 0 && report.unused.length > 0;
    if (asked && !failed && faults.length === 0 && quiet) faults.push(NO_CALL);
    if (faults.length > 0) throw new ReplayMiss(faults.join('\n\n'));
  }

  #explained(report) {
    const without = report.missed.length > 0 && this.#fixtures.length === 0 && this.#without;
    return [...explained(report), ...(without ? [without] : [])];
  }

  #serve(fixtures) {
    this.#fixtures = fixtures.map((fixture) => this.#find(fixture));
    return this.#server.reset({ fixtures: this.#fixtures, name: this.#name });
  }

  /**
   * Returns the file of a fixture, relative to the current folder. `named` is a path relative to the test's folder or the
   * current folder, or a name in the folder `fixtures` of either.
   */
  #find(named) {
    const files = this.#folders.flatMap((folder) => [resolve(folder, named), join(folder, 'fixtures', `${named}.json`)]);
    const found = files.find((file) => file.endsWith('.json') && existsSync(file)) ?? files.at(-1);
    return relative(process.cwd(), found) || found;
  }
}
