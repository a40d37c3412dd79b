// Receives OTLP as JSON and writes each request as a line, as the Collector's file exporter does: `node collected.mjs FILE`.
import { appendFileSync } from 'node:fs';
import { createServer } from 'node:http';

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  appendFileSync(process.argv[2], JSON.stringify(JSON.parse(Buffer.concat(chunks))) + '\n');
  response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
}).listen(0, '127.0.0.1', () => console.log(JSON.stringify({ endpoint: `http://127.0.0.1:${server.address().port}` })));
