// One message, or an album, as a bubble with everything on it.

import { ask, h, icon, openMenu, toast } from "./dom.js";
import { act, state } from "./store.js";
import { copy, renderText } from "./text.js";
import { clockTime, fileSize, t } from "./words.js";

const REACTIONS = ["👍", "👎", "❤", "🔥", "🎉", "👀", "🤔"];
const COLORS = ["#e17076", "#7bc862", "#65aadd", "#a695e7", "#ee7aae", "#6ec9cb", "#faa774"];

// Telegram names the heart without the sign that makes it a picture.
const drawn = (emoji) => (emoji === "❤" ? "❤\ufe0f" : emoji);

export const colorOf = (id) => COLORS[Math.abs(id) % COLORS.length];

export function avatar(person) {
  const letters = person.name.split(" ").map((word) => word[0] ?? "").slice(0, 2).join("");
  const picture = h("div", { class: "avatar", style: `background:${colorOf(person.id)}`, "aria-hidden": "true" });
  picture.append(person.bot ? icon("code", 20) : letters.toUpperCase());
  return picture;
}

export function previewOf(message) {
  if (message.service) return serviceText(message);
  const text = message.text.replace(/\s+/g, " ").trim();
  if (message.file) return `${fileTitle(message.file)}${text ? ", " + text : ""}`;
  return text || message.other;
}

// What has no name of its own on a phone is called by its kind.
function fileTitle(file) {
  return ["photo", "voice"].includes(file.kind) ? t(file.kind) : file.name;
}

export function serviceText(message) {
  const { kind, name } = message.service;
  const who = message.from.name;
  const known = {
    forum_topic_created: "created", forum_topic_edited: "renamed", forum_topic_closed: "closedBy",
    forum_topic_reopened: "reopenedBy", pinned_message: "pinned",
  }[kind];
  return known ? t(known, { name: who, topic: name }) : t("happened", { name: who, kind: kind.replaceAll("_", " ") });
}

// `row` is {messages, isFirst, isLast}: isFirst shows the name, isLast the tail and the picture of the sender.
export function renderRow(row, actions) {
  const [first] = row.messages;
  if (first.service) return h("div", { class: "row service", "data-id": first.id }, h("span", {}, serviceText(first)));
  const isMine = first.from.id === state.me.id;
  const bubble = h("div", { class: `bubble${row.isLast ? " tail" : ""}` });
  const head = !isMine && row.isFirst
    ? h("div", { class: "name", style: `--person:${colorOf(first.from.id)}` }, first.anonymous ? state.chat.title : first.from.name)
    : null;
  if (head) bubble.append(head);
  if (first.reply) bubble.append(replyHead(first.reply, actions));
  const pictures = row.messages.filter((message) => message.file?.kind === "photo");
  if (pictures.length) {
    bubble.append(gallery(pictures));
    bubble.classList.add("with-picture");
  }
  for (const message of row.messages) {
    if (message.file && message.file.kind !== "photo") bubble.append(fileRow(message.file));
  }
  const captioned = row.messages.find((message) => message.text) ?? first;
  const meta = metaOf(row.messages.at(-1), isMine);
  if (captioned.text) {
    const text = renderText(captioned.text, captioned.entities, { onCommand: actions.onCommand });
    text.append(meta);
    bubble.append(text);
  } else {
    if (first.other) bubble.append(h("div", { class: "text" }, `[${first.other}]`));
    bubble.classList.add("no-text");
    bubble.append(meta);
  }
  if (first.reactions.length) bubble.append(reactionBar(first));
  const body = h("div", { class: "body" }, bubble, first.keyboard.length ? keyboard(first) : null);
  const line = h("div", {
    class: `row ${isMine ? "out" : "in"}${row.isLast ? " last" : ""}`, "data-id": first.id, role: "article", tabindex: "-1",
    "aria-label": `${first.from.name}, ${clockTime(first.date)}`,
  });
  if (!isMine) line.append(row.isLast ? avatar(first.from) : h("div", { class: "avatar-space" }));
  line.append(body);
  bubble.addEventListener("contextmenu", (event) => {
    event.preventDefault();
    messageMenu(first, event.clientX, event.clientY, actions);
  });
  longPress(bubble, (x, y) => messageMenu(first, x, y, actions));
  bubble.addEventListener("dblclick", () => actions.reply(first));
  line.openMenu = () => {
    const box = bubble.getBoundingClientRect();
    messageMenu(first, box.left + 20, Math.min(box.bottom, innerHeight - 40), actions);
  };
  const more = h("button", { type: "button", class: "more", tabindex: "-1", "aria-label": t("more"), title: t("more") }, icon("down", 18));
  more.addEventListener("click", (event) => messageMenu(first, event.clientX, event.clientY, actions));
  bubble.append(more);
  return line;
}

// Where a long touch brings no context menu by itself.
function longPress(element, run) {
  let timer = 0;
  const stop = () => clearTimeout(timer);
  element.addEventListener("touchstart", ({ touches: [touch] }) => {
    stop();
    timer = setTimeout(() => { if (!document.querySelector(".menu")) run(touch.clientX, touch.clientY); }, 550);
  }, { passive: true });
  for (const name of ["touchend", "touchmove", "touchcancel", "contextmenu"]) element.addEventListener(name, stop, { passive: true });
}

