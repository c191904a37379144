/* Makes the import pages pleasanter; each of them works without this file. */
(() => {
  "use strict";

  const live = () => document.getElementById("fi-live");

  /* Polling: htmx asks for the fragment; these rules keep it cheap and honest. */

  let etag = null;
  const first = live()?.querySelector("[data-milestone]")?.dataset;
  const shell = first ? document.title.replace(first.title, "") : ""; // what the host adds
  let spoken = first?.milestone;

  document.addEventListener("htmx:config:request", (event) => {
    if (document.hidden) event.preventDefault();
    else if (etag) event.detail.ctx.request.headers["If-None-Match"] = etag;
  });

  document.addEventListener("htmx:before:response", (event) => {
    const { response } = event.detail.ctx;
    if (response.status >= 500) {
      event.preventDefault();
      lost(true);
    } else if (response.status >= 400) {
      event.preventDefault();
      location.reload();
    } else {
      etag = response.headers.get("ETag") ?? etag;
      lost(false);
    }
  });

  document.addEventListener("htmx:error", () => lost(true));
  document.addEventListener("htmx:after:swap", tell);

  function lost(is) {
    const note = document.getElementById("fi-lost");
    if (note) note.hidden = !is;
  }

  /* Say a milestone once, and keep the title in step with the page. */
  function tell() {
    const state = live()?.querySelector("[data-milestone]");
    if (!state) return;
    document.title = state.dataset.title + shell;
    if (state.dataset.milestone === spoken) return;
    spoken = state.dataset.milestone;
    document.getElementById("fi-announcer").textContent = state.dataset.say;
    if (!live().contains(document.activeElement) && document.activeElement === document.body) {
      document.getElementById("fi-heading")?.focus({ preventScroll: true });
    }
  }

  /* A second click on a verb does nothing more; the server would bear it, too. */
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.dataset.sent) {
      event.preventDefault();
      return;
    }
    form.dataset.sent = "1";
    const button = event.submitter;
    setTimeout(() => {
      button?.setAttribute("aria-disabled", "true");
      if (button?.dataset.busy) button.textContent = button.dataset.busy;
    });
  });

  window.addEventListener("pageshow", (event) => {
    if (event.persisted) location.reload();
  });

  /* Choosing a file: drop it on the field, see its size, know at once if it is too large. Heard on
     the document, because the field may come into the page later. */
  const zoneOf = (event) => event.target.closest?.(".fi-drop");

  for (const type of ["dragenter", "dragover", "dragleave", "drop"]) {
    document.addEventListener(type, (event) => {
      const zone = zoneOf(event);
      if (!zone) return;
      event.preventDefault();
      zone.classList.toggle("is-over", type === "dragenter" || type === "dragover");
      if (type === "drop" && event.dataTransfer.files.length) {
        const input = zone.querySelector("input[type=file]");
        input.files = event.dataTransfer.files;
        input.dispatchEvent(new Event("change", { bubbles: true }));
      }
    });
  }

  document.addEventListener("change", (event) => {
    if (event.target.matches(".fi-drop input[type=file]")) chosen(zoneOf(event), event.target);
    else if (event.target.dataset?.samples) showSamples(event.target);
  });

  function chosen(zone, input) {
    const file = input.files[0];
    const note = zone.querySelector("[data-chosen]");
    zone.classList.toggle("is-chosen", Boolean(file));
    const tooLarge = file && file.size > Number(input.dataset.maxBytes);
    input.setCustomValidity(tooLarge ? input.dataset.tooLarge : "");
    note.textContent = !file ? "" : tooLarge ? input.dataset.tooLarge : size(file.size);
    note.classList.toggle("fi-error", Boolean(tooLarge));
  }

  function size(bytes) {
    const kilo = bytes / 1024;
    return kilo < 1024 ? `${Math.max(1, Math.round(kilo))} KB` : `${(kilo / 1024).toFixed(1)} MB`;
  }

  /* Mapping: another column was chosen, so show what is in it. */
  function showSamples(select) {
    const columns = JSON.parse(document.getElementById("fi-samples").textContent);
    const spans = (columns[select.value] ?? []).map((text) => {
      const span = document.createElement("span");
      span.textContent = text;
      return span;
    });
    document.getElementById(select.dataset.samples).replaceChildren(...spans);
  }
})();
