// At least thirty ways through the studio, as people go them. `run.sh [PART OF A NAME]` runs some.

import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { readdirSync, mkdirSync } from "node:fs";
import { FILES, TOGGLE } from "./models.mjs";
import { here, join, makeFolder, readFileSync, removeFolder, startBrowser, startStudio, writeFileSync } from "./stage.mjs";

const journeys = [];
const journey = (name, go, size = { width: 1280, height: 800 }) => journeys.push({ name, go, size });

/** Helpers that every journey has. */
class Visit {
  constructor(page, studio, folder) {
    Object.assign(this, { page, studio, folder, errors: [] });
    page.on("pageerror", (error) => this.errors.push(String(error)));
    page.on("console", (message) => message.type() === "error" && !/status of 4\d\d/.test(message.text()) && this.errors.push(message.text()));
    page.setDefaultTimeout(20000);
  }
  get(id) { return this.page.getByTestId(id); }
  async open(file, more = "") {
    await this.page.goto(`${this.studio.origin}/#token=${this.studio.token}&file=${encodeURIComponent(file)}${more}`);
    await this.get("file").getByText(file).waitFor();
  }
  async type(text) {
    await this.page.locator(".cm-content").click();
    await this.page.keyboard.press("Control+a");
    await this.page.keyboard.press("Delete");
    await this.page.keyboard.insertText(text);
  }
  property(name) { return this.page.locator(`[data-property="${name}"]`); }
  async verify() {
    await this.get("verify").click();
    await this.get("progress").waitFor({ state: "hidden" }).catch(() => {});
    await this.page.waitForFunction(() => !document.querySelector('[data-testid="progress"]') && document.querySelector(".verdict.holds, .verdict.violated, .verdict.unknown"));
  }
  async counterexample(name) {
    await this.property(name).getByRole("button", { name: /Show the/ }).click();
    await this.get("timeline").waitFor();
  }
  async see(text) { await this.page.getByText(text).first().waitFor(); }
  async view(title) { await this.page.getByRole("navigation").getByRole("button", { name: title, exact: true }).click(); }
  async step(name) { await this.page.getByRole("button", { name, exact: true }).first().click(); }
  hash() { return this.page.evaluate(() => location.hash); }
  obligation(name) { return this.page.locator(`[data-condition="${name}"]`); }
  async noSideways() {
    const over = await this.page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.ok(over <= 0, `${over} pixels too wide`);
  }
}

journey("the start page lists files, examples and keys", async (v) => {
  await v.page.goto(v.studio.url);
  await v.see("Fairground Studio");
  await v.page.getByRole("button", { name: "toggle.fair" }).waitFor();
  await v.page.getByTitle("sub/inner.fair").waitFor();
  await v.see("Peterson's mutual exclusion");
});

journey("an example opens with its outline", async (v) => {
  await v.page.goto(v.studio.url);
  await v.page.getByRole("button", { name: "Peterson's mutual exclusion" }).click();
  await v.page.locator(".sidebar").getByText("Processes").waitFor();
  assert.ok((await v.page.locator(".property").count()) > 0);
});

journey("the tutorial opens and goes back", async (v) => {
  await v.page.goto(v.studio.url);
  await v.page.getByRole("button", { name: "Tutorial: a first model" }).click();
  await v.page.locator("article h1").waitFor();
  assert.ok((await v.page.locator("article pre").count()) > 0);
  await v.page.getByRole("button", { name: "Back" }).click();
  await v.see("Examples");
});

journey("a new model is typed, its error seen and fixed with one click", async (v) => {
  await v.page.goto(v.studio.url);
  await v.page.getByRole("button", { name: "New model" }).click();
  await v.type("var level : 0..3 = 0\nprocess P { step when levle < 3 { level := level + 1 } }\nproperty top: eventually level == 3\n");
  await v.get("problems").getByText("levle").first().waitFor();
  await v.page.locator(".cm-lintRange-error").first().waitFor();
  await v.page.getByRole("button", { name: "replace by `level`" }).first().click();
  await v.get("problems").waitFor({ state: "detached" });
  await v.verify();
  await v.property("top").getByText("holds").waitFor();
});

