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
      address.search = new URLSearchParams(new FormData(field.form));
      const answer = await fetch(address, { credentials: "same-origin" });
      if (answer.ok && number === latest) {
        results.innerHTML = await answer.text();
      }
    }, 120);
  });
}
// The slider: the page as of the commit at which it is released.
const slider = document.querySelector(".time input");
if (slider) {
  slider.form.querySelector("button").hidden = true;
  slider.addEventListener("input", () => {
    slider.form.querySelector("output").textContent = `commit ${slider.value}`;
  });
  slider.addEventListener("change", () => {
    slider.disabled = slider.value === slider.max;
    slider.form.submit();
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
