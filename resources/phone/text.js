// A message's text and entities as elements. Offsets are UTF-16 units, which is what JavaScript strings count.

import { h, icon, toast } from "./dom.js";
import { t } from "./words.js";

const TAGS = { bold: "b", italic: "i", underline: "u", strikethrough: "s", code: "code" };
const BLOCKS = new Set(["pre", "blockquote", "expandable_blockquote"]);
const PLAIN = /(https?:\/\/[^\s<>"]+[^\s<>".,;:!?)\]}'])|((?<![\w/])\/[a-z][a-z0-9_]{0,31}\b(?!\/))|((?<![\w@])@[a-zA-Z]\w{4,31})/g;

export function renderText(text, entities, { onCommand } = {}) {
  const ordered = [...entities].sort((a, b) => a.offset - b.offset || b.length - a.length);
  const body = h("div", { class: "text", dir: "auto" });
  body.append(...pieces(text, 0, text.length, ordered, onCommand, false));
  return body;
}

function pieces(text, start, end, entities, onCommand, isBare) {
  const out = [];
  let at = start;
  let afterBlock = false;
  for (let index = 0; index < entities.length; index += 1) {
    const entity = entities[index];
    const from = Math.max(entity.offset, at);
    const to = Math.min(entity.offset + entity.length, end);
    if (to <= from) continue;
    const inner = [];
    while (index + 1 < entities.length && entities[index + 1].offset < to) inner.push(entities[(index += 1)]);
    const isBlock = BLOCKS.has(entity.type);
    out.push(...plain(text.slice(at, from), onCommand, isBare, afterBlock, isBlock));
    const nested = pieces(text, from, to, inner, onCommand, isBare || entity.type === "code" || entity.type === "pre" || entity.type === "text_link");
    out.push(element(entity, nested, text.slice(from, to), onCommand));
    at = to;
    afterBlock = isBlock;
  }
  out.push(...plain(text.slice(at, end), onCommand, isBare, afterBlock, false));
  return out;
}

// A block stands on its own lines: the line break beside it is not shown twice.
function plain(text, onCommand, isBare, afterBlock, beforeBlock) {
  if (afterBlock && text.startsWith("\n")) text = text.slice(1);
  if (beforeBlock && text.endsWith("\n")) text = text.slice(0, -1);
  if (!text) return [];
  if (isBare) return [text];
  const out = [];
  let at = 0;
  for (const found of text.matchAll(PLAIN)) {
    if (found.index > at) out.push(text.slice(at, found.index));
    out.push(automatic(found, onCommand));
    at = found.index + found[0].length;
  }
  if (at < text.length) out.push(text.slice(at));
  return out;
}

function automatic([whole, url, command], onCommand) {
  if (url) return link(url, [whole]);
  if (command && onCommand) return commandLink(() => onCommand(whole), [whole]);
  return h("span", { class: "mention" }, whole);
}

// Not a button element: lines would break between it and the full stop that follows.
function commandLink(run, children) {
  const onkeydown = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); run(); } };
  return h("span", { class: "inline-link", role: "button", tabindex: "0", onclick: run, onkeydown }, ...children);
}

function link(url, children) {
  const isSafe = /^(https?|tg):/i.test(url);
  return h("a", { href: isSafe ? url : null, target: "_blank", rel: "noopener noreferrer", title: url }, ...children);
}

function element(entity, children, raw, onCommand) {
  switch (entity.type) {
    case "text_link": return link(entity.url, children);
    case "url": return link(raw, children);
    case "pre": return codeBlock(entity, children, raw);
    case "blockquote": return h("blockquote", {}, ...children);
    case "expandable_blockquote": return expandable(children);
    case "spoiler": return spoiler(children);
    case "code": {
      const code = h("code", { title: t("copy"), onclick: () => copy(raw) }, ...children);
      return code;
    }
    case "bot_command": return onCommand
      ? commandLink(() => onCommand(raw), children)
      : h("span", { class: "mention" }, ...children);
    case "text_mention": case "mention": return h("span", { class: "mention" }, ...children);
    default: return h(TAGS[entity.type] ?? "span", {}, ...children);
  }
}

export async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast(t("copied"));
  } catch {
    toast(t("noAnswer"));
  }
}

function codeBlock(entity, children, raw) {
  return h("div", { class: entity.language ? "pre" : "pre bare" },
    h("div", { class: "pre-head" }, h("span", {}, entity.language ?? ""),
      h("button", { type: "button", "aria-label": t("copy"), title: t("copy"), onclick: () => copy(raw) }, icon("copy", 16))),
    h("pre", {}, h("code", {}, ...children)));
}

function expandable(children) {
  const quote = h("blockquote", { class: "expandable" }, h("div", { class: "quote-body" }, ...children));
  const more = h("button", { type: "button", class: "quote-more", "aria-expanded": "false", "aria-label": t("expand"), title: t("expand") }, icon("down", 18));
  const toggle = () => {
    const isOpen = quote.classList.toggle("open");
    more.setAttribute("aria-expanded", String(isOpen));
  };
  more.addEventListener("click", (event) => { event.stopPropagation(); toggle(); });
  quote.addEventListener("click", () => { if (!getSelection().toString()) toggle(); });
  quote.append(more);
  requestAnimationFrame(() => {
    const body = quote.firstChild;
    if (body.scrollHeight <= body.clientHeight + 2) quote.classList.add("short");
  });
  return quote;
}

function spoiler(children) {
  const hidden = h("span", { class: "spoiler", role: "button", tabindex: "0", "aria-label": t("spoiler") }, ...children);
  const show = () => hidden.classList.add("shown");
  hidden.addEventListener("click", show);
  hidden.addEventListener("keydown", (event) => { if (event.key === "Enter") show(); });
  return hidden;
}
