"""Drives `memory mcp` with the official Python SDK: `drive.py BINARY SCENARIO`.

Each scenario is a function below; `crates/memory-cli/tests/it/mcp.rs` has a test for each. A failed assertion is the message.
"""

import asyncio
import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema
from mcp import Client, MCPError, StdioServerParameters

BINARY = sys.argv[1]
INVALID_PARAMS = -32602
# Both ways to begin: the handshake that clients have, and the one without of 2026-07-28.
MODES = ["legacy", "auto"]
# Nothing here takes that long; a server that hangs is to fail its test, not to stop it.
TIMEOUT = 30


class Desk:
    """A workspace of notes, and the program in it."""

    def __init__(self, files):
        self.dir = tempfile.TemporaryDirectory()
        self.root = Path(self.dir.name).resolve() / "desk"
        self.env = {"HOME": self.dir.name, "MEMORY_EMBEDDER__USE": "none"}
        (self.root / "memory").mkdir(parents=True)
        for path, text in files.items():
            self.write(path, text)

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run(self, *args):
        return subprocess.run(
            [BINARY, "-w", self.root, *args], env=self.env, check=True, capture_output=True, text=True
        ).stdout

    def client(self, mode="legacy", pid_file=None):
        command, args = BINARY, ["-w", str(self.root), "mcp"]
        if pid_file is not None:
            command, args = "/bin/sh", ["-c", 'echo $$ > "$0"; exec "$@"', str(pid_file), command, *args]
        server = StdioServerParameters(command=command, args=args, env=self.env)
        return Client(server, mode=mode, read_timeout_seconds=TIMEOUT)