journey("an error shows its help and disables verification", async (v) => {
  await v.open("toggle.fair");
  await v.type("proces P { step }");
  await v.get("problems").getByText("did you mean `process`?").waitFor();
  await v.get("wrong").waitFor();
  assert.ok(await v.get("verify").isDisabled());
});

journey("verdicts appear with fairness, states and time", async (v) => {
  await v.open("toggle.fair");
  await v.verify();
  await v.property("works").getByText("violated").waitFor();
  await v.property("fine").getByText("holds").waitFor();
  await v.property("both").getByText("holds").waitFor();
  await v.property("fine").getByText(/\d+ states/).waitFor();
  await v.property("works").getByText("fairness none").waitFor();
});

journey("one property is run alone", async (v) => {
  // A text that was not checked before.
  writeFileSync(join(v.folder, "alone.fair"), `// alone\n${TOGGLE}`);
  await v.open("alone.fair");
  await v.property("fine").getByText("not checked").waitFor();
  await v.property("fine").getByRole("button", { name: "Run" }).click();
  await v.property("fine").getByText("holds").waitFor();
  await v.property("works").getByText("not checked").waitFor();
});

journey("verdicts go stale when the text changes", async (v) => {
  await v.open("toggle.fair");
  await v.verify();
  await v.page.locator(".cm-content").click();
  await v.page.keyboard.insertText("// changed\n");
  await v.property("fine").locator(".stale").waitFor();
  assert.ok(await v.property("works").getByRole("button", { name: /Show the/ }).isDisabled());
});

journey("all notions of fairness make a table", async (v) => {
  await v.open("toggle.fair");
  await v.get("fairness").selectOption("all");
  await v.get("verify").click();
  await v.page.waitForFunction(() => document.querySelectorAll('[data-testid="notions"] button').length === 21);
  const row = v.get("notions").locator("tr", { hasText: "works" });
  assert.equal((await row.locator("button.violated").count()) + (await row.locator("button.holds").count()), 7);
  assert.ok((await row.locator("button.violated").count()) >= 1 && (await row.locator("button.holds").count()) >= 1);
});

journey("the counterexample shows a loop, and keys step through it", async (v) => {
  await v.open("toggle.fair");
  await v.verify();
  await v.counterexample("works");
  await v.page.locator(".loop-arc").waitFor();
  await v.page.locator(".loop-line").waitFor();
  assert.equal(await v.get("trace-step").inputValue(), "0");
  await v.page.locator("h2").first().click();
  await v.page.keyboard.press("End");
  const last = Number(await v.get("trace-step").inputValue());
  await v.page.keyboard.press("ArrowRight");
  const start = Number(await v.get("trace-step").inputValue());
  assert.ok(start <= last, "after the last state of the loop comes its first");
  assert.match(await v.hash(), new RegExp(`step=${start}(&|$)`));
});

journey("each part of the formula has a row of values", async (v) => {
  await v.open("toggle.fair");
  await v.verify();
  await v.counterexample("works");
  const rows = await v.page.locator(".row-names code").allInnerTexts();
  assert.deepEqual(rows.map((row) => row.trim()), ["[]<>busy", "<>busy", "busy"]);
  assert.ok((await v.page.locator("rect.truth-no").count()) > 0);
});

journey("reasons for fairness lead to their steps", async (v) => {
  await v.open("philosophers.fair", "&fairness=weak");
  await v.verify();
  await v.counterexample("eats");
  const reason = v.page.locator(".reasons li button").first();
  if (await reason.count()) {
    const at = (await reason.innerText()).replace("at ", "");
    await reason.click();
    assert.equal(await v.get("trace-step").inputValue(), at);
  }
  await v.page.locator(".reasons").getByText(/Why it is fair|What would exclude it/).first().waitFor();
});

