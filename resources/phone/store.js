// What the page knows, kept in step with the server by one event stream.

import { t } from "./words.js";

const listeners = new Map();
export const state = {
  identity: "owner", online: true, epoch: "", chat: null, me: null, owner: null, bot: null,
  topics: new Map(), commands: [], budget: null, calls: [], stage: { agents: [], chosen: "" },
};
const CALLS_KEPT = 300;

export function on(kind, run) {
  if (!listeners.has(kind)) listeners.set(kind, []);
  listeners.get(kind).push(run);
}

function emit(kind, value) {
  for (const run of listeners.get(kind) ?? []) run(value);
}

// The answer, or an error whose message a person can read: the server's own, or that there is none.
async function answered(path, options = {}) {
  let answer;
  let body;
  try {
    answer = await fetch(path, options);
    body = await answer.json();
  } catch {
    throw new Error(t("unreachable"));
  }
  if (!answer.ok) throw new Error(body.error ?? t("unreachable"));
  return body;
}

const read = (path, query = {}) => answered(`${path}?${new URLSearchParams({ as: state.identity, ...query })}`);

export const act = (deed, fields = {}) => answered("act", {
  method: "POST",
  headers: { "Content-Type": "application/json" },
  body: JSON.stringify({ do: deed, as: state.identity, ...fields }),
});

export async function upload(files, fields) {
  const form = new FormData();
  files.forEach((file, at) => form.append(`file${at}`, file, file.name));
  return answered(`upload?${new URLSearchParams({ as: state.identity, ...fields })}`, { method: "POST", body: form });
}

// --- loading ---------------------------------------------------------------------------------------------------------

let held = null; // events that come while a fresh state is on its way

let loading = null;

// One at a time: a second wish for a fresh state gets one that begins after the first.
export function load() {
  loading = (loading ?? Promise.resolve()).catch(() => {}).then(loadOnce);
  return loading;
}

async function loadOnce() {
  held = [];
  try {
    const number = await loadState();
    const missed = held.filter((event) => event.number > number || event.kind === "budget");
    held = null;
    for (const { run, value } of missed) run(value);
    return number;
  } finally {
    held = null;
  }
}

async function loadState() {
  const fresh = await read("state");
  Object.assign(state, { epoch: fresh.epoch, chat: fresh.chat, me: fresh.me, owner: fresh.owner, bot: fresh.bot,
    commands: fresh.commands, budget: fresh.budget, stage: fresh.stage, calls: fresh.calls });
  const before = state.topics;
  state.topics = new Map(fresh.topics.map((topic) => [topic.id, { ...topic, messages: [], loaded: false, complete: false }]));
  for (const topic of before.values()) {
    const after = state.topics.get(topic.id);
    if (after && topic.loaded) await loadMessages(after.id);
  }
  emit("all");
  return fresh.number;
}

export async function loadMessages(topicId) {
  const topic = state.topics.get(topicId);
  await fetchInto(topic, { topic: topicId }, (page) => {
    topic.messages = page.messages;
    topic.loaded = true;
  });
}

// False when there is nothing older, or the topic is being loaded anyway.
export async function loadOlder(topicId) {
  const topic = state.topics.get(topicId);
  if (!topic || topic.complete || topic.pending || !topic.messages.length) return false;
  await fetchInto(topic, { topic: topicId, before: topic.messages[0].id }, (page) => {
    topic.messages = [...page.messages, ...topic.messages];
  });
  return true;
}

// What happens in a topic while its page is on the way is put in afterwards.
async function fetchInto(topic, query, take) {
  topic.pending = [];
  try {
    const page = await read("messages", query);
    take(page);
    topic.complete = !page.more;
    for (const { message, gone } of topic.pending) {
      if (gone) topic.messages = topic.messages.filter((one) => one.id !== gone);
      else if (!topic.messages.length || message.id >= topic.messages[0].id) place(topic, message);
    }
  } finally {
    topic.pending = null;
  }
}

export async function become(identity) {
  const before = state.identity;
  state.identity = identity;
  try {
    await load();
  } catch (error) {
    state.identity = before;
    throw error;
  }
}

// --- the stream ------------------------------------------------------------------------------------------------------