async def answer(client, tool, arguments=None):
    """Calls a tool that answers. The SDK holds the answer against the tool's schema."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result
    [content] = result.content
    assert json.loads(content.text) == result.structured_content
    return result.structured_content


async def refusal(client, tool, arguments):
    result = await client.call_tool(tool, arguments)
    assert result.is_error, result
    [content] = result.content
    return content.text


def paths(found):
    return sorted(result["path"] for result in found["results"])


def without_time(found):
    return {key: value for key, value in found.items() if key != "took_ms"}


async def tools_are_listed_and_answer():
    desk = Desk({"memory/2026-05-18.md": "---\ntags: [home]\n---\n# Pump\n\nThe pump is in the cellar.\n\n# Other\n\ntext\n"})
    desk.run("index")
    for mode in MODES:
        async with desk.client(mode) as client:
            assert client.server_info.name == "memory"
            assert "memory_search before you answer" in client.instructions
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert list(tools) == ["memory_search", "memory_get", "memory_add", "memory_status"]
            validators = {}
            for tool in tools.values():
                for schema in (tool.input_schema, tool.output_schema):
                    jsonschema.Draft202012Validator.check_schema(schema)
                    assert schema["type"] == "object"
                validators[tool.name] = jsonschema.Draft202012Validator(tool.output_schema)
                hints = tool.annotations
                assert (hints.read_only_hint, hints.open_world_hint) == (tool.name != "memory_add", False)
            for tool, arguments, command in [
                ("memory_search", {"query": "pump", "context": 2}, ["search", "pump", "--context", "2"]),
                ("memory_search", {"query": "pump", "tag": "home"}, ["search", "pump", "--tag", "home"]),
                ("memory_get", {"path": "memory/2026-05-18.md", "from": 2, "lines": 2}, ["get", "memory/2026-05-18.md", "--from", "2", "--lines", "2"]),
                ("memory_status", None, ["status"]),
            ]:
                jsonschema.Draft202012Validator(tools[tool].input_schema).validate(arguments or {})
                told = await answer(client, tool, arguments)
                validators[tool].validate(told)
                printed = json.loads(desk.run(*command, "--json"))
                assert without_time(told) == without_time(printed), (told, printed)
            with contextlib.suppress(jsonschema.ValidationError):
                validators["memory_search"].validate({"query": "pump"})
                raise AssertionError("the schema takes anything")


async def wrong_calls_are_refused_in_plain_words():
    desk = Desk({"memory/a.md": "pump"})
    for mode in MODES:
        async with desk.client(mode) as client:
            for arguments, expected in [
                ({"query": "pump", "limit": 5}, "there is no parameter `limit`"),
                ({"query": "pump", "maxresults": 5}, "did you mean `max_results`?"),
                ({"query": "pump", "max_results": "five"}, "a whole number, 0 to 1000"),
                ({"query": "pump", "max_results": True}, "a whole number, 0 to 1000"),
                ({"query": "pump", "max_results": 4097}, "a whole number, 0 to 1000"),
                ({"query": "pump", "max_results": 99999999999999999999}, "a whole number, 0 to 1000"),
                ({"query": "pump", "min_score": 2}, "a number, 0 to 1"),
                ({"query": "pump", "since": "yesterday"}, "a day (2026-05-18)"),
                ({"query": "pump", "source": "sesions"}, "there is no source `sesions`, but: memory, sessions"),
                ({}, "`query` is missing"),
                (None, "`query` is missing"),
            ]:
                text = await refusal(client, "memory_search", arguments)
                assert expected in text, text
            assert "this tool takes none" in await refusal(client, "memory_status", {"deep": True})
            for arguments in [{"max_results": "5"}, {"max_results": 5.0}, {"min_score": "0.2"}, {"max_results": None}, {"source": []}]:
                assert paths(await answer(client, "memory_search", {"query": "pump", **arguments})) == ["memory/a.md"]
            try:
                await client.call_tool("memory_serch", {"query": "pump"})
                raise AssertionError("there is no such tool")
            except MCPError as err:
                assert err.error.code == INVALID_PARAMS and "memory_search" in err.error.message, err


async def calls_run_beside_each_other():
    desk = Desk({f"memory/{n}.md": f"pump number{n}" for n in range(40)})
    async with desk.client() as client:
        # The first of them build the index; all are asked before any answers.
        found = await asyncio.gather(*(answer(client, "memory_search", {"query": f"number{n}"}) for n in range(40)))
        for n, one in enumerate(found):
            assert f"memory/{n}.md" in paths(one), one


async def a_cancelled_call_leaves_the_server_well():
    desk = Desk({"memory/a.md": "pump"})
    desk.run("index")
    # Another namespace has no index yet, and building one has to wait for the lock.
    nothing_by_itself = "[sync]\non_session_start = false\non_search = false\nwatch = false\ninterval_minutes = 0\n"
    desk.write("memory.toml", 'namespace = "other"\n' + nothing_by_itself)
    async with desk.client() as client:
        with open(desk.root / ".memory/lock", "r+b") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            calls = [asyncio.create_task(client.call_tool("memory_search", {"query": "pump"})) for _ in range(40)]
            await asyncio.wait(calls, timeout=0.5)
            assert not any(call.done() for call in calls)
            for call in calls:
                call.cancel()
            await asyncio.wait(calls)
            assert all(call.cancelled() for call in calls)
            # They held every place there is.
            assert (await answer(client, "memory_get", {"path": "memory/a.md"}))["text"] == "pump"
        assert paths(await answer(client, "memory_search", {"query": "pump"})) == ["memory/a.md"]


async def what_is_added_is_found_and_so_is_what_is_written_by_hand():
    desk = Desk({"memory/a.md": "pump"})
    async with desk.client() as client:
        assert paths(await answer(client, "memory_search", {"query": "pump"})) == ["memory/a.md"]
        added = await answer(client, "memory_add", {"text": "The valve is green.", "target": "memory/b.md"})
        assert added["indexed"] and added["path"] == "memory/b.md", added
        found = (await answer(client, "memory_search", {"query": "valve"}))["results"]
        assert [hit["path"] for hit in found] == ["memory/b.md"], found
        assert "valve is green" in found[0]["snippet"]
        for arguments, expected in [
            ({"text": "The valve is green.", "target": "memory/b.md"}, "memory/b.md#L"),
            ({"text": "key sk-proj-Zq83kfLw02mXc7Vb5NtR1yUe4HgJ6dSa"}, "api key"),
            ({"text": "out", "target": "../out.md"}, "is not a memory file"),
            ({"text": " "}, "text"),
            ({"target": "memory/b.md"}, "`text` is missing"),
        ]:
            text = await refusal(client, "memory_add", arguments)
            assert expected in text and "Zq83" not in text, text
        assert not (desk.root.parent / "out.md").exists()
        # Nobody asks for an index; the server sees the file by itself.
        desk.write("memory/c.md", "gypsum")
        while paths(await answer(client, "memory_search", {"query": "gypsum"})) != ["memory/c.md"]:
            await asyncio.sleep(0.05)


async def a_killed_server_ends_calls_and_another_goes_on():
    desk = Desk({f"memory/{n}.md": f"# pump\n\nnumber{n}\n" for n in range(300)})
    pid_file = desk.root / "pid"
    client = desk.client(pid_file=pid_file)
    await client.__aenter__()
    call = asyncio.create_task(client.call_tool("memory_search", {"query": "pump"}))
    # The build has begun when there is a folder for it.
    while not (desk.root / ".memory").exists():
        await asyncio.sleep(0.001)
    os.kill(int(pid_file.read_text()), signal.SIGKILL)
    try:
        result = await call
        assert not result.is_error, "it may have been done before"
    except MCPError:
        pass
    with contextlib.suppress(Exception):
        await client.__aexit__(None, None, None)
    async with desk.client() as client:
        found = await answer(client, "memory_search", {"query": "number299"})
        assert "memory/299.md" in paths(found), found
        assert found["degraded"] == [], found
        status = await answer(client, "memory_status")
        assert (status["documents"], status["drift"]) == (300, {"new": 0, "changed": 0, "removed": 0}), status


async def a_server_notices_what_others_index():
    desk = Desk({"memory/a.md": "pump"})
    async with desk.client() as client:
        ask = lambda query: answer(client, "memory_search", {"query": query})
        assert paths(await ask("pump")) == ["memory/a.md"]
        for n in range(3):
            desk.write(f"memory/{n}.md", f"marigold number{n}")
            desk.run("index")
            assert f"memory/{n}.md" in paths(await ask(f"number{n}"))
        (desk.root / "memory/0.md").unlink()
        desk.run("index", "--force")
        assert paths(await ask("marigold")) == ["memory/1.md", "memory/2.md"]
        assert paths(await ask("number0")) == []


async def get_refuses_what_is_no_memory():
    desk = Desk({
        "memory/a.md": "pump",
        "memory-old/a.md": "secret",
        "secret/plan.md": "secret",
        "../desk-old/memory/a.md": "secret",
    })
    (desk.root / "memory/link").symlink_to(desk.root / "secret")
    (desk.root / "memory/f.md").symlink_to(desk.root / "secret/plan.md")
    async with desk.client() as client:
        for path in [
            "../secret/plan.md",
            "memory/../secret/plan.md",
            "memory/..",
            "..",
            "memory/link/plan.md",
            "memory/f.md",
            "memory/link/../link/plan.md",
            "memory-old/a.md",
            "../desk-old/memory/a.md",
            "/etc/passwd",
            str(desk.root / "memory/a.md"),
            str(desk.root.parent / "desk-old/memory/a.md"),
            "memory/a.md\0",
            "memory/a.md\0.md",
            "memory",
            ".memory/MANIFEST.json",
        ]:
            text = await refusal(client, "memory_get", {"path": path})
            assert "is not a memory file of this workspace" in text, (path, text)
        assert (await answer(client, "memory_get", {"path": "memory/a.md"}))["text"] == "pump"
        assert paths(await answer(client, "memory_search", {"query": "secret"})) == []


if __name__ == "__main__":
    asyncio.run(asyncio.wait_for(globals()[sys.argv[2]](), TIMEOUT * 2))