journey("a step leads to its line", async (v) => {
  await v.open("toggle.fair");
  await v.verify();
  await v.counterexample("works");
  const line = (await v.get("line").first().innerText()).replace("line ", "");
  await v.get("line").first().click();
  await v.page.locator(".flashed").waitFor();
  assert.match(TOGGLE.split("\n")[line - 1], /flip|work|rest/);
});

journey("a state of a trace opens in the simulator", async (v) => {
  await v.open("toggle.fair");
  await v.verify();
  await v.counterexample("works");
  await v.page.keyboard.press("End");
  const at = await v.get("trace-step").inputValue();
  await v.get("step-into").click();
  await v.get("goto").waitFor();
  assert.equal(await v.get("goto").inputValue(), at);
});

journey("differences or everything, filtered by variable", async (v) => {
  await v.open("toggle.fair");
  await v.verify();
  await v.counterexample("works");
  await v.page.keyboard.press("ArrowRight");
  const few = await v.page.locator(".state-tree .value").count();
  await v.get("full").check();
  const all = await v.page.locator(".state-tree .value").count();
  assert.equal(all, 2);
  assert.ok(few <= all);
  await v.get("variable").fill("busy");
  await v.page.waitForFunction(() => document.querySelectorAll(".state-tree .value").length === 1);
});

journey("messages are drawn as a chart", async (v) => {
  await v.open("channels.fair");
  await v.verify();
  await v.counterexample("never_one");
  await v.page.getByRole("tab", { name: "Messages" }).click();
  await v.get("chart").waitFor();
  await v.page.locator(".chart .process", { hasText: "Sender" }).waitFor();
  await v.page.locator(".chart .message").first().waitFor({ state: "attached" });
  await v.page.locator(".chart text", { hasText: "meet: 1" }).waitFor();
  await v.page.locator(".chart-row").last().click();
  assert.match(await v.hash(), /part=messages/);
});

journey("a trace is exported as a page that needs nothing else", async (v) => {
  await v.open("channels.fair");
  await v.verify();
  await v.counterexample("never_one");
  const [download] = await Promise.all([v.page.waitForEvent("download"), v.get("export-html").click()]);
  const file = join(v.folder, "exported.html");
  await download.saveAs(file);
  const text = readFileSync(file, "utf8");
  assert.ok(!/<script|http:|src=/.test(text.replace(/http:\/\/www\.w3\.org\/2000\/svg/g, "")), "nothing from elsewhere");
  const page = await v.page.context().newPage();
  await page.goto(`file://${file}`);
  assert.equal(await page.locator("h1").innerText(), "never_one");
  assert.ok((await page.locator("table tr").count()) > 3);
  assert.ok((await page.locator("svg .message").count()) > 0);
});

journey("a timeline is exported as an SVG", async (v) => {
  await v.open("toggle.fair");
  await v.verify();
  await v.counterexample("works");
  const [download] = await Promise.all([v.page.waitForEvent("download"), v.get("export-svg").click()]);
  const file = join(v.folder, "timeline.svg");
  await download.saveAs(file);
  const text = readFileSync(file, "utf8");
  assert.match(text, /\[\]&lt;&gt;busy/);
  assert.match(text, /class="loop-arc"/);
  assert.match(text, /class="truth-no"/);
});

journey("a chart is exported as an SVG", async (v) => {
  await v.open("channels.fair");
  await v.verify();
  await v.counterexample("never_one");
  await v.page.getByRole("tab", { name: "Messages" }).click();
  const [download] = await Promise.all([v.page.waitForEvent("download"), v.get("export-svg").click()]);
  const file = join(v.folder, "exported.svg");
  await download.saveAs(file);
  const blank = await v.page.context().newPage();
  const names = await blank.evaluate((text) => {
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
    return parsed.querySelector("parsererror") ? null : [...parsed.querySelectorAll(".process")].map((node) => node.textContent);
  }, readFileSync(file, "utf8"));
  assert.deepEqual(names, ["Sender", "Receiver"]);
});

