// The list of topics, with unread marks, and who one is.

import { avatar, previewOf } from "./bubble.js";
import { ask, h, icon, iconButton, openMenu, toast } from "./dom.js";
import { act, become, on, state } from "./store.js";
import { listTime, t } from "./words.js";

export class Topics {
  constructor(root, { onOpen, onTheme, onDrawer }) {
    this.root = root;
    this.onOpen = onOpen;
    this.onTheme = onTheme;
    this.onDrawer = onDrawer;
    this.openId = null;
    this.elements = new Map();
    for (const kind of ["all", "message", "change", "gone", "topic", "typing"]) on(kind, () => this.later());
    on("online", () => this.headline());
  }

  later() {
    if (this.isPlanned) return;
    this.isPlanned = true;
    requestAnimationFrame(() => { this.isPlanned = false; this.render(); });
  }

  build() {
    this.title = h("h1", {});
    this.under = h("div", { class: "under" });
    this.list = h("nav", { class: "topic-list", "aria-label": t("topics") });
    this.me = h("button", { type: "button", class: "me", "aria-label": t("more"), title: t("more"), id: "me", onclick: (event) => this.menu(event) });
    this.stranger = h("div", { class: "stranger-bar", hidden: true }, h("span", {}, t("strangerBar")),
      h("button", { type: "button", onclick: () => this.become("owner") }, t("strangerBack", { name: state.owner.name })));
    this.root.replaceChildren(
      h("header", { class: "bar" }, h("div", { class: "group-mark" }, icon("code", 22)),
        h("div", { class: "bar-text" }, this.title, this.under),
        iconButton("code", t("drawer"), this.onDrawer, { class: "icon-button only-narrow" }), this.me),
      this.stranger, this.list,
      h("button", { type: "button", class: "fab", id: "new-topic", "aria-label": t("newTopic"), title: t("newTopic"), onclick: () => this.create() }, icon("pencil")));
    this.render();
  }

  headline() {
    this.title.textContent = state.online ? state.chat.title : t("offline");
    this.under.textContent = t("members", { n: state.chat.members });
  }

  render() {
    if (!this.list) return;
    this.headline();
    this.me.replaceChildren(avatar(state.me));
    this.stranger.hidden = state.identity !== "stranger";
    const topics = [...state.topics.values()].sort((a, b) => (b.last?.id ?? b.id) - (a.last?.id ?? a.id));
    const unread = topics.reduce((sum, topic) => sum + topic.unread, 0);
    document.title = `${unread ? `(${unread}) ` : ""}${state.chat.title}`;
    // A row's button stays the same element: a tap is not lost when its topic changes under the finger.
    for (const [id, row] of this.elements) {
      if (!state.topics.has(id)) { row.remove(); this.elements.delete(id); }
    }
    topics.forEach((topic, at) => {
      const row = this.elements.get(topic.id) ?? this.button(topic.id);
      this.fillRow(row, topic);
      if (this.list.children[at] !== row) {
        const hadFocus = row === document.activeElement;
        this.list.insertBefore(row, this.list.children[at] ?? null);
        if (hadFocus) row.focus({ preventScroll: true });
      }
    });
  }

  button(topicId) {
    const row = h("button", { type: "button", class: "topic", "data-topic": topicId, onclick: () => this.onOpen(topicId) });
    this.elements.set(topicId, row);
    return row;
  }

  fillRow(row, topic) {
    const isTyping = topic.typing && topic.typing > performance.now();
    const { last } = topic;
    const who = last && !last.service ? h("b", {}, `${last.from.id === state.me.id ? t("you") : last.from.name}: `) : null;
    const line = isTyping ? h("span", { class: "lively" }, t("typing", { name: state.bot.name })) : h("span", {}, who, last ? previewOf(last) : "");
    const marks = h("span", { class: "marks" });
    if (topic.closed) marks.append(icon("lock", 16));
    if (topic.unread) {
      marks.append(h("span", { class: `unread${topic.rings ? "" : " quiet"}`, "aria-label": `${topic.unread}` }, String(topic.unread)));
    }
    if (topic.id === this.openId) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
    row.replaceChildren(h("span", { class: "topic-mark", style: `background:${topic.color}` }, topic.id === 0 ? "#" : [...topic.name][0].toUpperCase()),
      h("span", { class: "topic-text" },
      h("span", { class: "topic-line" }, h("strong", {}, topic.name), h("time", {}, last ? listTime(last.date) : "")),
      h("span", { class: "topic-line second" }, line, marks)));
  }

  current(topicId) {
    this.openId = topicId;
    this.render();
  }

  async create() {
    const name = await ask({ title: t("newTopic"), text: t("newTopicText"), field: "", ok: t("create"), cancel: t("cancel") });
    if (!name) return;
    try {
      const { id } = await act("topic", { what: "create", name });
      this.onOpen(id);
    } catch (error) {
      toast(error.message);
    }
  }

  become(identity) {
    become(identity).catch((error) => toast(error.message));
  }

  menu(event) {
    const box = event.currentTarget.getBoundingClientRect();
    const isStranger = state.identity === "stranger";
    openMenu(box.right, box.bottom, [
      { icon: "reply", label: isStranger ? t("beOwner", { name: state.owner.name }) : t("beStranger"), run: () => this.become(isStranger ? "owner" : "stranger") },
      { icon: "moon", label: t("theme"), run: this.onTheme },
      { icon: "help", label: t("tourAgain"), run: () => document.dispatchEvent(new Event("tour")) },
    ]);
  }
}
