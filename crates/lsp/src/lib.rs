//! The language server: what editors ask about models, answered by the library [`fairground`].
//!
//! Texts are analysed whenever they change, with errors in them or not ([`fairground::analyse`]).
//! Searches run in threads of their own, within a budget, and end when their text changes; their
//! verdicts become diagnostics and hints. This crate decides nothing: it translates between the
//! protocol and the library.
//!
//! Messages are values of JSON that are read and written where they are needed: the protocol has
//! far more types than a server uses, and the answers are compared with the protocol by a client in
//! the tests.

mod answers;
mod checks;
mod completion;
mod document;
mod lenses;
mod rename;
mod structure;

use std::collections::BTreeMap;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use fairground::Memory;
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, Response};
use serde_json::{Value as Json, json};

use checks::Checks;
use document::Document;

/// How much a search in the background may need.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// States of the product of system and property.
    pub max_states: u64,
    /// Bytes.
    pub max_memory: u64,
    /// How long one question may take.
    pub timeout: Duration,
}

/// Serves an editor on standard input and output until it says that it is done.
///
/// # Errors
/// The connection breaks, or the editor does not follow the protocol.
pub fn run(settings: Settings) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (connection, threads) = Connection::stdio();
    serve(&connection, settings)?;
    drop(connection);
    threads.join()?;
    Ok(())
}

/// Serves an editor at the other end of a connection until it says that it is done.
///
/// # Errors
/// The connection breaks, or the editor does not follow the protocol.
pub fn serve(
    connection: &Connection,
    settings: Settings,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let (id, parameters) = connection.initialize_start()?;
    let shows_progress = parameters["capabilities"]["window"]["workDoneProgress"] == true;
    connection.initialize_finish(id, capabilities())?;

    let sender = connection.sender.clone();
    // An editor that is gone needs no messages.
    let outbox = Box::new(move |message| drop(sender.send(message)));
    let mut server = Server {
        documents: BTreeMap::new(),
        checks: Checks::new(outbox, settings, shows_progress),
    };
    for message in &connection.receiver {
        match message {
            Message::Request(request) => {
                if connection.handle_shutdown(&request)? {
                    break;
                }
                let response = server.answer(request);
                connection.sender.send(Message::Response(response))?;
            }
            Message::Notification(notification) => server.note(&notification),
            Message::Response(_) => {}
        }
    }
    server.checks.stop_all();
    Ok(())
}

/// What this server can do.
fn capabilities() -> Json {
    json!({
        "capabilities": {
            "positionEncoding": "utf-16",
            "textDocumentSync": 1,
            "hoverProvider": true,
            "definitionProvider": true,
            "referencesProvider": true,
            "documentHighlightProvider": true,
            "renameProvider": { "prepareProvider": true },
            "documentSymbolProvider": true,
            "workspaceSymbolProvider": true,
            "completionProvider": { "triggerCharacters": [".", "@", ">"] },
            "semanticTokensProvider": {
                "legend": { "tokenTypes": structure::TOKEN_TYPES, "tokenModifiers": ["declaration"] },
                "full": true,
            },
            "foldingRangeProvider": true,
            "selectionRangeProvider": true,
            "signatureHelpProvider": { "triggerCharacters": ["(", ","] },
            "documentFormattingProvider": true,
            "inlayHintProvider": true,
            "codeLensProvider": { "resolveProvider": false },
            "codeActionProvider": { "codeActionKinds": ["quickfix"] },
            "executeCommandProvider": { "commands": lenses::COMMANDS },
        },
        "serverInfo": { "name": "fair", "version": env!("CARGO_PKG_VERSION") },
    })
}

/// Why a request has no answer.
pub(crate) struct Refusal(pub(crate) String);

/// What a request is answered with.
pub(crate) type Answer = Result<Json, Refusal>;

/// The texts that an editor has open, and the searches that run for it.
pub(crate) struct Server {
    pub(crate) documents: BTreeMap<String, Arc<Document>>,
    pub(crate) checks: Checks,
}

impl Server {
    fn answer(&mut self, request: Request) -> Response {
        let Request { id, method, params } = request;
        // A bug in one answer must not take the editor's server away.
        let answer = catch_unwind(AssertUnwindSafe(|| self.answer_to(&method, &params)));
        match answer {
            Ok(Some(Ok(result))) => Response::new_ok(id, result),
            Ok(Some(Err(Refusal(why)))) => {
                Response::new_err(id, ErrorCode::RequestFailed as i32, why)
            }
            Ok(None) => {
                let message = format!("`{method}` is not supported");
                Response::new_err(id, ErrorCode::MethodNotFound as i32, message)
            }
            Err(_) => {
                let message = "this is a bug in fair; please report it".to_owned();
                Response::new_err(id, ErrorCode::InternalError as i32, message)
            }
        }
    }

