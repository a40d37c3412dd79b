// A `retake serve` of one's own: started, asked, ended.
import { spawn } from 'node:child_process';
import { request } from 'node:http';
import { findRetake } from './binary.js';

/** A running `retake serve`. It ends with this process, however that ends. */
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
    /** The variables by which the providers' SDKs find this model. */
    this.env = {
      OPENAI_BASE_URL: ready.openai,
      OPENAI_API_KEY: ready.key,
      ANTHROPIC_BASE_URL: ready.anthropic,
      ANTHROPIC_API_KEY: ready.key,
      GOOGLE_GEMINI_BASE_URL: ready.gemini,
      GEMINI_API_KEY: ready.key,
      GOOGLE_GENERATIVE_AI_API_KEY: ready.key,
      OLLAMA_HOST: ready.ollama,
      OLLAMA_API_KEY: ready.key,
    };
  }

  /** Starts it in a folder of the project. Without fixtures, files or names, each call is a miss until a `reset`. */
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
    // It must not keep a process alive that has nothing else to do.
    for (const held of [child, child.stdin, child.stdout, child.stderr]) held.unref();
    return new Server(child, JSON.parse(ready));
  }

  /** Forgets what was served and missed; serves other fixtures, and calls misses those of `name`, where given. */
  async reset({ fixtures, name } = {}) {
    await this.#ask('POST', 'reset', JSON.stringify({ fixtures, name }));
  }

  /** What was `served`, `missed` and is `unused`, and what differs (`drift`), since the last reset. */
  report() {
    return this.#ask('GET', 'report');
  }

  /** Ends it. */
  stop() {
    this.#child.ref();
    return new Promise((resolve) => {
      this.#child.on('exit', resolve);
      this.#child.stdin.end();
    });
  }

  // Not by fetch, which tests replace with their own.
  #ask(method, path, body) {
    return new Promise((resolve, reject) => {
      const asked = request(`${this.url}/__retake/${path}`, { method, agent: false }, (response) => {
        let text = '';
        response.on('data', (piece) => (text += piece));
        response.on('end', () => {
          const answer = JSON.parse(text);
          if (response.statusCode === 200) resolve(answer);
          else reject(new Error(`retake: ${answer.error}`));
        });
      });
      asked.on('error', reject);
      asked.end(body);
    });
  }
}
