/** Starts `retake serve`, the replay model, from Node. */
export { findRetake } from './binary.js';
export { Server } from './server.js';