journey("a stored trace opens again without another check", async (v) => {
  await v.open("toggle.fair");
  await v.verify();
  await v.counterexample("works");
  const [download] = await Promise.all([v.page.waitForEvent("download"), v.get("export-itf").click()]);
  await download.saveAs(join(v.folder, "stored.itf.json"));
  await v.page.goto("about:blank");
  await v.page.goto(v.studio.url);
  await v.page.getByRole("button", { name: "stored.itf.json" }).click();
  await v.get("timeline").waitFor();
  await v.page.locator(".row-names code", { hasText: "[]<>busy" }).waitFor();
  await v.page.getByRole("heading", { name: /works/ }).waitFor();
});

journey("a long search shows progress and is cancelled", async (v) => {
  await v.open("big.fair");
  await v.get("verify").click();
  await v.get("progress").getByText(/\d+ states/).waitFor();
  await v.page.locator(".plot polyline").waitFor();
  await v.get("cancel").click();
  await v.property("fine").getByText("interrupted").waitFor();
  await v.get("verify").isEnabled();
});

journey("steps are taken, and what changed is marked", async (v) => {
  await v.open("toggle.fair");
  await v.view("Simulate");
  await v.step("P.flip");
  await v.page.locator(".state-tree .changed", { hasText: "1" }).waitFor();
  await v.step("Q.work");
  await v.page.locator(".state-tree .changed", { hasText: "true" }).waitFor();
  assert.equal(await v.get("goto").inputValue(), "2");
  await v.page.getByRole("heading", { name: "Q", exact: true }).waitFor();
});

journey("back, forward and goto", async (v) => {
  await v.open("toggle.fair");
  await v.view("Simulate");
  for (let i = 0; i < 3; i++) {
    await v.step("P.flip");
    await v.page.waitForFunction((n) => document.querySelector('[data-testid="goto"]').value === String(n), i + 1);
  }
  await v.get("back").click();
  await v.see("1 steps ahead (→)");
  await v.get("forward").click();
  await v.page.waitForFunction(() => document.querySelector('[data-testid="goto"]').value === "3");
  await v.get("goto").fill("1");
  await v.get("goto").press("Enter");
  await v.see("2 steps ahead (→)");
});

journey("a random walk stops at a breakpoint", async (v) => {
  await v.open("wide.fair");
  await v.view("Simulate");
  await v.get("breakpoint").fill("x == 3 && y == 2");
  await v.get("breakpoint").press("Enter");
  await v.get("walk").click();
  for (let i = 0; i < 30 && !(await v.page.getByText("the breakpoint was reached").count()); i++) {
    await v.page.waitForTimeout(150);
    if (!(await v.page.getByText("the breakpoint was reached").count())) await v.get("walk").click();
  }
  await v.see("the breakpoint was reached");
  const values = await v.page.locator(".state-tree .value").allInnerTexts();
  assert.deepEqual(values.slice(0, 2), ["3", "2"]);
});

journey("a wrong breakpoint is told", async (v) => {
  await v.open("toggle.fair");
  await v.view("Simulate");
  await v.get("breakpoint").fill("nonsense == 3");
  await v.get("breakpoint").press("Enter");
  await v.get("sim-error").getByText("nonsense").waitFor();
});

journey("an obligation becomes pending, and is served", async (v) => {
  await v.open("toggle.fair");
  await v.view("Simulate");
  await v.get("sim-fairness").selectOption("weak");
  await v.obligation("wf(Q.work)").waitFor();
  assert.ok(!(await v.obligation("wf(Q.work)").getAttribute("class")).includes("pending"));
  await v.step("P.flip");
  await v.page.locator('[data-condition="wf(Q.work)"].pending').waitFor();
  await v.obligation("wf(Q.work)").getByText("since 1").waitFor();
  await v.step("Q.work");
  await v.obligation("wf(Q.work)").getByText("step 1").waitFor();
});

