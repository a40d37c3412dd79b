// A reporter for Playwright: fails the run if the report of `retake serve` contains a miss. The server writes its report when it
// ends, so a call that comes while the servers end is in it.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { explained } from './model.js';

export default class RetakeReporter {
  #report;
  #told = '';

  constructor({ report = 'retake-report.json' } = {}) {
    this.#report = report;
  }

  /** Removes the report of an earlier run. */
  onBegin() {
    rmSync(this.#report, { force: true });
  }

  onError({ message = '' }) {
    this.#told += message;
  }

  onEnd() {
    // The servers were not started, for example to list the tests.
    if (!existsSync(this.#report)) return undefined;
    const faults = explained(JSON.parse(readFileSync(this.#report, 'utf8')));
    // The teardown has told most of them.
    const news = faults.filter((fault) => !this.#told.includes(fault));
    if (news.length > 0) console.error(`\n${news.join('\n\n')}`);
    return faults.length > 0 ? { status: 'failed' } : undefined;
  }
}