function seen(online) {
  if (state.online === online) return;
  state.online = online;
  emit("online");
}

export function listen(number) {
  const source = new EventSource(`events?last=${state.epoch}:${number}`);
  source.onopen = () => seen(true);
  source.onerror = () => {
    seen(false);
    if (source.readyState === EventSource.CLOSED) setTimeout(() => reconnect(), 1000);
  };
  source.addEventListener("hello", reload);
  for (const [kind, run] of Object.entries(HANDLERS)) {
    source.addEventListener(kind, (event) => {
      const value = JSON.parse(event.data);
      const eventNumber = Number(event.lastEventId.split(":")[1]);
      if (held) held.push({ kind, number: eventNumber, run, value });
      else run(value);
    });
  }
}

// The stream begins anew: what the page knows is of another time until it has loaded again.
async function reload() {
  try {
    await load();
  } catch {
    setTimeout(reload, 1000);
  }
}

async function reconnect() {
  try {
    listen(await load());
  } catch {
    setTimeout(reconnect, 1000);
  }
}

function place(topic, message) {
  const { messages } = topic;
  let at = messages.length;
  while (at > 0 && messages[at - 1].id > message.id) at -= 1;
  if (at > 0 && messages[at - 1].id === message.id) messages[at - 1] = message;
  else messages.splice(at, 0, message);
}

function came(message) {
  const topic = state.topics.get(message.topic);
  if (!topic) return;
  topic.pending?.push({ message });
  if (topic.loaded) place(topic, message);
  if (!topic.last || topic.last.id <= message.id) topic.last = message;
  topic.typing = null;
  const isMine = message.from.id === state.me.id;
  if (!isMine && message.id > topic.read && message.service?.kind !== "forum_topic_created") {
    topic.unread += 1;
    topic.rings ||= !message.silent;
  }
  emit("message", message);
}

function changed(message) {
  const topic = state.topics.get(message.topic);
  if (!topic) return;
  topic.pending?.push({ message });
  const at = topic.messages.findIndex((one) => one.id === message.id);
  if (at >= 0) topic.messages[at] = message;
  if (topic.last?.id === message.id) topic.last = message;
  emit("change", message);
}

const HANDLERS = {
  message: came,
  edit: changed,
  reaction: changed,
  delete({ id, topic: topicId, from, last }) {
    const topic = state.topics.get(topicId);
    if (!topic) return;
    topic.pending?.push({ gone: id });
    topic.messages = topic.messages.filter((one) => one.id !== id);
    topic.last = last;
    if (from !== state.me.id && id > topic.read && topic.unread > 0) topic.unread -= 1;
    if (!topic.unread) topic.rings = false;
    emit("gone", { id, topic: topicId });
  },
  topic(fresh) {
    if (fresh.deleted) state.topics.delete(fresh.id);
    else {
      const before = state.topics.get(fresh.id) ?? { messages: [], loaded: true, complete: true, unread: 0, read: 0, last: null };
      state.topics.set(fresh.id, { ...before, ...fresh });
    }
    emit("topic", fresh);
  },
  chat(general) {
    Object.assign(state.topics.get(0), general);
    emit("topic", general);
  },
  typing({ topic: topicId, seconds }) {
    const topic = state.topics.get(topicId);
    if (!topic || seconds <= 0) return;
    topic.typing = performance.now() + seconds * 1000;
    emit("typing", topic);
    setTimeout(() => emit("typing", topic), seconds * 1000 + 50);
  },
  read({ value }) {
    const topic = state.topics.get(value.topic);
    if (!topic || value.user !== state.me.id) return;
    topic.read = value.read;
    topic.unread = value.unread;
    if (!value.unread) topic.rings = false;
    emit("topic", topic);
  },
  commands() {
    read("state").then((fresh) => { state.commands = fresh.commands; }).catch(() => {});
  },
  stage({ value }) {
    state.stage = value;
    emit("stage");
  },
  budget(value) {
    state.budget = value;
    emit("budget");
  },
  call(value) {
    state.calls.push(value);
    if (state.calls.length > CALLS_KEPT) state.calls.shift();
    emit("call", value);
  },
};