journey("a loop that would be unfair is told", async (v) => {
  await v.open("toggle.fair");
  await v.view("Simulate");
  await v.get("sim-fairness").selectOption("strong");
  await v.step("P.flip");
  await v.see("This state is new");
  await v.step("P.flip");
  await v.get("loop").getByText("unfair").waitFor();
  await v.obligation("sf(Q.work)").locator(".bad").waitFor();
  await v.get("sim-fairness").selectOption("none");
  await v.get("loop").getByText("fair", { exact: true }).waitFor();
});

journey("properties are evaluated along the way", async (v) => {
  await v.open("toggle.fair");
  await v.view("Simulate");
  const both = v.page.locator("details", { hasText: "both" }).locator("summary");
  await both.getByText("?").waitFor();
  await v.step("P.flip");
  await v.step("Q.work");
  await v.page.locator('[data-choice]', { hasText: "P.flip" }).click();
  await both.getByText("true").waitFor();
});

journey("a deadlock is shown", async (v) => {
  await v.open("philosophers.fair");
  await v.view("Simulate");
  for (let i = 0; i < 5; i++) {
    await v.step(`Philosopher[${i}].take_left`);
    await v.page.waitForFunction((n) => document.querySelector('[data-testid="goto"]').value === String(n), i + 1);
  }
  await v.get("deadlock").waitFor();
});

journey("the picture follows the simulation", async (v) => {
  await v.open("philosophers.fair");
  await v.view("Simulate");
  await v.get("picture").waitFor();
  assert.equal(await v.page.locator(".picture .paint-orange").count(), 0);
  await v.step("Philosopher[0].take_left");
  await v.page.locator(".picture .paint-orange").waitFor();
});

journey("the picture follows a trace", async (v) => {
  await v.open("philosophers.fair");
  await v.verify();
  await v.counterexample("deadlockfree");
  await v.get("picture").waitFor();
  await v.page.locator("h2").first().click();
  await v.page.keyboard.press("End");
  await v.page.waitForFunction(() => document.querySelectorAll(".picture .paint-orange").length === 5);
});

journey("a reload brings the simulation back", async (v) => {
  await v.open("toggle.fair");
  await v.view("Simulate");
  await v.get("sim-fairness").selectOption("strong");
  await v.step("P.flip");
  await v.step("Q.work");
  await v.page.waitForFunction(() => document.querySelector('[data-testid="goto"]').value === "2");
  const before = await v.page.locator(".state-tree").innerText();
  await v.page.reload();
  await v.page.waitForFunction(() => document.querySelector('[data-testid="goto"]')?.value === "2");
  assert.equal(await v.page.locator(".state-tree").innerText(), before);
  assert.equal(await v.get("sim-fairness").inputValue(), "strong");
});

journey("a link brings a trace back in another tab", async (v) => {
  await v.open("toggle.fair");
  await v.verify();
  await v.counterexample("works");
  await v.page.locator("h2").first().click();
  await v.page.keyboard.press("End");
  await v.page.waitForTimeout(50);
  const link = v.page.url();
  const at = await v.get("trace-step").inputValue();
  const other = await v.page.context().newPage();
  await other.goto(link);
  await other.getByTestId("timeline").waitFor();
  assert.equal(await other.getByTestId("trace-step").inputValue(), at);
});

journey("a text that was not saved survives a reload, and saving writes it", async (v) => {
  await v.open("sub/inner.fair");
  await v.page.locator(".cm-content").click();
  await v.page.keyboard.press("Control+Home");
  await v.page.keyboard.insertText("// mine\n");
  await v.page.locator("header .file b").waitFor();
  await v.page.reload();
  await v.page.locator("header .file b").waitFor();
  await v.page.locator(".cm-line", { hasText: "// mine" }).waitFor();
  await v.page.keyboard.press("Control+s");
  await v.see("saved sub/inner.fair");
  assert.ok(readFileSync(join(v.folder, "sub/inner.fair"), "utf8").startsWith("// mine\n"));
});

