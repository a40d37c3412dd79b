"""Records an agent's tool calls on real MCP servers, replays them, changes something, and replays them again."""

import http.server
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).parent.resolve()
RETAKE = sys.argv[1]
BIN = HERE / "node_modules" / ".bin"
passed, failed = 0, 0


def check(what, found, expected):
    global passed, failed
    if found == expected:
        passed += 1
        print(f"ok      {what}")
    else:
        failed += 1
        print(f"FAILED  {what}\n    expected {expected!r}\n    found    {found!r}")


class Project:
    """A project in a temporary folder, with one tool server."""

    def __init__(self, declaration):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="retake-tools-", dir=os.environ.get("RUNNER_TEMP")))
        (self.root / "scenarios").mkdir()
        (self.root / "scenarios" / "suite.toml").write_text(f"[tools.server]\n{declaration}\n")

    def record(self, calls, server):
        subprocess.run(["node", HERE / "record.mjs", self.root / "recorded", json.dumps(calls), *server], check=True,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def replay(self):
        """Runs `retake tools`. Returns its exit code, and for each action the tool and whether it drifted."""
        ran = subprocess.run([RETAKE, "tools", "recorded"], cwd=self.root, capture_output=True, text=True)
        logs = sorted((self.root / ".retake" / "tools" / "recorded").glob("drift-*.jsonl"))
        lines = [json.loads(line) for line in logs[-1].read_text().splitlines()] if logs else [ran.stderr]
        self.actions = [line for line in lines if "Action" in line]
        return ran.returncode, [
            (line["Action"]["tool_name"], line["Drift from expected observation"] != "No drift") for line in self.actions
        ]

    def end(self):
        shutil.rmtree(self.root, ignore_errors=True)


def same(*tools):
    return [(tool, False) for tool in tools]


def filesystem():
    files = tempfile.mkdtemp(prefix="retake-files-")
    note = pathlib.Path(files, "note.txt")
    note.write_text("first\n")
    pathlib.Path(files, "other.txt").write_text("other\n")
    command = [str(BIN / "mcp-server-filesystem"), files]
    project = Project(f"mcp = {{ command = {json.dumps(command)} }}")
    read = lambda name: ["read_text_file", {"path": str(pathlib.Path(files, name))}]
    project.record([[read("note.txt")], [["list_directory", {"path": files}], read("other.txt"), read("gone.txt")]], command)
    tools = ["read_text_file", "list_directory", "read_text_file", "read_text_file"]
    check("filesystem over stdio: no drift, and a recorded error is no drift either", project.replay(), (0, same(*tools)))
    note.write_text("second\n")
    code, actions = project.replay()
    check("a changed file: exit code 1", code, 1)
    check("a changed file: drift on exactly that action", actions, [("read_text_file", True)] + same(*tools[1:]))
    line = project.actions[0]
    drift = line["Drift from expected observation"]
    check("the expected observation is in the log", "first\n" in json.dumps(drift["Expected"]).encode().decode("unicode_escape"), True)
    check("the actual observation is in the log", line["Actual Observation"][0]["observation"]["content"][0]["text"], "second\n")
    check("the pointer of the difference is in the log", drift["Difference"][0]["pointer"], "/0/observation/content/0/text")
    project.end()
    shutil.rmtree(files)


CALLS = [
    [["echo", {"message": "hello"}], ["get-sum", {"a": 2, "b": 40}]],
    [["get-tiny-image", {}]],
    [["get-structured-content", {"location": "Chicago"}]],
]
CALLED = ["echo", "get-sum", "get-tiny-image", "get-structured-content"]


def everything_over_stdio():
    command = [str(BIN / "mcp-server-everything"), "stdio"]
    project = Project(f"mcp = {{ command = {json.dumps(command)} }}")
    project.record(CALLS, command)
    check("everything over stdio: no drift", project.replay(), (0, same(*CALLED)))
    project.end()


def everything_over_http():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen([BIN / "mcp-server-everything", "streamableHttp"], env={**os.environ, "PORT": str(port)},
                          stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as server:
        while "listening" not in server.stderr.readline():
            if server.poll() is not None:
                raise SystemExit("the server does not start")
        url = f"http://127.0.0.1:{port}/mcp"
        project = Project(f'mcp = {{ url = "{url}" }}')
        project.record(CALLS, [url])
        check("everything over HTTP: no drift", project.replay(), (0, same(*CALLED)))
        server.terminate()
    code, _ = project.replay()
    check("a server that does not run is an error before the first action", code, 2)
    project.end()


def git():
    repository = tempfile.mkdtemp(prefix="retake-git-")
    run = lambda *words: subprocess.run(["git", "-C", repository, "-c", "user.name=n", "-c", "user.email=e@example.com",
                                         *words], check=True, stdout=subprocess.DEVNULL)
    run("init", "--quiet")
    pathlib.Path(repository, "a.txt").write_text("one\n")
    run("add", ".")
    run("commit", "--quiet", "-m", "first")
    server = HERE / ".venv" / "bin" / "mcp-server-git"
    project = Project(f"mcp = {{ command = {json.dumps([str(server), '--repository', repository])} }}")
    calls = [[["git_status", {"repo_path": repository}], ["git_log", {"repo_path": repository}]]]
    project.record(calls, [str(server), "--repository", repository])
    check("git over stdio: no drift", project.replay(), (0, same("git_status", "git_log")))
    pathlib.Path(repository, "b.txt").write_text("two\n")
    check("a new file: drift in git_status alone", project.replay(), (1, [("git_status", True), ("git_log", False)]))
    project.end()
    shutil.rmtree(repository)


class Provider(http.server.BaseHTTPRequestHandler):
    """A model provider: asks for two parallel tool calls, then answers with their results."""

    def do_POST(self):
        messages = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"]
        if messages[-1]["role"] == "user":
            wanted = [("echo", {"message": "hello"}), ("get-sum", {"a": 2, "b": 40})]
            calls = [{"id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": json.dumps(args)}}
                     for i, (name, args) in enumerate(wanted)]
            message = {"role": "assistant", "content": None, "tool_calls": calls}
        else:
            message = {"role": "assistant", "content": " / ".join(m["content"] for m in messages if m["role"] == "tool")}
        body = json.dumps({"id": "c", "object": "chat.completion", "created": 0, "model": "m",
                           "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def retake(project, *words, **env):
    ran = subprocess.run([RETAKE, *words], cwd=project.root, capture_output=True, text=True, env={**os.environ, **env})
    return ran.returncode, ran.stdout + ran.stderr


def double(how, declaration, gone):
    """Records an agent with the official client and a real server, then replays it while the server `gone` is not there."""
    project = Project(declaration)
    scenario = project.root / "scenarios" / "ask"
    scenario.mkdir()
    env = {"TOOLS": "{{ tools.server }}", "OPENAI_BASE_URL": "{{ model.openai }}", "OPENAI_API_KEY": "{{ model.key }}"}
    table = ", ".join(f'{name} = "{value}"' for name, value in env.items())
    (scenario / "scenario.toml").write_text(
        f'[[step]]\nrun = ["node", "{HERE / "agent.mjs"}"]\nenv = {{ {table} }}\nstream = {{ last = "answer" }}\n'
        '[golden]\nshow = ["/text"]\n')
    provider = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Provider)
    threading.Thread(target=provider.serve_forever, daemon=True).start()
    upstream = f"http://127.0.0.1:{provider.server_port}/v1"
    code, said = retake(project, "record", "ask", RETAKE_UPSTREAM_OPENAI=upstream, CI="")
    check(f"a double {how}: it is recorded, and its replays agree", (code, " replays agree" in said), (0, True))
    if code:
        print(said)
    provider.shutdown()
    (project.root / "scenarios" / "suite.toml").write_text(f"[tools.server]\n{gone}\n")
    code, said = retake(project, "test")
    check(f"a double {how}: the scenario passes without the real server", (code, "test ask" in said), (0, True))
    if code:
        print(said)
    golden = (project.root / "goldens" / "ask.snap")
    check(f"a double {how}: the golden contains the results of its tools", "Echo: hello / The sum of 2 and 40 is 42." in
          (golden.read_text() if golden.exists() else ""), True)
    project.end()


def doubles():
    command = [str(BIN / "mcp-server-everything"), "stdio"]
    double("over stdio", f"mcp = {{ command = {json.dumps(command)} }}", 'mcp = { command = ["no-such-server"] }')
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen([BIN / "mcp-server-everything", "streamableHttp"], env={**os.environ, "PORT": str(port)},
                          stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as server:
        while "listening" not in server.stderr.readline():
            if server.poll() is not None:
                raise SystemExit("the server does not start")
        threading.Thread(target=server.stderr.read, daemon=True).start()
        declaration = f'mcp = {{ url = "http://127.0.0.1:{port}/mcp" }}'
        double("over HTTP", declaration, 'mcp = { url = "http://127.0.0.1:9/mcp" }')
        server.terminate()


for test in [filesystem, everything_over_stdio, everything_over_http, git, doubles]:
    test()
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
