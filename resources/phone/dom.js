// Builds elements. Texts are always set as text, never parsed as HTML.

// Our own icons, drawn with one round pen on a field of 24 by 24; `send` is filled.
const PATHS = {
  back: "M20 12H5M11 5l-7 7 7 7",
  menu: "M12 5.5v.01M12 12v.01M12 18.5v.01",
  pencil: "M4 20l1-4.6L16.4 4a2.1 2.1 0 0 1 3 3L8.3 18.5zM14 6.5l3.3 3.3",
  send: "M3 4l19 8-19 8 2.5-7 8.5-1-8.5-1z",
  clip: "M20 11.5l-8 8a4.9 4.9 0 0 1-7-7l8.5-8.5a3.3 3.3 0 0 1 4.7 4.7l-8.5 8.5a1.6 1.6 0 0 1-2.3-2.3l7.5-7.5",
  close: "M6 6l12 12M18 6L6 18",
  down: "M6 9.5l6 6 6-6",
  code: "M8.5 6.5L3 12l5.5 5.5M15.5 6.5L21 12l-5.5 5.5",
  bell: "M6 17v-6a6 6 0 0 1 12 0v6l1.5 1.5h-15zM10.5 21.5h3",
  silent: "M6 17v-6a6 6 0 0 1 9-5.2M18 11v6M6 17l-1.5 1.5H16M3.5 4l17 17",
  file: "M6 3h8l5 5v13H6zM14 3v5h5",
  ticks: "M2 12.5L6.5 17 16 7M11 16.5l.5.5 10-10",
  reply: "M10 6l-6 6 6 6M4 12h9c4 0 7 2 7 7",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  trash: "M4 7h16M9 7V4h6v3M6.5 7l1 13h9l1-13",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  moon: "M20 14.5A8.5 8.5 0 1 1 9.5 4 7 7 0 0 0 20 14.5z",
  link: "M13 5h6v6M19 5l-9 9M17 14v5H5V7h5",
  help: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9.5 9.7a2.5 2.5 0 1 1 3.5 2.3c-.8.4-1 1-1 1.8M12 17v.01",
};
const PENS = { menu: 3.2, code: 2.1, close: 2.1, back: 2.1 };

export function h(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "style") element.style.cssText = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function icon(name, size = 24) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("width", size);
  svg.setAttribute("height", size);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", PATHS[name]);
  const look = name === "send"
    ? { fill: "currentColor" }
    : { fill: "none", stroke: "currentColor", "stroke-width": PENS[name] ?? 1.9, "stroke-linecap": "round", "stroke-linejoin": "round" };
  for (const [key, value] of Object.entries(look)) path.setAttribute(key, value);
  svg.append(path);
  return svg;
}

export function iconButton(name, label, onclick, extra = {}) {
  return h("button", { type: "button", class: "icon-button", "aria-label": label, title: label, onclick, ...extra }, icon(name));
}

// A menu at a point; arrow keys move, Escape closes, focus returns.
export function openMenu(x, y, items, { head = null } = {}) {
  const before = document.activeElement;
  const shade = h("div", { class: "shade", onclick: close });
  const menu = h("div", { class: "menu", role: "menu" });
  if (head) menu.append(head(close));
  for (const item of items.filter(Boolean)) {
    const row = h("button", { type: "button", role: "menuitem", class: item.danger ? "danger" : "" }, icon(item.icon, 20), item.label);
    row.addEventListener("click", () => { close(); item.run(); });
    menu.append(row);
  }
  function close() {
    shade.remove();
    menu.remove();
    before?.focus?.({ preventScroll: true });
  }
  menu.addEventListener("keydown", (event) => {
    const rows = [...menu.querySelectorAll("button")];
    const at = rows.indexOf(document.activeElement);
    const step = { ArrowDown: 1, ArrowUp: -1, ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step) rows[(at + step + rows.length) % rows.length].focus();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  document.body.append(shade, menu);
  const box = menu.getBoundingClientRect();
  menu.style.left = `${Math.max(8, Math.min(x, innerWidth - box.width - 8))}px`;
  menu.style.top = `${Math.max(8, Math.min(y, innerHeight - box.height - 8))}px`;
  menu.querySelector("[role=menuitem]")?.focus();
  return close;
}

// A modal dialog; resolves with the field's value, true without a field, or null when it was cancelled.
export function ask({ title, text = "", field = null, ok, cancel = null, danger = false }) {
  return new Promise((resolve) => {
    const input = field === null ? null : h("input", { type: "text", maxlength: 128, value: field, "aria-label": title });
    const dialog = h("dialog", { class: "dialog", "aria-label": title },
      h("form", { method: "dialog" },
        h("h2", {}, title), text && h("p", {}, text), input,
        h("div", { class: "dialog-row" },
          cancel && h("button", { value: "cancel", type: "button", onclick: () => dialog.close("cancel") }, cancel),
          h("button", { value: "ok", class: danger ? "danger" : "" }, ok))));
    dialog.addEventListener("close", () => {
      const agreed = dialog.returnValue === "ok";
      dialog.remove();
      resolve(agreed ? (input ? input.value.trim() : true) : null);
    });
    document.body.append(dialog);
    dialog.showModal();
    input?.select();
  });
}

let toastTimer = 0;
export function toast(text) {
  const element = document.getElementById("toast");
  element.textContent = text;
  element.hidden = false;
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { element.hidden = true; }, 3500);
}