journey("a file that changes outside is read again", async (v) => {
  writeFileSync(join(v.folder, "outside.fair"), TOGGLE);
  await v.open("outside.fair");
  await v.page.locator(".connection.on").waitFor();
  await v.page.waitForTimeout(300);
  writeFileSync(join(v.folder, "outside.fair"), `// theirs\n${TOGGLE}`);
  await v.page.locator(".cm-line", { hasText: "// theirs" }).waitFor();
});

journey("a file that changes outside while it is edited asks whose text to keep", async (v) => {
  writeFileSync(join(v.folder, "both.fair"), TOGGLE);
  await v.open("both.fair");
  await v.page.locator(".connection.on").waitFor();
  await v.page.waitForTimeout(300);
  await v.page.locator(".cm-content").click();
  await v.page.keyboard.insertText("// mine\n");
  writeFileSync(join(v.folder, "both.fair"), `// theirs\n${TOGGLE}`);
  await v.get("changed").waitFor();
  await v.page.getByRole("button", { name: "Keep my text" }).click();
  await v.get("changed").waitFor({ state: "detached" });
  await v.get("save").click();
  await v.see("saved both.fair");
  assert.match(readFileSync(join(v.folder, "both.fair"), "utf8"), /\/\/ mine/);
});

journey("the state graph is drawn, and a node opens in the simulator", async (v) => {
  await v.open("toggle.fair");
  await v.view("Graph");
  await v.get("graph").waitFor();
  assert.equal(await v.page.locator(".node").count(), 4);
  await v.page.locator(".node.initial").waitFor();
  await v.page.locator('[data-node="2"]').click();
  await v.get("node-simulate").click();
  await v.get("goto").waitFor();
});

journey("the graph marks the counterexample and fair components", async (v) => {
  await v.open("toggle.fair");
  await v.verify();
  await v.counterexample("works");
  await v.view("Graph");
  await v.page.locator(".node.marked").first().waitFor();
  await v.page.locator(".edge.marked").first().waitFor();
  await v.page.locator(".node.fair").first().waitFor();
});

journey("a projection merges states", async (v) => {
  await v.open("wide.fair");
  await v.view("Graph");
  await v.get("graph-size").getByText("300 nodes").waitFor();
  await v.page.locator('[data-keep="x"]').uncheck();
  await v.page.waitForTimeout(100);
  await v.page.locator('[data-keep="y"]').uncheck();
  await v.get("graph-size").getByText("2 nodes").waitFor();
  await v.page.locator(".node text", { hasText: "400 states" }).first().waitFor();
});

journey("a neighbourhood of a large graph is small", async (v) => {
  await v.open("big.fair");
  await v.view("Graph");
  await v.page.locator(".node.frontier").first().waitFor();
  await v.get("around").click();
  await v.get("graph-size").getByText("40 nodes").waitFor();
});

journey("names in hostile files stay text", async (v) => {
  await v.page.goto(v.studio.url);
  await v.page.getByRole("button", { name: "hostile.itf.json" }).click();
  await v.get("timeline").waitFor();
  await v.page.getByText('<img src=x onerror="window.hacked=1">p').first().waitFor();
  await v.page.getByRole("tab", { name: "Messages" }).click();
  await v.get("chart").waitFor();
  assert.equal(await v.page.locator("#app img[src=x], #app svg image").count(), 0);
  const [download] = await Promise.all([v.page.waitForEvent("download"), v.get("export-html").click()]);
  const file = join(v.folder, "hostile.html");
  await download.saveAs(file);
  const page = await v.page.context().newPage();
  await page.goto(`file://${file}`);
  assert.equal(await page.locator("img, script").count(), 0);
  assert.equal(await page.evaluate(() => window.hacked), undefined);
  assert.equal(await v.page.evaluate(() => window.hacked), undefined);
});

journey("an address without token shows nothing", async (v) => {
  await v.page.goto(`${v.studio.origin}/#token=0000`);
  await v.get("refused").waitFor();
  assert.equal(await v.page.getByText("toggle.fair").count(), 0);
});

