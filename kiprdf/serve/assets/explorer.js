"use strict";
// Search as you type; without JavaScript, Enter submits the form.
const field = document.getElementById("search");
const results = document.getElementById("results");
if (field && results) {
  field.setSelectionRange(field.value.length, field.value.length);
  let latest = 0;
  let timer;
  field.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const number = ++latest;
      const address = new URL("search", new URL(field.form.action));
      address.searchParams.set("q", field.value);
      const answer = await fetch(address, { credentials: "same-origin" });
      if (answer.ok && number === latest) {
        results.innerHTML = await answer.text();
      }
    }, 120);
  });
}
const area = document.querySelector("textarea[name=command]");
if (area) {
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      area.form.requestSubmit();
    }
  });
}
