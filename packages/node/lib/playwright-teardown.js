// Runs after all tests, while the replay model is still up: fails the run if a model call missed. A page and its service may hide
// that from the tests. The reporter sees the calls that come later, but the option `--reporter` replaces it.
import { explained } from './model.js';
import { ask } from './server.js';

export default async function teardown() {
  const faults = explained(await ask(process.env.RETAKE_MODEL_URL, 'GET', 'report'));
  if (faults.length > 0) throw new Error(faults.join('\n\n'));
}
