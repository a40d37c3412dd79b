// Ways to leave a machine, each to an address of its own. Prints an event when all have come to an end.
import { spawn } from "node:child_process";
import dgram from "node:dgram";
import dns from "node:dns";
import { once } from "node:events";
import http from "node:http";
import net from "node:net";

const ended = (emitter) => new Promise((done) => ["error", "close", "connect", "exit"].forEach((it) => emitter.on(it, done)));
const udp = dgram.createSocket("udp4");
const resolver = new dns.promises.Resolver({ tries: 1, timeout: 500 });
resolver.setServers(["192.0.2.46"]);

await Promise.allSettled([
    ended(http.get("http://192.0.2.41:80/")),
    ended(net.connect(5432, "192.0.2.42")),
    fetch("http://192.0.2.43:4318/v1/traces", { method: "POST", body: "{}" }),
    new Promise((done) => udp.send("x", 8125, "192.0.2.44", done)).finally(() => udp.close()),
    ended(net.connect(443, "2001:db8::45")),
    resolver.resolve4("api.example.com"),
    once(spawn("bash", ["-c", "exec 3<>/dev/tcp/192.0.2.47/80"]), "exit"),
]);
console.log('{"type": "done"}');