journey("a page of another site gets nothing", async (v) => {
  await v.page.goto(v.studio.url.replace("127.0.0.1", "localhost"));
  await v.see("Fairground Studio");
  const answer = await v.page.evaluate(async ({ origin, token }) => {
    try {
      const response = await fetch(`${origin}/api/hello`, { method: "POST", headers: { "X-Fair-Token": token }, body: "{}" });
      return response.status;
    } catch {
      return "refused by the browser";
    }
  }, { origin: v.studio.origin, token: v.studio.token });
  assert.equal(answer, "refused by the browser");
  v.errors.length = 0;
});

journey("light and dark, remembered", async (v) => {
  await v.page.goto(v.studio.url);
  const colour = () => v.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await v.get("theme").waitFor();
  const before = await colour();
  await v.get("theme").click();
  const after = await colour();
  assert.notEqual(before, after);
  await v.page.reload();
  await v.get("theme").waitFor();
  assert.equal(await colour(), after);
});

journey("keys change the view and verify", async (v) => {
  await v.open("toggle.fair");
  await v.page.locator(".property").first().waitFor();
  await v.page.keyboard.press("Control+Enter");
  await v.property("fine").getByText("holds").waitFor();
  await v.page.keyboard.press("Alt+3");
  await v.get("goto").waitFor();
  await v.page.keyboard.press("1");
  await v.page.waitForFunction(() => document.querySelector('[data-testid="goto"]').value === "1");
  await v.page.keyboard.press("ArrowLeft");
  await v.page.waitForFunction(() => document.querySelector('[data-testid="goto"]').value === "0");
  await v.page.keyboard.press("Alt+5");
  await v.get("graph").waitFor();
  await v.page.keyboard.press("Alt+2");
  await v.page.locator(".cm-editor").waitFor();
});

for (const width of [1024, 700]) {
  journey(`everything fits into ${width} pixels`, async (v) => {
    await v.open("toggle.fair");
    await v.verify();
    await v.noSideways();
    await v.get("verify").waitFor();
    await v.counterexample("works");
    await v.noSideways();
    await v.view("Simulate");
    await v.get("goto").waitFor();
    await v.noSideways();
    await v.view("Graph");
    await v.get("graph").waitFor();
    await v.noSideways();
  }, { width, height: 720 });
}

journey("the page does not jump while verdicts come in", async (v) => {
  await v.page.addInitScript(() => {
    window.shift = 0;
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shift += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
  });
  await v.open("toggle.fair");
  await v.verify();
  await v.page.waitForTimeout(200);
  const shift = await v.page.evaluate(() => window.shift);
  console.log(`      layout shift ${shift.toFixed(3)}`);
  assert.ok(shift < 0.25, `layout shift ${shift}`);
});

journey("Promela and CSP# are coloured and verified", async (v) => {
  await v.open("model.pml");
  await v.page.locator(".tok-keyword", { hasText: "proctype" }).first().waitFor();
  await v.verify();
  await v.property("top").getByText("violated").waitFor();
  await v.open("model.csp");
  await v.page.locator(".tok-meta", { hasText: "#assert" }).first().waitFor();
  await v.verify();
  assert.equal(await v.page.locator(".verdict.holds").count(), 2);
});

journey("a family is simulated once its parameter has a value", async (v) => {
  await v.open("family.fair");
  await v.see("Checked for all values of its parameter");
  await v.view("Simulate");
  await v.get("sim-error").getByText("N").waitFor();
  await v.view("Model");
  await v.get("defines").fill("N=3");
  await v.get("defines").press("Enter");
  await v.page.waitForFunction(() => /define=N%3D3/.test(location.hash));
  await v.view("Simulate");
  await v.page.getByRole("button", { name: "P[0].pass" }).waitFor();
});

