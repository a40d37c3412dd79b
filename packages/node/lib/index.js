/** The replay model of `retake serve`, started from Node. */
export { findRetake } from './binary.js';
export { Server } from './server.js';
