// Shows a few of many rows: at most ROOM are in the document, and what is on screen never jumps.

const ROOM = 120;
const STEP = 40;
const NEAR = 700;

export class RowWindow {
  // `build(row)` makes an element; a row is {key, version, ...}. `older()` fetches more at the start, if there is more.
  constructor(scroller, build, older) {
    this.scroller = scroller;
    this.build = build;
    this.older = older;
    this.inner = document.createElement("div");
    this.inner.className = "rows";
    scroller.replaceChildren(this.inner);
    this.rows = [];
    this.from = 0;
    this.to = 0;
    this.cache = new Map();
    this.isBusy = false;
    this.onscroll = () => this.scrolled();
    scroller.addEventListener("scroll", this.onscroll, { passive: true });
    // Pictures and folded quotes change heights after the first paint: keep the end in view.
    this.observer = new ResizeObserver(() => { if (this.isPinned) this.toEnd(); });
    this.observer.observe(this.inner);
    this.observer.observe(scroller);
    this.isPinned = true;
  }

  destroy() {
    this.scroller.removeEventListener("scroll", this.onscroll);
    this.observer.disconnect();
  }

  get isAtEnd() {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    return this.to >= this.rows.length && scrollHeight - scrollTop - clientHeight < 60;
  }

  // New rows, by key; `added` counts rows that came in front of the old ones.
  set(rows, added = 0) {
    const wasPinned = this.isPinned;
    this.rows = rows;
    this.from = Math.min(this.from + added, Math.max(0, rows.length - 1));
    this.to = Math.min(this.to + added, rows.length);
    if (wasPinned) {
      this.to = rows.length;
      this.from = Math.max(0, this.to - ROOM);
    }
    this.render();
    if (wasPinned) this.toEnd();
  }

  toEnd() {
    if (this.to < this.rows.length) {
      this.to = this.rows.length;
      this.from = Math.max(0, this.to - ROOM);
      this.render();
    }
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.isPinned = true;
  }

  // Brings a row on screen; false when there is no such row.
  show(key) {
    const at = this.rows.findIndex((row) => row.key === key || row.holds?.(key));
    if (at < 0) return false;
    this.isPinned = false;
    if (at < this.from || at >= this.to) {
      this.from = Math.max(0, at - ROOM / 2);
      this.to = Math.min(this.rows.length, this.from + ROOM);
      this.render();
    }
    const element = this.cache.get(this.rows[at].key).element;
    element.scrollIntoView({ block: "center" });
    return element;
  }

  render() {
    const anchor = this.anchor();
    const wanted = this.rows.slice(this.from, this.to);
    const keys = new Set(wanted.map((row) => row.key));
    for (const [key, { element }] of this.cache) {
      if (!keys.has(key)) { element.remove(); this.cache.delete(key); }
    }
    let next = this.inner.firstChild;
    for (const row of wanted) {
      const kept = this.cache.get(row.key);
      let element = kept?.element;
      if (!kept || kept.version !== row.version) {
        element = this.build(row);
        if (kept) {
          if (next === kept.element) next = element;
          const focus = kept.element.contains(document.activeElement) ? focusIn(kept.element) : null;
          kept.element.replaceWith(element);
          if (focus) refocus(element, focus);
        }
        this.cache.set(row.key, { element, version: row.version });
      }
      if (element === next) next = next.nextSibling;
      else this.inner.insertBefore(element, next);
    }
    if (anchor && anchor.element.isConnected) {
      this.scroller.scrollTop += anchor.element.getBoundingClientRect().top - anchor.top;
    }
  }

  anchor() {
    const top = this.scroller.getBoundingClientRect().top;
    for (const element of this.inner.children) {
      const box = element.getBoundingClientRect();
      if (box.bottom > top) return { element, top: box.top };
    }
    return null;
  }

  async scrolled() {
    this.isPinned = this.isAtEnd;
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    if (scrollTop < NEAR && this.from > 0) this.shift(-STEP);
    else if (scrollHeight - scrollTop - clientHeight < NEAR && this.to < this.rows.length) this.shift(STEP);
    else if (scrollTop < NEAR && this.from === 0 && !this.isBusy) {
      this.isBusy = true;
      try {
        await this.older();
      } finally {
        this.isBusy = false;
      }
    }
  }

  shift(by) {
    if (by < 0) {
      this.from = Math.max(0, this.from + by);
      this.to = Math.min(this.rows.length, this.from + ROOM);
    } else {
      this.to = Math.min(this.rows.length, this.to + by);
      this.from = Math.max(0, this.to - ROOM);
    }
    this.render();
  }
}

const keysOf = (element) => [...element.querySelectorAll(".key")];

function focusIn(element) {
  const keys = keysOf(element);
  return { at: keys.indexOf(document.activeElement), of: keys.length };
}

// The same button again while there are as many; else the message, so that Enter presses nothing new.
function refocus(element, { at, of }) {
  const keys = keysOf(element);
  (keys.length === of && keys[at] || element).focus({ preventScroll: true });
}