journey("a trace of 10,000 steps scrolls", async (v) => {
  await v.open("long.fair");
  await v.verify();
  await v.counterexample("small");
  await v.see("10000 steps").catch(() => {});
  const seen = await v.page.evaluate(async () => {
    const list = document.querySelector('[data-testid="steps"]');
    let frames = 0;
    let slowest = 0;
    let last = performance.now();
    const began = last;
    const end = list.scrollHeight - list.clientHeight;
    await new Promise((resolve) => {
      const frame = (now) => {
        frames++;
        slowest = Math.max(slowest, now - last);
        last = now;
        list.scrollTop += end / 120;
        if (list.scrollTop >= end - 1) resolve();
        else requestAnimationFrame(frame);
      };
      requestAnimationFrame(frame);
    });
    return { frames, slowest, seconds: (last - began) / 1000, rows: document.querySelectorAll(".trace-row").length, last: document.querySelector(".trace-row:last-child").innerText };
  });
  console.log(`      ${seen.frames} frames in ${seen.seconds.toFixed(2)} s, slowest ${seen.slowest.toFixed(0)} ms, ${seen.rows} rows exist`);
  assert.ok(seen.rows < 100, "only what is in sight exists");
  await v.page.waitForFunction(() => [...document.querySelectorAll(".trace-row .at")].some((node) => node.textContent === "9999"));
});

journey("a model of 2,000 lines is diagnosed while it is written", async (v) => {
  await v.open("many.fair");
  await v.page.waitForFunction(() => document.querySelectorAll(".sidebar li").length > 600);
  const times = [];
  for (let i = 0; i < 5; i++) {
    await v.page.locator(".cm-content").click();
    const response = v.page.waitForResponse((r) => r.url().endsWith("/api/analyse"));
    await v.page.keyboard.insertText(" ");
    const timing = (await response).request().timing();
    await (await response).finished();
    times.push(timing.responseEnd > 0 ? timing.responseEnd : timing.responseStart);
  }
  console.log(`      diagnostics took ${times.map((t) => t.toFixed(0)).join(", ")} ms`);
});

journey("the page paints soon", async (v) => {
  await v.open("toggle.fair");
  await v.page.locator(".property").first().waitFor();
  const paint = await v.page.evaluate(() => performance.getEntriesByType("paint").map((entry) => `${entry.name} ${entry.startTime.toFixed(0)} ms`).join(", "));
  console.log(`      ${paint}`);
  assert.match(paint, /first-contentful-paint/);
});

journey("everything together is small", async () => {
  const web = join(here, "../web");
  const files = readdirSync(web).filter((name) => /\.(js|css|html|svg)$/.test(name)).map((name) => join(web, name));
  const vendor = readFileSync(join(web, "vendor/vendor.js.gz")).length;
  const total = files.reduce((sum, file) => sum + gzipSync(readFileSync(file), { level: 9 }).length, vendor);
  console.log(`      ${(total / 1000).toFixed(1)} kB gzipped`);
  assert.ok(total <= 250_000, `${total} bytes`);
});

const wanted = process.argv[2] ?? "";
const chosen = journeys.filter(({ name }) => name.includes(wanted));
const folder = makeFolder(FILES);
const studio = await startStudio(folder);
const browser = await startBrowser();
const failed = [];
for (const { name, go, size } of chosen) {
  const context = await browser.newContext({ viewport: size, acceptDownloads: true, colorScheme: "light" });
  const page = await context.newPage();
  const visit = new Visit(page, studio, folder);
  const began = Date.now();
  try {
    await go(visit);
    assert.deepEqual(visit.errors, [], "errors on the page");
    console.log(`ok    ${name} (${Date.now() - began} ms)`);
  } catch (error) {
    failed.push(name);
    console.log(`FAIL  ${name}\n${String(error.stack ?? error).split("\n").slice(0, 12).join("\n")}\n${visit.errors.join("\n")}`);
    mkdirSync(join(here, "out"), { recursive: true });
    await page.screenshot({ path: join(here, "out", `${name.replace(/\W+/g, "_")}.png`) }).catch(() => {});
  }
  await context.close();
}
await browser.close();
studio.stop();
removeFolder(folder);
console.log(`${chosen.length - failed.length} of ${chosen.length} journeys ended well`);
process.exit(failed.length > 0 || chosen.length === 0 ? 1 : 0);
