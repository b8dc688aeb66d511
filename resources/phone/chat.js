// The open topic: its head, its messages, its state.

import { renderRow } from "./bubble.js";
import { Composer } from "./composer.js";
import { ask, h, icon, iconButton, openMenu, toast } from "./dom.js";
import { act, loadMessages, loadOlder, on, state } from "./store.js";
import { RowWindow } from "./window.js";
import { dayName, dayNumber, t } from "./words.js";

const RUN = 300; // seconds within which messages of one sender stand together

export class Chat {
  constructor(root, { onBack, onDrawer }) {
    this.root = root;
    this.topicId = null;
    this.versions = new Map();
    this.onBack = onBack;
    this.onDrawer = onDrawer;
    this.readTimer = 0;
    on("all", () => this.refresh());
    on("message", (message) => this.came(message));
    on("change", (message) => this.touched(message));
    on("gone", ({ topic }) => { if (topic === this.topicId) this.fill(); });
    on("topic", (topic) => this.topicChanged(topic));
    on("typing", () => this.subtitle());
    on("online", () => this.subtitle());
    document.addEventListener("visibilitychange", () => this.markRead());
    this.nothing();
  }

  get topic() {
    return state.topics.get(this.topicId);
  }

  nothing() {
    this.readNow();
    this.topicId = null;
    this.builtId = null;
    this.window?.destroy();
    this.window = null;
    this.root.replaceChildren(h("div", { class: "nothing" }, h("span", {}, t("pick"))));
  }

  async open(topicId) {
    if (!state.topics.has(topicId)) return this.nothing();
    this.topicId = topicId;
    if (!this.topic.loaded) await loadMessages(topicId); // until it is here, the topic before stays on screen
    if (this.topicId !== topicId) return;
    this.build();
    this.fill();
    this.window.toEnd();
    this.readNow();
    if (matchMedia("(min-width: 800px)").matches) this.composer.focus();
  }

  build() {
    const { topicId } = this;
    this.builtId = topicId;
    this.window?.destroy();
    this.title = h("h1", {});
    this.under = h("div", { class: "under", role: "status" });
    this.head = h("header", { class: "bar" },
      iconButton("back", t("back"), this.onBack, { class: "icon-button only-narrow" }),
      this.mark = h("div", { class: "topic-mark" }),
      h("div", { class: "bar-text" }, this.title, this.under),
      iconButton("code", t("drawer"), this.onDrawer, { id: "open-drawer" }),
      iconButton("menu", t("more"), (event) => this.menu(event), { id: "topic-menu" }));
    this.scroller = h("div", { class: "scroller", role: "log", "aria-label": t("message"), tabindex: "0" });
    this.end = h("button", { type: "button", class: "to-end", hidden: true, "aria-label": t("toEnd"), title: t("toEnd"), onclick: () => this.window.toEnd() }, icon("down"), h("b", { hidden: true }));
    this.hint = h("div", { class: "hint", hidden: true }, h("b", {}, t("empty")), h("span", {}, t("emptyText")));
    this.actions = {
      reply: (message) => this.composer.replyTo(message),
      edit: (message) => this.composer.edit(message),
      jump: (id) => this.jump(id),
      onCommand: (text) => act("write", { topic: topicId, text }).catch((error) => toast(error.message)),
    };
    this.composer = new Composer(this);
    this.root.replaceChildren(this.head, h("div", { class: "field" }, this.scroller, this.hint, this.end), this.composer.element);
    this.composer.grow();
    this.window = new RowWindow(this.scroller, (row) => this.element(row), () => this.older());
    this.scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.scroller.addEventListener("keydown", (event) => this.keys(event));
    this.topicChanged(this.topic);
  }

  element(row) {
    return row.day ? h("div", { class: "row service day" }, h("span", {}, row.day)) : renderRow(row, this.actions);
  }

  // --- rows --------------------------------------------------------------------------------------------------------

  rows() {
    const { messages } = this.topic;
    const rows = [];
    let before = null;
    for (let at = 0; at < messages.length; at += 1) {
      const message = messages[at];
      const day = dayNumber(message.date);
      if (!before || dayNumber(before.date) !== day) {
        const name = dayName(message.date);
        rows.push({ key: `day ${day}`, version: name, day: name });
        before = null;
      }
      const group = [message];
      while (message.album && messages[at + 1]?.album === message.album) group.push(messages[(at += 1)]);
      const after = messages[at + 1];
      const isFirst = !joins(before, message);
      const isLast = !joins(message, after) || (after && dayNumber(after.date) !== day);
      const version = `${group.map((one) => this.versions.get(one.id) ?? 0)}/${group.length}${isFirst}${isLast}${state.me.id}`;
      rows.push({ key: message.id, version, messages: group, isFirst, isLast, holds: (id) => group.some((one) => one.id === id) });
      before = message;
    }
    return rows;
  }

  fill(added = 0) {
    if (!this.window || this.builtId !== this.topicId) return;
    const rows = this.rows();
    this.window.set(rows, added);
    this.hint.hidden = rows.some((row) => row.messages && !row.messages[0].service);
    this.scrolled();
  }

  came(message) {
    if (message.topic !== this.topicId) return;
    if (this.builtId !== this.topicId) return;
    this.fill();
    if (message.from.id === state.me.id) this.window.toEnd();
    this.subtitle();
    this.markRead();
  }

