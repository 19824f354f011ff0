-- What Neovim makes of `fair lsp`, headless: see run.sh.

local function fail(what)
  io.stderr:write("neovim: " .. what .. "\n")
  vim.cmd("cquit")
end

local function wait(what, is_done)
  if not vim.wait(20000, is_done, 50) then
    fail(what .. ": nothing after 20 s")
  end
end

-- Puts the cursor at a text; the line.
local function go_to(text)
  vim.fn.cursor(1, 1)
  local line = vim.fn.search("\\V" .. text, "cW")
  if line == 0 then
    fail("`" .. text .. "` is not there")
  end
  return line
end

local function ask(client, method)
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  local answer = client:request_sync(method, params, 20000, 0)
  if not answer or answer.err or not answer.result then
    fail(method .. ": " .. vim.inspect(answer))
  end
  return answer.result
end

local function try(trial)
  vim.cmd.edit(vim.env.TRIAL .. "/" .. trial.file)
  if vim.bo.filetype ~= trial.filetype then
    fail(trial.file .. " has the type `" .. vim.bo.filetype .. "`")
  end
  wait(trial.file .. ": the server", function()
    local client = vim.lsp.get_clients({ bufnr = 0 })[1]
    return client and client.initialized
  end)
  local client = vim.lsp.get_clients({ bufnr = 0 })[1]

  local declared = go_to(trial.declared)
  go_to(trial.used)
  local hover = vim.inspect(ask(client, "textDocument/hover"))
  if not hover:find(trial.hover, 1, true) then
    fail(trial.file .. ": hovering says " .. hover)
  end
  vim.lsp.buf.definition()
  wait(trial.file .. ": definition", function() return vim.fn.line(".") == declared end)

  vim.lsp.buf.rename("renamed")
  wait(trial.file .. ": renaming", function() return vim.fn.search(trial.renamed, "nw") > 0 end)
  if trial.filetype == "fair" then
    vim.fn.append(declared, "var spaced:0..1=0")
    vim.lsp.buf.format({ timeout_ms = 20000 })
    go_to("var spaced : 0..1 = 0")
  end

  vim.fn.append(vim.fn.line("$"), "?")
  wait(trial.file .. ": diagnostics", function()
    return #vim.diagnostic.get(0, { severity = vim.diagnostic.severity.ERROR }) > 0
  end)
  print(trial.file .. ": hover, definition, renaming, diagnostics\n")
end

try({ file = "toggle.fair", filetype = "fair", declared = "var x", used = "x == 1",
  hover = "0..1", renamed = "var renamed : 0..1" })
try({ file = "alternating_bit.pml", filetype = "promela", declared = "byte sent, received",
  used = "received == sent", hover = "byte", renamed = "byte sent, renamed;" })
try({ file = "milner.csp", filetype = "csp", declared = "Ready(i) =", used = "Ready(i);",
  hover = "process Ready(i)", renamed = "renamed(i) = a.i" })
vim.cmd("qall!")
