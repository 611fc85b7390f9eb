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
// The slider: the page as of the commit at which a pointer releases it. Keys only move it, because
// each of them would load a page; Enter, or the button, shows the page.
const slider = document.querySelector(".time input");
if (slider) {
  const button = slider.form.querySelector("button");
  let isMovedByKeys = false;
  const show = () => {
    slider.disabled = slider.value === slider.max;
    slider.form.submit();
  };
  button.hidden = true;
  slider.addEventListener("pointerdown", () => {
    isMovedByKeys = false;
  });
  slider.addEventListener("keydown", (event) => {
    if (event.key === "Enter") {
      event.preventDefault();
      show();
    } else if (event.key !== "Tab") {
      isMovedByKeys = true;
    }
  });
  slider.addEventListener("input", () => {
    button.hidden = !isMovedByKeys;
    const note = isMovedByKeys ? ": Enter shows it" : "";
    slider.form.querySelector("output").textContent = `commit ${slider.value}${note}`;
  });
  slider.addEventListener("change", () => {
    if (!isMovedByKeys) {
      show();
    }
  });
}
