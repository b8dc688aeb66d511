// Writing: text, reply, edit, files, the menu of commands.

import { h, icon, iconButton, toast } from "./dom.js";
import { previewOf } from "./bubble.js";
import { act, state, upload } from "./store.js";
import { fileSize, t } from "./words.js";

const MOST_FILES = 10;
const drafts = new Map();

export class Composer {
  constructor(chat) {
    this.chat = chat;
    this.topicId = chat.topicId; // what is written here goes here, whichever topic is opened meanwhile
    this.target = null; // {kind: "reply" | "edit", message}
    this.files = [];
    this.chosen = -1;
    this.above = h("div", { class: "above" });
    this.list = h("div", { class: "command-list", role: "listbox", id: "command-list", hidden: true });
    this.input = h("textarea", {
      rows: 1, placeholder: t("message"), "aria-label": t("message"), enterkeyhint: "send", autocomplete: "off",
      "aria-controls": "command-list", dir: "auto",
    });
    this.picker = h("input", { type: "file", multiple: true, hidden: true, id: "file-picker" });
    this.sendButton = iconButton("send", t("send"), () => this.send(), { id: "send", class: "icon-button send" });
    this.bar = h("form", { class: "composer" },
      iconButton("clip", t("attach"), () => this.picker.click(), { id: "attach" }),
      this.input,
      h("button", { type: "button", class: "icon-button slash", "aria-label": t("commands"), title: t("commands"), onclick: () => this.slash() }, "/"),
      this.sendButton, this.picker);
    this.closed = h("div", { class: "closed-note", hidden: true }, t("closed"));
    this.element = h("footer", { class: "footer" }, this.list, this.above, this.bar, this.closed);
    this.input.value = this.draft;
    this.bar.addEventListener("submit", (event) => { event.preventDefault(); this.send(); });
    this.input.addEventListener("input", () => this.typed());
    this.input.addEventListener("keydown", (event) => this.keys(event));
    this.input.addEventListener("paste", (event) => this.add(event.clipboardData.files, event));
    this.picker.addEventListener("change", () => { this.add(this.picker.files); this.picker.value = ""; });
    chat.root.ondragover = (event) => event.preventDefault();
    chat.root.ondrop = (event) => { event.preventDefault(); this.add(event.dataTransfer.files); };
    this.refresh();
  }

  get draft() { return drafts.get(this.topicId) ?? ""; }

  focus() { this.input.focus({ preventScroll: true }); }

  refresh() {
    const isClosed = Boolean(this.chat.topic?.closed) && state.identity === "stranger";
    this.bar.hidden = isClosed;
    this.closed.hidden = !isClosed;
  }

  grow() {
    this.input.style.height = "auto";
    if (this.input.scrollHeight) this.input.style.height = `${Math.min(this.input.scrollHeight, 160)}px`;
    this.sendButton.classList.toggle("ready", Boolean(this.input.value.trim() || this.files.length));
  }

  typed() {
    if (this.target?.kind !== "edit") drafts.set(this.topicId, this.input.value);
    this.grow();
    this.suggest();
  }

