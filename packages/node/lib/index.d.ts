/** Where the `retake` command is. */
export function findRetake(): string;

/** A call that no turn answered. */
export interface Miss {
  call: string;
  caller: string | null;
  reason: string;
  /** The nearest turn, and where the two conversations part. */
  explanation: string;
}

/** A turn of a fixture. `fixture` names it where several are served. */
export interface Turn {
  turn: number;
  caller: string | null;
  fixture?: string;
}

export interface Report {
  served: Turn[];
  missed: Miss[];
  unused: Turn[];
  drift: { level: 'fail' | 'note'; text: string }[];
}

/** Where a replay model is reached, in the form that each provider's SDK takes in code. */
export interface Urls {
  readonly url: string;
  readonly key: string;
  readonly openaiBaseURL: string;
  /** For the AI SDK: ends in `/v1`. */
  readonly anthropicBaseURL: string;
  /** For the AI SDK: ends in `/v1beta`. */
  readonly geminiBaseURL: string;
  readonly ollamaBaseURL: string;
  /** The variables by which the providers' SDKs find this model, for a service in a process of its own. */
  readonly env: Record<string, string>;
}

/** A running `retake serve`. It ends with this process. */
export interface Server extends Urls {
  reset(options?: { fixtures?: string[]; name?: string }): Promise<void>;
  report(): Promise<Report>;
  stop(): Promise<void>;
}
export const Server: {
  start(options?: { folder?: string; fixtures?: string[]; repeat?: boolean }): Promise<Server>;
};

/** The replay model of one test. */
export interface Retake extends Urls {
  /** Serves these fixtures from now on, files or names, from the first turn. What missed before still fails the test. */
  use(...fixtures: string[]): Promise<void>;
  misses(): Promise<Miss[]>;
  unused(): Promise<Turn[]>;
}

export interface RetakeOptions {
  /** Files, or names of the folder `fixtures`; by default that of the test's own name. */
  fixtures?: string[];
  /** Whether a turn that no call asked for fails the test; `allow` by default. */
  unused?: 'allow' | 'fail';
}
