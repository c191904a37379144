/* Makes the import pages pleasanter; each of them works without this file. */
(() => {
  "use strict";

  const live = () => document.getElementById("fi-live");

  /* Polling: htmx asks for the fragment; these rules keep it cheap and honest. */

  let etag = null;
  let spoken = live()?.querySelector("[data-milestone]")?.dataset.milestone;

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
    document.title = state.dataset.title;
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

  /* Choosing a file: drop it anywhere on the field, see its name and size, know at once if it is too large. */
  for (const zone of document.querySelectorAll(".fi-drop")) {
    const input = zone.querySelector("input[type=file]");
    for (const type of ["dragenter", "dragover"]) {
      zone.addEventListener(type, (event) => {
        event.preventDefault();
        zone.classList.add("is-over");
      });
    }
    for (const type of ["dragleave", "drop"]) {
      zone.addEventListener(type, () => zone.classList.remove("is-over"));
    }
    zone.addEventListener("drop", (event) => {
      event.preventDefault();
      if (!event.dataTransfer.files.length) return;
      input.files = event.dataTransfer.files;
      input.dispatchEvent(new Event("change", { bubbles: true }));
    });
    input.addEventListener("change", () => chosen(zone, input));
  }

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
  const samples = document.getElementById("fi-samples");
  if (samples) {
    const columns = JSON.parse(samples.textContent);
    document.addEventListener("change", (event) => {
      const shown = document.getElementById(event.target.dataset?.samples ?? "");
      if (!shown) return;
      shown.replaceChildren(
        ...(columns[event.target.value] ?? []).map((text) => {
          const span = document.createElement("span");
          span.textContent = text;
          return span;
        }),
      );
    });
  }
})();
