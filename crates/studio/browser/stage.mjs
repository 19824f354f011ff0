// A studio on a folder of its own, and a browser that looks at it.

import { spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, writeFileSync, readFileSync, rmSync, cpSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

export const here = dirname(fileURLToPath(import.meta.url));
export const root = join(here, "../../..");
const fair = process.env.FAIR ?? join(root, "target/release/fair");

/** A folder with models. */
export function makeFolder(files) {
  const folder = mkdtempSync(join(tmpdir(), "fair-journeys-"));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return folder;
}

export const example = (name) => readFileSync(join(root, "examples", name), "utf8");

/** Starts the studio; `url` is what it prints. */
export async function startStudio(folder, ...options) {
  const process = spawn(fair, ["studio", folder, ...options], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((resolve, reject) => {
    let out = "";
    process.stdout.on("data", (data) => {
      out += data;
      if (out.includes("\n")) resolve(out.split("\n")[0]);
    });
    process.on("error", reject);
    process.on("exit", (code) => reject(new Error(`fair studio ended with ${code}`)));
  });
  return { url, origin: new URL(url).origin, token: url.split("token=")[1], stop: () => process.kill("SIGKILL") };
}

export async function startBrowser() {
  const path = process.env.CHROMIUM ?? "/usr/bin/chromium";
  return chromium.launch({ executablePath: path, args: ["--no-sandbox", "--disable-gpu"] });
}

export function removeFolder(folder) {
  rmSync(folder, { recursive: true, force: true });
}

export { cpSync, writeFileSync, readFileSync, join };
