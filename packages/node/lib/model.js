// The replay model of one test.
import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

const NO_CALL = `no call reached the replay model, though the fixture holds turns.
  A client has its address when it is made: import retake before your service, or give the client retake.openaiBaseURL
  and retake.key.`;

/** The test that has the model of a server. */
const inUse = new Map();

/** Says what is wrong. Of its trace nothing concerns a reader. */
class ReplayMiss extends Error {
  constructor(message) {
    super(message);
    this.name = 'ReplayMiss';
    this.stack = `${this.name}: ${message}`;
  }
}

/** Base URLs and key for a test's service, and what became of the calls. */
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

  /** The model of a test: with the fixtures that are named, or else with that of the test's name, where there is one. */
  static async of(server, { name, file, fixtures = [] }) {
    if (inUse.has(server)) {
      throw new Error(`${inUse.get(server)} uses the replay model at the same time: tests that use it run one after another`);
    }
    inUse.set(server, name);
    const retake = new Retake(server, name, file);
    const own = retake.#find(name.toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^_+|_+$/g, ''));
    if (fixtures.length === 0 && existsSync(own)) fixtures = [own];
    if (fixtures.length === 0) retake.#without = `the test has no fixture: there is no ${own}, and it names none by retake.use("NAME")`;
    await retake.#layIn(fixtures);
    return retake;
  }

  /** Serves these fixtures from now on, files or names, from the first turn. What missed before still fails the test. */
  async use(...fixtures) {
    const before = this.#explained(await this.#server.report());
    await this.#layIn(fixtures);
    this.#before.push(...before);
  }

  /** The calls that missed so far. */
  async misses() {
    return (await this.#server.report()).missed;
  }

  /** The turns that no call asked for so far. */
  async unused() {
    return (await this.#server.report()).unused;
  }

  /** Throws what is wrong at the end of a test: `failed` says that the test failed by itself, so it may have asked for nothing. */
  async judge({ unused, failed = false }) {
    const report = await this.#server.report();
    inUse.delete(this.#server);
    const faults = [...this.#before, ...this.#explained(report)];
    if (!failed && unused === 'fail' && report.unused.length > 0) {
      const turns = report.unused.map(({ turn, caller }) => `turns[${turn}] by ${caller ?? 'nobody'}`);
      faults.push(`unused: no call asked for ${turns.join(', ')}`);
    }
    const quiet = report.served.length === 0 && report.unused.length > 0;
    if (!failed && faults.length === 0 && quiet) faults.push(NO_CALL);
    if (faults.length > 0) throw new ReplayMiss(faults.join('\n\n'));
  }

  #explained({ missed, drift }) {
    const misses = missed.map(({ explanation }) => explanation);
    if (misses.length > 0 && this.#fixtures.length === 0 && this.#without) misses.push(this.#without);
    return [...misses, ...drift.filter(({ level }) => level === 'fail').map(({ text }) => text)];
  }

  #layIn(fixtures) {
    this.#fixtures = fixtures.map((fixture) => this.#find(fixture));
    return this.#server.reset({ fixtures: this.#fixtures, name: this.#name });
  }

  /** A path from the test's folder or the current one, or a name in `fixtures/` there. */
  #find(named) {
    const files = this.#folders.flatMap((folder) => [resolve(folder, named), join(folder, 'fixtures', `${named}.json`)]);
    const found = files.find((file) => file.endsWith('.json') && existsSync(file)) ?? files.at(-1);
    return relative(process.cwd(), found) || found;
  }
}
