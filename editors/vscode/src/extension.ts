// Starts `fair lsp`, and shows what an editor cannot show by itself: explanations and the studio.

import * as vscode from "vscode";
import { ChildProcess, spawn } from "node:child_process";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

let client: LanguageClient | undefined;
let studio: ChildProcess | undefined;

const settings = () => vscode.workspace.getConfiguration("fairground");
const program = () => settings().get<string>("path", "fair");

/** Texts that are shown beside a model: explanations of verdicts. */
class Explanations implements vscode.TextDocumentContentProvider {
  private readonly texts = new Map<string, string>();

  async show(property: string, text: string): Promise<void> {
    const uri = vscode.Uri.parse(`fair-explanation:${encodeURIComponent(property)}-${Date.now()}.txt`);
    this.texts.set(uri.path, text);
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.path) ?? "";
  }
}

async function start(explanations: Explanations): Promise<void> {
  const args = ["lsp", "--timeout", settings().get<string>("timeout", "60s")];
  args.push("--max-states", String(settings().get<number>("maxStates", 5000000)));
  const server: ServerOptions = { command: program(), args };
  const options: LanguageClientOptions = {
    documentSelector: ["fair", "promela", "csp"].map((language) => ({ scheme: "file", language })),
    middleware: {
      // An explanation is the answer to a command; everything else comes as diagnostics and hints.
      executeCommand: async (command, args, next) => {
        const answer = await next(command, args);
        if (command === "fairground.explain" && typeof answer === "string") {
          await explanations.show(String(args[1]), answer);
        }
        return answer;
      },
    },
  };
  client = new LanguageClient("fairground", "Fairground", server, options);
  try {
    await client.start();
  } catch {
    void vscode.window.showErrorMessage(
      `Fairground: \`${program()}\` cannot be started. Install fair, or say where it is in the setting fairground.path.`,
    );
  }
}

/** Starts the studio for the file that is shown, in a panel beside it. */
function openStudio(): void {
  const file = vscode.window.activeTextEditor?.document.fileName;
  studio?.kill();
  studio = spawn(program(), file ? ["studio", file] : ["studio"]);
  studio.stdout?.once("data", (data: Buffer) => {
    const address = data.toString().trim().split("\n")[0];
    void vscode.commands.executeCommand("simpleBrowser.show", address);
  });
  studio.once("error", (error) => void vscode.window.showErrorMessage(`Fairground: ${error.message}`));
}

function checkTask(file: string): vscode.Task {
  const execution = new vscode.ShellExecution(program(), ["check", file]);
  const definition = { type: "fair", file };
  return new vscode.Task(definition, vscode.TaskScope.Workspace, `check ${file}`, "fair", execution, "$fair");
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const explanations = new Explanations();
  context.subscriptions.push(
    vscode.workspace.registerTextDocumentContentProvider("fair-explanation", explanations),
    vscode.commands.registerCommand("fairground.studio", openStudio),
    vscode.commands.registerCommand("fairground.restart", async () => {
      await client?.stop();
      await start(explanations);
    }),
    vscode.commands.registerCommand("fairground.checkFile", async () => {
      const file = vscode.window.activeTextEditor?.document.fileName;
      if (file) await vscode.tasks.executeTask(checkTask(file));
    }),
    vscode.tasks.registerTaskProvider("fair", {
      provideTasks: () => {
        const file = vscode.window.activeTextEditor?.document.fileName;
        return file && /\.(fair|pml|promela|prm|csp)$/.test(file) ? [checkTask(file)] : [];
      },
      resolveTask: (task) => checkTask(task.definition.file),
    }),
  );
  await start(explanations);
}

export async function deactivate(): Promise<void> {
  studio?.kill();
  await client?.stop();
}
