// Behind the scenes: the bot's calls as they happen, and how much of the send budget is spent.

import { h, iconButton } from "./dom.js";
import { on, state } from "./store.js";
import { clockTime, t } from "./words.js";

const SHOWN = 120;

export class Drawer {
  constructor(root, onClose) {
    this.root = root;
    this.fill = h("i", {});
    this.meter = h("div", { class: "meter", role: "meter", "aria-label": t("budget"), "aria-valuemin": "0" }, this.fill);
    this.figure = h("div", { class: "figure" });
    this.list = h("ol", { class: "calls", tabindex: "0", "aria-label": t("drawerText") });
    root.setAttribute("aria-label", t("drawer"));
    root.append(
      h("header", { class: "bar" }, h("div", { class: "bar-text" }, h("h1", {}, t("drawer")), h("div", { class: "under" }, t("drawerText"))),
        iconButton("close", t("close"), onClose)),
      h("section", { class: "budget" }, h("h2", {}, t("budget")), this.meter, this.figure), this.list);
    root.addEventListener("keydown", (event) => { if (event.key === "Escape") onClose(); });
    on("budget", () => this.budget());
    on("all", () => { this.budget(); this.refill(); });
    on("call", (call) => this.called(call));
  }

  budget() {
    const { used, limit, seconds, penalty } = state.budget;
    const share = Math.min(1, used / limit);
    this.fill.style.width = `${share * 100}%`;
    this.meter.classList.toggle("warm", share >= 0.75);
    this.meter.classList.toggle("hot", share >= 1 || penalty > 0);
    this.meter.setAttribute("aria-valuemax", limit);
    this.meter.setAttribute("aria-valuenow", used);
    this.figure.textContent = penalty > 0 ? t("penalty", { n: penalty }) : t("budgetText", { used, limit, seconds });
  }

  refill() {
    this.list.replaceChildren(...state.calls.slice(-SHOWN).reverse().map((call) => this.row(call)));
    if (!state.calls.length) this.list.append(h("li", { class: "none" }, t("noCalls")));
  }

  called(call) {
    this.list.querySelector(".none")?.remove();
    this.list.prepend(this.row(call));
    while (this.list.children.length > SHOWN) this.list.lastChild.remove();
  }

  row(call) {
    const family = /^(send|edit|create)/.test(call.method) && call.method !== "sendChatAction" ? "paid" : "free";
    const topic = state.topics.get(call.topic)?.name;
    return h("li", { class: call.code === 200 ? "" : "failed" },
      h("span", { class: "call-line" }, h("b", { class: family }, call.method), h("time", {}, clockTime(call.at)), h("span", { class: "call-code" }, `${call.code} · ${call.ms} ms`)),
      h("span", { class: "call-note" }, [call.topic && topic, call.note].filter(Boolean).join(" · ")));
  }
}
