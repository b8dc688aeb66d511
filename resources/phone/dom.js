// Builds elements. Texts are always set as text, never parsed as HTML.

const PATHS = {
  back: "M20 11H7.8l5.6-5.6L12 4l-8 8 8 8 1.4-1.4L7.8 13H20z",
  menu: "M12 8a2 2 0 1 0 0-4 2 2 0 0 0 0 4zm0 2a2 2 0 1 0 0 4 2 2 0 0 0 0-4zm0 6a2 2 0 1 0 0 4 2 2 0 0 0 0-4z",
  pencil: "M3 17.2V21h3.8L17.8 9.9l-3.7-3.7zM20.7 7a1 1 0 0 0 0-1.4l-2.3-2.3a1 1 0 0 0-1.4 0l-1.8 1.8 3.7 3.7z",
  send: "M2 21l21-9L2 3v7l15 2-15 2z",
  clip: "M16.5 6v11.5a4 4 0 0 1-8 0V5a2.5 2.5 0 0 1 5 0v10.5a1 1 0 0 1-2 0V6H10v9.5a2.5 2.5 0 0 0 5 0V5a4 4 0 0 0-8 0v12.5a5.5 5.5 0 0 0 11 0V6z",
  close: "M19 6.4L17.6 5 12 10.6 6.4 5 5 6.4l5.6 5.6L5 17.6 6.4 19l5.6-5.6 5.6 5.6 1.4-1.4-5.6-5.6z",
  down: "M7.4 8.6L12 13.2l4.6-4.6L18 10l-6 6-6-6z",
  code: "M9.4 16.6L4.8 12l4.6-4.6L8 6l-6 6 6 6zm5.2 0l4.6-4.6-4.6-4.6L16 6l6 6-6 6z",
  bell: "M12 22a2 2 0 0 0 2-2h-4a2 2 0 0 0 2 2zm6-6v-5c0-3.1-1.6-5.6-4.5-6.3V4a1.5 1.5 0 0 0-3 0v.7C7.6 5.4 6 7.9 6 11v5l-2 2v1h16v-1z",
  silent: "M20 18.700L7.8 6.3 4.8 3.3 3.5 4.600l2.8 2.800A8 8 0 0 0 6 11v5l-2 2v1h13.700l2 2 1.3-1.300zM12 22a2 2 0 0 0 2-2h-4a2 2 0 0 0 2 2zm6-7.300V11c0-3.1-1.6-5.6-4.5-6.300V4a1.5 1.5 0 0 0-3 0v.700l-1.1.400z",
  file: "M6 2a2 2 0 0 0-2 2v16a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2V8l-6-6zm7 7V3.500L18.5 9z",
  download: "M19 9h-4V3H9v6H5l7 7zM5 18v2h14v-2z",
  ticks: "M18 7l-1.4-1.4-6.3 6.3 1.4 1.400zm4.2-1.400L11.7 16.2 7.5 12l-1.4 1.4 5.6 5.600L23.7 7zM.4 13.400L6 19l1.4-1.400L1.8 12z",
  reply: "M10 9V5l-7 7 7 7v-4.100c5 0 8.5 1.6 11 5.1-1-5-4-10-11-11z",
  copy: "M16 1H4a2 2 0 0 0-2 2v14h2V3h12zm3 4H8a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h11a2 2 0 0 0 2-2V7a2 2 0 0 0-2-2zm0 16H8V7h11z",
  trash: "M6 19a2 2 0 0 0 2 2h8a2 2 0 0 0 2-2V7H6zM19 4h-3.500l-1-1h-5l-1 1H5v2h14z",
  lock: "M18 8h-1V6A5 5 0 0 0 7 6v2H6a2 2 0 0 0-2 2v10a2 2 0 0 0 2 2h12a2 2 0 0 0 2-2V10a2 2 0 0 0-2-2zM9 6a3 3 0 0 1 6 0v2H9z",
  moon: "M12 3a9 9 0 1 0 9 9c0-.500 0-.900-.100-1.400A5.4 5.4 0 0 1 13.4 3.100C12.9 3 12.5 3 12 3z",
  link: "M14 3v2h3.600l-9.8 9.8 1.4 1.400L19 6.400V10h2V3zM19 19H5V5h7V3H5a2 2 0 0 0-2 2v14a2 2 0 0 0 2 2h14a2 2 0 0 0 2-2v-7h-2z",
  help: "M11 18h2v-2h-2zm1-16a10 10 0 1 0 0 20 10 10 0 0 0 0-20zm0 14a4 4 0 0 0-4-4h2a2 2 0 1 1 2 2c-2 0-1 2-1 3h2c0-2 3-2.5 3-5a4 4 0 0 0-4-4z",
};

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
  path.setAttribute("fill", "currentColor");
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