  touched(message) {
    this.versions.set(message.id, (this.versions.get(message.id) ?? 0) + 1);
    if (message.topic === this.topicId) this.fill();
  }

  // One fetch at a time, whoever wants it; false when nothing came.
  older() {
    this.fetching ??= this.fetchOlder().catch(() => false).finally(() => { this.fetching = null; });
    return this.fetching;
  }

  async fetchOlder() {
    const { topicId } = this;
    const first = this.topic?.messages[0]?.id;
    const place = () => this.rows().findIndex((row) => row.holds?.(first));
    const before = first === undefined ? 0 : place();
    if (!await loadOlder(topicId) || this.topicId !== topicId) return false;
    this.fill(place() - before);
    return true;
  }

  async refresh() {
    if (this.topicId === null) return;
    if (!this.topic) return this.onBack();
    if (!this.topic.loaded) await loadMessages(this.topicId);
    if (!this.topic || !this.window) return;
    for (const { id } of this.topic.messages) this.versions.set(id, (this.versions.get(id) ?? 0) + 1);
    this.topicChanged(this.topic);
    this.fill();
    this.composer.refresh();
  }

  async jump(id) {
    let found = this.window.show(id);
    while (!found && await this.older()) found = this.window.show(id);
    if (!found) return;
    found.classList.add("flash");
    setTimeout(() => found.classList.remove("flash"), 1200);
  }

  scrolled() {
    const isAtEnd = this.window.isAtEnd;
    const { unread } = this.topic;
    this.end.hidden = isAtEnd;
    this.end.lastChild.hidden = !unread;
    this.end.lastChild.textContent = unread;
    if (isAtEnd) this.markRead();
  }

  markRead() {
    clearTimeout(this.readTimer);
    this.readTimer = setTimeout(() => this.readNow(), 150);
  }

  readNow() {
    clearTimeout(this.readTimer);
    const topic = this.topic;
    const last = topic?.messages.at(-1);
    if (!last || !this.window?.isAtEnd || document.hidden || last.id <= topic.read || !this.isShown()) return;
    act("read", { topic: topic.id, message: last.id }).catch(() => {});
  }

  isShown() {
    return this.root.offsetParent !== null;
  }

  // --- head --------------------------------------------------------------------------------------------------------

  topicChanged(topic) {
    if (!this.window && !this.title) return;
    if (this.topicId !== null && !this.topic) return this.onBack();
    if (topic.id !== this.topicId) return;
    this.title.textContent = this.topic.name;
    this.mark.textContent = topic.id === 0 ? "#" : [...this.topic.name][0].toUpperCase();
    this.mark.style.background = this.topic.color;
    this.subtitle();
    this.composer?.refresh();
    if (this.window) this.scrolled();
  }

  subtitle() {
    if (!this.topic || !this.under) return;
    const isTyping = this.topic.typing && this.topic.typing > performance.now();
    this.under.classList.toggle("lively", Boolean(isTyping) || !state.online);
    if (!state.online) this.under.textContent = t("offline");
    else if (isTyping) this.under.replaceChildren(t("typing", { name: state.bot.name }), h("span", { class: "dots" }, h("i"), h("i"), h("i")));
    else this.under.textContent = t("inGroup", { title: state.chat.title });
  }

  menu(event) {
    const box = event.currentTarget.getBoundingClientRect();
    const { id, name, closed } = this.topic;
    if (id === 0) return openMenu(box.right, box.bottom, [{ icon: "help", label: t("tourAgain"), run: () => document.dispatchEvent(new Event("tour")) }]);
    const change = (what, fields = {}) => act("topic", { what, topic: id, ...fields }).catch((error) => toast(error.message));
    return openMenu(box.right, box.bottom, [
      { icon: "pencil", label: t("rename"), run: async () => {
        const fresh = await ask({ title: t("rename"), field: name, ok: t("save"), cancel: t("cancel") });
        if (fresh && fresh !== name) change("rename", { name: fresh });
      } },
      { icon: "lock", label: t(closed ? "reopenTopic" : "closeTopic"), run: () => change(closed ? "reopen" : "close") },
      { icon: "trash", label: t("deleteTopic"), danger: true, run: async () => {
        if (await ask({ title: t("deleteTopic"), text: t("deleteTopicText"), ok: t("delete"), cancel: t("cancel"), danger: true })) change("delete");
      } },
      { icon: "help", label: t("tourAgain"), run: () => document.dispatchEvent(new Event("tour")) },
    ]);
  }

  // Arrow keys walk through the messages, Enter opens a message's menu, End goes to the newest.
  keys(event) {
    const rows = [...this.scroller.querySelectorAll(".row[role=article]")];
    const at = rows.indexOf(document.activeElement);
    if (event.key === "Enter" && at >= 0) rows[at].openMenu();
    else if (event.key === "End") this.window.toEnd();
    else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      const next = at < 0 ? rows.length - 1 : at + (event.key === "ArrowUp" ? -1 : 1);
      rows[next]?.focus({ preventScroll: true });
      rows[next]?.scrollIntoView({ block: "nearest" });
    } else return;
    event.preventDefault();
  }
}

function joins(before, message) {
  return Boolean(before && message && !before.service && !message.service && before.from.id === message.from.id
    && before.anonymous === message.anonymous && message.date - before.date < RUN);
}
