"""The server against the official client of the Model Context Protocol (`pip install mcp`).

    python3 crates/mcp/tests/official_client.py target/release/fair
"""

import asyncio
import os
import sys

try:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
except ImportError:
    print("the official client is not installed (pip install mcp), so nothing is compared with it", file=sys.stderr)
    sys.exit(1 if os.environ.get("CI") == "true" else 0)

MODEL = """
var x : 0..3 = 0
process P { up when x < 3 { x := x + 1 }  reset when x == 3 { x := 0 } }
process Q { rest { skip } }
property top: eventually x == 3
"""


async def main(program: str) -> None:
    server = StdioServerParameters(command=program, args=["mcp"])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        hello = await session.initialize()
        assert hello.server_info.name == "fair", hello
        tools = {tool.name for tool in (await session.list_tools()).tools}
        assert tools == {"check", "explain", "simulate", "fairness", "abstract", "documentation"}, tools

        violated = await session.call_tool("check", {"text": MODEL})
        result = violated.structured_content["results"][0]
        assert (violated.is_error, result["verdict"]) == (False, "violated"), violated
        told = await session.call_tool("explain", {"trace": str_of(result["trace"])})
        assert not told.is_error and "loop" in told.content[0].text, told

        fair = await session.call_tool("check", {"text": MODEL, "fairness": "weak"})
        assert fair.structured_content["results"][0]["verdict"] == "holds", fair
        advice = await session.call_tool("fairness", {"text": MODEL, "property": "top"})
        assert not advice.is_error, advice
        walk = await session.call_tool("simulate", {"text": MODEL, "steps": 3})
        assert len(walk.structured_content["steps"]) == 3, walk
        page = await session.call_tool("documentation", {"query": "fairness"})
        assert "fairness" in page.content[0].text, page
        wrong = await session.call_tool("check", {"text": "process P {"})
        assert wrong.is_error and "model.fair:1" in wrong.content[0].text, wrong
    print("the official client and the server understand each other")


def str_of(trace: object) -> str:
    import json

    return json.dumps(trace)


asyncio.run(main(sys.argv[1]))
