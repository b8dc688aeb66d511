// Starts the page: loads, listens, lays out, chooses the agent.

import { Chat } from "./chat.js";
import { h, toast } from "./dom.js";
import { Drawer } from "./drawer.js";
import { act, listen, load, on, state } from "./store.js";
import { Topics } from "./topics.js";
import { Tour } from "./tour.js";
import { language, t } from "./words.js";

const app = document.getElementById("app");
const drawerElement = document.getElementById("drawer");
const options = new URLSearchParams(location.search);
let topics;
let chat;
let tour;

function theme(name) {
  document.documentElement.dataset.theme = name;
  try { localStorage.setItem("agent-hub-theme", name); } catch { /* a private window forgets */ }
}

function startTheme() {
  let kept = null;
  try { kept = localStorage.getItem("agent-hub-theme"); } catch { /* a private window forgets */ }
  const name = options.get("theme") || kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  document.documentElement.dataset.theme = name === "dark" ? "dark" : "light";
}

let opener = null;

function toggleDrawer() {
  const isOpening = drawerElement.hidden;
  if (isOpening) opener = document.activeElement;
  drawerElement.hidden = !isOpening;
  app.classList.toggle("with-drawer", isOpening);
  if (isOpening) drawerElement.querySelector("button")?.focus();
  else opener?.focus({ preventScroll: true });
}

function route() {
  const found = /^#topic=(\d+)$/.exec(location.hash);
  const topicId = found && state.topics.has(Number(found[1])) ? Number(found[1]) : null;
  if (topicId === null) chat.nothing();
  app.dataset.screen = topicId === null ? "topics" : "chat";
  topics.current(topicId);
  if (topicId !== null) {
    chat.open(topicId).catch((error) => { toast(error.message); goTo(null); });
    if (topicId) tour?.reached(1);
  }
}

// The address may name a topic before the stream tells of it: one that was made a moment ago, on this page or another.
function arrived() {
  if (location.hash && app.dataset.screen === "topics") route();
}

function goTo(topicId) {
  const hash = topicId === null ? "" : `topic=${topicId}`;
  if (location.hash.slice(1) === hash) route();
  else location.hash = hash;
}

// --- which agent ------------------------------------------------------------------------------------------------------

function chooser() {
  document.querySelector(".chooser")?.remove();
  const { agents, chosen } = state.stage;
  if (!agents.length || chosen) return;
  const list = h("div", { class: "chooser-list" });
  const box = h("dialog", { class: "dialog chooser", "aria-label": t("chooseAgent") },
    h("h2", {}, t("chooseAgent")), h("p", {}, t("chooseText")), list);
  for (const agent of agents) {
    const button = h("button", { type: "button", "data-agent": agent.name }, h("b", {}, agent.title), h("span", {}, agent.note));
    button.addEventListener("click", async () => {
      for (const one of list.children) one.disabled = true;
      button.lastChild.textContent = t("starting");
      try {
        await act("choose", { agent: agent.name });
      } catch (error) {
        toast(error.message);
        chooser();
      }
    });
    list.append(button);
  }
  box.addEventListener("cancel", (event) => event.preventDefault());
  // A second Escape closes a dialog all the same; without an agent there is nothing to do here.
  box.addEventListener("close", () => { if (box.isConnected) box.showModal(); });
  document.body.append(box);
  box.showModal();
}

async function firstLoad() {
  for (;;) {
    try {
      return await load();
    } catch {
      await new Promise((resolve) => { setTimeout(resolve, 1000); });
    }
  }
}

async function start() {
  startTheme();
  document.documentElement.lang = language;
  topics = new Topics(document.getElementById("topics"), {
    onOpen: goTo, onDrawer: toggleDrawer,
    onTheme: () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"),
  });
  chat = new Chat(document.getElementById("chat"), { onBack: () => goTo(null), onDrawer: toggleDrawer });
  new Drawer(drawerElement, toggleDrawer);
  on("stage", chooser);
  const number = await firstLoad();
  topics.build();
  tour = new Tour(document.getElementById("tour"));
  on("message", (message) => {
    if (message.from.id === state.me.id && !message.service && message.topic) tour.reached(2);
  });
  addEventListener("hashchange", route);
  on("topic", arrived);
  on("all", arrived);
  route();
  chooser();
  listen(number);
  document.documentElement.dataset.ready = "yes";
}

start();