function metaOf(message, isMine) {
  const meta = h("span", { class: "meta" });
  if (message.edited) meta.append(t("edited"), " ");
  meta.append(h("time", { datetime: new Date(message.date * 1000).toISOString() }, clockTime(message.date)));
  if (message.from.bot && !message.edited) {
    const rings = !message.silent;
    meta.append(h("span", { class: rings ? "rings" : "quiet", title: t(rings ? "rings" : "silent"), role: "img", "aria-label": t(rings ? "rings" : "silent") }, icon(rings ? "bell" : "silent", 13)));
  } else if (isMine) meta.append(h("span", { class: "ticks" }, icon("ticks", 16)));
  return meta;
}

function replyHead(reply, actions) {
  return h("button", { type: "button", class: "reply-head", onclick: () => { if (reply.name) actions.jump(reply.id); } },
    h("b", {}, reply.name || t("deleted")), h("span", {}, reply.text));
}

function gallery(pictures) {
  const box = h("div", { class: `gallery n${Math.min(pictures.length, 4)}` });
  for (const { file } of pictures) {
    const image = h("img", { src: `file/${file.id}`, alt: file.name, loading: "lazy", width: file.width || null, height: file.height || null });
    box.append(h("button", { type: "button", class: "picture", "aria-label": t("openPicture"), onclick: () => lightbox(file) }, image));
  }
  return box;
}

function lightbox(file) {
  const dialog = h("dialog", { class: "lightbox", "aria-label": file.name });
  dialog.append(h("img", { src: `file/${file.id}`, alt: file.name }));
  dialog.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

function fileRow(file) {
  return h("a", { class: "file", href: `file/${file.id}`, download: file.name, "aria-label": t("download", { name: file.name }) },
    h("span", { class: "file-icon" }, icon("file", 24)),
    h("span", { class: "file-text" }, h("b", {}, fileTitle(file)), h("span", {}, fileSize(file.size))));
}

function reactionBar(message) {
  const bar = h("div", { class: "reactions" });
  for (const { emoji, by } of message.reactions) {
    const isMine = by.includes(state.me.id);
    bar.append(h("button", {
      type: "button", class: isMine ? "mine" : "", "aria-pressed": String(isMine),
      onclick: () => react(message, emoji),
    }, drawn(emoji), by.length > 1 ? ` ${by.length}` : ""));
  }
  return bar;
}

async function react(message, emoji) {
  await act("react", { message: message.id, emoji }).catch((error) => toast(error.message));
}

// --- buttons under a message ---------------------------------------------------------------------------------------

const waiting = new Set();

function keyboard(message) {
  const box = h("div", { class: "keys", role: "group" });
  for (const keys of message.keyboard) {
    box.append(h("div", { class: "keys-row" }, keys.map((key) => keyButton(message, key))));
  }
  return box;
}

function keyButton(message, key) {
  const name = `${message.id}/${key.callback_data ?? key.text}`;
  const style = ["danger", "success", "primary"].includes(key.style) ? ` ${key.style}` : "";
  const button = h("button", { type: "button", class: `key${style}`, title: key.text }, h("span", {}, key.text));
  if (key.url) button.append(h("i", { class: "corner" }, icon("link", 12)));
  if (waiting.has(name)) button.classList.add("waiting");
  button.addEventListener("click", async () => {
    if (key.url) { open(key.url, "_blank", "noopener,noreferrer"); return; }
    if (key.copy_text) { copy(key.copy_text.text); return; }
    if (waiting.has(name)) return;
    waiting.add(name);
    button.classList.add("waiting");
    try {
      await shown(await act("press", { message: message.id, data: key.callback_data }));
    } catch (error) {
      toast(error.message);
    } finally {
      waiting.delete(name);
      for (const one of document.querySelectorAll(`[data-id="${message.id}"] .key.waiting`)) one.classList.remove("waiting");
    }
  });
  return button;
}

async function shown({ answered, toast: text, alert }) {
  if (!answered) toast(t("noAnswer"));
  else if (text && alert) await ask({ title: state.bot.name, text, ok: "OK" });
  else if (text) toast(text);
}

// --- what can be done with a message -----------------------------------------------------------------------------

export function messageMenu(message, x, y, actions) {
  const isMine = message.from.id === state.me.id;
  const head = (close) => h("div", { class: "menu-reactions" }, REACTIONS.map((emoji) =>
    h("button", { type: "button", "aria-label": emoji, onclick: () => { close(); react(message, emoji); } }, drawn(emoji))));
  openMenu(x, y, [
    { icon: "reply", label: t("reply"), run: () => actions.reply(message) },
    message.text && { icon: "copy", label: t("copy"), run: () => copy(message.text) },
    isMine && message.text && { icon: "pencil", label: t("edit"), run: () => actions.edit(message) },
    isMine && { icon: "trash", label: t("delete"), danger: true, run: () => act("delete", { message: message.id }).catch((error) => toast(error.message)) },
  ], { head });
}
