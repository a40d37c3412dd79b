/** Returns the path of the `retake` binary. `RETAKE_BIN` overrides it. */
export function findRetake(): string;

/** A model call that no recorded turn answers. */
export interface Miss {
  call: string;
  caller: string | null;
  reason: string;
  /** Shows the nearest recorded turn and where the two conversations differ. */
  explanation: string;
}

/** A turn of a fixture. `fixture` is set if several fixtures are served. */
export interface Turn {
  turn: number;
  caller: string | null;
  fixture?: string;
}

/** What happened since the last reset. */
export interface Report {
  served: Turn[];
  missed: Miss[];
  unused: Turn[];
  drift: { level: 'fail' | 'note'; text: string }[];
}

/** The addresses of a replay model, in the form that each provider's SDK takes in code, and its key. */
export interface Urls {
  readonly url: string;
  readonly key: string;
  readonly openaiBaseURL: string;
  /** For the AI SDK: ends in `/v1`. */
  readonly anthropicBaseURL: string;
  /** For the AI SDK: ends in `/v1beta`. */
  readonly geminiBaseURL: string;
  readonly ollamaBaseURL: string;
  /** The environment variables that point the providers' SDKs at this model, for a service in its own process. */
  readonly env: Record<string, string>;
}

/** A running `retake serve`. It ends with this process. */
export interface Server extends Urls {
  /**
   * Forgets all served turns and misses, and serves from the first turn. `fixtures` replaces the fixtures that are served;
   * `name` is the scenario that explanations of misses name.
   */
  reset(options?: { fixtures?: string[]; name?: string }): Promise<void>;
  report(): Promise<Report>;
  stop(): Promise<void>;
}
export const Server: {
  start(options?: { folder?: string; fixtures?: string[]; repeat?: boolean }): Promise<Server>;
};

/** The replay model of one test. */
export interface Retake extends Urls {
  /** Serves these fixtures (file paths or names) from now on, from their first turn. Earlier misses still fail the test. */
  use(...fixtures: string[]): Promise<void>;
  misses(): Promise<Miss[]>;
  unused(): Promise<Turn[]>;
}

export interface RetakeOptions {
  /** File paths, or names of files in the folder `fixtures`. Default: the fixture with the test's name. */
  fixtures?: string[];
  /** Whether an unused turn fails the test. Default: `allow`. */
  unused?: 'allow' | 'fail';
}
