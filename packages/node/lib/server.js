// Starts `retake serve` as a child process, sends it requests and stops it.
import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { findRetake } from './binary.js';

/** A running `retake serve`. It ends when this process ends, even if this process is killed. */
export class Server {
  #child;

  constructor(child, ready) {
    this.#child = child;
    this.url = ready.url;
    this.key = ready.key;
    this.openaiBaseURL = ready.openai;
    this.anthropicBaseURL = `${ready.anthropic}/v1`;
    this.geminiBaseURL = `${ready.gemini}/v1beta`;
    this.ollamaBaseURL = ready.ollama;
    /** The environment variables that point the providers' SDKs at this model. */
    this.env = environment(ready);
  }

  /**
   * Starts the server with `folder` as its working directory. `fixtures` are file paths or names; without any, each call is a
   * miss until `reset` names some.
   */
  static async start({ folder = '.', fixtures = [], repeat = false } = {}) {
    const args = ['serve', '--until-eof', ...(repeat ? ['--repeat'] : []), ...fixtures];
    const child = spawn(findRetake(), args, { cwd: folder, stdio: ['pipe', 'pipe', 'pipe'] });
    const ready = await new Promise((resolve, reject) => {
      let said = '';
      let complained = '';
      child.stdout.on('data', (text) => {
        said += text;
        if (said.includes('\n')) resolve(said);
      });
      child.stderr.on('data', (text) => (complained += text));
      child.on('error', reject);
      child.on('close', () => reject(new Error(`retake serve did not start:\n${complained}`)));
    });
    // The server must not keep this process alive.
    for (const handle of [child, child.stdin, child.stdout, child.stderr]) handle.unref();
    return new Server(child, JSON.parse(ready));
  }

  /**
   * Forgets all served turns and misses, and serves from the first turn. `fixtures` replaces the fixtures that are served;
   * `name` is the scenario that explanations of misses name.
   */
  async reset({ fixtures, name } = {}) {
    await this.#ask('POST', 'reset', JSON.stringify({ fixtures, name }));
  }

  /** Returns what happened since the last reset: turns `served`, calls `missed`, turns `unused`, and `drift`. */
  report() {
    return this.#ask('GET', 'report');
  }

  /** Stops the server and waits until it has ended. */
  stop() {
    this.#child.ref();
    return new Promise((resolve) => {
      this.#child.on('exit', resolve);
      this.#child.stdin.end();
    });
  }

  #ask(method, path, body) {
    return ask(this.url, method, path, body);
  }
}

/** Returns the environment variables that point the providers' SDKs at a model. */
export function environment({ openai, anthropic, gemini, ollama, key }) {
  return {
    OPENAI_BASE_URL: openai,
    OPENAI_API_KEY: key,
    ANTHROPIC_BASE_URL: anthropic,
    ANTHROPIC_API_KEY: key,
    GOOGLE_GEMINI_BASE_URL: gemini,
    GEMINI_API_KEY: key,
    GOOGLE_GENERATIVE_AI_API_KEY: key,
    OLLAMA_HOST: ollama,
    OLLAMA_API_KEY: key,
  };
}

/** Sends a request to a running model. Uses `http.request` because tests often replace `fetch`. */
export function ask(url, method, path, body) {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${url}/__retake/${path}`, { method, agent: false }, (response) => {
      let text = '';
      response.on('data', (piece) => (text += piece));
      response.on('end', () => {
        const answer = JSON.parse(text);
        if (response.statusCode === 200) resolve(answer);
        else reject(new Error(`retake: ${answer.error}`));
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}
