"use strict";
// What the words of a search may mean, as people type; without JavaScript, the button asks for it.
for (const place of document.querySelectorAll(".choices[data-name]")) {
  const input = document.getElementById(place.dataset.for);
  let latest = 0;
  let timer;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const number = ++latest;
      const address = new URL(place.dataset.address, location.href);
      const { name, type } = place.dataset;
      address.search = new URLSearchParams({ q: input.value, name, type });
      if (place.dataset.new) address.searchParams.set("new", "yes");
      const answer = await fetch(address, { credentials: "same-origin" });
      if (answer.ok && number === latest) place.innerHTML = await answer.text();
    }, 150);
  });
}
