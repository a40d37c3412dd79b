/** Which recordings the replay model serves to the service behind the pages. */
export interface ReplayOptions {
  /** File paths, or names of files in the folder `fixtures`. */
  fixtures: string[];
  /** The port of the replay model on 127.0.0.1. */
  port: number;
  /** The file to which the model writes what was served, missed and unused. Default: `retake-report.json`. */
  report?: string;
}
/**
 * Returns a configuration of Playwright with a replay model. The servers of `webServer` are started after it, with the providers'
 * variables in their environment. The run fails if a model call had no recorded answer.
 */
export function withRetake<Config extends object>(options: ReplayOptions, config: Config): Config;