    fn answer_to(&mut self, method: &str, params: &Json) -> Option<Answer> {
        match method {
            "workspace/symbol" => return Some(Ok(self.workspace_symbols(params))),
            "workspace/executeCommand" => return Some(self.execute(params)),
            _ => {}
        }
        let uri = params["textDocument"]["uri"].as_str().unwrap_or("");
        let at = &params["position"];
        let document = self.documents.get(uri);
        let with = |answer: fn(&Document, &Json) -> Json, parameter: &Json| {
            Ok(document.map_or(Json::Null, |document| answer(document, parameter)))
        };

        Some(match method {
            "textDocument/hover" => with(answers::hover, at),
            "textDocument/definition" => with(answers::definition, at),
            "textDocument/references" => with(answers::references, params),
            "textDocument/documentHighlight" => with(answers::highlights, at),
            "textDocument/documentSymbol" => with(structure::symbols, params),
            "textDocument/completion" => with(completion::complete, at),
            "textDocument/signatureHelp" => with(completion::signature, at),
            "textDocument/semanticTokens/full" => with(structure::semantic_tokens, params),
            "textDocument/foldingRange" => with(structure::folding, params),
            "textDocument/selectionRange" => with(structure::selections, params),
            "textDocument/formatting" => with(answers::formatting, params),
            "textDocument/prepareRename" => {
                document.map_or(Ok(Json::Null), |d| rename::prepare(d, at))
            }
            "textDocument/rename" => document.map_or(Ok(Json::Null), |d| {
                let open = self.documents.values().map(Arc::as_ref);
                let importers: Vec<&Document> = open.filter(|o| o.includes(&d.path)).collect();
                rename::rename(d, &importers, params)
            }),
            "textDocument/inlayHint" => {
                Ok(document.map_or(Json::Null, |d| lenses::hints(d, &self.checks)))
            }
            "textDocument/codeLens" => {
                Ok(document.map_or(Json::Null, |d| lenses::lenses(d, &self.checks)))
            }
            "textDocument/codeAction" => {
                Ok(document.map_or(Json::Null, |d| lenses::actions(d, &self.checks, params)))
            }
            _ => return None,
        })
    }

    fn execute(&mut self, params: &Json) -> Answer {
        let arguments = &params["arguments"];
        let uri = arguments[0].as_str().unwrap_or("");
        let Some(document) = self.documents.get(uri) else {
            return Err(Refusal(format!("`{uri}` is not open")));
        };
        lenses::execute(document, &mut self.checks, params)
    }

    fn note(&mut self, notification: &Notification) {
        let params = &notification.params;
        let document = &params["textDocument"];
        let uri = document["uri"].as_str().unwrap_or("");
        match notification.method.as_str() {
            "textDocument/didOpen" => {
                let text = document["text"].as_str().unwrap_or("");
                self.set_text(uri, text, document["version"].clone());
            }
            "textDocument/didChange" => {
                // The whole text is sent: that is what this server asks for.
                let changes = params["contentChanges"].as_array();
                let last = changes.and_then(|changes| changes.last());
                let text = last.and_then(|change| change["text"].as_str());
                self.set_text(uri, text.unwrap_or(""), document["version"].clone());
            }
            "textDocument/didClose" => {
                self.checks.forget(uri);
                self.documents.remove(uri);
                self.checks.publish(uri, &Json::Null, Vec::new());
            }
            _ => {}
        }
    }

    fn set_text(&mut self, uri: &str, text: &str, version: Json) {
        self.analyse(uri, text, version);

        // What is known about texts that include this one may change.
        let path = document::path_of(uri);
        let including = self.documents.values().filter(|d| d.includes(&path));
        for document in including.cloned().collect::<Vec<_>>() {
            let version = document.version.clone();
            self.analyse(&document.uri, &document.text, version);
        }
    }

    fn analyse(&mut self, uri: &str, text: &str, version: Json) {
        self.checks.forget(uri);
        self.documents.remove(uri);
        let others = self.documents.values();
        let open = Memory::new(others.map(|d| (d.path.clone(), d.text.clone())));
        let made = catch_unwind(AssertUnwindSafe(|| {
            Document::new(uri, text.to_owned(), version, open)
        }));
        let Ok(document) = made else {
            return;
        };
        self.checks
            .publish(uri, &document.version, document.diagnostics());
        self.documents.insert(uri.to_owned(), Arc::new(document));
    }

    fn workspace_symbols(&self, params: &Json) -> Json {
        let query = params["query"].as_str().unwrap_or("").to_lowercase();
        let mut found = Vec::new();
        for document in self.documents.values() {
            found.extend(structure::matching(document, &query));
        }
        json!(found)
    }
}