  keys(event) {
    if (!this.list.hidden && ["ArrowUp", "ArrowDown", "Tab"].includes(event.key)) {
      event.preventDefault();
      const isUp = event.key === "ArrowUp" || event.shiftKey;
      this.choose(isUp ? (this.chosen < 0 ? -1 : this.chosen - 1) : this.chosen + 1);
      return;
    }
    if (event.key === "Escape") {
      if (!this.list.hidden) this.list.hidden = true;
      else this.forget();
    } else if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      if (!this.list.hidden && this.chosen >= 0) this.take(this.list.children[this.chosen].dataset.command);
      else this.send();
    } else if (event.key === "ArrowUp" && !this.input.value) {
      const mine = this.chat.topic.messages.findLast((one) => one.from.id === state.me.id && one.text);
      if (mine) { event.preventDefault(); this.edit(mine); }
    }
  }

  // --- commands ------------------------------------------------------------------------------------------------------

  slash() {
    if (!this.list.hidden) { this.list.hidden = true; return; }
    if (!this.input.value.startsWith("/")) this.input.value = "/";
    this.focus();
    this.typed();
  }

  suggest() {
    const found = /^\/(\w*)$/.exec(this.input.value);
    const fitting = found ? state.commands.filter((one) => one.command.startsWith(found[1].toLowerCase())) : [];
    this.list.hidden = !fitting.length;
    this.list.replaceChildren(...fitting.map((one) => h("button", {
      type: "button", role: "option", tabindex: "-1", "data-command": one.command, onclick: () => this.take(one.command),
    }, h("b", {}, `/${one.command}`), h("span", {}, one.description))));
    this.choose(null);
  }

  // The row at a place, counted round; null takes the mark away.
  choose(at) {
    const rows = [...this.list.children];
    this.chosen = rows.length && at !== null ? (at + rows.length) % rows.length : -1;
    rows.forEach((row, index) => row.setAttribute("aria-selected", String(index === this.chosen)));
    rows[this.chosen]?.scrollIntoView({ block: "nearest" });
  }

  async take(command) {
    this.list.hidden = true;
    this.input.value = `/${command}`;
    await this.send();
  }

  // --- reply, edit, files ------------------------------------------------------------------------------------------

  replyTo(message) {
    this.target = { kind: "reply", message };
    this.showAbove();
    this.focus();
  }

  edit(message) {
    this.target = { kind: "edit", message };
    this.input.value = message.text;
    this.showAbove();
    this.grow();
    this.focus();
  }

  forget() {
    if (this.target?.kind === "edit") this.input.value = this.draft;
    this.target = null;
    this.files = [];
    this.showAbove();
    this.grow();
  }

  add(list, event = null) {
    const fresh = [...list];
    if (!fresh.length) return;
    event?.preventDefault();
    if (this.files.length + fresh.length > MOST_FILES) toast(t("tooMany"));
    this.files = [...this.files, ...fresh].slice(0, MOST_FILES);
    this.showAbove();
    this.grow();
    this.focus();
  }

  showAbove() {
    const parts = [];
    if (this.target) {
      const { kind, message } = this.target;
      parts.push(h("div", { class: "target" }, icon(kind === "edit" ? "pencil" : "reply", 22),
        h("div", {}, h("b", {}, kind === "edit" ? t("editing") : message.from.name), h("span", {}, previewOf(message))),
        iconButton("close", t("cancel"), () => this.forget())));
    }
    if (this.files.length) {
      parts.push(h("div", { class: "picked" }, this.files.map((file, at) => h("span", { class: "chip" }, `${file.name} · ${fileSize(file.size)}`,
        h("button", { type: "button", "aria-label": `${t("delete")} ${file.name}`, onclick: () => { this.files.splice(at, 1); this.showAbove(); this.grow(); } }, icon("close", 16))))));
    }
    this.above.replaceChildren(...parts);
  }

  async send() {
    const draft = { text: this.input.value.trim(), files: this.files, target: this.target };
    if (!draft.text && !draft.files.length) return;
    const isEdit = draft.target?.kind === "edit";
    if (!isEdit) drafts.delete(this.topicId);
    this.list.hidden = true;
    this.show({ text: isEdit ? this.draft : "", files: [], target: null });
    try {
      if (isEdit) await act("edit", { message: draft.target.message.id, text: draft.text });
      else if (draft.files.length) await this.sendFiles(draft);
      else await act("write", { topic: this.topicId, text: draft.text, reply: draft.target?.message.id ?? null });
    } catch (error) {
      toast(error.message);
      this.putBack(draft, isEdit);
    }
  }

  show({ text, files, target }) {
    Object.assign(this, { files, target });
    this.input.value = text;
    this.showAbove();
    this.grow();
  }

  // What did not go out waits here again, unless something new was begun meanwhile.
  putBack(draft, isEdit) {
    if (this.files.length || this.target || this.input.value !== (isEdit ? this.draft : "")) return;
    if (!isEdit) drafts.set(this.topicId, draft.text);
    this.show(draft);
  }

  // Pictures go together as pictures, everything else as documents, as the apps send them. What is out leaves the draft.
  async sendFiles(draft) {
    const isPicture = (file) => ["image/png", "image/jpeg", "image/gif"].includes(file.type);
    const groups = [["photo", draft.files.filter(isPicture)], ["document", draft.files.filter((file) => !isPicture(file))]];
    for (const [kind, group] of groups.filter(([, found]) => found.length)) {
      await upload(group, { topic: this.topicId, kind, caption: draft.text });
      draft.files = draft.files.filter((file) => !group.includes(file));
      draft.text = "";
    }
  }
}
