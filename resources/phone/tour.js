// Six cards that show what to try. Dismissed once, it stays away; the menu brings it back.

import { h } from "./dom.js";
import { t } from "./words.js";

const TARGETS = ["#new-topic", ".composer", ".scroller", ".scroller", "#send", "#open-drawer"];
const KEY = "agent-hub-tour";

function remembered() {
  try { return localStorage.getItem(KEY) === "done"; } catch { return false; }
}

function remember() {
  try { localStorage.setItem(KEY, "done"); } catch { /* a private window forgets */ }
}

export class Tour {
  constructor(root) {
    this.root = root;
    this.at = 0;
    document.addEventListener("tour", () => this.start());
    const asked = new URLSearchParams(location.search).get("tour");
    if (asked !== "no" && (asked === "yes" || !remembered())) this.start();
  }

  start() {
    this.at = 0;
    this.root.hidden = false;
    this.show();
  }

  // The steps follow what the person does: the first topic made brings the second card, and so on.
  reached(step) {
    if (!this.root.hidden && this.at < step) {
      this.at = step;
      this.show();
    }
  }

  end() {
    this.root.hidden = true;
    this.mark(null);
    remember();
  }

  mark(selector) {
    for (const element of document.querySelectorAll(".toured")) element.classList.remove("toured");
    if (selector) document.querySelector(selector)?.classList.add("toured");
  }

  show() {
    const number = this.at + 1;
    const isLast = number === TARGETS.length;
    const next = h("button", { type: "button", class: "primary", id: "tour-next", onclick: () => { if (isLast) this.end(); else { this.at += 1; this.show(); } } }, t(isLast ? "tourDone" : "tourNext"));
    this.root.setAttribute("role", "region");
    this.root.setAttribute("aria-label", t("tourAgain"));
    this.root.replaceChildren(
      h("div", { class: "tour-steps", "aria-label": t("tourStep", { n: number, all: TARGETS.length }) }, TARGETS.map((_, index) => h("i", { class: index <= this.at ? "on" : "" }))),
      h("h2", {}, t(`tour${number}`)), h("p", {}, t(`tour${number}Text`)),
      h("div", { class: "tour-row" }, h("button", { type: "button", id: "tour-skip", onclick: () => this.end() }, t("tourSkip")), next));
    this.mark(TARGETS[this.at]);
  }
}
