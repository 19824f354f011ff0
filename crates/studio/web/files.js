// The files of the folder as a tree.

import { html, state } from "/store.js";

/** Folders with their files, in the order of their names. */
function grow(paths) {
  const root = { folders: new Map(), files: [] };
  for (const path of paths) {
    const parts = path.split("/");
    let node = root;
    for (const part of parts.slice(0, -1)) {
      if (!node.folders.has(part)) node.folders.set(part, { folders: new Map(), files: [] });
      node = node.folders.get(part);
    }
    node.files.push([parts.at(-1), path]);
  }
  return root;
}

function Folder({ node, prefix, open }) {
  return html`<ul class="plain files">${[...node.folders].map(([name, inner]) => html`<li key=${name + "/"}>
      <details open=${state.path.startsWith(`${prefix}${name}/`) || state.files.length <= 40}><summary>${name}</summary><${Folder} node=${inner} prefix=${`${prefix}${name}/`} open=${open} /></details></li>`)}
    ${node.files.map(([name, path]) => html`<li key=${path}><button class="link ${path === state.path ? "current" : ""}" title=${path} onClick=${() => open(path)}>${name}</button></li>`)}</ul>`;
}

export function FileTree({ open }) {
  return html`<${Folder} node=${grow(state.files)} prefix="" open=${open} />`;
}
