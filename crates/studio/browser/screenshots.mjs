// Takes the pictures of docs/images/ again: `FAIR=… node screenshots.mjs [FOLDER]`.

import { mkdirSync } from "node:fs";
import { example, join, makeFolder, removeFolder, root, startBrowser, startStudio } from "./stage.mjs";

const folder = makeFolder({
  "elevator.fair": example("studio/elevator.fair"), "peterson.fair": example("peterson.fair"),
  "philosophers_table.fair": example("studio/philosophers_table.fair"), "token_ring.fair": example("studio/token_ring.fair"),
});
const images = process.argv[2] ?? join(root, "docs/images");
mkdirSync(images, { recursive: true });
const studio = await startStudio(folder);
const browser = await startBrowser();

/** Goes to a file in a fresh window, and keeps what is seen in the end. */
async function picture(name, file, go, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1120, height: 660 }, colorScheme: "light", ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60000);
  const view = (title) => page.getByRole("navigation").getByRole("button", { name: title, exact: true }).click();
  const verify = async () => {
    await page.getByTestId("verify").click();
    await page.waitForFunction(() => document.querySelector(".verdict.holds, .verdict.violated") && !document.querySelector('[data-testid="progress"]'));
  };
  await page.goto(`${studio.origin}/#token=${studio.token}&file=${file}`);
  await page.locator(".property").first().waitFor();
  await go({ page, view, verify });
  await page.waitForTimeout(600);
  await page.screenshot({ path: join(images, name) });
  await context.close();
  console.log(name);
}

await picture("studio-model.png", "elevator.fair", async ({ page, verify }) => {
  await verify();
  await page.getByTestId("fairness").selectOption("all");
  await page.getByTestId("verify").click();
  await page.waitForFunction(() => document.querySelectorAll('[data-testid="notions"] button').length === 18);
});

await picture("studio-trace.png", "elevator.fair", async ({ page, verify }) => {
  await verify();
  await page.locator('[data-property="served"]').getByRole("button", { name: /Show the/ }).click();
  await page.getByTestId("timeline").waitFor();
  await page.locator("h2").first().click();
  for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowRight");
  await page.getByTestId("full").check();
  await page.getByTestId("picture").waitFor();
});

await picture("studio-simulate.png", "philosophers_table.fair", async ({ page, view }) => {
  await view("Simulate");
  await page.getByTestId("sim-fairness").selectOption("strong");
  for (const [i, name] of ["Philosopher[0].take_left", "Philosopher[2].take_left", "Philosopher[0].take_right"].entries()) {
    await page.getByRole("button", { name, exact: true }).first().click();
    await page.waitForFunction((n) => document.querySelector('[data-testid="goto"]').value === String(n), i + 1);
  }
});

await picture("studio-graph.png", "philosophers_table.fair", async ({ page, view, verify }) => {
  await page.getByTestId("defines").fill("N=2");
  await page.getByTestId("defines").press("Enter");
  await page.waitForFunction(() => /define=N/.test(location.hash));
  await verify();
  await page.locator('[data-property="deadlockfree"]').getByRole("button", { name: /Show the/ }).click();
  await page.getByTestId("timeline").waitFor();
  await view("Graph");
  await page.getByTestId("graph").waitFor();
}, { colorScheme: "dark" });

await browser.close();
studio.stop();
removeFolder(folder);
