// Requests to the server, and the stream of what it tells by itself.

let token = "";
let connected;
/** Is kept as soon as the server can tell something by itself. */
export const connection = new Promise((resolve) => (connected = resolve));
export const tab = Array.from(crypto.getRandomValues(new Uint8Array(12)), (b) => b.toString(16).padStart(2, "0")).join("");

export function setToken(value) {
  token = value;
}

export class Refused extends Error {
  constructor(status, body) {
    super(body.error ?? `the server answered ${status}`);
    this.status = status;
    this.body = body;
  }
}

/** Asks the server; throws `Refused` if it has no result. */
export async function ask(name, request = {}, signal = undefined) {
  let response;
  try {
    response = await fetch(`/api/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Fair-Token": token },
      body: JSON.stringify(request),
      signal,
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, { error: "the server does not answer: is `fair studio` still running?" });
  }
  const body = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refused(response.status, body);
  return body;
}

/** Calls `tell` with every event, and `lost` when the stream ends; connects again by itself. */
export async function listen(tell, lost) {
  for (;;) {
    try {
      const response = await fetch(`/events?tab=${tab}`, { headers: { "X-Fair-Token": token } });
      if (response.status === 403) return lost("refused");
      if (response.ok) await read(response.body.getReader(), tell);
    } catch {
      // The next attempt tells more.
    }
    lost("closed");
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

async function read(reader, tell) {
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + decoder.decode(value, { stream: true })).split("\n\n");
    rest = parts.pop();
    for (const part of parts) {
      if (!part.startsWith("data: ")) continue;
      tell(JSON.parse(part.slice(6)));
      connected();
    }
  }
}
