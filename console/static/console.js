// The console's own script: times in the viewer's zone, and care for what somebody is typing. Everything works without it.
"use strict";
(() => {
  const shown = new Intl.DateTimeFormat(undefined, {
    year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit",
  });

  // Shows each time in the viewer's zone; its title keeps UTC.
  const local = (root) => {
    for (const t of root.querySelectorAll("time[datetime]:not([data-local])")) {
      const at = new Date(t.getAttribute("datetime"));
      if (!Number.isNaN(at.getTime())) t.textContent = shown.format(at);
      t.setAttribute("data-local", "");
    }
  };

  // A form that somebody has begun to fill in. It is never replaced under the hands that type.
  const begun = (root) => {
    for (const f of root.querySelectorAll("input:not([type=hidden]), textarea, select")) {
      if (f === document.activeElement) return true;
      if (f.type === "checkbox" || f.type === "radio" ? f.checked !== f.defaultChecked : f.tagName !== "SELECT" && f.value !== f.defaultValue) return true;
    }
    return false;
  };

  document.addEventListener("DOMContentLoaded", () => {
    local(document);
    // Where there is little room, an unused filter does not stand before what it would filter.
    if (window.matchMedia("(max-width: 44rem)").matches) for (const d of document.querySelectorAll("details[data-fold]")) d.open = false;
  });
  document.addEventListener("htmx:load", (e) => local(e.detail.elt));
  const keep = (e) => {
    const target = e.detail.target;
    if (!target || !target.matches("[data-careful]") || !begun(target)) return;
    e.preventDefault();
    e.detail.shouldSwap = false;
    for (const note of target.querySelectorAll("[data-stale]")) note.hidden = false;
  };
  document.addEventListener("htmx:oobBeforeSwap", keep);
  document.addEventListener("htmx:beforeSwap", keep);

  // A stream of news, for as long as somebody sees the page. A browser has six connections to a service that speaks HTTP/1.1, for all
  // its tabs, and a stream takes one: pages behind others would leave none to the one in front.
  class Stream extends EventTarget {
    constructor(address) {
      super();
      this.address = new URL(address, location.href);
      this.follow = () => { if (document.hidden) this.rest(); else this.begin(); };
      document.addEventListener("visibilitychange", this.follow);
      this.follow();
    }
    get readyState() { return this.source ? this.source.readyState : EventSource.CONNECTING; }
    begin() {
      if (this.source) return;
      const source = this.source = new EventSource(this.address);
      source.onopen = (e) => this.onopen?.(e);
      source.onerror = (e) => {
        this.onerror?.(e);
        if (source.readyState === EventSource.CLOSED) this.close(); // it was refused: htmx makes another one after a while
      };
      source.addEventListener("change", (e) => {
        this.address.searchParams.set("mark", e.lastEventId); // what the page has by now
        this.dispatchEvent(new MessageEvent("change", { data: e.data }));
      });
    }
    rest() { this.source?.close(); this.source = null; }
    close() { document.removeEventListener("visibilitychange", this.follow); this.rest(); }
  }
  if (window.htmx) htmx.createEventSource = (address) => new Stream(address);

  // Where news or an answer does not come, a page keeps what it has and says so. One connection that is lost is nothing: the browser
  // makes the next by itself.
  let lost = 0;
  const cut = (is) => { document.getElementById("cut").hidden = !is; };
  document.addEventListener("htmx:sseError", (e) => { if (++lost > 1 || e.detail.source.readyState === EventSource.CLOSED) cut(true); });
  document.addEventListener("htmx:sseOpen", () => { lost = 0; cut(false); });
  document.addEventListener("htmx:sendError", () => cut(true));
  document.addEventListener("htmx:beforeSwap", (e) => { // an answer without the part that it was asked for is a refusal
    const whole = Boolean(new DOMParser().parseFromString(e.detail.xhr.responseText, "text/html").getElementById(e.detail.target.id));
    if (!whole) e.detail.shouldSwap = false;
    cut(!whole);
  });

  // A form that is on its way is not sent a second time by an impatient hand; the server would refuse it anyway.
  document.addEventListener("submit", (e) => {
    const form = e.target;
    if (form.method !== "post" || form.hasAttribute("data-again")) return;
    if (form.hasAttribute("data-sent")) { e.preventDefault(); return; }
    form.setAttribute("data-sent", "");
    form.setAttribute("aria-busy", "true");
  });
  window.addEventListener("pageshow", (e) => {
    if (e.persisted) for (const f of document.querySelectorAll("form[data-sent]")) { f.removeAttribute("data-sent"); f.removeAttribute("aria-busy"); }
  });
})();
